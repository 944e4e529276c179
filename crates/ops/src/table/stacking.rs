//! NumPy's ways to stack, the least ranks they ask for, mirror images, and windows as an axis of their own.

use super::join::{JOIN, cast_operands, join, joined_dims};
use super::rows::{BASE, arg, attr, doc};
use crate::attrs::Attrs;
use crate::def::{AttrKind, Domain, ErrorCase, Lowering, OpDef};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::WindowAxis;
use ferrotensor_core::{Dims, Error, Result, layout};
use smallvec::{SmallVec, smallvec};

/// The shape with axes of size 1 up to a rank: before the others, and where three are asked for one of them behind.
fn at_least(rank: usize, dims: &[usize]) -> Dims {
    let missing = rank.saturating_sub(dims.len());
    let behind = (rank == 3 && missing > 0) as usize;
    let ones = |n: usize| std::iter::repeat_n(1, n);
    ones(missing - behind).chain(dims.iter().copied()).chain(ones(behind)).collect()
}

/// How parts are stacked: the shape each gets, and the axis they are joined along, by the first one's rank then.
struct Stacking {
    each: fn(&[usize]) -> Dims,
    axis: fn(usize) -> usize,
}

const HORIZONTAL: Stacking = Stacking { each: |dims| at_least(1, dims), axis: |rank| (rank > 1) as usize };
const VERTICAL: Stacking = Stacking { each: |dims| at_least(2, dims), axis: |_| 0 };
const DEPTH: Stacking = Stacking { each: |dims| at_least(3, dims), axis: |_| 2 };
/// Vectors become columns.
const COLUMNS: Stacking = Stacking {
    each: |dims| match dims {
        [n] => smallvec![*n, 1],
        _ => at_least(2, dims),
    },
    axis: |_| 1,
};

fn stacked_shape(ctx: &ShapeCtx, stacking: &Stacking) -> Result<Vec<Dims>> {
    let parts: Vec<Dims> = (0..ctx.args.len()).map(|i| (stacking.each)(ctx.shape(i))).collect();
    let axis = (stacking.axis)(parts[0].len());
    let shown = |i: usize| match ctx.shape(i) {
        given if given == &parts[i][..] => format!("{given:?}"),
        given => format!("{given:?} (as {:?})", parts[i]),
    };
    Ok(vec![joined_dims(&parts, axis, shown)?])
}

fn stacked(l: &mut Lower, stacking: &Stacking) -> Result<Vec<Val>> {
    let mut parts = cast_operands(l)?;
    for part in &mut parts {
        let dims = (stacking.each)(&l.dims(*part));
        *part = l.reshape(*part, &dims);
    }
    let axis = (stacking.axis)(l.dims(parts[0]).len());
    Ok(vec![join(l, axis, &parts)?])
}

fn raised(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, dims) = (l.operand(0)?, l.out_dims(0));
    Ok(vec![l.reshape(x, &dims)])
}

fn mirrored_shape(ctx: &ShapeCtx, axis: usize) -> Result<Vec<Dims>> {
    shape::axis(axis as i64, ctx.shape(0).len())?;
    Ok(vec![SmallVec::from_slice(ctx.shape(0))])
}

fn mirrored(l: &mut Lower, axis: usize) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    Ok(vec![l.flip(x, &[axis])])
}

/// The axis, and how windows lie along it.
fn windows(attrs: &Attrs, dims: &[usize]) -> Result<(usize, usize, WindowAxis)> {
    let axis = shape::axis(attrs.int("axis"), dims.len())?;
    let positive = |name: &str| {
        let given = attrs.int(name);
        let size = usize::try_from(given).ok().filter(|&n| n > 0 && n <= layout::MAX_ELEMENTS);
        size.ok_or_else(|| Error::shape(format!("{name} must be positive and at most 2^53, got {given}")))
    };
    let (size, stride) = (positive("size")?, positive("step")?);
    let Some(rest) = dims[axis].checked_sub(size) else {
        return Err(Error::shape(format!("a window of {size} places is larger than axis {axis} of {dims:?}")));
    };
    Ok((axis, rest / stride + 1, WindowAxis { size, stride, dilation: 1, low: 0 }))
}

fn unfold_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let mut dims: Dims = SmallVec::from_slice(ctx.shape(0));
    let (axis, count, window) = windows(ctx.attrs, &dims)?;
    dims[axis] = count;
    dims.push(window.size);
    Ok(vec![dims])
}

fn unfold(l: &mut Lower) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    let (axis, count, window) = windows(l.attrs(), &l.dims(x))?;
    Ok(vec![l.unfold(x, axis, count, window)])
}

