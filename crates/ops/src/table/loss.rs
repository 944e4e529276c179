//! Losses: how far predictions are from targets, for each element or as one number.

use super::index::integer_indices;
use super::lookup::{lines, places};
use super::reduce::mean_over;
use super::rows::{BASE, attr, doc, optional_tensor, tensor};
use crate::attrs::Attrs;
use crate::def::{AttrDef, AttrKind, Domain, ErrorCase, Form, Lowering, Namespace, OpDef, ParamDef, ParamKind};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::gradient::{Facts, Gradient, rules, walk};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Combine, Monoid};
use ferrotensor_core::scalar::{Builder, MathFn, Op, Value};
use ferrotensor_core::{DType, Dims, Error, Result};

/// What becomes of the losses, as the option names it.
const REDUCTIONS: &[&str] = &["mean", "sum", "none"];
/// The same with the sum by the number of samples.
const BATCH_REDUCTIONS: &[&str] = &["mean", "sum", "none", "batchmean"];

fn is_whole(attrs: &Attrs) -> bool {
    attrs.int("reduction") == 2
}

fn total(l: &mut Lower, x: Val) -> Val {
    let axes: Vec<usize> = (0..l.dims(x).len()).collect();
    l.reduce(x, &axes, Combine::Value(Monoid::Sum), false)
}

/// The losses as the call wants them, rounded to the result's dtype.
fn reduced(l: &mut Lower, losses: Val) -> Result<Vec<Val>> {
    let (dims, out) = (l.dims(losses), l.out_dtype(0));
    let value = match l.attrs().int("reduction") {
        0 => mean_over(l, losses, &(0..dims.len()).collect::<Vec<_>>(), false)?,
        1 => total(l, losses),
        2 => losses,
        _ => {
            let (sum, samples) = (total(l, losses), dims.first().copied().unwrap_or(1) as f64);
            l.map(&[], &[sum], |b, v| {
                let n = b.lit(b.dtype(v[0]), samples);
                b.binary(Op::Div, v[0], n)
            })?
        }
    };
    Ok(vec![l.cast(value, out)?])
}

fn pair_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (x, target) = (ctx.shape(0), ctx.shape(1));
    if x != target {
        return Err(Error::shape(format!("predictions {x:?} and targets {target:?} must have one shape")));
    }
    Ok(vec![if is_whole(ctx.attrs) { x.iter().copied().collect() } else { Dims::new() }])
}

/// The operands in the accumulator dtype: float32 for half floats.
fn operands(l: &mut Lower) -> Result<[Val; 2]> {
    let acc = l.compute().compute();
    let (x, y) = (l.operand(0)?, l.operand(1)?);
    Ok([l.cast(x, acc)?, l.cast(y, acc)?])
}

/// The loss of each prediction by its target and the row's number, if it has one.
fn elementwise(l: &mut Lower, f: impl FnOnce(&mut Builder, &[Value]) -> Value) -> Result<Vec<Val>> {
    let pair = operands(l)?;
    let (dims, acc) = (l.dims(pair[0]), l.dtype(pair[0]));
    let numbers: Vec<_> = if l.has_params() { vec![l.param(0, acc)] } else { vec![] };
    let losses = l.map_with(&dims, &pair, &numbers, f)?;
    reduced(l, losses)
}

fn gap(b: &mut Builder, v: &[Value]) -> Value {
    b.binary(Op::Sub, v[0], v[1])
}

fn huber(b: &mut Builder, v: &[Value]) -> Value {
    let gap = gap(b, v);
    let (half, size) = (b.lit(b.dtype(gap), 0.5), b.unary(Op::Abs, gap));
    let (square, start) = (b.binary(Op::Mul, gap, gap), b.binary(Op::Mul, half, v[2]));
    let (inner, beyond) = (b.binary(Op::Mul, half, square), b.binary(Op::Sub, size, start));
    let outer = b.binary(Op::Mul, v[2], beyond);
    let near = b.compare(Op::Le, size, v[2]);
    b.select(near, inner, outer)
}

