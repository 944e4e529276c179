//! Rows that only look at a tensor differently.

use super::rows::{BASE, arg, attr, doc};
use crate::def::{AttrKind, ErrorCase, Lowering, Namespace, OpDef};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::{Dims, Error, Result, layout};
use smallvec::SmallVec;

fn reshape_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (from, sizes) = (ctx.shape(0), ctx.attrs.ints("shape").unwrap_or(&[]));
    let n = layout::count(from)?;
    let fail = || Error::shape(format!("cannot reshape {from:?} ({n} elements) to {sizes:?}"));
    let unknown = sizes.iter().filter(|&&s| s == -1).count();
    if unknown > 1 || sizes.iter().any(|&s| s < -1) {
        return Err(Error::shape(format!("shape {sizes:?} may hold one -1 and no other negative size")));
    }
    let known: Dims = sizes.iter().filter(|&&s| s != -1).map(|&s| s as usize).collect();
    let product = layout::count(&known)?;
    if unknown == 1 && (product == 0 || !n.is_multiple_of(product)) {
        return Err(fail());
    }
    let dims: Dims = sizes.iter().map(|&s| if s == -1 { n / product } else { s as usize }).collect();
    if layout::count(&dims)? != n { Err(fail()) } else { Ok(vec![dims]) }
}

fn to_out_dims(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, dims) = (l.operand(0)?, l.out_dims(0));
    Ok(vec![l.reshape(x, &dims)])
}

/// A permutation of all axes, normalised.
fn order(list: &[i64], rank: usize) -> Result<Vec<usize>> {
    let axes = list.iter().map(|&a| shape::axis(a, rank)).collect::<Result<Vec<_>>>()?;
    shape::axes(Some(list), rank)?;
    if axes.len() == rank {
        Ok(axes)
    } else {
        Err(Error::shape(format!("axes {list:?} must name each of the {rank} axes once, in one list")))
    }
}

fn permute_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let dims = ctx.shape(0);
    let axes = order(ctx.attrs.ints("axes").unwrap_or(&[]), dims.len())?;
    Ok(vec![axes.iter().map(|&a| dims[a]).collect()])
}

fn permute(l: &mut Lower) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    let axes = order(l.attrs().ints("axes").unwrap_or(&[]), l.dims(x).len())?;
    Ok(vec![l.permute(x, &axes)])
}

fn transpose_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let mut shapes = shape::matrix(ctx)?;
    let rank = shapes[0].len();
    shapes[0].swap(rank - 1, rank - 2);
    Ok(shapes)
}

fn transpose(l: &mut Lower) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    let rank = l.dims(x).len();
    let mut axes: Vec<usize> = (0..rank).collect();
    axes.swap(rank - 1, rank - 2);
    Ok(vec![l.permute(x, &axes)])
}

fn expand_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let mut dims: Dims = SmallVec::from_slice(ctx.shape(0));
    let at = shape::new_axis(ctx.attrs.int("axis"), dims.len())?;
    dims.insert(at, 1);
    Ok(vec![dims])
}

fn squeeze_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let dims = ctx.shape(0);
    let axes = match ctx.attrs.ints("axis") {
        Some(list) => shape::axes(Some(list), dims.len())?,
        None => (0..dims.len()).filter(|&a| dims[a] == 1).collect(),
    };
    if let Some(&a) = axes.iter().find(|&&a| dims[a] != 1) {
        return Err(Error::shape(format!("axis {a} of shape {dims:?} is not of size 1")));
    }
    Ok(vec![shape::reduced_dims(dims, &axes, false)])
}

fn flip_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    shape::axes(ctx.attrs.ints("axis"), ctx.shape(0).len())?;
    shape::same(ctx)
}

fn flip(l: &mut Lower) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    let axes = shape::axes(l.attrs().ints("axis"), l.dims(x).len())?;
    Ok(vec![l.flip(x, &axes)])
}

fn broadcast_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (from, to) = (ctx.shape(0), ctx.attrs.shape("shape"));
    match layout::broadcast_shapes(from, to) {
        Ok(dims) if dims.as_slice() == to => Ok(vec![dims]),
        _ => Err(Error::shape(format!("shape {from:?} does not broadcast to {to:?}"))),
    }
}

