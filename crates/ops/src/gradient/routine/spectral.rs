//! Eigenvalues and singular values backwards.
//!
//! Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008); Boeddeker et al., "On the
//! computation of complex-valued gradients with application to statistically optimum beamforming" (2017), arXiv:1701.00392; as PyTorch's
//! `linalg_eig_backward` and `svd_backward`. Vectors of complex matrices have a phase, which the routines fix by a real pivot; its
//! derivative is in the cotangent that `pivoted` makes. Equal values have no derivative of vectors: infinite or NaN.

use super::super::back::Launch;
use super::factor::{imaginary, symmetric};
use crate::graph::Val;
use crate::write::Writer;
use ferrotensor_core::kernel::{Combine, Routine, SvdOutputs};
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{DType, Dims, Result};

/// Values and vectors of a routine that was asked for values only, and their shapes.
fn decomposed(w: &mut Writer, launch: &Launch, full: Routine, shapes: &[Dims]) -> Vec<Val> {
    w.routine(full, &[launch.inputs[0]], shapes)
}

/// `c_j = Im(g_j^H v_j)` of the columns, `[..., 1, n]`, with the values' dtype.
fn turns(w: &mut Writer, g: Val, v: Val) -> Result<Val> {
    let (dims, d) = (w.dims(v), w.dtype(v));
    let terms = w.map(&dims, &[g, v], |b, x| {
        let g = super::super::algebra::conjugate(b, x[0]);
        b.binary(Op::Mul, g, x[1])
    })?;
    debug_assert!(d.is_complex());
    let total = w.sum(terms, dims.len() - 2, true);
    imaginary(w, total)
}

/// `i c_j / v_pj` at the pivot p of each column, the first entry of the largest size, and zeros elsewhere: what a cotangent of columns
/// is moved by when their phases are such that the pivots are real.
fn pivoted(w: &mut Writer, v: Val, c: Val) -> Result<Val> {
    let (dims, d) = (w.dims(v), w.dtype(v));
    let (axis, part) = (dims.len() - 2, d.info().real);
    let sizes = w.each(v, |b, x| {
        let (re, im) = (b.re(x), b.im(x));
        let (re, im) = (b.binary(Op::Mul, re, re), b.binary(Op::Mul, im, im));
        b.binary(Op::Add, re, im)
    })?;
    let pivot = w.reduce(sizes, &[axis], Combine::ArgMax, true);
    w.map(&dims, &[v, c, pivot], |b, x| {
        let row = b.index(axis as u8, DType::I32);
        let (hit, zero, size) = (b.compare(Op::Eq, row, x[2]), b.lit(part, 0.0), b.re(x[0]));
        let ratio = b.binary(Op::Div, x[1], size);
        let im = b.select(hit, ratio, zero);
        b.complex(d, zero, im)
    })
}

/// `x_ij / (w_j - w_i)` off the diagonal, conjugated, and on it what `diagonal [..., n]` has, or zeros.
fn divided(w: &mut Writer, x: Option<Val>, values: Val, diagonal: Option<Val>, dims: &Dims, d: DType) -> Result<Val> {
    let (right, left) = (w.across(values, false), w.across(values, true));
    let mut inputs = vec![right, left];
    inputs.extend(x);
    let on_it = diagonal.map(|v| w.across(v, false));
    inputs.extend(on_it);
    w.matrix_map(dims, &inputs, |b, v, on| {
        let (zero, one) = (b.lit(d, 0.0), b.lit(d, 1.0));
        let on_it = if on_it.is_some() { b.cast(v[v.len() - 1], d) } else { zero };
        let mut off = zero;
        if x.is_some() {
            let gap = b.binary(Op::Sub, v[0], v[1]);
            let gap = super::super::algebra::conjugate(b, gap);
            let gap = b.cast(gap, d);
            let gap = b.select(on, one, gap);
            off = b.binary(Op::Div, v[2], gap);
        }
        b.select(on, on_it, off)
    })
}

