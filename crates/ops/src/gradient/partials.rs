//! Slopes of elementwise rows where those of their programs are not what users expect: at kinks, whose conventions are PyTorch's; at
//! points that a program treats by themselves; and of complex functions, whose formulas in parts would be differentiated instruction by
//! instruction.

use super::Partials;
use super::Slope::{self, Derived, Of, Zero};
use super::elementwise::{self, holomorphic};
use super::scalar::{self, scaled, sign, wide};
use crate::complex;
use crate::graph::Val;
use crate::lower::{ABSENT, Elements, Lower};
use ferrotensor_core::Result;
use ferrotensor_core::planted;
use ferrotensor_core::scalar::{Builder, MathFn, Op, Value, simplify};

/// Cotangents of an elementwise row's operands by its slopes; nothing where those are its program's.
pub fn cotangents(
    l: &mut Lower,
    slopes: Partials,
    y: Val,
    g: Option<Val>,
    wrt: &[bool],
) -> Result<Option<Vec<Option<Val>>>> {
    let Some(g) = g else { return Ok(Some(vec![None; l.len()])) };
    let (dims, mut out) = (l.out_dims(0), Vec::new());
    for (n, &wanted) in wrt.iter().enumerate() {
        let Some(v) = l.tensor(n).filter(|&v| wanted && scalar::is_differentiable(l.dtype(v))) else {
            out.push(None);
            continue;
        };
        let mut b = Builder::new();
        let Elements { inputs, params, values } = l.elements(&mut b)?;
        let (result, cotangent) = (b.input(l.dtype(y)), b.input(l.dtype(g)));
        let widened: Vec<Value> =
            values.iter().map(|&x| if x == ABSENT { x } else { b.cast(x, wide(b.dtype(x))) }).collect();
        let known = b.cast(result, wide(b.dtype(result)));
        let slope = match slopes(&mut b, &widened, known, n) {
            Zero => {
                out.push(None);
                continue;
            }
            Derived => return Ok(None),
            Of(slope) => slope,
        };
        let total = if b.dtype(slope).is_complex() {
            holomorphic(&mut b, slope, cotangent)
        } else {
            let g = b.cast(cotangent, b.dtype(slope));
            scaled(&mut b, slope, g)
        };
        let total = b.cast(total, l.dtype(v));
        let program = simplify(&b.finish(&[total]));
        let operands: Vec<Val> = inputs.into_iter().chain([y, g]).collect();
        let g = elementwise::launched(l, &dims, &program, &operands, &params)?;
        out.push(Some(l.summed_to(g, &l.dims(v))?));
    }
    Ok(Some(out))
}

fn lit(b: &mut Builder, like: Value, number: f64) -> Value {
    b.lit(b.dtype(like), number)
}

/// 1 where a condition holds, 0 elsewhere.
fn step(b: &mut Builder, condition: Value, like: Value) -> Slope {
    let (one, zero) = (lit(b, like, 1.0), lit(b, like, 0.0));
    Of(b.select(condition, one, zero))
}

/// 1 between two numbers and 0 at them and beyond, NaN counting as between.
fn inside(b: &mut Builder, x: Value, low: Value, high: Value, slope: f64) -> Slope {
    let (below, above) = (b.compare(Op::Le, x, low), b.compare(Op::Le, high, x));
    let out = b.binary(Op::Or, below, above);
    let (zero, slope) = (lit(b, x, 0.0), lit(b, x, slope));
    Of(b.select(out, zero, slope))
}

/// From here on slopes of sigmoids and of what they weigh are 0 or 1 to the last bit, and an infinite x would make NaN of them.
const LIMIT: f64 = 1000.0;

/// An element, not beyond [`LIMIT`].
pub fn limited(b: &mut Builder, x: Value) -> Value {
    let (low, high) = (lit(b, x, -LIMIT), lit(b, x, LIMIT));
    let x = b.binary(Op::Max, x, low);
    b.binary(Op::Min, x, high)
}

