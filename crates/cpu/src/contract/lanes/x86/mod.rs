//! 256 bits with AVX2 and FMA, 512 with AVX-512.

mod transpose;

use super::Lanes;
use std::arch::x86_64::*;

macro_rules! lanes {
    ($($register:ty: $count:literal of $item:ty, $splat:ident $load:ident $store:ident $fma:ident $transpose:ident;)*) => {$(
        impl Lanes for $register {
            type Item = $item;
            const COUNT: usize = $count;

            #[inline(always)]
            unsafe fn splat(x: $item) -> Self {
                // SAFETY: as the caller promises.
                unsafe { $splat(x) }
            }
            #[inline(always)]
            unsafe fn load(from: *const $item) -> Self {
                // SAFETY: as the caller promises.
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $item) {
                // SAFETY: as the caller promises.
                unsafe { $store(to, self) }
            }
            #[inline(always)]
            unsafe fn fma(self, b: Self, c: Self) -> Self {
                // SAFETY: as the caller promises.
                unsafe { $fma(self, b, c) }
            }
            #[inline(always)]
            unsafe fn transpose(block: &mut [Self; 16]) {
                // SAFETY: as the caller promises.
                unsafe { transpose::$transpose(block) }
            }
        }
    )*};
}
lanes! {
    __m256: 8 of f32, _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_fmadd_ps f32x8;
    __m256d: 4 of f64, _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_fmadd_pd f64x4;
    __m512: 16 of f32, _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps _mm512_fmadd_ps f32x16;
    __m512d: 8 of f64, _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd _mm512_fmadd_pd f64x8;
}
