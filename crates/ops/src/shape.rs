//! Shape functions shared by many rows, and the checks of axes.

use crate::infer::ShapeCtx;
use ferrotensor_core::{Dims, Error, Result, layout};
use smallvec::SmallVec;

/// Normalises one axis to `0..rank`.
///
/// # Errors
/// `Code::Index` naming axis and rank.
pub fn axis(axis: i64, rank: usize) -> Result<usize> {
    let n = rank as i64;
    if axis < -n || axis >= n {
        return Err(Error::index(format!("axis {axis} is out of range for rank {rank}")));
    }
    Ok(if axis < 0 { axis + n } else { axis } as usize)
}

/// Where a new axis stands in the result of `rank + 1` axes.
///
/// # Errors
/// `Code::Index` naming axis and the result's rank.
pub fn new_axis(at: i64, rank: usize) -> Result<usize> {
    let rank = rank + 1;
    axis(at, rank).map_err(|_| Error::index(format!("axis {at} is out of range for the result, which has rank {rank}")))
}

/// The axis of an operation along one axis, which only a vector may leave out.
///
/// # Errors
/// `Code::Index` as [`axis`], `Code::Argument` for a tensor of another rank without one.
pub fn only_axis(named: Option<i64>, rank: usize) -> Result<usize> {
    match named {
        Some(a) => axis(a, rank),
        None if rank == 1 => Ok(0),
        None => Err(Error::argument(format!("the tensor has rank {rank}: name the axis, {{ axis: 0 }}"))),
    }
}

/// Normalises a list of axes, sorted; `None` means all.
///
/// # Errors
/// `Code::Index` for an axis out of range or named twice.
pub fn axes(list: Option<&[i64]>, rank: usize) -> Result<Vec<usize>> {
    let Some(list) = list else { return Ok((0..rank).collect()) };
    let mut out = list.iter().map(|&a| axis(a, rank)).collect::<Result<Vec<_>>>()?;
    out.sort_unstable();
    if let Some(w) = out.windows(2).find(|w| w[0] == w[1]) {
        return Err(Error::index(format!("axis {} is named twice", w[0])));
    }
    Ok(out)
}

/// All operands broadcast together.
pub fn broadcast(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let mut out = Dims::new();
    for dims in ctx.dims.iter().flatten() {
        out = layout::broadcast_shapes(&out, dims)?;
    }
    Ok(vec![out])
}

/// The first operand's shape.
pub fn same(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    Ok(vec![SmallVec::from_slice(ctx.shape(0))])
}

/// The first operand's shape: a matrix, or a stack of them.
pub fn matrix(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    match ctx.shape(0) {
        [.., _, _] => same(ctx),
        dims => Err(Error::shape(format!("needs at least two axes, got shape {dims:?}"))),
    }
}

/// A reduction over `axis` with `keepdims`.
pub fn reduce(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let dims = ctx.shape(0);
    let reduced = axes(ctx.attrs.ints("axis"), dims.len())?;
    Ok(vec![reduced_dims(dims, &reduced, ctx.attrs.bool("keepdims"))])
}

/// Like [`reduce`], refusing to reduce nothing: a minimum of no elements does not exist.
pub fn reduce_nonempty(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let dims = ctx.shape(0);
    let reduced = axes(ctx.attrs.ints("axis"), dims.len())?;
    nonempty(dims, &reduced)?;
    Ok(vec![reduced_dims(dims, &reduced, ctx.attrs.bool("keepdims"))])
}

/// A reduction over one optional axis (`argmax`).
pub fn reduce_one(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let dims = ctx.shape(0);
    let reduced = match ctx.attrs.opt_int("axis") {
        Some(a) => vec![axis(a, dims.len())?],
        None => (0..dims.len()).collect(),
    };
    nonempty(dims, &reduced)?;
    Ok(vec![reduced_dims(dims, &reduced, ctx.attrs.bool("keepdims"))])
}

fn nonempty(dims: &[usize], reduced: &[usize]) -> Result<()> {
    let extent: usize = reduced.iter().map(|&a| dims[a]).product();
    let kept_empty = (0..dims.len()).any(|a| !reduced.contains(&a) && dims[a] == 0);
    if extent == 0 && !kept_empty {
        return Err(Error::shape(format!("a reduction of no elements has no value: shape {dims:?}")));
    }
    Ok(())
}

/// `dims` with the reduced axes gone, or of size 1.
pub fn reduced_dims(dims: &[usize], reduced: &[usize], keepdims: bool) -> Dims {
    dims.iter()
        .enumerate()
        .filter_map(|(a, &d)| {
            if !reduced.contains(&a) {
                Some(d)
            } else if keepdims {
                Some(1)
            } else {
                None
            }
        })
        .collect()
}
