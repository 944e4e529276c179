//! Elementwise functions of one operand.

use super::rows::{doc, unary};
use crate::def::{Domain, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, Out};
use crate::lower::MapFn;
use ferrotensor_core::DType;
use ferrotensor_core::scalar::{Builder, MathFn, Op, Value};

const NUMERIC: OpDef = unary(Class::Real, Compute::Own, Out::Compute);
const FLOAT: OpDef = unary(Class::RealOrBool, Compute::Float, Out::Compute);
const PREDICATE: OpDef = unary(Class::RealOrBool, Compute::Own, Out::Bool);

/// Rounding functions leave integers as they are.
fn rounding(b: &mut Builder, x: Value, op: Op) -> Value {
    if b.dtype(x).is_float() { b.unary(op, x) } else { x }
}

fn call(f: MathFn) -> impl Fn(&mut Builder, &[Value], DType) -> Value {
    move |b, x, _| b.call(f, x)
}

const EXP: MapFn = |b, x, d| call(MathFn::Exp)(b, x, d);
const LOG: MapFn = |b, x, d| call(MathFn::Log)(b, x, d);
const TANH: MapFn = |b, x, d| call(MathFn::Tanh)(b, x, d);
const SIGMOID: MapFn = |b, x, d| call(MathFn::Sigmoid)(b, x, d);
const SIN: MapFn = |b, x, d| call(MathFn::Sin)(b, x, d);
const COS: MapFn = |b, x, d| call(MathFn::Cos)(b, x, d);
const ERF: MapFn = |b, x, d| call(MathFn::Erf)(b, x, d);

const SIGN: MapFn = |b, x, d| {
    let (zero, one) = (b.lit(d, 0.0), b.lit(d, 1.0));
    let positive = b.compare(Op::Lt, zero, x[0]);
    if d.kind() == ferrotensor_core::Kind::Unsigned {
        return b.select(positive, one, zero);
    }
    let minus = b.lit(d, -1.0);
    let negative = b.compare(Op::Lt, x[0], zero);
    // x itself where it is neither: zero with its sign, or NaN.
    let rest = b.select(negative, minus, x[0]);
    b.select(positive, one, rest)
};

const RSQRT: MapFn = |b, x, d| {
    let (one, root) = (b.lit(d, 1.0), b.unary(Op::Sqrt, x[0]));
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
    if b.dtype(x[0]).is_float() { b.compare(Op::Ne, x[0], x[0]) } else { b.lit(DType::Bool, 0.0) }
};

const IS_FINITE: MapFn = |b, x, _| {
    let d = b.dtype(x[0]);
    if !d.is_float() {
        return b.lit(DType::Bool, 1.0);
    }
    let (size, infinity) = (b.unary(Op::Abs, x[0]), b.lit(d, f64::INFINITY));
    b.compare(Op::Lt, size, infinity)
};

