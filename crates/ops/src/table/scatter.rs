//! Updates that meet what is there: along an axis, place by place, and from nothing, by segments.

use super::exact;
use super::index::{AXIS, along, integer_indices, take_axis};
use super::lookup::{self, along_dims, lines};
use super::rows::{BASE, arg, attr, doc, tensor, weak};
use super::unary::shortened;
use crate::def::{AttrKind, Domain, ErrorCase, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::selection::Selection;
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Monoid, Update};
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{DType, Dims, Error, Result};

fn scatter_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    integer_indices(ctx, 1)?;
    let wanted = Selection::along(ctx.shape(0), take_axis(ctx)?, ctx.shape(1))?.dims();
    if ctx.shape(2) != wanted.as_slice() {
        return Err(Error::shape(format!(
            "updates have shape {:?}, the indices select {:?}",
            ctx.shape(2),
            wanted.as_slice()
        )));
    }
    shape::same(ctx)
}

fn scattered(l: &mut Lower, update: Update) -> Result<Vec<Val>> {
    let compute = l.compute();
    let (x, indices, updates) = (l.operand(0)?, l.operand(1)?, l.operand(2)?);
    let updates = l.cast(updates, compute)?;
    let selection = along(l, x, indices)?;
    Ok(vec![l.scatter_selection(x, &selection, &[indices], updates, update)?])
}

/// The ways of [`put`], as its option names them.
const UPDATES: AttrKind = AttrKind::Choice(&["set", "add", "multiply", "minimum", "maximum"]);

fn put_update(choice: i64) -> Update {
    match choice {
        1 => Update::Combine(Monoid::Sum),
        2 => Update::Combine(Monoid::Prod),
        3 => Update::Combine(Monoid::Min),
        4 => Update::Combine(Monoid::Max),
        _ => Update::Set,
    }
}

fn put_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    integer_indices(ctx, 1)?;
    let dtype = ctx.dtype(0).unwrap_or(DType::F32);
    match put_update(ctx.attrs.int("update")) {
        Update::Combine(Monoid::Sum | Monoid::Prod) if dtype == DType::Bool => {
            return Err(Error::dtype("updates of bool are not added or multiplied; convert with astype('int32')"));
        }
        Update::Combine(Monoid::Min | Monoid::Max) if dtype.is_complex() => {
            return Err(Error::dtype(format!("updates of {dtype} have no order")));
        }
        _ => {}
    }
    let (x, indices) = (ctx.shape(0), ctx.shape(1));
    let axis = shape::axis(ctx.attrs.int("axis"), x.len())?;
    let places = along_dims(x, indices, axis)?;
    if (0..x.len()).any(|a| a != axis && places[a] != x[a]) {
        return Err(Error::shape(format!("indices of shape {indices:?} reach beyond {x:?}")));
    }
    let value = ctx.shape(2);
    match ferrotensor_core::layout::broadcast_shapes(value, &places) {
        Ok(found) if found == places => shape::same(ctx),
        _ => Err(Error::shape(format!("values of shape {value:?} do not broadcast to the places {:?}", places.as_slice()))),
    }
}

/// A scatter with three indices, the mirror of `takeAlongAxis`.
fn put(l: &mut Lower) -> Result<Vec<Val>> {
    let (compute, update) = (l.compute(), put_update(l.attrs().int("update")));
    let (x, indices, values) = (l.operand(0)?, l.operand(1)?, l.operand(2)?);
    let (values, out) = (l.cast(values, compute)?, l.out_dims(0));
    let axis = shape::axis(l.attrs().int("axis"), out.len())?;
    let places = along_dims(&out, &l.dims(indices), axis)?;
    let (x, indices) = (lines(l, x, axis)?, l.broadcast(indices, &places)?);
    let values = l.broadcast(values, &places)?;
    let (indices, values) = (lines(l, indices, axis)?, lines(l, values, axis)?);
    let indices = lookup::places(l, indices)?;
    let changed = l.scatter(x, &indices, values, update);
    Ok(vec![l.reshape(changed, &out)])
}

