//! Choosing, limiting, converting: elementwise rows with rules of their own.

use super::rows::{BASE, arg, attr, doc, optional, tensor, weak};
use super::statistics::{may_overflow, part_of_gap};
use crate::def::{AttrKind, Domain, ErrorCase, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::gradient::{Gradient, partials};
use crate::infer::ShapeCtx;
use crate::lower::{ABSENT, Lower, MapFn, Val};
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::scalar::{Builder, Op, Value};
use ferrotensor_core::{DType, Dims, Error, Result};
use smallvec::SmallVec;

const WHERE: MapFn = |b, x, _| {
    let c = b.cast(x[0], DType::Bool);
    b.select(c, x[1], x[2])
};

const CLIP: MapFn = |b, x, _| {
    let low = if x[1] == ABSENT { x[0] } else { b.binary(Op::Max, x[0], x[1]) };
    if x[2] == ABSENT { low } else { b.binary(Op::Min, low, x[2]) }
};

/// The dtype of an operand before it was converted.
fn given(b: &Builder, v: Value) -> DType {
    let instr = b.instr(v);
    if instr.op == Op::Cast { b.dtype(instr.args[0]) } else { instr.dtype }
}

/// From the nearer end, so that a weight of 1 gives the second exactly.
const LERP: MapFn = |b, v, d| {
    // Half floats compute in float32 and round once.
    let wide = if d.is_complex() { d } else { d.compute() };
    let (x, y, weight) = (b.cast(v[0], wide), b.cast(v[1], wide), b.cast(v[2], wide));
    let (real, one, half) = (b.re(weight), b.lit(wide, 1.0), b.lit(wide.info().real, 0.5));
    let (gap, rest) = (b.binary(Op::Sub, y, x), b.binary(Op::Sub, one, weight));
    // Of complex numbers a part that overflows is outside of what products promise.
    let may = [v[0], v[1]].into_iter().all(|v| may_overflow(given(b, v)));
    let part = |b: &mut Builder, t: Value| if may { part_of_gap(b, x, y, gap, t) } else { b.binary(Op::Mul, t, gap) };
    let (up, down) = (part(b, weight), part(b, rest));
    let (up, down) = (b.binary(Op::Add, x, up), b.binary(Op::Sub, y, down));
    let first = b.compare(Op::Lt, real, half);
    let out = b.select(first, up, down);
    b.cast(out, d)
};

/// Other numbers for what is not finite: of complex numbers, in each part.
const NAN_TO_NUM: MapFn = |b, x, d| {
    if !d.is_float() && !d.is_complex() {
        return x[0];
    }
    let (part, most) = (d.info().real, d.float_format().map_or(0.0, |f| f.max()));
    let mut given = |at: usize, default: f64| if x[at] == ABSENT { b.lit(part, default) } else { b.re(x[at]) };
    let (nan, high, low) = (given(1, 0.0), given(2, most), given(3, -most));
    let finite = |b: &mut Builder, p: Value| {
        let (infinity, minus) = (b.lit(part, f64::INFINITY), b.lit(part, f64::NEG_INFINITY));
        let (is_high, is_low) = (b.compare(Op::Eq, p, infinity), b.compare(Op::Eq, p, minus));
        let number = b.compare(Op::Eq, p, p);
        let out = b.select(number, p, nan);
        let out = b.select(is_low, low, out);
        b.select(is_high, high, out)
    };
    if !d.is_complex() {
        return finite(b, x[0]);
    }
    let (re, im) = (b.re(x[0]), b.im(x[0]));
    let (re, im) = (finite(b, re), finite(b, im));
    b.complex(d, re, im)
};

/// The first operand in the dtype and the shape that both have in common.
fn common(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, dtype, dims) = (l.operand(0)?, l.out_dtype(0), l.out_dims(0));
    let x = l.cast(x, dtype)?;
    Ok(vec![l.broadcast(x, &dims)?])
}

fn one_hot_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let classes = ctx.attrs.int("numClasses");
    let classes = usize::try_from(classes).map_err(|_| Error::shape(format!("numClasses {classes} is negative")))?;
    let mut dims: Dims = SmallVec::from_slice(ctx.shape(0));
    dims.push(classes);
    Ok(vec![dims])
}

