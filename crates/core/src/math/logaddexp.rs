//! The logarithm of a sum of exponentials, of base e and of base 2.
//!
//! Method: the larger plus log(1 + e^-d), d the distance of the arguments. Both parts keep their rounding errors; what is
//! left is the error of that logarithm, some 2^-(MANTISSA + 3), which shows where the two parts cancel.

use super::coefficients::{LN_2, LOG2_E};
use super::exp::{Reduced, not_below_underflow};
use super::log::log_extended;
use super::pair::Pair;
use super::real::Real;

/// log(e^x + e^y). Equal infinities give themselves.
#[inline(always)]
pub fn logaddexp<V: Real>(x: V, y: V) -> V {
    let one = x.lit(1.0);
    let less = x.lt(y);
    let (larger, smaller) = (V::select(less, y, x), V::select(less, x, y));
    let gap = Pair::sum(smaller, -larger);
    let clamped = not_below_underflow(gap.hi);
    let same = clamped.eq(gap.hi);
    let reduced = Reduced::new(clamped);
    let (p, q) = reduced.half_powers();
    let e = reduced.exp_pair(V::select(same, gap.lo, x.lit(0.0)));
    let sum = Pair::fast_sum(one, e.hi * p * q);
    let log = log_extended(sum.hi);
    let lo = log.lo + e.lo.fma(p * q, sum.lo) / sum.hi;
    let total = Pair::sum(larger, log.hi);
    let result = total.hi + (total.lo + lo);
    // Infinities have no distance, and their sums no rest.
    let result = V::select(larger.abs().eq(x.lit(f64::INFINITY)) & gap.hi.eq(gap.hi), larger, result);
    V::select(x.eq(y), V::select(x.abs().eq(x.lit(f64::INFINITY)), x, result), result)
}

/// log2(2^x + 2^y), likewise: the distance times ln 2, and the logarithm over it, are sums of two floats.
#[inline(always)]
pub fn logaddexp2<V: Real>(x: V, y: V) -> V {
    let one = x.lit(1.0);
    let less = x.lt(y);
    let (larger, smaller) = (V::select(less, y, x), V::select(less, x, y));
    let gap = Pair::sum(smaller, -larger);
    let exponent = gap.times(Pair::constant(x, &LN_2));
    let clamped = not_below_underflow(exponent.hi);
    let same = clamped.eq(exponent.hi);
    let reduced = Reduced::new(clamped);
    let (p, q) = reduced.half_powers();
    let e = reduced.exp_pair(V::select(same, exponent.lo, x.lit(0.0)));
    let sum = Pair::fast_sum(one, e.hi * p * q);
    let log = log_extended(sum.hi);
    let log = Pair { hi: log.hi, lo: log.lo + e.lo.fma(p * q, sum.lo) / sum.hi }.times(Pair::constant(x, &LOG2_E));
    let total = Pair::sum(larger, log.hi);
    let result = total.hi + (total.lo + log.lo);
    let infinity = x.lit(f64::INFINITY);
    let result = V::select(larger.abs().eq(infinity) & gap.hi.eq(gap.hi), larger, result);
    // Twice a power of two is the next one.
    V::select(x.eq(y), V::select(x.abs().eq(infinity), x, x + one), result)
}