/// `max(x, 0) - x y + ln(1 + e^-|x|)`, of which nothing overflows; positives weigh so much where there is a weight.
fn with_logits(b: &mut Builder, v: &[Value]) -> Value {
    let (x, y, d) = (v[0], v[1], b.dtype(v[0]));
    let (zero, one, size) = (b.lit(d, 0.0), b.lit(d, 1.0), b.unary(Op::Abs, x));
    let (down, minus) = (b.unary(Op::Neg, size), b.unary(Op::Neg, x));
    let exp = b.call(MathFn::Exp, &[down]);
    let log = b.call(MathFn::Log1p, &[exp]);
    let Some(&weight) = v.get(2) else {
        let (most, product) = (b.binary(Op::Max, x, zero), b.binary(Op::Mul, x, y));
        let linear = b.binary(Op::Sub, most, product);
        return b.binary(Op::Add, linear, log);
    };
    let least = b.binary(Op::Max, minus, zero);
    let softplus = b.binary(Op::Add, log, least);
    weighed(b, [x, y, weight, one], softplus)
}

/// `(1 - y) x + (1 + (weight - 1) y) ln(1 + e^-x)`, given the last factor.
fn weighed(b: &mut Builder, [x, y, weight, one]: [Value; 4], softplus: Value) -> Value {
    let (negative, more) = (b.binary(Op::Sub, one, y), b.binary(Op::Sub, weight, one));
    let (of_negative, extra) = (b.binary(Op::Mul, negative, x), b.binary(Op::Mul, more, y));
    let factor = b.binary(Op::Add, one, extra);
    let weighed = b.binary(Op::Mul, factor, softplus);
    b.binary(Op::Add, of_negative, weighed)
}

/// The same without kinks at 0 that cancel in the value, and in the first derivative, but not in the second.
fn smooth_with_logits(b: &mut Builder, v: &[Value]) -> Value {
    let (x, y, d) = (v[0], v[1], b.dtype(v[0]));
    let (zero, one, minus) = (b.lit(d, 0.0), b.lit(d, 1.0), b.unary(Op::Neg, x));
    let Some(&weight) = v.get(2) else {
        let (softplus, product) = (b.call(MathFn::Logaddexp, &[x, zero]), b.binary(Op::Mul, x, y));
        return b.binary(Op::Sub, softplus, product);
    };
    let softplus = b.call(MathFn::Logaddexp, &[minus, zero]);
    weighed(b, [x, y, weight, one], softplus)
}

fn bce_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let out = pair_shape(ctx)?;
    let x: Dims = ctx.shape(0).iter().copied().collect();
    match ctx.dims.get(2).and_then(|d| d.as_ref()).map(|d| ferrotensor_core::layout::broadcast_shapes(d, &x)) {
        Some(Ok(found)) if found == x => Ok(out),
        Some(_) => Err(Error::shape(format!("'posWeight' does not broadcast to {:?}", x.as_slice()))),
        None => Ok(out),
    }
}

fn bce(l: &mut Lower) -> Result<Vec<Val>> {
    bce_of(l, with_logits)
}

fn bce_back(l: &mut Lower, _: &[Val], g: &[Option<Val>]) -> Result<Option<Vec<Option<Val>>>> {
    let Some(g) = g[0] else { return Ok(Some(vec![None; l.len()])) };
    let start = l.graph.nodes.len();
    let loss = bce_of(l, smooth_with_logits)?[0];
    rules::of_operands(l, start, &[(loss, g)])
}

fn bce_of(l: &mut Lower, loss: fn(&mut Builder, &[Value]) -> Value) -> Result<Vec<Val>> {
    let mut inputs = operands(l)?.to_vec();
    let (dims, acc) = (l.dims(inputs[0]), l.compute().compute());
    if !l.is_absent(2) {
        let weight = l.operand(2)?;
        inputs.push(l.cast(weight, acc)?);
    }
    let losses = l.map(&dims, &inputs, loss)?;
    reduced(l, losses)
}

fn kl_div(l: &mut Lower) -> Result<Vec<Val>> {
    let log_target = l.attrs().bool("logTarget");
    elementwise(l, |b, v| {
        let (x, y, zero) = (v[0], v[1], b.lit(b.dtype(v[1]), 0.0));
        let (log, p) = if log_target { (y, b.call(MathFn::Exp, &[y])) } else { (b.call(MathFn::Log, &[y]), y) };
        let gap = b.binary(Op::Sub, log, x);
        let loss = b.binary(Op::Mul, p, gap);
        // What does not occur costs nothing, whatever its logarithm.
        let never = b.compare(Op::Eq, p, zero);
        b.select(never, zero, loss)
    })
}

