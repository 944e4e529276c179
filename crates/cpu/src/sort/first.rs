//! The first few entries of a row's order: the smallest key of each block of elements, then a closer look at those blocks alone that
//! have the first of these. The first `k` blocks by their smallest key (by their place where keys are equal) hold the first `k`
//! elements, whatever the data: one pass over the row, `k` blocks of it once more.

use super::entry::Entry;
use super::key::{Key, Word};
use super::radix::{Apart, Radix, Room, Span};
use super::row::Row;
use crate::tier::{Source, Tier, compiled};
use ferrotensor_core::error::Result;
use std::marker::PhantomData;

// Elements of a block, by their binary logarithm: shorter ones leave no vectors to compare, longer ones no fewer blocks that matter.
const BLOCKS: std::ops::RangeInclusive<u32> = 3..=8;
// Neighbouring blocks that are fetched together where several of them matter: a piece costs 20 ns.
const TOGETHER: usize = 16;

/// A piece of a row, of which each block's smallest key is sought.
struct Heads<W> {
    src: *const u8,
    len: usize,
    /// Of its first element.
    position: usize,
    /// Binary logarithm of a block's elements.
    block: u32,
    flip: W,
    /// Smallest keys so far, of all blocks.
    least: *mut W,
}

struct LeastOf<T>(PhantomData<T>);

/// The smallest key of some elements.
#[inline(always)]
fn least<T: Key, const LANES: usize>(block: &[T], flip: T::Word) -> T::Word {
    let mut lanes = [T::Word::narrow(u64::MAX); LANES];
    let (rows, rest) = block.as_chunks::<LANES>();
    for row in rows {
        for (least, x) in lanes.iter_mut().zip(row) {
            *least = x.key().xor(flip).min(*least);
        }
    }
    for (least, x) in lanes.iter_mut().zip(rest) {
        *least = x.key().xor(flip).min(*least);
    }
    let mut half = LANES / 2;
    while half > 0 {
        let (front, back) = lanes.split_at_mut(half);
        for (least, &x) in front.iter_mut().zip(&*back) {
            *least = x.min(*least);
        }
        half /= 2;
    }
    lanes[0]
}

impl<T: Key> Source for LeastOf<T> {
    type Args = Heads<T::Word>;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(h: Heads<T::Word>) {
        let length = 1 << h.block;
        let (mut at, end) = (h.position, h.position + h.len);
        while at < end {
            let len = (length - at % length).min(end - at);
            // SAFETY: elements of the piece, and the place of their block's key.
            unsafe {
                let block = std::slice::from_raw_parts(h.src.cast::<T>().add(at - h.position), len);
                let key = match h.block {
                    3 => least::<T, 8>(block, h.flip),
                    4 => least::<T, 16>(block, h.flip),
                    _ => least::<T, 32>(block, h.flip),
                };
                let place = h.least.add(at >> h.block);
                *place = key.min(*place);
            }
            at += len;
        }
    }
}

/// Elements of a block that is looked at.
struct Look<E: Entry> {
    src: *const u8,
    len: usize,
    position: usize,
    flip: E::Word,
    /// The largest key that is kept.
    limit: E::Word,
    /// Entries that were kept, and how many.
    kept: *mut E,
    count: *mut usize,
}

struct Kept<T, E>(PhantomData<(T, E)>);

impl<T: Key, E: Entry<Word = T::Word>> Source for Kept<T, E> {
    type Args = Look<E>;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(l: Look<E>) {
        // SAFETY: `len` elements at `src`, and room for as many entries behind those that were kept.
        unsafe {
            let mut count = *l.count;
            for (i, x) in std::slice::from_raw_parts(l.src.cast::<T>(), l.len).iter().enumerate() {
                let key = x.key().xor(l.flip);
                // What is not wanted is written over.
                *l.kept.add(count) = E::new(key, (l.position + i) as u32);
                count += (key <= l.limit) as usize;
            }
            *l.count = count;
        }
    }
}

/// Finds first entries, of elements of one dtype.
pub struct First<T, E: Entry, B> {
    heads: unsafe fn(Heads<E::Word>),
    look: unsafe fn(Look<E>),
    /// Exchanged bits of keys.
    flip: E::Word,
    elements: PhantomData<fn(T, B)>,
}

impl<T: Key, E: Entry<Word = T::Word>, B: Entry<Word = T::Word>> First<T, E, B> {
    /// With one tier's code.
    pub fn new(flip: E::Word, tier: Tier) -> First<T, E, B> {
        let (heads, look) = (compiled::<LeastOf<T>>(tier), compiled::<Kept<T, E>>(tier));
        First { heads, look, flip, elements: PhantomData }
    }

    /// The first `k` entries of a row's order, at least one.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn of(&self, row: &mut Row, k: usize) -> Result<Room<E>> {
        let (n, flip) = (row.len, self.flip);
        // As many blocks to choose among as elements of those that were chosen.
        let block = (n / k).ilog2().div_ceil(2).clamp(*BLOCKS.start(), *BLOCKS.end());
        let (length, blocks) = (1 << block, n.div_ceil(1 << block));
        let least = Room::<E::Word>::new(blocks)?;
        // SAFETY: there is room for so many.
        let keys = unsafe {
            (0..blocks).for_each(|b| *least.start().add(b) = E::Word::narrow(u64::MAX));
            std::slice::from_raw_parts(least.start(), blocks)
        };
        let to = Apart(least.start());
        // Threads' parts end where blocks do.
        row.pieces(&|src, position, len| {
            // SAFETY: a piece of the row, and a place for each block.
            unsafe { (self.heads)(Heads { src, len, position, block, flip, least: to.at(0) }) }
        })?;
        let heads = Room::<B>::new(blocks)?;
        // SAFETY: there is room for so many, which are written before they are read.
        let last = unsafe {
            keys.iter().enumerate().for_each(|(b, &key)| *heads.start().add(b) = B::new(key, b as u32));
            *std::slice::from_raw_parts_mut(heads.start(), blocks).select_nth_unstable(k.min(blocks) - 1).1
        };
        let (kept, mut count) = (Room::<E>::new(k * length + 1)?, 0);
        let is_chosen = |b: usize| B::new(keys[b], b as u32) <= last;
        for group in (0..blocks).step_by(TOGETHER) {
            let mut chosen = (group..blocks.min(group + TOGETHER)).filter(|&b| is_chosen(b));
            let Some(first) = chosen.next() else { continue };
            let (mut at, end) = (first * length, n.min((chosen.next_back().unwrap_or(first) + 1) * length));
            while at < end {
                let (src, len) = row.piece(at, end - at);
                for b in (at >> block..(at + len).div_ceil(length)).filter(|&b| is_chosen(b)) {
                    let (position, end) = (at.max(b * length), (at + len).min((b + 1) * length));
                    let (src, len) = (src.wrapping_add((position - at) * size_of::<T>()), end - position);
                    let (limit, kept) = (last.key(), kept.start());
                    // SAFETY: a part of the piece. At most `k` blocks are looked at.
                    unsafe { (self.look)(Look { src, len, position, flip, limit, kept, count: &mut count }) };
                }
                at += len;
            }
        }
        let spare = Room::<E>::new(count)?;
        // SAFETY: so many entries, in the order of their positions, and room for as many.
        let sorted = unsafe { Radix::new()?.sort(kept.start(), spare.start(), count, Span { base: 0, bits: T::BITS }) };
        Ok(if sorted == kept.start() { kept } else { spare })
    }
}
