//! A register of the processor this was built for, by its own instructions: loops over arrays are not reliably made into them, and a limit
//! that the compiler missed is none.

#[cfg(all(target_arch = "x86_64", target_feature = "avx512f"))]
mod registers {
    use std::arch::x86_64 as x86;
    pub use x86::__m512 as Single;
    pub use x86::{
        _mm512_add_ps as add, _mm512_fmadd_pd as fma_double, _mm512_fmadd_ps as fma, _mm512_loadu_ps as load,
        _mm512_set1_pd as splat_double, _mm512_set1_ps as splat, _mm512_storeu_ps as store, _mm512_stream_ps as stream,
    };
}

#[cfg(all(target_arch = "x86_64", target_feature = "fma", not(target_feature = "avx512f")))]
mod registers {
    use std::arch::x86_64 as x86;
    pub use x86::__m256 as Single;
    pub use x86::{
        _mm256_add_ps as add, _mm256_fmadd_pd as fma_double, _mm256_fmadd_ps as fma, _mm256_loadu_ps as load,
        _mm256_set1_pd as splat_double, _mm256_set1_ps as splat, _mm256_storeu_ps as store, _mm256_stream_ps as stream,
    };
}

#[cfg(target_arch = "aarch64")]
mod registers {
    pub use arm::float32x4_t as Single;
    use arm::float64x2_t as Double;
    pub use arm::{
        vaddq_f32 as add, vdupq_n_f32 as splat, vdupq_n_f64 as splat_double, vld1q_f32 as load, vst1q_f32 as store,
        vst1q_f32 as stream,
    };
    use arm::{vfmaq_f32, vfmaq_f64};
    use std::arch::aarch64 as arm;

    /// `x * y + z`.
    #[inline(always)]
    pub unsafe fn fma(x: Single, y: Single, z: Single) -> Single {
        // SAFETY: every aarch64 has it.
        unsafe { vfmaq_f32(z, x, y) }
    }

    /// `x * y + z`.
    #[inline(always)]
    pub unsafe fn fma_double(x: Double, y: Double, z: Double) -> Double {
        // SAFETY: every aarch64 has it.
        unsafe { vfmaq_f64(z, x, y) }
    }
}

pub use registers::*;

/// float32 lanes of a register.
pub const LANES: usize = size_of::<Single>() / 4;
