//! `Sort` kernels: elements become keys, whose integer order is the sorted order, with positions where they are asked for; keys
//! are sorted, or the first of them selected, and become elements again.

mod best;
mod entry;
mod key;
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
use best::{Best, Offer, Offers};
use entry::{Alone, Entry, Packed, Paired};
use ferrotensor_core::DType;
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::{Sort, SortOutputs};
use key::{Key, Word};
use radix::{Apart, Room};
use row::{LONG, Row};
use std::marker::PhantomData;
use std::sync::atomic::Ordering;

// One pass that keeps the first k beats a sort while k is at most this part of a row.
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

/// Sorts rows of `T` by entries `E`.
struct SortKernel<T, E: Entry> {
    copy_in: TileProgram,
    copy_values: TileProgram,
    copy_positions: TileProgram,
    enter: unsafe fn(Stretch<E>),
    offer: unsafe fn(Offer<E>),
    /// Exchanged bits of keys.
    flip: E::Word,
    outputs: SortOutputs,
    elements: PhantomData<fn(T)>,
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
    fn boxed<T: Key, E: Entry<Word = T::Word> + 'static>(k: &Sort, tier: Tier) -> Result<Box<dyn Run>, String> {
        let (copy, positions) = (cast_program(k.dtype, k.dtype), cast_program(DType::I32, DType::I32));
        Ok(Box::new(SortKernel::<T, E> {
            copy_in: compile(&copy, Results::Kept, tier)?,
            copy_values: compile(&copy, Results::Stored, tier)?,
            copy_positions: compile(&positions, Results::Stored, tier)?,
            enter: compiled::<Entries<T, E>>(tier),
            offer: compiled::<Offers<T, E>>(tier),
            flip: E::Word::narrow(if k.descending { u64::MAX >> (64 - T::BITS) } else { 0 }),
            outputs: k.outputs,
            elements: PhantomData,
        }))
    }
    ordered!(kernel.dtype, T => kernel_for::<T>(kernel, tier), else Err(format!("{} has no order", kernel.dtype)))
}

impl<T: Key, E: Entry<Word = T::Word> + 'static> Run for SortKernel<T, E> {
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
            let mut value_sink = values.as_ref().map(|b| Frame::new(b, usize::MAX)).transpose()?;
            let mut position_sink = positions.as_ref().map(|b| Frame::new(b, usize::MAX)).transpose()?;
            let room = if k <= n / FEW { 0 } else { n };
            let (entries, spare) = (Room::<E>::new(room)?, Room::<E>::new(room)?);
            for r in rows {
                if context.abandoned.load(Ordering::Relaxed) {
                    break;
                }
                let mut row = Row { bound: &from, frame: &mut source, start: r * n, len: n };
                let best;
                let sorted = if room == 0 {
                    best = self.best(&mut row, k)?;
                    best.start()
                } else {
                    self.enter(&mut row, entries.start())?;
                    // SAFETY: the entries of the whole row, and room for as many.
                    unsafe { radix::sort(entries.start(), spare.start(), n, T::BITS)? }
                };
                // SAFETY: the first `k` entries of the order, which nobody writes any more.
                let sorted = unsafe { std::slice::from_raw_parts(sorted.cast_const(), k) };
                if let (Some(sink), Some(bound)) = (&mut value_sink, &values) {
                    let mut to = Row { bound, frame: sink, start: r * k, len: k };
                    to.store(0..k, |i| T::of(sorted[i].key().xor(self.flip)))?;
                    self.restore(&mut row, sorted, &mut to)?;
                }
                if let (Some(sink), Some(bound)) = (&mut position_sink, &positions) {
                    let mut to = Row { bound, frame: sink, start: r * k, len: k };
                    to.store(0..k, |i| sorted[i].position() as i32)?;
                }
            }
            Ok(())
        })
    }
}

impl<T: Key, E: Entry<Word = T::Word>> SortKernel<T, E> {
    /// Makes entries of a row.
    fn enter(&self, row: &mut Row, entries: *mut E) -> Result<()> {
        let (to, flip) = (Apart(entries), self.flip);
        row.pieces(&|src, position, len| {
            // SAFETY: a piece of the row, and its part of the entries.
            unsafe { (self.enter)(Stretch { src, entries: to.at(position), len, position, flip }) }
        })
    }

    /// The first `k` entries of a row's order: those of each chunk, then those of all of them.
    fn best(&self, row: &mut Row, k: usize) -> Result<Room<E>> {
        let n = row.len;
        let chunk = n.div_ceil(16).max(FEW * k).max(LONG / 2);
        let chunks = n.div_ceil(chunk);
        let room = Room::<E>::new(chunks * k)?;
        let to = Apart(room.start());
        let select = |row: &mut Row, c: usize| -> Result<usize> {
            let mut best = Best::<E>::new(k)?;
            let (mut at, end) = (c * chunk, n.min((c + 1) * chunk));
            while at < end {
                let (src, len) = row.piece(at, end - at);
                // SAFETY: a piece of the row.
                unsafe { (self.offer)(Offer { src, len, position: at, flip: self.flip, best: &mut best }) };
                at += len;
            }
            // SAFETY: each chunk has a room of its own, for `k`.
            Ok(unsafe { best.finish(to.at(c * k)) })
        };
        let mut found = k;
        if chunks == 1 {
            select(row, 0)?;
        } else {
            let (bound, start) = (row.bound, row.start);
            parallel_for(chunks, 0.5 * chunk as f64, &|range| {
                let mut frame = Frame::new(bound, usize::MAX)?;
                let mut row = Row { bound, frame: &mut frame, start, len: n };
                for c in range {
                    select(&mut row, c)?;
                }
                Ok(())
            })?;
            // All chunks but the last have more than `k` elements.
            found = (chunks - 1) * k + k.min(n - (chunks - 1) * chunk);
        }
        // SAFETY: the entries that were found, which lie side by side.
        unsafe { std::slice::from_raw_parts_mut(room.start(), found) }.sort_unstable();
        Ok(room)
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
            // SAFETY: all of them were written.
            to.store(run, |i| unsafe { *elements.at(i - first) })?;
        }
        Ok(())
    }
}
