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
///
/// By zero, and where parts are infinite, NumPy's answer, else that of C99.
#[inline(always)]
pub fn quotient<V: Real>(numerator: (V, V), denominator: (V, V)) -> (V, V) {
    let ((re, im), (c, d)) = (numerator, denominator);
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
    let (x, y) = ((re * c + im * d) / norm * down, (im * c - re * d) / norm * down);
    let (or_x, or_y) = of_ends(numerator, denominator);
    let known = |other: V, part: V| V::select(x.eq(x), part, V::select(y.eq(y), part, other));
    (known(or_x, x), known(or_y, y))
}

/// A quotient whose two parts both come out as NaN. By zero it is each part over zero, as NumPy has it. Else infinite parts are taken for
/// their directions alone (C99, annex G.5.1): infinite over finite numbers is infinite, finite over infinite ones is zero.
#[inline(always)]
fn of_ends<V: Real>((a, b): (V, V), (c, d): (V, V)) -> (V, V) {
    let (zero, one, infinity) = (a.lit(0.0), a.lit(1.0), a.lit(f64::INFINITY));
    let is_end = |v: V| infinity.eq(v.abs());
    let (above, below) = (is_end(a) | is_end(b), is_end(c) | is_end(d));
    let direction = |v: V| V::select(is_end(v), one, zero).flip(v.sign());
    let (p, q) = (V::select(above, direction(a), a), V::select(above, direction(b), b));
    let (r, s) = (V::select(below, direction(c), c), V::select(below, direction(d), d));
    // NaN of both: infinity over infinity has no value.
    let size = V::select(above, infinity, one) * V::select(below, zero, one);
    let by_zero = zero.eq(c) & zero.eq(d);
    (V::select(by_zero, a / zero, size * (p * r + q * s)), V::select(by_zero, b / zero, size * (q * r - p * s)))
}
