//! `Sort` kernels: elements become keys, whose integer order is the sorted order, with positions where they are asked for; keys
//! are sorted, or the first of them selected, and become elements again.

mod buckets;
mod entry;
mod first;
pub mod key;
mod radix;
mod row;

use crate::launch::{Context, Run, Slots};
use crate::map::cast_program;
use crate::map::compile::{Results, TileProgram, compile};
use crate::map::frame::{Bound, Frame};
use crate::map::table::ordered;
use crate::map::transpose;
use crate::parallel::parallel_for;
use crate::tier::{Source, Tier, compiled};
use buckets::Buckets;
use entry::{Alone, Entry, Packed, Paired};
use ferrotensor_core::DType;
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::{Sort, SortOutputs};
use first::First;
use key::{Key, Word};
use radix::{Apart, Radix, Room, Span};
use row::Row;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::Ordering;

// The first k alone are sought while k is at most this part of a row.
const FEW: usize = 16;

/// Elements that become entries.
struct Stretch<E: Entry> {
    src: *const u8,
    entries: *mut E,
    len: usize,
    position: usize,
    /// Exchanged bits of keys: all of them for a descending order.
    flip: E::Word,
}

struct Entries<T, E>(PhantomData<(T, E)>);

impl<T: Key, E: Entry<Word = T::Word>> Source for Entries<T, E> {
    type Args = Stretch<E>;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(s: Stretch<E>) {
        for i in 0..s.len {
            // SAFETY: `len` elements at `src`, and room for as many entries.
            unsafe { *s.entries.add(i) = E::new((*s.src.cast::<T>().add(i)).key().xor(s.flip), (s.position + i) as u32) };
        }
    }
}

/// Entries that become elements, or positions.
struct Leave<E: Entry> {
    entries: *const E,
    to: *mut u8,
    len: usize,
    flip: E::Word,
}

struct Values<T, E>(PhantomData<(T, E)>);

impl<T: Key, E: Entry<Word = T::Word>> Source for Values<T, E> {
    type Args = Leave<E>;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(l: Leave<E>) {
        for i in 0..l.len {
            // SAFETY: `len` entries, and room for as many elements.
            unsafe { *l.to.cast::<T>().add(i) = T::of((*l.entries.add(i)).key().xor(l.flip)) };
        }
    }
}

struct Positions<E>(PhantomData<E>);

impl<E: Entry> Source for Positions<E> {
    type Args = Leave<E>;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(l: Leave<E>) {
        for i in 0..l.len {
            // SAFETY: `len` entries, and room for as many positions.
            unsafe { *l.to.cast::<i32>().add(i) = (*l.entries.add(i)).position() as i32 };
        }
    }
}

/// Sorts rows of `T` by entries `E`.
struct SortKernel<T: Key<Word: Numbered>, E: Entry<Word = T::Word>> {
    copy_in: TileProgram,
    copy_values: TileProgram,
    copy_positions: TileProgram,
    enter: unsafe fn(Stretch<E>),
    values: unsafe fn(Leave<E>),
    positions: unsafe fn(Leave<E>),
    first: First<T, E, <T::Word as Numbered>::Entry>,
    buckets: Buckets<T, E>,
    /// Exchanged bits of keys.
    flip: E::Word,
    outputs: SortOutputs,
}

/// Entries with positions, by what holds the key.
trait Numbered: Word {
    type Entry: Entry<Word = Self> + 'static;
    type Alone: Entry<Word = Self> + 'static;
}
impl Numbered for u32 {
    type Entry = Packed;
    type Alone = Alone<u32>;
}
impl Numbered for u64 {
    type Entry = Paired;
    type Alone = Alone<u64>;
}

