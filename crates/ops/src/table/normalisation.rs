//! Normalisation: elements less their mean, by their spread, scaled and moved.

use super::reduce::{accumulated, mean_over};
use super::rows::{BASE, arg, attr, doc, optional_tensor, tensor};
use super::statistics::{centred, loses_digits, squared};
use crate::def::{AttrDef, AttrKind, Domain, ErrorCase, Form, Lowering, Namespace, OpDef, ParamDef, ParamKind};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{Dims, Error, Result, layout};

/// The axes that are normalised: the last by default.
fn axes(named: Option<&[i64]>, rank: usize) -> Result<Vec<usize>> {
    shape::axes(Some(named.unwrap_or(&[-1])), rank)
}

/// That an operand, where there is one, has this shape.
fn expect(ctx: &ShapeCtx, operand: usize, wanted: &[usize]) -> Result<()> {
    match ctx.dims.get(operand).and_then(|d| d.as_ref()) {
        Some(dims) if dims.as_slice() != wanted => {
            let (name, dims) = (ctx.op.operands[operand].name, dims.as_slice());
            Err(Error::shape(format!("'{name}' must have shape {wanted:?}, got {dims:?}")))
        }
        _ => Ok(()),
    }
}

/// The operand in the accumulator dtype with its axes at these of `rank`, to broadcast; nothing where it was left out.
fn beside(l: &mut Lower, operand: usize, rank: usize, at: &[usize]) -> Result<Option<Val>> {
    if l.is_absent(operand) {
        return Ok(None);
    }
    let (v, acc) = (l.operand(operand)?, l.compute().compute());
    let v = l.cast(v, acc)?;
    let mut dims = vec![1; rank];
    for (&axis, &d) in at.iter().zip(&l.dims(v)) {
        dims[axis] = d;
    }
    Ok(Some(l.reshape(v, &dims)))
}

/// `x weight + bias` of the operands that are there, rounded to the result's dtype.
fn scaled(l: &mut Lower, x: Val, weight: Option<Val>, bias: Option<Val>) -> Result<Vec<Val>> {
    let (dims, out) = (l.dims(x), l.out_dtype(0));
    let inputs: Vec<Val> = [Some(x), weight, bias].into_iter().flatten().collect();
    Ok(vec![l.map(&dims, &inputs, |b, v| {
        let mut y = v[0];
        if weight.is_some() {
            y = b.binary(Op::Mul, y, v[1]);
        }
        if bias.is_some() {
            y = b.binary(Op::Add, y, v[v.len() - 1]);
        }
        b.cast(y, out)
    })?])
}

/// `x` by the root of `square + eps`, where eps is the row's number. The root is inverted where the squares are, few of them: a
/// quotient of each element takes four times as long as a product, a root as much again.
fn by_root(l: &mut Lower, x: Val, square: Val) -> Result<Val> {
    let (dims, few, d) = (l.dims(x), l.dims(square), l.dtype(x));
    let eps = l.param(0, d);
    let inverse = l.map_with(&few, &[square], &[eps], |b, v| {
        let sum = b.binary(Op::Add, v[0], v[1]);
        let (one, root) = (b.lit(d, 1.0), b.unary(Op::Sqrt, sum));
        b.binary(Op::Div, one, root)
    })?;
    l.map(&dims, &[x, inverse], |b, v| b.binary(Op::Mul, v[0], v[1]))
}

/// The mean of squares over some axes.
fn mean_square(l: &mut Lower, x: Val, axes: &[usize]) -> Result<Val> {
    let dims = l.dims(x);
    let squares = l.map(&dims, &[x], |b, v| squared(b, v[0]))?;
    mean_over(l, squares, axes, true)
}

/// Less the mean, by the spread. A mean is rounded before it is subtracted, and beside a large one most of what is left is its rounding: `twice`, the
/// mean of what is left is subtracted as well (of 768 numbers about 100,000 with a spread of 1 the results were off by 0.016; so by 5e-7).
/// What is left then is squared: a mean of squares less a square would cancel where nearly all numbers are equal.
fn standardised(l: &mut Lower, x: Val, axes: &[usize], twice: bool) -> Result<Val> {
    let centred = centred(l, x, axes, twice)?;
    let variance = mean_square(l, centred, axes)?;
    by_root(l, centred, variance)
}

