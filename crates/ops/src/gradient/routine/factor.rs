//! Triangular and orthogonal factors backwards.
//!
//! Cholesky: Murray, "Differentiation of the Cholesky decomposition" (2016), arXiv:1602.07527. QR: Walter and Lehmann, "Algorithmic
//! differentiation of linear algebra functions with application in optimum experimental design" (2010), and Roberts and Roberts, "QR and LQ
//! decomposition matrix backpropagation algorithms" (2020), arXiv:2009.10071, for more columns than rows. LU: as PyTorch derives it for
//! every shape in `FunctionsManual.cpp`, `plu_linalg_backward`.

use super::super::back::Launch;
use super::super::scalar::im;
use super::matrices::Part;
use crate::graph::Val;
use crate::write::Writer;
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{DType, Result};

/// The symmetric (Hermitian) cotangent of a matrix of which one triangle is read, as PyTorch has it.
pub fn cholesky(w: &mut Writer, launch: &Launch) -> Result<Option<Val>> {
    let (l, Some(g)) = (launch.outputs[0], launch.cotangents[0]) else { return Ok(None) };
    let product = w.inner(l, g)?;
    let half = w.part(product, Part::Lower, 0.5)?;
    let adjoint = w.adjoint(l)?;
    let left = w.triangular(adjoint, half, true);
    let both = w.triangular_right(left, l, false)?;
    symmetric(w, both).map(Some)
}

/// `(x + x^H) / 2`.
pub fn symmetric(w: &mut Writer, x: Val) -> Result<Val> {
    let (other, d, dims) = (w.adjoint(x)?, w.dtype(x), w.dims(x));
    w.map(&dims, &[x, other], |b, v| {
        let (sum, half) = (b.binary(Op::Add, v[0], v[1]), b.lit(d, 0.5));
        b.binary(Op::Mul, sum, half)
    })
}

/// Columns first: of more of them than rows, those behind are `q^H` times the rest.
pub fn qr(w: &mut Writer, launch: &Launch) -> Result<Option<Val>> {
    let (x, q, r) = (launch.inputs[0], launch.outputs[0], launch.outputs[1]);
    let (mut gq, gr) = (launch.cotangents[0], launch.cotangents[1]);
    let dims = w.dims(x);
    let (last, m, n) = (dims.len() - 1, dims[dims.len() - 2], dims[dims.len() - 1]);
    if m >= n {
        return tall_qr(w, q, r, gq, gr);
    }
    let front = w.narrow(r, last, 0, m);
    let (mut front_g, mut behind_g) = (None, None);
    if let Some(gr) = gr {
        let (left, right) = (w.narrow(gr, last, 0, m), w.narrow(gr, last, m, n - m));
        let behind = w.narrow(x, last, m, n - m);
        let more = w.outer(behind, right)?;
        gq = w.added(gq, Some(more))?;
        front_g = Some(left);
        behind_g = Some(w.contract(q, right));
    }
    let front = tall_qr(w, q, front, gq, front_g)?;
    beside(w, &dims, last, m, front, behind_g)
}

/// `(gq + q s) r^-H` with the symmetric s of the upper triangle of `gr r^H - q^H gq`.
fn tall_qr(w: &mut Writer, q: Val, r: Val, gq: Option<Val>, gr: Option<Val>) -> Result<Option<Val>> {
    let by_r = gr.map(|gr| w.outer(gr, r)).transpose()?;
    let by_q = match gq {
        Some(gq) => {
            let product = w.inner(q, gq)?;
            Some(w.each(product, |b, x| b.unary(Op::Neg, x))?)
        }
        None => None,
    };
    let Some(inner) = w.added(by_r, by_q)? else { return Ok(None) };
    let upper = w.part(inner, Part::Upper, 1.0)?;
    let (lower, d, dims) = (w.adjoint(upper)?, w.dtype(upper), w.dims(upper));
    // On the diagonal once, and real: that of r is.
    let middle = w.matrix_map(&dims, &[upper, lower], |b, v, on| {
        let (sum, half) = (b.binary(Op::Add, v[0], v[1]), b.lit(d, 0.5));
        let mean = b.binary(Op::Mul, sum, half);
        b.select(on, mean, sum)
    })?;
    let product = w.contract(q, middle);
    let Some(total) = w.added(gq, Some(product))? else { return Ok(None) };
    let adjoint = w.adjoint(r)?;
    w.triangular_right(total, adjoint, false).map(Some)
}

