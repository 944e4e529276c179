//! Rules of rows whose derived gradients would be wasteful (the shift by the largest that cancels in a softmax) or lost where they exist
//! (norms of nothing, pseudoinverses of matrices with equal singular values).

use super::{Facts, walk};
use crate::attrs::Attrs;
use crate::graph::Val;
use crate::lower::Lower;
use crate::shape;
use crate::table::above_nothing;
use ferrotensor_core::scalar::{MathFn, Op};
use ferrotensor_core::{Dims, Result};

type Found = Result<Option<Vec<Option<Val>>>>;

/// Cotangents of a row's tensors for those of values that the nodes from `start` on define, or of the tensors themselves.
///
/// # Errors
/// As [`walk`].
pub fn of_operands(l: &mut Lower, start: usize, seeds: &[(Val, Val)]) -> Found {
    let operands: Vec<Option<Val>> = (0..l.len()).map(|n| l.tensor(n)).collect();
    let wanted: Vec<Val> = operands.iter().flatten().copied().collect();
    let mut found = walk(l.graph, l.op, start, seeds, &wanted, Facts::default())?.into_iter();
    Ok(Some(operands.into_iter().map(|v| v.and_then(|_| found.next().flatten())).collect()))
}

/// Every call.
pub fn always(_: &Attrs) -> bool {
    true
}

/// Frobenius norms.
pub fn is_frobenius(attrs: &Attrs) -> bool {
    attrs.int("ord") == 0
}

/// The cotangent of a softmax's operand: `y (g - sum g y)`, in the accumulator dtype.
pub fn softmax_back(l: &mut Lower, y: Val, g: Val, axis: usize) -> Result<Val> {
    let (y, g) = (l.widened(y)?, l.widened(g)?);
    let product = l.binary(Op::Mul, g, y)?;
    let total = l.sum(product, axis, true);
    let dims = l.dims(y);
    l.map(&dims, &[y, g, total], |b, v| {
        let rest = b.binary(Op::Sub, v[1], v[2]);
        b.binary(Op::Mul, v[0], rest)
    })
}

/// The cotangent of a log-softmax's operand: `g - e^y sum g`, in the accumulator dtype.
pub fn log_softmax_back(l: &mut Lower, y: Val, g: Val, axis: usize) -> Result<Val> {
    let (y, g) = (l.widened(y)?, l.widened(g)?);
    let (total, dims) = (l.sum(g, axis, true), l.dims(y));
    l.map(&dims, &[y, g, total], |b, v| {
        let p = b.call(MathFn::Exp, &v[..1]);
        let part = b.binary(Op::Mul, p, v[2]);
        b.binary(Op::Sub, v[1], part)
    })
}

/// The only cotangent, in its operand's dtype.
fn only(l: &mut Lower, g: Val) -> Found {
    let x = l.operand(0)?;
    Ok(Some(vec![Some(l.cast(g, l.dtype(x))?)]))
}

fn along(l: &Lower, y: Val) -> Result<usize> {
    shape::axis(l.attrs().int("axis"), l.dims(y).len())
}

/// See [`softmax_back`].
pub fn softmax(l: &mut Lower, y: &[Val], g: &[Option<Val>]) -> Found {
    let (y, Some(g)) = (y[0], g[0]) else { return Ok(Some(vec![None])) };
    let axis = along(l, y)?;
    let g = softmax_back(l, y, g, axis)?;
    only(l, g)
}

/// See [`log_softmax_back`].
pub fn log_softmax(l: &mut Lower, y: &[Val], g: &[Option<Val>]) -> Found {
    let (y, Some(g)) = (y[0], g[0]) else { return Ok(Some(vec![None])) };
    let axis = along(l, y)?;
    let g = log_softmax_back(l, y, g, axis)?;
    only(l, g)
}

/// The axes of a reduction of the first operand, and its shape with them kept.
fn reduced(l: &mut Lower) -> Result<(Val, Vec<usize>, Dims)> {
    let x = l.operand(0)?;
    let dims = l.dims(x);
    let axes = shape::axes(l.attrs().ints("axis"), dims.len())?;
    let kept = shape::reduced_dims(&dims, &axes, true);
    Ok((x, axes, kept))
}

/// `g e^(x - y)`; 0 where y is -Infinity: nothing that is added to one x changes it.
pub fn logsumexp(l: &mut Lower, y: &[Val], g: &[Option<Val>]) -> Found {
    let (y, Some(g)) = (y[0], g[0]) else { return Ok(Some(vec![None])) };
    let (x, _, kept) = reduced(l)?;
    let (x, y, g) = (l.widened(x)?, l.widened(y)?, l.widened(g)?);
    let (y, g, dims) = (l.reshape(y, &kept), l.reshape(g, &kept), l.dims(x));
    let x = l.cast(x, l.dtype(y))?;
    let y = l.map(&kept, &[y], |b, v| above_nothing(b, v[0]))?;
    let g = l.map(&dims, &[x, y, g], |b, v| {
        let gap = b.binary(Op::Sub, v[0], v[1]);
        let weight = b.call(MathFn::Exp, &[gap]);
        b.binary(Op::Mul, v[2], weight)
    })?;
    only(l, g)
}