/// `s (1 + x (1 - s))` with s the sigmoid.
pub const SILU: Partials = |b, x, _, _| {
    let (x, one) = (limited(b, x[0]), lit(b, x[0], 1.0));
    let s = b.call(MathFn::Sigmoid, &[x]);
    let rest = b.binary(Op::Sub, one, s);
    let moved = b.fma(x, rest, one);
    Of(b.binary(Op::Mul, s, moved))
};

/// `t + x s (1 - t^2)` with s the sigmoid and t the hyperbolic tangent of the softplus.
pub const MISH: Partials = |b, x, _, _| {
    let (x, one, zero) = (limited(b, x[0]), lit(b, x[0], 1.0), lit(b, x[0], 0.0));
    let (s, softplus) = (b.call(MathFn::Sigmoid, &[x]), b.call(MathFn::Logaddexp, &[x, zero]));
    let t = b.call(MathFn::Tanh, &[softplus]);
    let square = b.binary(Op::Mul, t, t);
    let (rest, weighed) = (b.binary(Op::Sub, one, square), b.binary(Op::Mul, x, s));
    Of(b.fma(weighed, rest, t))
};

/// 0 at 0.
pub const RELU: Partials = |b, x, _, _| {
    let zero = lit(b, x[0], 0.0);
    let below = if planted::is("a-kink-has-another-slope") { Op::Lt } else { Op::Le };
    let flat = b.compare(below, x[0], zero);
    let rising = b.unary(Op::Not, flat);
    step(b, rising, x[0])
};

/// 0 at both ends.
pub const RELU6: Partials = |b, x, _, _| {
    let (zero, six) = (lit(b, x[0], 0.0), lit(b, x[0], 6.0));
    inside(b, x[0], zero, six, 1.0)
};

/// 0 at both ends.
pub const HARDTANH: Partials = |b, x, _, _| inside(b, x[0], x[1], x[2], 1.0);

/// 0 at both ends.
pub const HARDSIGMOID: Partials = |b, x, _, _| {
    let (low, high) = (lit(b, x[0], -3.0), lit(b, x[0], 3.0));
    inside(b, x[0], low, high, 1.0 / 6.0)
};

/// 0 and 1 at the ends.
pub const HARDSWISH: Partials = |b, x, _, _| {
    let (zero, one, third, half) = (lit(b, x[0], 0.0), lit(b, x[0], 1.0), lit(b, x[0], 1.0 / 3.0), lit(b, x[0], 0.5));
    let (low, high) = (lit(b, x[0], -3.0), lit(b, x[0], 3.0));
    let (below, above) = (b.compare(Op::Le, x[0], low), b.compare(Op::Le, high, x[0]));
    let middle = b.fma(x[0], third, half);
    let rest = b.select(above, one, middle);
    Of(b.select(below, zero, rest))
};

