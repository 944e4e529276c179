//! Views and assembled values backwards: what is shown elsewhere, or more than once, is added up where it comes from.

use super::back::Back;
use crate::graph::{IndexItem, Number, Region, Val, View};
use crate::write::{index_dims, inverse};
use ferrotensor_core::kernel::WindowAxis;
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{DType, Result};

/// A view.
pub fn view(back: &mut Back, of: Val, view: &View, g: Option<Val>) -> Result<()> {
    let Some(g) = g.filter(|_| back.wants(of)) else { return Ok(()) };
    let dims = back.w.dims(of);
    let g = match view {
        View::Permute(axes) => back.w.permute(g, &inverse(axes)),
        View::Reshape(_) => back.w.reshape(g, &dims),
        View::Broadcast(_) => back.w.summed_to(g, &dims)?,
        View::Flip(axes) => back.w.flip(g, axes),
        View::Index(_) => {
            let zeros = back.w.filled(&dims, back.w.dtype(of), 0.0)?;
            back.w.assemble(&dims, Some(zeros), vec![(g, Some(view.clone()))])?
        }
        View::Unfold { axis, windows, window } => folded(back, g, &dims, *axis, *windows, *window)?,
    };
    back.give(of, g)
}

/// Overlapping windows added up: the axis and the places, in front, are the indices of a scatter.
fn folded(back: &mut Back, g: Val, dims: &[usize], axis: usize, windows: usize, window: WindowAxis) -> Result<Val> {
    let (w, rank) = (&mut back.w, dims.len());
    let at = w.map(&[windows, window.size], &[], |b, _| {
        let (start, place) = (b.index(0, DType::I64), b.index(1, DType::I64));
        let (stride, dilation) = (b.size(window.stride), b.size(window.dilation));
        let (start, place) = (b.binary(Op::Mul, start, stride), b.binary(Op::Mul, place, dilation));
        b.binary(Op::Add, start, place)
    })?;
    let order: Vec<usize> = [axis, rank].into_iter().chain((0..rank).filter(|&a| a != axis)).collect();
    let updates = w.permute(g, &order);
    let front: Vec<usize> = std::iter::once(axis).chain((0..rank).filter(|&a| a != axis)).collect();
    let shape: Vec<usize> = front.iter().map(|&a| dims[a]).collect();
    let total = w.scattered_sum(&shape, w.dtype(g), &[at], updates)?;
    Ok(w.permute(total, &inverse(&front)))
}

/// An assembled value: each part has what is shown of it at the end.
pub fn assemble(back: &mut Back, base: Option<Val>, parts: &[(Val, Region)], g: Option<Val>) -> Result<()> {
    let Some(mut g) = g else { return Ok(()) };
    let (dims, dtype) = (back.w.dims(g), back.w.dtype(g));
    for (n, (part, region)) in parts.iter().enumerate().rev() {
        let part_dims = back.w.dims(*part);
        if back.wants(*part) {
            let seen = match region {
                None => g,
                Some(view) => shown(back, g, view, &part_dims)?,
            };
            back.give(*part, seen)?;
        }
        // What lies below sees nothing of the places that this part took.
        let below: Vec<(Val, &Region)> = parts[..n].iter().map(|(v, r)| (*v, r)).chain(base.map(|v| (v, &None))).collect();
        if below.iter().any(|(v, other)| back.wants(*v) && !apart(region, other)) {
            let zeros = back.w.filled(&part_dims, dtype, 0.0)?;
            g = back.w.assemble(&dims, Some(g), vec![(zeros, region.clone())])?;
        }
    }
    base.map_or(Ok(()), |base| back.give(base, g))
}

/// A view of a value, where it is one that the writer has.
fn shown(back: &mut Back, v: Val, view: &View, dims: &[usize]) -> Result<Val> {
    Ok(match view {
        View::Permute(axes) => back.w.permute(v, axes),
        View::Reshape(dims) => back.w.reshape(v, dims),
        View::Broadcast(dims) => back.w.broadcast(v, dims)?,
        View::Flip(axes) => back.w.flip(v, axes),
        View::Index(items) => {
            debug_assert_eq!(index_dims(&back.w.dims(v), items).as_slice(), dims);
            back.w.index(v, items)
        }
        View::Unfold { axis, windows, window } => back.w.unfold(v, *axis, *windows, *window),
    })
}

/// Whether two regions are known to have no place in common.
fn apart(a: &Region, b: &Region) -> bool {
    let (Some(View::Index(a)), Some(View::Index(b))) = (a, b) else { return false };
    let range = |item: &IndexItem| match *item {
        IndexItem::Pick(Number::Const(at)) => Some((at, at)),
        IndexItem::Slice { start: Number::Const(start), step: Number::Const(step), len } => {
            let end = start + step * (len as i64 - 1);
            Some(if len == 0 { (0, -1) } else { (start.min(end), start.max(end)) })
        }
        _ => None,
    };
    let axes = |items: &[IndexItem]| -> Vec<IndexItem> {
        items.iter().filter(|i| !matches!(i, IndexItem::NewAxis)).copied().collect()
    };
    axes(a).iter().zip(&axes(b)).any(|(x, y)| match (range(x), range(y)) {
        (Some(x), Some(y)) => x.1 < y.0 || y.1 < x.0,
        _ => false,
    })
}
