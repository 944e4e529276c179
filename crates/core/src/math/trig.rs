//! Sine, cosine and tangent over the whole range.
//!
//! Method: |x| = n pi / 2 + r with r = hi + lo, |r| <= pi / 4; polynomials in r. Below [`MODERATE`] n pi / 2 is
//! subtracted in three parts (Cody and Waite, fused); above, the fraction of |x| * 2 / pi comes from integer products
//! with the right bits of 2 / pi (Payne and Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter
//! 18, 1983), picked from a table by a barrel shift of selects.

use super::coefficients::{COS, HALF_PI, SIN, TWO_OVER_PI, TWO_OVER_PI_32, TWO_OVER_PI_64, TWO_PI};
use super::pair::Pair;
use super::real::{Bits, Lane, Real};

/// Where the two reductions meet, for both precisions. Three parts of pi / 2 leave n * 2^-74 (float32), so results hold
/// full precision far beyond it; larger bounds gain nothing, because callers skip the wide reduction tile by tile.
pub const MODERATE: f64 = 65536.0;

/// |x| = quadrant * pi / 2 + hi + lo; the quadrant is in the two low bits.
pub(super) struct Angle<V: Real> {
    quadrant: V::Bits,
    hi: V,
    lo: V,
}

#[inline(always)]
fn reduce_moderate<V: Real>(a: V) -> Angle<V> {
    let (n, quadrant) = a.nearest(a.part(&TWO_OVER_PI, 0), 0);
    // Exact: both are multiples of the last bit of hi(pi / 2), and the result is below 1.
    let rest = (-n).fma(a.part(&HALF_PI, 0), a);
    let mid = a.part(&HALF_PI, 1);
    let hi = rest - n * mid;
    // Exact as well: where the product is the larger, `rest` has few bits, and hi all of the product's that lie below.
    let behind = rest - hi;
    Angle { quadrant, hi, lo: (-n).fma(a.part(&HALF_PI, 2), (-n).fma(mid, behind)) }
}

/// For a >= 2.
#[inline(always)]
fn reduce_wide<V: Real>(a: V) -> Angle<V> {
    let (width, mantissa) = (V::WIDTH as u64, V::MANTISSA as u64);
    let bits = a.bits();
    let lit = |value: u64| bits.lit(value);
    // a = integer * 2^(exponent - BIAS - MANTISSA). The table starts MANTISSA + 1 bits early, so the bits of 2 / pi
    // that make the fraction of a / (2 pi) start at bit exponent - (BIAS + 1).
    let integer = (bits & lit((1 << mantissa) - 1)) | lit(1 << mantissa);
    let offset = bits.shr(lit(mantissa)).wrapping_sub(lit(V::BIAS as u64 + 1));
    let [w0, w1, w2] = window::<V>(offset);
    // The product modulo one turn, as a fraction of two words; what is dropped is below 2^-34 (float32) or 2^-66
    // (float64) of the closest approach of any float to a multiple of pi / 2.
    let p1 = integer.wrapping_mul(w1).wrapping_add(integer.mul_hi(w2));
    let carry = V::Bits::select(p1.lt(integer.mul_hi(w2)), lit(1), lit(0));
    let p0 = integer.wrapping_mul(w0).wrapping_add(integer.mul_hi(w1)).wrapping_add(carry);
    let quadrant = p0.wrapping_add(lit(1 << (width - 3))).shr(lit(width - 2));
    let signed = p0.wrapping_sub(quadrant.shl(lit(width - 2)));
    let sign = signed & lit(1 << (width - 1));
    let invert = lit(0).wrapping_sub(sign.shr(lit(width - 1)));
    let (f0, f1) = (signed ^ invert, p1 ^ invert);
    // Two words in three pieces of at most MANTISSA bits, each exact as a float.
    let spare = width - mantissa;
    let pieces = [
        f0.shr(lit(spare)),
        (f0 & lit((1 << spare) - 1)).shl(lit(mantissa - spare)) | f1.shr(lit(2 * spare)),
        f1 & lit((1 << (2 * spare)) - 1),
    ];
    let piece = |n: usize, exponent: i32| a.float_of(pieces[n]) * a.lit(2f64.powi(exponent));
    let (first, second) = (piece(0, -(mantissa as i32)), piece(1, -2 * mantissa as i32));
    let turn = first + second;
    let turn_lo = (first - turn) + second + piece(2, -2 * width as i32);
    let (tau, tau_lo) = (a.part(&TWO_PI, 0), a.part(&TWO_PI, 1));
    let hi = turn * tau;
    let lo = turn_lo.fma(tau, turn.fma(tau_lo, turn.fma(tau, -hi)));
    let r = Pair::fast_sum(hi, lo);
    Angle { quadrant, hi: r.hi.flip(sign), lo: r.lo.flip(sign) }
}

