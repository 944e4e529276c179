//! Activation functions of neural networks. Half floats compute in float32 and round once.

use super::rows::{doc, unary, weak};
use crate::def::{AttrDef, AttrKind, ErrorCase, Form, Lowering, Namespace, OpDef, ParamDef, ParamKind};
use crate::dtype_rule::{Class, Compute, Out};
use crate::gradient::{Gradient, partials};
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::Result;
use ferrotensor_core::error::Code;
use ferrotensor_core::planted;
use ferrotensor_core::scalar::{Builder, MathFn, Op, Value};
use std::f64::consts::PI;

/// What happens to one element, its numbers behind it, in float32 or float64.
type Activation = fn(&mut Builder, &[Value]) -> Value;

const ONE: OpDef =
    OpDef { namespace: Namespace::Nn, form: Form::Function, ..unary(Class::RealOrBool, Compute::Float, Out::Compute) };

/// A row of one function.
macro_rules! activation {
    ($f:expr) => {
        Lowering::Map(|b, x, d| {
            const F: Activation = $f;
            let wide: Vec<Value> = x.iter().map(|&v| b.cast(v, d.compute())).collect();
            let out = F(b, &wide);
            b.cast(out, d)
        })
    };
}

fn lit(b: &mut Builder, x: Value, value: f64) -> Value {
    b.lit(b.dtype(x), value)
}

/// `x by`.
fn times(b: &mut Builder, x: Value, by: f64) -> Value {
    let by = lit(b, x, by);
    b.binary(Op::Mul, x, by)
}

/// `max(x, 0)`.
fn positive(b: &mut Builder, x: Value) -> Value {
    let zero = lit(b, x, 0.0);
    b.binary(Op::Max, x, zero)
}

/// `min(max(x, low), high)`.
fn between(b: &mut Builder, x: Value, low: f64, high: f64) -> Value {
    let (low, high) = (lit(b, x, low), lit(b, x, high));
    let x = b.binary(Op::Max, x, low);
    b.binary(Op::Min, x, high)
}

/// `yes` where x is positive, `no` elsewhere; NaN goes to `no`.
fn by_sign(b: &mut Builder, x: Value, yes: Value, no: Value) -> Value {
    let zero = lit(b, x, 0.0);
    let positive = b.compare(Op::Lt, zero, x);
    b.select(positive, yes, no)
}

/// `ln(1 + e^x)`, without overflow.
fn softplus(b: &mut Builder, x: Value) -> Value {
    let size = b.unary(Op::Abs, x);
    let minus = b.unary(Op::Neg, size);
    let exp = b.call(MathFn::Exp, &[minus]);
    let (rest, most) = (b.call(MathFn::Log1p, &[exp]), positive(b, x));
    b.binary(Op::Add, most, rest)
}

/// `scale (x for x > 0, alpha (e^(x / over) - 1) elsewhere)`.
fn exponential(b: &mut Builder, x: Value, alpha: Value, over: Option<Value>) -> Value {
    let exponent = over.map_or(x, |over| b.binary(Op::Div, x, over));
    let exp = b.call(MathFn::Expm1, &[exponent]);
    let low = b.binary(Op::Mul, alpha, exp);
    by_sign(b, x, x, low)
}

const SELU: Activation = |b, x| {
    // Klambauer et al. (2017), arXiv:1706.02515, equation 14.
    let alpha = lit(b, x[0], 1.673_263_242_354_377_2);
    let out = exponential(b, x[0], alpha, None);
    times(b, out, 1.050_700_987_355_480_5)
};

const HARD_SIGMOID: Activation = |b, x| {
    let (three, six) = (lit(b, x[0], 3.0), lit(b, x[0], 6.0));
    let moved = b.binary(Op::Add, x[0], three);
    let limited = between(b, moved, 0.0, 6.0);
    b.binary(Op::Div, limited, six)
};

const HARD_SWISH: Activation = |b, x| {
    let (three, six) = (lit(b, x[0], 3.0), lit(b, x[0], 6.0));
    let moved = b.binary(Op::Add, x[0], three);
    let limited = between(b, moved, 0.0, 6.0);
    let product = b.binary(Op::Mul, x[0], limited);
    b.binary(Op::Div, product, six)
};

const HARD_SHRINK: Activation = |b, x| {
    let (size, zero) = (b.unary(Op::Abs, x[0]), lit(b, x[0], 0.0));
    let small = b.compare(Op::Le, size, x[1]);
    b.select(small, zero, x[0])
};

