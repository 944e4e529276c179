//! Integers that have the order of elements.

use ferrotensor_core::element::{bf16, f16};
use ferrotensor_cpu::internals::sort::{Key, Word};

fn round<T: Key + PartialOrd + std::fmt::Debug>(ascending: &[T]) {
    for pair in ascending.windows(2) {
        assert!(pair[0].key() < pair[1].key(), "{pair:?}");
    }
    for &x in ascending {
        assert!(x.key().wide() <= u64::MAX >> (64 - T::BITS));
        assert_eq!(T::of(x.key()), x);
    }
}

#[test]
fn keys_have_the_order_of_elements_and_lead_back_to_them() {
    round(&[i8::MIN, -1, 0, 1, i8::MAX]);
    round(&[0, 1, u16::MAX]);
    round(&[i64::MIN, -1, 0, 1, i64::MAX]);
    let floats = [f64::NEG_INFINITY, f64::MIN, -1.0, -5e-324, 0.0, 5e-324, 1.0, 1.5, f64::MAX, f64::INFINITY];
    round(&floats);
    round(&[f32::NEG_INFINITY, f32::MIN, -1.0, -1e-45, 0.0, 1e-45, 1.0, f32::MAX, f32::INFINITY]);
    round(&[-65504.0, -1.0, 0.0, 6e-8, 65504.0, f32::INFINITY].map(f16::from_f32));
    round(&[f32::NEG_INFINITY, -1.0, 0.0, 1.0, f32::INFINITY].map(bf16::from_f32));
}

#[test]
fn what_shares_a_key_is_zeros_and_nans() {
    for x in [f32::NAN, -f32::NAN, f32::from_bits(0x7f80_0001), f32::from_bits(0xffff_ffff)] {
        assert_eq!(x.key(), u32::MAX);
    }
    assert_eq!((-0.0f32).key(), 0.0f32.key());
    assert_eq!(f32::SHARED, [0.0f32.key(), f32::NAN.key()]);
    assert_eq!(f16::SHARED, [f16::NEG_ZERO.key(), f16::NAN.key()]);
}
