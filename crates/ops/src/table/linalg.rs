//! Linear algebra on stacks of matrices.

use super::rows::{BASE, doc, tensor};
use crate::def::{Domain, ErrorCase, Form, Lowering, Namespace, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::Routine;
use ferrotensor_core::{Dims, Error, Result, layout};

/// Batch axes and the two matrix axes.
fn matrix<'a>(dims: &'a [usize], what: &str) -> Result<(&'a [usize], usize, usize)> {
    match dims {
        [batch @ .., m, n] => Ok((batch, *m, *n)),
        _ => Err(Error::shape(format!("{what} must have at least two axes, got shape {dims:?}"))),
    }
}

/// The operand in the dtype the routine runs in: float32 for half floats.
fn native(l: &mut Lower, operand: usize) -> Result<Val> {
    let x = l.operand(operand)?;
    l.cast(x, l.compute().compute())
}

fn solve_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (batch, m, n) = matrix(ctx.shape(0), "the matrix")?;
    if m != n {
        return Err(Error::shape(format!("the matrix must be square, got {m} x {n}")));
    }
    let b = ctx.shape(1);
    // As in the array API: x2 is a vector only if it has exactly one axis.
    let (other, tail): (&[usize], &[usize]) =
        if b.len() == 1 { (&[], b) } else { (&b[..b.len().saturating_sub(2)], &b[b.len().saturating_sub(2)..]) };
    if tail.first() != Some(&n) {
        return Err(Error::shape(format!("right side of shape {b:?} does not fit a {n} x {n} matrix")));
    }
    let batch = layout::broadcast_shapes(batch, other)?;
    Ok(vec![batch.iter().chain(tail).copied().collect()])
}

fn solve(l: &mut Lower) -> Result<Vec<Val>> {
    let (a, mut b) = (native(l, 0)?, native(l, 1)?);
    let (out, n) = (l.out_dims(0), l.dims(a)[l.dims(a).len() - 1]);
    let vector = l.dims(b).len() == 1;
    if vector {
        b = l.reshape(b, &[n, 1]);
    }
    let k = l.dims(b)[l.dims(b).len() - 1];
    let batch = &out[..out.len() - if vector { 1 } else { 2 }];
    let with = |tail: [usize; 2]| -> Dims { batch.iter().copied().chain(tail).collect() };
    let dims = with([n, k]);
    let a = l.broadcast(a, &with([n, n]))?;
    let b = l.broadcast(b, &dims)?;
    let dtype = l.dtype(a);
    let x = l.routine(Routine::Solve(dtype), &[a, b], &[dims])[0];
    let x = l.reshape(x, &out);
    Ok(vec![l.cast(x, l.out_dtype(0))?])
}

fn qr_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (batch, m, n) = matrix(ctx.shape(0), "the matrix")?;
    let k = m.min(n);
    let with = |tail: [usize; 2]| -> Dims { batch.iter().copied().chain(tail).collect() };
    Ok(vec![with([m, k]), with([k, n])])
}

fn qr(l: &mut Lower) -> Result<Vec<Val>> {
    let a = native(l, 0)?;
    let (dims, dtype) = ([l.out_dims(0), l.out_dims(1)], l.dtype(a));
    l.routine(Routine::Qr(dtype), &[a], &dims).into_iter().map(|v| l.cast(v, l.out_dtype(0))).collect()
}

const LINALG: OpDef = OpDef {
    namespace: Namespace::Linalg,
    form: Form::Function,
    domain: Domain::Matrix,
    dtype: DTypeRule::new(Class::Any, Compute::Float, Out::Compute),
    ..BASE
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "solve", operands: &[tensor("x1"), tensor("x2")], shape: solve_shape, lower: Lowering::Graph(solve),
        errors: &[ErrorCase { call: "ft.linalg.solve(ft.zeros([2, 3]), ft.zeros([2]))", code: Code::Shape }, ErrorCase { call: "ft.linalg.solve(ft.zeros([2, 2]), ft.ones([2])).toArray()", code: Code::LinAlg }],
        doc: doc("Solution of a system of linear equations by LU with partial pivoting; x2 is a vector or a stack of matrices. A singular matrix is a LinAlgError when the result is read.", "x1 @ out = x2", "ft.linalg.solve(ft.tensor([[2, 0], [0, 4]]), ft.tensor([2, 2])) // [1, 0.5]", "linalg.solve", "linalg.solve"), ..LINALG },
    OpDef { name: "qr", outputs: &["q", "r"], dtype: DTypeRule::new(Class::Any, Compute::Float, Out::Twice), shape: qr_shape, lower: Lowering::Graph(qr),
        errors: &[ErrorCase { call: "ft.linalg.qr(ft.zeros([2]))", code: Code::Shape }],
        doc: doc("Reduced QR factorisation: orthonormal columns times an upper triangle whose diagonal is real and not negative.", "x = q @ r", "ft.linalg.qr(ft.tensor([[0, 2], [3, 0]])).r // [[3, 0], [0, 2]]", "linalg.qr", "linalg.qr"), ..LINALG },
];
