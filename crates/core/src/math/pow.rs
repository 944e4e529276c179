//! The power function: e^(y log |x|) with log |x| and the product as sums of two floats, and C99's special cases
//! (F.10.4.4) by selects.

use super::exp::{Reduced, clamp};
use super::log::log_extended;
use super::pair::Pair;
use super::real::{Bits, Lane, Real};

/// x^y.
///
/// pow(x, +-0) = pow(1, y) = 1 even for NaN; NaN for negative finite x with y not an integer; the sign of x for odd y.
#[inline(always)]
pub fn pow<V: Real>(x: V, y: V) -> V {
    let (zero, one, infinity) = (x.lit(0.0), x.lit(1.0), x.lit(f64::INFINITY));
    let a = x.abs();
    let Pair { hi, lo } = log_extended(a);
    let regular = zero.lt(a) & a.lt(infinity);
    // log 0 = -inf, log inf = inf, log NaN = NaN.
    let hi = V::select(regular, hi, V::select(a.eq(zero), -infinity, a));
    let product = y * hi;
    let exponent = clamp(product);
    // Beyond the bounds the low part means nothing; inside them it is finite.
    let low = V::select(exponent.eq(product), y.fma(lo, y.fma(hi, -product)), zero);
    let magnitude = Reduced::new(exponent).exp_with(low);

    // |y| + 2^MANTISSA holds |y| rounded to an integer in its low bits; |y| itself does from there to twice that, and
    // all larger floats are even.
    let y_abs = y.abs();
    let magic = x.lit((1u64 << V::MANTISSA) as f64);
    let small = y_abs.lt(magic);
    let shifted = V::select(small, y_abs + magic, y_abs);
    let integer = !small | (shifted - magic).eq(y_abs);
    let low_bit = shifted.bits() & shifted.bits().lit(1);
    let odd = integer & y_abs.lt(magic + magic) & low_bit.eq(low_bit.lit(1));

    let sign = V::Bits::select(odd, x.sign(), low_bit.lit(0));
    let undefined = x.lt(zero) & a.lt(infinity) & !integer;
    let result = V::select(undefined, x.lit(f64::NAN), magnitude.flip(sign));
    let unit = y.eq(zero) | x.eq(one) | (a.eq(one) & y_abs.eq(infinity));
    V::select(unit, one, result)
}