const STACK: OpDef = OpDef { attrs: &[], ..JOIN };
const MOVED: OpDef = OpDef { domain: Domain::Special, ..BASE };

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "hstack", shape: |ctx| stacked_shape(ctx, &HORIZONTAL), lower: Lowering::Graph(|l| stacked(l, &HORIZONTAL)),
        errors: &[ErrorCase { call: "ft.hstack([ft.zeros([2, 1]), ft.zeros([3, 1])])", code: Code::Shape }],
        doc: doc("Tensors side by side: joined along axis 1, vectors end to end.", "[x_1, ..., x_n]", "ft.hstack([ft.tensor([[1], [2]]), ft.tensor([[3], [4]])]) // [[1, 3], [2, 4]]", "hstack", "hstack"), ..STACK },
    OpDef { name: "vstack", shape: |ctx| stacked_shape(ctx, &VERTICAL), lower: Lowering::Graph(|l| stacked(l, &VERTICAL)),
        errors: &[ErrorCase { call: "ft.vstack([ft.zeros([2]), ft.zeros([3])])", code: Code::Shape }],
        doc: doc("Tensors one below the other: joined along axis 0, vectors as rows.", "[x_1; ...; x_n]", "ft.vstack([ft.tensor([1, 2]), ft.tensor([3, 4])]) // [[1, 2], [3, 4]]", "vstack", "vstack"), ..STACK },
    OpDef { name: "dstack", shape: |ctx| stacked_shape(ctx, &DEPTH), lower: Lowering::Graph(|l| stacked(l, &DEPTH)),
        errors: &[ErrorCase { call: "ft.dstack([ft.zeros([2]), ft.zeros([3])])", code: Code::Shape }],
        doc: doc("Tensors one behind the other: joined along axis 2, vectors as [1, n, 1], matrices as [m, n, 1].", "out_(i,j,:) = [x_1(i,j), ..., x_n(i,j)]", "ft.dstack([ft.tensor([1, 2]), ft.tensor([3, 4])]) // [[[1, 3], [2, 4]]]", "dstack", "dstack"), ..STACK },
    OpDef { name: "columnStack", shape: |ctx| stacked_shape(ctx, &COLUMNS), lower: Lowering::Graph(|l| stacked(l, &COLUMNS)),
        errors: &[ErrorCase { call: "ft.columnStack([ft.zeros([2]), ft.zeros([3])])", code: Code::Shape }],
        doc: doc("Tensors side by side along axis 1, vectors as columns.", "[x_1, ..., x_n]", "ft.columnStack([ft.tensor([1, 2]), ft.tensor([3, 4])]) // [[1, 3], [2, 4]]", "column_stack", "column_stack"), ..STACK },
    OpDef { name: "atleast1d", shape: |ctx| Ok(vec![at_least(1, ctx.shape(0))]), lower: Lowering::Graph(raised),
        doc: doc("The tensor, of rank 0 as a vector.", "x", "ft.tensor(5).atleast1d() // [5]", "atleast_1d", "atleast_1d"), ..MOVED },
    OpDef { name: "atleast2d", shape: |ctx| Ok(vec![at_least(2, ctx.shape(0))]), lower: Lowering::Graph(raised),
        doc: doc("The tensor, a vector as a row.", "x", "ft.tensor([1, 2]).atleast2d() // [[1, 2]]", "atleast_2d", "atleast_2d"), ..MOVED },
    OpDef { name: "atleast3d", shape: |ctx| Ok(vec![at_least(3, ctx.shape(0))]), lower: Lowering::Graph(raised),
        doc: doc("The tensor, a vector as [1, n, 1], a matrix as [m, n, 1].", "x", "ft.tensor([1, 2]).atleast3d() // [[[1], [2]]]", "atleast_3d", "atleast_3d"), ..MOVED },
    OpDef { name: "fliplr", shape: |ctx| mirrored_shape(ctx, 1), lower: Lowering::Graph(|l| mirrored(l, 1)),
        errors: &[ErrorCase { call: "ft.zeros([2]).fliplr()", code: Code::Index }],
        doc: doc("The columns in reverse order: axis 1 flipped.", "out_(i,j) = x_(i,n-1-j)", "ft.tensor([[1, 2], [3, 4]]).fliplr() // [[2, 1], [4, 3]]", "fliplr", "fliplr"), ..MOVED },
    OpDef { name: "flipud", shape: |ctx| mirrored_shape(ctx, 0), lower: Lowering::Graph(|l| mirrored(l, 0)),
        errors: &[ErrorCase { call: "ft.tensor(1).flipud()", code: Code::Index }],
        doc: doc("The rows in reverse order: axis 0 flipped.", "out_i = x_(n-1-i)", "ft.tensor([[1, 2], [3, 4]]).flipud() // [[3, 4], [1, 2]]", "flipud", "flipud"), ..MOVED },
    OpDef { name: "unfold", attrs: &[arg("axis", AttrKind::Int(None)), arg("size", AttrKind::Int(None)), attr("step", AttrKind::Int(Some(1)))], shape: unfold_shape, lower: Lowering::Graph(unfold),
        errors: &[ErrorCase { call: "ft.zeros([3]).unfold(0, 4)", code: Code::Shape }, ErrorCase { call: "ft.zeros([3]).unfold(0, 0)", code: Code::Shape }, ErrorCase { call: "ft.zeros([3]).unfold(1, 2)", code: Code::Index }],
        doc: doc("Sliding windows along an axis: the axis becomes one of windows, which begin step places apart, and a new last axis holds the size places of each.", "out_(..., w, ..., k) = x_(..., w step + k, ...)", "ft.tensor([1, 2, 3, 4]).unfold(0, 2) // [[1, 2], [2, 3], [3, 4]]", "lib.stride_tricks.sliding_window_view", "Tensor.unfold"), ..MOVED },
];