/// `V (diag(gw) + (V^H gV) / E) V^H`, symmetric.
pub fn hermitian(w: &mut Writer, kernel: Routine, launch: &Launch) -> Result<Option<Val>> {
    let Routine::Eigh { dtype, vectors } = kernel else { return Ok(None) };
    let dims = w.dims(launch.inputs[0]);
    let found = if vectors {
        launch.outputs.to_vec()
    } else {
        let shapes = [dims[..dims.len() - 1].iter().copied().collect(), dims.clone()];
        decomposed(w, launch, Routine::Eigh { dtype, vectors: true }, &shapes)
    };
    let (values, v) = (found[0], found[1]);
    let mut gv = launch.cotangents.get(1).copied().flatten();
    if let (Some(g), true) = (gv, dtype.is_complex()) {
        let c = turns(w, g, v)?;
        let move_by = pivoted(w, v, c)?;
        gv = w.added(gv, Some(move_by))?;
    }
    let inner = gv.map(|g| w.inner(v, g)).transpose()?;
    let middle = divided(w, inner, values, launch.cotangents[0], &dims, dtype)?;
    let left = w.contract(v, middle);
    let both = w.outer(left, v)?;
    symmetric(w, both).map(Some)
}

/// `V^-H (diag(gw) + (V^H (gV - V Re diag(V^H gV))) / E^*) V^H`: columns have length 1.
pub fn general(w: &mut Writer, kernel: Routine, launch: &Launch) -> Result<Option<Val>> {
    let Routine::Eig { dtype, vectors } = kernel else { return Ok(None) };
    let dims = w.dims(launch.inputs[0]);
    let found = if vectors {
        launch.outputs.to_vec()
    } else {
        let shapes = [dims[..dims.len() - 1].iter().copied().collect(), dims.clone()];
        decomposed(w, launch, Routine::Eig { dtype, vectors: true }, &shapes)
    };
    let (values, v) = (found[0], found[1]);
    let d = w.dtype(v);
    let mut inner = None;
    if let Some(g) = launch.cotangents.get(1).copied().flatten() {
        let terms = w.map(&dims, &[g, v], |b, x| {
            let g = super::super::algebra::conjugate(b, x[0]);
            let product = b.binary(Op::Mul, g, x[1]);
            b.re(product)
        })?;
        let lengths = w.sum(terms, dims.len() - 2, true);
        let along = w.map(&dims, &[v, lengths], |b, x| {
            let by = b.cast(x[1], d);
            b.binary(Op::Mul, x[0], by)
        })?;
        let c = turns(w, g, v)?;
        let move_by = pivoted(w, v, c)?;
        let g = w.map(&dims, &[g, along, move_by], |b, x| {
            let rest = b.binary(Op::Sub, x[0], x[1]);
            b.binary(Op::Add, rest, x[2])
        })?;
        inner = Some(w.inner(v, g)?);
    }
    let middle = divided(w, inner, values, launch.cotangents[0], &dims, d)?;
    let right = w.outer(middle, v)?;
    let adjoint = w.adjoint(v)?;
    Ok(Some(w.routine(Routine::Solve(d), &[adjoint, right], &[dims])[0]))
}

