//! Matrix products.

use super::exact;
use super::rows::{BASE, attr, doc, tensor};
use crate::def::{AttrKind, ErrorCase, Lowering, Namespace, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::{Dims, Error, Result, layout};
use smallvec::SmallVec;

fn matmul_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (a, b) = (ctx.shape(0), ctx.shape(1));
    if a.is_empty() || b.is_empty() {
        return Err(Error::shape(format!("needs at least one axis on each side: {a:?} @ {b:?}")));
    }
    let (k, l) = (a[a.len() - 1], if b.len() == 1 { b[0] } else { b[b.len() - 2] });
    if k != l {
        return Err(Error::shape(format!("inner dimensions differ: {a:?} @ {b:?} ({k} != {l})")));
    }
    let batch = layout::broadcast_shapes(&a[..a.len().saturating_sub(2)], &b[..b.len().saturating_sub(2)])?;
    let mut out = batch;
    if a.len() > 1 {
        out.push(a[a.len() - 2]);
    }
    if b.len() > 1 {
        out.push(b[b.len() - 1]);
    }
    Ok(vec![out])
}

fn matmul(l: &mut Lower) -> Result<Vec<Val>> {
    let (a, b) = (l.operand(0)?, l.operand(1)?);
    let places = l.dims(a)[l.dims(a).len() - 1];
    Ok(vec![exact::multiplied(l, &[a, b], l.compute(), (2, places), |l, v| product(l, v[0], v[1]))?])
}

fn product(l: &mut Lower, mut a: Val, mut b: Val) -> Result<Val> {
    let (x, y) = (l.dims(a), l.dims(b));
    if x.len() == 1 {
        a = l.reshape(a, &[1, x[0]]);
    }
    if y.len() == 1 {
        b = l.reshape(b, &[y[0], 1]);
    }
    let (x, y) = (l.dims(a), l.dims(b));
    let batch = layout::broadcast_shapes(&x[..x.len() - 2], &y[..y.len() - 2])?;
    let with = |batch: &Dims, tail: &[usize]| -> Dims { batch.iter().chain(tail).copied().collect() };
    a = l.broadcast(a, &with(&batch, &x[x.len() - 2..]))?;
    b = l.broadcast(b, &with(&batch, &y[y.len() - 2..]))?;
    let product = l.contract(a, b);
    let out = l.out_dims(0);
    Ok(l.reshape(product, &out))
}

/// The contracted axes of both operands, normalised and checked.
fn pairs(ctx_a: &[usize], ctx_b: &[usize], pairs: (&[i64], &[i64])) -> Result<(Vec<usize>, Vec<usize>)> {
    let side = |axes: &[i64], rank| axes.iter().map(|&a| shape::axis(a, rank)).collect::<Result<Vec<_>>>();
    let (p, q) = (side(pairs.0, ctx_a.len())?, side(pairs.1, ctx_b.len())?);
    if p.len() != q.len() {
        return Err(Error::shape(format!("axes lists differ in length: {} and {}", p.len(), q.len())));
    }
    for list in [&p, &q] {
        if (1..list.len()).any(|i| list[..i].contains(&list[i])) {
            return Err(Error::index("an axis is named twice"));
        }
    }
    for (&i, &j) in p.iter().zip(&q) {
        if ctx_a[i] != ctx_b[j] {
            return Err(Error::shape(format!("contracted sizes differ: axis {i} of {ctx_a:?} and axis {j} of {ctx_b:?}")));
        }
    }
    Ok((p, q))
}

fn free(rank: usize, contracted: &[usize]) -> Vec<usize> {
    (0..rank).filter(|a| !contracted.contains(a)).collect()
}

fn tensordot_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (a, b) = (ctx.shape(0), ctx.shape(1));
    let (p, q) = pairs(a, b, ctx.attrs.pairs("axes"))?;
    let out = free(a.len(), &p).into_iter().map(|i| a[i]).chain(free(b.len(), &q).into_iter().map(|j| b[j]));
    Ok(vec![out.collect::<SmallVec<_>>()])
}

fn tensordot(l: &mut Lower) -> Result<Vec<Val>> {
    let (a, b) = (l.operand(0)?, l.operand(1)?);
    let (x, y) = (l.dims(a), l.dims(b));
    let (p, q) = pairs(&x, &y, l.attrs().pairs("axes"))?;
    let (fa, fb) = (free(x.len(), &p), free(y.len(), &q));
    let size = |dims: &Dims, axes: &[usize]| axes.iter().map(|&a| dims[a]).product::<usize>();
    let (m, k, n) = (size(&x, &fa), size(&x, &p), size(&y, &fb));
    let a = l.permute(a, &[fa, p].concat());
    let b = l.permute(b, &[q, fb].concat());
    let (a, b, out) = (l.reshape(a, &[m, k]), l.reshape(b, &[k, n]), l.out_dims(0));
    exact::multiplied(l, &[a, b], l.compute(), (2, k), |l, v| {
        let product = l.contract(v[0], v[1]);
        Ok(l.reshape(product, &out))
    })
    .map(|product| vec![product])
}

const PRODUCT: OpDef = OpDef {
    operands: &[tensor("x1"), tensor("x2")],
    dtype: DTypeRule::new(Class::Numeric, Compute::Sum, Out::Compute),
    domain: crate::def::Domain::Special,
    also: &[Namespace::Linalg],
    ..BASE
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "matmul", shape: matmul_shape, lower: Lowering::Graph(matmul),
        errors: &[ErrorCase { call: "ft.zeros([2, 3]).matmul(ft.zeros([4, 2]))", code: Code::Shape }, ErrorCase { call: "ft.zeros([]).matmul(ft.zeros([2]))", code: Code::Shape }],
        doc: doc("Matrix product of the last two axes, the axes before broadcast; a vector stands for a row on the left, a column on the right. Small integers give 32 bits, as in sum; a result that its dtype does not hold is a DTypeError when it is read.", "out_ij = sum_k x1_ik x2_kj", "ft.tensor([[1, 2], [3, 4]]).matmul(ft.tensor([1, 1])) // [3, 7]", "matmul", "matmul"), ..PRODUCT },
    OpDef { name: "tensordot", attrs: &[attr("axes", AttrKind::AxisPairs)], shape: tensordot_shape, lower: Lowering::Graph(tensordot),
        errors: &[ErrorCase { call: "ft.zeros([2, 3]).tensordot(ft.zeros([4, 2]), { axes: 1 })", code: Code::Shape }],
        doc: doc("Sum of products over pairs of axes: the last n of x1 with the first n of x2 (n = 2 by default), or two lists of axes. Small integers give 32 bits, as in sum; a result that its dtype does not hold is a DTypeError when it is read.", "out_ij = sum_k x1_ik x2_kj", "ft.tensor([[1, 2], [3, 4]]).tensordot(ft.tensor([[1, 1], [1, 1]])) // 10", "tensordot", "tensordot"), ..PRODUCT },
];
