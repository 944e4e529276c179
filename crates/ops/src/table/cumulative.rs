//! Running combinations and differences along an axis.

use super::exact;
use super::join::join;
use super::rows::{BASE, attr, doc, optional_tensor, tensor};
use crate::def::{AttrDef, AttrKind, Domain, ErrorCase, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::Monoid;
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{Dims, Error, Result};
use smallvec::SmallVec;

fn cumulative_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let mut dims: Dims = SmallVec::from_slice(ctx.shape(0));
    let axis = shape::only_axis(ctx.attrs.opt_int("axis"), dims.len())?;
    dims[axis] += ctx.attrs.bool("includeInitial") as usize;
    Ok(vec![dims])
}

fn cumulative(l: &mut Lower, monoid: Monoid, initial: f64) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    running(l, x, monoid, initial)
}

/// The running combination of elements; `initial` is its value before the first.
pub fn running(l: &mut Lower, x: Val, monoid: Monoid, initial: f64) -> Result<Vec<Val>> {
    let compute = l.compute();
    let axis = shape::only_axis(l.attrs().opt_int("axis"), l.dims(x).len())?;
    // Half floats run in float32 and round once.
    let (acc, places) = (compute.compute(), l.dims(x)[axis]);
    let running = exact::combined(l, x, acc, (monoid, places), |l, x| Ok(l.scan(x, axis, monoid)))?;
    let running = l.cast(running, compute)?;
    if !l.attrs().bool("includeInitial") {
        return Ok(vec![running]);
    }
    let mut first = l.dims(running);
    first[axis] = 1;
    let first = l.map(&first, &[], |b, _| b.lit(compute, initial))?;
    Ok(vec![join(l, axis, &[first, running])?])
}

fn running_extreme(l: &mut Lower, monoid: Monoid) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    let axis = shape::only_axis(l.attrs().opt_int("axis"), l.dims(x).len())?;
    Ok(vec![l.scan(x, axis, monoid)])
}

/// The operands of `diff` that are there, in the order in which they stand along the axis.
const AROUND: [usize; 3] = [1, 0, 2];

fn diff_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let mut dims: Dims = SmallVec::from_slice(ctx.shape(0));
    let (axis, n) = (shape::axis(ctx.attrs.int("axis"), dims.len())?, ctx.attrs.int("n"));
    let Ok(n) = usize::try_from(n) else { return Err(Error::argument(format!("n must not be negative, got {n}"))) };
    for i in 1..3 {
        // No differences: nothing is joined.
        if n == 0 {
            break;
        }
        let Some(more) = ctx.dims.get(i).and_then(|d| d.as_ref()) else { continue };
        if more.len() != dims.len() || (0..dims.len()).any(|a| a != axis && more[a] != dims[a]) {
            let (name, more) = (ctx.op.operands[i].name, more.as_slice());
            return Err(Error::shape(format!(
                "'{name}' has shape {more:?}, which does not fit {:?} along axis {axis}",
                ctx.shape(0)
            )));
        }
        dims[axis] = dims[axis].checked_add(more[axis]).ok_or_else(|| Error::shape("size overflows"))?;
    }
    dims[axis] = dims[axis].saturating_sub(n);
    Ok(vec![dims])
}

fn diff(l: &mut Lower) -> Result<Vec<Val>> {
    let (compute, times) = (l.compute(), l.attrs().int("n") as usize);
    if times == 0 {
        let x = l.operand(0)?;
        return Ok(vec![l.cast(x, compute)?]);
    }
    let parts: Vec<usize> = AROUND.into_iter().filter(|&i| !l.is_absent(i)).collect();
    let parts = parts.into_iter().map(|i| {
        let x = l.operand(i)?;
        l.cast(x, compute)
    });
    let parts = parts.collect::<Result<Vec<_>>>()?;
    let axis = shape::axis(l.attrs().int("axis"), l.out_dims(0).len())?;
    let mut x = if parts.len() == 1 { parts[0] } else { join(l, axis, &parts)? };
    let len = l.dims(x)[axis];
    if times >= len {
        return Ok(vec![l.narrow(x, axis, 0, 0)]);
    }
    for done in 1..=times {
        let (later, earlier) = (l.narrow(x, axis, 1, len - done), l.narrow(x, axis, 0, len - done));
        let dims = l.dims(later);
        x = l.map(&dims, &[later, earlier], |b, v| b.binary(Op::Sub, v[0], v[1]))?;
    }
    Ok(vec![x])
}

