//! Integers that have the order of elements: a sort compares and counts digits of them only.

use crate::number::Item;
use ferrotensor_core::Bool;
use ferrotensor_core::element::{bf16, f16};

/// An unsigned integer that holds a key.
pub trait Word: Copy + Ord + Send + Sync + 'static {
    /// `self` in its lowest bits.
    fn wide(self) -> u64;
    /// The lowest bits.
    fn narrow(bits: u64) -> Self;
    /// Bits that differ.
    fn xor(self, other: Self) -> Self;
}

macro_rules! words {
    ($($t:ident)*) => {$(
        impl Word for $t {
            #[inline(always)]
            fn wide(self) -> u64 { self as u64 }
            #[inline(always)]
            fn narrow(bits: u64) -> $t { bits as $t }
            #[inline(always)]
            fn xor(self, other: $t) -> $t { self ^ other }
        }
    )*};
}
words! { u32 u64 }

/// Elements whose order integers can have.
pub trait Key: Item {
    /// What holds a key.
    type Word: Word;
    /// Its significant bits.
    const BITS: u32;
    /// Keys that different elements share.
    const SHARED: &'static [Self::Word];
    /// Larger for larger elements; equal for `-0` and `+0`; largest for NaN.
    fn key(self) -> Self::Word;
    /// An element with that key: the only one, unless the key is shared.
    fn of(key: Self::Word) -> Self;
}

macro_rules! keys {
    (integers $($t:ident $u:ident $w:ident),*) => {$(
        impl Key for $t {
            type Word = $w;
            const BITS: u32 = $t::BITS;
            const SHARED: &'static [$w] = &[];
            // The distance from the smallest value.
            #[inline(always)]
            fn key(self) -> $w { self.wrapping_sub($t::MIN) as $u as $w }
            #[inline(always)]
            fn of(key: $w) -> $t { (key as $t).wrapping_add($t::MIN) }
        }
    )*};
    (floats $($t:ident $u:ident $w:ident infinity $infinity:literal),*) => {$(
        impl Key for $t {
            type Word = $w;
            const BITS: u32 = $u::BITS;
            const SHARED: &'static [$w] = &[1 << ($u::BITS - 1), $u::MAX as $w];
            #[inline(always)]
            fn key(self) -> $w {
                const SIGN: $u = 1 << ($u::BITS - 1);
                let bits = self.to_bits();
                let size = bits & !SIGN;
                // Negative numbers count down from the sign bit, so that -0 meets +0.
                let ordered = if bits & SIGN == 0 { SIGN | size } else { SIGN - size };
                (if size > $infinity { $u::MAX } else { ordered }) as $w
            }
            #[inline(always)]
            fn of(key: $w) -> $t {
                const SIGN: $u = 1 << ($u::BITS - 1);
                let key = key as $u;
                $t::from_bits(if key & SIGN != 0 { key ^ SIGN } else { (SIGN - key) | SIGN })
            }
        }
    )*};
}
keys!(integers i8 u8 u32, u8 u8 u32, i16 u16 u32, u16 u16 u32, i32 u32 u32, u32 u32 u32, i64 u64 u64, u64 u64 u64);
keys!(floats f16 u16 u32 infinity 0x7c00, bf16 u16 u32 infinity 0x7f80, f32 u32 u32 infinity 0x7f80_0000,
    f64 u64 u64 infinity 0x7ff0_0000_0000_0000);

impl Key for Bool {
    type Word = u32;
    const BITS: u32 = 1;
    const SHARED: &'static [u32] = &[];
    #[inline(always)]
    fn key(self) -> u32 {
        self.get() as u32
    }
    #[inline(always)]
    fn of(key: u32) -> Bool {
        Bool::from(key != 0)
    }
}
