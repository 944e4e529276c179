//! Quantiles and percentiles: what stands at a fraction of the sorted elements.

use super::reduce::axes_of;
use super::rows::{BASE, attr, doc, ranged, tensor};
use super::statistics::{first_dtype, is_floating, is_nan, may_overflow, part_of_gap, sorted_over};
use crate::def::{AttrKind, Domain, ErrorCase, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::scalar::{Builder, Op, Value};
use ferrotensor_core::{DType, Dims, Result, layout};

/// What stands between two elements, as the option names it; the last eight are methods 1 to 6, 8 and 9 of Hyndman and Fan (1996), the
/// first one is their seventh.
const METHODS: AttrKind = AttrKind::Choice(&[
    "linear",
    "lower",
    "higher",
    "midpoint",
    "nearest",
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "median_unbiased",
    "normal_unbiased",
]);
const LOWER: i64 = 1;
const HIGHER: i64 = 2;
const MIDPOINT: i64 = 3;
const NEAREST: i64 = 4;
const INVERTED_CDF: i64 = 5;
const AVERAGED_INVERTED_CDF: i64 = 6;
const CLOSEST_OBSERVATION: i64 = 7;

/// What moves the place of a method that counts from the start of the distribution: `alpha` and `beta` of Hyndman and Fan.
fn shift(method: i64) -> Option<(f64, f64)> {
    match method {
        INVERTED_CDF | AVERAGED_INVERTED_CDF => Some((0.0, 1.0)),
        // Half a place below: the rounding is to the next place.
        CLOSEST_OBSERVATION => Some((-0.5, 1.5)),
        8 => Some((0.0, 1.0)),
        9 => Some((0.5, 0.5)),
        10 => Some((0.0, 0.0)),
        11 => Some((1.0 / 3.0, 1.0 / 3.0)),
        12 => Some((0.375, 0.375)),
        _ => None,
    }
}

fn quantile_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let axes = shape::axes(ctx.attrs.ints("axis"), ctx.shape(0).len())?;
    let kept = shape::reduced_dims(ctx.shape(0), &axes, ctx.attrs.bool("keepdims"));
    Ok(vec![ctx.shape(1).iter().copied().chain(kept).collect()])
}

/// Where among sorted elements a quantile stands: `q last / whole`, or by a method that counts otherwise
/// `q n / whole + alpha + q (1 - alpha - beta) / whole - 1`, in NumPy's order; `last` is int64.
fn place(b: &mut Builder, q: Value, last: Value, whole: f64, method: i64) -> Value {
    let d = b.dtype(q);
    let fraction = if whole == 1.0 {
        q
    } else {
        let whole = b.lit(d, whole);
        b.binary(Op::Div, q, whole)
    };
    let Some((alpha, beta)) = shift(method) else {
        let last = b.cast(last, d);
        return b.binary(Op::Mul, fraction, last);
    };
    let one = b.size(1);
    let n = b.binary(Op::Add, last, one);
    let n = b.cast(n, d);
    let (start, slope, one) = (b.lit(d, alpha), b.lit(d, 1.0 - alpha - beta), b.lit(d, 1.0));
    let (counted, moved) = (b.binary(Op::Mul, n, fraction), b.binary(Op::Mul, fraction, slope));
    let moved = b.binary(Op::Add, start, moved);
    let place = b.binary(Op::Add, counted, moved);
    b.binary(Op::Sub, place, one)
}

/// The position of the element below (above) a place.
fn neighbour(b: &mut Builder, q: Value, last: Value, whole: f64, method: i64, rounding: Op) -> Value {
    let place = place(b, q, last, whole, method);
    let mut rounded = b.unary(rounding, place);
    let d = b.dtype(q);
    match (method, rounding) {
        // On a step both its elements, half of each; else twice the one above.
        (AVERAGED_INVERTED_CDF, Op::Floor) => rounded = b.unary(Op::Ceil, place),
        (AVERAGED_INVERTED_CDF, _) => {
            let (floor, one) = (b.unary(Op::Floor, place), b.lit(d, 1.0));
            rounded = b.binary(Op::Add, floor, one);
        }
        (CLOSEST_OBSERVATION, _) => {
            // Half way the even place, counted from 1: the odd one, counted from 0.
            let (floor, one, half) = (b.unary(Op::Floor, place), b.lit(d, 1.0), b.lit(d, 0.5));
            let halved = b.binary(Op::Mul, floor, half);
            let even = b.unary(Op::Floor, halved);
            let (on_step, odd) = (b.compare(Op::Eq, place, floor), b.compare(Op::Lt, even, halved));
            let stays = b.binary(Op::And, on_step, odd);
            let next = b.binary(Op::Add, floor, one);
            rounded = b.select(stays, floor, next);
        }
        _ => {}
    }
    let mut position = b.cast(rounded, DType::I64);
    if shift(method).is_some() {
        let first = b.size(0);
        position = b.binary(Op::Max, position, first);
    }
    // A quotient of large numbers may round to one more.
    b.binary(Op::Min, position, last)
}

