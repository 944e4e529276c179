//! The first few entries of a row's order, in one pass over the row: what is not ahead of the last one kept is passed over
//! 64 elements at a time.

use super::entry::Entry;
use super::key::{Key, Word};
use super::radix::Room;
use crate::tier::Source;
use ferrotensor_core::error::Result;
use std::marker::PhantomData;

// Elements compared before it is decided whether one of them is worth a closer look.
const BLOCK: usize = 64;

/// The `k` smallest entries so far, among others.
pub struct Best<E: Entry> {
    room: Room<E>,
    count: usize,
    k: usize,
    /// The key an entry must be below, once there are `k`.
    limit: E::Word,
}

impl<E: Entry> Best<E> {
    /// None so far.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn new(k: usize) -> Result<Best<E>> {
        Ok(Best { room: Room::new(2 * k + BLOCK)?, count: 0, k, limit: E::Word::narrow(u64::MAX) })
    }

    fn kept(&mut self) -> &mut [E] {
        // SAFETY: the first `count` places have been written.
        unsafe { std::slice::from_raw_parts_mut(self.room.start(), self.count) }
    }

    /// Forgets all but the `k` smallest.
    fn shrink(&mut self) {
        let last = self.k - 1;
        self.limit = self.kept().select_nth_unstable(last).1.key();
        self.count = self.k;
    }

    /// Takes entries with these keys and positions from `position` on, at most a block.
    #[inline(always)]
    fn take(&mut self, keys: &[E::Word], position: usize) {
        if self.count >= 2 * self.k {
            self.shrink();
        }
        let (start, mut count) = (self.room.start(), self.count);
        for (i, &key) in keys.iter().enumerate() {
            // SAFETY: there is room for a block. What is not wanted is written over.
            unsafe { *start.add(count) = E::new(key, (position + i) as u32) };
            count += ((key < self.limit) | (count < self.k)) as usize;
        }
        self.count = count;
    }

    /// Writes the smallest entries, at most `k`, to `to`; how many there are. In no order.
    ///
    /// # Safety
    /// `to` has room for `k`.
    pub unsafe fn finish(mut self, to: *mut E) -> usize {
        if self.count > self.k {
            self.shrink();
        }
        // SAFETY: by the contract above.
        unsafe { std::ptr::copy_nonoverlapping(self.room.start(), to, self.count) };
        self.count
    }
}

/// Elements offered to what is kept.
pub struct Offer<E: Entry> {
    pub src: *const u8,
    pub len: usize,
    /// Of the first of them.
    pub position: usize,
    /// Exchanged bits of keys: all of them for a descending order.
    pub flip: E::Word,
    pub best: *mut Best<E>,
}

/// Offers elements `T`.
pub struct Offers<T, E>(PhantomData<(T, E)>);

impl<T: Key, E: Entry<Word = T::Word>> Source for Offers<T, E> {
    type Args = Offer<E>;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(o: Offer<E>) {
        // SAFETY: `len` elements at `src`, and a value of the caller's at `best`.
        let (src, best) = unsafe { (std::slice::from_raw_parts(o.src.cast::<T>(), o.len), &mut *o.best) };
        let mut keys = [E::Word::narrow(0); BLOCK];
        for (n, block) in src.chunks(BLOCK).enumerate() {
            let limit = best.limit;
            let mut any = best.count < best.k;
            for (key, x) in keys.iter_mut().zip(block) {
                *key = x.key().xor(o.flip);
                any |= *key < limit;
            }
            if any {
                best.take(&keys[..block.len()], o.position + n * BLOCK);
            }
        }
    }
}
