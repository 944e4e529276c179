//! Elements found by position along an axis, and positions found by elements.

use super::index::integer_indices;
use super::rows::{BASE, attr, doc, optional_tensor, tensor, weak};
use crate::def::{AttrKind, Domain, ErrorCase, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::scalar::{Builder, Op, Value};
use ferrotensor_core::{DType, Dims, Error, Result, layout};
use smallvec::SmallVec;

/// The shape of a call along an axis: indices and data broadcast but for the axis, which has as many places as the indices.
pub fn along_dims(x: &[usize], indices: &[usize], axis: usize) -> Result<Dims> {
    if x.len() != indices.len() {
        return Err(Error::shape(format!("indices of shape {indices:?} need as many axes as the tensor, {x:?}")));
    }
    let mut like: Dims = SmallVec::from_slice(x);
    like[axis] = indices[axis];
    layout::broadcast_shapes(&like, indices)
}

fn take_along_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    integer_indices(ctx, 1)?;
    let axis = shape::axis(ctx.attrs.int("axis"), ctx.shape(0).len())?;
    Ok(vec![along_dims(ctx.shape(0), ctx.shape(1), axis)?])
}

/// A tensor as `[before, axis, behind]`.
pub fn lines(l: &mut Lower, x: Val, axis: usize) -> Result<Val> {
    let dims = l.dims(x);
    let (before, behind) = (layout::count(&dims[..axis])?, layout::count(&dims[axis + 1..])?);
    Ok(l.reshape(x, &[before, dims[axis], behind]))
}

/// Indices `[before, n, behind]` into the axis of [`lines`] with the positions in the axes around it.
pub fn places(l: &mut Lower, indices: Val) -> Result<[Val; 3]> {
    let dims = l.dims(indices);
    let place = |l: &mut Lower, axis: u8| l.map(&dims, &[], |b, _| b.index(axis, DType::I64));
    Ok([place(l, 0)?, indices, place(l, 2)?])
}

/// A gather with three indices: the position in the axes before, the given one, the position in the axes behind.
fn take_along(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, indices, out) = (l.operand(0)?, l.operand(1)?, l.out_dims(0));
    let axis = shape::axis(l.attrs().int("axis"), out.len())?;
    let mut data = out.clone();
    data[axis] = l.dims(x)[axis];
    let (x, indices) = (l.broadcast(x, &data)?, l.broadcast(indices, &out)?);
    let (x, indices) = (lines(l, x, axis)?, lines(l, indices, axis)?);
    let places = places(l, indices)?;
    let taken = l.gather(x, &places);
    Ok(vec![l.reshape(taken, &out)])
}

fn searchsorted_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let [n] = ctx.shape(0) else {
        return Err(Error::shape(format!("the sorted elements must be a vector, got shape {:?}", ctx.shape(0))));
    };
    if ctx.args.len() > 2 && ctx.dims[2].is_some() {
        integer_indices(ctx, 2)?;
        if ctx.shape(2) != [*n] {
            return Err(Error::shape(format!("the sorter has shape {:?}, the elements [{n}]", ctx.shape(2))));
        }
    }
    Ok(vec![SmallVec::from_slice(ctx.shape(1))])
}

/// `x < y` in the order of `sort`: NaN after every number.
fn before(b: &mut Builder, x: Value, y: Value) -> Value {
    let less = b.compare(Op::Lt, x, y);
    let (number, nan) = (b.compare(Op::Eq, x, x), b.compare(Op::Ne, y, y));
    let last = b.binary(Op::And, number, nan);
    b.binary(Op::Or, less, last)
}

fn searchsorted(l: &mut Lower) -> Result<Vec<Val>> {
    let compute = l.compute();
    let (mut sorted, values) = (l.operand(0)?, l.operand(1)?);
    if !l.is_absent(2) {
        let sorter = l.operand(2)?;
        sorted = l.gather(sorted, &[sorter]);
    }
    let (sorted, values) = (l.cast(sorted, compute)?, l.cast(values, compute)?);
    let right = l.attrs().int("side") == 1;
    let count = positions(l, sorted, values, |b, element, value| {
        if right {
            let later = before(b, value, element);
            b.unary(Op::Not, later)
        } else {
            before(b, element, value)
        }
    })?;
    Ok(vec![count])
}

