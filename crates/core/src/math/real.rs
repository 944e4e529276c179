//! The arithmetic the scalar functions are written in: [`Real`] and its integer and mask companions, and their meaning
//! for `f32` and `f64`.
//!
//! Everything is branch-free and exact or rounded once, so a plain loop over a function vectorises, and every
//! instruction set and every emitter of the recorded program gives the same bits. There is no float <-> integer
//! conversion: Rust's saturating `as` blocks vectorisation (0.75 instead of 0.14 ns per element of `exp`, AVX-512), so
//! integers travel in the low mantissa bits of a float instead.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// A polynomial or a constant in parts, for each precision.
pub struct Table {
    pub(super) single: &'static [f64],
    pub(super) double: &'static [f64],
}

impl Table {
    #[inline(always)]
    pub(super) fn of<V: Real>(&self) -> &'static [f64] {
        V::choose(self.single, self.double)
    }
}

/// The result of a comparison.
pub trait Mask: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {}

/// What floats and integers share.
pub trait Lane: Copy {
    /// The result of comparing two of these.
    type Mask: Mask;
    /// `mask ? yes : no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// `self == other`.
    fn eq(self, other: Self) -> Self::Mask;
}

/// An unsigned integer as wide as the float. Arithmetic wraps.
pub trait Bits: Lane + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> {
    /// A constant beside `self`.
    fn lit(self, value: u64) -> Self;
    /// `self + other`.
    fn wrapping_add(self, other: Self) -> Self;
    /// `self - other`.
    fn wrapping_sub(self, other: Self) -> Self;
    /// Low half of the product.
    fn wrapping_mul(self, other: Self) -> Self;
    /// High half of the product.
    fn mul_hi(self, other: Self) -> Self;
    /// `self << count`, count below the width.
    fn shl(self, count: Self) -> Self;
    /// `self >> count`, zeros shifted in, count below the width.
    fn shr(self, count: Self) -> Self;
    /// `self < other`.
    fn lt(self, other: Self) -> Self::Mask;
}

