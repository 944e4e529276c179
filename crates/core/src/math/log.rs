//! The natural logarithm, plain and as a sum of two floats for `pow`.
//!
//! Method: x = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2). float32: log(1 + f) = f - f^2 / 2 + f^3 P(f). float64: s
//! = f / (2 + f), log(1 + f) = f - (f^2 / 2 - s (f^2 / 2 + R)), R = z (2/3 + z T(z)), z = s^2 (the formula of FreeBSD's
//! e_log.c).

use super::coefficients::{ATANH, LN_2, LOG, TWO_THIRDS};
use super::real::{Bits, Real};

/// x = 2^k m for positive finite x, subnormals too: (k, m).
#[inline(always)]
fn split_exponent<V: Real>(x: V) -> (V, V) {
    let lift = V::MANTISSA + 1;
    let subnormal = x.lt(x.lit(V::choose(f32::MIN_POSITIVE as f64, f64::MIN_POSITIVE)));
    let bits = V::select(subnormal, x * x.lit((1u64 << lift) as f64), x).bits();
    let one = (V::BIAS as u64) << V::MANTISSA;
    // The bits of sqrt(1/2): exponent steps lie there instead of at powers of two.
    let root = V::choose(0x3f35_04f3, 0x3fe6_a09e_667f_3bcd);
    let mantissa = bits.lit(V::MANTISSA as u64);
    let biased = bits.wrapping_add(bits.lit(one - root)).shr(mantissa);
    let m = V::from_bits(bits.wrapping_sub(biased.shl(mantissa)).wrapping_add(bits.lit(one)));
    let bias = V::select(subnormal, x.lit((V::BIAS + lift) as f64), x.lit(V::BIAS as f64));
    (x.float_of(biased) - bias, m)
}

/// log x. log(+-0) = -inf, log(inf) = inf, NaN for negative x.
#[inline(always)]
pub fn log<V: Real>(x: V) -> V {
    let (k, m) = split_exponent(x);
    let f = m - x.lit(1.0);
    let half = f * x.lit(0.5);
    let (ln_hi, ln_lo) = (x.part(&LN_2, 0), x.part(&LN_2, 1));
    let sum = if V::WIDTH == 32 {
        let cubic = f * f * f * f.poly(&LOG);
        (-half).fma(f, k.fma(ln_lo, cubic))
    } else {
        let s = f / (m + x.lit(1.0));
        let z = s * s;
        let r = z * z.fma(z.poly(&ATANH), x.part(&TWO_THIRDS, 0));
        (-half).fma(f, s.fma(half.fma(f, r), k * ln_lo))
    };
    let y = k.fma(ln_hi, f + sum);
    let y = V::select(x.lt(x.lit(f64::INFINITY)), y, x);
    let y = V::select(x.lt(x.lit(0.0)), x.lit(f64::NAN), y);
    V::select(x.eq(x.lit(0.0)), x.lit(f64::NEG_INFINITY), y)
}

/// log x as hi + lo with about twice the precision, for positive finite x.
///
/// log m = 2 s + s z (2/3 + z T(z)), where s, z and the terms up to 2/3 are sums of two floats (Dekker's arithmetic
/// with fused products) and only T is not: its error is below 2^-(MANTISSA + 12) of the result.
#[inline(always)]
pub(super) fn log_extended<V: Real>(x: V) -> (V, V) {
    let (k, m) = split_exponent(x);
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
    let hi = sum + sum_lo;
    (hi, (sum - hi) + sum_lo)
}
