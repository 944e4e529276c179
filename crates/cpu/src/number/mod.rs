//! The arithmetic of one element, defined once for each class of types: what every instruction of the scalar IR means in
//! Rust. An [`Item`] is loaded as the [`Item::Value`] its arithmetic runs in, and rounded once when stored.

pub mod cast;
pub mod half_bits;

use ferrotensor_core::element::{Complex, bf16, f16};
use ferrotensor_core::math::{add_to_odd, complex};
use ferrotensor_core::planted;
use ferrotensor_core::{Bool, Element};
use half_bits::{bf16_from_f32, f16_from_f32, f32_from_bf16, f32_from_f16, f32_odd_from_f64};

/// An element type and the type its arithmetic runs in: float32 for float16 and bfloat16, `bool` for [`Bool`].
pub trait Item: Element {
    /// What arithmetic runs in.
    type Value: Number;
    /// The element as a value; exact.
    fn load(self) -> Self::Value;
    /// The value rounded to the element type.
    fn store(value: Self::Value) -> Self;
}

macro_rules! items {
    ($($t:ty as $v:ty: $load:expr, $store:expr;)*) => {$(
        impl Item for $t {
            type Value = $v;
            #[inline(always)]
            fn load(self) -> $v { $load(self) }
            #[inline(always)]
            fn store(value: $v) -> $t { $store(value) }
        }
    )*};
    (plain $($t:ty)*) => { items! { $($t as $t: std::convert::identity, std::convert::identity;)* } };
}
items! { plain i8 u8 i16 u16 i32 u32 i64 u64 f32 f64 Complex<f32> Complex<f64> }
items! {
    Bool as bool: Bool::get, Bool::from;
    f16 as f32: f32_from_f16, f16_from_f32;
    bf16 as f32: f32_from_bf16, bf16_from_f32;
}

/// What every value can do. Integers wrap; for `bool`, `add` is or and `mul` is and.
#[allow(missing_docs)]
pub trait Number: Copy + Send + Sync + 'static {
    fn add(self, y: Self) -> Self;
    fn mul(self, y: Self) -> Self;
    fn same(self, y: Self) -> bool;
    fn differs(self, y: Self) -> bool {
        !self.same(y)
    }
    /// The sum of nothing: +0.
    const ZERO: Self;
    /// Product's identity.
    const ONE: Self;
}

/// Everything but `bool`. `x / 0 = 0` for integers.
#[allow(missing_docs)]
pub trait Arithmetic: Number {
    fn neg(self) -> Self;
    fn sub(self, y: Self) -> Self;
    fn div(self, y: Self) -> Self;
}

/// Everything but complex numbers. `min` and `max`: NaN wins, `-0 < +0`.
#[allow(missing_docs)]
pub trait Ordered: Number {
    fn less(self, y: Self) -> bool;
    fn less_equal(self, y: Self) -> bool;
    fn min(self, y: Self) -> Self;
    fn max(self, y: Self) -> Self;
    /// `min` of what is not NaN.
    fn min_number(self, y: Self) -> Self {
        self.min(y)
    }
    /// `max` of what is not NaN.
    fn max_number(self, y: Self) -> Self {
        self.max(y)
    }
    fn is_nan(self) -> bool;
    /// Whether zeros have signs.
    const SIGNED_ZEROS: bool = false;
    const SMALLEST: Self;
    const LARGEST: Self;
}

/// Integers and floats. `rem` is the remainder of the truncated division; 0 for an integer by 0.
#[allow(missing_docs)]
pub trait Real: Arithmetic + Ordered {
    fn abs(self) -> Self;
    fn rem(self, y: Self) -> Self;
}