/// The axis of the classes in `[batch, classes, ...]` or `[classes]`.
fn class_axis(dims: &[usize]) -> Result<usize> {
    match dims.len() {
        0 => Err(Error::shape("takes [batch, classes, ...] or [classes], got a tensor of rank 0")),
        rank => Ok((rank > 1) as usize),
    }
}

fn without(dims: &[usize], axis: usize) -> Dims {
    dims.iter().enumerate().filter(|(a, _)| *a != axis).map(|(_, &d)| d).collect()
}

/// Losses of predictions by the numbers of classes.
fn class_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (x, target) = (ctx.shape(0), ctx.shape(1));
    let axis = class_axis(x)?;
    let samples = without(x, axis);
    let probabilities = ctx.op.name == "crossEntropy" && ctx.dtype(1).is_some_and(|d| d.is_float());
    if probabilities && target != x {
        return Err(Error::shape(format!("probabilities must have the shape of the predictions, {x:?}, got {target:?}")));
    }
    if !probabilities {
        integer_indices(ctx, 1)?;
        if target != samples.as_slice() {
            return Err(Error::shape(format!(
                "predictions {x:?} need classes of shape {:?}, got {target:?}",
                samples.as_slice()
            )));
        }
    }
    match ctx.dims.get(2).and_then(|d| d.as_ref()) {
        Some(dims) if dims.as_slice() != [x[axis]] => {
            return Err(Error::shape(format!("{} classes need as many weights, got shape {:?}", x[axis], dims.as_slice())));
        }
        _ => {}
    }
    let smoothing = ctx.attrs.number("labelSmoothing");
    if !(0.0..=1.0).contains(&smoothing) {
        return Err(Error::argument(format!("labelSmoothing must be between 0 and 1, got {smoothing}")));
    }
    Ok(vec![if is_whole(ctx.attrs) { samples } else { Dims::new() }])
}

/// The weights of the classes in the accumulator dtype, shaped to broadcast with the predictions.
fn weights(l: &mut Lower, rank: usize, axis: usize) -> Result<Option<Val>> {
    if l.is_absent(2) {
        return Ok(None);
    }
    let (weight, acc) = (l.operand(2)?, l.compute().compute());
    let weight = l.cast(weight, acc)?;
    let mut dims = vec![1; rank];
    dims[axis] = l.dims(weight)[0];
    Ok(Some(l.reshape(weight, &dims)))
}

/// What each sample's class has of a tensor like the predictions.
fn picked(l: &mut Lower, x: Val, classes: Val, axis: usize) -> Result<Val> {
    let dims = l.dims(classes);
    let x = lines(l, x, axis)?;
    let (before, behind) = (l.dims(x)[0], l.dims(x)[2]);
    let classes = l.reshape(classes, &[before, 1, behind]);
    let classes = places(l, classes)?;
    let picked = l.gather(x, &classes);
    Ok(l.reshape(picked, &dims))
}

/// The classes with 0 for those that are ignored and `count`, which is out of range, for negative ones; and which are not ignored.
fn regarded(l: &mut Lower, ignored: f64, count: usize) -> Result<(Val, Val)> {
    let classes = l.operand(1)?;
    let dims = l.dims(classes);
    let differs = |b: &mut Builder, v: Value| {
        let (wide, ignored) = (b.cast(v, DType::I64), b.lit(DType::I64, ignored));
        b.compare(Op::Ne, wide, ignored)
    };
    let regarded = l.map(&dims, &[classes], |b, v| differs(b, v[0]))?;
    let known = l.map(&dims, &[classes, regarded], |b, v| {
        let (wide, zero, count) = (b.cast(v[0], DType::I64), b.lit(DType::I64, 0.0), b.lit(DType::I64, count as f64));
        let negative = b.compare(Op::Lt, wide, zero);
        let class = b.select(negative, count, wide);
        b.select(v[1], class, zero)
    })?;
    Ok((known, regarded))
}

