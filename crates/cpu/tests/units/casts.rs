//! Conversions of one element.

use ferrotensor_core::Bool;
use ferrotensor_core::element::{Complex, bf16, f16};
use ferrotensor_cpu::internals::number::CastTo;

#[test]
fn each_rule_of_conversion() {
    assert_eq!(CastTo::<i8>::cast(300i32), 44);
    assert_eq!(CastTo::<i8>::cast(300f32), 127);
    assert_eq!(CastTo::<u8>::cast(-1.5f64), 0);
    assert_eq!(CastTo::<i32>::cast(f32::NAN), 0);
    assert_eq!(CastTo::<Bool>::cast(f32::NAN), Bool(1));
    assert_eq!(CastTo::<Bool>::cast(Complex::new(0.0f32, 2.0)), Bool(1));
    assert_eq!(CastTo::<i32>::cast(Complex::new(7.9f64, 2.0)), 7);
    assert_eq!(CastTo::<f32>::cast(Bool(2)), 1.0);
    assert_eq!(CastTo::<Complex<f64>>::cast(f16::from_f32(0.5)), Complex::new(0.5, 0.0));
    // 2^40 + 2^32 is a tie for bfloat16 and goes to even; one more goes up. float32 would have lost the one.
    let tie = (1i64 << 40) + (1i64 << 32);
    assert_eq!(CastTo::<bf16>::cast(tie).to_f32(), (1i64 << 40) as f32);
    assert_eq!(CastTo::<bf16>::cast(tie + 1).to_f32(), ((1i64 << 40) + (1i64 << 33)) as f32);
    let tie = (1i64 << 62) + (1i64 << 54);
    assert_eq!(CastTo::<bf16>::cast(-tie - 1).to_f32(), -(((1i64 << 62) + (1i64 << 55)) as f32));
    assert_eq!(CastTo::<f16>::cast(u64::MAX), f16::INFINITY);
}

/// Every target, at its ends and beside them.
#[test]
fn floats_become_integers_as_the_language_converts_them() {
    macro_rules! agree {
        ($($from:ty => $($to:ty)*;)*) => {$($({
            let ends = [<$to>::MIN as $from, <$to>::MAX as $from, <$to>::MAX as $from / 2.0, 0.0, -0.0, <$from>::INFINITY];
            let near = ends.iter().flat_map(|&x| [x, x.next_up(), x.next_down(), x + 0.5, x - 0.5, x + 1.0, x - 1.0]);
            for x in near.flat_map(|x| [x, -x]).chain([<$from>::NAN, <$from>::MIN, <$from>::MIN_POSITIVE]) {
                assert_eq!(CastTo::<$to>::cast(x), x as $to, "{x:e} to {}", stringify!($to));
            }
        })*)*};
    }
    agree! {
        f32 => i8 u8 i16 u16 i32 u32 i64 u64;
        f64 => i8 u8 i16 u16 i32 u32 i64 u64;
    }
}
