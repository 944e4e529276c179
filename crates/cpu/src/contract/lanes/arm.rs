//! 128 bits with NEON.

use super::Lanes;
use std::arch::aarch64::*;

macro_rules! lanes {
    ($($register:ty: $count:literal of $item:ty, $splat:ident $load:ident $store:ident $fma:ident;)*) => {$(
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
                unsafe { $fma(c, self, b) }
            }
        }
    )*};
}
lanes! {
    float32x4_t: 4 of f32, vdupq_n_f32 vld1q_f32 vst1q_f32 vfmaq_f32;
    float64x2_t: 2 of f64, vdupq_n_f64 vld1q_f64 vst1q_f64 vfmaq_f64;
}
