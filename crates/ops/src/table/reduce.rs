//! Reductions and cumulative sums.

use super::join::band;
use super::rows::{BASE, attr, doc};
use super::unary::shortened;
use crate::def::{AttrDef, AttrKind, ErrorCase, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Combine, Monoid};
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{Dims, Result};
use smallvec::SmallVec;

const AXES: &[AttrDef] = &[attr("axis", AttrKind::Axes), attr("keepdims", AttrKind::Bool(false))];
const AXES_DTYPE: &[AttrDef] =
    &[attr("axis", AttrKind::Axes), attr("keepdims", AttrKind::Bool(false)), attr("dtype", AttrKind::OptDType)];
const AXIS: &[AttrDef] = &[attr("axis", AttrKind::OptAxis), attr("keepdims", AttrKind::Bool(false))];

/// The sum in the accumulator dtype (float32 for half floats), not yet rounded to the result.
fn accumulate(l: &mut Lower, monoid: Monoid) -> Result<Val> {
    let acc = l.compute().compute();
    let x = l.operand(0)?;
    let x = l.cast(x, acc)?;
    let axes = shape::axes(l.attrs().ints("axis"), l.dims(x).len())?;
    let keep = l.attrs().bool("keepdims");
    Ok(l.reduce(x, &axes, Combine::Value(monoid), keep))
}

fn finish(l: &mut Lower, monoid: Monoid) -> Result<Vec<Val>> {
    let value = accumulate(l, monoid)?;
    let out = l.out_dtype(0);
    Ok(vec![l.cast(value, out)?])
}

fn mean(l: &mut Lower) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    let dims = l.dims(x);
    let axes = shape::axes(l.attrs().ints("axis"), dims.len())?;
    let count: usize = axes.iter().map(|&a| dims[a]).product();
    let total = accumulate(l, Monoid::Sum)?;
    let (dims, out) = (l.dims(total), l.out_dtype(0));
    Ok(vec![l.map(&dims, &[total], |b, v| {
        let d = b.dtype(v[0]);
        let n = b.lit(d.info().real, count as f64);
        let mean = if d.is_complex() { shortened(b, v[0], n) } else { b.binary(Op::Div, v[0], n) };
        b.cast(mean, out)
    })?])
}

fn arg(l: &mut Lower, combine: Combine) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    let rank = l.dims(x).len();
    let axes = match l.attrs().opt_int("axis") {
        Some(a) => vec![shape::axis(a, rank)?],
        None => (0..rank).collect(),
    };
    let keep = l.attrs().bool("keepdims");
    Ok(vec![l.reduce(x, &axes, combine, keep)])
}

fn cumulative_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let mut dims: Dims = SmallVec::from_slice(ctx.shape(0));
    let axis = shape::only_axis(ctx.attrs.opt_int("axis"), dims.len())?;
    dims[axis] += ctx.attrs.bool("includeInitial") as usize;
    Ok(vec![dims])
}

fn cumulative_sum(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, compute, out) = (l.operand(0)?, l.compute(), l.out_dims(0));
    let x = l.cast(x, compute.compute())?;
    let axis = shape::only_axis(l.attrs().opt_int("axis"), l.dims(x).len())?;
    let sums = l.scan(x, axis, Monoid::Sum);
    let sums = l.cast(sums, compute)?;
    if !l.attrs().bool("includeInitial") {
        return Ok(vec![sums]);
    }
    let mut first = out.clone();
    first[axis] = 1;
    let zero = l.map(&first, &[], |b, _| b.lit(compute, 0.0))?;
    Ok(vec![l.assemble(&out, None, vec![(zero, band(&out, axis, 0, 1)), (sums, band(&out, axis, 1, out[axis] - 1))])?])
}

const SUM: OpDef = OpDef {
    attrs: AXES_DTYPE,
    dtype: DTypeRule::new(Class::Any, Compute::Sum, Out::Compute),
    shape: shape::reduce,
    errors: &[
        ErrorCase { call: "ft.zeros([2, 3]).sum(2)", code: Code::Index },
        ErrorCase { call: "ft.zeros([2, 3]).sum([0, -2])", code: Code::Index },
        ErrorCase { call: "ft.zeros([2, 3]).sum(0.5)", code: Code::Argument },
    ],
    ..BASE
};
const EXTREME: OpDef = OpDef {
    attrs: AXES,
    dtype: DTypeRule::new(Class::Ordered, Compute::Own, Out::Compute),
    shape: shape::reduce_nonempty,
    errors: &[ErrorCase { call: "ft.zeros([0]).max()", code: Code::Shape }],
    ..BASE
};
const TRUTH: OpDef =
    OpDef { attrs: AXES, dtype: DTypeRule::new(Class::Any, Compute::Truth, Out::Bool), shape: shape::reduce, ..BASE };