/// Negated log-probabilities of the samples' classes, weighed, and smoothed over all classes.
fn of_classes(l: &mut Lower, logs: Val, smoothing: f64) -> Result<Vec<Val>> {
    let (dims, acc) = (l.dims(logs), l.dtype(logs));
    let axis = class_axis(&dims)?;
    let (classes, regarded) = regarded(l, l.attrs().int("ignoreIndex") as f64, dims[axis])?;
    let samples = l.dims(classes);
    let weights = weights(l, dims.len(), axis)?;
    let weighed = match weights {
        Some(w) => l.map(&dims, &[logs, w], |b, v| b.binary(Op::Mul, v[0], v[1]))?,
        None => logs,
    };
    let own = picked(l, weighed, classes, axis)?;
    let zero = |b: &mut Builder| b.lit(acc, 0.0);
    let losses = if smoothing == 0.0 {
        l.map(&samples, &[regarded, own], |b, v| {
            let (zero, loss) = (zero(b), b.unary(Op::Neg, v[1]));
            b.select(v[0], loss, zero)
        })?
    } else {
        let all = l.sum(weighed, axis, false);
        let share = smoothing / dims[axis].max(1) as f64;
        l.map(&samples, &[regarded, own, all], |b, v| {
            let (zero, rest, share) = (zero(b), b.lit(acc, 1.0 - smoothing), b.lit(acc, share));
            let (own, all) = (b.binary(Op::Mul, rest, v[1]), b.binary(Op::Mul, share, v[2]));
            let sum = b.binary(Op::Add, own, all);
            let loss = b.unary(Op::Neg, sum);
            b.select(v[0], loss, zero)
        })?
    };
    if l.attrs().int("reduction") != 0 {
        return reduced(l, losses);
    }
    // The mean is over the weights of what is regarded.
    let each = match weights {
        Some(w) => {
            let w = l.broadcast(w, &dims)?;
            picked(l, w, classes, axis)?
        }
        None => l.map(&samples, &[], |b, _| b.lit(acc, 1.0))?,
    };
    let each = l.map(&samples, &[regarded, each], |b, v| {
        let zero = zero(b);
        b.select(v[0], v[1], zero)
    })?;
    let (sum, count, out) = (total(l, losses), total(l, each), l.out_dtype(0));
    Ok(vec![l.map(&[], &[sum, count], |b, v| {
        let mean = b.binary(Op::Div, v[0], v[1]);
        b.cast(mean, out)
    })?])
}

fn nll(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, acc) = (l.operand(0)?, l.compute().compute());
    let logs = l.cast(x, acc)?;
    of_classes(l, logs, 0.0)
}

fn cross_entropy(l: &mut Lower) -> Result<Vec<Val>> {
    let logs = log_probabilities(l)?;
    of_log_probabilities(l, logs)
}

fn log_probabilities(l: &mut Lower) -> Result<Val> {
    let (x, acc) = (l.operand(0)?, l.compute().compute());
    let x = l.cast(x, acc)?;
    let axis = class_axis(&l.dims(x))?;
    l.op("logSoftmax", &[x], |a| a.with("axis", crate::attrs::Value::Int(axis as i64)))
}

fn of_log_probabilities(l: &mut Lower, logs: Val) -> Result<Vec<Val>> {
    let (acc, smoothing, dims) = (l.dtype(logs), l.attrs().number("labelSmoothing"), l.dims(logs));
    let axis = class_axis(&dims)?;
    let target = l.operand(1)?;
    if !l.dtype(target).is_float() {
        return of_classes(l, logs, smoothing);
    }
    let target = l.cast(target, acc)?;
    let inputs: Vec<Val> = [logs, target].into_iter().chain(weights(l, dims.len(), axis)?).collect();
    let share = smoothing / dims[axis].max(1) as f64;
    let terms = l.map(&dims, &inputs, |b, v| {
        let (rest, share) = (b.lit(acc, 1.0 - smoothing), b.lit(acc, share));
        let kept = b.binary(Op::Mul, v[1], rest);
        let smooth = b.binary(Op::Add, kept, share);
        let term = b.binary(Op::Mul, smooth, v[0]);
        let minus = b.unary(Op::Neg, term);
        if v.len() > 2 { b.binary(Op::Mul, minus, v[2]) } else { minus }
    })?;
    let losses = l.sum(terms, axis, false);
    reduced(l, losses)
}

