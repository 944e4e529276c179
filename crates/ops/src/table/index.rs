//! Indexing: items as NumPy has them, gathering along an axis.

use super::rows::{BASE, attr, doc, tensor, weak};
use crate::attrs::Item;
use crate::def::{AttrDef, AttrKind, Domain, ErrorCase, Form, Lowering, OpDef};
use crate::dtype_rule::{Arg, Class, Compute, DTypeRule, Out};
use crate::graph::{Number, View};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::selection::Selection;
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::Update;
use ferrotensor_core::{DType, Dims, Error, Result, layout};
use smallvec::SmallVec;

/// What a call of `at` or `withAt` selects; its indices and masks are the operands from `first` on.
fn selection(ctx: &ShapeCtx, first: usize) -> Result<Selection> {
    let items = ctx.attrs.items("items");
    let shapes: Vec<Dims> = (first..ctx.args.len()).map(|n| SmallVec::from_slice(ctx.shape(n))).collect();
    let selection = Selection::new(ctx.shape(0), items, &shapes, || Number::Const(0))?;
    let indexing = items.iter().filter(|i| matches!(i, Item::Index(_) | Item::Mask(_)));
    for (operand, item) in (first..).zip(indexing) {
        match item {
            Item::Mask(_) if ctx.dtype(operand) == Some(DType::Bool) => {}
            Item::Mask(_) => return Err(Error::dtype("a mask must be of dtype bool")),
            _ => integer_indices(ctx, operand)?,
        }
    }
    Ok(selection)
}

/// The selection of a call being lowered, the view of `x` it begins with, and its indices and masks.
fn selected(l: &mut Lower, x: Val, first: usize) -> Result<(Selection, Val, Vec<Val>)> {
    let indices = (first..l.len()).map(|n| l.operand(n)).collect::<Result<Vec<_>>>()?;
    let (dims, shapes) = (l.dims(x), indices.iter().map(|&i| l.dims(i)).collect::<Vec<_>>());
    let mut numbers = 0..;
    let number = || l.number(numbers.next().unwrap_or_default());
    let selection = Selection::new(&dims, l.attrs().items("items"), &shapes, number)?;
    let region = l.index(x, &selection.items);
    Ok((selection, region, indices))
}

fn at_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let selection = selection(ctx, 1)?;
    match selection.mask {
        Some(_) => Err(Error::argument("the shape of what a mask selects depends on its values")),
        None => Ok(vec![selection.dims()]),
    }
}

fn at(l: &mut Lower) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    let (selection, region, indices) = selected(l, x, 1)?;
    Ok(vec![if indices.is_empty() { region } else { l.gather_selection(region, &selection, &indices)? }])
}

fn with_at_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (selection, value) = (selection(ctx, 2)?, ctx.shape(1));
    // What a mask selects is unknown here, and every element of it takes the same value.
    let dims = if selection.mask.is_some() { Dims::new() } else { selection.dims() };
    match layout::broadcast_shapes(value, &dims) {
        Ok(found) if found == dims => shape::same(ctx),
        _ => Err(Error::shape(format!("value of shape {value:?} does not broadcast to the region {:?}", dims.as_slice()))),
    }
}

fn with_at(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, value, compute) = (l.operand(0)?, l.operand(1)?, l.compute());
    let value = l.cast(value, compute)?;
    let (selection, region, indices) = selected(l, x, 2)?;
    let changed = match &selection.mask {
        Some(under) => {
            let behind = selection.region.len() - under.end;
            let mask = selection.region[under.clone()].iter().copied().chain(std::iter::repeat_n(1, behind));
            let mask = l.reshape(indices[0], &mask.collect::<Dims>());
            l.map(&selection.region, &[mask, value, region], |b, v| b.select(v[0], v[1], v[2]))?
        }
        None => {
            let value = l.broadcast(value, &selection.dims())?;
            match indices.is_empty() {
                true => value,
                false => l.scatter_selection(region, &selection, &indices, value, Update::Set)?,
            }
        }
    };
    if selection.whole {
        return Ok(vec![changed]);
    }
    let dims = l.out_dims(0);
    Ok(vec![l.assemble(&dims, Some(x), vec![(changed, Some(View::Index(selection.items)))])?])
}

pub fn integer_indices(ctx: &ShapeCtx, operand: usize) -> Result<()> {
    match ctx.args.get(operand) {
        Some(Arg::Tensor(d)) if d.is_integer() && *d != DType::U64 => Ok(()),
        Some(Arg::Tensor(d)) => {
            Err(Error::dtype(format!("indices must be integers up to int64, got {d}; convert with astype('int32')")))
        }
        _ => Err(Error::argument("indices must be a tensor")),
    }
}

pub fn take_axis(ctx: &ShapeCtx) -> Result<usize> {
    shape::only_axis(ctx.attrs.opt_int("axis"), ctx.shape(0).len())
}

fn take_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    integer_indices(ctx, 1)?;
    Ok(vec![Selection::along(ctx.shape(0), take_axis(ctx)?, ctx.shape(1))?.dims()])
}

/// What a lowered call of `take` or a scatter selects; inference has checked its axis.
pub fn along(l: &Lower, x: Val, indices: Val) -> Result<Selection> {
    let dims = l.dims(x);
    Selection::along(&dims, shape::axis(l.attrs().opt_int("axis").unwrap_or(0), dims.len())?, &l.dims(indices))
}

fn take(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, indices) = (l.operand(0)?, l.operand(1)?);
    let selection = along(l, x, indices)?;
    Ok(vec![l.gather_selection(x, &selection, &[indices])?])
}

const ITEMS: &[AttrDef] = &[attr("items", AttrKind::Items)];
pub const AXIS: &[AttrDef] = &[attr("axis", AttrKind::OptAxis)];

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "at", form: Form::Internal, operands: &[tensor("x"), tensor("indices")], variadic: true, attrs: ITEMS, shape: at_shape, lower: Lowering::Graph(at), domain: Domain::Special,
        dtype: DTypeRule::new(Class::Any, Compute::Own, Out::Compute).over(0, 1),
        doc: doc("Indexing, behind x.at(...).", "x[items]", "", "", ""), ..BASE },
    OpDef { name: "withAt", form: Form::Internal, operands: &[tensor("x"), weak("value"), tensor("indices")], variadic: true, attrs: ITEMS, shape: with_at_shape, lower: Lowering::Graph(with_at), domain: Domain::Special,
        dtype: DTypeRule::new(Class::Any, Compute::Own, Out::Compute).over(0, 2),
        doc: doc("A copy with what an index selects replaced, behind x.withAt(items, value).", "x[items] = value", "", "", ""), ..BASE },
    OpDef { name: "take", operands: &[tensor("x"), tensor("indices")], attrs: AXIS, shape: take_shape, lower: Lowering::Graph(take), domain: Domain::Special,
        dtype: DTypeRule::new(Class::Any, Compute::Own, Out::Compute).over(0, 1),
        errors: &[ErrorCase { call: "ft.zeros([2, 2]).take(ft.tensor([0], { dtype: 'int32' }))", code: Code::Argument }, ErrorCase { call: "ft.zeros([2]).take(ft.tensor([0.5]))", code: Code::DType }],
        doc: doc("Slices picked by indices along an axis; negative indices count from the end. An index out of range is an IndexError when the result is read.", "out[..., i, ...] = x[..., indices[i], ...]", "ft.tensor([10, 20, 30]).take(ft.tensor([2, 0], { dtype: 'int32' })) // [30, 10]", "take", "index_select"), ..BASE },
];
