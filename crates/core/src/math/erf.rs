//! The error function, its complement and its inverse.
//!
//! Method: float32 erf x = x + x E(x^2) up to 0.85, above 1 - e^(-x - x L(x)) (after Juffa). float64 erf x = x + x E(x^2) up to
//! 1; above, 1 - e^(-x^2) G(t) with t = (x - 2) / (x + 2). Both tails are below 0.23 beside 1, so short polynomials and plain
//! floats do; erfc's takes 80 % longer (float64). erfc x = e^(-x^2) / (1 + 2 x) (K_0 + t K(t)) with
//! t = (x - 3) / (x + 3): (1 + 2 x) flattens the tail, so the bracket is nearly constant (after Juffa's scaled complementary
//! error function). erfinv: a start of 12 to 20 bits from polynomials in -log(1 - x^2) (after Giles, "Approximating the erfinv
//! function", GPU Computing Gems, 2012), then three terms of the inverse's Taylor series about it, with the residual from the
//! kernels above.

use super::coefficients::{ERF, ERF_FAR, ERF_LOG, ERF_NEAR, ERFC, ERFC_0, ERFINV_FAR, ERFINV_NEAR, HALF_SQRT_PI};
use super::exp::{Reduced, rough_exp};
use super::log::log;
use super::pair::Pair;
use super::real::Real;

/// e^(-b^2) and erfc(b) e^(b^2), for b from 0.45 to where erfc is 0; and the reduction of the first.
#[inline(always)]
pub(super) fn tail<V: Real>(b: V) -> (Reduced<V>, Pair<V>, Pair<V>) {
    let (one, three) = (b.lit(1.0), b.lit(3.0));
    let square = b * b;
    let reduced = Reduced::new(-square);
    let e = reduced.exp_pair(b.fma(-b, square));
    (reduced, e, scaled(b, one, three))
}

/// erfc(b) e^(b^2) for b as in [`tail`], beside 1 and 3.
#[inline(always)]
pub(super) fn scaled<V: Real>(b: V, one: V, three: V) -> Pair<V> {
    let t = (b - three) / (b + three);
    let k = Pair::constant(b, &ERFC_0);
    let sum = Pair::fast_sum(k.hi, t * t.poly(&ERFC));
    Pair { hi: sum.hi, lo: sum.lo + k.lo }.over(Pair::fast_sum(b + b, one))
}

/// erfc b for b as in [`tail`].
#[inline(always)]
fn erfc_tail<V: Real>(b: V) -> V {
    let (reduced, e, ratio) = tail(b);
    let halves = reduced.half_powers();
    e.times(ratio).value().times_power(reduced.n, halves)
}

/// erf x. erf(+-0) = +-0, erf(+-inf) = +-1.
#[inline(always)]
pub fn erf<V: Real>(x: V) -> V {
    if V::WIDTH == 32 { erf_single(x) } else { erf_double(x) }
}

#[inline(always)]
fn erf_single<V: Real>(x: V) -> V {
    let one = x.lit(1.0);
    // From 4 on erf rounds to 1.
    let a = x.abs().at_most(4.0);
    let near = a.fma((a * a).horner(&ERF_NEAR), a);
    let (power, rest, slope) = rough_exp((-a).fma(a.horner(&ERF_LOG), -a));
    let far = (-rest).fma(slope, one - power);
    V::select(a.lt(x.lit(0.85)), near, far).flip(x.sign())
}

#[inline(always)]
fn erf_double<V: Real>(x: V) -> V {
    let (one, two) = (x.lit(1.0), x.lit(2.0));
    let a = x.abs();
    let near = a.fma((a * a).poly(&ERF), a);
    // From 6 on erf rounds to 1.
    let b = a.at_most(6.0);
    let square = b * b;
    let far = Reduced::new(-square).exp_with(b.fma(-b, square)) * ((b - two) / (b + two)).poly(&ERF_FAR);
    V::select(a.lt(one), near, one - far).flip(x.sign())
}

/// 1 - erf x without cancellation. erfc(-inf) = 2, erfc(inf) = 0, underflows gradually.
#[inline(always)]
pub fn erfc<V: Real>(x: V) -> V {
    let a = x.abs();
    let bend = (a * a).poly(&ERF);
    let rest = Pair::fast_sum(x.lit(1.0), -x);
    let near = rest.hi + (-x).fma(bend, rest.lo);
    let far = erfc_tail(a.at_most(V::choose(10.3, 27.3)));
    let far = V::select(x.lt(x.lit(0.0)), x.lit(2.0) - far, far);
    V::select(a.lt(x.lit(0.75)), near, far)
}

/// The inverse of erf. erfinv(+-0) = +-0, erfinv(+-1) = +-inf, NaN beyond.
#[inline(always)]
pub fn erfinv<V: Real>(x: V) -> V {
    let (a, one) = (x.abs(), x.lit(1.0));
    // Where erf is 3/4 the slope of its inverse has grown enough for erfc's error to count for less than erf's.
    let central = a.lt(x.lit(0.75));
    let rest = one - a;
    let w = -log(rest * (one + a));
    let start = a * V::select(w.lt(x.lit(5.0)), w.poly(&ERFINV_NEAR), w.sqrt().poly(&ERFINV_FAR));
    // x - erf(start): near 0 from erf, elsewhere from erfc, where 1 - |x| is exact.
    let (reduced, e, ratio) = tail(V::select(central, one, start));
    let (p, q) = reduced.half_powers();
    let erfc = e.times(ratio);
    let scale = p * q;
    let far = erfc.lo.fma(scale, erfc.hi.fma(scale, -rest)) / (e.hi * scale);
    let square = start * start;
    let near = (-start).fma(square.poly(&ERF), a - start) * Reduced::new(square).exp();
    // u = (x - erf y) / erf'(y); the inverse is y + u + y u^2 + (2 y^2 + 1) / 3 u^3 + ...
    let u = V::select(central, near, far) * x.part(&HALF_SQRT_PI, 0);
    let curve = start + u * square.fma(x.lit(2.0 / 3.0), x.lit(1.0 / 3.0));
    let y = start + (u * u).fma(curve, u);
    // Lifted, so that the low part does not vanish below the normal range.
    let lifted = a * x.lit(2f64.powi(64));
    let tiny = lifted.fma(x.part(&HALF_SQRT_PI, 0), lifted * x.part(&HALF_SQRT_PI, 1)) * x.lit(2f64.powi(-64));
    let y = V::select(a.lt(x.lit(V::choose(2f64.powi(-13), 2f64.powi(-28)))), tiny, y);
    let y = V::select(a.lt(one), y, V::select(a.eq(one), x.lit(f64::INFINITY), x.lit(f64::NAN)));
    y.flip(x.sign())
}
