//! Derivatives of the scalar functions, in their own values where those say it with fewer instructions.

use super::scalar::{negative, sum, times};
use super::special;
use ferrotensor_core::planted;
use ferrotensor_core::scalar::{Builder, MathFn, Op, Value};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, LN_2, LN_10, PI};

/// The tangent of `y = f(x)` for tangents of the arguments.
pub fn tangent(b: &mut Builder, f: MathFn, x: &[Value], y: Value, t: &[Option<Value>]) -> Option<Value> {
    if x.len() == 1 {
        return t[0].map(|t| of_one(b, f, x[0], y, t));
    }
    if t.iter().all(Option::is_none) {
        return None;
    }
    match f {
        MathFn::Pow => {
            let base = t[0].map(|t| {
                let slope = power_by_base(b, x[0], x[1]);
                times(b, t, slope)
            });
            let exponent = t[1].map(|t| {
                let slope = power_by_exponent(b, x[0], x[1], y);
                times(b, t, slope)
            });
            sum(b, base, exponent)
        }
        MathFn::Atan2 => {
            // y = x0, x = x1: (x dy - y dx) / h^2, by the length twice so that no square overflows; 0 at the origin.
            let length = b.call(MathFn::Hypot, &[x[0], x[1]]);
            let (sin, cos) = (b.binary(Op::Div, x[0], length), b.binary(Op::Div, x[1], length));
            let up = t[0].map(|t| times(b, t, cos));
            let along = t[1].map(|t| {
                let t = times(b, t, sin);
                negative(b, t)
            });
            sum(b, up, along).map(|t| {
                let t = b.binary(Op::Div, t, length);
                unless_zero(b, length, t)
            })
        }
        MathFn::Hypot => {
            // 0 where the length is: the direction of nothing, as PyTorch has it for complex numbers.
            let parts = [0, 1].map(|n| {
                t[n].map(|t| {
                    let slope = b.binary(Op::Div, x[n], y);
                    let slope = unless_zero(b, y, slope);
                    times(b, t, slope)
                })
            });
            sum(b, parts[0], parts[1])
        }
        MathFn::Logaddexp | MathFn::Logaddexp2 => {
            // Of -Infinity alone nothing changes it.
            let (gap, nothing) = (b.binary(Op::Sub, x[0], x[1]), b.lit(b.dtype(y), f64::NEG_INFINITY));
            let (nothing, zero) = (b.compare(Op::Eq, y, nothing), b.lit(b.dtype(y), 0.0));
            let parts = [0, 1].map(|n| {
                t[n].map(|t| {
                    let gap = if n == 0 { gap } else { negative(b, gap) };
                    let gap = if f == MathFn::Logaddexp2 {
                        let ln_2 = b.lit(b.dtype(y), LN_2);
                        b.binary(Op::Mul, gap, ln_2)
                    } else {
                        gap
                    };
                    let weight = b.call(MathFn::Sigmoid, &[gap]);
                    let weight = b.select(nothing, zero, weight);
                    times(b, t, weight)
                })
            });
            sum(b, parts[0], parts[1])
        }
        _ => None,
    }
}

/// A slope, and 0 where the length is, which moves as little.
fn unless_zero(b: &mut Builder, length: Value, slope: Value) -> Value {
    let zero = b.lit(b.dtype(length), 0.0);
    let none = b.compare(Op::Eq, length, zero);
    b.select(none, zero, slope)
}

/// `p x^(p - 1)`; 0 where p is.
fn power_by_base(b: &mut Builder, x: Value, p: Value) -> Value {
    let (d, zero) = (b.dtype(x), b.lit(b.dtype(x), 0.0));
    let one = b.lit(d, 1.0);
    let less = b.binary(Op::Sub, p, one);
    let power = b.call(MathFn::Pow, &[x, less]);
    let slope = b.binary(Op::Mul, p, power);
    let none = b.compare(Op::Eq, p, zero);
    b.select(none, zero, slope)
}

/// `y ln x`; 0 where x is and p is not negative.
fn power_by_exponent(b: &mut Builder, x: Value, p: Value, y: Value) -> Value {
    let zero = b.lit(b.dtype(x), 0.0);
    let (none, positive) = (b.compare(Op::Eq, x, zero), b.compare(Op::Le, zero, p));
    let flat = b.binary(Op::And, none, positive);
    let log = b.call(MathFn::Log, &[x]);
    let slope = b.binary(Op::Mul, y, log);
    b.select(flat, zero, slope)
}