const SOFT_SHRINK: Activation = |b, x| {
    let zero = lit(b, x[0], 0.0);
    let minus = b.unary(Op::Neg, x[1]);
    let (above, below) = (b.compare(Op::Lt, x[1], x[0]), b.compare(Op::Lt, x[0], minus));
    let (less, more) = (b.binary(Op::Sub, x[0], x[1]), b.binary(Op::Add, x[0], x[1]));
    // NaN stays what it is.
    let number = b.compare(Op::Eq, x[0], x[0]);
    let rest = b.select(number, zero, x[0]);
    let rest = b.select(below, more, rest);
    b.select(above, less, rest)
};

fn gelu(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, wide, out) = (l.operand(0)?, l.compute().compute(), l.out_dtype(0));
    let (dims, tanh) = (l.dims(x), l.attrs().int("approximate") == 1);
    Ok(vec![l.map(&dims, &[x], |b, v| {
        let x = b.cast(v[0], wide);
        let y = if tanh {
            let square = b.binary(Op::Mul, x, x);
            let cubic = times(b, square, 0.044715);
            let one = lit(b, x, 1.0);
            let (cubic, linear) = (b.binary(Op::Add, cubic, one), times(b, x, (2.0 / PI).sqrt()));
            let inner = b.binary(Op::Mul, cubic, linear);
            let tanh = b.call(MathFn::Tanh, &[inner]);
            let (half, twice) = (times(b, x, 0.5), b.binary(Op::Add, tanh, one));
            b.binary(Op::Mul, half, twice)
        } else {
            b.call(MathFn::Gelu, &[x])
        };
        b.cast(y, out)
    })?])
}

/// The share of x that is passed on, and how much x moves it: of the hyperbolic tangent t of u(x) `(1 + t) / 2 + x (1 - t^2) u'(x) / 2`.
fn gelu_back(l: &mut Lower, _: &[Val], g: &[Option<Val>]) -> Result<Option<Vec<Option<Val>>>> {
    let Some(g) = g[0] else { return Ok(Some(vec![None])) };
    let (x, g, tanh) = (l.operand(0)?, l.widened(g)?, l.attrs().int("approximate") == 1);
    let (dims, wide, out) = (l.dims(x), l.dtype(g), l.dtype(x));
    let g = l.map(&dims, &[x, g], |b, v| {
        let x = b.cast(v[0], wide);
        let x = partials::limited(b, x);
        let slope = if tanh {
            let (square, one) = (b.binary(Op::Mul, x, x), lit(b, x, 1.0));
            let (cubic, steep) = (times(b, square, 0.044715), times(b, square, 3.0 * 0.044715));
            let (cubic, steep) = (b.binary(Op::Add, cubic, one), b.binary(Op::Add, steep, one));
            let (linear, steep) = (times(b, x, (2.0 / PI).sqrt()), times(b, steep, (2.0 / PI).sqrt()));
            let inner = b.binary(Op::Mul, cubic, linear);
            let tanh = b.call(MathFn::Tanh, &[inner]);
            let square = b.binary(Op::Mul, tanh, tanh);
            let (share, rest) = (b.binary(Op::Add, tanh, one), b.binary(Op::Sub, one, square));
            let (share, moved) = (times(b, share, 0.5), times(b, x, 0.5));
            let moved = b.binary(Op::Mul, moved, steep);
            let moved = b.binary(Op::Mul, moved, rest);
            b.binary(Op::Add, share, moved)
        } else {
            let share = b.call(MathFn::Ndtr, &[x]);
            let (square, density) = (b.binary(Op::Mul, x, x), (0.5 / PI).sqrt());
            let exponent = times(b, square, -0.5);
            let density = {
                let exp = b.call(MathFn::Exp, &[exponent]);
                times(b, exp, density)
            };
            let moved = b.binary(Op::Mul, x, density);
            b.binary(Op::Add, share, moved)
        };
        let g = b.binary(Op::Mul, v[1], slope);
        b.cast(g, out)
    })?;
    Ok(Some(vec![Some(g)]))
}

const fn number(name: &'static str, default: f64) -> ParamDef {
    ParamDef { name, default: Some(default), kind: ParamKind::Number }
}

