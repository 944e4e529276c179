//! The error function.
//!
//! Method: x + x E(x^2) up to 1; above, 1 - e^(-x^2) G(t) with t = (x - 2) / (x + 2), which flattens the tail.

use super::coefficients::{ERF, ERFC};
use super::exp::{Reduced, at_most};
use super::real::Real;

/// erf x. erf(+-0) = +-0, erf(+-inf) = +-1.
#[inline(always)]
pub fn erf<V: Real>(x: V) -> V {
    let (one, two) = (x.lit(1.0), x.lit(2.0));
    let a = x.abs();
    let near = a.fma((a * a).poly(&ERF), a);
    // From 4 (float32) and 6 (float64) on erf rounds to 1.
    let b = at_most(a, V::choose(4.0, 6.0));
    let square = b * b;
    let tail = Reduced::new(-square).exp_with(b.fma(-b, square)) * ((b - two) / (b + two)).poly(&ERFC);
    V::select(a.lt(one), near, one - tail).flip(x.sign())
}
