//! The inverse trigonometric functions.
//!
//! Method: each result is k pi / 2 + t + t^3 A(t^2) with |t| <= 1/2 and A one polynomial for arctangents, one for arcsines.
//! atan2 of positive numbers: t = y / x where y < x / 2, -x / y where y > 2 x (k = 1), else (y - x) / (y + x) (k = 1/2).
//! asin: t = x up to 1/2, else pi / 2 - 2 asin sqrt((1 - |x|) / 2). t and pi / 2 are sums of two floats.

use super::coefficients::{ASIN, ATAN, HALF_PI};
use super::pair::{Pair, scaled_together};
use super::real::{Bits, Lane, Real};
use crate::planted;

/// k pi / 2 + t + rest, for |t| < pi / 2 or k = 0.
#[inline(always)]
fn from_quarters<V: Real>(k: V, t: Pair<V>, rest: V) -> V {
    let base = Pair::constant(k, &HALF_PI).scaled(k);
    let sum = Pair::fast_sum(base.hi, t.hi);
    sum.hi + (sum.lo + (t.lo + rest + base.lo))
}

/// The angle of the point (x, y) for finite x, y >= 0, not both 0; its supplement where `left`.
#[inline(always)]
fn angle<V: Real>(y: V, x: V, left: V::Mask) -> V {
    let (zero, half, one, two) = (x.lit(0.0), x.lit(0.5), x.lit(1.0), x.lit(2.0));
    let (flat, steep) = ((y + y).lt(x), (x + x).lt(y));
    let num = V::select(flat, y, V::select(steep, -x, y - x));
    let den = Pair::select(flat, Pair::of(x), Pair::select(steep, Pair::of(y), Pair::sum(y, x)));
    let k = V::select(flat, zero, V::select(steep, one, half));
    let t = Pair::of(num).over(den);
    let t = Pair::select(left, t.neg(), t);
    let z = t.hi * t.hi;
    from_quarters(V::select(left, two - k, k), t, t.hi * z * z.poly(&ATAN))
}

/// atan x. atan(+-0) = +-0, atan(+-inf) = +-pi/2.
#[inline(always)]
pub fn atan<V: Real>(x: V) -> V {
    // pi / 2 - 1 / x rounds to pi / 2 long before.
    let a = x.abs().at_most(2f64.powi(60));
    let result = angle(a, x.lit(1.0), a.lt(x.lit(0.0)));
    let planted = planted::is("function-two-units-off");
    let result = if planted { x.lit(V::choose(2.5e-7, 4.5e-16)).fma(result, result) } else { result };
    result.flip(x.sign())
}

/// The angle of the point (x, y), in -pi .. pi, with its sign that of y.
///
/// atan2(+-0, x) is +-0 for x > 0 and x = +0, +-pi for x < 0 and x = -0; two infinities count as equal sizes.
#[inline(always)]
pub fn atan2<V: Real>(y: V, x: V) -> V {
    let (zero, one, infinity) = (x.lit(0.0), x.lit(1.0), x.lit(f64::INFINITY));
    let (a, b) = (y.abs(), x.abs());
    let ratio = a / b;
    let (a_infinite, b_infinite) = (a.eq(infinity), b.eq(infinity));
    let infinite = a_infinite | b_infinite;
    let b_finite = V::select(a.eq(zero) & b.eq(zero), one, b);
    let a = V::select(infinite, V::select(a_infinite, one, zero), a);
    let b = V::select(infinite, V::select(b_infinite, one, zero), b_finite);
    let (a, b, _) = scaled_together(a, b);
    let sign = x.sign();
    let left = !sign.eq(sign.lit(0));
    // A small angle is the ratio, and may be subnormal: the division alone rounds it once.
    let tiny = ratio.lt(x.lit(V::choose(2f64.powi(-30), 2f64.powi(-60)))) & !left;
    let result = V::select(tiny, ratio, angle(a, b, left)).flip(y.sign());
    V::select(y.eq(y) & x.eq(x), result, x + y)
}

/// Whether |x| < 1/2, t (|x| or sqrt((1 - |x|) / 2)), and asin t - t.
#[inline(always)]
fn arcsine<V: Real>(x: V) -> (V::Mask, Pair<V>, V) {
    let (a, half) = (x.abs(), x.lit(0.5));
    let near = a.lt(half);
    let far = Pair::of(half - a * half);
    let z = V::select(near, a * a, far.hi);
    let t = Pair::select(near, Pair::of(a), far.sqrt());
    (near, t, t.hi * z * z.poly(&ASIN))
}

/// asin x. asin(+-0) = +-0, asin(+-1) = +-pi/2, NaN beyond.
#[inline(always)]
pub fn asin<V: Real>(x: V) -> V {
    let (near, t, rest) = arcsine(x);
    let factor = V::select(near, x.lit(1.0), x.lit(-2.0));
    let k = V::select(near, x.lit(0.0), x.lit(1.0));
    from_quarters(k, Pair { hi: t.hi * factor, lo: t.lo * factor }, rest * factor).flip(x.sign())
}

/// acos x. acos(1) = 0, acos(-1) = pi, NaN beyond.
#[inline(always)]
pub fn acos<V: Real>(x: V) -> V {
    let (near, t, rest) = arcsine(x);
    let factor = V::select(near, x.lit(-1.0), x.lit(2.0)).flip(x.sign());
    let beyond = V::select(x.lt(x.lit(0.0)), x.lit(2.0), x.lit(0.0));
    let k = V::select(near, x.lit(1.0), beyond);
    from_quarters(k, Pair { hi: t.hi * factor, lo: t.lo * factor }, rest * factor)
}