/// Compiles a sort.
///
/// # Errors
/// A sentence for complex dtypes.
pub fn prepare(kernel: &Sort, tier: Tier) -> Result<Box<dyn Run>, String> {
    fn kernel_for<T: Key<Word: Numbered>>(k: &Sort, tier: Tier) -> Result<Box<dyn Run>, String> {
        match k.outputs {
            SortOutputs::Values => boxed::<T, <T::Word as Numbered>::Alone>(k, tier),
            SortOutputs::Indices | SortOutputs::Both => boxed::<T, <T::Word as Numbered>::Entry>(k, tier),
        }
    }
    fn boxed<T: Key<Word: Numbered>, E: Entry<Word = T::Word> + 'static>(
        k: &Sort,
        tier: Tier,
    ) -> Result<Box<dyn Run>, String> {
        let (copy, positions) = (cast_program(k.dtype, k.dtype), cast_program(DType::I32, DType::I32));
        let flip = E::Word::narrow(if k.descending { u64::MAX >> (64 - T::BITS) } else { 0 });
        Ok(Box::new(SortKernel::<T, E> {
            copy_in: compile(&copy, Results::Kept, tier)?,
            copy_values: compile(&copy, Results::Stored, tier)?,
            copy_positions: compile(&positions, Results::Stored, tier)?,
            enter: compiled::<Entries<T, E>>(tier),
            values: compiled::<Values<T, E>>(tier),
            positions: compiled::<Positions<E>>(tier),
            first: First::new(flip, tier),
            buckets: Buckets::new(flip, tier),
            flip,
            outputs: k.outputs,
        }))
    }
    ordered!(kernel.dtype, T => kernel_for::<T>(kernel, tier), else Err(format!("{} has no order", kernel.dtype)))
}

impl<T: Key<Word: Numbered>, E: Entry<Word = T::Word> + 'static> Run for SortKernel<T, E> {
    fn run(&self, slots: &Slots, _: &[u64], context: &Context) -> Result<()> {
        let ([input], Some(first)) = (&slots.inputs[..], slots.outputs.first()) else {
            return Err(Error::internal("sort: one input, and outputs"));
        };
        let (Some((&n, rest)), Some((&k, kept))) = (input.0.dims().split_last(), first.0.dims().split_last()) else {
            return Err(Error::internal("sort: operands need an axis"));
        };
        if rest != kept || k > n || slots.outputs.iter().any(|o| o.0.dims() != first.0.dims()) {
            return Err(Error::internal("sort: input and outputs do not fit each other"));
        }
        if n > i32::MAX as usize {
            return Err(Error::unsupported(format!("{n} elements have positions beyond int32")));
        }
        if first.0.is_empty() {
            return Ok(());
        }
        let (values, positions) = match self.outputs {
            SortOutputs::Values => (Some(first), None),
            SortOutputs::Indices => (None, Some(first)),
            SortOutputs::Both => (Some(first), slots.outputs.get(1)),
        };
        // SAFETY: a launch's layouts lie inside its buffers.
        let straight = unsafe { transpose::straightened(*input, size_of::<T>(), context)? };
        let input = straight.as_ref().map_or(*input, |(buffer, layout)| (layout, buffer.as_ptr()));
        // SAFETY: as above, and its outputs overlap nothing.
        let (from, values, positions) = unsafe {
            let bind = |program, to: Option<&_>| to.map(|&to| Bound::new(program, &[None, Some(to)], &[])).transpose();
            let from = Bound::new(&self.copy_in, &[Some(input), None], &[])?;
            (from, bind(&self.copy_values, values)?, bind(&self.copy_positions, positions)?)
        };
        let cost = if k <= n / FEW { 1.0 } else { 3.0 + (n as f64).log2() / 2.0 };
        parallel_for(rest.iter().product(), cost * n as f64, &|rows| {
            let mut source = Frame::new(&from, usize::MAX)?;
            let sinks = || Sinks::new([values.as_ref(), positions.as_ref()]);
            let mut to = sinks()?;
            let room = if k <= n / FEW { 0 } else { n };
            let (entries, spare) = (Room::<E>::new(room)?, Room::<E>::new(room)?);
            let mut radix = Radix::new()?;
            for r in rows {
                if context.abandoned.load(Ordering::Relaxed) {
                    break;
                }
                let mut row = Row { bound: &from, frame: &mut source, start: r * n, len: n };
                let (first, sorted);
                if room == 0 {
                    first = self.first.of(&mut row, k)?;
                    sorted = first.start();
                } else if n < buckets::FROM {
                    self.enter(&mut row, entries.start());
                    let span = Span { base: 0, bits: T::BITS };
                    // SAFETY: the entries of the whole row, and room for as many.
                    sorted = unsafe { radix.sort(entries.start(), spare.start(), n, span) };
                } else {
                    sorted = entries.start();
                    let done = |places: Range<usize>, sorted: &[E]| {
                        let end = places.end.min(k).max(places.start);
                        self.store(&sorted[..end - places.start], r * k, places.start, &mut sinks()?)
                    };
                    // SAFETY: there is room for the row.
                    unsafe { self.buckets.sort(&mut row, [sorted, spare.start()], context.abandoned, &done)? };
                    if context.abandoned.load(Ordering::Relaxed) {
                        break;
                    }
                }
                // SAFETY: the first `k` entries of the order, which nobody writes any more.
                let sorted = unsafe { std::slice::from_raw_parts(sorted.cast_const(), k) };
                if n < buckets::FROM || room == 0 {
                    self.store(sorted, r * k, 0, &mut to)?;
                }
                if let Some(mut to) = to.row(0, r * k, k) {
                    self.restore(&mut row, sorted, &mut to)?;
                }
            }
            Ok(())
        })
    }
}

