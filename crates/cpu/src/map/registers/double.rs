//! Eight float64.

use super::{InRegisters, Register};
use ferrotensor_core::math::{Bits, Lane, Mask, Real};
use std::arch::x86_64::{
    __m512d as Vector, __m512i, __mmask8 as Bitmask, _CMP_EQ_OQ, _CMP_GE_OQ, _CMP_LT_OQ, _MM_MANT_NORM_1_2,
    _MM_MANT_SIGN_ZERO, _mm512_abs_pd as absolute, _mm512_add_epi64 as add_integers, _mm512_add_pd as add, _mm512_and_si512,
    _mm512_castpd_si512 as to_integers, _mm512_castsi512_pd as to_floats, _mm512_cmp_pd_mask as compare,
    _mm512_cmpeq_epi64_mask as equal_integers, _mm512_cmplt_epu64_mask as less_integers, _mm512_div_pd as div,
    _mm512_fixupimm_pd as fixup, _mm512_fmadd_pd as fmadd, _mm512_getexp_pd as getexp, _mm512_getmant_pd as getmant,
    _mm512_loadu_pd as loadu, _mm512_mask_add_pd as mask_add, _mm512_mask_blend_epi64 as blend_integers,
    _mm512_mask_blend_pd as blend, _mm512_mask_mul_pd as mask_mul, _mm512_maskz_scalef_pd as scalef, _mm512_max_pd as max,
    _mm512_min_pd as min, _mm512_mul_epu32, _mm512_mul_pd as mul, _mm512_mullo_epi64 as mul_integers, _mm512_or_si512,
    _mm512_set1_epi64 as splat_integer, _mm512_set1_pd as splat, _mm512_sllv_epi64 as shift_left,
    _mm512_sqrt_pd as square_root, _mm512_srli_epi64, _mm512_srlv_epi64 as shift_right, _mm512_storeu_pd as storeu,
    _mm512_sub_epi64 as sub_integers, _mm512_sub_pd as sub, _mm512_xor_si512,
};

register!(f64 u64: 8);

/// High halves of products, from four products of halves.
///
/// # Safety
/// The machine has AVX-512.
#[inline(always)]
unsafe fn mul_high(a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: as the caller promises.
    unsafe {
        let low = |x| _mm512_and_si512(x, splat_integer(0xffff_ffff));
        let (a1, b1) = (_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
        let (p01, p10) = (_mm512_mul_epu32(a, b1), _mm512_mul_epu32(a1, b));
        let carried = _mm512_srli_epi64::<32>(_mm512_mul_epu32(a, b));
        let middle = add_integers(add_integers(carried, low(p01)), low(p10));
        let high = add_integers(_mm512_mul_epu32(a1, b1), _mm512_srli_epi64::<32>(p01));
        add_integers(add_integers(high, _mm512_srli_epi64::<32>(p10)), _mm512_srli_epi64::<32>(middle))
    }
}