/// Two parts of a matrix side by side along an axis, `at` being where the second begins; zeros for one that is not there.
fn beside(
    w: &mut Writer,
    dims: &[usize],
    axis: usize,
    at: usize,
    first: Option<Val>,
    second: Option<Val>,
) -> Result<Option<Val>> {
    let n = dims[axis];
    let first = first.map(|v| w.placed(v, axis, 0, n, 0.0)).transpose()?;
    let second = second.map(|v| w.placed(v, axis, at, n, 0.0)).transpose()?;
    w.added(first, second)
}

/// For `x` with its rows in the factors' order, which the cotangent is brought back from.
pub fn lu(w: &mut Writer, launch: &Launch) -> Result<Option<Val>> {
    let (l, u, rows) = (launch.outputs[0], launch.outputs[1], launch.outputs[2]);
    let (gl, gu) = (launch.cotangents[0], launch.cotangents[1]);
    let dims = w.dims(launch.inputs[0]);
    let rank = dims.len();
    let (m, n) = (dims[rank - 2], dims[rank - 1]);
    let k = m.min(n);
    // The square block of both factors, and what is below or beside it.
    let (square_l, square_u) = (w.narrow(l, rank - 2, 0, k), w.narrow(u, rank - 1, 0, k));
    let square_u = regular(w, square_u)?;
    let split = |w: &mut Writer, g: Option<Val>, axis: usize, size: usize| match g {
        Some(g) if size > k => (Some(w.narrow(g, axis, 0, k)), Some(w.narrow(g, axis, k, size - k))),
        g => (g, None),
    };
    let (gl, below) = split(w, gl, rank - 2, m);
    let (gu, right) = split(w, gu, rank - 1, n);
    let mut of_l = gl.map(|g| w.inner(square_l, g)).transpose()?;
    let mut of_u = gu.map(|g| w.outer(g, square_u)).transpose()?;
    let less = |w: &mut Writer, total: Option<Val>, product: Val| {
        let minus = w.each(product, |b, x| b.unary(Op::Neg, x))?;
        w.added(total, Some(minus))
    };
    if let Some(right) = right {
        let rest = w.narrow(u, rank - 1, k, n - k);
        let product = w.outer(right, rest)?;
        of_l = less(w, of_l, product)?;
    }
    if let Some(below) = below {
        let rest = w.narrow(l, rank - 2, k, m - k);
        let product = w.inner(rest, below)?;
        of_u = less(w, of_u, product)?;
    }
    let of_l = of_l.map(|v| w.part(v, Part::Lower, 0.0)).transpose()?;
    let of_u = of_u.map(|v| w.part(v, Part::Upper, 1.0)).transpose()?;
    let middle = w.added(of_l, of_u)?;
    let (upper, lower) = (w.adjoint(square_l)?, w.adjoint(square_u)?);
    let square = match middle {
        Some(v) => {
            let v = w.triangular(upper, v, true);
            Some(w.triangular_right(v, lower, false)?)
        }
        None => None,
    };
    let right = right.map(|g| w.triangular(upper, g, true));
    let below = below.map(|g| w.triangular_right(g, lower, false)).transpose()?;
    let Some(ordered) =
        (if m > n { beside(w, &dims, rank - 2, k, square, below)? } else { beside(w, &dims, rank - 1, k, square, right)? })
    else {
        return Ok(None);
    };
    // Row i is row `rows_i` of x.
    let batch: usize = dims[..rank - 2].iter().product();
    let (flat, order) = (w.reshape(ordered, &[batch * m, n]), w.reshape(rows, &[batch, m]));
    let targets = w.map(&[batch, m], &[order], |b, v| {
        let (stack, m) = (b.index(0, DType::I64), b.size(m));
        let (start, row) = (b.binary(Op::Mul, stack, m), b.cast(v[0], DType::I64));
        b.binary(Op::Add, start, row)
    })?;
    let targets = w.reshape(targets, &[batch * m]);
    let found = w.scattered_sum(&[batch * m, n], w.dtype(flat), &[targets], flat)?;
    Ok(Some(w.reshape(found, &dims)))
}

/// A triangle with something very small for each zero on its diagonal: determinants of singular matrices have gradients, which those of
/// the matrices beside them come near to.
fn regular(w: &mut Writer, u: Val) -> Result<Val> {
    let (dims, d) = (w.dims(u), w.dtype(u));
    let small = d.info().real.float_format().map_or(0.0, |f| f.epsilon());
    w.matrix_map(&dims, &[u], |b, v, on| {
        let (zero, small) = (b.lit(d, 0.0), b.lit(d, small));
        let none = b.compare(Op::Eq, v[0], zero);
        let pivot = b.binary(Op::And, on, none);
        b.select(pivot, small, v[0])
    })
}

/// Imaginary parts, of complex values.
pub fn imaginary(w: &mut Writer, v: Val) -> Result<Val> {
    w.each(v, im)
}