/// As PyTorch's `clamp`: bounds that are numbers cut off what is at them, tensors have half of it; where they cross, all goes to the upper
/// one.
pub const CLIP: Partials = |b, x, _, n| {
    let is_number = |b: &Builder, v: Value| {
        let instr = b.instr(v);
        let from = if instr.op == Op::Cast { b.instr(instr.args[0]) } else { instr };
        matches!(from.op, Op::Param(_))
    };
    let (x, bounds) = (x[0], [x[1], x[2]]);
    let there: Vec<usize> = (0..2).filter(|&i| bounds[i] != ABSENT).collect();
    let all = |b: &mut Builder, op: Op, list: &[Value]| list.iter().copied().reduce(|x, y| b.binary(op, x, y));
    // Element and bound in the order in which the bound does not count.
    let pair = |i: usize| if i == 0 { [bounds[0], x] } else { [x, bounds[1]] };
    if n == 0 && there.iter().all(|&i| is_number(b, bounds[i])) {
        let inside: Vec<Value> = there.iter().map(|&i| b.compare(Op::Lt, pair(i)[0], pair(i)[1])).collect();
        return match all(b, Op::And, &inside) {
            Some(inside) => step(b, inside, x),
            None => Of(lit(b, x, 1.0)),
        };
    }
    let ordered = (there.len() == 2).then(|| b.compare(Op::Lt, bounds[0], bounds[1]));
    let crossed = (there.len() == 2).then(|| b.compare(Op::Lt, bounds[1], bounds[0]));
    let beyond = |b: &mut Builder, i: usize| b.compare(Op::Lt, pair(i)[1], pair(i)[0]);
    let ties: Vec<usize> = if n == 0 { there.clone() } else { vec![n - 1] };
    let equal: Vec<Value> = ties.iter().map(|&i| b.compare(Op::Eq, x, bounds[i])).collect();
    let equal = all(b, Op::Or, &equal).map(|tie| ordered.map_or(tie, |ordered| b.binary(Op::And, tie, ordered)));
    let wins = match (n, crossed) {
        (0, _) => {
            let mut lost: Vec<Value> = there.iter().map(|&i| beyond(b, i)).collect();
            lost.extend(crossed);
            all(b, Op::Or, &lost).map(|lost| b.unary(Op::Not, lost))
        }
        (n, None) => {
            // Beside NaN both have it.
            let kept = b.compare(Op::Le, pair(n - 1)[0], pair(n - 1)[1]);
            Some(b.unary(Op::Not, kept))
        }
        (1, Some(crossed)) => {
            let (below, straight) = (beyond(b, 0), b.unary(Op::Not, crossed));
            Some(b.binary(Op::And, below, straight))
        }
        (_, Some(crossed)) => {
            let above = beyond(b, 1);
            Some(b.binary(Op::Or, above, crossed))
        }
    };
    let (zero, half, one) = (lit(b, x, 0.0), lit(b, x, 0.5), lit(b, x, 1.0));
    let whole = wins.map_or(one, |wins| b.select(wins, one, zero));
    Of(equal.map_or(whole, |tie| b.select(tie, half, whole)))
};

/// `1 / (1 + e^-(beta x))`, which has no kink where the row's program has two that cancel.
pub const SOFTPLUS: Partials = |b, x, _, _| {
    let scaled = b.binary(Op::Mul, x[1], x[0]);
    Of(b.call(MathFn::Sigmoid, &[scaled]))
};

/// `1 / (1 + e^x)`, likewise.
pub const LOG_SIGMOID: Partials = |b, x, _, _| {
    let minus = b.unary(Op::Neg, x[0]);
    Of(b.call(MathFn::Sigmoid, &[minus]))
};

/// The next float moves with the first, unless it is the second.
pub const NEXTAFTER: Partials = |b, x, _, n| {
    if n == 1 {
        return Zero;
    }
    let moves = b.compare(Op::Ne, x[0], x[1]);
    step(b, moves, x[0])
};

/// A step; of complex numbers the direction turns.
pub const SIGN: Partials = |b, x, _, _| if b.dtype(x[0]).is_complex() { Derived } else { Zero };

/// Real numbers have no angle that moves.
pub const ANGLE: Partials = SIGN;

/// A step everywhere: where it has the true quotient that one is infinite.
pub const STEPS: Partials = |_, _, _, _| Zero;

/// 1, at multiples of the divisor too.
pub const REMAINDER: Partials = |b, x, y, n| {
    if n == 0 {
        return Of(lit(b, x[0], 1.0));
    }
    let whole = b.binary(Op::Sub, x[0], y);
    let quotient = b.binary(Op::Div, whole, x[1]);
    let quotient = b.unary(Op::Round, quotient);
    // An infinite remainder is the infinite divisor, once.
    let (size, infinity, minus) = (b.unary(Op::Abs, y), lit(b, y, f64::INFINITY), lit(b, y, -1.0));
    let once = b.compare(Op::Eq, size, infinity);
    let quotient = b.select(once, minus, quotient);
    Of(b.unary(Op::Neg, quotient))
};

