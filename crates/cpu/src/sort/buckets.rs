//! Long rows: elements go to buckets by the first bits in which their keys differ, and each bucket, which a cache holds, is sorted by one
//! thread. Threads take chunks of the row: each counts what goes where, and moves its elements behind those of the chunks before
//! it, so that equal keys keep their order. Keys are made on the way in, and the entries of finished buckets handed on while they are near.
//! A row of 10^6 elements goes through memory four times, with three digits for the whole row nine times.

use super::entry::Entry;
use super::key::{Key, Word};
use super::radix::{Apart, Radix, Room, Span};
use super::row::Row;
use crate::parallel::parallel_for;
use crate::tier::{Source, Tier, compiled};
use ferrotensor_core::error::Result;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Elements of a row from which it is sorted so. Miri, which interprets few, gets there all the same.
pub const FROM: usize = if cfg!(miri) { 1 << 8 } else { 1 << 15 };
// Elements of a chunk, at least.
const CHUNK: usize = FROM / 2;
const MOST_CHUNKS: usize = 16;
// Bits that choose the bucket, at most. With one more, 10^6 elements took a third to twice as long to move.
const TOP: u32 = 10;
// Entries of buckets that a thread takes together, about.
const GROUP: usize = FROM / 2;

/// A piece of a row.
#[derive(Clone, Copy)]
struct Piece<W> {
    src: *const u8,
    len: usize,
    /// Exchanged bits of keys.
    flip: W,
}

impl<W: Word> Piece<W> {
    /// The keys of its elements.
    ///
    /// # Safety
    /// It has `len` elements `T`.
    #[inline(always)]
    unsafe fn keys<'a, T: Key<Word = W> + 'a>(self) -> impl Iterator<Item = W> + 'a {
        // SAFETY: by the contract above.
        unsafe { std::slice::from_raw_parts(self.src.cast::<T>(), self.len) }.iter().map(move |x| x.key().xor(self.flip))
    }
}

/// What keys of a piece are between, and so far.
type ToLimit<W> = (Piece<W>, *mut [W; 2]);
/// How many of a piece go to each bucket, and so far.
type ToCount<W> = (Piece<W>, Choice, *mut u32);
/// What is told of places whose entries are there.
type Done<'a, E> = dyn Fn(Range<usize>, &[E]) -> Result<()> + Sync + 'a;

struct Limits<T>(PhantomData<T>);

impl<T: Key> Source for Limits<T> {
    type Args = ToLimit<T::Word>;
    #[inline(always)]
    unsafe fn run<const FMA: bool>((piece, limits): Self::Args) {
        // SAFETY: the elements of a piece, and the limits so far.
        unsafe {
            let [mut low, mut high] = *limits;
            for key in piece.keys::<T>() {
                (low, high) = (low.min(key), high.max(key));
            }
            *limits = [low, high];
        }
    }
}

/// Where keys go.
#[derive(Clone, Copy)]
struct Choice {
    span: Span,
    /// From the least bit to those that choose the bucket.
    shift: u32,
}

impl Choice {
    #[inline(always)]
    fn bucket<W: Word>(self, key: W) -> usize {
        (self.span.above(key) >> self.shift) as usize
    }
}

struct Counted<T>(PhantomData<T>);

impl<T: Key> Source for Counted<T> {
    type Args = ToCount<T::Word>;
    #[inline(always)]
    unsafe fn run<const FMA: bool>((piece, choice, counts): Self::Args) {
        // SAFETY: the elements of a piece, and a count for each bucket.
        unsafe { piece.keys::<T>().for_each(|key| *counts.add(choice.bucket(key)) += 1) };
    }
}

/// Elements that move to their buckets.
struct Move<E: Entry> {
    piece: Piece<E::Word>,
    position: usize,
    choice: Choice,
    /// Where the next one of each bucket goes.
    starts: *mut u32,
    entries: *mut E,
}

struct Moved<T, E>(PhantomData<(T, E)>);

impl<T: Key, E: Entry<Word = T::Word>> Source for Moved<T, E> {
    type Args = Move<E>;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(m: Move<E>) {
        // SAFETY: the elements of a piece, each of which was counted: a place of its own in its bucket.
        unsafe {
            for (i, key) in m.piece.keys::<T>().enumerate() {
                let start = m.starts.add(m.choice.bucket(key));
                *m.entries.add(*start as usize) = E::new(key, (m.position + i) as u32);
                *start += 1;
            }
        }
    }
}

/// Sorts rows of one dtype.
pub struct Buckets<T: Key, E: Entry> {
    limits: unsafe fn(ToLimit<T::Word>),
    counted: unsafe fn(ToCount<T::Word>),
    moved: unsafe fn(Move<E>),
    /// Exchanged bits of keys.
    flip: E::Word,
}

