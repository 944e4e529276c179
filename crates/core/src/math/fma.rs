//! `x * y + z` rounded once, for targets without an instruction for it: exact for every input, so that all instruction sets
//! give the same bits.
//!
//! Method: the sum is split into a float and a rest, and the rest is rounded to odd (its last bit then says "and something
//! more"), after which one ordinary addition or conversion rounds as if it saw everything (Boldo and Melquiond, "Emulation of
//! FMA and correctly rounded sums: proved algorithms using rounding to odd", IEEE Transactions on Computers 57, 2008).
//!
//! In an SSE2 loop it costs 1.2 ns an element in float32 and 3.8 ns in float64, and leaves the loop free to vectorise. A
//! library's software fma costs 104 ns a call in glibc 2.36 and 10 ns in Rust's own libm (float64, one core of an AMD EPYC).
//! Where a processor has the instruction a library's call finds it (3 ns), but there a newer tier is used.

use super::real::{Bits, Lane, Real};
use crate::planted;

/// A float whose fused multiply-add can be computed without the instruction.
pub trait EmulatedFma: Real<Mask = bool> {
    /// `x * y + z` rounded once, and whether that is in doubt. Free of branches and calls, so that loops vectorise.
    fn quick(x: Self, y: Self, z: Self) -> (Self, bool);
    /// `x * y + z` rounded once, whatever the operands.
    fn exact(x: Self, y: Self, z: Self) -> Self;
}

impl EmulatedFma for f32 {
    /// Never in doubt: float64 holds the product, and the sum to more than twice the bits that are kept.
    #[inline(always)]
    fn quick(x: f32, y: f32, z: f32) -> (f32, bool) {
        if planted::is("emulated-fma-rounds-twice") {
            return ((x as f64 * y as f64 + z as f64) as f32, false);
        }
        (add_to_odd(x as f64 * y as f64, z as f64) as f32, false)
    }

    #[inline(always)]
    fn exact(x: f32, y: f32, z: f32) -> f32 {
        Self::quick(x, y, z).0
    }
}

impl EmulatedFma for f64 {
    /// In doubt where the product is so small that its rounding error may be no float64, and where an intermediate result
    /// overflowed: infinities and NaN stay what they are, so a finite result says that none did.
    #[inline(always)]
    fn quick(x: f64, y: f64, z: f64) -> (f64, bool) {
        // Errors are carried negated: exact steps then leave +0, whose subtraction keeps the sign of a zero result.
        let (product, error) = product(x, y);
        let (th, tl) = sum(z, -error);
        let (vh, vl) = sum(product, th);
        // vl is 0 or at least twice tl: where z is the larger of the first sum, tl is at most `error`, half a unit of
        // `product`, and else half a unit of th; vl is a multiple of both units. So three operations give the exact sum.
        let low = vl + tl;
        let result = vh - to_odd(low, tl - (low - vl));
        // The last bit of the exact product is at least 2^-106 of it and must not fall below 2^-1074.
        let small = (product.abs() < f64::from_bits((1023 - 960) << 52)) & (x != 0.0) & (y != 0.0);
        (result, small | !result.is_finite())
    }

    /// Integer arithmetic; not inlined, as what `quick` is sure of never comes here.
    #[cold]
    #[inline(never)]
    fn exact(x: f64, y: f64, z: f64) -> f64 {
        if !x.is_finite() || !y.is_finite() || x == 0.0 || y == 0.0 {
            return x * y + z;
        }
        if !z.is_finite() {
            return z;
        }
        let ((mx, ex), (my, ey), (mz, ez)) = (decode(x), decode(y), decode(z));
        let product = Term::new(x.is_sign_negative() != y.is_sign_negative(), mx as u128 * my as u128, ex + ey);
        let addend = Term::new(z.is_sign_negative(), mz as u128, ez);
        product.plus(addend).round()
    }
}

/// `x + y` rounded to odd: where the sum is not exact, its last bit is set and it lies on the side of the exact sum.
#[inline(always)]
pub fn add_to_odd<V: Real>(x: V, y: V) -> V {
    let (sum, error) = sum(x, y);
    to_odd(sum, -error)
}

