//! Radix sort of entries that one thread holds in its caches, least significant digit first; three digits are counted in one reading.

use super::entry::Entry;
use super::key::Word;
use crate::scratch::Scratch;
use ferrotensor_core::error::{Error, Result};
use std::marker::PhantomData;

// Entries for each pass, from which counting digits costs less than comparing.
const RADIX_FROM: usize = 48;
// Bits of the shortest and of the longest digits.
const WIDTHS: [u32; 2] = [6, 11];
// Of 64 bits in digits of 11; shorter ones need fewer.
const COUNTS: usize = 6 << WIDTHS[1];

/// Memory for `len` values, undefined at first.
pub struct Room<T> {
    memory: Scratch,
    value: PhantomData<T>,
}

impl<T: Copy> Room<T> {
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn new(len: usize) -> Result<Room<T>> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or_else(|| Error::out_of_memory("a row too long to sort"))?;
        Ok(Room { memory: Scratch::take(bytes)?, value: PhantomData })
    }

    /// The first value's place, aligned to 64 bytes.
    pub fn start(&self) -> *mut T {
        self.memory.as_ptr().cast()
    }
}

/// A place that threads write different parts of.
#[derive(Clone, Copy)]
pub struct Apart<T>(pub *mut T);
// SAFETY: who hands it out keeps the parts apart.
unsafe impl<T: Send> Send for Apart<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Apart<T> {}

impl<T> Apart<T> {
    /// The place of value `n`.
    pub fn at(&self, n: usize) -> *mut T {
        self.0.wrapping_add(n)
    }
}

/// Keys that are sorted: from `base` on, so much above it as `bits` bits hold.
#[derive(Clone, Copy)]
pub struct Span {
    pub base: u64,
    pub bits: u32,
}

impl Span {
    /// How far above the base a key is.
    #[inline(always)]
    pub fn above<W: Word>(self, key: W) -> u64 {
        key.wide() - self.base
    }
}

/// Counts `N` digits of some entries, each of `width` bits, from bit `shift` on of what keys are above `base`.
fn count<E: Entry, const N: usize>(entries: &[E], base: u64, [shift, width]: [u32; 2], counts: &mut [u32]) {
    let digits = 1 << width;
    assert!(counts.len() >= N * digits);
    for entry in entries {
        let above = (entry.key().wide() - base) >> shift;
        for n in 0..N {
            let digit = (above >> (n as u32 * width)) as usize & (digits - 1);
            // SAFETY: there are counts of `N` digits.
            unsafe { *counts.get_unchecked_mut(n * digits + digit) += 1 };
        }
    }
}

/// Sorts entries by radix, with counts that it keeps.
pub struct Radix(Room<u32>);

impl Radix {
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn new() -> Result<Radix> {
        Ok(Radix(Room::new(COUNTS)?))
    }

    /// Sorts `n` entries that are in the order of their positions; gives back which of the two places holds them now.
    ///
    /// # Safety
    /// `n` entries at `entries` with keys of the span, room for as many at `spare`, nobody else's.
    pub unsafe fn sort<E: Entry>(&mut self, entries: *mut E, spare: *mut E, n: usize, span: Span) -> *mut E {
        // A count is cleared and added up in about the time that moves an entry.
        let cost = |&passes: &u32| passes as usize * (n + (1 << span.bits.div_ceil(passes)));
        let [most, least] = WIDTHS.map(|width| span.bits.div_ceil(width));
        let passes = (least.max(1)..=most).min_by_key(cost).unwrap_or(0);
        if n < 2 || passes == 0 {
            return entries;
        }
        if n < RADIX_FROM * passes as usize {
            // SAFETY: by the contract above.
            unsafe { std::slice::from_raw_parts_mut(entries, n) }.sort_unstable();
            return entries;
        }
        let width = span.bits.div_ceil(passes);
        let digits = 1 << width;
        // SAFETY: there are so many counts, nobody else's; entries by the contract above.
        let (counts, all) = unsafe {
            std::ptr::write_bytes(self.0.start(), 0, digits * passes as usize);
            let counts = std::slice::from_raw_parts_mut(self.0.start(), digits * passes as usize);
            (counts, std::slice::from_raw_parts(entries, n))
        };
        for pass in (0..passes).step_by(3) {
            let counts = &mut counts[pass as usize * digits..];
            match passes - pass {
                1 => count::<E, 1>(all, span.base, [pass * width, width], counts),
                2 => count::<E, 2>(all, span.base, [pass * width, width], counts),
                _ => count::<E, 3>(all, span.base, [pass * width, width], counts),
            }
        }
        let digit = |entry: E, shift: u32| (span.above(entry.key()) >> shift) as usize & (digits - 1);
        let (mut from, mut to) = (entries, spare);
        for (pass, counts) in counts.chunks_exact_mut(digits).enumerate() {
            let shift = pass as u32 * width;
            // SAFETY: `from` holds entries.
            let entries = unsafe { std::slice::from_raw_parts(from, n) };
            if counts[digit(entries[0], shift)] as usize == n {
                // All of them have this digit.
                continue;
            }
            let mut next = 0;
            for count in &mut *counts {
                next += std::mem::replace(count, next);
            }
            for &entry in entries {
                // SAFETY: the counts, one for each digit, add up to `n`, and each entry is counted once: a place of its own among them.
                unsafe {
                    let start = counts.get_unchecked_mut(digit(entry, shift));
                    *to.add(*start as usize) = entry;
                    *start += 1;
                }
            }
            std::mem::swap(&mut from, &mut to);
        }
        from
    }
}
