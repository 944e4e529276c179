//! The cube root.
//!
//! Method: |x| = 2^(3q) m with m from sqrt(1/8) to sqrt(8); y ~ 1 / cbrt m from a polynomial and one step of third order
//! (y + y (h / 3 + 2 h^2 / 9), h = 1 - m y^3); t = m y^2 and one Newton step on t^3 = m with an exact residual.

use super::coefficients::CBRT;
use super::pair::Pair;
use super::real::{Bits, Real};

/// The cube root of x, negative for negative x. cbrt(+-0) = +-0, cbrt(+-inf) = +-inf.
#[inline(always)]
pub fn cbrt<V: Real>(x: V) -> V {
    let (a, zero, one) = (x.abs(), x.lit(0.0), x.lit(1.0));
    let (k, m) = a.split_exponent();
    let (q, bits) = k.nearest(x.lit(1.0 / 3.0), V::BIAS);
    let rest = (-q).fma(x.lit(3.0), k);
    let by_rest = |low: f64, high: f64| V::select(rest.lt(zero), x.lit(low), V::select(zero.lt(rest), x.lit(high), one));
    let cube_root_of_2 = 1.259_921_049_894_873_2;
    let y = m.poly(&CBRT) * by_rest(cube_root_of_2, 1.0 / cube_root_of_2);
    let m = m * by_rest(0.5, 2.0);
    let third = x.lit(1.0 / 3.0);
    let h = (-(m * y)).fma(y * y, one);
    let y = (y * h).fma(h.fma(x.lit(2.0 / 9.0), third), y);
    let t = m * (y * y);
    let square = Pair::product(t, t);
    let residual = (-square.lo).fma(t, (-square.hi).fma(t, m));
    let t = residual.fma(y * y * third, t);
    let root = (t * t.with_bits(bits.shl(bits.lit(V::MANTISSA as u64)))).flip(x.sign());
    V::select(zero.lt(a) & a.lt(x.lit(f64::INFINITY)), root, x)
}