fn broadcast_to(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, dims) = (l.operand(0)?, l.out_dims(0));
    Ok(vec![l.broadcast(x, &dims)?])
}

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "reshape", attrs: &[arg("shape", AttrKind::NewShape)], shape: reshape_shape, lower: Lowering::Graph(to_out_dims),
        errors: &[ErrorCase { call: "ft.zeros([2, 3]).reshape([4])", code: Code::Shape }, ErrorCase { call: "ft.zeros([2, 3]).reshape([-1, -1])", code: Code::Shape }, ErrorCase { call: "ft.zeros([2, 3]).reshape([1.5])", code: Code::Argument }],
        doc: doc("The same elements in row-major order under another shape; one size may be -1.", "x", "ft.tensor([1, 2, 3, 4]).reshape([2, -1]) // [[1, 2], [3, 4]]", "reshape", "reshape"), ..BASE },
    OpDef { name: "permuteDims", attrs: &[arg("axes", AttrKind::Axes)], shape: permute_shape, lower: Lowering::Graph(permute),
        errors: &[ErrorCase { call: "ft.zeros([2, 3]).permuteDims([0])", code: Code::Shape }, ErrorCase { call: "ft.zeros([2, 3]).permuteDims([0, 0])", code: Code::Index }],
        doc: doc("Axes in another order: axis i of the result is axis axes[i] of x. A view.", "out_{i_axes[0], ...} = x_{i_0, ...}", "ft.tensor([[1, 2], [3, 4]]).permuteDims([1, 0]) // [[1, 3], [2, 4]]", "permute_dims", "permute"), ..BASE },
    OpDef { name: "matrixTranspose", also: &[Namespace::Linalg], shape: transpose_shape, lower: Lowering::Graph(transpose),
        errors: &[ErrorCase { call: "ft.zeros([2]).matrixTranspose()", code: Code::Shape }],
        doc: doc("The last two axes exchanged. A view.", "out_ij = x_ji", "ft.tensor([[1, 2], [3, 4]]).matrixTranspose() // [[1, 3], [2, 4]]", "matrix_transpose", "mT"), ..BASE },
    OpDef { name: "expandDims", attrs: &[arg("axis", AttrKind::Int(Some(0)))], shape: expand_shape, lower: Lowering::Graph(to_out_dims),
        errors: &[ErrorCase { call: "ft.zeros([2]).expandDims(3)", code: Code::Index }],
        doc: doc("A new axis of size 1 before the given one. A view.", "x", "ft.tensor([1, 2]).expandDims(1) // [[1], [2]]", "expand_dims", "unsqueeze"), ..BASE },
    OpDef { name: "squeeze", attrs: &[arg("axis", AttrKind::Axes)], shape: squeeze_shape, lower: Lowering::Graph(to_out_dims),
        errors: &[ErrorCase { call: "ft.zeros([2]).squeeze(0)", code: Code::Shape }],
        doc: doc("Without axes of size 1: those named, or all. A view.", "x", "ft.tensor([[1], [2]]).squeeze(1) // [1, 2]", "squeeze", "squeeze"), ..BASE },
    OpDef { name: "flip", attrs: &[attr("axis", AttrKind::Axes)], shape: flip_shape, lower: Lowering::Graph(flip),
        errors: &[ErrorCase { call: "ft.zeros([2]).flip(1)", code: Code::Index }],
        doc: doc("Axes (all by default) walked backwards. A view.", "out_i = x_{n - 1 - i}", "ft.tensor([1, 2, 3]).flip() // [3, 2, 1]", "flip", "flip"), ..BASE },
    OpDef { name: "broadcastTo", attrs: &[arg("shape", AttrKind::Shape)], shape: broadcast_shape, lower: Lowering::Graph(broadcast_to),
        errors: &[ErrorCase { call: "ft.zeros([2]).broadcastTo([3])", code: Code::Shape }],
        doc: doc("Repeated along axes of size 1 and new leading axes. A view.", "x", "ft.tensor([1, 2]).broadcastTo([2, 2]) // [[1, 2], [1, 2]]", "broadcast_to", "broadcast_to"), ..BASE },
];