/// The shift by the largest of the logits is no part of it: see [`rules::log_softmax_back`].
fn cross_entropy_back(l: &mut Lower, _: &[Val], g: &[Option<Val>]) -> Result<Option<Vec<Option<Val>>>> {
    let Some(g) = g[0] else { return Ok(Some(vec![None; l.len()])) };
    let logs = log_probabilities(l)?;
    let start = l.graph.nodes.len();
    let loss = of_log_probabilities(l, logs)?[0];
    let operands: Vec<Option<Val>> = (1..l.len()).map(|n| l.tensor(n)).collect();
    let wanted: Vec<Val> = std::iter::once(logs).chain(operands.iter().flatten().copied()).collect();
    let mut found = walk(l.graph, l.op, start, &[(loss, g)], &wanted, Facts::default())?.into_iter();
    let mut out = vec![None];
    if let Some(g) = found.next().flatten() {
        let (x, axis) = (l.operand(0)?, class_axis(&l.dims(logs))?);
        let g = rules::log_softmax_back(l, logs, g, axis)?;
        out[0] = Some(l.cast(g, l.dtype(x))?);
    }
    out.extend(operands.into_iter().map(|v| v.and_then(|_| found.next().flatten())));
    Ok(Some(out))
}

const REDUCTION: AttrDef = attr("reduction", AttrKind::Choice(REDUCTIONS));
const IGNORE: AttrDef = attr("ignoreIndex", AttrKind::Int(Some(-100)));
const LOSS: OpDef = OpDef {
    namespace: Namespace::Nn,
    form: Form::Function,
    operands: &[tensor("x"), tensor("target")],
    attrs: &[REDUCTION],
    shape: pair_shape,
    dtype: DTypeRule::new(Class::RealOrBool, Compute::Float, Out::Compute),
    domain: Domain::Special,
    errors: &[ErrorCase { call: "ft.nn.mseLoss(ft.zeros([2]), ft.zeros([2, 1]))", code: Code::Shape }],
    ..BASE
};
const BY_CLASS: OpDef = OpDef {
    operands: &[tensor("x"), tensor("target"), optional_tensor("weight")],
    shape: class_shape,
    dtype: DTypeRule::new(Class::RealOrBool, Compute::Float, Out::Compute).over(0, 1),
    ..LOSS
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "mseLoss", lower: Lowering::Graph(|l| elementwise(l, |b, v| { let gap = gap(b, v); b.binary(Op::Mul, gap, gap) })),
        doc: doc("Squared errors of predictions: the mean, or by the option reduction the sum or each loss.", "mean (x - target)^2", "ft.nn.mseLoss(ft.tensor([1, 2]), ft.tensor([1, 4])) // 2", "", "nn.functional.mse_loss"), ..LOSS },
    OpDef { name: "l1Loss", lower: Lowering::Graph(|l| elementwise(l, |b, v| { let gap = gap(b, v); b.unary(Op::Abs, gap) })),
        doc: doc("Absolute errors of predictions: the mean, or by the option reduction the sum or each loss.", "mean |x - target|", "ft.nn.l1Loss(ft.tensor([1, 2]), ft.tensor([1, 4])) // 1", "", "nn.functional.l1_loss"), ..LOSS },
    OpDef { name: "huberLoss", params: &[ParamDef { name: "delta", default: Some(1.0), kind: ParamKind::Positive }], errors: &[ErrorCase { call: "ft.nn.huberLoss(ft.zeros([2]), ft.zeros([2, 1]))", code: Code::Shape }, ErrorCase { call: "ft.nn.huberLoss(ft.zeros([2]), ft.zeros([2]), { delta: 0 })", code: Code::Argument }], lower: Lowering::Graph(|l| elementwise(l, huber)),
        doc: doc("Huber loss of predictions x: quadratic for errors up to delta, linear beyond; delta is above 0. The mean, or by the option reduction the sum or each loss.", "mean of h_i with e_i = x_i - target_i: h_i = e_i^2 / 2 where |e_i| <= delta, else delta (|e_i| - delta / 2)", "ft.nn.huberLoss(ft.tensor([1, 2]), ft.tensor([1.5, 4])) // 0.8125", "", "nn.functional.huber_loss"), ..LOSS },
    OpDef { name: "binaryCrossEntropyWithLogits", gradient: Gradient::Rule(bce_back), operands: &[tensor("x"), tensor("target"), optional_tensor("posWeight")], shape: bce_shape, lower: Lowering::Graph(bce),
        errors: &[ErrorCase { call: "ft.nn.binaryCrossEntropyWithLogits(ft.zeros([2]), ft.zeros([2]), ft.zeros([3]))", code: Code::Shape }],
        doc: doc("Cross entropy of probabilities, given by the logits x, and targets from 0 to 1, without overflow; positives weigh posWeight times as much: the mean, or by reduction the sum or each loss.", "mean of -(target ln s + (1 - target) ln(1 - s)), s = 1 / (1 + e^-x)", "ft.nn.binaryCrossEntropyWithLogits(ft.tensor([0, 0]), ft.tensor([1, 0])) // 0.6931472", "", "nn.functional.binary_cross_entropy_with_logits"), ..LOSS },
    OpDef { name: "klDiv", attrs: &[attr("reduction", AttrKind::Choice(BATCH_REDUCTIONS)), attr("logTarget", AttrKind::Bool(false))], lower: Lowering::Graph(kl_div),
        doc: doc("Kullback-Leibler divergence of log-probabilities x from target probabilities, or with logTarget their logarithms: the mean of its terms, with a reduction their sum, that by the number of samples (what the divergence is), or all of them.", "mean of target (ln target - x)", "ft.nn.klDiv(ft.tensor([-1, -1]), ft.tensor([0.5, 0.5]), { reduction: 'sum' }) // 0.3068528", "", "nn.functional.kl_div"), ..LOSS },
    OpDef { name: "nllLoss", attrs: &[REDUCTION, IGNORE], lower: Lowering::Graph(nll),
        errors: &[ErrorCase { call: "ft.nn.nllLoss(ft.zeros([2, 3]), ft.tensor([0], { dtype: 'int32' }))", code: Code::Shape }, ErrorCase { call: "ft.nn.nllLoss(ft.zeros([1, 3]), ft.tensor([3], { dtype: 'int32' })).toArray()", code: Code::Index }, ErrorCase { call: "ft.nn.nllLoss(ft.zeros([1, 3]), ft.zeros([1]))", code: Code::DType }],
        doc: doc("Negated log-probabilities x [batch, classes, ...] of integer classes [batch, ...], times the weight of the class; those of ignoreIndex are left out: the mean by the weights, with a reduction the sum, or each. A class out of range is an IndexError when the result is read.", "-mean x[i, target_i]", "ft.nn.nllLoss(ft.tensor([[-1, -2], [-3, -4]]), ft.tensor([0, 1], { dtype: 'int32' })) // 2.5", "", "nn.functional.nll_loss"), ..BY_CLASS },
    OpDef { name: "crossEntropy", gradient: Gradient::Rule(cross_entropy_back), attrs: &[REDUCTION, IGNORE, attr("labelSmoothing", AttrKind::Number(0.0))], lower: Lowering::Graph(cross_entropy),
        errors: &[ErrorCase { call: "ft.nn.crossEntropy(ft.zeros([2, 3]), ft.zeros([2]))", code: Code::Shape }, ErrorCase { call: "ft.nn.crossEntropy(ft.zeros([1, 3]), ft.tensor([3], { dtype: 'int32' })).toArray()", code: Code::Index }, ErrorCase { call: "ft.nn.crossEntropy(ft.zeros([1, 3]), ft.tensor([0], { dtype: 'int32' }), undefined, { labelSmoothing: 2 })", code: Code::Argument }, ErrorCase { call: "ft.nn.crossEntropy(ft.zeros([2, 3]), ft.tensor([0, 0], { dtype: 'int32' }), ft.ones([2]))", code: Code::Shape }],
        doc: doc("Cross entropy of logits x [batch, classes, ...] and integer classes [batch, ...] or probabilities of x's shape, of which labelSmoothing is spread over all classes, times the weight of the class; classes of ignoreIndex are left out: the mean by the weights, with a reduction the sum, or each.", "-mean_i ln softmax(x_i)[target_i]", "ft.nn.crossEntropy(ft.tensor([[0, 0]]), ft.tensor([1], { dtype: 'int32' })) // 0.6931472", "", "nn.functional.cross_entropy"), ..BY_CLASS },
];