/// The position, or `n`, which is out of range, for a quantile outside of `0..=whole`.
fn checked(b: &mut Builder, q: Value, position: Value, n: usize, whole: f64) -> Value {
    let d = b.dtype(q);
    let (outside, zero, whole) = (b.size(n), b.lit(d, 0.0), b.lit(d, whole));
    let (low, high) = (b.compare(Op::Le, zero, q), b.compare(Op::Le, q, whole));
    let inside = b.binary(Op::And, low, high);
    b.select(inside, position, outside)
}

/// The point that far between two elements, from the nearer end: the other way loses a small one's digits. Infinite ones have no way
/// between them where they are equal; integers need no look at that.
fn between(b: &mut Builder, x: Value, y: Value, t: Value, of: DType) -> Value {
    let d = b.dtype(x);
    let (half, one) = (b.lit(d, 0.5), b.lit(d, 1.0));
    let (gap, rest) = (b.binary(Op::Sub, y, x), b.binary(Op::Sub, one, t));
    let part =
        |b: &mut Builder, t: Value| if may_overflow(of) { part_of_gap(b, x, y, gap, t) } else { b.binary(Op::Mul, t, gap) };
    let (up, down) = (part(b, t), part(b, rest));
    let (from_x, from_y) = (b.binary(Op::Add, x, up), b.binary(Op::Sub, y, down));
    let near_x = b.compare(Op::Lt, t, half);
    let point = b.select(near_x, from_x, from_y);
    if !of.is_float() {
        return point;
    }
    let same = b.compare(Op::Eq, x, y);
    b.select(same, x, point)
}

/// How many numbers each of the sorted lines `[kept, n]` has before NaN.
pub fn numbers(l: &mut Lower, sorted: Val) -> Result<Val> {
    let dims = l.dims(sorted);
    let ones = l.map(&dims, &[sorted], |b, v| {
        let number = b.compare(Op::Eq, v[0], v[0]);
        b.cast(number, DType::I64)
    })?;
    Ok(l.sum(ones, 1, false))
}