/// The exact sum of a float and its rounding error, rounded to odd.
#[inline(always)]
fn to_odd<V: Real>(sum: V, error: V) -> V {
    // Towards zero, then the last bit is set. Beside an infinite sum the error is NaN, and nothing is done.
    let bits = sum.bits();
    let inexact = V::Bits::select(sum.lit(0.0).lt(error.abs()), bits.lit(1), bits.lit(0));
    let outwards = (bits ^ error.bits()).shr(bits.lit(V::WIDTH as u64 - 1));
    sum.with_bits(bits.wrapping_sub(outwards & inexact) | inexact)
}

/// `a + b` and its negated rounding error (Knuth); the error of an exact sum is +0.
#[inline(always)]
fn sum<V: Real>(a: V, b: V) -> (V, V) {
    let sum = a + b;
    let back = sum - a;
    (sum, ((sum - back) - a) + (back - b))
}

/// `a * b` and its negated rounding error (Dekker); the error of an exact product is +0.
#[inline(always)]
fn product(a: f64, b: f64) -> (f64, f64) {
    // Veltkamp's splitting into 26 bits and a signed rest of 26: products of halves are exact. Rounding the integer behind the
    // bits instead saves an instruction, and is wrong where a subnormal factor has no more than 27 bits.
    let split = |v: f64| {
        let scaled = v * 134_217_729.0; // 2^27 + 1
        let high = scaled - (scaled - v);
        (high, v - high)
    };
    let (product, (ah, al), (bh, bl)) = (a * b, split(a), split(b));
    (product, (((product - ah * bh) - al * bh) - ah * bl) - al * bl)
}

/// Significand and exponent of a finite number: |v| = m * 2^e.
fn decode(v: f64) -> (u64, i32) {
    let (field, fraction) = (v.to_bits() >> 52 & 0x7ff, v.to_bits() & ((1 << 52) - 1));
    (fraction | ((field != 0) as u64) << 52, field.max(1) as i32 - 1075)
}

/// The number (-1)^negative * m * 2^e.
#[derive(Clone, Copy)]
struct Term {
    negative: bool,
    m: u128,
    e: i32,
}

impl Term {
    /// With the highest bit of `m` moved to bit 125: two are left for sums. The 106 bits of a product leave 20 zeros below.
    fn new(negative: bool, m: u128, e: i32) -> Self {
        // Zero is smaller than every other term.
        let up = m.leading_zeros() as i32 - 2;
        if m == 0 { Term { negative, m, e: i32::MIN / 2 } } else { Term { negative, m: m << up, e: e - up } }
    }

    /// The sum; bits too low for the window are kept as one odd bit. That happens only where the exponents differ by more
    /// than 20, so that no more than one leading bit cancels.
    fn plus(self, other: Term) -> Term {
        let (a, b) = if (self.e, self.m) < (other.e, other.m) { (other, self) } else { (self, other) };
        let down = a.e.abs_diff(b.e).min(127);
        let cut = b.m & ((1 << down) - 1) != 0;
        let b_m = b.m >> down | cut as u128;
        let m = if a.negative == b.negative { a.m + b_m } else { a.m - b_m };
        Term { m, ..a }
    }

    /// The nearest float64, ties to even.
    fn round(self) -> f64 {
        // Only numbers that cancel give 0, which then is +0.
        if self.m == 0 {
            return 0.0;
        }
        let sign = (self.negative as u64) << 63;
        let top = 127 - self.m.leading_zeros() as i32;
        // Exponent of the result's last bit.
        let unit = (self.e + top - 52).max(-1074);
        let drop = unit - self.e;
        let (kept, rest) = match drop {
            ..=0 => (self.m << -drop, 0),
            1..=127 => (self.m >> drop, self.m << (128 - drop)),
            // Below half a unit, as bit 127 is never set.
            _ => (0, 1),
        };
        let half = 1 << 127;
        let up = rest > half || (rest == half && kept & 1 == 1);
        // A significand of 53 bits adds its highest to the exponent field, and so does one that was rounded up to 54.
        let bits = ((unit + 1074) as u64) << 52;
        let magnitude = bits.wrapping_add(kept as u64 + up as u64).min(f64::INFINITY.to_bits());
        f64::from_bits(sign | if unit > 971 { f64::INFINITY.to_bits() } else { magnitude })
    }
}
