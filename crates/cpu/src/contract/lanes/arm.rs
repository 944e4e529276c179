//! 128 bits with NEON.

use super::Lanes;
use std::arch::aarch64::*;

lanes! {
    float32x4_t: 4 of f32, vdupq_n_f32 vld1q_f32 vst1q_f32 vaddq_f32, |x, b, c| vfmaq_f32(c, x, b), f32x4;
    float64x2_t: 2 of f64, vdupq_n_f64 vld1q_f64 vst1q_f64 vaddq_f64, |x, b, c| vfmaq_f64(c, x, b), f64x2;
}

#[inline(always)]
unsafe fn f32x4(r: &mut [float32x4_t; 16]) {
    // SAFETY: as the caller promises.
    unsafe {
        let pairs = |a, b| [vtrn1q_f32(a, b), vtrn2q_f32(a, b)].map(|x| vreinterpretq_f64_f32(x));
        let ([a, b], [c, d]) = (pairs(r[0], r[1]), pairs(r[2], r[3]));
        let columns = [vtrn1q_f64(a, c), vtrn1q_f64(b, d), vtrn2q_f64(a, c), vtrn2q_f64(b, d)];
        r[..4].copy_from_slice(&columns.map(|x| vreinterpretq_f32_f64(x)));
    }
}

#[inline(always)]
unsafe fn f64x2(r: &mut [float64x2_t; 16]) {
    // SAFETY: as the caller promises.
    unsafe { (r[0], r[1]) = (vtrn1q_f64(r[0], r[1]), vtrn2q_f64(r[0], r[1])) }
}
