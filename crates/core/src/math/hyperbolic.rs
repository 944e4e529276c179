//! The hyperbolic functions.
//!
//! Method: tanh with e^(2|x|) = 2^n (1 + m) is (2^n m + (2^n - 1)) / (2^n m + (2^n + 1)). sinh and cosh come from a quarter of
//! e^|x| - 1, called h: sinh = 2 (h + h / (1 + 4 h)), cosh = 2 (h + 1/4 + 1 / (16 h + 4)); quarters do not overflow before the
//! results do. All sums keep their rounding errors, so each formula holds from small arguments to the ends.

use super::exp::Reduced;
use super::pair::Pair;
use super::real::Real;

/// tanh x. tanh(+-0) = +-0, tanh(+-inf) = +-1.
#[inline(always)]
pub fn tanh<V: Real>(x: V) -> V {
    let a = x.abs();
    // From here on tanh rounds to 1: 2 e^(-2x) < 2^-(MANTISSA + 2).
    let reduced = Reduced::new((a + a).at_most(V::choose(18.1, 38.2)));
    let (m, power) = (reduced.expm1(), reduced.power(0));
    let sum = |c: f64| m.times_power_plus(power, x.lit(c));
    sum(-1.0).quotient(sum(1.0)).flip(x.sign())
}

/// (e^a - 1) / 4 for a >= 0, up to where sinh and cosh overflow.
#[inline(always)]
fn quarter<V: Real>(a: V) -> Pair<V> {
    Reduced::new(a.at_most(V::choose(89.5, 710.6))).quarter_expm1()
}

/// sinh x. sinh(+-0) = +-0, sinh(+-inf) = +-inf.
#[inline(always)]
pub fn sinh<V: Real>(x: V) -> V {
    let a = x.abs();
    let h = quarter(a);
    let den = Pair::sum(h.hi, x.lit(0.25));
    let fourth = Pair { hi: h.hi * x.lit(0.25), lo: h.lo * x.lit(0.25) };
    let sum = h.plus(fourth.over(Pair { hi: den.hi, lo: den.lo + h.lo })).value();
    let tiny = a.lt(x.lit(V::choose(2f64.powi(-13), 2f64.powi(-28))));
    V::select(tiny, x, (sum + sum).flip(x.sign()))
}

/// cosh x. cosh(+-0) = 1, cosh(+-inf) = inf.
#[inline(always)]
pub fn cosh<V: Real>(x: V) -> V {
    let h = quarter(x.abs());
    let grown = Pair::sum(h.hi, x.lit(0.25));
    let grown = Pair { hi: grown.hi, lo: grown.lo + h.lo };
    let sum = grown.plus(Pair::of(x.lit(0.0625)).over(grown)).value();
    sum + sum
}
