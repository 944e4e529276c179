//! Complex powers.

use super::functions::{exp, log, reciprocal};
use super::parts::{Complex, Real};

/// Whole exponents of less than this many bits are products, in which whole numbers stay whole.
const BITS: usize = 7;

/// `z^n` for n = 0, 1, ..., 127, by squaring.
fn whole<'a>(z: Complex<'a>, n: Real<'a>) -> Complex<'a> {
    let (mut power, mut square, mut rest) = (Complex { re: n.lit(1.0), im: n.lit(0.0) }, z, n);
    for bit in 0..BITS {
        let half = (rest * 0.5).floor();
        let odd = !rest.equals(half + half);
        power = odd.choose(if bit == 0 { z } else { power.mul(square) }, power);
        if bit + 1 < BITS {
            (square, rest) = (square.mul(square), half);
        }
    }
    power
}

/// `z^w`: `e^(w log z)`, with the principal logarithm, unless w is a small whole number. `z^0` is 1, `0^w` is 0 where the real part
/// of w is positive.
pub fn pow<'a>(z: Complex<'a>, w: Complex<'a>) -> Complex<'a> {
    let (one, zero) = (z.re.lit(1.0), z.re.lit(0.0));
    let general = exp(w.mul(log(z)));
    let general = (z.re.is(0.0) & z.im.is(0.0) & w.re.above(0.0)).choose(Complex { re: zero, im: zero }, general);
    let n = w.re.abs();
    let is_whole = w.im.is(0.0) & n.below((1 << BITS) as f64) & n.equals(n.floor());
    // Of the reciprocal, since the power itself may overflow where its reciprocal is a number.
    let power = whole(w.re.below(0.0).choose(reciprocal(z), z), n);
    let power = n.is(0.0).choose(Complex { re: one, im: zero }, power);
    is_whole.choose(power, general)
}