/// Floats. `round` breaks ties to even.
#[allow(missing_docs)]
pub trait Float: Real {
    fn sqrt(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn round(self) -> Self;
    fn trunc(self) -> Self;
}

/// The float dtypes whose arithmetic is wider than they are.
pub trait Half: Item<Value = f32> {
    /// `x * y + z`, rounded once to the dtype itself.
    fn fma(x: Self, y: Self, z: Self) -> Self;
}

macro_rules! halves {
    ($($t:ty)*) => {$(
        impl Half for $t {
            /// The product is exact in float64. The sum is rounded to odd there and in float32, so that the only rounding
            /// that counts is the last one.
            #[inline(always)]
            fn fma(x: $t, y: $t, z: $t) -> $t {
                let product = x.load() as f64 * y.load() as f64;
                Self::store(f32_odd_from_f64(add_to_odd(product, z.load() as f64)))
            }
        }
    )*};
}
halves! { f16 bf16 }

/// Integers and `bool`.
#[allow(missing_docs)]
pub trait Bits: Number {
    fn not(self) -> Self;
    fn and(self, y: Self) -> Self;
    fn or(self, y: Self) -> Self;
    fn xor(self, y: Self) -> Self;
}

/// Integers. A shift by the width or more (or by a negative count) leaves 0, or the sign for `shr` of a signed one.
#[allow(missing_docs)]
pub trait Shift: Bits {
    fn shl(self, y: Self) -> Self;
    fn shr(self, y: Self) -> Self;
}

/// Integers.
pub trait Whole: Bits {
    /// Greatest common divisor, not negative; wraps where it does not fit.
    fn gcd(self, y: Self) -> Self;
}

/// uint32 and uint64.
pub trait MulHi: Bits {
    /// High half of the double-width product.
    fn mul_hi(self, y: Self) -> Self;
}

macro_rules! integers {
    ($($t:ident $u:ident $abs:expr;)*) => {$(
        impl Number for $t {
            const ZERO: $t = 0;
            const ONE: $t = 1;
            #[inline(always)]
            fn add(self, y: $t) -> $t { self.wrapping_add(y) }
            #[inline(always)]
            fn mul(self, y: $t) -> $t { self.wrapping_mul(y) }
            #[inline(always)]
            fn same(self, y: $t) -> bool { self == y }
        }
        impl Arithmetic for $t {
            #[inline(always)]
            fn neg(self) -> $t { self.wrapping_neg() }
            #[inline(always)]
            fn sub(self, y: $t) -> $t { self.wrapping_sub(y) }
            #[inline(always)]
            fn div(self, y: $t) -> $t {
                if y == 0 && planted::is("division-by-zero-is-the-dividend") { self }
                else if y == 0 { 0 } else { self.wrapping_div(y) }
            }
        }
        impl Ordered for $t {
            const SMALLEST: $t = $t::MIN;
            const LARGEST: $t = $t::MAX;
            #[inline(always)]
            fn less(self, y: $t) -> bool { self < y }
            #[inline(always)]
            fn less_equal(self, y: $t) -> bool { self <= y }
            #[inline(always)]
            fn min(self, y: $t) -> $t { Ord::min(self, y) }
            #[inline(always)]
            fn max(self, y: $t) -> $t { Ord::max(self, y) }
            #[inline(always)]
            fn is_nan(self) -> bool { false }
        }
        impl Real for $t {
            #[inline(always)]
            fn abs(self) -> $t { $abs(self) }
            #[inline(always)]
            fn rem(self, y: $t) -> $t { if y == 0 { 0 } else { self.wrapping_rem(y) } }
        }
        impl Bits for $t {
            #[inline(always)]
            fn not(self) -> $t { !self }
            #[inline(always)]
            fn and(self, y: $t) -> $t { self & y }
            #[inline(always)]
            fn or(self, y: $t) -> $t { self | y }
            #[inline(always)]
            fn xor(self, y: $t) -> $t { self ^ y }
        }
        impl Whole for $t {
            #[inline(always)]
            fn gcd(self, y: $t) -> $t {
                // Euclid's algorithm on absolute values, which fit the unsigned type.
                let (mut x, mut y) = ($abs(self) as $u, $abs(y) as $u);
                while y != 0 {
                    (x, y) = (y, x % y);
                }
                x as $t
            }
        }
        impl Shift for $t {
            #[inline(always)]
            fn shl(self, y: $t) -> $t { if (y as $u) < $t::BITS as $u { self.wrapping_shl(y as u32) } else { 0 } }
            #[inline(always)]
            fn shr(self, y: $t) -> $t {
                // The sign twice over: `x >> (width - 1)` is what is left of a shift by more.
                if (y as $u) < $t::BITS as $u { self.wrapping_shr(y as u32) }
                else if $t::MIN == 0 { 0 } else { self.wrapping_shr($t::BITS - 1) }
            }
        }
    )*};
}
integers! {
    i8 u8 i8::wrapping_abs; i16 u16 i16::wrapping_abs; i32 u32 i32::wrapping_abs; i64 u64 i64::wrapping_abs;
    u8 u8 std::convert::identity; u16 u16 std::convert::identity; u32 u32 std::convert::identity; u64 u64 std::convert::identity;
}

impl MulHi for u32 {
    #[inline(always)]
    fn mul_hi(self, y: u32) -> u32 {
        ((self as u64 * y as u64) >> 32) as u32
    }
}

impl MulHi for u64 {
    #[inline(always)]
    fn mul_hi(self, y: u64) -> u64 {
        ((self as u128 * y as u128) >> 64) as u64
    }
}

impl Number for bool {
    const ZERO: bool = false;
    const ONE: bool = true;
    #[inline(always)]
    fn add(self, y: bool) -> bool {
        self | y
    }
    #[inline(always)]
    fn mul(self, y: bool) -> bool {
        self & y
    }
    #[inline(always)]
    fn same(self, y: bool) -> bool {
        self == y
    }
}

impl Ordered for bool {
    const SMALLEST: bool = false;
    const LARGEST: bool = true;
    #[inline(always)]
    fn less(self, y: bool) -> bool {
        !self & y
    }
    #[inline(always)]
    fn less_equal(self, y: bool) -> bool {
        !self | y
    }
    #[inline(always)]
    fn min(self, y: bool) -> bool {
        self & y
    }
    #[inline(always)]
    fn max(self, y: bool) -> bool {
        self | y
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }
}

impl Bits for bool {
    #[inline(always)]
    fn not(self) -> bool {
        !self
    }
    #[inline(always)]
    fn and(self, y: bool) -> bool {
        self & y
    }
    #[inline(always)]
    fn or(self, y: bool) -> bool {
        self | y
    }
    #[inline(always)]
    fn xor(self, y: bool) -> bool {
        self ^ y
    }
}

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Number for $t {
            const ZERO: $t = 0.0;
            const ONE: $t = 1.0;
            #[inline(always)]
            fn add(self, y: $t) -> $t { self + y }
            #[inline(always)]
            fn mul(self, y: $t) -> $t { self * y }
            #[inline(always)]
            fn same(self, y: $t) -> bool { self == y }
        }
        impl Arithmetic for $t {
            #[inline(always)]
            fn neg(self) -> $t { -self }
            #[inline(always)]
            fn sub(self, y: $t) -> $t { self - y }
            #[inline(always)]
            fn div(self, y: $t) -> $t { self / y }
        }
        impl Ordered for $t {
            const SIGNED_ZEROS: bool = true;
            const SMALLEST: $t = $t::NEG_INFINITY;
            const LARGEST: $t = $t::INFINITY;
            #[inline(always)]
            fn less(self, y: $t) -> bool { self < y }
            #[inline(always)]
            fn less_equal(self, y: $t) -> bool { self <= y }
            #[inline(always)]
            fn min(self, y: $t) -> $t { if self != self || y != y { self + y } else { self.min_number(y) } }
            #[inline(always)]
            fn max(self, y: $t) -> $t { if self != self || y != y { self + y } else { self.max_number(y) } }
            // Selects only, so that the loop around them vectorises, each of which is an instruction of x86. Equal values differ
            // at most in the sign of zero.
            #[inline(always)]
            fn min_number(self, y: $t) -> $t {
                let (a, b) = (if self < y { self } else { y }, if y < self { y } else { self });
                $t::from_bits(a.to_bits() | b.to_bits())
            }
            #[inline(always)]
            fn max_number(self, y: $t) -> $t {
                let (a, b) = (if self > y { self } else { y }, if y > self { y } else { self });
                $t::from_bits(a.to_bits() & b.to_bits())
            }
            #[inline(always)]
            fn is_nan(self) -> bool { self != self }
        }
        impl Real for $t {
            #[inline(always)]
            fn abs(self) -> $t { $t::abs(self) }
            #[inline(always)]
            fn rem(self, y: $t) -> $t { self % y }
        }
        impl Float for $t {
            #[inline(always)]
            fn sqrt(self) -> $t { $t::sqrt(self) }
            #[inline(always)]
            fn floor(self) -> $t { $t::floor(self) }
            #[inline(always)]
            fn ceil(self) -> $t { $t::ceil(self) }
            #[inline(always)]
            fn round(self) -> $t { self.round_ties_even() }
            #[inline(always)]
            fn trunc(self) -> $t { $t::trunc(self) }
        }
        impl Number for Complex<$t> {
            const ZERO: Self = Complex::new(0.0, 0.0);
            const ONE: Self = Complex::new(1.0, 0.0);
            #[inline(always)]
            fn add(self, y: Self) -> Self { Complex::new(self.re + y.re, self.im + y.im) }
            #[inline(always)]
            fn mul(self, y: Self) -> Self {
                let (re, im) = complex::product((self.re, self.im), (y.re, y.im));
                Complex::new(re, im)
            }
            #[inline(always)]
            fn same(self, y: Self) -> bool { (self.re == y.re) & (self.im == y.im) }
        }
        impl Arithmetic for Complex<$t> {
            #[inline(always)]
            fn neg(self) -> Self { Complex::new(-self.re, -self.im) }
            #[inline(always)]
            fn sub(self, y: Self) -> Self { Complex::new(self.re - y.re, self.im - y.im) }
            #[inline(always)]
            fn div(self, y: Self) -> Self {
                let (re, im) = complex::quotient((self.re, self.im), (y.re, y.im));
                Complex::new(re, im)
            }
        }
    )*};
}
floats! { f32 f64 }
