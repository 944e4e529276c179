//! The logistic function.
//!
//! Method: with e^-|x| = 2^n (1 + m), it is 1 / (1 + e^-|x|) for positive x and 2^n (1 + m) / (1 + e^-|x|) for negative
//! x, where 2^n is applied last so that small results round once.

use super::exp::{Reduced, not_below_underflow};
use super::pair::Pair;
use super::real::Real;

/// 1 / (1 + e^-x). sigmoid(-inf) = 0, sigmoid(inf) = 1.
#[inline(always)]
pub fn sigmoid<V: Real>(x: V) -> V {
    let one = x.lit(1.0);
    let reduced = Reduced::new(not_below_underflow(-x.abs()));
    let (m, halves) = (reduced.expm1(), reduced.half_powers());
    let hi = one + m.hi;
    let lo = (one - hi) + m.hi + m.lo;
    let e = hi.times_power(reduced.n, halves);
    let den = one + e;
    let den_lo = (one - den) + e + lo.times_power(reduced.n, halves);
    let negative = x.lt(x.lit(0.0));
    let q = Pair::select(negative, Pair { hi, lo }, Pair::of(one)).quotient(Pair { hi: den, lo: den_lo });
    q * V::select(negative, halves.0, one) * V::select(negative, halves.1, one)
}
