//! Composite rows of neural networks; a backend may claim each as one kernel.

use super::rows::{BASE, attr, doc};
use crate::def::{AttrKind, ErrorCase, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::gradient::{Gradient, rules};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Combine, Monoid};
use ferrotensor_core::scalar::{Builder, MathFn, Op, Value};
use ferrotensor_core::{DType, Dims, Result};

fn along_axis(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    shape::axis(ctx.attrs.int("axis"), ctx.shape(0).len())?;
    shape::same(ctx)
}

/// `x - max(x)` and the sum of its exponentials along an axis.
fn shifted(l: &mut Lower, x: Val, axis: usize, largest: Val) -> Result<(Val, Val, Val)> {
    let dims = l.dims(x);
    let centred = l.map(&dims, &[x, largest], |b, v| b.binary(Op::Sub, v[0], v[1]))?;
    let exps = l.map(&dims, &[centred], |b, v| b.call(MathFn::Exp, v))?;
    let total = l.reduce(exps, &[axis], Combine::Value(Monoid::Sum), true);
    Ok((centred, exps, total))
}

/// Exponentials over their sum. What all elements of a line share is computed once: a quotient of each would take longer than the rest.
fn shares(l: &mut Lower, exps: Val, total: Val, out: DType) -> Result<Val> {
    let (dims, few) = (l.dims(exps), l.dims(total));
    let inverse = l.map(&few, &[total], |b, v| {
        let one = b.lit(b.dtype(v[0]), 1.0);
        b.binary(Op::Div, one, v[0])
    })?;
    l.map(&dims, &[exps, inverse], |b, v| {
        let p = b.binary(Op::Mul, v[0], v[1]);
        b.cast(p, out)
    })
}

/// The call's operand in the accumulator dtype, the axis, and the largest elements along it.
fn line(l: &mut Lower) -> Result<(Val, usize, Val)> {
    let acc = l.compute().compute();
    let x = l.operand(0)?;
    let x = l.cast(x, acc)?;
    let axis = shape::axis(l.attrs().int("axis"), l.dims(x).len())?;
    Ok((x, axis, l.reduce(x, &[axis], Combine::Value(Monoid::Max), true)))
}

fn softmax(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, axis, largest) = line(l)?;
    let (_, exps, total) = shifted(l, x, axis, largest)?;
    let out = l.out_dtype(0);
    Ok(vec![shares(l, exps, total, out)?])
}

/// `x`, 0 in place of -Infinity.
pub fn above_nothing(b: &mut Builder, x: Value) -> Value {
    let (nothing, zero) = (b.lit(b.dtype(x), f64::NEG_INFINITY), b.lit(b.dtype(x), 0.0));
    let is_nothing = b.compare(Op::Eq, x, nothing);
    b.select(is_nothing, zero, x)
}

/// The softmax along the last axis, 0 for lines of nothing but -Infinity: neither what is subtracted is infinite, nor a sum 0. Other lines
/// have the bits of a softmax: their sums are at least 1.
pub fn softmax_or_nothing(l: &mut Lower, x: Val) -> Result<Val> {
    let (axis, d) = (l.dims(x).len() - 1, l.dtype(x));
    let largest = l.reduce(x, &[axis], Combine::Value(Monoid::Max), true);
    let few = l.dims(largest);
    let largest = l.map(&few, &[largest], |b, v| above_nothing(b, v[0]))?;
    let (_, exps, total) = shifted(l, x, axis, largest)?;
    let total = l.map(&few, &[total], |b, v| {
        let half = b.lit(d, 0.5);
        b.binary(Op::Max, v[0], half)
    })?;
    shares(l, exps, total, d)
}

fn log_softmax(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, axis, largest) = line(l)?;
    let (centred, _, total) = shifted(l, x, axis, largest)?;
    let (dims, few, out) = (l.dims(centred), l.dims(total), l.out_dtype(0));
    let log = l.map(&few, &[total], |b, v| b.call(MathFn::Log, v))?;
    Ok(vec![l.map(&dims, &[centred, log], |b, v| {
        let p = b.binary(Op::Sub, v[0], v[1]);
        b.cast(p, out)
    })?])
}

const ALONG: OpDef = OpDef {
    attrs: &[attr("axis", AttrKind::Int(Some(-1)))],
    dtype: DTypeRule::new(Class::RealOrBool, Compute::Float, Out::Compute),
    shape: along_axis,
    errors: &[ErrorCase { call: "ft.zeros([2]).softmax({ axis: 1 })", code: Code::Index }],
    ..BASE
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "softmax", gradient: Gradient::Rule(rules::softmax), lower: Lowering::Graph(softmax),
        doc: doc("Exponentials along an axis (the last by default), scaled to sum to one.", "e^(x_i - max x) / sum_j e^(x_j - max x)", "ft.tensor([0, 0]).softmax() // [0.5, 0.5]", "", "softmax"), ..ALONG },
    OpDef { name: "logSoftmax", gradient: Gradient::Rule(rules::log_softmax), lower: Lowering::Graph(log_softmax),
        doc: doc("Logarithm of the softmax along an axis (the last by default), without overflow.", "x_i - max x - ln(sum_j e^(x_j - max x))", "ft.tensor([0, 0]).logSoftmax() // [-0.6931472, -0.6931472]", "", "log_softmax"), ..ALONG },
];