/// A float32 or float64: a number, or an instruction being recorded.
pub trait Real:
    Lane + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// The unsigned integer of the same width.
    type Bits: Bits<Mask = Self::Mask>;
    /// Bits in all: 32 or 64.
    const WIDTH: u32;
    /// Stored bits of the significand.
    const MANTISSA: u32 = if Self::WIDTH == 32 { 23 } else { 52 };
    /// Exponent field of 1.
    const BIAS: u32 = if Self::WIDTH == 32 { 127 } else { 1023 };
    /// The largest exponent n for which 2^n times a number below 4 rounds to 0: three less than that of half the smallest number.
    const LOST: f64 = -((Self::BIAS + Self::MANTISSA + 3) as f64);
    /// The bits of sqrt(1/2).
    const ROOT_HALF: u64 = if Self::WIDTH == 32 { 0x3f35_04f3 } else { 0x3fe6_a09e_667f_3bcd };

    /// A constant beside `self`, rounded from float64.
    fn lit(self, value: f64) -> Self;
    /// `self * b + c` rounded once. For `f32` and `f64` themselves it is the target's instruction, or a call of the C
    /// library where the target has none: code for such targets computes in [`super::Fused`].
    fn fma(self, b: Self, c: Self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// The square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// `self < other`.
    fn lt(self, other: Self) -> Self::Mask;
    /// The bits of the float.
    fn bits(self) -> Self::Bits;
    /// The float with these bits (beside `self`).
    fn with_bits(self, bits: Self::Bits) -> Self;

    /// One of two things by precision, known at compile time.
    #[inline(always)]
    fn choose<T>(single: T, double: T) -> T {
        if Self::WIDTH == 32 { single } else { double }
    }

    /// The n-th part of a constant.
    #[inline(always)]
    fn part(self, table: &Table, n: usize) -> Self {
        self.lit(table.of::<Self>()[n])
    }

    /// The polynomial at `self`: pairs of terms, then Horner's rule in `self`^2. The chain is half as long as Horner's,
    /// which is what a loop waits for (`exp` float32, AVX2: 0.49 -> 0.37 ns per element).
    #[inline(always)]
    fn poly(self, table: &Table) -> Self {
        let c = table.of::<Self>();
        let square = self * self;
        let last = (c.len() - 1) / 2;
        let mut sum = pair(self, c, last);
        // Written out for the longest table there is: LLVM unrolls a loop only up to a size, which terms with an emulated fma
        // exceed, and an inner loop keeps the outer one from being vectorised (`exp` float64, SSE2: 170 instead of 72 ns per element).
        macro_rules! steps {
            ($($n:literal)*) => {$(
                if $n <= last {
                    let next = pair(self, c, last - $n);
                    sum = sum.fma(square, next);
                }
            )*};
        }
        steps!(1 2 3 4 5 6 7 8 9 10);
        assert!(last <= 10);
        sum
    }

    /// The polynomial at `self` by Horner's rule: one operation less than [`Real::poly`] has, in a chain twice as long.
    #[inline(always)]
    fn horner(self, table: &Table) -> Self {
        let c = table.of::<Self>();
        let mut sum = self.lit(c[c.len() - 1]);
        // Written out for the reason given there.
        macro_rules! steps {
            ($($n:literal)*) => {$(
                if $n < c.len() {
                    sum = sum.fma(self, self.lit(c[c.len() - 1 - $n]));
                }
            )*};
        }
        steps!(1 2 3 4 5 6 7 8 9);
        assert!(c.len() <= 10);
        sum
    }

    /// The sign bit alone.
    #[inline(always)]
    fn sign(self) -> Self::Bits {
        let bits = self.bits();
        bits & bits.lit(1 << (Self::WIDTH - 1))
    }

    /// `self`, negated where `sign` holds a sign bit.
    #[inline(always)]
    fn flip(self, sign: Self::Bits) -> Self {
        self.with_bits(self.bits() ^ sign)
    }

    /// The integer nearest to `self * factor` (ties to even) as a float, and bits whose low part is that integer plus
    /// `offset` in two's complement: adding 1.5 * 2^MANTISSA leaves no room for a fraction. |integer| < 2^(MANTISSA-2).
    #[inline(always)]
    fn nearest(self, factor: Self, offset: u32) -> (Self, Self::Bits) {
        let magic = self.lit(1.5 * (1u64 << Self::MANTISSA) as f64 + offset as f64);
        let shifted = self.fma(factor, magic);
        (shifted - magic, shifted.bits())
    }

    /// An integer below 2^MANTISSA as a float (beside `self`).
    #[inline(always)]
    fn float_of(self, integer: Self::Bits) -> Self {
        let magic = self.lit((1u64 << Self::MANTISSA) as f64);
        self.with_bits(integer | magic.bits()) - magic
    }

    // From here on what some instruction sets have an instruction for. Bodies and instructions give the same bits.

    /// `self`, at most `high`; NaN stays.
    #[inline(always)]
    fn at_most(self, high: f64) -> Self {
        let high = self.lit(high);
        Self::select(high.lt(self), high, self)
    }

    /// `self`, at least `low`; NaN stays.
    #[inline(always)]
    fn at_least(self, low: f64) -> Self {
        let low = self.lit(low);
        Self::select(self.lt(low), low, self)
    }

    /// At least `low`, an exponent whose power rounds to 0, or a little less, where [`Real::times_power`] knows what is [`Real::LOST`].
    #[inline(always)]
    fn not_below_lost(self, low: f64) -> Self {
        self.at_least(low)
    }

    /// `self * 2^n` rounded once, for an integer n and two powers of two with that product, of about half the exponent each;
    /// `self` below 4 in size and not small (of what is lost the sign of zero may differ, where `self` is negative).
    #[inline(always)]
    fn times_power(self, n: Self, halves: (Self, Self)) -> Self {
        let _ = n;
        self * halves.0 * halves.1
    }

    /// `self` = 2^k m with sqrt(1/2) <= m < sqrt(2): (k, m). For positive finite numbers, subnormals too; of others nothing is
    /// said.
    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        let lift = Self::MANTISSA + 1;
        let subnormal = self.lt(self.lit(Self::choose(f32::MIN_POSITIVE as f64, f64::MIN_POSITIVE)));
        let bits = Self::select(subnormal, self * self.lit((1u64 << lift) as f64), self).bits();
        let one = (Self::BIAS as u64) << Self::MANTISSA;
        let mantissa = bits.lit(Self::MANTISSA as u64);
        // Exponent steps lie at sqrt(1/2) instead of at powers of two.
        let biased = bits.wrapping_add(bits.lit(one - Self::ROOT_HALF)).shr(mantissa);
        let m = self.with_bits(bits.wrapping_sub(biased.shl(mantissa)).wrapping_add(bits.lit(one)));
        let bias = Self::select(subnormal, self.lit((Self::BIAS + lift) as f64), self.lit(Self::BIAS as f64));
        (self.float_of(biased) - bias, m)
    }

    /// `self`, which is a logarithm of `x`, or what belongs there for x = 0, infinite, negative or NaN.
    #[inline(always)]
    fn or_ends_of_log(self, x: Self) -> Self {
        let y = Self::select(x.lt(x.lit(f64::INFINITY)), self, x);
        let y = Self::select(x.lt(x.lit(0.0)), x.lit(f64::NAN), y);
        Self::select(x.eq(x.lit(0.0)), x.lit(f64::NEG_INFINITY), y)
    }
}