/// Three words of the table of 2 / pi from bit `offset` on.
#[inline(always)]
fn window<V: Real>(offset: V::Bits) -> [V::Bits; 3] {
    let lit = |value: u64| offset.lit(value);
    let table: &[u64] = V::choose(&TWO_OVER_PI_32, &TWO_OVER_PI_64);
    let mut words = [lit(0); TWO_OVER_PI_64.len()];
    for (word, &value) in words.iter_mut().zip(table) {
        *word = lit(value);
    }
    let log_width = V::WIDTH.trailing_zeros() as u64;
    // Move by 8, 4, 2 and 1 words (2 and 1 for float32); four words must be left.
    for level in V::choose(0..2, 0..4).rev() {
        let step = 1usize << level;
        let moves = !(offset & lit(1 << (log_width + level))).eq(lit(0));
        for i in 0..step + 3 {
            words[i] = V::Bits::select(moves, words[i + step], words[i]);
        }
    }
    let shift = offset & lit(V::WIDTH as u64 - 1);
    let rest = lit(V::WIDTH as u64 - 1).wrapping_sub(shift);
    // Two shifts for the lower word: a shift by the full width has no meaning.
    [0, 1, 2].map(|i| words[i].shl(shift) | words[i + 1].shr(lit(1)).shr(rest))
}

/// |x| reduced; the wide reduction is left out where the caller knows |x| < [`MODERATE`].
#[inline(always)]
fn reduce<V: Real, const WIDE: bool>(a: V) -> Angle<V> {
    let angle = reduce_moderate(a);
    if !WIDE {
        return angle;
    }
    let wide = reduce_wide(a);
    let moderate = a.lt(a.lit(MODERATE));
    Angle {
        quadrant: V::Bits::select(moderate, angle.quadrant, wide.quadrant),
        hi: V::select(moderate, angle.hi, wide.hi),
        lo: V::select(moderate, angle.lo, wide.lo),
    }
}

impl<V: Real> Angle<V> {
    /// The angle a pi for 0 <= a < 2^(MANTISSA - 3).
    #[inline(always)]
    pub(super) fn half_turns(a: V) -> Self {
        let (n, quadrant) = a.nearest(a.lit(2.0), 0);
        let r = Pair::constant(a, &HALF_PI).scaled(n.lit(2.0).fma(a, -n));
        Angle { quadrant, hi: r.hi, lo: r.lo }
    }

    /// Sine and cosine of the remainder, as sums.
    #[inline(always)]
    fn sine_and_cosine(&self) -> (Pair<V>, Pair<V>) {
        let (hi, lo) = (self.hi, self.lo);
        let one = hi.lit(1.0);
        let z = hi * hi;
        let half = hi * hi.lit(-0.5);
        // 1 - hi^2 / 2 with its rounding error.
        let w = half.fma(hi, one);
        let w_lo = half.fma(hi, one - w);
        (
            Pair { hi, lo: (hi * z).fma(z.poly(&SIN), lo * w) },
            Pair { hi: w, lo: (z * z).fma(z.poly(&COS), (-hi).fma(lo, w_lo)) },
        )
    }