fn one_hot(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, dims, out) = (l.operand(0)?, l.out_dims(0), l.out_dtype(0));
    let column: Vec<usize> = l.dims(x).iter().copied().chain([1]).collect();
    let x = l.reshape(x, &column);
    let last = dims.len() as u8 - 1;
    Ok(vec![l.map(&dims, &[x], |b, v| {
        let (label, class) = (b.cast(v[0], DType::I64), b.index(last, DType::I64));
        let hit = b.compare(Op::Eq, label, class);
        b.cast(hit, out)
    })?])
}

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "where", form: crate::def::Form::Function, operands: &[tensor("condition"), weak("x1"), weak("x2")], lower: Lowering::Map(WHERE), shape: shape::broadcast,
        dtype: DTypeRule::new(Class::Any, Compute::Promote, Out::Compute).over(1, 3),
        doc: doc("Takes elements of the first where the condition holds (is non-zero), of the second elsewhere.", "condition ? x1 : x2", "ft.where(ft.tensor([true, false]), ft.tensor([1, 2]), 0) // [1, 0]", "where", "where"), ..BASE },
    OpDef { name: "clip", gradient: Gradient::Partials(partials::CLIP), operands: &[tensor("x"), optional("min"), optional("max")], lower: Lowering::Map(CLIP), shape: shape::broadcast,
        dtype: DTypeRule::new(Class::Real, Compute::Promote, Out::Compute),
        doc: doc("Limits each element to a range; a bound left out does not limit; NaN stays NaN.", "min(max(x, min), max)", "ft.tensor([1, 5, 9]).clip(2, 6) // [2, 5, 6]", "clip", "clamp"), ..BASE },
    OpDef { name: "lerp", operands: &[tensor("start"), weak("end"), weak("weight")], lower: Lowering::Map(LERP), shape: shape::broadcast,
        dtype: DTypeRule::new(Class::Any, Compute::Float, Out::Compute),
        doc: doc("Linear interpolation from the first (weight 0) to the second (weight 1), both exact.", "start + weight (end - start)", "ft.tensor([1, 2]).lerp(ft.tensor([3, 10]), 0.5) // [2, 6]", "", "lerp"), ..BASE },
    OpDef { name: "nanToNum", operands: &[tensor("x"), optional("nan"), optional("posinf"), optional("neginf")], lower: Lowering::Map(NAN_TO_NUM), shape: shape::broadcast,
        dtype: DTypeRule::new(Class::Any, Compute::Promote, Out::Compute),
        doc: doc("Other numbers for NaN (0 by default) and the infinities (by default the largest and the smallest number of the dtype).", "nan, posinf or neginf for those, x elsewhere", "ft.tensor([1, NaN, -Infinity]).nanToNum(0, 9, -9) // [1, 0, -9]", "nan_to_num", "nan_to_num"), ..BASE },
    OpDef { name: "resultType", form: crate::def::Form::Internal, lower: Lowering::Graph(common),
        doc: doc("The first operand in the dtype of both, behind resultType(...).", "dtype(x1, x2)(x1)", "", "result_type", "result_type"), ..super::rows::binary(Class::Any, Compute::Promote, Out::Compute) },
    OpDef { name: "broadcastShapes", form: crate::def::Form::Internal, operands: &[tensor("x1"), tensor("x2")], shape: shape::broadcast, lower: Lowering::Graph(common),
        dtype: DTypeRule::new(Class::Any, Compute::Own, Out::Compute),
        doc: doc("The first operand in the shape of both, behind broadcastArrays(...) and broadcastShapes(...). A view.", "x1", "", "broadcast_shapes", "broadcast_shapes"), ..BASE },
    OpDef { name: "astype", attrs: &[arg("dtype", AttrKind::OptDType)], lower: Lowering::Map(|b, x, d| b.cast(x[0], d)),
        dtype: DTypeRule::new(Class::Any, Compute::Own, Out::AttrOrCompute),
        doc: doc("Converts to another dtype: floats to integers towards zero, saturating, NaN to 0; integers wrap; to bool is x != 0.", "dtype(x)", "ft.tensor([1.7, -1.7]).astype('int32') // [1, -1]", "astype", "to"), ..BASE },
    OpDef { name: "copy", lower: Lowering::Map(|_, x, _| x[0]),
        doc: doc("A dense copy, sharing no memory.", "x", "ft.tensor([1, 2]).copy() // [1, 2]", "copy", "clone"), ..BASE },
    OpDef { name: "oneHot", attrs: &[arg("numClasses", AttrKind::Int(None)), attr("dtype", AttrKind::OptDType)], shape: one_hot_shape, lower: Lowering::Graph(one_hot), domain: Domain::Special,
        dtype: DTypeRule::new(Class::Integer, Compute::Own, Out::AttrOr(DType::F32)),
        errors: &[ErrorCase { call: "ft.tensor([1], { dtype: 'int32' }).oneHot(-1)", code: Code::Shape }, ErrorCase { call: "ft.tensor([1]).oneHot(2)", code: Code::DType }],
        doc: doc("One at the position each label names along a new last axis, zero elsewhere; a label out of range gives zeros.", "out[..., k] = (x == k)", "ft.tensor([0, 2], { dtype: 'int32' }).oneHot(3) // [[1, 0, 0], [0, 0, 1]]", "", "nn.functional.one_hot"), ..BASE },
];