fn of_one(b: &mut Builder, f: MathFn, x: Value, y: Value, t: Value) -> Value {
    let d = b.dtype(x);
    let one = b.lit(d, 1.0);
    let by = |b: &mut Builder, v: Value, number: f64| {
        let number = b.lit(d, number);
        b.binary(Op::Mul, v, number)
    };
    let over = |b: &mut Builder, t: Value, v: Value| b.binary(Op::Div, t, v);
    // (1 - v)(1 + v), exact where v is near 1.
    let rest = |b: &mut Builder, v: Value| {
        let (less, more) = (b.binary(Op::Sub, one, v), b.binary(Op::Add, one, v));
        b.binary(Op::Mul, less, more)
    };
    match f {
        MathFn::Exp => times(b, t, y),
        MathFn::Exp2 => {
            let slope = by(b, y, LN_2);
            times(b, t, slope)
        }
        MathFn::Expm1 => {
            let slope = b.binary(Op::Add, y, one);
            times(b, t, slope)
        }
        MathFn::Log => over(b, t, x),
        MathFn::Log1p => {
            let more = b.binary(Op::Add, one, x);
            over(b, t, more)
        }
        MathFn::Log2 | MathFn::Log10 => {
            let scale = by(b, x, if f == MathFn::Log2 { LN_2 } else { LN_10 });
            over(b, t, scale)
        }
        MathFn::Sin => {
            let slope = b.call(MathFn::Cos, &[x]);
            times(b, t, slope)
        }
        MathFn::Cos => {
            let slope = b.call(MathFn::Sin, &[x]);
            let t = times(b, t, slope);
            if planted::is("a-slope-has-the-wrong-sign") { t } else { negative(b, t) }
        }
        MathFn::Tan => {
            let square = b.binary(Op::Mul, y, y);
            let slope = b.binary(Op::Add, one, square);
            times(b, t, slope)
        }
        MathFn::Asin | MathFn::Acos => {
            let square = rest(b, x);
            let root = b.unary(Op::Sqrt, square);
            let t = over(b, t, root);
            if f == MathFn::Acos { negative(b, t) } else { t }
        }
        MathFn::Atan => {
            let square = b.binary(Op::Mul, x, x);
            let more = b.binary(Op::Add, one, square);
            over(b, t, more)
        }
        MathFn::Sinh | MathFn::Cosh => {
            let other = if f == MathFn::Sinh { MathFn::Cosh } else { MathFn::Sinh };
            let slope = b.call(other, &[x]);
            times(b, t, slope)
        }
        MathFn::Tanh => {
            let slope = rest(b, y);
            times(b, t, slope)
        }
        MathFn::Asinh => {
            let length = b.call(MathFn::Hypot, &[x, one]);
            over(b, t, length)
        }
        MathFn::Acosh => {
            let (less, more) = (b.binary(Op::Sub, x, one), b.binary(Op::Add, x, one));
            let (less, more) = (b.unary(Op::Sqrt, less), b.unary(Op::Sqrt, more));
            let root = b.binary(Op::Mul, less, more);
            over(b, t, root)
        }
        MathFn::Atanh => {
            let square = rest(b, x);
            over(b, t, square)
        }
        MathFn::Sigmoid => {
            let less = b.binary(Op::Sub, one, y);
            let slope = b.binary(Op::Mul, y, less);
            times(b, t, slope)
        }
        MathFn::Cbrt => {
            let square = b.binary(Op::Mul, y, y);
            let square = by(b, square, 3.0);
            over(b, t, square)
        }
        MathFn::Erf | MathFn::Erfc => {
            let square = b.binary(Op::Mul, x, x);
            let minus = b.unary(Op::Neg, square);
            let exp = b.call(MathFn::Exp, &[minus]);
            let slope = by(b, exp, if f == MathFn::Erf { FRAC_2_SQRT_PI } else { -FRAC_2_SQRT_PI });
            times(b, t, slope)
        }
        MathFn::Ndtr => {
            let slope = normal_density(b, x);
            times(b, t, slope)
        }
        MathFn::Gelu => {
            let (share, density) = (b.call(MathFn::Ndtr, &[x]), normal_density(b, x));
            let moved = b.binary(Op::Mul, x, density);
            let slope = b.binary(Op::Add, share, moved);
            times(b, t, slope)
        }
        MathFn::Erfinv => {
            let square = b.binary(Op::Mul, y, y);
            let exp = b.call(MathFn::Exp, &[square]);
            let slope = by(b, exp, 1.0 / FRAC_2_SQRT_PI);
            times(b, t, slope)
        }
        MathFn::Lgamma => {
            let slope = b.call(MathFn::Digamma, &[x]);
            times(b, t, slope)
        }
        MathFn::Digamma => {
            let slope = trigamma(b, x);
            times(b, t, slope)
        }
        MathFn::Gamma => {
            let log = b.call(MathFn::Digamma, &[x]);
            let slope = b.binary(Op::Mul, y, log);
            times(b, t, slope)
        }
        MathFn::I0 => {
            let slope = b.call(MathFn::I1, &[x]);
            times(b, t, slope)
        }
        MathFn::I0e => {
            let slope = special::i0e(b, x);
            times(b, t, slope)
        }
        MathFn::I1 => {
            let slope = special::i1(b, x);
            times(b, t, slope)
        }
        MathFn::I1e => {
            let slope = special::i1e(b, x);
            times(b, t, slope)
        }
        MathFn::Erfcx => {
            let slope = special::erfcx(b, x, y);
            times(b, t, slope)
        }
        MathFn::LogNdtr => {
            // The density over ndtr, both times e^(x^2 / 2).
            let turned = by(b, x, -FRAC_1_SQRT_2);
            let ratio = b.call(MathFn::Erfcx, &[turned]);
            let level = b.lit(d, FRAC_2_SQRT_PI * FRAC_1_SQRT_2);
            let slope = b.binary(Op::Div, level, ratio);
            times(b, t, slope)
        }
        MathFn::Ndtri => {
            let density = normal_density(b, y);
            over(b, t, density)
        }
        MathFn::Pow | MathFn::Atan2 | MathFn::Hypot | MathFn::Logaddexp | MathFn::Logaddexp2 => t,
    }
}

