//! Reductions over axes.

use super::exact;
use super::rows::{BASE, attr, doc};
use super::unary::shortened;
use crate::def::{AttrDef, AttrKind, ErrorCase, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::Result;
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Combine, Monoid};
use ferrotensor_core::scalar::Op;

pub const AXES: &[AttrDef] = &[attr("axis", AttrKind::Axes), attr("keepdims", AttrKind::Bool(false))];
const AXES_DTYPE: &[AttrDef] =
    &[attr("axis", AttrKind::Axes), attr("keepdims", AttrKind::Bool(false)), attr("dtype", AttrKind::OptDType)];
const AXIS: &[AttrDef] = &[attr("axis", AttrKind::OptAxis), attr("keepdims", AttrKind::Bool(false))];

/// The normalised axes of a reduction of `x`.
pub fn axes_of(l: &Lower, x: Val) -> Result<Vec<usize>> {
    shape::axes(l.attrs().ints("axis"), l.dims(x).len())
}

/// The first operand in the accumulator dtype: float32 for half floats.
pub fn accumulated(l: &mut Lower) -> Result<Val> {
    let (x, acc) = (l.operand(0)?, l.compute().compute());
    l.cast(x, acc)
}

/// `x` combined over the call's axes in the result's accumulator dtype, and rounded to the result's.
pub fn finish(l: &mut Lower, x: Val, monoid: Monoid) -> Result<Vec<Val>> {
    let (axes, keep, out, dims) = (axes_of(l, x)?, l.attrs().bool("keepdims"), l.out_dtype(0), l.dims(x));
    let places = axes.iter().map(|&a| dims[a]).product();
    let value =
        exact::combined(l, x, out.compute(), (monoid, places), |l, x| Ok(l.reduce(x, &axes, Combine::Value(monoid), keep)))?;
    Ok(vec![l.cast(value, out)?])
}

fn reduction(l: &mut Lower, monoid: Monoid) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    finish(l, x, monoid)
}

/// The mean of `x` over axes, in its dtype.
pub fn mean_over(l: &mut Lower, x: Val, axes: &[usize], keepdims: bool) -> Result<Val> {
    let dims = l.dims(x);
    let count: usize = axes.iter().map(|&a| dims[a]).product();
    let total = l.reduce(x, axes, Combine::Value(Monoid::Sum), keepdims);
    let dims = l.dims(total);
    l.map(&dims, &[total], |b, v| {
        let d = b.dtype(v[0]);
        let n = b.lit(d.info().real, count as f64);
        if d.is_complex() { shortened(b, v[0], n) } else { b.binary(Op::Div, v[0], n) }
    })
}

/// The mean over the call's axes.
pub fn mean(l: &mut Lower) -> Result<Vec<Val>> {
    let x = accumulated(l)?;
    let (axes, keep, out) = (axes_of(l, x)?, l.attrs().bool("keepdims"), l.out_dtype(0));
    let mean = mean_over(l, x, &axes, keep)?;
    Ok(vec![l.cast(mean, out)?])
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

pub const SUM: OpDef = OpDef {
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
pub const EXTREME: OpDef = OpDef {
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
    OpDef { name: "sum", lower: Lowering::Graph(|l| reduction(l, Monoid::Sum)),
        doc: doc("Sum over axes (all by default) in a fixed tree: the same bits for any thread count and instruction set. Small integers sum in 32 bits, bool counts in int32; a sum of integers that its dtype does not hold is a DTypeError when it is read.", "sum_i x_i", "ft.tensor([[1, 2], [3, 4]]).sum(0) // [4, 6]", "sum", "sum"), ..SUM },
    OpDef { name: "prod", lower: Lowering::Graph(|l| reduction(l, Monoid::Prod)),
        doc: doc("Product over axes (all by default) in a fixed tree; one of integers that its dtype does not hold is a DTypeError when it is read.", "prod_i x_i", "ft.tensor([[1, 2], [3, 4]]).prod(1) // [2, 12]", "prod", "prod"), ..SUM },
    OpDef { name: "mean", attrs: AXES, dtype: DTypeRule::new(Class::Any, Compute::Float, Out::Compute), lower: Lowering::Graph(mean), errors: &[],
        doc: doc("Arithmetic mean over axes (all by default); NaN of no elements; integers give float32.", "sum_i x_i / n", "ft.tensor([[1, 2], [3, 4]]).mean(1) // [1.5, 3.5]", "mean", "mean"), ..SUM },
    OpDef { name: "max", lower: Lowering::Graph(|l| reduction(l, Monoid::Max)),
        doc: doc("Largest element over axes (all by default); NaN wins.", "max_i x_i", "ft.tensor([[1, 2], [3, 4]]).max(0) // [3, 4]", "max", "amax"), ..EXTREME },
    OpDef { name: "min", lower: Lowering::Graph(|l| reduction(l, Monoid::Min)),
        doc: doc("Smallest element over axes (all by default); NaN wins.", "min_i x_i", "ft.tensor([[1, 2], [3, 4]]).min(0) // [1, 2]", "min", "amin"), ..EXTREME },
    OpDef { name: "all", lower: Lowering::Graph(|l| reduction(l, Monoid::All)),
        doc: doc("Whether all elements over axes are non-zero (true for none).", "and_i x_i != 0", "ft.tensor([[1, 0], [3, 4]]).all(1) // [false, true]", "all", "all"), ..TRUTH },
    OpDef { name: "any", lower: Lowering::Graph(|l| reduction(l, Monoid::Any)),
        doc: doc("Whether any element over axes is non-zero (false for none).", "or_i x_i != 0", "ft.tensor([[0, 0], [3, 0]]).any(1) // [false, true]", "any", "any"), ..TRUTH },
    OpDef { name: "argmax", lower: Lowering::Graph(|l| arg(l, Combine::ArgMax)),
        doc: doc("int32 position of the first largest element along an axis, or in the flattened tensor; the first NaN wins.", "min { i : x_i = max x }", "ft.tensor([[1, 5], [7, 4]]).argmax({ axis: 1 }) // [1, 0]", "argmax", "argmax"), ..POSITION },
    OpDef { name: "argmin", lower: Lowering::Graph(|l| arg(l, Combine::ArgMin)),
        doc: doc("int32 position of the first smallest element along an axis, or in the flattened tensor; the first NaN wins.", "min { i : x_i = min x }", "ft.tensor([[1, 5], [7, 4]]).argmin({ axis: 1 }) // [0, 1]", "argmin", "argmin"), ..POSITION },
];
