//! The same elements in other places: axes moved and turned, elements rolled, repeated.

use super::join::join;
use super::rows::{BASE, arg, attr, doc};
use crate::attrs::Attrs;
use crate::def::{AttrKind, Domain, ErrorCase, Lowering, OpDef};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::{Dims, Error, Result, layout};
use smallvec::SmallVec;

/// Axes in the order asked for: each of `source` stands where `destination` says, the others keep theirs.
fn moved(source: &[i64], destination: &[i64], rank: usize) -> Result<Vec<usize>> {
    shape::axes(Some(source), rank)?;
    shape::axes(Some(destination), rank)?;
    if source.len() != destination.len() {
        let (n, m) = (source.len(), destination.len());
        return Err(Error::argument(format!("source names {n} axes, destination {m}")));
    }
    let at = |list: &[i64]| list.iter().map(|&a| shape::axis(a, rank)).collect::<Result<Vec<_>>>();
    let (from, to) = (at(source)?, at(destination)?);
    let mut rest = (0..rank).filter(|a| !from.contains(a));
    let place = |a: usize| to.iter().position(|&t| t == a).map(|i| from[i]);
    (0..rank).map(|a| place(a).or_else(|| rest.next()).ok_or_else(|| Error::internal("moveaxis: too few axes"))).collect()
}

fn move_order(attrs: &Attrs, rank: usize) -> Result<Vec<usize>> {
    match (attrs.ints("source"), attrs.ints("destination")) {
        (Some(source), Some(destination)) => moved(source, destination, rank),
        _ => Err(Error::argument("source and destination must be given")),
    }
}

fn moveaxis_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let dims = ctx.shape(0);
    Ok(vec![move_order(ctx.attrs, dims.len())?.into_iter().map(|a| dims[a]).collect()])
}

fn moveaxis(l: &mut Lower) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    let order = move_order(l.attrs(), l.dims(x).len())?;
    Ok(vec![l.permute(x, &order)])
}

fn swap_order(attrs: &Attrs, rank: usize) -> Result<Vec<usize>> {
    let mut order: Vec<usize> = (0..rank).collect();
    order.swap(shape::axis(attrs.int("axis1"), rank)?, shape::axis(attrs.int("axis2"), rank)?);
    Ok(order)
}

fn swapaxes_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let dims = ctx.shape(0);
    Ok(vec![swap_order(ctx.attrs, dims.len())?.into_iter().map(|a| dims[a]).collect()])
}

fn swapaxes(l: &mut Lower) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    let order = swap_order(l.attrs(), l.dims(x).len())?;
    Ok(vec![l.permute(x, &order)])
}

/// The plane of a rotation, and quarter turns from its first axis towards its second, 0 to 3.
fn rotation(attrs: &Attrs, rank: usize) -> Result<([usize; 2], i64)> {
    let named = attrs.ints("axes").unwrap_or(&[0, 1]);
    shape::axes(Some(named), rank)?;
    let [a, b] = named else {
        return Err(Error::argument(format!("a rotation is in the plane of two axes, got {named:?}")));
    };
    let plane = [shape::axis(*a, rank)?, shape::axis(*b, rank)?];
    Ok((plane, attrs.int("k").rem_euclid(4)))
}

fn rot90_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let mut dims: Dims = SmallVec::from_slice(ctx.shape(0));
    let ([a, b], turns) = rotation(ctx.attrs, dims.len())?;
    if turns % 2 == 1 {
        dims.swap(a, b);
    }
    Ok(vec![dims])
}

fn rot90(l: &mut Lower) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    let rank = l.dims(x).len();
    let ([a, b], turns) = rotation(l.attrs(), rank)?;
    let mut order: Vec<usize> = (0..rank).collect();
    order.swap(a, b);
    Ok(vec![match turns {
        0 => x,
        1 => {
            let turned = l.permute(x, &order);
            l.flip(turned, &[a])
        }
        2 => l.flip(x, &[a, b]),
        _ => {
            let turned = l.permute(x, &order);
            l.flip(turned, &[b])
        }
    }])
}

/// The axes from the first to the last named become one.
fn flatten_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let dims = ctx.shape(0);
    if dims.is_empty() {
        // A tensor of rank 0 has an axis here, as a vector of one element.
        shape::axis(ctx.attrs.int("startAxis"), 1)?;
        shape::axis(ctx.attrs.int("endAxis"), 1)?;
        return Ok(vec![SmallVec::from_slice(&[1])]);
    }
    let (named, rank) = ([ctx.attrs.int("startAxis"), ctx.attrs.int("endAxis")], dims.len());
    let (start, end) = (shape::axis(named[0], rank)?, shape::axis(named[1], rank)?);
    if start > end {
        return Err(Error::argument(format!("startAxis {} comes after endAxis {} in rank {rank}", named[0], named[1])));
    }
    let one = layout::count(&dims[start..=end])?;
    Ok(vec![dims[..start].iter().copied().chain([one]).chain(dims[end + 1..].iter().copied()).collect()])
}