fn over_axes_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let dims = ctx.shape(0);
    let axes = axes(ctx.attrs.ints("axis"), dims.len())?;
    let wanted: Dims = axes.iter().map(|&a| dims[a]).collect();
    for operand in 1..ctx.op.operands.len() {
        expect(ctx, operand, &wanted)?;
    }
    shape::same(ctx)
}

fn layer_norm(l: &mut Lower) -> Result<Vec<Val>> {
    let x = accumulated(l)?;
    let rank = l.dims(x).len();
    let axes = axes(l.attrs().ints("axis"), rank)?;
    let y = standardised(l, x, &axes, true)?;
    let (weight, bias) = (beside(l, 1, rank, &axes)?, beside(l, 2, rank, &axes)?);
    scaled(l, y, weight, bias)
}

fn rms_norm(l: &mut Lower) -> Result<Vec<Val>> {
    let x = accumulated(l)?;
    let rank = l.dims(x).len();
    let axes = axes(l.attrs().ints("axis"), rank)?;
    let square = mean_square(l, x, &axes)?;
    let y = by_root(l, x, square)?;
    let weight = beside(l, 1, rank, &axes)?;
    scaled(l, y, weight, None)
}

/// The channels of `[batch, channels, ...]`.
fn channels(dims: &[usize]) -> Result<usize> {
    match dims {
        [_, channels, ..] => Ok(*channels),
        _ => Err(Error::shape(format!("takes [batch, channels, ...], got {dims:?}"))),
    }
}

fn group_norm_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (channels, groups) = (channels(ctx.shape(0))?, ctx.attrs.int("groups"));
    match usize::try_from(groups) {
        Ok(g) if g > 0 && channels.is_multiple_of(g) => {}
        Ok(g) if g > 0 => return Err(Error::shape(format!("{channels} channels are not {g} equal groups"))),
        _ => return Err(Error::argument(format!("groups must be positive, got {groups}"))),
    }
    for operand in 1..3 {
        expect(ctx, operand, &[channels])?;
    }
    shape::same(ctx)
}

fn group_norm(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, groups) = (accumulated(l)?, l.attrs().int("groups") as usize);
    let dims = l.dims(x);
    let y = if dims.contains(&0) {
        // No channels are any number of groups.
        x
    } else {
        // Two axes, whatever the rank, which may be the highest there is.
        let apart = l.reshape(x, &[dims[0] * groups, layout::count(&dims[1..])? / groups]);
        let y = standardised(l, apart, &[1], true)?;
        l.reshape(y, &dims)
    };
    let (weight, bias) = (beside(l, 1, dims.len(), &[1])?, beside(l, 2, dims.len(), &[1])?);
    scaled(l, y, weight, bias)
}

fn batch_norm_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let channels = channels(ctx.shape(0))?;
    for operand in 1..5 {
        expect(ctx, operand, &[channels])?;
    }
    if ctx.dims[1].is_some() != ctx.dims[2].is_some() {
        return Err(Error::argument("'mean' and 'variance' are given both or not at all"));
    }
    shape::same(ctx)
}

fn batch_norm(l: &mut Lower) -> Result<Vec<Val>> {
    let x = accumulated(l)?;
    let dims = l.dims(x);
    let y = match (beside(l, 1, dims.len(), &[1])?, beside(l, 2, dims.len(), &[1])?) {
        (Some(mean), Some(variance)) => {
            let centred = l.map(&dims, &[x, mean], |b, v| b.binary(Op::Sub, v[0], v[1]))?;
            by_root(l, centred, variance)?
        }
        _ => {
            let (axes, twice) = ((0..dims.len()).filter(|&a| a != 1).collect::<Vec<_>>(), loses_digits(l)?);
            standardised(l, x, &axes, twice)?
        }
    };
    let (weight, bias) = (beside(l, 3, dims.len(), &[1])?, beside(l, 4, dims.len(), &[1])?);
    scaled(l, y, weight, bias)
}