const LOGICAL_NOT: MapFn = |b, x, _| {
    let truth = b.cast(x[0], DType::Bool);
    b.unary(Op::Not, truth)
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "negative", aliases: &["neg"], lower: Lowering::Map(|b, x, _| b.unary(Op::Neg, x[0])),
        doc: doc("Negates each element; integers wrap.", "-x", "ft.tensor([1, -2]).negative() // [-1, 2]", "negative", "neg"), ..NUMERIC },
    OpDef { name: "abs", lower: Lowering::Map(|b, x, _| b.unary(Op::Abs, x[0])),
        doc: doc("Absolute value of each element.", "|x|", "ft.tensor([1, -2]).abs() // [1, 2]", "abs", "abs"), ..NUMERIC },
    OpDef { name: "sign", lower: Lowering::Map(SIGN),
        doc: doc("Sign of each element: -1, 0 or 1; NaN stays NaN.", "x < 0 ? -1 : x > 0 ? 1 : x", "ft.tensor([3, -2, 0]).sign() // [1, -1, 0]", "sign", "sign"), ..NUMERIC },
    OpDef { name: "square", lower: Lowering::Map(|b, x, _| b.binary(Op::Mul, x[0], x[0])),
        doc: doc("Square of each element.", "x * x", "ft.tensor([3, -2]).square() // [9, 4]", "square", "square"), ..NUMERIC },
    OpDef { name: "relu", lower: Lowering::Map(RELU),
        doc: doc("Rectified linear unit; NaN stays NaN.", "max(x, 0)", "ft.tensor([3, -2]).relu() // [3, 0]", "", "relu"), ..NUMERIC },
    OpDef { name: "floor", lower: Lowering::Map(|b, x, _| rounding(b, x[0], Op::Floor)),
        doc: doc("Largest integral value not above each element; integers stay as they are.", "floor(x)", "ft.tensor([1.5, -1.5]).floor() // [1, -2]", "floor", "floor"), ..NUMERIC },
    OpDef { name: "ceil", lower: Lowering::Map(|b, x, _| rounding(b, x[0], Op::Ceil)),
        doc: doc("Smallest integral value not below each element; integers stay as they are.", "ceil(x)", "ft.tensor([1.5, -1.5]).ceil() // [2, -1]", "ceil", "ceil"), ..NUMERIC },
    OpDef { name: "round", lower: Lowering::Map(|b, x, _| rounding(b, x[0], Op::Round)),
        doc: doc("Nearest integral value, ties to even; integers stay as they are.", "round(x)", "ft.tensor([0.5, 1.5, -2.4]).round() // [0, 2, -2]", "round", "round"), ..NUMERIC },
    OpDef { name: "sqrt", domain: Domain::Positive, lower: Lowering::Map(|b, x, _| b.unary(Op::Sqrt, x[0])),
        doc: doc("Square root of each element, correctly rounded; NaN below zero.", "sqrt(x)", "ft.tensor([4, 9]).sqrt() // [2, 3]", "sqrt", "sqrt"), ..FLOAT },
    OpDef { name: "rsqrt", domain: Domain::Positive, lower: Lowering::Map(RSQRT),
        doc: doc("Reciprocal of the square root of each element.", "1 / sqrt(x)", "ft.tensor([4, 16]).rsqrt() // [0.5, 0.25]", "", "rsqrt"), ..FLOAT },
    OpDef { name: "reciprocal", domain: Domain::NonZero, lower: Lowering::Map(RECIPROCAL),
        doc: doc("Reciprocal of each element.", "1 / x", "ft.tensor([4, -2]).reciprocal() // [0.25, -0.5]", "reciprocal", "reciprocal"), ..FLOAT },
    OpDef { name: "exp", lower: Lowering::Map(EXP),
        doc: doc("Exponential of each element.", "e^x", "ft.tensor([0, 1]).exp() // [1, 2.7182817]", "exp", "exp"), ..FLOAT },
    OpDef { name: "log", domain: Domain::Positive, lower: Lowering::Map(LOG),
        doc: doc("Natural logarithm of each element; -Infinity at 0, NaN below.", "ln(x)", "ft.tensor([1, 10]).log() // [0, 2.3025851]", "log", "log"), ..FLOAT },
    OpDef { name: "tanh", lower: Lowering::Map(TANH),
        doc: doc("Hyperbolic tangent of each element.", "(e^x - e^-x) / (e^x + e^-x)", "ft.tensor([0, 1]).tanh() // [0, 0.7615942]", "tanh", "tanh"), ..FLOAT },
    OpDef { name: "sigmoid", lower: Lowering::Map(SIGMOID),
        doc: doc("Logistic function of each element.", "1 / (1 + e^-x)", "ft.tensor([0, 2]).sigmoid() // [0.5, 0.8807971]", "", "sigmoid"), ..FLOAT },
    OpDef { name: "sin", lower: Lowering::Map(SIN),
        doc: doc("Sine of each element, in radians.", "sin(x)", "ft.tensor([0, 1]).sin() // [0, 0.8414710]", "sin", "sin"), ..FLOAT },
    OpDef { name: "cos", lower: Lowering::Map(COS),
        doc: doc("Cosine of each element, in radians.", "cos(x)", "ft.tensor([0, 1]).cos() // [1, 0.5403023]", "cos", "cos"), ..FLOAT },
    OpDef { name: "erf", lower: Lowering::Map(ERF),
        doc: doc("Error function of each element.", "2 / sqrt(pi) * integral of e^(-t^2) from 0 to x", "ft.tensor([0, 1]).erf() // [0, 0.8427008]", "", "erf"), ..FLOAT },
    OpDef { name: "isnan", lower: Lowering::Map(IS_NAN),
        doc: doc("Whether each element is NaN.", "x != x", "ft.tensor([1, NaN]).isnan() // [false, true]", "isnan", "isnan"), ..PREDICATE },
    OpDef { name: "isfinite", lower: Lowering::Map(IS_FINITE),
        doc: doc("Whether each element is neither infinite nor NaN.", "|x| < Infinity", "ft.tensor([1, Infinity]).isfinite() // [true, false]", "isfinite", "isfinite"), ..PREDICATE },
    OpDef { name: "logicalNot", lower: Lowering::Map(LOGICAL_NOT),
        doc: doc("Whether each element is zero.", "x == 0", "ft.tensor([1, 0]).logicalNot() // [false, true]", "logical_not", "logical_not"), ..PREDICATE },
];
