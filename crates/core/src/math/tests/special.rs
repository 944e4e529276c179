//! Special values as in C99, annex F.10, in both precisions.

use super::super::call;
use crate::scalar::MathFn::{self, *};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// (function, x, result).
const UNARY: &[(MathFn, f64, f64)] = &[
    (Exp, 0.0, 1.0),
    (Exp, -0.0, 1.0),
    (Exp, INF, INF),
    (Exp, -INF, 0.0),
    (Exp, 1e4, INF),
    (Exp, -1e4, 0.0),
    (Log, 1.0, 0.0),
    (Log, 0.0, -INF),
    (Log, -0.0, -INF),
    (Log, INF, INF),
    (Log, -1.0, NAN),
    (Log, -1e-40, NAN),
    (Log, -INF, NAN),
    (Tanh, 0.0, 0.0),
    (Tanh, -0.0, -0.0),
    (Tanh, INF, 1.0),
    (Tanh, -INF, -1.0),
    (Tanh, 1e-320, 1e-320),
    (Sigmoid, 0.0, 0.5),
    (Sigmoid, -0.0, 0.5),
    (Sigmoid, INF, 1.0),
    (Sigmoid, -INF, 0.0),
    (Sin, 0.0, 0.0),
    (Sin, -0.0, -0.0),
    (Sin, -1e-320, -1e-320),
    (Sin, INF, NAN),
    (Sin, -INF, NAN),
    (Cos, 0.0, 1.0),
    (Cos, -0.0, 1.0),
    (Cos, INF, NAN),
    (Cos, -INF, NAN),
    (Erf, 0.0, 0.0),
    (Erf, -0.0, -0.0),
    (Erf, INF, 1.0),
    (Erf, -INF, -1.0),
    (Erf, -7.0, -1.0),
];

/// (x, y, result).
const POW: &[(f64, f64, f64)] = &[
    // 0 to an odd, another, an infinite power.
    (0.0, -3.0, INF),
    (-0.0, -3.0, -INF),
    (0.0, -2.0, INF),
    (-0.0, -2.0, INF),
    (-0.0, -0.5, INF),
    (-0.0, -INF, INF),
    (0.0, 3.0, 0.0),
    (-0.0, 3.0, -0.0),
    (-0.0, 2.0, 0.0),
    (-0.0, 0.5, 0.0),
    (0.0, INF, 0.0),
    // Bases 1 and -1, exponent 0.
    (-1.0, INF, 1.0),
    (-1.0, -INF, 1.0),
    (1.0, INF, 1.0),
    (1.0, NAN, 1.0),
    (NAN, 0.0, 1.0),
    (NAN, -0.0, 1.0),
    (0.0, 0.0, 1.0),
    (INF, 0.0, 1.0),
    (-INF, -0.0, 1.0),
    // Negative bases.
    (-2.0, 0.5, NAN),
    (-1e-40, -0.5, NAN),
    (-2.0, 3.0, -8.0),
    (-2.0, 2.0, 4.0),
    (-2.0, -3.0, -0.125),
    (-1.0, 8_388_607.0, -1.0),
    (-1.0, 16_777_215.0, -1.0),
    (-1.0, 16_777_216.0, 1.0),
    (-1.0, 1e30, 1.0),
    // Infinite exponents.
    (0.5, -INF, INF),
    (-0.5, -INF, INF),
    (2.0, -INF, 0.0),
    (0.5, INF, 0.0),
    (2.0, INF, INF),
    (-2.0, INF, INF),
    // Infinite bases.
    (-INF, -3.0, -0.0),
    (-INF, -2.0, 0.0),
    (-INF, -0.5, 0.0),
    (-INF, 3.0, -INF),
    (-INF, 2.0, INF),
    (-INF, 0.5, INF),
    (INF, -1.0, 0.0),
    (INF, 1.0, INF),
    // NaN, overflow, underflow.
    (NAN, 1.0, NAN),
    (2.0, NAN, NAN),
    (-1.0, NAN, NAN),
    (2.0, 1e30, INF),
    (-3.0, 1_234_567.0, -INF),
    (2.0, -1e30, 0.0),
    (-3.0, -1_234_567.0, -0.0),
    (1e300, 1e300, INF),
];

fn check(f: MathFn, x: f64, y: f64, want: f64) {
    let same = |got: f64, want: f64| got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan());
    let double = call(f, x, y);
    assert!(same(double, want), "float64 {}({x:e}, {y:e}) is {double:e}, not {want:e}", f.name());
    let single = call(f, x as f32, y as f32);
    assert!(same(single as f64, want as f32 as f64), "float32 {}({x:e}, {y:e}) is {single:e}, not {want:e}", f.name());
}

#[test]
fn special_values_are_those_of_c99() {
    for &(f, x, want) in UNARY {
        check(f, x, 0.0, want);
    }
    for &(x, y, want) in POW {
        check(Pow, x, y, want);
    }
    for f in MathFn::ALL {
        check(f, NAN, 3.0, NAN);
    }
}
