//! Radix sort, least significant digit first. A long row is cut into chunks that threads take: each counts its digits and
//! moves its entries behind those of the chunks before it, so that equal digits keep their order.

use super::entry::Entry;
use super::key::Word;
use crate::parallel::parallel_for;
use crate::scratch::Scratch;
use ferrotensor_core::error::{Error, Result};
use std::marker::PhantomData;

// Below, counting digits costs more than comparing.
const RADIX_FROM: usize = 256;
// Up to here digits have 8 bits: for few entries, fewer counts to clear and to add up.
const SHORT: usize = 1 << 13;
// Entries of a chunk, at least. Miri, which interprets few, gets several all the same.
const CHUNK: usize = if cfg!(miri) { 1 << 7 } else { 1 << 15 };
const MOST_CHUNKS: usize = 16;

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

/// Sorts `n` entries that are in the order of their positions, with keys of `bits` bits; gives back which of the two places
/// holds them now.
///
/// # Safety
/// `n` entries at `entries`, room for as many at `spare`, nobody else's.
///
/// # Errors
/// `Code::OutOfMemory`.
pub unsafe fn sort<E: Entry>(entries: *mut E, spare: *mut E, n: usize, bits: u32) -> Result<*mut E> {
    if n < RADIX_FROM {
        // SAFETY: by the contract above.
        unsafe { std::slice::from_raw_parts_mut(entries, n) }.sort_unstable();
        return Ok(entries);
    }
    let digit = if n < SHORT { 8 } else { 11 };
    let chunk = n.div_ceil(MOST_CHUNKS).max(CHUNK);
    let chunks = n.div_ceil(chunk);
    let counts = Room::<u32>::new(chunks << digit)?;
    let (mut from, mut to) = (entries, spare);
    for shift in (0..bits).step_by(digit) {
        // SAFETY: `from` holds entries, and `to` has room for them.
        let pass = unsafe { Pass { from: std::slice::from_raw_parts(from, n), to: Apart(to), shift, digit, chunk } };
        // SAFETY: there is room for the counts of each chunk.
        if unsafe { pass.run(Apart(counts.start()))? } {
            std::mem::swap(&mut from, &mut to);
        }
    }
    Ok(from)
}

/// One digit's turn.
struct Pass<'a, E> {
    from: &'a [E],
    to: Apart<E>,
    shift: u32,
    digit: usize,
    chunk: usize,
}

impl<E: Entry> Pass<'_, E> {
    #[inline(always)]
    fn digit(&self, entry: E) -> usize {
        (entry.key().wide() >> self.shift) as usize & ((1 << self.digit) - 1)
    }

    /// The entries of a chunk.
    fn part(&self, chunk: usize) -> &[E] {
        &self.from[chunk * self.chunk..self.from.len().min((chunk + 1) * self.chunk)]
    }

    /// Moves the entries to their places by this digit, unless it is the same in all of them; whether it did.
    ///
    /// # Safety
    /// `counts` has room for as many as there are digits, for each chunk.
    unsafe fn run(&self, counts: Apart<u32>) -> Result<bool> {
        let (digits, chunks) = (1 << self.digit, self.from.len().div_ceil(self.chunk));
        // SAFETY: there is room, and a chunk's counts are one thread's at a time.
        let of_chunk = |c: usize| unsafe { std::slice::from_raw_parts_mut(counts.at(c * digits), digits) };
        parallel_for(chunks, 0.5 * self.chunk as f64, &|range| {
            for c in range {
                // SAFETY: as above.
                unsafe { std::ptr::write_bytes(counts.at(c * digits), 0, digits) };
                let counts = of_chunk(c);
                self.part(c).iter().for_each(|&e| counts[self.digit(e)] += 1);
            }
            Ok(())
        })?;
        let first = self.digit(self.from[0]);
        if (0..chunks).map(|c| of_chunk(c)[first] as usize).sum::<usize>() == self.from.len() {
            return Ok(false);
        }
        let mut next = 0;
        for digit in 0..digits {
            for c in 0..chunks {
                next += std::mem::replace(&mut of_chunk(c)[digit], next);
            }
        }
        parallel_for(chunks, 2.0 * self.chunk as f64, &|range| {
            for c in range {
                let starts = of_chunk(c);
                for &e in self.part(c) {
                    let start = &mut starts[self.digit(e)];
                    // SAFETY: the counts add up to `n`, and each entry is counted once: a place of its own among them.
                    unsafe { *self.to.at(*start as usize) = e };
                    *start += 1;
                }
            }
            Ok(())
        })?;
        Ok(true)
    }
}
