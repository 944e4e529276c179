//! Registers of quads: pairs of them with AVX2, as they are with VNNI.

use super::transpose;
use crate::contract::lanes::Lanes;
use crate::contract::quads::Quad;
use crate::tier::{Source, Tier};
use std::arch::x86_64::*;

/// The copy of a kernel for the AVX-512 tier with VNNI, which all but its first machines have. Calling it needs one.
pub fn with_vnni<S: Source>(_: Tier) -> unsafe fn(S::Args) {
    run::<S>
}

/// # Safety
/// As `S::run`, on a machine that has these.
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn run<S: Source>(args: S::Args) {
    // SAFETY: as the caller promises.
    unsafe { S::run_avx512(args) }
}

/// Registers of quads, with the instructions for each function; those of floats transpose them.
macro_rules! quads {
    ($($(#[$doc:meta])* $name:ident: $count:literal in $register:ty, $splat:ident $load:ident $store:ident $add:ident, $fma:ident, $transpose:path;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub struct $name<const A: bool, const B: bool>($register);

        impl<const A: bool, const B: bool> Lanes for $name<A, B> {
            type Item = Quad<A, B>;
            const COUNT: usize = $count;

            #[inline(always)]
            unsafe fn splat(x: Quad<A, B>) -> Self {
                // SAFETY: as the caller promises.
                $name(unsafe { $splat(x.0) })
            }
            #[inline(always)]
            unsafe fn load(from: *const Quad<A, B>) -> Self {
                // SAFETY: as the caller promises.
                $name(unsafe { $load(from.cast()) })
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut Quad<A, B>) {
                // SAFETY: as the caller promises.
                unsafe { $store(to.cast(), self.0) }
            }
            #[inline(always)]
            unsafe fn add(self, b: Self) -> Self {
                // SAFETY: as the caller promises.
                $name(unsafe { $add(self.0, b.0) })
            }
            #[inline(always)]
            unsafe fn fma(self, b: Self, c: Self) -> Self {
                // SAFETY: as the caller promises.
                $name(unsafe { $fma::<A, B>(self.0, b.0, c.0) })
            }
            #[inline(always)]
            unsafe fn transpose(block: &mut [Self; 16]) {
                // SAFETY: as the caller promises; a register of floats has the same bits.
                unsafe { $transpose(&mut *std::ptr::from_mut(block).cast()) }
            }
        }
    )*};
}
quads! {
    /// Sixteen, for VNNI.
    Quads16: 16 in __m512i, _mm512_set1_epi32 _mm512_loadu_si512 _mm512_storeu_si512 _mm512_add_epi32, with_one_sign, transpose::f32x16;
    /// Eight, for AVX2.
    Quads8: 8 in __m256i, _mm256_set1_epi32 _mm256_loadu_si256 _mm256_storeu_si256 _mm256_add_epi32, by_halves, transpose::f32x8;
}

/// The instruction wants one operand without a sign and one with. Of two alike those of `b` are moved by 128, which the compiler does once for
/// all rows; what sums begin with makes up for it.
///
/// # Safety
/// The machine has VNNI.
#[inline(always)]
unsafe fn with_one_sign<const A: bool, const B: bool>(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    // SAFETY: as the caller promises.
    unsafe {
        let b = if A == B { _mm512_xor_si512(b, _mm512_set1_epi8(i8::MIN)) } else { b };
        if A { _mm512_dpbusd_epi32(c, b, a) } else { _mm512_dpbusd_epi32(c, a, b) }
    }
}

/// AVX2 multiplies and adds pairs of integers of 16 bits: first and third integers of quads, then second and fourth ones.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn by_halves<const A: bool, const B: bool>(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    // SAFETY: as the caller promises.
    unsafe {
        let ([a, a2], [b, b2]) = (halves(a, A), halves(b, B));
        _mm256_add_epi32(_mm256_add_epi32(c, _mm256_madd_epi16(a, b)), _mm256_madd_epi16(a2, b2))
    }
}

/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn halves(x: __m256i, signed: bool) -> [__m256i; 2] {
    // SAFETY: as the caller promises.
    unsafe {
        match signed {
            true => [_mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(x)), _mm256_srai_epi16::<8>(x)],
            false => [_mm256_and_si256(x, _mm256_set1_epi16(0xff)), _mm256_srli_epi16::<8>(x)],
        }
    }
}
