//! Indexing: basic items, gathering and scattering along an axis.

use super::rows::{BASE, attr, doc, tensor, weak};
use crate::attrs::Item;
use crate::def::{AttrDef, AttrKind, Domain, ErrorCase, Form, Lowering, OpDef};
use crate::dtype_rule::{Arg, Class, Compute, DTypeRule, Out};
use crate::graph::{IndexItem, View};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::shape;
use crate::write::{index_dims, inverse};
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::Update;
use ferrotensor_core::{DType, Dims, Error, Result, layout};
use smallvec::SmallVec;

/// Shape of the region the items select; every axis has an item.
fn region_dims(ctx: &ShapeCtx) -> Result<Dims> {
    let (dims, items) = (ctx.shape(0), ctx.attrs.items("items"));
    let used = items.iter().filter(|i| !matches!(i, Item::NewAxis)).count();
    if used != dims.len() {
        return Err(Error::index(format!("{used} indices for rank {}", dims.len())));
    }
    let mut out = Dims::new();
    let mut axis = 0;
    for item in items {
        match *item {
            Item::NewAxis => out.push(1),
            Item::Pick => axis += 1,
            Item::Slice(len) => {
                if len > dims[axis] {
                    return Err(Error::index(format!("slice of {len} elements from axis {axis} of size {}", dims[axis])));
                }
                out.push(len);
                axis += 1;
            }
        }
    }
    Ok(out)
}

/// The items as a view; their numbers are the row's run-time parameters, in order.
fn items(l: &Lower, first: usize) -> SmallVec<[IndexItem; 6]> {
    let mut next = first;
    let mut number = || {
        next += 1;
        l.number(next - 1)
    };
    l.attrs()
        .items("items")
        .iter()
        .map(|item| match *item {
            Item::NewAxis => IndexItem::NewAxis,
            Item::Pick => IndexItem::Pick(number()),
            Item::Slice(len) => IndexItem::Slice { start: number(), step: number(), len },
        })
        .collect()
}

fn slice(l: &mut Lower) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    let items = items(l, 0);
    Ok(vec![l.index(x, &items)])
}

fn with_slice_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let region = region_dims(ctx)?;
    let value = ctx.shape(1);
    match layout::broadcast_shapes(value, &region) {
        Ok(dims) if dims == region => shape::same(ctx),
        _ => Err(Error::shape(format!("value of shape {value:?} does not broadcast to the region {:?}", region.as_slice()))),
    }
}

fn with_slice(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, value, compute) = (l.operand(0)?, l.operand(1)?, l.compute());
    let items = items(l, 0);
    let region = index_dims(&l.dims(x), &items);
    let value = l.cast(value, compute)?;
    let value = l.broadcast(value, &region)?;
    let dims = l.out_dims(0);
    Ok(vec![l.assemble(&dims, Some(x), vec![(value, Some(View::Index(items)))])?])
}

fn integer_indices(ctx: &ShapeCtx, operand: usize) -> Result<()> {
    match ctx.args.get(operand) {
        Some(Arg::Tensor(d)) if d.is_integer() && *d != DType::U64 => Ok(()),
        Some(Arg::Tensor(d)) => {
            Err(Error::dtype(format!("indices must be integers up to int64, got {d}; convert with astype('int32')")))
        }
        _ => Err(Error::argument("indices must be a tensor")),
    }
}

fn take_axis(ctx: &ShapeCtx) -> Result<usize> {
    shape::only_axis(ctx.attrs.opt_int("axis"), ctx.shape(0).len())
}

/// Shape of what the indices select: the axis replaced by the indices' shape.
fn selected_dims(dims: &[usize], indices: &[usize], axis: usize) -> Dims {
    dims[..axis].iter().chain(indices).chain(&dims[axis + 1..]).copied().collect()
}

fn take_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    integer_indices(ctx, 1)?;
    let (dims, axis) = (ctx.shape(0), take_axis(ctx)?);
    let out = selected_dims(dims, ctx.shape(1), axis);
    if dims[axis] == 0 && layout::count(ctx.shape(1))? > 0 {
        return Err(Error::index(format!("cannot take from axis {axis} of size 0")));
    }
    Ok(vec![out])
}

/// The axis of a lowered call; inference has checked it.
fn axis_of(l: &Lower, rank: usize) -> Result<usize> {
    shape::axis(l.attrs().opt_int("axis").unwrap_or(0), rank)
}