/// Of `a = U S V^H` with k columns each, from which further ones are left out: what spans nothing has no derivative.
pub fn singular(w: &mut Writer, values_only: bool, launch: &Launch) -> Result<Option<Val>> {
    let x = launch.inputs[0];
    let (dims, d) = (w.dims(x), w.dtype(x));
    let rank = dims.len();
    let (m, n) = (dims[rank - 2], dims[rank - 1]);
    let k = m.min(n);
    let shape = |tail: &[usize]| -> Dims { dims[..rank - 2].iter().chain(tail).copied().collect() };
    let (u, s, vh, mut gu, gs, mut gvh) = if values_only {
        let full = Routine::Svd { dtype: d, outputs: SvdOutputs::Thin };
        let found = decomposed(w, launch, full, &[shape(&[m, k]), shape(&[k]), shape(&[k, n])]);
        (found[0], found[1], found[2], None, launch.cotangents[0], None)
    } else {
        let (o, g) = (launch.outputs, launch.cotangents);
        (o[0], o[1], o[2], g[0], g[1], g[2])
    };
    let (u, vh) = (w.narrow(u, rank - 1, 0, k), w.narrow(vh, rank - 2, 0, k));
    gu = gu.map(|g| w.narrow(g, rank - 1, 0, k));
    gvh = gvh.map(|g| w.narrow(g, rank - 2, 0, k));
    let v = w.adjoint(vh)?;
    let mut gv = gvh.map(|g| w.adjoint(g)).transpose()?;
    let square = shape(&[k, k]);
    let mut turned = None;
    if d.is_complex() {
        turned = gu.map(|g| turns(w, g, u)).transpose()?;
        let more = gv.map(|g| turns(w, g, v)).transpose()?;
        if let Some(c) = w.added(turned, more)? {
            let move_by = pivoted(w, v, c)?;
            gv = w.added(gv, Some(move_by))?;
        }
    }
    let squares = w.each(s, |b, x| b.binary(Op::Mul, x, x))?;
    let (by_column, by_row) = (w.across(s, false), w.across(s, true));
    let skew = |w: &mut Writer, a: Val, g: Val| -> Result<Val> {
        let product = w.inner(a, g)?;
        let other = w.adjoint(product)?;
        let skew = w.binary(Op::Sub, product, other)?;
        divided(w, Some(skew), squares, None, &square, d)
    };
    let scaled = |w: &mut Writer, v: Val, by: Val, op: Op| {
        let dims = w.dims(v);
        w.map(&dims, &[v, by], |b, x| {
            let by = b.cast(x[1], d);
            b.binary(op, x[0], by)
        })
    };
    let mut middle = None;
    if let Some(g) = gu {
        let part = skew(w, u, g)?;
        let part = scaled(w, part, by_column, Op::Mul)?;
        middle = w.added(middle, Some(part))?;
    }
    if let Some(g) = gv {
        let part = skew(w, v, g)?;
        let part = scaled(w, part, by_row, Op::Mul)?;
        middle = w.added(middle, Some(part))?;
    }
    if let Some(gs) = gs {
        let part = divided(w, None, s, Some(gs), &square, d)?;
        middle = w.added(middle, Some(part))?;
    }
    if let Some(c) = turned {
        // i Im(u^H gu) / s, u^H gu being the conjugate of what was counted.
        let part = w.matrix_map(&square, &[c, by_column], |b, x, on| {
            let (ratio, zero) = (b.binary(Op::Div, x[0], x[1]), b.lit(d.info().real, 0.0));
            let minus = b.unary(Op::Neg, ratio);
            let im = b.select(on, minus, zero);
            b.complex(d, zero, im)
        })?;
        middle = w.added(middle, Some(part))?;
    }
    let mut total = match middle {
        Some(middle) => {
            let left = w.contract(u, middle);
            Some(w.contract(left, vh))
        }
        None => None,
    };
    // What of a vector's cotangent the others do not span.
    let beyond = |w: &mut Writer, a: Val, g: Val| -> Result<Val> {
        let inner = w.inner(a, g)?;
        let inside = w.contract(a, inner);
        let rest = w.binary(Op::Sub, g, inside)?;
        scaled(w, rest, by_column, Op::Div)
    };
    if let (Some(g), true) = (gu, m > k) {
        let rest = beyond(w, u, g)?;
        let part = w.contract(rest, vh);
        total = w.added(total, Some(part))?;
    }
    if let (Some(g), true) = (gv, n > k) {
        let rest = beyond(w, v, g)?;
        let part = w.outer(u, rest)?;
        total = w.added(total, Some(part))?;
    }
    Ok(total)
}