/// The logarithm of the second, at 0 too, unless that is infinite; and the quotient.
fn times_log(b: &mut Builder, x: &[Value], n: usize, f: MathFn) -> Slope {
    let (zero, one) = (lit(b, x[0], 0.0), lit(b, x[0], 1.0));
    let at = if f == MathFn::Log { x[1] } else { b.binary(Op::Add, one, x[1]) };
    if n == 1 {
        return Of(b.binary(Op::Div, x[0], at));
    }
    let (log, nothing, below) = (b.call(f, &[x[1]]), b.compare(Op::Eq, x[0], zero), b.compare(Op::Le, at, zero));
    let none = b.binary(Op::And, nothing, below);
    Of(b.select(none, zero, log))
}

/// Of `x ln y`.
pub const XLOGY: Partials = |b, x, _, n| times_log(b, x, n, MathFn::Log);
/// 1, at integers too.
pub const FRAC: Partials = |b, x, _, _| Of(lit(b, x[0], 1.0));
/// `-ln(x) - 1`.
pub const ENTR: Partials = |b, x, _, _| {
    let (log, minus) = (b.call(MathFn::Log, &[x[0]]), lit(b, x[0], -1.0));
    Of(b.binary(Op::Sub, minus, log))
};
/// Of `x ln(1 + y)`.
pub const XLOG1PY: Partials = |b, x, _, n| times_log(b, x, n, MathFn::Log1p);

/// 0 at 0, as PyTorch has it, and nothing by the sign.
pub const COPYSIGN: Partials = |b, x, y, n| {
    if n == 1 {
        return Zero;
    }
    let (before, after) = (sign(b, x[0]), sign(b, y));
    Of(b.binary(Op::Mul, before, after))
};

/// Whole exponents of complex powers are a way of their own, in which nothing moves with the exponent: the slope by the base is made of
/// the power itself, which does, unless that is no number or none is left of it.
pub const POW: Partials = |b, x, y, n| {
    let d = b.dtype(x[0]);
    if !d.is_complex() {
        return Derived;
    }
    let (zero, one) = (b.lit(d, 0.0), b.lit(d, 1.0));
    if n == 0 {
        let less = b.binary(Op::Sub, x[1], one);
        let power = complex::pow(b, x[0], less);
        let (quotient, off) = (b.binary(Op::Div, y, x[0]), b.binary(Op::Sub, y, y));
        let (finite, some) = (b.compare(Op::Eq, off, zero), b.compare(Op::Ne, y, zero));
        let ordinary = b.binary(Op::And, finite, some);
        let power = b.select(ordinary, quotient, power);
        let (slope, none) = (b.binary(Op::Mul, x[1], power), b.compare(Op::Eq, x[1], zero));
        return Of(b.select(none, zero, slope));
    }
    let log = complex::call(b, MathFn::Log, x[0]);
    let (slope, none) = (b.binary(Op::Mul, y, log), b.compare(Op::Eq, x[0], zero));
    Of(b.select(none, zero, slope))
};

/// Derivatives of functions that have one in the complex plane; of real numbers those are the derived ones.
fn analytic(b: &mut Builder, x: Value, f: impl FnOnce(&mut Builder, Value, Value) -> Value) -> Slope {
    let d = b.dtype(x);
    if !d.is_complex() {
        return Derived;
    }
    let one = b.lit(d, 1.0);
    Of(f(b, x, one))
}

fn over(b: &mut Builder, one: Value, x: Value) -> Value {
    b.binary(Op::Div, one, x)
}

/// `1 / sqrt(by (1 + times x^2))` as a product of two roots, which have the branch cuts of the function itself.
fn over_roots(b: &mut Builder, one: Value, left: Value, right: Value) -> Value {
    let (left, right) = (complex::sqrt(b, left), complex::sqrt(b, right));
    let product = b.binary(Op::Mul, left, right);
    over(b, one, product)
}