/// The n-th two terms of a polynomial, as one of the first degree.
#[inline(always)]
fn pair<V: Real>(x: V, c: &[f64], n: usize) -> V {
    match c.get(2 * n + 1) {
        Some(&high) => x.fma(x.lit(high), x.lit(c[2 * n])),
        None => x.lit(c[2 * n]),
    }
}

impl Mask for bool {}

macro_rules! native {
    ($float:ty, $bits:ty, $mul_hi:expr) => {
        impl Lane for $float {
            type Mask = bool;
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn eq(self, other: Self) -> bool {
                self == other
            }
        }
        impl Lane for $bits {
            type Mask = bool;
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn eq(self, other: Self) -> bool {
                self == other
            }
        }
        impl Bits for $bits {
            #[inline(always)]
            fn lit(self, value: u64) -> Self {
                value as $bits
            }
            #[inline(always)]
            fn wrapping_add(self, other: Self) -> Self {
                <$bits>::wrapping_add(self, other)
            }
            #[inline(always)]
            fn wrapping_sub(self, other: Self) -> Self {
                <$bits>::wrapping_sub(self, other)
            }
            #[inline(always)]
            fn wrapping_mul(self, other: Self) -> Self {
                <$bits>::wrapping_mul(self, other)
            }
            #[inline(always)]
            fn mul_hi(self, other: Self) -> Self {
                $mul_hi(self, other)
            }
            #[inline(always)]
            fn shl(self, count: Self) -> Self {
                self.wrapping_shl(count as u32)
            }
            #[inline(always)]
            fn shr(self, count: Self) -> Self {
                self.wrapping_shr(count as u32)
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self < other
            }
        }
        impl Real for $float {
            type Bits = $bits;
            const WIDTH: u32 = <$bits>::BITS;
            #[inline(always)]
            fn lit(self, value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$float>::abs(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$float>::sqrt(self)
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn bits(self) -> $bits {
                self.to_bits()
            }
            #[inline(always)]
            fn with_bits(self, bits: $bits) -> Self {
                <$float>::from_bits(bits)
            }
        }
    };
}

native!(f32, u32, |a: u32, b: u32| ((a as u64 * b as u64) >> 32) as u32);
// Four 32-bit products: LLVM does not vectorise a 128-bit one.
native!(f64, u64, |a: u64, b: u64| {
    let (low, high) = (|x: u64| x & 0xffff_ffff, |x: u64| x >> 32);
    let (p01, p10) = (low(a) * high(b), high(a) * low(b));
    let middle = high(low(a) * low(b)) + low(p01) + low(p10);
    high(a) * high(b) + high(p01) + high(p10) + high(middle)
});