fn take(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, indices) = (l.operand(0)?, l.operand(1)?);
    let (rank, extra) = (l.dims(x).len(), l.dims(indices).len());
    let axis = axis_of(l, rank)?;
    let front: Vec<usize> = std::iter::once(axis).chain((0..rank).filter(|&a| a != axis)).collect();
    let moved = l.permute(x, &front);
    let out = l.gather(moved, &[indices]);
    // Gathered axes stand first; they belong where the axis was.
    let back: Vec<usize> = (extra..extra + axis).chain(0..extra).chain(extra + axis..extra + rank - 1).collect();
    Ok(vec![l.permute(out, &back)])
}

fn scatter_add_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    integer_indices(ctx, 1)?;
    let axis = take_axis(ctx)?;
    let wanted = selected_dims(ctx.shape(0), ctx.shape(1), axis);
    if ctx.shape(2) != wanted.as_slice() {
        return Err(Error::shape(format!(
            "updates have shape {:?}, the indices select {:?}",
            ctx.shape(2),
            wanted.as_slice()
        )));
    }
    shape::same(ctx)
}

fn scatter_add(l: &mut Lower) -> Result<Vec<Val>> {
    let compute = l.compute();
    let (x, indices, updates) = (l.operand(0)?, l.operand(1)?, l.operand(2)?);
    let updates = l.cast(updates, compute)?;
    let (rank, extra) = (l.dims(x).len(), l.dims(indices).len());
    let axis = axis_of(l, rank)?;
    let front: Vec<usize> = std::iter::once(axis).chain((0..rank).filter(|&a| a != axis)).collect();
    let data = l.permute(x, &front);
    let gathered: Vec<usize> = (axis..axis + extra).chain(0..axis).chain(axis + extra..extra + rank - 1).collect();
    let updates = l.permute(updates, &gathered);
    let out = l.scatter(data, &[indices], updates, Update::Add);
    Ok(vec![l.permute(out, &inverse(&front))])
}

const ITEMS: &[AttrDef] = &[attr("items", AttrKind::Items)];
const AXIS: &[AttrDef] = &[attr("axis", AttrKind::OptAxis)];

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "at", form: Form::Internal, attrs: ITEMS, shape: |ctx| Ok(vec![region_dims(ctx)?]), lower: Lowering::Graph(slice), domain: Domain::Special,
        doc: doc("Basic indexing, behind `x.at(...)`.", "x[items]", "", "", ""), ..BASE },
    OpDef { name: "withAt", form: Form::Internal, operands: &[tensor("x"), weak("value")], attrs: ITEMS, shape: with_slice_shape, lower: Lowering::Graph(with_slice), domain: Domain::Special,
        dtype: DTypeRule::new(Class::Any, Compute::Own, Out::Compute),
        doc: doc("A copy with a region replaced, behind `x.withAt(items, value)`.", "x[items] = value", "", "", ""), ..BASE },
    OpDef { name: "take", operands: &[tensor("x"), tensor("indices")], attrs: AXIS, shape: take_shape, lower: Lowering::Graph(take), domain: Domain::Special,
        dtype: DTypeRule::new(Class::Any, Compute::Own, Out::Compute).over(0, 1),
        errors: &[ErrorCase { call: "ft.zeros([2, 2]).take(ft.tensor([0], { dtype: 'int32' }))", code: Code::Argument }, ErrorCase { call: "ft.zeros([2]).take(ft.tensor([0.5]))", code: Code::DType }],
        doc: doc("Slices picked by indices along an axis; negative indices count from the end. An index out of range is an IndexError when the result is read.", "out[..., i, ...] = x[..., indices[i], ...]", "ft.tensor([10, 20, 30]).take(ft.tensor([2, 0], { dtype: 'int32' })) // [30, 10]", "take", "index_select"), ..BASE },
    OpDef { name: "scatterAdd", operands: &[tensor("x"), tensor("indices"), tensor("updates")], attrs: AXIS, shape: scatter_add_shape, lower: Lowering::Graph(scatter_add), domain: Domain::Special,
        dtype: DTypeRule::new(Class::Numeric, Compute::Own, Out::Compute).over(0, 1),
        errors: &[ErrorCase { call: "ft.zeros([3]).scatterAdd(ft.tensor([0], { dtype: 'int32' }), ft.zeros([2]))", code: Code::Shape }],
        doc: doc("Adds updates to the slices that indices pick along an axis, one after the other, so duplicates add up in a defined order.", "out[..., indices[i], ...] += updates[..., i, ...]", "ft.zeros([3]).scatterAdd(ft.tensor([2, 2], { dtype: 'int32' }), ft.tensor([1, 5])) // [0, 0, 6]", "add.at", "index_add"), ..BASE },
];