    /// Sine and cosine of the angle, both up to one common sign.
    #[inline(always)]
    pub(super) fn up_to_sign(&self) -> (Pair<V>, Pair<V>) {
        let (mut sin, cos) = self.sine_and_cosine();
        // What hi^3 / 6 loses to rounding, a tenth of a unit, counts where the error of a quotient comes on top.
        let square = Pair::product(self.hi, self.hi);
        let cube = square.scaled(self.hi);
        sin.lo = cube.lo.fma(self.hi.part(&SIN, 0), sin.lo);
        let swapped = !(self.quadrant & self.quadrant.lit(1)).eq(self.quadrant.lit(0));
        (Pair::select(swapped, cos, sin).normal(), Pair::select(swapped, sin.neg(), cos).normal())
    }
}

/// sin x, or, with a turn of pi / 2, cos x.
#[inline(always)]
fn sine<V: Real, const WIDE: bool>(x: V, turns: u64) -> V {
    let a = x.abs();
    let Angle { quadrant, hi, lo } = reduce::<V, WIDE>(a);
    let z = hi * hi;
    let sin = hi + (hi * z).fma(z.poly(&SIN), lo);
    // What is added to 1 is summed first: at most a quarter unit is lost of it.
    let half = hi * hi.lit(-0.5);
    let cos = x.lit(1.0) + half.fma(hi, (-hi).fma(lo, z * z * z.poly(&COS)));
    let quadrant = quadrant.wrapping_add(quadrant.lit(turns));
    let swapped = !(quadrant & quadrant.lit(1)).eq(quadrant.lit(0));
    let turned = quadrant.shl(quadrant.lit(V::WIDTH as u64 - 2));
    let sign = if turns == 0 { turned ^ x.bits() } else { turned };
    let y = V::select(swapped, cos, sin).flip(sign & sign.lit(1 << (V::WIDTH - 1)));
    if WIDE { V::select(a.lt(x.lit(f64::INFINITY)), y, x.lit(f64::NAN)) } else { y }
}

#[inline(always)]
fn tangent<V: Real, const WIDE: bool>(x: V) -> V {
    let a = x.abs();
    let (sin, cos) = reduce::<V, WIDE>(a).up_to_sign();
    let y = sin.quotient(cos).flip(x.sign());
    if WIDE { V::select(a.lt(x.lit(f64::INFINITY)), y, x.lit(f64::NAN)) } else { y }
}

/// sin x. sin(+-0) = +-0; NaN for infinities.
#[inline(always)]
pub fn sin<V: Real>(x: V) -> V {
    sine::<V, true>(x, 0)
}

/// cos x. NaN for infinities.
#[inline(always)]
pub fn cos<V: Real>(x: V) -> V {
    sine::<V, true>(x, 1)
}

/// tan x. tan(+-0) = +-0; NaN for infinities.
#[inline(always)]
pub fn tan<V: Real>(x: V) -> V {
    tangent::<V, true>(x)
}

/// The bits of [`sin`] at about a third of its cost, for |x| < [`MODERATE`] only (a NaN gives NaN).
#[inline(always)]
pub fn sin_moderate<V: Real>(x: V) -> V {
    sine::<V, false>(x, 0)
}

/// The bits of [`cos`] at about a third of its cost, for |x| < [`MODERATE`] only (a NaN gives NaN).
#[inline(always)]
pub fn cos_moderate<V: Real>(x: V) -> V {
    sine::<V, false>(x, 1)
}

/// The bits of [`tan`] at about half its cost, for |x| < [`MODERATE`] only (a NaN gives NaN).
#[inline(always)]
pub fn tan_moderate<V: Real>(x: V) -> V {
    tangent::<V, false>(x)
}