const EPS: &[ParamDef] = &[ParamDef { name: "eps", default: Some(1e-5), kind: ParamKind::NotNegative }];
const AXIS: &[AttrDef] = &[attr("axis", AttrKind::Axes)];
const NORM: OpDef = OpDef {
    namespace: Namespace::Nn,
    form: Form::Function,
    operands: &[tensor("x"), optional_tensor("weight"), optional_tensor("bias")],
    attrs: AXIS,
    params: EPS,
    shape: over_axes_shape,
    dtype: DTypeRule::new(Class::RealOrBool, Compute::Float, Out::Compute),
    domain: Domain::Special,
    ..BASE
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "layerNorm", lower: Lowering::Graph(layer_norm),
        errors: &[ErrorCase { call: "ft.nn.layerNorm(ft.zeros([2, 3]), ft.zeros([2]))", code: Code::Shape }, ErrorCase { call: "ft.nn.layerNorm(ft.zeros([]))", code: Code::Index }, ErrorCase { call: "ft.nn.layerNorm(ft.zeros([2]), undefined, undefined, { eps: -1 })", code: Code::Argument }],
        doc: doc("Elements less their mean over axes (the last by default), divided by the root of their variance plus eps, times a weight and plus a bias of the axes' sizes.", "(x - mean x) / sqrt(var x + eps) weight + bias", "ft.nn.layerNorm(ft.tensor([-2, 2]), ft.tensor([1, 3])) // [-0.99999875, 2.9999962]", "", "nn.functional.layer_norm"), ..NORM },
    OpDef { name: "rmsNorm", operands: &[tensor("x"), optional_tensor("weight")], lower: Lowering::Graph(rms_norm),
        errors: &[ErrorCase { call: "ft.nn.rmsNorm(ft.zeros([2, 3]), ft.zeros([2]))", code: Code::Shape }],
        doc: doc("Elements divided by the root of the mean of their squares over axes (the last by default) plus eps, times a weight of the axes' sizes.", "x / sqrt(mean x^2 + eps) weight", "ft.nn.rmsNorm(ft.tensor([-2, 2])) // [-0.99999875, 0.99999875]", "", "nn.functional.rms_norm"), ..NORM },
    OpDef { name: "groupNorm", attrs: &[arg("groups", AttrKind::Int(None))], shape: group_norm_shape, lower: Lowering::Graph(group_norm),
        errors: &[ErrorCase { call: "ft.nn.groupNorm(ft.zeros([2, 3]), 2)", code: Code::Shape }, ErrorCase { call: "ft.nn.groupNorm(ft.zeros([2, 3]), 0)", code: Code::Argument }, ErrorCase { call: "ft.nn.groupNorm(ft.zeros([3]), 1)", code: Code::Shape }, ErrorCase { call: "ft.nn.groupNorm(ft.zeros([2, 4]), 2, ft.zeros([2]))", code: Code::Shape }],
        doc: doc("Elements of x [batch, channels, ...] less their mean over each group of neighbouring channels, divided by the root of their variance plus eps, times a weight and plus a bias of each channel.", "(x - mean x) / sqrt(var x + eps) weight + bias", "ft.nn.groupNorm(ft.tensor([[-1, 1, 10, 30]]), 2) // [[-0.999995, 0.999995, -0.99999995, 0.99999995]]", "", "nn.functional.group_norm"), ..NORM },
    OpDef { name: "batchNorm", attrs: &[], operands: &[tensor("x"), optional_tensor("mean"), optional_tensor("variance"), optional_tensor("weight"), optional_tensor("bias")], shape: batch_norm_shape, lower: Lowering::Graph(batch_norm),
        errors: &[ErrorCase { call: "ft.nn.batchNorm(ft.zeros([3]))", code: Code::Shape }, ErrorCase { call: "ft.nn.batchNorm(ft.zeros([2, 3]), ft.zeros([2]), ft.ones([3]))", code: Code::Shape }, ErrorCase { call: "ft.nn.batchNorm(ft.zeros([2, 3]), ft.zeros([3]))", code: Code::Argument }],
        doc: doc("Elements of x [batch, channels, ...] less the mean of their channel, divided by the root of its variance plus eps, times a weight and plus a bias of each channel; without mean and variance those of x itself, as in training.", "(x - mean) / sqrt(variance + eps) weight + bias", "ft.nn.batchNorm(ft.tensor([[1], [5]]), ft.tensor([1]), ft.tensor([4])) // [[0], [1.9999975]]", "", "nn.functional.batch_norm"), ..NORM },
];
