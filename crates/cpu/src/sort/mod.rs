//! `Sort` kernels: each row becomes (key, position) entries whose integer order is the sorted order; keys are sorted by
//! radix. Positions make entries distinct, so every method gives the one stable order.

use crate::launch::{Context, Run, Slots};
use crate::map::cast_program;
use crate::map::compile::{Results, TileProgram, compile};
use crate::map::frame::{Bound, Frame};
use crate::map::table::ordered;
use crate::number::Item;
use crate::parallel::parallel_for;
use crate::scratch::Scratch;
use crate::tier::Tier;
use ferrotensor_core::DType;
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::{Sort, SortOutputs};
use std::marker::PhantomData;
use std::sync::atomic::Ordering;

/// Values whose order integers can have.
trait Key: Copy {
    /// Significant bits of a key.
    const BITS: u32;
    /// Larger for larger values; equal for `-0` and `+0`; largest for NaN.
    fn key(self) -> u64;
}

macro_rules! keys {
    (integers $($t:ident $u:ident),*) => {$(
        impl Key for $t {
            const BITS: u32 = $t::BITS;
            // The distance from the smallest value.
            fn key(self) -> u64 { self.wrapping_sub($t::MIN) as $u as u64 }
        }
    )*};
    (floats $($t:ident $u:ident),*) => {$(
        impl Key for $t {
            const BITS: u32 = $u::BITS;
            fn key(self) -> u64 {
                // Adding +0 makes +0 of -0.
                let bits = (self + 0.0).to_bits();
                let sign = 1 << ($u::BITS - 1);
                let ordered = if bits & sign == 0 { bits | sign } else { !bits };
                (if self.is_nan() { $u::MAX } else { ordered }) as u64
            }
        }
    )*};
}
keys!(integers i8 u8, u8 u8, i16 u16, u16 u16, i32 u32, u32 u32, i64 u64, u64 u64);
keys!(floats f32 u32, f64 u64);

impl Key for bool {
    const BITS: u32 = 1;
    fn key(self) -> u64 {
        self as u64
    }
}

/// A key with its position: packed in 8 bytes where the key has at most 32 bits.
trait Entry: Copy + Ord + bytemuck::Zeroable {
    fn new(key: u64, position: u32) -> Self;
    fn key(self) -> u64;
    fn position(self) -> u32;
}

impl Entry for u64 {
    fn new(key: u64, position: u32) -> u64 {
        key << 32 | position as u64
    }
    fn key(self) -> u64 {
        self >> 32
    }
    fn position(self) -> u32 {
        self as u32
    }
}

impl Entry for [u64; 2] {
    fn new(key: u64, position: u32) -> Self {
        [key, position as u64]
    }
    fn key(self) -> u64 {
        self[0]
    }
    fn position(self) -> u32 {
        self[1] as u32
    }
}

// Below, counting digits costs more than comparing.
const RADIX_FROM: usize = 512;
const DIGIT: u32 = 11;

/// Sorts entries that are in the order of their positions; `spare` is as long.
fn sort<E: Entry>(entries: &mut [E], spare: &mut [E], bits: u32) {
    if entries.len() < RADIX_FROM {
        entries.sort_unstable();
        return;
    }
    let (mut from, mut to) = (entries, spare);
    let mut swapped = false;
    for shift in (0..bits).step_by(DIGIT as usize) {
        let digit = |e: E| (e.key() >> shift) as usize & ((1 << DIGIT) - 1);
        let mut starts = [0usize; 1 << DIGIT];
        from.iter().for_each(|&e| starts[digit(e)] += 1);
        if starts[digit(from[0])] == from.len() {
            continue;
        }
        let mut next = 0;
        for start in &mut starts {
            next += std::mem::replace(start, next);
        }
        for &e in from.iter() {
            let start = &mut starts[digit(e)];
            to[*start] = e;
            *start += 1;
        }
        std::mem::swap(&mut from, &mut to);
        swapped = !swapped;
    }
    if swapped {
        to.copy_from_slice(from);
    }
}

/// Sorts rows of `T` with entries `E`.
struct SortKernel<T, E> {
    copy_in: TileProgram,
    copy_values: TileProgram,
    copy_positions: TileProgram,
    descending: bool,
    outputs: SortOutputs,
    types: PhantomData<fn(T, E)>,
}

/// Compiles a sort.
///
/// # Errors
/// A sentence for complex dtypes.
pub fn prepare(kernel: &Sort, tier: Tier) -> Result<Box<dyn Run>, String> {
    fn kernel_for<T: Item<Value: Key>>(k: &Sort, tier: Tier) -> Result<Box<dyn Run>, String> {
        if <T::Value as Key>::BITS > 32 { boxed::<T, [u64; 2]>(k, tier) } else { boxed::<T, u64>(k, tier) }
    }
    fn boxed<T: Item<Value: Key>, E: Entry + 'static>(k: &Sort, tier: Tier) -> Result<Box<dyn Run>, String> {
        let (copy, positions) = (cast_program(k.dtype, k.dtype), cast_program(DType::I32, DType::I32));
        Ok(Box::new(SortKernel::<T, E> {
            copy_in: compile(&copy, Results::Kept, tier)?,
            copy_values: compile(&copy, Results::Stored, tier)?,
            copy_positions: compile(&positions, Results::Stored, tier)?,
            descending: k.descending,
            outputs: k.outputs,
            types: PhantomData,
        }))
    }
    ordered!(kernel.dtype, T => kernel_for::<T>(kernel, tier), else Err(format!("{} has no order", kernel.dtype)))
}

