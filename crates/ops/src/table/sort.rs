//! Sorting and selecting along an axis.

use super::rows::{BASE, arg, attr, doc};
use crate::def::{AttrDef, AttrKind, Domain, ErrorCase, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::SortOutputs;
use ferrotensor_core::{Dims, Error, Result};
use smallvec::SmallVec;

fn sort_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    shape::axis(ctx.attrs.int("axis"), ctx.shape(0).len())?;
    shape::same(ctx)
}

fn sorted(l: &mut Lower, outputs: SortOutputs) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    let axis = shape::axis(l.attrs().int("axis"), l.dims(x).len())?;
    let (descending, n) = (l.attrs().bool("descending"), l.dims(x)[axis]);
    Ok(l.sort(x, axis, descending, n, outputs))
}

fn topk_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let mut dims: Dims = SmallVec::from_slice(ctx.shape(0));
    let axis = shape::axis(ctx.attrs.int("axis"), dims.len())?;
    let k = ctx.attrs.int("k");
    if k < 0 || k as usize > dims[axis] {
        return Err(Error::argument(format!("k must be between 0 and {}, the size of axis {axis}, got {k}", dims[axis])));
    }
    dims[axis] = k as usize;
    Ok(vec![dims.clone(), dims])
}

fn topk(l: &mut Lower) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    let axis = shape::axis(l.attrs().int("axis"), l.dims(x).len())?;
    let (k, largest) = (l.attrs().int("k") as usize, l.attrs().bool("largest"));
    Ok(l.sort(x, axis, largest, k, SortOutputs::Both))
}

fn kth_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let dims = ctx.shape(0);
    let (axis, k) = (shape::axis(ctx.attrs.int("axis"), dims.len())?, ctx.attrs.int("k"));
    if k < 1 || k as usize > dims[axis] {
        return Err(Error::argument(format!("k must be between 1 and {}, the size of axis {axis}, got {k}", dims[axis])));
    }
    let kept = shape::reduced_dims(dims, &[axis], ctx.attrs.bool("keepdims"));
    Ok(vec![kept.clone(), kept])
}

fn kth(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, dims) = (l.operand(0)?, l.out_dims(0));
    let (axis, k) = (shape::axis(l.attrs().int("axis"), l.dims(x).len())?, l.attrs().int("k") as usize);
    let sorted = l.sort(x, axis, false, k, SortOutputs::Both);
    let last = |v: Val| {
        let last = l.pick(v, axis, k - 1);
        l.reshape(last, &dims)
    };
    Ok(sorted.into_iter().map(last).collect())
}

const ORDER: &[AttrDef] = &[attr("axis", AttrKind::Int(Some(-1))), attr("descending", AttrKind::Bool(false))];
const SORT: OpDef = OpDef {
    attrs: ORDER,
    dtype: DTypeRule::new(Class::Ordered, Compute::Own, Out::Compute),
    shape: sort_shape,
    errors: &[ErrorCase { call: "ft.zeros([2]).sort({ axis: 1 })", code: Code::Index }],
    ..BASE
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "sort", lower: Lowering::Graph(|l| sorted(l, SortOutputs::Values)),
        doc: doc("Elements in ascending or descending order along an axis (the last by default), stable; NaN counts as the largest value.", "out_0 <= out_1 <= ...", "ft.tensor([3, 1, 2]).sort() // [1, 2, 3]", "sort", "sort"), ..SORT },
    OpDef { name: "argsort", lower: Lowering::Graph(|l| sorted(l, SortOutputs::Indices)), dtype: DTypeRule::new(Class::Ordered, Compute::Own, Out::Int32),
        doc: doc("int32 positions that sort along an axis (the last by default), stable; NaN counts as the largest value.", "x[out_0] <= x[out_1] <= ...", "ft.tensor([3, 1, 2]).argsort() // [1, 2, 0]", "argsort", "argsort"), ..SORT },
    OpDef { name: "topk", attrs: &[arg("k", AttrKind::Int(None)), attr("axis", AttrKind::Int(Some(-1))), attr("largest", AttrKind::Bool(true))], outputs: &["values", "indices"],
        dtype: DTypeRule::new(Class::Ordered, Compute::Own, Out::ComputeAndInt32), shape: topk_shape, lower: Lowering::Graph(topk), domain: Domain::Special,
        errors: &[ErrorCase { call: "ft.zeros([2]).topk(3)", code: Code::Argument }],
        doc: doc("The k largest (or smallest) elements along an axis in order, with their int32 positions; of equal elements the first.", "values_j = x[indices_j]", "ft.tensor([3, 9, 5]).topk(2).values // [9, 5]", "", "topk"), ..SORT },
    OpDef { name: "kthvalue", attrs: &[arg("k", AttrKind::Int(None)), attr("axis", AttrKind::Int(Some(-1))), attr("keepdims", AttrKind::Bool(false))], outputs: &["values", "indices"],
        dtype: DTypeRule::new(Class::Ordered, Compute::Own, Out::ComputeAndInt32), shape: kth_shape, lower: Lowering::Graph(kth), domain: Domain::Special,
        errors: &[ErrorCase { call: "ft.zeros([2]).kthvalue(0)", code: Code::Argument }, ErrorCase { call: "ft.zeros([2]).kthvalue(3)", code: Code::Argument }],
        doc: doc("The k-th smallest element along an axis, counted from 1, with its int32 position; of equal elements the k-th of the stable order; NaN counts as the largest value.", "values = sort(x)_(k - 1)", "ft.tensor([3, 9, 5]).kthvalue(2).values // 5", "partition", "kthvalue"), ..SORT },
];