impl<T: Key, E: Entry<Word = T::Word>> Buckets<T, E> {
    /// With one tier's code.
    pub fn new(flip: E::Word, tier: Tier) -> Buckets<T, E> {
        let (limits, counted) = (compiled::<Limits<T>>(tier), compiled::<Counted<T>>(tier));
        Buckets { limits, counted, moved: compiled::<Moved<T, E>>(tier), flip }
    }

    /// Leaves the entries of a row in their order at `entries`; `done` is told of each part when it is there. Neither where the launch
    /// was abandoned.
    ///
    /// # Safety
    /// Room for the row at `entries` and at `spare`, nobody else's.
    ///
    /// # Errors
    /// `Code::OutOfMemory`, and those of `done`.
    pub unsafe fn sort(
        &self,
        row: &mut Row,
        [entries, spare]: [*mut E; 2],
        abandoned: &AtomicBool,
        done: &Done<E>,
    ) -> Result<()> {
        let (n, flip) = (row.len, self.flip);
        let chunk = n.div_ceil(MOST_CHUNKS).max(CHUNK);
        let chunks = n.div_ceil(chunk);
        let limits = Room::<[T::Word; 2]>::new(chunks)?;
        let of_chunk = Apart(limits.start());
        row.chunks(chunk, 0.2, &|row, c| {
            // SAFETY: a place for each chunk, and the pieces of the row.
            unsafe {
                *of_chunk.at(c) = [T::Word::narrow(u64::MAX), T::Word::narrow(0)];
                row.each(c * chunk, chunk, |src, _, len| (self.limits)((Piece { src, len, flip }, of_chunk.at(c))));
            }
        })?;
        // SAFETY: written above.
        let (low, high) = unsafe { std::slice::from_raw_parts(limits.start(), chunks) }
            .iter()
            .fold((u64::MAX, 0), |(low, high), [l, h]| (low.min(l.wide()), high.max(h.wide())));
        let span = Span { base: low, bits: u64::BITS - (high - low).leading_zeros() };
        let choice = Choice { span, shift: span.bits.saturating_sub(TOP) };
        let buckets = ((high - low) >> choice.shift) as usize + 1;
        let counts = Room::<u32>::new(chunks * buckets)?;
        let counts_of = Apart(counts.start());
        row.chunks(chunk, 0.7, &|row, c| {
            let counts = counts_of.at(c * buckets);
            // SAFETY: a chunk's counts are one thread's at a time; the pieces of the row.
            unsafe {
                std::ptr::write_bytes(counts, 0, buckets);
                row.each(c * chunk, chunk, |src, _, len| (self.counted)((Piece { src, len, flip }, choice, counts)));
            }
        })?;
        let starts = Room::<u32>::new(buckets + 1)?;
        // SAFETY: counts of each chunk, and a start for each bucket and the end.
        let starts = unsafe {
            let mut next = 0;
            for bucket in 0..buckets {
                *starts.start().add(bucket) = next;
                for c in 0..chunks {
                    next += std::mem::replace(&mut *counts_of.at(c * buckets + bucket), next);
                }
            }
            *starts.start().add(buckets) = next;
            std::slice::from_raw_parts(starts.start(), buckets + 1)
        };
        let (entries, spare) = (Apart(entries), Apart(spare));
        row.chunks(chunk, 2.0, &|row, c| {
            let (starts, entries) = (counts_of.at(c * buckets), entries.at(0));
            // SAFETY: as above; the places are apart.
            row.each(c * chunk, chunk, |src, position, len| unsafe {
                (self.moved)(Move { piece: Piece { src, len, flip }, position, choice, starts, entries });
            });
        })?;
        // A bucket goes with the group in which it starts: those of equal keys may be as long as the row.
        parallel_for(n.div_ceil(GROUP), 5.0 * GROUP as f64, &|groups| {
            let mut radix = Radix::new()?;
            for group in groups {
                let of_place = |place: usize| starts[..buckets].partition_point(|&start| (start as usize) < place);
                let own = of_place(group * GROUP)..of_place((group + 1) * GROUP);
                for bucket in own.clone() {
                    let (start, len) = (starts[bucket] as usize, (starts[bucket + 1] - starts[bucket]) as usize);
                    if abandoned.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                    let bits = choice.shift;
                    let span = Span { base: span.base + ((bucket as u64) << bits), bits };
                    let [from, to] = [entries.at(start), spare.at(start)];
                    // SAFETY: the bucket's entries and room for as many, this thread's.
                    unsafe {
                        if radix.sort(from, to, len, span) == to {
                            std::ptr::copy_nonoverlapping(to, from, len);
                        }
                    }
                }
                let places = starts[own.start] as usize..starts[own.end] as usize;
                // SAFETY: sorted above, and this thread's.
                done(places.clone(), unsafe { std::slice::from_raw_parts(entries.at(places.start), places.len()) })?;
            }
            Ok(())
        })
    }
}