/// A zeroed slice of `n` elements, with the memory behind it.
struct Room<T> {
    memory: Scratch,
    len: usize,
    element: PhantomData<T>,
}

impl<T: bytemuck::Zeroable + Copy> Room<T> {
    /// # Errors
    /// `Code::OutOfMemory`.
    fn new(len: usize) -> Result<Room<T>> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or_else(|| Error::out_of_memory("a row too long to sort"))?;
        let memory = Scratch::take(bytes)?;
        // SAFETY: the memory has that many bytes.
        unsafe { std::ptr::write_bytes(memory.as_ptr(), 0, bytes) };
        Ok(Room { memory, len, element: PhantomData })
    }

    fn slice(&mut self) -> &mut [T] {
        // SAFETY: `len` elements, aligned to 64 bytes and initialised, that only this value reaches.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_ptr().cast(), self.len) }
    }
}

impl<T: Item<Value: Key>, E: Entry + 'static> Run for SortKernel<T, E> {
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
        // SAFETY: a launch's layouts lie inside its buffers and its outputs overlap nothing.
        let (from, values, positions) = unsafe {
            let bind = |program, to: Option<&_>| to.map(|&to| Bound::new(program, &[None, Some(to)], &[])).transpose();
            let from = Bound::new(&self.copy_in, &[Some(*input), None], &[])?;
            (from, bind(&self.copy_values, values)?, bind(&self.copy_positions, positions)?)
        };
        let cost = 3.0 * n as f64 * (1.0 + (n as f64).log2() / 4.0);
        parallel_for(rest.iter().product(), cost, &|rows| {
            let mut rooms =
                (Room::<T>::new(n)?, Room::<E>::new(n)?, Room::<E>::new(n)?, Room::<T>::new(k)?, Room::<i32>::new(k)?);
            let (row, entries, spare) = (rooms.0.slice(), rooms.1.slice(), rooms.2.slice());
            let (sorted, order) = (rooms.3.slice(), rooms.4.slice());
            let mut source = Frame::new(&from, usize::MAX)?;
            let mut value_sink = values.as_ref().map(|b| Frame::new(b, usize::MAX)).transpose()?;
            let mut position_sink = positions.as_ref().map(|b| Frame::new(b, usize::MAX)).transpose()?;
            for r in rows {
                if context.abandoned.load(Ordering::Relaxed) {
                    break;
                }
                collect(&from, &mut source, r * n, row);
                for (i, (entry, x)) in entries.iter_mut().zip(&*row).enumerate() {
                    let key = x.load().key();
                    let mask = u64::MAX >> (64 - <T::Value as Key>::BITS);
                    *entry = E::new(if self.descending { !key & mask } else { key }, i as u32);
                }
                if k < n / 8 {
                    // Only the first k are wanted: set the others aside before sorting.
                    entries.select_nth_unstable(k);
                    entries[..k].sort_unstable();
                } else {
                    sort(entries, spare, <T::Value as Key>::BITS);
                }
                for ((value, position), entry) in sorted.iter_mut().zip(&mut *order).zip(&*entries) {
                    *position = entry.position() as i32;
                    *value = row[entry.position() as usize];
                }
                if let (Some(sink), Some(bound)) = (&mut value_sink, &values) {
                    store(bound, sink, r * k, sorted);
                }
                if let (Some(sink), Some(bound)) = (&mut position_sink, &positions) {
                    store(bound, sink, r * k, order);
                }
            }
            Ok(())
        })
    }
}

/// Fills `row` with the elements from `at` on.
fn collect<T: Copy>(bound: &Bound, frame: &mut Frame, at: usize, row: &mut [T]) {
    let mut done = 0;
    while done < row.len() {
        let len = bound.domain.piece(at + done, frame.tile().min(row.len() - done));
        // SAFETY: the elements exist and are only read; the result is `len` of them.
        let tile = unsafe {
            frame.run(at + done, len);
            std::slice::from_raw_parts(frame.result(0).cast::<T>(), len)
        };
        row[done..done + len].copy_from_slice(tile);
        done += len;
    }
}

/// Writes `row` to the elements from `at` on.
fn store<T: Copy>(bound: &Bound, frame: &mut Frame, at: usize, row: &mut [T]) {
    let mut done = 0;
    while done < row.len() {
        let len = bound.domain.piece(at + done, frame.tile().min(row.len() - done));
        frame.set(0, row[done..].as_mut_ptr().cast());
        // SAFETY: each row is one thread's, and `row` has `len` elements left.
        unsafe { frame.run(at + done, len) };
        done += len;
    }
}
