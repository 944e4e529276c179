//! Sixteen float32.

use super::{InRegisters, Register};
use ferrotensor_core::math::{Bits, Lane, Mask, Real};
use std::arch::x86_64::{
    __m512 as Vector, __m512i, __mmask16 as Bitmask, _CMP_EQ_OQ, _CMP_GE_OQ, _CMP_LT_OQ, _MM_MANT_NORM_1_2,
    _MM_MANT_SIGN_ZERO, _mm512_abs_ps as absolute, _mm512_add_epi32 as add_integers, _mm512_add_ps as add, _mm512_and_si512,
    _mm512_castps_si512 as to_integers, _mm512_castsi512_ps as to_floats, _mm512_cmp_ps_mask as compare,
    _mm512_cmpeq_epi32_mask as equal_integers, _mm512_cmplt_epu32_mask as less_integers, _mm512_div_ps as div,
    _mm512_fixupimm_ps as fixup, _mm512_fmadd_ps as fmadd, _mm512_getexp_ps as getexp, _mm512_getmant_ps as getmant,
    _mm512_loadu_ps as loadu, _mm512_mask_add_ps as mask_add, _mm512_mask_blend_epi32 as blend_integers,
    _mm512_mask_blend_ps as blend, _mm512_mask_mul_ps as mask_mul, _mm512_maskz_scalef_ps as scalef, _mm512_max_ps as max,
    _mm512_min_ps as min, _mm512_mul_epu32, _mm512_mul_ps as mul, _mm512_mullo_epi32 as mul_integers, _mm512_or_si512,
    _mm512_set1_epi32 as splat_integer, _mm512_set1_ps as splat, _mm512_sllv_epi32 as shift_left,
    _mm512_sqrt_ps as square_root, _mm512_srli_epi64, _mm512_srlv_epi32 as shift_right, _mm512_storeu_ps as storeu,
    _mm512_sub_epi32 as sub_integers, _mm512_sub_ps as sub, _mm512_xor_si512,
};

register!(f32 u32: 16);

/// High halves of products.
///
/// # Safety
/// The machine has AVX-512.
#[inline(always)]
unsafe fn mul_high(a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: as the caller promises.
    unsafe {
        // Products of every other pair have 64 bits; the odd ones' upper halves lie where they belong.
        let even = _mm512_srli_epi64::<32>(_mm512_mul_epu32(a, b));
        let odd = _mm512_mul_epu32(_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
        blend_integers(0xaaaa, even, odd)
    }
}
