//! Elementwise functions of one operand.

use super::rows::{doc, unary};
use crate::complex;
use crate::def::{Domain, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::gradient::{Gradient, partials};
use crate::lower::MapFn;
use ferrotensor_core::DType;
use ferrotensor_core::scalar::{Builder, MathFn, Op, Value};

const NUMERIC: OpDef = unary(Class::Numeric, Compute::Own, Out::Compute);
const REAL: OpDef = unary(Class::Real, Compute::Own, Out::Compute);
const FLOAT: OpDef = unary(Class::RealOrBool, Compute::Float, Out::Compute);
const COMPLEX: OpDef = unary(Class::Any, Compute::Float, Out::Compute);
const PREDICATE: OpDef = unary(Class::Any, Compute::Own, Out::Bool);

/// Rounding functions leave integers as they are.
fn rounding(b: &mut Builder, x: Value, op: Op) -> Value {
    if b.dtype(x).is_float() { b.unary(op, x) } else { x }
}

fn round(b: &mut Builder, x: Value) -> Value {
    let dtype = b.dtype(x);
    if !dtype.is_complex() {
        return rounding(b, x, Op::Round);
    }
    let parts = [b.re(x), b.im(x)].map(|part| b.unary(Op::Round, part));
    b.complex(dtype, parts[0], parts[1])
}

const ABS: MapFn = |b, x, _| size(b, x[0]);

/// `|x|`, of complex numbers their distance from 0.
pub fn size(b: &mut Builder, x: Value) -> Value {
    if !b.dtype(x).is_complex() {
        return b.unary(Op::Abs, x);
    }
    let (re, im) = (b.re(x), b.im(x));
    b.call(MathFn::Hypot, &[re, im])
}

/// A complex number divided by a real one.
pub fn shortened(b: &mut Builder, x: Value, by: Value) -> Value {
    let (re, im) = (b.re(x), b.im(x));
    let (re, im) = (b.binary(Op::Div, re, by), b.binary(Op::Div, im, by));
    b.complex(b.dtype(x), re, im)
}

/// `x / |x|` of a complex number, 0 of 0.
pub fn unit(b: &mut Builder, x: Value) -> Value {
    let (size, zero) = (size(b, x), b.lit(b.dtype(x), 0.0));
    let (direction, is_zero) = (shortened(b, x, size), b.compare(Op::Eq, x, zero));
    b.select(is_zero, zero, direction)
}

/// [`unit`], which of a number so large that its distance from 0 overflows is that of its half; of one with one infinite part the direction of
/// that part, as in NumPy.
fn direction(b: &mut Builder, x: Value) -> Value {
    let (d, re, im) = (b.dtype(x), b.re(x), b.im(x));
    let part = b.dtype(re);
    let (zero, one, half) = (b.lit(part, 0.0), b.lit(part, 1.0), b.lit(part, 0.5));
    let sizes = [re, im].map(|v| b.unary(Op::Abs, v));
    let most = part.float_format().map_or(0.0, |f| f.max());
    let (larger, limit) = (b.binary(Op::Max, sizes[0], sizes[1]), b.lit(part, most / 2.0));
    let huge = b.compare(Op::Lt, limit, larger);
    let scale = b.select(huge, half, one);
    let (u, v) = (b.binary(Op::Mul, re, scale), b.binary(Op::Mul, im, scale));
    let scaled = b.complex(d, u, v);
    let (finite, infinity) = (unit(b, scaled), b.lit(part, f64::INFINITY));
    let ends = sizes.map(|v| b.compare(Op::Eq, v, infinity));
    let axes = [(ends[0], re), (ends[1], im)].map(|(end, v)| {
        let (positive, minus) = (b.compare(Op::Lt, zero, v), b.lit(part, -1.0));
        let towards = b.select(positive, one, minus);
        b.select(end, towards, zero)
    });
    let (along, single) = (b.complex(d, axes[0], axes[1]), b.compare(Op::Ne, ends[0], ends[1]));
    // NaN stays NaN, as in the array API standard (NumPy has i for NaN + Infinity i).
    let number = b.compare(Op::Eq, x, x);
    let single = b.binary(Op::And, single, number);
    b.select(single, along, finite)
}

const SIGN: MapFn = |b, x, d| {
    if d.is_complex() {
        return direction(b, x[0]);
    }
    let (zero, one) = (b.lit(d, 0.0), b.lit(d, 1.0));
    let positive = b.compare(Op::Lt, zero, x[0]);
    if d.kind() == ferrotensor_core::Kind::Unsigned {
        return b.select(positive, one, zero);
    }
    let minus = b.lit(d, -1.0);
    let negative = b.compare(Op::Lt, x[0], zero);
    // What is neither is zero or NaN: -0 + 0 = 0.
    let neither = if d.is_float() { b.binary(Op::Add, x[0], zero) } else { x[0] };
    let rest = b.select(negative, minus, neither);
    b.select(positive, one, rest)
};

const RSQRT: MapFn = |b, x, d| {
    let (one, root) = (b.lit(d, 1.0), complex::sqrt(b, x[0]));
    b.binary(Op::Div, one, root)
};

const RECIPROCAL: MapFn = |b, x, d| {
    let one = b.lit(d, 1.0);
    b.binary(Op::Div, one, x[0])
};

const RELU: MapFn = |b, x, d| {
    let zero = b.lit(d, 0.0);
    b.binary(Op::Max, x[0], zero)
};

const IS_NAN: MapFn = |b, x, _| {
    let d = b.dtype(x[0]);
    if d.is_float() || d.is_complex() { b.compare(Op::Ne, x[0], x[0]) } else { b.lit(DType::Bool, 0.0) }
};

const IS_FINITE: MapFn = |b, x, _| is_finite(b, x[0]);

/// Whether a number, of complex ones both parts, is neither infinite nor NaN.
pub fn is_finite(b: &mut Builder, x: Value) -> Value {
    let d = b.dtype(x);
    if d.is_complex() {
        let (re, im) = (b.re(x), b.im(x));
        let (re, im) = (is_finite(b, re), is_finite(b, im));
        return b.binary(Op::And, re, im);
    }
    if !d.is_float() {
        return b.lit(DType::Bool, 1.0);
    }
    let (size, infinity) = (b.unary(Op::Abs, x), b.lit(d, f64::INFINITY));
    b.compare(Op::Lt, size, infinity)
}

const IS_INF: MapFn = |b, x, _| is_infinite(b, x[0]);

pub fn is_infinite(b: &mut Builder, x: Value) -> Value {
    let d = b.dtype(x);
    if d.is_complex() {
        let (re, im) = (b.re(x), b.im(x));
        let (re, im) = (is_infinite(b, re), is_infinite(b, im));
        return b.binary(Op::Or, re, im);
    }
    if !d.is_float() {
        return b.lit(DType::Bool, 0.0);
    }
    let (size, infinity) = (b.unary(Op::Abs, x), b.lit(d, f64::INFINITY));
    b.compare(Op::Eq, size, infinity)
}

/// `x` by a number.
fn scaled(b: &mut Builder, x: Value, by: f64) -> Value {
    let by = b.lit(b.dtype(x), by);
    b.binary(Op::Mul, x, by)
}

/// `sin(pi x) = (-1)^n sin(pi (x - n))` with the nearest n, whose difference is exact: no angle is larger than half a turn, and whole
/// numbers give 0. Half floats compute in float32 and round once.
const SINC: MapFn = |b, x, d| {
    let x = b.cast(x[0], d.compute());
    let n = b.unary(Op::Round, x);
    let (rest, half) = (b.binary(Op::Sub, x, n), scaled(b, n, 0.5));
    let (angle, whole) = (scaled(b, rest, std::f64::consts::PI), b.unary(Op::Trunc, half));
    let (sin, odd) = (b.call(MathFn::Sin, &[angle]), b.compare(Op::Ne, half, whole));
    let minus = b.unary(Op::Neg, sin);
    let sin = b.select(odd, minus, sin);
    let (by, zero, one) = (scaled(b, x, std::f64::consts::PI), b.lit(d.compute(), 0.0), b.lit(d.compute(), 1.0));
    let (quotient, at_zero) = (b.binary(Op::Div, sin, by), b.compare(Op::Eq, x, zero));
    let out = b.select(at_zero, one, quotient);
    b.cast(out, d)
};

/// As the difference of two logarithms, of which one is exactly computed near 1.
const LOGIT: MapFn = |b, x, d| {
    let x = b.cast(x[0], d.compute());
    let minus = b.unary(Op::Neg, x);
    let (log, log1p) = (b.call(MathFn::Log, &[x]), b.call(MathFn::Log1p, &[minus]));
    let out = b.binary(Op::Sub, log, log1p);
    b.cast(out, d)
};

const FRAC: MapFn = |b, x, _| {
    let whole = b.unary(Op::Trunc, x[0]);
    b.binary(Op::Sub, x[0], whole)
};

/// `-x ln(x)`: 0 at 0 and -Infinity below. Half floats compute in float32 and round once.
const ENTR: MapFn = |b, x, d| {
    let x = b.cast(x[0], d.compute());
    let (log, minus) = (b.call(MathFn::Log, &[x]), b.unary(Op::Neg, x));
    let (product, zero, end) =
        (b.binary(Op::Mul, minus, log), b.lit(d.compute(), 0.0), b.lit(d.compute(), f64::NEG_INFINITY));
    let (nothing, below) = (b.compare(Op::Eq, x, zero), b.compare(Op::Lt, x, zero));
    let out = b.select(nothing, zero, product);
    let out = b.select(below, end, out);
    b.cast(out, d)
};

/// Whether a number is one of the infinities; integers never are.
fn is_end(b: &mut Builder, x: Value, end: f64) -> Value {
    let d = b.dtype(x);
    if !d.is_float() {
        return b.lit(DType::Bool, 0.0);
    }
    let end = b.lit(d, end);
    b.compare(Op::Eq, x, end)
}

const LOGICAL_NOT: MapFn = |b, x, _| {
    let truth = b.cast(x[0], DType::Bool);
    b.unary(Op::Not, truth)
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "negative", aliases: &["neg"], lower: Lowering::Map(|b, x, _| b.unary(Op::Neg, x[0])),
        doc: doc("Negates each element; integers wrap.", "-x", "ft.tensor([1, -2]).negative() // [-1, 2]", "negative", "neg"), ..NUMERIC },
    OpDef { name: "positive", lower: Lowering::Graph(|l| Ok(vec![l.operand(0)?])),
        doc: doc("Each element as it is.", "x", "ft.tensor([1, -2]).positive() // [1, -2]", "positive", "positive"), ..NUMERIC },
    OpDef { name: "abs", lower: Lowering::Map(ABS), dtype: DTypeRule::new(Class::Numeric, Compute::Own, Out::RealPart),
        doc: doc("Absolute value of each element; of complex numbers the distance from 0.", "|x|", "ft.tensor([1, -2]).abs() // [1, 2]", "abs", "abs"), ..NUMERIC },
    OpDef { name: "sign", gradient: Gradient::Partials(partials::SIGN), lower: Lowering::Map(SIGN),
        doc: doc("Sign of each element: -1, 0 or 1, 0 for both zeros; NaN stays NaN. Of complex numbers the direction, 0 for 0.", "x / |x|", "ft.tensor([3, -2, 0]).sign() // [1, -1, 0]", "sign", "sign"), ..NUMERIC },
    OpDef { name: "square", lower: Lowering::Map(|b, x, _| b.binary(Op::Mul, x[0], x[0])),
        doc: doc("Square of each element.", "x * x", "ft.tensor([3, -2]).square() // [9, 4]", "square", "square"), ..NUMERIC },
    OpDef { name: "relu", gradient: Gradient::Partials(partials::RELU), lower: Lowering::Map(RELU),
        doc: doc("Rectified linear unit; NaN stays NaN.", "max(x, 0)", "ft.tensor([3, -2]).relu() // [3, 0]", "", "relu"), ..REAL },
    OpDef { name: "floor", lower: Lowering::Map(|b, x, _| rounding(b, x[0], Op::Floor)),
        doc: doc("Largest integral value not above each element; integers stay as they are.", "floor(x)", "ft.tensor([1.5, -1.5]).floor() // [1, -2]", "floor", "floor"), ..REAL },
    OpDef { name: "ceil", lower: Lowering::Map(|b, x, _| rounding(b, x[0], Op::Ceil)),
        doc: doc("Smallest integral value not below each element; integers stay as they are.", "ceil(x)", "ft.tensor([1.5, -1.5]).ceil() // [2, -1]", "ceil", "ceil"), ..REAL },
    OpDef { name: "trunc", lower: Lowering::Map(|b, x, _| rounding(b, x[0], Op::Trunc)),
        doc: doc("Integral part of each element, towards zero; integers stay as they are.", "sign(x) floor(|x|)", "ft.tensor([1.5, -1.5]).trunc() // [1, -1]", "trunc", "trunc"), ..REAL },
    OpDef { name: "round", lower: Lowering::Map(|b, x, _| round(b, x[0])),
        doc: doc("Nearest integral value, ties to even, of both parts of complex numbers; integers stay as they are.", "round(x)", "ft.tensor([0.5, 1.5, -2.4]).round() // [0, 2, -2]", "round", "round"), ..NUMERIC },
    OpDef { name: "sqrt", gradient: Gradient::Partials(partials::SQRT), domain: Domain::Positive, lower: Lowering::Map(|b, x, _| complex::sqrt(b, x[0])),
        doc: doc("Square root of each element, correctly rounded; NaN below zero. Of complex numbers the root in the right half plane.", "sqrt(x)", "ft.tensor([4, 9]).sqrt() // [2, 3]", "sqrt", "sqrt"), ..COMPLEX },
    OpDef { name: "rsqrt", gradient: Gradient::Partials(partials::RSQRT), domain: Domain::Positive, lower: Lowering::Map(RSQRT),
        doc: doc("Reciprocal of the square root of each element.", "1 / sqrt(x)", "ft.tensor([4, 16]).rsqrt() // [0.5, 0.25]", "", "rsqrt"), ..COMPLEX },
    OpDef { name: "reciprocal", domain: Domain::NonZero, lower: Lowering::Map(RECIPROCAL),
        doc: doc("Reciprocal of each element.", "1 / x", "ft.tensor([4, -2]).reciprocal() // [0.25, -0.5]", "reciprocal", "reciprocal"), ..COMPLEX },
    OpDef { name: "exp", gradient: Gradient::Partials(partials::EXP), lower: Lowering::Map(|b, x, _| complex::call(b, MathFn::Exp, x[0])),
        doc: doc("Exponential of each element.", "e^x", "ft.tensor([0, 1]).exp() // [1, 2.7182817]", "exp", "exp"), ..COMPLEX },
    OpDef { name: "exp2", lower: Lowering::Map(|b, x, _| b.call(MathFn::Exp2, x)),
        doc: doc("Power of two of each element; exact for integers.", "2^x", "ft.tensor([0, 3, -1]).exp2() // [1, 8, 0.5]", "exp2", "exp2"), ..FLOAT },
    OpDef { name: "expm1", gradient: Gradient::Partials(partials::EXPM1), lower: Lowering::Map(|b, x, _| complex::call(b, MathFn::Expm1, x[0])),
        doc: doc("Exponential of each element minus 1, without cancellation near 0.", "e^x - 1", "ft.tensor([0, 1]).expm1() // [0, 1.7182819]", "expm1", "expm1"), ..COMPLEX },
    OpDef { name: "log", gradient: Gradient::Partials(partials::LOG), domain: Domain::Positive, lower: Lowering::Map(|b, x, _| complex::call(b, MathFn::Log, x[0])),
        doc: doc("Natural logarithm of each element; -Infinity at 0, NaN below. Of complex numbers the one with an imaginary part from -pi to pi.", "ln(x)", "ft.tensor([1, 10]).log() // [0, 2.3025851]", "log", "log"), ..COMPLEX },
    OpDef { name: "log1p", gradient: Gradient::Partials(partials::LOG1P), lower: Lowering::Map(|b, x, _| complex::call(b, MathFn::Log1p, x[0])),
        doc: doc("Natural logarithm of 1 plus each element, without cancellation near 0; -Infinity at -1, NaN below. Complex as log.", "ln(1 + x)", "ft.tensor([0, 1]).log1p() // [0, 0.6931472]", "log1p", "log1p"), ..COMPLEX },
    OpDef { name: "log2", gradient: Gradient::Partials(partials::LOG2), domain: Domain::Positive, lower: Lowering::Map(|b, x, _| complex::call(b, MathFn::Log2, x[0])),
        doc: doc("Binary logarithm of each element; exact for powers of two. Complex as log.", "ln(x) / ln(2)", "ft.tensor([8, 10]).log2() // [3, 3.321928]", "log2", "log2"), ..COMPLEX },
    OpDef { name: "log10", gradient: Gradient::Partials(partials::LOG10), domain: Domain::Positive, lower: Lowering::Map(|b, x, _| complex::call(b, MathFn::Log10, x[0])),
        doc: doc("Decimal logarithm of each element; -Infinity at 0, NaN below. Complex as log.", "ln(x) / ln(10)", "ft.tensor([1000, 2]).log10() // [3, 0.30103]", "log10", "log10"), ..COMPLEX },
    OpDef { name: "sin", gradient: Gradient::Partials(partials::SIN), lower: Lowering::Map(|b, x, _| complex::call(b, MathFn::Sin, x[0])),
        doc: doc("Sine of each element, in radians.", "sin(x)", "ft.tensor([0, 1]).sin() // [0, 0.8414710]", "sin", "sin"), ..COMPLEX },
    OpDef { name: "cos", gradient: Gradient::Partials(partials::COS), lower: Lowering::Map(|b, x, _| complex::call(b, MathFn::Cos, x[0])),
        doc: doc("Cosine of each element, in radians.", "cos(x)", "ft.tensor([0, 1]).cos() // [1, 0.5403023]", "cos", "cos"), ..COMPLEX },
    OpDef { name: "tan", gradient: Gradient::Partials(partials::TAN), lower: Lowering::Map(|b, x, _| complex::call(b, MathFn::Tan, x[0])),
        doc: doc("Tangent of each element, in radians.", "sin(x) / cos(x)", "ft.tensor([0, 1]).tan() // [0, 1.5574077]", "tan", "tan"), ..COMPLEX },
    OpDef { name: "asin", gradient: Gradient::Partials(partials::ASIN), domain: Domain::Unit, lower: Lowering::Map(|b, x, _| complex::call(b, MathFn::Asin, x[0])),
        doc: doc("Inverse sine of each element, from -pi/2 to pi/2; NaN beyond -1 and 1, where complex numbers have their branch cuts.", "y with sin(y) = x", "ft.tensor([0, 1]).asin() // [0, 1.5707964]", "asin", "asin"), ..COMPLEX },
    OpDef { name: "acos", gradient: Gradient::Partials(partials::ACOS), domain: Domain::Unit, lower: Lowering::Map(|b, x, _| complex::call(b, MathFn::Acos, x[0])),
        doc: doc("Inverse cosine of each element, from 0 to pi; NaN beyond -1 and 1, where complex numbers have their branch cuts.", "y with cos(y) = x", "ft.tensor([1, 0]).acos() // [0, 1.5707964]", "acos", "acos"), ..COMPLEX },
    OpDef { name: "atan", gradient: Gradient::Partials(partials::ATAN), lower: Lowering::Map(|b, x, _| complex::call(b, MathFn::Atan, x[0])),
        doc: doc("Inverse tangent of each element, from -pi/2 to pi/2; complex branch cuts beyond -i and i.", "y with tan(y) = x", "ft.tensor([0, 1]).atan() // [0, 0.7853982]", "atan", "atan"), ..COMPLEX },
    OpDef { name: "sinh", gradient: Gradient::Partials(partials::SINH), lower: Lowering::Map(|b, x, _| complex::call(b, MathFn::Sinh, x[0])),
        doc: doc("Hyperbolic sine of each element.", "(e^x - e^-x) / 2", "ft.tensor([0, 1]).sinh() // [0, 1.1752012]", "sinh", "sinh"), ..COMPLEX },
    OpDef { name: "cosh", gradient: Gradient::Partials(partials::COSH), lower: Lowering::Map(|b, x, _| complex::call(b, MathFn::Cosh, x[0])),
        doc: doc("Hyperbolic cosine of each element.", "(e^x + e^-x) / 2", "ft.tensor([0, 1]).cosh() // [1, 1.5430807]", "cosh", "cosh"), ..COMPLEX },
    OpDef { name: "tanh", gradient: Gradient::Partials(partials::TANH), lower: Lowering::Map(|b, x, _| complex::call(b, MathFn::Tanh, x[0])),
        doc: doc("Hyperbolic tangent of each element.", "(e^x - e^-x) / (e^x + e^-x)", "ft.tensor([0, 1]).tanh() // [0, 0.7615942]", "tanh", "tanh"), ..COMPLEX },
    OpDef { name: "asinh", gradient: Gradient::Partials(partials::ASINH), lower: Lowering::Map(|b, x, _| complex::call(b, MathFn::Asinh, x[0])),
        doc: doc("Inverse hyperbolic sine of each element; complex branch cuts beyond -i and i.", "ln(x + sqrt(x^2 + 1))", "ft.tensor([0, 1]).asinh() // [0, 0.8813736]", "asinh", "asinh"), ..COMPLEX },
    OpDef { name: "acosh", gradient: Gradient::Partials(partials::ACOSH), domain: Domain::Positive, lower: Lowering::Map(|b, x, _| complex::call(b, MathFn::Acosh, x[0])),
        doc: doc("Inverse hyperbolic cosine of each element; NaN below 1, where complex numbers have their branch cut.", "ln(x + sqrt(x^2 - 1))", "ft.tensor([1, 2]).acosh() // [0, 1.316958]", "acosh", "acosh"), ..COMPLEX },
    OpDef { name: "atanh", gradient: Gradient::Partials(partials::ATANH), domain: Domain::Unit, lower: Lowering::Map(|b, x, _| complex::call(b, MathFn::Atanh, x[0])),
        doc: doc("Inverse hyperbolic tangent of each element; infinite at -1 and 1, NaN beyond, where complex numbers have their branch cuts.", "ln((1 + x) / (1 - x)) / 2", "ft.tensor([0, 0.5]).atanh() // [0, 0.54930615]", "atanh", "atanh"), ..COMPLEX },
    OpDef { name: "deg2rad", lower: Lowering::Map(|b, x, _| scaled(b, x[0], std::f64::consts::PI / 180.0)),
        doc: doc("Degrees as radians.", "x pi / 180", "ft.tensor([180, 90]).deg2rad() // [3.1415927, 1.5707964]", "deg2rad", "deg2rad"), ..FLOAT },
    OpDef { name: "rad2deg", lower: Lowering::Map(|b, x, _| scaled(b, x[0], 180.0 / std::f64::consts::PI)),
        doc: doc("Radians as degrees.", "x 180 / pi", "ft.tensor([1, -2]).rad2deg() // [57.29578, -114.59156]", "rad2deg", "rad2deg"), ..FLOAT },
    OpDef { name: "sinc", lower: Lowering::Map(SINC),
        doc: doc("Normalised sinc of each element; 1 at 0.", "sin(pi x) / (pi x)", "ft.tensor([0, 0.5]).sinc() // [1, 0.63661975]", "sinc", "sinc"), ..FLOAT },
    OpDef { name: "logit", domain: Domain::Unit, lower: Lowering::Map(LOGIT),
        doc: doc("Inverse of the logistic function of each element; infinite at 0 and 1, NaN beyond.", "ln(x / (1 - x))", "ft.tensor([0.5, 0.75]).logit() // [0, 1.0986123]", "", "logit"), ..FLOAT },
    OpDef { name: "sigmoid", lower: Lowering::Map(|b, x, _| b.call(MathFn::Sigmoid, x)),
        doc: doc("Logistic function of each element.", "1 / (1 + e^-x)", "ft.tensor([0, 2]).sigmoid() // [0.5, 0.8807971]", "", "sigmoid"), ..FLOAT },
    OpDef { name: "cbrt", lower: Lowering::Map(|b, x, _| b.call(MathFn::Cbrt, x)),
        doc: doc("Cube root of each element, negative for negative elements.", "x^(1/3)", "ft.tensor([27, -8]).cbrt() // [3, -2]", "cbrt", ""), ..FLOAT },
    OpDef { name: "frac", gradient: Gradient::Partials(partials::FRAC), lower: Lowering::Map(FRAC),
        doc: doc("Fractional part of each element, with its sign; NaN of infinities.", "x - trunc(x)", "ft.tensor([1.5, -2.25]).frac() // [0.5, -0.25]", "", "frac"), ..FLOAT },
    OpDef { name: "entr", lower: Lowering::Map(ENTR), gradient: Gradient::Partials(partials::ENTR), domain: Domain::Positive,
        doc: doc("Elementwise entropy: 0 at 0, -Infinity below.", "-x ln(x)", "ft.tensor([0, 0.5, 1]).entr() // [0, 0.34657359, -0]", "", "special.entr"), ..FLOAT },
    OpDef { name: "ndtr", lower: Lowering::Map(|b, x, _| b.call(MathFn::Ndtr, x)),
        doc: doc("Distribution function of the standard normal distribution, without cancellation in its tails.", "erfc(-x / sqrt(2)) / 2", "ft.tensor([0, -1]).ndtr() // [0.5, 0.15865526]", "", "special.ndtr"), ..FLOAT },
    OpDef { name: "erf", lower: Lowering::Map(|b, x, _| b.call(MathFn::Erf, x)),
        doc: doc("Error function of each element.", "2 / sqrt(pi) * integral of e^(-t^2) from 0 to x", "ft.tensor([0, 1]).erf() // [0, 0.8427008]", "", "erf"), ..FLOAT },
    OpDef { name: "erfc", lower: Lowering::Map(|b, x, _| b.call(MathFn::Erfc, x)),
        doc: doc("Complementary error function of each element, without cancellation for large elements.", "1 - erf(x)", "ft.tensor([0, 1, 5]).erfc() // [1, 0.1572992, 1.5374598e-12]", "", "erfc"), ..FLOAT },
    OpDef { name: "erfinv", domain: Domain::Unit, lower: Lowering::Map(|b, x, _| b.call(MathFn::Erfinv, x)),
        doc: doc("Inverse error function of each element; infinite at -1 and 1, NaN beyond.", "y with erf(y) = x", "ft.tensor([0, 0.5]).erfinv() // [0, 0.47693628]", "", "erfinv"), ..FLOAT },
    OpDef { name: "lgamma", lower: Lowering::Map(|b, x, _| b.call(MathFn::Lgamma, x)),
        doc: doc("Logarithm of the absolute value of the gamma function of each element; Infinity at 0 and negative integers.", "ln(|gamma(x)|)", "ft.tensor([1, 0.5, 10]).lgamma() // [0, 0.5723649, 12.801827]", "", "lgamma"), ..FLOAT },
    OpDef { name: "digamma", lower: Lowering::Map(|b, x, _| b.call(MathFn::Digamma, x)),
        doc: doc("Derivative of the logarithm of the gamma function of each element; NaN at negative integers.", "d/dx ln(gamma(x))", "ft.tensor([1, 0.5]).digamma() // [-0.5772157, -1.96351]", "", "digamma"), ..FLOAT },
    OpDef { name: "gamma", lower: Lowering::Map(|b, x, _| b.call(MathFn::Gamma, x)),
        doc: doc("Gamma function of each element; infinite at 0, NaN at negative integers.", "integral of t^(x - 1) e^-t from 0 to Infinity", "ft.tensor([5, 0.5]).gamma() // [24, 1.7724539]", "", ""), ..FLOAT },
    OpDef { name: "i0", lower: Lowering::Map(|b, x, _| b.call(MathFn::I0, x)),
        doc: doc("Modified Bessel function of the first kind of order 0 of each element.", "sum_k (x^2 / 4)^k / k!^2", "ft.tensor([0, 1]).i0() // [1, 1.2660658]", "i0", "i0"), ..FLOAT },
    OpDef { name: "i0e", lower: Lowering::Map(|b, x, _| b.call(MathFn::I0e, x)),
        doc: doc("Modified Bessel function of the first kind of order 0 of each element, times e^-|x|, which keeps it finite.", "e^-|x| i0(x)", "ft.tensor([0, 1000]).i0e() // [1, 0.012617241]", "", "special.i0e"), ..FLOAT },
    OpDef { name: "i1", lower: Lowering::Map(|b, x, _| b.call(MathFn::I1, x)),
        doc: doc("Modified Bessel function of the first kind of order 1 of each element.", "x / 2 * sum_k (x^2 / 4)^k / (k! (k + 1)!)", "ft.tensor([0, 1]).i1() // [0, 0.5651591]", "", "special.i1"), ..FLOAT },
    OpDef { name: "i1e", lower: Lowering::Map(|b, x, _| b.call(MathFn::I1e, x)),
        doc: doc("Modified Bessel function of the first kind of order 1 of each element, times e^-|x|, which keeps it finite.", "e^-|x| i1(x)", "ft.tensor([0, 1000]).i1e() // [0, 0.01261093]", "", "special.i1e"), ..FLOAT },
    OpDef { name: "erfcx", lower: Lowering::Map(|b, x, _| b.call(MathFn::Erfcx, x)),
        doc: doc("Scaled complementary error function of each element, which does not underflow.", "e^(x^2) erfc(x)", "ft.tensor([0, 100]).erfcx() // [1, 0.005641614]", "", "special.erfcx"), ..FLOAT },
    OpDef { name: "logNdtr", lower: Lowering::Map(|b, x, _| b.call(MathFn::LogNdtr, x)),
        doc: doc("Logarithm of the distribution function of the standard normal distribution, where that itself would be 0 or 1 too.", "ln(ndtr(x))", "ft.tensor([0, -100]).logNdtr() // [-0.6931472, -5005.5244]", "", "special.log_ndtr"), ..FLOAT },
    OpDef { name: "ndtri", domain: Domain::Unit, lower: Lowering::Map(|b, x, _| b.call(MathFn::Ndtri, x)),
        doc: doc("Quantile of the standard normal distribution at each element, the inverse of ndtr; infinite at 0 and 1, NaN outside.", "y with ndtr(y) = x", "ft.tensor([0.5, 0.975]).ndtri() // [0, 1.959964]", "", "special.ndtri"), ..FLOAT },
    OpDef { name: "isnan", lower: Lowering::Map(IS_NAN),
        doc: doc("Whether each element is NaN.", "x != x", "ft.tensor([1, NaN]).isnan() // [false, true]", "isnan", "isnan"), ..PREDICATE },
    OpDef { name: "isfinite", lower: Lowering::Map(IS_FINITE),
        doc: doc("Whether each element is neither infinite nor NaN.", "|x| < Infinity", "ft.tensor([1, Infinity]).isfinite() // [true, false]", "isfinite", "isfinite"), ..PREDICATE },
    OpDef { name: "isinf", lower: Lowering::Map(IS_INF),
        doc: doc("Whether each element is infinite; of complex numbers, whether a part is.", "|x| == Infinity", "ft.tensor([1, -Infinity]).isinf() // [false, true]", "isinf", "isinf"), ..PREDICATE },
    OpDef { name: "isposinf", lower: Lowering::Map(|b, x, _| is_end(b, x[0], f64::INFINITY)), dtype: DTypeRule::new(Class::RealOrBool, Compute::Own, Out::Bool),
        doc: doc("Whether each element is Infinity.", "x == Infinity", "ft.tensor([1, Infinity, -Infinity]).isposinf() // [false, true, false]", "isposinf", "isposinf"), ..PREDICATE },
    OpDef { name: "isneginf", lower: Lowering::Map(|b, x, _| is_end(b, x[0], f64::NEG_INFINITY)), dtype: DTypeRule::new(Class::RealOrBool, Compute::Own, Out::Bool),
        doc: doc("Whether each element is -Infinity.", "x == -Infinity", "ft.tensor([1, Infinity, -Infinity]).isneginf() // [false, false, true]", "isneginf", "isneginf"), ..PREDICATE },
    OpDef { name: "logicalNot", lower: Lowering::Map(LOGICAL_NOT),
        doc: doc("Whether each element is zero.", "x == 0", "ft.tensor([1, 0]).logicalNot() // [false, true]", "logical_not", "logical_not"), ..PREDICATE },
];
