//! The hyperbolic tangent, and the corrected quotient it shares with the logistic function.
//!
//! Method: with e^(2|x|) = 2^n (1 + m), tanh |x| = (2^n m + (2^n - 1)) / (2^n m + (2^n + 1)). Both sums keep their
//! rounding errors, so one formula holds from subnormals to saturation.

use super::exp::{Reduced, at_most};
use super::real::Real;

/// (num + num_lo) / (den + den_lo) with about half a unit of error: one division, one Newton correction.
#[inline(always)]
pub(super) fn quotient<V: Real>(num: V, num_lo: V, den: V, den_lo: V) -> V {
    let reciprocal = den.lit(1.0) / den;
    let q = num * reciprocal;
    let rest = (-q).fma(den_lo, (-q).fma(den, num) + num_lo);
    rest.fma(reciprocal, q)
}

/// tanh x. tanh(+-0) = +-0, tanh(+-inf) = +-1.
#[inline(always)]
pub fn tanh<V: Real>(x: V) -> V {
    let a = x.abs();
    // From here on tanh rounds to 1: 2 e^(-2x) < 2^-(MANTISSA + 2).
    let reduced = Reduced::new(at_most(a + a, V::choose(18.1, 38.2)));
    let (m, power) = (reduced.expm1(), reduced.power());
    // 2^n m + (2^n + c) for c = -1 and 1, with what both sums round off.
    let sum = |c: V| {
        let base = power + c;
        let hi = power.fma(m.hi, base);
        (hi, power.fma(m.lo, power.fma(m.hi, base - hi) + ((power - base) + c)))
    };
    let (num, num_lo) = sum(x.lit(-1.0));
    let (den, den_lo) = sum(x.lit(1.0));
    quotient(num, num_lo, den, den_lo).flip(x.sign())
}
