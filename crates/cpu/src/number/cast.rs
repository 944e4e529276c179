//! Conversion of values between any two dtypes: float to integer truncates and saturates (NaN gives 0), integers wrap,
//! complex to real takes the real part, to bool asks for `!= 0`, and everything else rounds once to nearest even.

use super::half_bits::{bf16_from_f32, f16_from_f32, f32_from_bf16, f32_from_f16, f32_odd_from_f64};
use ferrotensor_core::element::{Bool, Complex, bf16, f16};

/// Conversion of one element.
pub trait CastTo<R> {
    /// The element as an `R`.
    fn cast(self) -> R;
}

/// Conversion between plain numbers: what `as` does.
trait Plain<R> {
    fn plain(self) -> R;
}

macro_rules! plain {
    (whole $a:ty: $($r:ty)*) => {$(
        impl Plain<$r> for $a {
            #[inline(always)]
            fn plain(self) -> $r { self as $r }
        }
    )*};
    (float $a:ty: $($r:ty as $limit:literal)*) => {$(
        impl Plain<$r> for $a {
            // Selects, as the saturating `as` keeps loops from being vectorised (float32 to int32, AVX-512: 0.78 ns an element).
            #[inline(always)]
            fn plain(self) -> $r {
                let fits = (self >= <$r>::MIN as $a) & (self < $limit);
                // SAFETY: what does not fit is replaced by 0; truncated, the rest does.
                let near = unsafe { (if fits { self } else { 0.0 }).to_int_unchecked::<$r>() };
                let low = if self < <$r>::MIN as $a { <$r>::MIN } else { near };
                if self >= $limit { <$r>::MAX } else { low }
            }
        }
    )*};
    (wholes $($a:ty)*) => {$( plain!(whole $a: i8 u8 i16 u16 i32 u32 i64 u64 f32 f64); )*};
    (floats $($a:ty)*) => {$(
        plain!(whole $a: f32 f64);
        plain!(float $a: i8 as 128.0 u8 as 256.0 i16 as 32768.0 u16 as 65536.0 i32 as 2147483648.0 u32 as 4294967296.0
            i64 as 9223372036854775808.0 u64 as 18446744073709551616.0);
    )*};
}
plain!(wholes i8 u8 i16 u16 i32 u32 i64 u64);
plain!(floats f32 f64);

/// Real numbers as float32 in which a later rounding to 11 bits or fewer is correct.
trait ToOdd {
    fn to_odd(self) -> f32;
}

macro_rules! to_odd {
    ($($t:ty: |$x:ident| $e:expr;)*) => {$(
        impl ToOdd for $t {
            #[inline(always)]
            fn to_odd(self) -> f32 { let $x = self; $e }
        }
    )*};
}
to_odd! {
    u8: |x| x as f32;
    i8: |x| x as f32;
    u16: |x| x as f32;
    i16: |x| x as f32;
    u32: |x| f32_odd_from_f64(x as f64);
    i32: |x| f32_odd_from_f64(x as f64);
    f32: |x| x;
    f64: |x| f32_odd_from_f64(x);
    // Beyond 2^53 float64 is not exact either: bits below 2^11 are folded into one sticky bit first.
    u64: |x| f32_odd_from_f64((if x >> 53 == 0 { x } else { x & !0x7ff | ((x & 0x7ff != 0) as u64) << 11 }) as f64);
    i64: |x| { let f = x.unsigned_abs().to_odd(); if x < 0 { -f } else { f } };
}

macro_rules! casts {
    ([$($a:ty),*] $targets:tt) => { $(casts!(@from $a, $targets);)* };
    (@from $a:ty, [$($r:ty),*]) => {
        $(impl CastTo<$r> for $a {
            #[inline(always)]
            fn cast(self) -> $r { self.plain() }
        })*
        casts!(@to $a, Bool, |x| Bool::from(x != 0 as $a));
        casts!(@to $a, f16, |x| f16_from_f32(x.to_odd()));
        casts!(@to $a, bf16, |x| bf16_from_f32(x.to_odd()));
        casts!(@to $a, Complex<f32>, |x| Complex::new(x as f32, 0.0));
        casts!(@to $a, Complex<f64>, |x| Complex::new(x as f64, 0.0));
        // Through the plain type that holds them exactly.
        casts!(@to Bool, $a, |x| x.get() as u8 as $a);
        casts!(@to f16, $a, |x| f32_from_f16(x).plain());
        casts!(@to bf16, $a, |x| f32_from_bf16(x).plain());
        casts!(@to Complex<f32>, $a, |x| x.re.plain());
        casts!(@to Complex<f64>, $a, |x| x.re.plain());
    };
    (@via $a:ty, |$x:ident| $e:expr, [$($r:ty),*]) => { $(casts!(@to $a, $r, |$x| $e.cast());)* };
    (@to $a:ty, $r:ty, |$x:ident| $e:expr) => {
        impl CastTo<$r> for $a {
            #[inline(always)]
            fn cast(self) -> $r { let $x = self; $e }
        }
    };
}

casts!([i8, u8, i16, u16, i32, u32, i64, u64, f32, f64] [i8, u8, i16, u16, i32, u32, i64, u64, f32, f64]);
casts!(@via Bool, |x| (x.get() as u8), [Bool, f16, bf16, Complex<f32>, Complex<f64>]);
casts!(@via f16, |x| f32_from_f16(x), [Bool, f16, bf16, Complex<f32>, Complex<f64>]);
casts!(@via bf16, |x| f32_from_bf16(x), [Bool, f16, bf16, Complex<f32>, Complex<f64>]);
casts!(@via Complex<f32>, |x| x.re, [f16, bf16]);
casts!(@via Complex<f64>, |x| x.re, [f16, bf16]);
casts!(@to Complex<f32>, Bool, |x| Bool::from((x.re != 0.0) | (x.im != 0.0)));
casts!(@to Complex<f64>, Bool, |x| Bool::from((x.re != 0.0) | (x.im != 0.0)));
casts!(@to Complex<f32>, Complex<f32>, |x| x);
casts!(@to Complex<f32>, Complex<f64>, |x| Complex::new(x.re as f64, x.im as f64));
casts!(@to Complex<f64>, Complex<f32>, |x| Complex::new(x.re as f32, x.im as f32));
casts!(@to Complex<f64>, Complex<f64>, |x| x);