/// Quantiles of all elements, among which NaN wins, or of those that are numbers.
pub fn quantile(l: &mut Lower, whole: f64, all: bool) -> Result<Vec<Val>> {
    let (acc, out, dims, method) = (l.compute().compute(), l.out_dtype(0), l.out_dims(0), l.attrs().int("method"));
    let (floating, of) = (is_floating(l)?, first_dtype(l)?);
    let (x, q) = (l.operand(0)?, l.operand(1)?);
    let (x, q) = (l.cast(x, acc)?, l.cast(q, acc)?);
    let (axes, places) = (axes_of(l, x)?, layout::count(&l.dims(q))?);
    let sorted = if axes.iter().any(|&a| l.dims(x)[a] == 0) {
        // NaN stands for no elements: q is looked at as among others.
        let kept = layout::count(&shape::reduced_dims(&l.dims(x), &axes, false))?;
        l.map(&[kept, 1], &[], |b, _| b.lit(acc, f64::NAN))?
    } else {
        sorted_over(l, x, &axes)?
    };
    let (kept, n) = (l.dims(sorted)[0], l.dims(sorted)[1]);
    let (lines, q, wide) = (l.permute(sorted, &[1, 0]), l.reshape(q, &[places, 1]), [places, kept]);
    // Beside q where the last number stands: at the end of all lines, or elsewhere in each. Of a line without numbers it is -1, the
    // last NaN.
    let mut beside = vec![q];
    if floating && !all {
        let count = numbers(l, sorted)?;
        beside.push(l.map(&[1, kept], &[count], |b, v| {
            let one = b.size(1);
            b.binary(Op::Sub, v[0], one)
        })?);
    }
    let last = |b: &mut Builder, v: &[Value]| v.get(1).copied().unwrap_or_else(|| b.size(n - 1));
    let picked = |l: &mut Lower, rounding: Op| -> Result<Val> {
        let dims = [places, if beside.len() == 1 { 1 } else { kept }];
        let position = l.map(&dims, &beside, |b, v| {
            let last = last(b, v);
            let position = neighbour(b, v[0], last, whole, method, rounding);
            // Where both neighbours are looked up, the lower one tells.
            if rounding == Op::Ceil && !matches!(method, HIGHER | INVERTED_CDF) {
                position
            } else {
                checked(b, v[0], position, n, whole)
            }
        })?;
        if beside.len() == 1 {
            let position = l.reshape(position, &[places]);
            return Ok(l.gather(lines, &[position]));
        }
        let line = l.map(&wide, &[], |b, _| b.index(1, DType::I64))?;
        Ok(l.gather(lines, &[position, line]))
    };
    let found = match method {
        LOWER => picked(l, Op::Floor)?,
        HIGHER | INVERTED_CDF => picked(l, Op::Ceil)?,
        CLOSEST_OBSERVATION => picked(l, Op::Floor)?,
        NEAREST => picked(l, Op::Round)?,
        _ => {
            let (low, high) = (picked(l, Op::Floor)?, picked(l, Op::Ceil)?);
            let inputs: Vec<Val> = [low, high].into_iter().chain(beside.iter().copied()).collect();
            l.map(&wide, &inputs, |b, v| {
                let t = if matches!(method, MIDPOINT | AVERAGED_INVERTED_CDF) {
                    b.lit(acc, 0.5)
                } else {
                    let last = last(b, &v[2..]);
                    let place = place(b, v[2], last, whole, method);
                    let floor = b.unary(Op::Floor, place);
                    b.binary(Op::Sub, place, floor)
                };
                between(b, v[0], v[1], t, of)
            })?
        }
    };
    let found = if floating && all {
        // NaN stands last, and wins.
        let last = l.pick(sorted, 1, n - 1);
        l.map(&wide, &[found, last], |b, v| {
            let nan = is_nan(b, v[1]);
            b.select(nan, v[1], v[0])
        })?
    } else {
        found
    };
    let found = l.cast(found, out)?;
    Ok(vec![l.reshape(found, &dims)])
}

pub const QUANTILE: OpDef = OpDef {
    operands: &[tensor("x"), ranged("q", 0.0, 1.0)],
    attrs: &[attr("axis", AttrKind::Axes), attr("keepdims", AttrKind::Bool(false)), attr("method", METHODS)],
    dtype: DTypeRule::new(Class::RealOrBool, Compute::Float, Out::Compute),
    shape: quantile_shape,
    domain: Domain::Special,
    ..BASE
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "quantile", lower: Lowering::Graph(|l| quantile(l, 1.0, true)),
        errors: &[ErrorCase { call: "ft.zeros([2]).quantile(0.5, { axis: 1 })", code: Code::Index }, ErrorCase { call: "ft.zeros([2]).quantile(1.5)", code: Code::Index }, ErrorCase { call: "ft.zeros([2]).quantile(ft.tensor([0.5, -0.1])).toArray()", code: Code::Index }],
        doc: doc("Quantiles over axes (all by default): the element at the fraction q of the sorted elements. q is a number from 0 to 1, or a tensor of them, whose axes come first in the result. Between two elements the method decides, by default linear interpolation. NaN if any element is NaN, or if there are none. A q outside [0, 1] is an IndexError, of a tensor when the result is read.", "x_(q (n - 1)) of the sorted x", "ft.tensor([1, 2, 3, 5]).quantile(ft.tensor([0.5, 0.75])) // [2.5, 3.5]", "quantile", "quantile"), ..QUANTILE },
    OpDef { name: "percentile", operands: &[tensor("x"), ranged("q", 0.0, 100.0)], lower: Lowering::Graph(|l| quantile(l, 100.0, true)),
        errors: &[ErrorCase { call: "ft.zeros([2]).percentile(101)", code: Code::Index }, ErrorCase { call: "ft.zeros([2]).percentile(ft.tensor([50, -1])).toArray()", code: Code::Index }],
        doc: doc("Percentiles over axes (all by default): quantile with q from 0 to 100.", "x_(q (n - 1) / 100) of the sorted x", "ft.tensor([1, 2, 3, 5]).percentile(50) // 2.5", "percentile", "quantile"), ..QUANTILE },
];