/// `g x |x|^(p - 2) / y^(p - 1)`, 0 of nothing, as PyTorch's `norm_backward`; the norms of order 0, 1 and infinity are derived. Below 2 the
/// power is taken of the direction, `x / |x| |x|^(p - 1)`: of the smallest numbers the other one would be infinite.
pub fn vector_norm(l: &mut Lower, y: &[Val], g: &[Option<Val>]) -> Found {
    let (y, Some(g), p) = (y[0], g[0], l.attrs().number("ord")) else { return Ok(Some(vec![None])) };
    if p == 0.0 || p == 1.0 || p.is_infinite() {
        return Ok(None);
    }
    let (x, _, kept) = reduced(l)?;
    let compute = l.compute().compute();
    let (x, y, g) = (l.cast(x, if l.compute().is_complex() { l.compute() } else { compute })?, l.widened(y)?, l.widened(g)?);
    let (y, g, dims, d) = (l.reshape(y, &kept), l.reshape(g, &kept), l.dims(x), l.dtype(x));
    // What does not depend on the element.
    let by = l.map(&kept, &[y, g], |b, v| {
        let (part, zero) = (b.dtype(v[0]), b.lit(b.dtype(v[0]), 0.0));
        let nothing = b.compare(Op::Eq, v[0], zero);
        let quotient = if p == 2.0 {
            b.binary(Op::Div, v[1], v[0])
        } else {
            let p = b.lit(part, 1.0 - p);
            let power = b.call(MathFn::Pow, &[v[0], p]);
            b.binary(Op::Mul, v[1], power)
        };
        b.select(nothing, zero, quotient)
    })?;
    let g = l.map(&dims, &[x, by], |b, v| {
        let (mut x, mut by) = (v[0], v[1]);
        if p != 2.0 {
            let (part, zero) = (b.dtype(by), b.lit(b.dtype(by), 0.0));
            let size = crate::table::size(b, x);
            let less = b.lit(part, if p < 2.0 { p - 1.0 } else { p - 2.0 });
            let power = b.call(MathFn::Pow, &[size, less]);
            let (nothing, product) = (b.compare(Op::Eq, size, zero), b.binary(Op::Mul, by, power));
            by = b.select(nothing, zero, product);
            if p < 2.0 {
                let one = b.lit(part, 1.0);
                let length = b.select(nothing, one, size);
                let length = b.cast(length, d);
                x = b.binary(Op::Div, x, length);
            }
        }
        let by = b.cast(by, d);
        b.binary(Op::Mul, x, by)
    })?;
    only(l, g)
}

/// Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables separate" (1973), in the
/// order of products that PyTorch's `pinv_backward` has.
pub fn pinv(l: &mut Lower, y: &[Val], g: &[Option<Val>]) -> Found {
    let (p, Some(g)) = (y[0], g[0]) else { return Ok(Some(vec![None])) };
    let x = l.operand(0)?;
    let d = if l.compute().is_complex() { l.compute() } else { l.compute().compute() };
    let (a, p, g) = (l.cast(x, d)?, l.cast(p, d)?, l.cast(g, d)?);
    let g = pinv_back(l, a, p, g)?;
    only(l, g)
}

/// The cotangent of a for that of its pseudoinverse p.
pub fn pinv_back(l: &mut Lower, a: Val, p: Val, g: Val) -> Result<Val> {
    let (ph, gh) = (l.adjoint(p)?, l.adjoint(g)?);
    // -p^H g p^H + (1 - a p) g^H p p^H + p^H p g^H (1 - p a).
    let pg = l.contract(ph, g);
    let first = l.contract(pg, ph);
    let gp = l.contract(gh, p);
    let gpp = l.contract(gp, ph);
    let pgpp = l.contract(p, gpp);
    let apgpp = l.contract(a, pgpp);
    let pgh = l.contract(p, gh);
    let ppg = l.contract(ph, pgh);
    let ppgp = l.contract(ppg, p);
    let ppgpa = l.contract(ppgp, a);
    let dims = l.dims(a);
    l.map(&dims, &[gpp, apgpp, ppg, ppgpa, first], |b, v| {
        let (left, right) = (b.binary(Op::Sub, v[0], v[1]), b.binary(Op::Sub, v[2], v[3]));
        let both = b.binary(Op::Add, left, right);
        b.binary(Op::Sub, both, v[4])
    })
}