fn flatten(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, dims) = (l.operand(0)?, l.out_dims(0));
    Ok(vec![l.reshape(x, &dims)])
}

/// Pairs of (shift, axis), each list repeated where it has one item. Without axes the tensor is rolled as one list.
fn rolls(attrs: &Attrs, rank: usize) -> Result<Vec<(i64, usize)>> {
    let shifts = attrs.ints("shift").unwrap_or(&[]);
    if shifts.is_empty() {
        return Err(Error::argument("shift must be a number or a list of them, got none"));
    }
    let axes = match attrs.ints("axis") {
        Some(list) => list.iter().map(|&a| shape::axis(a, rank)).collect::<Result<Vec<_>>>()?,
        None => vec![0],
    };
    let n = match (shifts.len(), axes.len()) {
        (n, 1) => n,
        (1, n) => n,
        (n, m) if n == m => n,
        (n, m) => return Err(Error::argument(format!("{n} shifts do not go with {m} axes"))),
    };
    Ok((0..n).map(|i| (shifts[i % shifts.len()], axes[i % axes.len()])).collect())
}

fn roll_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    rolls(ctx.attrs, ctx.shape(0).len())?;
    shape::same(ctx)
}

fn roll(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, dims) = (l.operand(0)?, l.out_dims(0));
    let rolls = rolls(l.attrs(), dims.len())?;
    let mut rolled = x;
    if l.attrs().ints("axis").is_none() {
        rolled = l.reshape(x, &[layout::count(&dims)?]);
    }
    for (shift, axis) in rolls {
        let n = l.dims(rolled)[axis];
        let by = if n == 0 { 0 } else { shift.rem_euclid(n as i64) as usize };
        if by > 0 {
            let (end, start) = (l.narrow(rolled, axis, n - by, by), l.narrow(rolled, axis, 0, n - by));
            rolled = join(l, axis, &[end, start])?;
        }
    }
    Ok(vec![l.reshape(rolled, &dims)])
}

/// An axis `times` as long: the whole of it over and over, or each element.
fn stretch(l: &mut Lower, x: Val, axis: usize, times: usize, each: bool) -> Result<Val> {
    let mut dims = l.dims(x);
    let (outer, inner) = (layout::count(&dims[..axis])?, layout::count(&dims[axis + 1..])?);
    let d = dims[axis];
    dims[axis] = d * times;
    let (from, to) = if each {
        ([outer, d, 1, inner], [outer, d, times, inner])
    } else {
        ([outer, 1, d, inner], [outer, times, d, inner])
    };
    let apart = l.reshape(x, &from);
    let wide = l.broadcast(apart, &to)?;
    Ok(l.reshape(wide, &dims))
}

/// Shape and repetitions, the shorter with leading ones.
fn tiles(dims: &[usize], times: &[usize]) -> (Dims, Vec<usize>) {
    let rank = dims.len().max(times.len());
    let ones = |n: usize| std::iter::repeat_n(1, rank - n);
    (ones(dims.len()).chain(dims.iter().copied()).collect(), ones(times.len()).chain(times.iter().copied()).collect())
}

fn tile_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (dims, times) = tiles(ctx.shape(0), ctx.attrs.shape("repetitions"));
    let sizes = dims.iter().zip(&times).map(|(&d, &t)| d.checked_mul(t).ok_or_else(|| Error::shape("size overflows")));
    Ok(vec![sizes.collect::<Result<Dims>>()?])
}

fn tile(l: &mut Lower) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    let (dims, times) = tiles(&l.dims(x), l.attrs().shape("repetitions"));
    let mut tiled = l.reshape(x, &dims);
    // From the last axis on, so that what is copied again is small.
    for (axis, &times) in times.iter().enumerate().rev().filter(|&(_, &t)| t != 1) {
        tiled = stretch(l, tiled, axis, times, false)?;
    }
    Ok(vec![tiled])
}

fn repeat_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let times = ctx.attrs.int("repeats");
    let times = usize::try_from(times).map_err(|_| Error::argument(format!("repeats must not be negative, got {times}")))?;
    let mut dims: Dims = SmallVec::from_slice(ctx.shape(0));
    let axis = match ctx.attrs.opt_int("axis") {
        Some(a) => shape::axis(a, dims.len())?,
        None => {
            dims = SmallVec::from_slice(&[layout::count(&dims)?]);
            0
        }
    };
    dims[axis] = dims[axis].checked_mul(times).ok_or_else(|| Error::shape("size overflows"))?;
    Ok(vec![dims])
}

