//! Products and quotients of complex numbers, given and returned as real and imaginary part.

use super::real::{Bits, Lane, Real};

/// `(a + bi)(c + di)` by the plain formula.
#[inline(always)]
pub fn product<V: Real>((a, b): (V, V), (c, d): (V, V)) -> (V, V) {
    (a * c - b * d, a * d + b * c)
}

/// `x conj(y) / |y|^2` with y scaled by a power of two to about 1, so that `|y|^2` neither overflows nor vanishes.
///
/// A scale above 1 goes to x at once, whose products with y would lose bits below the normal numbers; one below 1 goes to the
/// result. Of an x within a sixteenth of the largest number a sixteenth is divided: the sum of its two products is up to 8 times
/// as large. That drops bits of a part near or below the normal numbers beside it.
#[inline(always)]
pub fn quotient<V: Real>((re, im): (V, V), (c, d): (V, V)) -> (V, V) {
    let larger = |x: V, y: V| V::select(y.abs().lt(x.abs()), x.abs(), y.abs());
    let (one, size) = (re.lit(1.0), larger(c, d));
    // The scale is 2^-e for size in [2^e, 2^(e + 1)); not needed (1) at 0, infinity and NaN. Where 2^-e would not be a normal
    // number, a nearby one serves as well.
    let bits = size.bits();
    let (fraction, bias) = (bits.lit(V::MANTISSA as u64), bits.lit(V::BIAS as u64));
    let (exponent, twice) = (bits.shr(fraction), bits.lit(2 * V::BIAS as u64));
    let low = V::Bits::select(exponent.lt(twice), twice.wrapping_sub(exponent), bits.lit(1));
    let useful = re.lit(0.0).lt(size) & exponent.lt(bits.lit(2 * V::BIAS as u64 + 1));
    let field = V::Bits::select(useful, low, bias);
    let scale = re.with_bits(field.shl(fraction));
    let grows = bias.lt(field);
    let (up, down) = (V::select(grows, scale, one), V::select(grows, one, scale));
    let huge = re.lit(V::choose(f32::MAX as f64, f64::MAX) / 16.0).lt(larger(re, im) * up);
    let (up, down) = (up * V::select(huge, re.lit(0.0625), one), down * V::select(huge, re.lit(16.0), one));
    let (c, d, re, im) = (c * scale, d * scale, re * up, im * up);
    let norm = c * c + d * d;
    ((re * c + im * d) / norm * down, (im * c - re * d) / norm * down)
}
