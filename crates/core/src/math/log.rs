//! Logarithms: plain, of 1 + x, and with twice the precision for other bases, `pow` and the gamma function.
//!
//! Method: x = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2). float32: log(1 + f) = f - f^2 / 2 + f^3 P(f). float64: s
//! = f / (2 + f), log(1 + f) = f - (f^2 / 2 - s (f^2 / 2 + R)), R = z (2/3 + z T(z)), z = s^2 (the formula of FreeBSD's
//! e_log.c). The plain float32 logarithm, which may err by a little more, has log(1 + f) = f + f^2 R(f).

use super::coefficients::{ATANH, LN_2, LOG, LOG_SHORT, LOG2_E, LOG10_E, TWO_THIRDS};
use super::pair::Pair;
use super::real::{Real, Table};

/// k ln 2 + log(1 + f), where `correct` adds what f lacks to the low part of the sum.
#[inline(always)]
fn finite<V: Real>(k: V, f: V, correct: impl Fn(V) -> V) -> V {
    let half = f * f.lit(0.5);
    let (ln_hi, ln_lo) = (f.part(&LN_2, 0), f.part(&LN_2, 1));
    let sum = if V::WIDTH == 32 {
        let cubic = f * f * f * f.poly(&LOG);
        (-half).fma(f, correct(k.fma(ln_lo, cubic)))
    } else {
        let s = f / (f + f.lit(2.0));
        let z = s * s;
        let r = z * z.fma(z.poly(&ATANH), f.part(&TWO_THIRDS, 0));
        (-half).fma(f, s.fma(half.fma(f, r), correct(k * ln_lo)))
    };
    k.fma(ln_hi, f + sum)
}

/// log x. log(+-0) = -inf, log(inf) = inf, NaN for negative x.
#[inline(always)]
pub fn log<V: Real>(x: V) -> V {
    let (k, m) = x.split_exponent();
    let f = m - x.lit(1.0);
    let y = if V::WIDTH == 32 {
        let square = f * f;
        k.fma(x.part(&LN_2, 0), f + k.fma(x.part(&LN_2, 1), square * f.poly(&LOG_SHORT)))
    } else {
        finite(k, f, |lo| lo)
    };
    y.or_ends_of_log(x)
}

/// log(2^doublings (1 + f)) for finite f.hi > -1.
#[inline(always)]
pub(super) fn log1p_pair<V: Real>(f: Pair<V>, doublings: V) -> V {
    let one = f.hi.lit(1.0);
    let u = Pair::sum(one, f.hi);
    let (k, m) = u.hi.split_exponent();
    // 1 + f rounds away what matters most of a small f: there f itself is the fraction.
    let near = k.eq(f.hi.lit(0.0));
    let rest = V::select(near, f.lo, u.lo + f.lo) / u.hi;
    finite(k + doublings, V::select(near, f.hi, m - one), |lo| lo + rest)
}

/// log(1 + x) without cancellation near 0. log1p(+-0) = +-0, log1p(-1) = -inf, log1p(inf) = inf, NaN below -1.
#[inline(always)]
pub fn log1p<V: Real>(x: V) -> V {
    let zero = x.lit(0.0);
    let sum = x + x.lit(1.0);
    let y = log1p_pair(Pair::of(x), zero).or_ends_of_log(sum);
    V::select(x.eq(zero), x, y)
}

/// log x in another base, 1 / ln base being `scale`: the product of two sums, so exact powers give exact results.
#[inline(always)]
fn log_scaled<V: Real>(x: V, scale: &Table) -> V {
    log_extended(x).times(Pair::constant(x, scale)).value().or_ends_of_log(x)
}

/// log x / log 2, exact for powers of two. Special values as for [`log`].
#[inline(always)]
pub fn log2<V: Real>(x: V) -> V {
    log_scaled(x, &LOG2_E)
}

/// log x / log 10. Special values as for [`log`].
#[inline(always)]
pub fn log10<V: Real>(x: V) -> V {
    log_scaled(x, &LOG10_E)
}

/// log x as hi + lo with about twice the precision, for positive finite x.
///
/// log m = 2 s + s z (2/3 + z T(z)), where s, z and the terms up to 2/3 are sums of two floats (Dekker's arithmetic
/// with fused products) and only T is not: its error is below 2^-(MANTISSA + 12) of the result.
#[inline(always)]
pub(super) fn log_extended<V: Real>(x: V) -> Pair<V> {
    let (k, m) = x.split_exponent();
    let (one, two) = (x.lit(1.0), x.lit(2.0));
    let f = m - one;
    let den = m + one;
    let den_lo = m - (den - one);
    let reciprocal = one / den;
    let s = f * reciprocal;
    let s_lo = (-s).fma(den_lo, (-s).fma(den, f)) * reciprocal;
    let z = s * s;
    let z_lo = (s + s).fma(s_lo, s.fma(s, -z));
    let tail = z * z.poly(&ATANH);
    let (third, third_lo) = (x.part(&TWO_THIRDS, 0), x.part(&TWO_THIRDS, 1));
    let u = third + tail;
    let u_lo = (third - u) + tail + third_lo;
    let w = z * u;
    let w_lo = z_lo.fma(u, z.fma(u_lo, z.fma(u, -w)));
    let g = s * w;
    let g_lo = s_lo.fma(w, s.fma(w_lo, s.fma(w, -g)));
    let h = two.fma(s, g);
    let h_lo = two.fma(s, -h) + g + two.fma(s_lo, g_lo);
    // |k ln 2| is 0 or larger than |h|, so the short form of the exact sum holds.
    let e = k * x.part(&LN_2, 0);
    let e_lo = k.fma(x.part(&LN_2, 1), k.fma(x.part(&LN_2, 0), -e));
    let sum = e + h;
    let sum_lo = (e - sum) + h + (e_lo + h_lo);
    Pair::fast_sum(sum, sum_lo)
}