/// `e^(-x^2 / 2) / sqrt(2 pi)`, the slope of the normal distribution function.
fn normal_density(b: &mut Builder, x: Value) -> Value {
    let d = b.dtype(x);
    let (minus_half, scale) = (b.lit(d, -0.5), b.lit(d, FRAC_2_SQRT_PI * FRAC_1_SQRT_2 * 0.5));
    let half = b.binary(Op::Mul, x, minus_half);
    let minus = b.binary(Op::Mul, half, x);
    let exp = b.call(MathFn::Exp, &[minus]);
    b.binary(Op::Mul, exp, scale)
}

/// Steps of the recurrence `psi'(x) = psi'(x + 1) + 1 / x^2` before the asymptotic series.
const STEPS: usize = 10;
/// Bernoulli numbers B_2, B_4, ..., B_14: at 10 and above the terms left out are below 2^-53.
const BERNOULLI: [f64; 7] = [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0];

/// The derivative of the digamma function: recurrence, the series 6.4.12 of Abramowitz and Stegun, and below 1/2 the reflection 6.4.7.
fn trigamma(b: &mut Builder, x: Value) -> Value {
    let d = b.dtype(x);
    let (half, one) = (b.lit(d, 0.5), b.lit(d, 1.0));
    let (low, mirrored) = (b.compare(Op::Lt, x, half), b.binary(Op::Sub, one, x));
    let z = b.select(low, mirrored, x);
    let mut total = None;
    for step in 0..STEPS {
        let step = b.lit(d, step as f64);
        let at = b.binary(Op::Add, z, step);
        let square = b.binary(Op::Mul, at, at);
        let term = b.binary(Op::Div, one, square);
        total = sum(b, total, Some(term));
    }
    let steps = b.lit(d, STEPS as f64);
    let far = b.binary(Op::Add, z, steps);
    let inverse = b.binary(Op::Div, one, far);
    let square = b.binary(Op::Mul, inverse, inverse);
    // 1/z + 1/(2 z^2) + sum B_2k / z^(2k + 1), innermost term first.
    let mut series = b.lit(d, 0.0);
    for number in BERNOULLI.iter().rev() {
        let number = b.lit(d, *number);
        let inner = b.binary(Op::Add, number, series);
        series = b.binary(Op::Mul, inner, square);
    }
    let series = b.binary(Op::Add, one, series);
    let series = b.binary(Op::Mul, series, inverse);
    let square = b.binary(Op::Mul, square, half);
    let series = b.binary(Op::Add, series, square);
    let right = sum(b, total, Some(series)).unwrap_or(series);
    // pi^2 / sin^2(pi x), of the distance from the nearest whole number, which is exact.
    let nearest = b.unary(Op::Round, x);
    let off = b.binary(Op::Sub, x, nearest);
    let pi = b.lit(d, PI);
    let angle = b.binary(Op::Mul, pi, off);
    let sin = b.call(MathFn::Sin, &[angle]);
    let ratio = b.binary(Op::Div, pi, sin);
    let ratio = b.binary(Op::Mul, ratio, ratio);
    let left = b.binary(Op::Sub, ratio, right);
    b.select(low, left, right)
}
