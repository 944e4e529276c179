//! What is sorted: keys, or keys with positions. Positions make entries distinct, so that every method of sorting gives the
//! one stable order; keys alone are all that an order of values needs.

use super::key::Word;

/// A key, perhaps with its position.
pub trait Entry: Copy + Ord + Send + Sync {
    /// What holds the key.
    type Word: Word;
    /// An entry.
    fn new(key: Self::Word, position: u32) -> Self;
    /// Its key.
    fn key(self) -> Self::Word;
    /// Its position; 0 where entries have none.
    fn position(self) -> u32;
}

macro_rules! alone {
    ($($t:ident)*) => {$(
        impl Entry for Alone<$t> {
            type Word = $t;
            #[inline(always)]
            fn new(key: $t, _: u32) -> Self { Alone(key) }
            #[inline(always)]
            fn key(self) -> $t { self.0 }
            #[inline(always)]
            fn position(self) -> u32 { 0 }
        }
    )*};
}

/// A key without a position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alone<W>(W);
alone! { u32 u64 }

/// A key in the upper half, its position in the lower.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Packed(u64);

impl Entry for Packed {
    type Word = u32;
    #[inline(always)]
    fn new(key: u32, position: u32) -> Packed {
        Packed((key as u64) << 32 | position as u64)
    }
    #[inline(always)]
    fn key(self) -> u32 {
        (self.0 >> 32) as u32
    }
    #[inline(always)]
    fn position(self) -> u32 {
        self.0 as u32
    }
}

/// A key of 64 bits and its position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Paired {
    key: u64,
    position: u32,
}

impl Entry for Paired {
    type Word = u64;
    #[inline(always)]
    fn new(key: u64, position: u32) -> Paired {
        Paired { key, position }
    }
    #[inline(always)]
    fn key(self) -> u64 {
        self.key
    }
    #[inline(always)]
    fn position(self) -> u32 {
        self.position
    }
}