macro_rules! holomorphic {
    ($($(#[$doc:meta])* $name:ident: |$b:ident, $x:ident, $y:ident, $one:ident| $slope:expr;)*) => {$(
        $(#[$doc])*
        pub const $name: Partials = |b, x, y, _| {
            let _ = y;
            analytic(b, x[0], |$b, $x, $one| {
                let ($y, _) = (y, $one);
                let _ = (&$b, $x, $y);
                $slope
            })
        };
    )*};
}

holomorphic! {
    /// `1 / (2 sqrt z)`.
    SQRT: |b, x, y, one| { let twice = b.binary(Op::Add, y, y); over(b, one, twice) };
    /// `-1 / (2 z sqrt z)`.
    RSQRT: |b, x, y, one| { let half = b.lit(b.dtype(x), -0.5); let (cube, by) = (b.binary(Op::Mul, y, y), b.binary(Op::Mul, y, half)); b.binary(Op::Mul, cube, by) };
    /// `e^z`.
    EXP: |b, x, y, one| y;
    /// `e^z`.
    EXPM1: |b, x, y, one| b.binary(Op::Add, y, one);
    /// `1 / z`.
    LOG: |b, x, y, one| over(b, one, x);
    /// `1 / (1 + z)`.
    LOG1P: |b, x, y, one| { let more = b.binary(Op::Add, one, x); over(b, one, more) };
    /// `1 / (z ln 2)`.
    LOG2: |b, x, y, one| { let ln = b.lit(b.dtype(x), std::f64::consts::LN_2); let scale = b.binary(Op::Mul, x, ln); over(b, one, scale) };
    /// `1 / (z ln 10)`.
    LOG10: |b, x, y, one| { let ln = b.lit(b.dtype(x), std::f64::consts::LN_10); let scale = b.binary(Op::Mul, x, ln); over(b, one, scale) };
    /// `cos z`.
    SIN: |b, x, y, one| complex::call(b, MathFn::Cos, x);
    /// `-sin z`.
    COS: |b, x, y, one| { let sin = complex::call(b, MathFn::Sin, x); b.unary(Op::Neg, sin) };
    /// `1 + tan^2 z`.
    TAN: |b, x, y, one| { let square = b.binary(Op::Mul, y, y); b.binary(Op::Add, one, square) };
    /// `cosh z`.
    SINH: |b, x, y, one| complex::call(b, MathFn::Cosh, x);
    /// `sinh z`.
    COSH: |b, x, y, one| complex::call(b, MathFn::Sinh, x);
    /// `1 - tanh^2 z`.
    TANH: |b, x, y, one| { let (less, more) = (b.binary(Op::Sub, one, y), b.binary(Op::Add, one, y)); b.binary(Op::Mul, less, more) };
    /// `1 / sqrt(1 - z^2)`.
    ASIN: |b, x, y, one| { let (less, more) = (b.binary(Op::Sub, one, x), b.binary(Op::Add, one, x)); over_roots(b, one, less, more) };
    /// `-1 / sqrt(1 - z^2)`.
    ACOS: |b, x, y, one| { let (less, more) = (b.binary(Op::Sub, one, x), b.binary(Op::Add, one, x)); let slope = over_roots(b, one, less, more); b.unary(Op::Neg, slope) };
    /// `1 / (1 + z^2)`.
    ATAN: |b, x, y, one| { let square = b.binary(Op::Mul, x, x); let more = b.binary(Op::Add, one, square); over(b, one, more) };
    /// `1 / sqrt(z^2 + 1)`.
    ASINH: |b, x, y, one| { let square = b.binary(Op::Mul, x, x); let more = b.binary(Op::Add, one, square); let root = complex::sqrt(b, more); over(b, one, root) };
    /// `1 / (sqrt(z - 1) sqrt(z + 1))`.
    ACOSH: |b, x, y, one| { let (less, more) = (b.binary(Op::Sub, x, one), b.binary(Op::Add, x, one)); over_roots(b, one, less, more) };
    /// `1 / (1 - z^2)`.
    ATANH: |b, x, y, one| { let (less, more) = (b.binary(Op::Sub, one, x), b.binary(Op::Add, one, x)); let product = b.binary(Op::Mul, less, more); over(b, one, product) };
}