const APPROXIMATE: &[AttrDef] =
    &[AttrDef { name: "approximate", kind: AttrKind::Choice(&["none", "tanh"]), positional: false }];

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "relu6", gradient: Gradient::Partials(partials::RELU6), lower: activation!(|b, x| between(b, x[0], 0.0, 6.0)),
        doc: doc("Rectified linear unit that stops at 6; NaN stays NaN.", "min(max(x, 0), 6)", "ft.nn.relu6(ft.tensor([-1, 3, 8])) // [0, 3, 6]", "", "nn.functional.relu6"), ..ONE },
    OpDef { name: "leakyRelu", params: &[number("negativeSlope", 0.01)], lower: activation!(|b, x| { let low = b.binary(Op::Mul, x[0], x[1]); by_sign(b, x[0], x[0], low) }),
        doc: doc("Rectified linear unit with a slope below 0.", "x for x > 0, negativeSlope x elsewhere", "ft.nn.leakyRelu(ft.tensor([-1, 3]), { negativeSlope: 0.5 }) // [-0.5, 3]", "", "nn.functional.leaky_relu"), ..ONE },
    OpDef { name: "prelu", operands: &[weak("x"), weak("weight")], shape: shape::broadcast, lower: activation!(|b, x| { let low = b.binary(Op::Mul, x[0], x[1]); by_sign(b, x[0], x[0], low) }),
        doc: doc("Rectified linear unit with a learnt slope below 0; the slopes broadcast with x.", "x for x > 0, weight x elsewhere", "ft.nn.prelu(ft.tensor([-2, 3]), ft.tensor([0.25, 7])) // [-0.5, 3]", "", "nn.functional.prelu"), ..ONE },
    OpDef { name: "elu", params: &[number("alpha", 1.0)], lower: activation!(|b, x| exponential(b, x[0], x[1], None)),
        doc: doc("Exponential linear unit.", "x for x > 0, alpha (e^x - 1) elsewhere", "ft.nn.elu(ft.tensor([-1, 3])) // [-0.63212055, 3]", "", "nn.functional.elu"), ..ONE },
    OpDef { name: "celu", params: &[number("alpha", 1.0)], lower: activation!(|b, x| exponential(b, x[0], x[1], Some(x[1]))),
        doc: doc("Exponential linear unit with a continuous derivative for every alpha.", "x for x > 0, alpha (e^(x / alpha) - 1) elsewhere", "ft.nn.celu(ft.tensor([-1, 3]), { alpha: 2 }) // [-0.78693867, 3]", "", "nn.functional.celu"), ..ONE },
    OpDef { name: "selu", lower: activation!(SELU),
        doc: doc("Exponential linear unit that keeps mean 0 and variance 1.", "1.0507 (x for x > 0, 1.6733 (e^x - 1) elsewhere)", "ft.nn.selu(ft.tensor([-1, 3])) // [-1.1113307, 3.152103]", "", "nn.functional.selu"), ..ONE },
    OpDef { name: "gelu", gradient: Gradient::Rule(gelu_back), attrs: APPROXIMATE, lower: Lowering::Graph(gelu),
        doc: doc("Gaussian error linear unit: exact, or by the usual approximation with tanh.", "x/2 (1 + erf(x / sqrt 2)), or x/2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))", "ft.nn.gelu(ft.tensor([-1, 3])) // [-0.15865526, 2.99595]", "", "nn.functional.gelu"), ..ONE },
    OpDef { name: "silu", gradient: Gradient::Partials(partials::SILU), lower: activation!(|b, x| { let y = b.call(MathFn::Sigmoid, x); b.binary(Op::Mul, x[0], y) }),
        doc: doc("Sigmoid linear unit (swish).", "x / (1 + e^-x)", "ft.nn.silu(ft.tensor([-1, 3])) // [-0.26894143, 2.8577224]", "", "nn.functional.silu"), ..ONE },
    OpDef { name: "mish", gradient: Gradient::Partials(partials::MISH), lower: activation!(|b, x| { let y = softplus(b, x[0]); let y = b.call(MathFn::Tanh, &[y]); b.binary(Op::Mul, x[0], y) }),
        doc: doc("Mish.", "x tanh(ln(1 + e^x))", "ft.nn.mish(ft.tensor([-1, 3])) // [-0.30340144, 2.986535]", "", "nn.functional.mish"), ..ONE },
    OpDef { name: "softplus", gradient: Gradient::Partials(partials::SOFTPLUS), params: &[number("beta", 1.0)], lower: activation!(|b, x| { let y = b.binary(Op::Mul, x[1], x[0]); let y = softplus(b, y); b.binary(Op::Div, y, x[1]) }),
        doc: doc("Smooth rectified linear unit, without overflow.", "ln(1 + e^(beta x)) / beta", "ft.nn.softplus(ft.tensor([0, 100])) // [0.6931472, 100]", "", "nn.functional.softplus"), ..ONE },
    OpDef { name: "logSigmoid", gradient: Gradient::Partials(partials::LOG_SIGMOID), lower: activation!(|b, x| { let y = b.unary(Op::Neg, x[0]); let y = softplus(b, y); b.unary(Op::Neg, y) }),
        doc: doc("Natural logarithm of the logistic function, without overflow.", "-ln(1 + e^-x)", "ft.nn.logSigmoid(ft.tensor([0, -100])) // [-0.6931472, -100]", "", "nn.functional.logsigmoid"), ..ONE },
    OpDef { name: "softsign", lower: activation!(|b, x| { let one = if planted::is("a-definition-changes") { 2.0 } else { 1.0 }; let (one, size) = (lit(b, x[0], one), b.unary(Op::Abs, x[0])); let y = b.binary(Op::Add, one, size); b.binary(Op::Div, x[0], y) }),
        doc: doc("Softsign.", "x / (1 + |x|)", "ft.nn.softsign(ft.tensor([-1, 3])) // [-0.5, 0.75]", "", "nn.functional.softsign"), ..ONE },
    OpDef { name: "tanhshrink", lower: activation!(|b, x| { let y = b.call(MathFn::Tanh, x); b.binary(Op::Sub, x[0], y) }),
        doc: doc("Each element less its hyperbolic tangent.", "x - tanh(x)", "ft.nn.tanhshrink(ft.tensor([-1, 3])) // [-0.23840584, 2.0049453]", "", "nn.functional.tanhshrink"), ..ONE },
    OpDef { name: "hardtanh", gradient: Gradient::Partials(partials::HARDTANH), params: &[number("min", -1.0), number("max", 1.0)], lower: activation!(|b, x| { let y = b.binary(Op::Max, x[0], x[1]); b.binary(Op::Min, y, x[2]) }),
        doc: doc("Each element limited to a range; NaN stays NaN.", "min(max(x, min), max)", "ft.nn.hardtanh(ft.tensor([-2, 0.5])) // [-1, 0.5]", "", "nn.functional.hardtanh"), ..ONE },
    OpDef { name: "hardsigmoid", gradient: Gradient::Partials(partials::HARDSIGMOID), lower: activation!(HARD_SIGMOID),
        doc: doc("Logistic function made of three straight lines.", "min(max(x + 3, 0), 6) / 6", "ft.nn.hardsigmoid(ft.tensor([-4, 0, 1.5])) // [0, 0.5, 0.75]", "", "nn.functional.hardsigmoid"), ..ONE },
    OpDef { name: "hardswish", gradient: Gradient::Partials(partials::HARDSWISH), lower: activation!(HARD_SWISH),
        doc: doc("Swish with a logistic function made of three straight lines.", "x min(max(x + 3, 0), 6) / 6", "ft.nn.hardswish(ft.tensor([-4, 3, 1])) // [0, 3, 0.6666667]", "", "nn.functional.hardswish"), ..ONE },
    OpDef { name: "hardshrink", params: &[number("lambda", 0.5)], lower: activation!(HARD_SHRINK),
        doc: doc("Zero where an element is at most lambda in size, itself elsewhere.", "0 for |x| <= lambda, x elsewhere", "ft.nn.hardshrink(ft.tensor([-0.25, 3])) // [0, 3]", "", "nn.functional.hardshrink"), ..ONE },
    OpDef { name: "softshrink", params: &[ParamDef { name: "lambda", default: Some(0.5), kind: ParamKind::NotNegative }], errors: &[ErrorCase { call: "ft.nn.softshrink(ft.zeros([2]), { lambda: -1 })", code: Code::Argument }], lower: activation!(SOFT_SHRINK),
        doc: doc("Each element moved towards zero by lambda, which is not negative, and no further.", "sign(x) max(|x| - lambda, 0)", "ft.nn.softshrink(ft.tensor([-0.25, 3])) // [0, 2.5]", "", "nn.functional.softshrink"), ..ONE },
];