fn segment_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    integer_indices(ctx, 1)?;
    let (x, segments, count) = (ctx.shape(0), ctx.shape(1), ctx.attrs.int("numSegments"));
    match x {
        [n, ..] if segments == [*n] => {}
        _ => return Err(Error::shape(format!("segments of shape {segments:?} do not number the rows of {x:?}"))),
    }
    let count =
        usize::try_from(count).map_err(|_| Error::shape(format!("numSegments must not be negative, got {count}")))?;
    Ok(vec![std::iter::once(count).chain(x[1..].iter().copied()).collect()])
}

/// Rows of `updates` combined by segment, from `start` on.
fn by_segment(l: &mut Lower, updates: Val, monoid: Monoid, start: f64) -> Result<Val> {
    let (segments, dtype, rows) = (l.operand(1)?, l.dtype(updates), l.out_dims(0)[0]);
    let dims: Dims = std::iter::once(rows).chain(l.dims(updates)[1..].iter().copied()).collect();
    let base = l.map(&dims, &[], |b, _| b.lit(dtype, start))?;
    Ok(l.scatter(base, &[segments], updates, Update::Combine(monoid)))
}

fn segment(l: &mut Lower, monoid: Monoid) -> Result<Vec<Val>> {
    // Half floats add up in float32 and are rounded once.
    let (x, acc, out) = (l.operand(0)?, l.compute().compute(), l.out_dtype(0));
    let rows = l.dims(x).first().copied().unwrap_or(1);
    let start = if monoid == Monoid::Sum { 0.0 } else { monoid.identity_literal(acc) };
    let combined = exact::combined(l, x, acc, (monoid, rows), |l, x| by_segment(l, x, monoid, start))?;
    Ok(vec![l.cast(combined, out)?])
}

fn segment_mean(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, acc, out) = (l.operand(0)?, l.compute().compute(), l.out_dtype(0));
    let (x, part) = (l.cast(x, acc)?, acc.info().real);
    let total = by_segment(l, x, Monoid::Sum, 0.0)?;
    let column: Dims = l.dims(x).iter().enumerate().map(|(a, &d)| if a == 0 { d } else { 1 }).collect();
    let ones = l.map(&column, &[], |b, _| b.lit(part, 1.0))?;
    let count = by_segment(l, ones, Monoid::Sum, 0.0)?;
    let dims = l.dims(total);
    let mean = l.map(&dims, &[total, count], |b, v| {
        if b.dtype(v[0]).is_complex() { shortened(b, v[0], v[1]) } else { b.binary(Op::Div, v[0], v[1]) }
    })?;
    Ok(vec![l.cast(mean, out)?])
}