fn repeat(l: &mut Lower) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    let (dims, times) = (l.dims(x), l.attrs().int("repeats") as usize);
    Ok(vec![match l.attrs().opt_int("axis") {
        Some(a) => stretch(l, x, shape::axis(a, dims.len())?, times, true)?,
        None => {
            let flat = l.reshape(x, &[layout::count(&dims)?]);
            stretch(l, flat, 0, times, true)?
        }
    }])
}

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "moveaxis", attrs: &[arg("source", AttrKind::Axes), arg("destination", AttrKind::Axes)], shape: moveaxis_shape, lower: Lowering::Graph(moveaxis),
        errors: &[ErrorCase { call: "ft.zeros([2, 3]).moveaxis(2, 0)", code: Code::Index }, ErrorCase { call: "ft.zeros([2, 3]).moveaxis([0, 1], 0)", code: Code::Argument }, ErrorCase { call: "ft.zeros([2, 3]).moveaxis([0, 0], [0, 1])", code: Code::Index }],
        doc: doc("Axes moved to other places; the others keep their order. A view.", "axis destination_k of the result is axis source_k of x", "ft.tensor([[1, 2], [3, 4]]).moveaxis(0, -1) // [[1, 3], [2, 4]]", "moveaxis", "moveaxis"), ..BASE },
    OpDef { name: "swapaxes", attrs: &[arg("axis1", AttrKind::Int(None)), arg("axis2", AttrKind::Int(None))], shape: swapaxes_shape, lower: Lowering::Graph(swapaxes),
        errors: &[ErrorCase { call: "ft.zeros([2, 3]).swapaxes(0, 2)", code: Code::Index }],
        doc: doc("Two axes exchanged. A view.", "out[..., j, ..., i, ...] = x[..., i, ..., j, ...]", "ft.tensor([[1, 2], [3, 4]]).swapaxes(0, 1) // [[1, 3], [2, 4]]", "swapaxes", "swapaxes"), ..BASE },
    OpDef { name: "rot90", attrs: &[attr("k", AttrKind::Int(Some(1))), attr("axes", AttrKind::Axes)], shape: rot90_shape, lower: Lowering::Graph(rot90), domain: Domain::Special,
        errors: &[ErrorCase { call: "ft.zeros([2]).rot90()", code: Code::Index }, ErrorCase { call: "ft.zeros([2, 2]).rot90({ axes: [0, 0] })", code: Code::Index }, ErrorCase { call: "ft.zeros([2, 2]).rot90({ axes: [0] })", code: Code::Argument }],
        doc: doc("Turned by k right angles in the plane of two axes (the first two by default), from the first towards the second. A view.", "out_ij = x_{j, n - 1 - i} for k = 1", "ft.tensor([[1, 2], [3, 4]]).rot90() // [[2, 4], [1, 3]]", "rot90", "rot90"), ..BASE },
    OpDef { name: "flatten", attrs: &[attr("startAxis", AttrKind::Int(Some(0))), attr("endAxis", AttrKind::Int(Some(-1)))], shape: flatten_shape, lower: Lowering::Graph(flatten),
        errors: &[ErrorCase { call: "ft.zeros([2, 3]).flatten({ startAxis: 2 })", code: Code::Index }, ErrorCase { call: "ft.zeros([2, 3]).flatten({ startAxis: 1, endAxis: 0 })", code: Code::Argument }],
        doc: doc("Neighbouring axes (all by default) as one, in row-major order.", "x", "ft.tensor([[1, 2], [3, 4]]).flatten() // [1, 2, 3, 4]", "ravel", "flatten"), ..BASE },
    OpDef { name: "roll", attrs: &[arg("shift", AttrKind::Axes), attr("axis", AttrKind::Axes)], shape: roll_shape, lower: Lowering::Graph(roll), domain: Domain::Special,
        errors: &[ErrorCase { call: "ft.zeros([2]).roll(1, { axis: 1 })", code: Code::Index }, ErrorCase { call: "ft.zeros([2, 2, 2]).roll([1, 2, 3], { axis: [0, 1] })", code: Code::Argument }],
        doc: doc("Elements moved on along axes, those beyond the end back to the start; without axes in row-major order of all.", "out_i = x_{(i - shift) mod n}", "ft.tensor([1, 2, 3]).roll(1) // [3, 1, 2]", "roll", "roll"), ..BASE },
    OpDef { name: "tile", attrs: &[arg("repetitions", AttrKind::Shape)], shape: tile_shape, lower: Lowering::Graph(tile), domain: Domain::Special,
        errors: &[ErrorCase { call: "ft.zeros([2]).tile([-1])", code: Code::Shape }],
        doc: doc("The whole tensor over and over along its axes; the shorter of shape and repetitions has leading ones.", "out_i = x_{i mod n}", "ft.tensor([1, 2]).tile([2]) // [1, 2, 1, 2]", "tile", "tile"), ..BASE },
    OpDef { name: "repeat", attrs: &[arg("repeats", AttrKind::Int(None)), attr("axis", AttrKind::OptAxis)], shape: repeat_shape, lower: Lowering::Graph(repeat), domain: Domain::Special,
        errors: &[ErrorCase { call: "ft.zeros([2]).repeat(-1)", code: Code::Argument }, ErrorCase { call: "ft.zeros([2]).repeat(2, { axis: 1 })", code: Code::Index }],
        doc: doc("Each element several times, along an axis or in row-major order of all.", "out_i = x_{floor(i / repeats)}", "ft.tensor([1, 2]).repeat(2) // [1, 1, 2, 2]", "repeat", "repeat_interleave"), ..BASE },
];
