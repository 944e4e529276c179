//! Slopes of Bessel functions and of `erfcx`. Far out the terms of their textbook forms cancel (at 1,000 five digits of float32 are lost) or are both
//! infinite: asymptotic series say there what is left of them.

use super::scalar::negative;
use ferrotensor_core::DType;
use ferrotensor_core::scalar::{Builder, MathFn, Op, Value};
use std::f64::consts::FRAC_2_SQRT_PI;

/// `1 - I1(x) / I0(x)` by powers of `1 / x` from the first on: the quotient of the series 10.40.1 of the NIST handbook. From 30 on what is left
/// out is below 4e-14 of it, from 12 on below 2e-8.
const GAP: [f64; 13] = [
    1.0 / 2.0,
    1.0 / 8.0,
    1.0 / 8.0,
    25.0 / 128.0,
    13.0 / 32.0,
    1073.0 / 1024.0,
    103.0 / 32.0,
    375_733.0 / 32_768.0,
    23_797.0 / 512.0,
    55_384_775.0 / 262_144.0,
    2_180_461.0 / 2_048.0,
    24_713_030_909.0 / 4_194_304.0,
    72_763_141.0 / 2_048.0,
];

/// `(2k + 1)!!` with alternating signs: the series 7.12.1 of the same. From 10 on what is left out is below 2e-15, from 5 on below 3e-8.
const DECAY: [f64; 12] = [
    1.0,
    -3.0,
    15.0,
    -105.0,
    945.0,
    -10_395.0,
    135_135.0,
    -2_027_025.0,
    34_459_425.0,
    -654_729_075.0,
    13_749_310_575.0,
    -316_234_143_225.0,
];

/// Below this a quotient by x is its limit, to the last bit.
const NEAR: f64 = 1.0 / (1 << 27) as f64;

/// `c_0 + c_1 u + c_2 u^2 + ...`.
fn series(b: &mut Builder, u: Value, coefficients: &[f64]) -> Value {
    let d = b.dtype(u);
    let mut total = b.lit(d, 0.0);
    for &c in coefficients.iter().rev() {
        let (product, c) = (b.binary(Op::Mul, total, u), b.lit(d, c));
        total = b.binary(Op::Add, product, c);
    }
    total
}

/// One limit in float32, another in float64.
fn limit(b: &mut Builder, d: DType, single: f64, double: f64) -> Value {
    b.lit(d, if d == DType::F64 { double } else { single })
}

/// What the slopes of Bessel functions are made of, of `a = |x|`.
struct Bessel {
    /// `e^-a I0`.
    even: Value,
    /// `1 - I1 / I0`.
    gap: Value,
    /// `I1 / (a I0)`.
    share: Value,
}

fn bessel(b: &mut Builder, x: Value) -> Bessel {
    let d = b.dtype(x);
    let a = b.unary(Op::Abs, x);
    let (even, odd) = (b.call(MathFn::I0e, &[a]), b.call(MathFn::I1e, &[a]));
    let one = b.lit(d, 1.0);
    let u = b.binary(Op::Div, one, a);
    let sum = series(b, u, &GAP);
    let far = b.binary(Op::Mul, sum, u);
    let difference = b.binary(Op::Sub, even, odd);
    let ratio = b.binary(Op::Div, difference, even);
    let edge = limit(b, d, 12.0, 30.0);
    let is_close = b.compare(Op::Lt, a, edge);
    let gap = b.select(is_close, ratio, far);
    // Near 0 the gap is 1, whose rounding would be divided by a: the share is that of the functions themselves there.
    let (close_ratio, far_ratio) = (b.binary(Op::Div, odd, even), b.binary(Op::Sub, one, far));
    let total = b.select(is_close, close_ratio, far_ratio);
    let (quotient, near, half) = (b.binary(Op::Div, total, a), b.lit(d, NEAR), b.lit(d, 0.5));
    let is_near = b.compare(Op::Lt, a, near);
    let share = b.select(is_near, half, quotient);
    Bessel { even, gap, share }
}

/// Of `I0e`: `-sign x (e^-|x| I0) (1 - I1 / I0)`; 0 at 0, as PyTorch has it.
pub fn i0e(b: &mut Builder, x: Value) -> Value {
    let Bessel { even, gap, .. } = bessel(b, x);
    let size = b.binary(Op::Mul, even, gap);
    let minus = negative(b, size);
    let zero = b.lit(b.dtype(x), 0.0);
    let (below, above) = (b.compare(Op::Lt, x, zero), b.compare(Op::Lt, zero, x));
    // Of NaN the size is NaN.
    let (is_zero, fall) = (b.compare(Op::Eq, x, zero), b.select(above, minus, size));
    let rest = b.select(below, size, fall);
    b.select(is_zero, zero, rest)
}

/// Of `I1`: `I0 - I1 / x`.
pub fn i1(b: &mut Builder, x: Value) -> Value {
    let share = bessel(b, x).share;
    let one = b.lit(b.dtype(x), 1.0);
    let (even, rest) = (b.call(MathFn::I0, &[x]), b.binary(Op::Sub, one, share));
    b.binary(Op::Mul, even, rest)
}

/// Of `I1e`: `(e^-|x| I0) (1 - I1 / I0 - I1 / (|x| I0))`.
pub fn i1e(b: &mut Builder, x: Value) -> Value {
    let Bessel { even, gap, share } = bessel(b, x);
    let rest = b.binary(Op::Sub, gap, share);
    b.binary(Op::Mul, even, rest)
}

/// Of `y = erfcx x`: `2 x y - 2 / sqrt(pi)`.
pub fn erfcx(b: &mut Builder, x: Value, y: Value) -> Value {
    let d = b.dtype(x);
    let twice = b.binary(Op::Add, x, x);
    let (product, level) = (b.binary(Op::Mul, twice, y), b.lit(d, FRAC_2_SQRT_PI));
    let close = b.binary(Op::Sub, product, level);
    // By z = 1 / (2 x^2), as a product of two numbers that do not vanish before it does.
    let (one, half) = (b.lit(d, 1.0), b.lit(d, 0.5));
    let inverse = b.binary(Op::Div, one, x);
    let less = b.binary(Op::Mul, inverse, half);
    let z = b.binary(Op::Mul, less, inverse);
    let sum = series(b, z, &DECAY);
    let size = b.binary(Op::Mul, sum, level);
    let fall = b.binary(Op::Mul, size, z);
    let far = negative(b, fall);
    let edge = limit(b, d, 5.0, 10.0);
    let is_far = b.compare(Op::Lt, edge, x);
    b.select(is_far, far, close)
}
