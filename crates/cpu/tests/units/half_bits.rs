//! Halves and their bits.

use ferrotensor_core::element::{bf16, f16};
use ferrotensor_cpu::internals::number::{bf16_from_f32, f16_from_f32, f32_from_bf16, f32_from_f16, f32_odd_from_f64};

#[test]
fn widening_is_exact_for_every_half() {
    for bits in 0..=u16::MAX {
        let (h, b) = (f16::from_bits(bits), bf16::from_bits(bits));
        if h.is_nan() {
            assert!(f32_from_f16(h).is_nan());
        } else {
            assert_eq!(f32_from_f16(h).to_bits(), h.to_f32_const().to_bits());
            assert_eq!(f16_from_f32(f32_from_f16(h)), h);
        }
        if b.is_nan() {
            assert!(f32_from_bf16(b).is_nan());
        } else {
            assert_eq!(bf16_from_f32(f32_from_bf16(b)), b);
        }
    }
}

#[test]
fn narrowing_rounds_to_nearest_even_at_every_tie_and_beside_it() {
    for bits in 0..0x7c00u16 {
        let (low, high) = (f16::from_bits(bits), f16::from_bits(bits + 1));
        let even = if bits & 1 == 0 { low } else { high };
        // Beyond the largest finite value the next step would be 65536.
        let above = if high.is_infinite() { 65536.0 } else { high.to_f64_const() };
        let tie = (low.to_f64_const() + above) / 2.0;
        for sign in [1.0, -1.0] {
            let round = |x: f64| f16_from_f32(f32_odd_from_f64(sign * x)).to_f32_const().abs();
            assert_eq!(round(tie), even.to_f32_const());
            assert_eq!(round(tie.next_down()), low.to_f32_const());
            assert_eq!(round(tie.next_up()), high.to_f32_const());
        }
    }
    assert_eq!(bf16_from_f32(f32_odd_from_f64(1.0 + 2f64.powi(-8))), bf16::ONE);
    assert_eq!(bf16_from_f32(f32_odd_from_f64(1.0 + 2f64.powi(-8) + 2f64.powi(-50))).to_bits(), bf16::ONE.to_bits() + 1);
    assert!(f16_from_f32(f32::NAN).is_nan() && bf16_from_f32(f32::from_bits(0x7f80_0001)).is_nan());
    assert_eq!(f16_from_f32(f32::NEG_INFINITY), f16::NEG_INFINITY);
    assert_eq!(f32_odd_from_f64(f64::INFINITY), f32::INFINITY);
    assert_eq!(f32_odd_from_f64(1e300), f32::MAX);
}