const SCATTER: OpDef = OpDef {
    operands: &[tensor("x"), tensor("indices"), tensor("updates")],
    attrs: AXIS,
    shape: scatter_shape,
    domain: Domain::Special,
    dtype: DTypeRule::new(Class::Numeric, Compute::Own, Out::Compute).over(0, 1),
    errors: &[
        ErrorCase { call: "ft.zeros([3]).scatterAdd(ft.tensor([0], { dtype: 'int32' }), ft.zeros([2]))", code: Code::Shape },
        ErrorCase {
            call: "ft.zeros([3]).scatterAdd(ft.tensor([3], { dtype: 'int32' }), ft.zeros([1])).toArray()",
            code: Code::Index,
        },
    ],
    ..BASE
};
const SEGMENT: OpDef = OpDef {
    operands: &[tensor("x"), tensor("segments")],
    attrs: &[arg("numSegments", AttrKind::Int(None))],
    shape: segment_shape,
    domain: Domain::Special,
    dtype: DTypeRule::new(Class::Numeric, Compute::Own, Out::Compute).over(0, 1),
    errors: &[
        ErrorCase { call: "ft.zeros([3]).segmentSum(ft.tensor([0, 0], { dtype: 'int32' }), 2)", code: Code::Shape },
        ErrorCase { call: "ft.zeros([1]).segmentSum(ft.tensor([0], { dtype: 'int32' }), -1)", code: Code::Shape },
        ErrorCase { call: "ft.zeros([1]).segmentSum(ft.tensor([2], { dtype: 'int32' }), 2).toArray()", code: Code::Index },
    ],
    ..BASE
};
const EXTREME: DTypeRule = DTypeRule::new(Class::Ordered, Compute::Own, Out::Compute).over(0, 1);

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "scatter", lower: Lowering::Graph(|l| scattered(l, Update::Set)), dtype: DTypeRule::new(Class::Any, Compute::Own, Out::Compute).over(0, 1),
        doc: doc("A copy in which updates replace the slices that indices pick along an axis; of duplicates the last stays. Negative indices count from the end; one out of range is an IndexError when the result is read.", "out[..., indices[i], ...] = updates[..., i, ...]", "ft.zeros([3]).scatter(ft.tensor([2, 0], { dtype: 'int32' }), ft.tensor([7, 5])) // [5, 0, 7]", "", "index_copy"), ..SCATTER },
    OpDef { name: "scatterAdd", lower: Lowering::Graph(|l| scattered(l, Update::Combine(Monoid::Sum))),
        doc: doc("Adds updates to the slices that indices pick along an axis, one after the other, so duplicates add up in a defined order.", "out[..., indices[i], ...] += updates[..., i, ...]", "ft.zeros([3]).scatterAdd(ft.tensor([2, 2], { dtype: 'int32' }), ft.tensor([1, 5])) // [0, 0, 6]", "add.at", "index_add"), ..SCATTER },
    OpDef { name: "scatterMul", lower: Lowering::Graph(|l| scattered(l, Update::Combine(Monoid::Prod))),
        doc: doc("Multiplies the slices that indices pick along an axis by updates, one after the other.", "out[..., indices[i], ...] *= updates[..., i, ...]", "ft.ones([3]).scatterMul(ft.tensor([2, 2], { dtype: 'int32' }), ft.tensor([2, 5])) // [1, 1, 10]", "multiply.at", "index_reduce"), ..SCATTER },
    OpDef { name: "scatterMin", lower: Lowering::Graph(|l| scattered(l, Update::Combine(Monoid::Min))), dtype: EXTREME,
        doc: doc("Smaller ones of updates and the slices that indices pick along an axis; NaN wins.", "out[..., indices[i], ...] = min(out[..., indices[i], ...], updates[..., i, ...])", "ft.ones([3]).scatterMin(ft.tensor([2, 2], { dtype: 'int32' }), ft.tensor([-2, 5])) // [1, 1, -2]", "minimum.at", "index_reduce"), ..SCATTER },
    OpDef { name: "scatterMax", lower: Lowering::Graph(|l| scattered(l, Update::Combine(Monoid::Max))), dtype: EXTREME,
        doc: doc("Larger ones of updates and the slices that indices pick along an axis; NaN wins.", "out[..., indices[i], ...] = max(out[..., indices[i], ...], updates[..., i, ...])", "ft.ones([3]).scatterMax(ft.tensor([2, 2], { dtype: 'int32' }), ft.tensor([-2, 5])) // [1, 1, 5]", "maximum.at", "index_reduce"), ..SCATTER },
    OpDef { name: "putAlongAxis", operands: &[tensor("x"), tensor("indices"), weak("values")], attrs: &[attr("axis", AttrKind::Int(Some(-1))), attr("update", UPDATES)], shape: put_shape, lower: Lowering::Graph(put), domain: Domain::Special,
        dtype: DTypeRule::new(Class::Any, Compute::Own, Out::Compute).over(0, 1),
        errors: &[ErrorCase { call: "ft.zeros([2, 2]).putAlongAxis(ft.tensor([0], { dtype: 'int32' }), 1)", code: Code::Shape }, ErrorCase { call: "ft.zeros([2]).putAlongAxis(ft.tensor([0], { dtype: 'int32' }), ft.zeros([3]))", code: Code::Shape }, ErrorCase { call: "ft.tensor([true]).putAlongAxis(ft.tensor([0], { dtype: 'int32' }), true, { update: 'add' })", code: Code::DType }],
        doc: doc("A copy with values written along an axis (the last by default), at indices of their own in each line; values broadcast to the indices. By the option update a value replaces the element there, is added to it, multiplied with it, or compared with it, in row-major order. Negative indices count from the end; one out of range is an IndexError when the result is read.", "out[..., indices[..., i, ...], ...] = values[..., i, ...]", "ft.zeros([2, 2]).putAlongAxis(ft.tensor([[1], [0]], { dtype: 'int32' }), 9) // [[0, 9], [9, 0]]", "put_along_axis", "scatter"), ..BASE },
    OpDef { name: "segmentSum", lower: Lowering::Graph(|l| segment(l, Monoid::Sum)),
        doc: doc("Sums of the rows of each segment, which a vector of integers numbers, one after the other; 0 of a segment without rows. A number out of range is an IndexError when the result is read. Integers that their dtype does not hold are refused as in sum.", "out_s = sum_{i : segments_i = s} x_i", "ft.tensor([1, 2, 3]).segmentSum(ft.tensor([0, 2, 0], { dtype: 'int32' }), 3) // [4, 0, 2]", "add.at", "scatter_reduce"), ..SEGMENT },
    OpDef { name: "segmentProd", lower: Lowering::Graph(|l| segment(l, Monoid::Prod)),
        doc: doc("Products of the rows of each segment; 1 of a segment without rows. Integers that their dtype does not hold are refused as in sum.", "out_s = prod_{i : segments_i = s} x_i", "ft.tensor([4, 2, 3]).segmentProd(ft.tensor([0, 2, 0], { dtype: 'int32' }), 3) // [12, 1, 2]", "multiply.at", "scatter_reduce"), ..SEGMENT },
    OpDef { name: "segmentMin", lower: Lowering::Graph(|l| segment(l, Monoid::Min)), dtype: EXTREME,
        doc: doc("Smallest elements of each segment's rows; the largest number of the dtype (Infinity) of a segment without rows; NaN wins.", "out_s = min_{i : segments_i = s} x_i", "ft.tensor([4, 2, 3]).segmentMin(ft.tensor([0, 1, 0], { dtype: 'int32' }), 2) // [3, 2]", "minimum.at", "scatter_reduce"), ..SEGMENT },
    OpDef { name: "segmentMax", lower: Lowering::Graph(|l| segment(l, Monoid::Max)), dtype: EXTREME,
        doc: doc("Largest elements of each segment's rows; the smallest number of the dtype (-Infinity) of a segment without rows; NaN wins.", "out_s = max_{i : segments_i = s} x_i", "ft.tensor([4, 2, 3]).segmentMax(ft.tensor([0, 1, 0], { dtype: 'int32' }), 2) // [4, 2]", "maximum.at", "scatter_reduce"), ..SEGMENT },
    OpDef { name: "segmentMean", lower: Lowering::Graph(segment_mean), dtype: DTypeRule::new(Class::Any, Compute::Float, Out::Compute).over(0, 1),
        doc: doc("Arithmetic means of each segment's rows; NaN of a segment without rows; integers give float32.", "out_s = sum_{i : segments_i = s} x_i / |{ i : segments_i = s }|", "ft.tensor([4, 2, 3]).segmentMean(ft.tensor([0, 1, 0], { dtype: 'int32' }), 2) // [3.5, 2]", "", "scatter_reduce"), ..SEGMENT },
];