const POSITION: OpDef = OpDef {
    attrs: AXIS,
    dtype: DTypeRule::new(Class::Ordered, Compute::Own, Out::Int32),
    shape: shape::reduce_one,
    errors: &[ErrorCase { call: "ft.zeros([0]).argmax()", code: Code::Shape }],
    ..BASE
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "sum", lower: Lowering::Graph(|l| finish(l, Monoid::Sum)),
        doc: doc("Sum over axes (all by default) in a fixed tree: the same bits for any thread count and instruction set. Small integers sum in 32 bits, bool counts in int32.", "sum_i x_i", "ft.tensor([[1, 2], [3, 4]]).sum(0) // [4, 6]", "sum", "sum"), ..SUM },
    OpDef { name: "prod", lower: Lowering::Graph(|l| finish(l, Monoid::Prod)),
        doc: doc("Product over axes (all by default) in a fixed tree.", "prod_i x_i", "ft.tensor([[1, 2], [3, 4]]).prod(1) // [2, 12]", "prod", "prod"), ..SUM },
    OpDef { name: "mean", attrs: AXES, dtype: DTypeRule::new(Class::Any, Compute::Float, Out::Compute), lower: Lowering::Graph(mean), errors: &[],
        doc: doc("Arithmetic mean over axes (all by default); NaN of no elements; integers give float32.", "sum_i x_i / n", "ft.tensor([[1, 2], [3, 4]]).mean(1) // [1.5, 3.5]", "mean", "mean"), ..SUM },
    OpDef { name: "max", lower: Lowering::Graph(|l| finish(l, Monoid::Max)),
        doc: doc("Largest element over axes (all by default); NaN wins.", "max_i x_i", "ft.tensor([[1, 2], [3, 4]]).max(0) // [3, 4]", "max", "amax"), ..EXTREME },
    OpDef { name: "min", lower: Lowering::Graph(|l| finish(l, Monoid::Min)),
        doc: doc("Smallest element over axes (all by default); NaN wins.", "min_i x_i", "ft.tensor([[1, 2], [3, 4]]).min(0) // [1, 2]", "min", "amin"), ..EXTREME },
    OpDef { name: "all", lower: Lowering::Graph(|l| finish(l, Monoid::All)),
        doc: doc("Whether all elements over axes are non-zero (true for none).", "and_i x_i != 0", "ft.tensor([[1, 0], [3, 4]]).all(1) // [false, true]", "all", "all"), ..TRUTH },
    OpDef { name: "any", lower: Lowering::Graph(|l| finish(l, Monoid::Any)),
        doc: doc("Whether any element over axes is non-zero (false for none).", "or_i x_i != 0", "ft.tensor([[0, 0], [3, 0]]).any(1) // [false, true]", "any", "any"), ..TRUTH },
    OpDef { name: "argmax", lower: Lowering::Graph(|l| arg(l, Combine::ArgMax)),
        doc: doc("int32 position of the first largest element along an axis, or in the flattened tensor; the first NaN wins.", "min { i : x_i = max x }", "ft.tensor([[1, 5], [7, 4]]).argmax({ axis: 1 }) // [1, 0]", "argmax", "argmax"), ..POSITION },
    OpDef { name: "argmin", lower: Lowering::Graph(|l| arg(l, Combine::ArgMin)),
        doc: doc("int32 position of the first smallest element along an axis, or in the flattened tensor; the first NaN wins.", "min { i : x_i = min x }", "ft.tensor([[1, 5], [7, 4]]).argmin({ axis: 1 }) // [0, 1]", "argmin", "argmin"), ..POSITION },
    OpDef { name: "cumulativeSum", attrs: &[attr("axis", AttrKind::OptAxis), attr("dtype", AttrKind::OptDType), attr("includeInitial", AttrKind::Bool(false))],
        shape: cumulative_shape, lower: Lowering::Graph(cumulative_sum),
        errors: &[ErrorCase { call: "ft.zeros([2, 2]).cumulativeSum()", code: Code::Argument }],
        doc: doc("Running sum along an axis, first to last; with includeInitial a leading zero.", "out_j = sum_{i <= j} x_i", "ft.tensor([1, 2, 3]).cumulativeSum() // [1, 3, 6]", "cumulative_sum", "cumsum"), ..SUM },
];
