//! 256 bits with AVX2 and FMA, 512 with AVX-512.

pub mod quads;
mod transpose;

use super::Lanes;
use std::arch::x86_64::*;

lanes! {
    __m256: 8 of f32, _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_add_ps, |x, b, c| _mm256_fmadd_ps(x, b, c), transpose::f32x8;
    __m256d: 4 of f64, _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_add_pd, |x, b, c| _mm256_fmadd_pd(x, b, c), transpose::f64x4;
    __m512: 16 of f32, _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps _mm512_add_ps, |x, b, c| _mm512_fmadd_ps(x, b, c), transpose::f32x16;
    __m512d: 8 of f64, _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd _mm512_add_pd, |x, b, c| _mm512_fmadd_pd(x, b, c), transpose::f64x8;
}
