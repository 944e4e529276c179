//! The length of a vector of two components, without overflow on the way.

use super::pair::{Pair, scaled_together};
use super::real::Real;

/// sqrt(x^2 + y^2). Infinite where either is, even if the other is NaN.
#[inline(always)]
pub fn hypot<V: Real>(x: V, y: V) -> V {
    let infinity = x.lit(f64::INFINITY);
    let (a, b, back) = scaled_together(x.abs(), y.abs());
    let length = Pair::product(a, a).plus(Pair::product(b, b)).sqrt().value() * back;
    V::select(x.abs().eq(infinity) | y.abs().eq(infinity), infinity, length)
}