const AXIS: &[AttrDef] = &[attr("axis", AttrKind::OptAxis)];
pub const RUNNING: OpDef = OpDef {
    attrs: &[
        attr("axis", AttrKind::OptAxis),
        attr("dtype", AttrKind::OptDType),
        attr("includeInitial", AttrKind::Bool(false)),
    ],
    dtype: DTypeRule::new(Class::Any, Compute::Sum, Out::Compute),
    shape: cumulative_shape,
    errors: &[ErrorCase { call: "ft.zeros([2, 2]).cumulativeSum()", code: Code::Argument }],
    ..BASE
};
const EXTREME: OpDef = OpDef {
    attrs: AXIS,
    dtype: DTypeRule::new(Class::Ordered, Compute::Own, Out::Compute),
    shape: cumulative_shape,
    errors: &[ErrorCase { call: "ft.zeros([2, 2]).cumulativeMax()", code: Code::Argument }],
    ..BASE
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "cumulativeSum", lower: Lowering::Graph(|l| cumulative(l, Monoid::Sum, 0.0)),
        doc: doc("Running sum along an axis, first to last. Floats are added up in blocks of 256 elements, to which the sum of those before is added: more accurate than element after element. With includeInitial a leading zero. Integers that their dtype does not hold are refused as in sum.", "out_j = sum_{i <= j} x_i", "ft.tensor([1, 2, 3]).cumulativeSum() // [1, 3, 6]", "cumulative_sum", "cumsum"), ..RUNNING },
    OpDef { name: "cumulativeProd", lower: Lowering::Graph(|l| cumulative(l, Monoid::Prod, 1.0)),
        doc: doc("Running product along an axis, first to last; with includeInitial a leading one. Integers that their dtype does not hold are refused as in sum.", "out_j = prod_{i <= j} x_i", "ft.tensor([1, 2, 3]).cumulativeProd() // [1, 2, 6]", "cumulative_prod", "cumprod"), ..RUNNING },
    OpDef { name: "cumulativeMax", lower: Lowering::Graph(|l| running_extreme(l, Monoid::Max)),
        doc: doc("Running maximum along an axis; from the first NaN on NaN.", "out_j = max_{i <= j} x_i", "ft.tensor([1, 3, 2]).cumulativeMax() // [1, 3, 3]", "maximum.accumulate", "cummax"), ..EXTREME },
    OpDef { name: "cumulativeMin", lower: Lowering::Graph(|l| running_extreme(l, Monoid::Min)),
        doc: doc("Running minimum along an axis; from the first NaN on NaN.", "out_j = min_{i <= j} x_i", "ft.tensor([3, 1, 2]).cumulativeMin() // [3, 1, 1]", "minimum.accumulate", "cummin"), ..EXTREME },
    OpDef { name: "diff", operands: &[tensor("x"), optional_tensor("prepend"), optional_tensor("append")], attrs: &[attr("axis", AttrKind::Int(Some(-1))), attr("n", AttrKind::Int(Some(1)))],
        dtype: DTypeRule::new(Class::Numeric, Compute::Promote, Out::Compute), shape: diff_shape, lower: Lowering::Graph(diff), domain: Domain::Special,
        errors: &[ErrorCase { call: "ft.zeros([3]).diff(undefined, undefined, { n: -1 })", code: Code::Argument }, ErrorCase { call: "ft.zeros([2, 3]).diff(ft.zeros([1, 1]))", code: Code::Shape }],
        doc: doc("Differences of neighbours along an axis (the last by default), n times over; what is prepended and appended counts as elements, but 0 times give x alone. Integers wrap.", "out_j = x_{j + 1} - x_j", "ft.tensor([1, 4, 9]).diff() // [3, 5]", "diff", "diff"), ..BASE },
];