/// Where a thread writes values and positions, as far as they are outputs.
struct Sinks<'a> {
    bounds: [Option<&'a Bound<'a>>; 2],
    frames: [Option<Frame<'a>>; 2],
}

impl<'a> Sinks<'a> {
    fn new(bounds: [Option<&'a Bound<'a>>; 2]) -> Result<Sinks<'a>> {
        let frame = |n: usize| bounds[n].map(|bound| Frame::new(bound, usize::MAX)).transpose();
        Ok(Sinks { bounds, frames: [frame(0)?, frame(1)?] })
    }

    /// The row of `len` elements from `start` on of one of the outputs.
    fn row(&mut self, output: usize, start: usize, len: usize) -> Option<Row<'_, 'a>> {
        let frame = self.frames[output].as_mut()?;
        self.bounds[output].map(|bound| Row { bound, frame, start, len })
    }
}

impl<T: Key<Word: Numbered>, E: Entry<Word = T::Word>> SortKernel<T, E> {
    /// Makes entries of a row.
    fn enter(&self, row: &mut Row, entries: *mut E) {
        let flip = self.flip;
        row.each(0, row.len, |src, position, len| {
            // SAFETY: a piece of the row, and its part of the entries.
            unsafe { (self.enter)(Stretch { src, entries: entries.wrapping_add(position), len, position, flip }) }
        });
    }

    /// Writes sorted entries, the places from `at` on of the outputs' row that begins at element `start`.
    fn store(&self, sorted: &[E], start: usize, at: usize, to: &mut Sinks) -> Result<()> {
        let (places, flip, entries) = (at..at + sorted.len(), self.flip, Apart(sorted.as_ptr().cast_mut()));
        for (output, leave) in [self.values, self.positions].into_iter().enumerate() {
            let Some(mut to) = to.row(output, start, places.end) else { continue };
            to.store(places.clone(), &|to, place, len| {
                // SAFETY: so many entries, and room for as many elements.
                unsafe { leave(Leave { entries: entries.at(place - at), to, len, flip }) }
            })?;
        }
        Ok(())
    }

    /// Stores again what a shared key does not tell from others: elements of that key in the order of the row.
    fn restore(&self, row: &mut Row, sorted: &[E], to: &mut Row) -> Result<()> {
        for &key in T::SHARED {
            let place = key.xor(self.flip);
            let run = sorted.partition_point(|e| e.key() < place)..sorted.partition_point(|e| e.key() <= place);
            if run.is_empty() {
                continue;
            }
            let elements = Room::<T>::new(run.len())?;
            let (mut found, mut at) = (0, 0);
            while found < run.len() {
                let (src, len) = row.piece(at, row.len - at);
                // SAFETY: a piece of the row.
                let piece = unsafe { std::slice::from_raw_parts(src.cast::<T>(), len) };
                for &x in piece.iter().filter(|x| x.key() == key).take(run.len() - found) {
                    // SAFETY: there is room for so many.
                    unsafe { *elements.start().add(found) = x };
                    found += 1;
                }
                at += len;
            }
            let (elements, first) = (Apart(elements.start()), run.start);
            to.store(run, &|to, at, len| {
                // SAFETY: all of them were written, and there is room for as many.
                unsafe { std::ptr::copy_nonoverlapping(elements.at(at - first), to.cast(), len) }
            })?;
        }
        Ok(())
    }
}
