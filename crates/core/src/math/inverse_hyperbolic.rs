//! The inverse hyperbolic functions, as logarithms of 1 + f with f a sum of two floats.
//!
//! Method: asinh |x| = log(1 + |x| + x^2 / (1 + sqrt(1 + x^2))), acosh x = log(1 + t + sqrt(2 t + t^2)) with t = x - 1,
//! atanh |x| = log(1 + 2 |x| / (1 - |x|)) / 2. Above [`huge`] the first two are log(2 |x|).

use super::log::log1p_pair;
use super::pair::Pair;
use super::real::Real;

/// From here on 1 is nothing beside x.
#[inline(always)]
fn huge<V: Real>(x: V) -> V {
    x.lit((1u64 << (V::MANTISSA + 2)) as f64)
}

/// log(1 + f), or log(2 x) where x is huge.
#[inline(always)]
fn log1p_or_double<V: Real>(x: V, f: Pair<V>) -> V {
    let (zero, one, is_huge) = (x.lit(0.0), x.lit(1.0), huge(x).lt(x));
    let y = log1p_pair(Pair::select(is_huge, Pair::of(x), f), V::select(is_huge, one, zero));
    V::select(x.lt(x.lit(f64::INFINITY)), y, x)
}

/// asinh x. asinh(+-0) = +-0, asinh(+-inf) = +-inf.
#[inline(always)]
pub fn asinh<V: Real>(x: V) -> V {
    let (a, one) = (x.abs(), x.lit(1.0));
    let b = V::select(huge(x).lt(a), one, a);
    let square = Pair::product(b, b);
    let root = square.plus(Pair::of(one)).sqrt();
    let growth = square.over(root.plus(Pair::of(one)));
    log1p_or_double(a, Pair::of(b).plus(growth)).flip(x.sign())
}

/// acosh x. acosh(1) = 0, acosh(inf) = inf, NaN below 1.
#[inline(always)]
pub fn acosh<V: Real>(x: V) -> V {
    let one = x.lit(1.0);
    // Exact: a multiple of x's last bit, and smaller than x.
    let t = V::select(huge(x).lt(x), one, x) - one;
    let root = Pair::product(t, t).plus(Pair::of(t + t)).sqrt();
    V::select(x.lt(one), x.lit(f64::NAN), log1p_or_double(x, root.plus(Pair::of(t))))
}

/// atanh x. atanh(+-0) = +-0, atanh(+-1) = +-inf, NaN beyond.
#[inline(always)]
pub fn atanh<V: Real>(x: V) -> V {
    let (a, one) = (x.abs(), x.lit(1.0));
    let ratio = Pair::of(a + a).over(Pair::fast_sum(one, -a));
    let y = log1p_pair(ratio, x.lit(0.0)) * x.lit(0.5);
    let y = V::select(a.lt(one), y, V::select(a.eq(one), x.lit(f64::INFINITY), x.lit(f64::NAN)));
    y.flip(x.sign())
}