/// How many sorted elements come before each value, as `comes(element, value)` says: the number's binary digits from the highest,
/// each by one look at the elements.
pub fn positions(
    l: &mut Lower,
    sorted: Val,
    values: Val,
    comes: impl Fn(&mut Builder, Value, Value) -> Value,
) -> Result<Val> {
    let (n, out) = (l.dims(sorted)[0], l.dims(values));
    let Some(highest) = n.checked_ilog2() else { return l.map(&out, &[], |b, _| b.lit(DType::I32, 0.0)) };
    // The first probe is the same element for every value.
    let first = l.pick(sorted, 0, (1 << highest) - 1);
    let mut count = l.map(&out, &[first, values], |b, v| {
        let (step, none) = (b.lit(DType::I32, (1u64 << highest) as f64), b.lit(DType::I32, 0.0));
        let comes = comes(b, v[0], v[1]);
        b.select(comes, step, none)
    })?;
    for digit in (0..highest).rev() {
        let step = (1u64 << digit) as f64;
        let probe = l.map(&out, &[count], |b, v| {
            let (step, last) = (b.lit(DType::I32, step - 1.0), b.lit(DType::I32, (n - 1) as f64));
            let place = b.binary(Op::Add, v[0], step);
            b.binary(Op::Min, place, last)
        })?;
        let seen = l.gather(sorted, &[probe]);
        count = l.map(&out, &[count, seen, values], |b, v| {
            let (step, n) = (b.lit(DType::I32, step), b.lit(DType::I32, n as f64));
            let next = b.binary(Op::Add, v[0], step);
            let there = b.compare(Op::Le, next, n);
            let comes = comes(b, v[1], v[2]);
            let taken = b.binary(Op::And, there, comes);
            b.select(taken, next, v[0])
        })?;
    }
    Ok(count)
}

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "takeAlongAxis", operands: &[tensor("x"), tensor("indices")], attrs: &[attr("axis", AttrKind::Int(Some(-1)))], shape: take_along_shape, lower: Lowering::Graph(take_along), domain: Domain::Special,
        dtype: DTypeRule::new(Class::Any, Compute::Own, Out::Compute).over(0, 1),
        errors: &[ErrorCase { call: "ft.zeros([2, 2]).takeAlongAxis(ft.tensor([0], { dtype: 'int32' }))", code: Code::Shape }, ErrorCase { call: "ft.zeros([2]).takeAlongAxis(ft.tensor([0.5]))", code: Code::DType }, ErrorCase { call: "ft.zeros([2]).takeAlongAxis(ft.tensor([0], { dtype: 'int32' }), { axis: 1 })", code: Code::Index }],
        doc: doc("Elements picked along an axis (the last by default), in each line by indices of its own, as argsort and argmax give them; negative indices count from the end. An index out of range is an IndexError when the result is read.", "out[..., i, ...] = x[..., indices[..., i, ...], ...]", "ft.tensor([[3, 1], [5, 7]]).takeAlongAxis(ft.tensor([[1, 0], [0, 0]], { dtype: 'int32' })) // [[1, 3], [5, 5]]", "take_along_axis", "take_along_dim"), ..BASE },
    OpDef { name: "searchsorted", operands: &[tensor("x1"), weak("x2"), optional_tensor("sorter")], attrs: &[attr("side", AttrKind::Choice(&["left", "right"]))], shape: searchsorted_shape, lower: Lowering::Graph(searchsorted), domain: Domain::Special,
        dtype: DTypeRule::new(Class::Ordered, Compute::Promote, Out::Int32).over(0, 2),
        errors: &[ErrorCase { call: "ft.zeros([2, 2]).searchsorted(ft.tensor([0]))", code: Code::Shape }, ErrorCase { call: "ft.zeros([2]).searchsorted(1, ft.tensor([0], { dtype: 'int32' }))", code: Code::Shape }],
        doc: doc("Positions (int32) at which values would be inserted into a sorted vector to keep its order: the number of its elements that are less than each value, or with side 'right' less or equal. The sorter, if given, sorts the vector first. NaN counts as the largest value.", "|{ i : x1_i < x2 }|", "ft.tensor([1, 3, 5]).searchsorted(ft.tensor([3, 4])) // [1, 2]", "searchsorted", "searchsorted"), ..BASE },
];
