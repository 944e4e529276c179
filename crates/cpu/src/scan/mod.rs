//! `Scan` kernels: cumulative combination along the last axis. Threads share rows; of few long rows they share the blocks.

mod along;

use crate::cache;
use crate::launch::{Context, Run, Slot, Slots};
use crate::map::cast_program;
use crate::map::compile::{Results, TileProgram, compile};
use crate::map::frame::{Bound, Frame};
use crate::map::table::by_monoid;
use crate::map::transpose;
use crate::parallel::{parallel_for, threads};
use crate::scratch::Scratch;
use crate::tier::{Tier, compiled};
use along::{Along, Beside, MOST, State};
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::Scan;
use ferrotensor_core::planted;
use std::ops::Range;
use std::sync::atomic::Ordering;

// Elements of a row at a time, whole blocks side by side.
const STRETCH: usize = MOST * Scan::BLOCK;
// Elements of a row that one thread has of a wave: long enough that claiming it is free.
const PIECE: usize = 4 * STRETCH;
// Bytes of a thread's pieces of a wave: what its second-level cache still holds of them when it comes back.
const WAVE: usize = 1 << 19;
// Rows of more elements are no longer gone along side by side, of which a job is abandoned between rows only.
const LONG: usize = 1 << 16;
// Estimated nanoseconds of an element.
const NANOS: f64 = 0.5;

struct ScanKernel {
    copy_in: TileProgram,
    copy_out: TileProgram,
    rows: unsafe fn(Beside),
    ends: unsafe fn(Beside),
    along: unsafe fn(Along),
    block: usize,
    size: usize,
}

/// Compiles a scan.
///
/// # Errors
/// A sentence where the monoid is not defined for the dtype.
pub fn prepare(kernel: &Scan, tier: Tier) -> Result<Box<dyn Run>, String> {
    let d = kernel.dtype;
    let (rows, ends, along) = by_monoid!(kernel.combine, d, F, T => {
        (compiled::<along::Rows<F, T>>(tier), compiled::<along::Ends<F, T>>(tier), compiled::<along::Row<F, T>>(tier))
    })?;
    let copy = cast_program(d, d);
    let (copy_in, copy_out) = (compile(&copy, Results::Kept, tier)?, compile(&copy, Results::Stored, tier)?);
    Ok(Box::new(ScanKernel { copy_in, copy_out, rows, ends, along, block: kernel.block(), size: d.bytes() }))
}

impl Run for ScanKernel {
    fn run(&self, slots: &Slots, _: &[u64], context: &Context) -> Result<()> {
        let ([input], [output]) = (&slots.inputs[..], &slots.outputs[..]) else {
            return Err(Error::internal("scan: one input and one output"));
        };
        if input.0.dims() != output.0.dims() {
            return Err(Error::internal("scan: input and output differ in shape"));
        }
        if output.0.is_empty() {
            return Ok(());
        }
        // SAFETY: a launch's layouts lie inside its buffers.
        let straight = unsafe { transpose::straightened(*input, self.size, context)? };
        let input = straight.as_ref().map_or(*input, |(buffer, layout)| (layout, buffer.as_ptr()));
        if input.0.is_row_major() && output.0.is_row_major() {
            return self.run_dense(input, *output, context);
        }
        // SAFETY: as above, and its outputs overlap nothing.
        let (from, to) = unsafe {
            (Bound::new(&self.copy_in, &[Some(input), None], &[])?, Bound::new(&self.copy_out, &[None, Some(*output)], &[])?)
        };
        let row = input.0.dims().last().copied().unwrap_or(1);
        let nanos = from.nanos() + to.nanos() + 1.0;
        parallel_for(from.domain.total / row, nanos * row as f64, &|rows| {
            let (mut source, mut sink) = (Frame::new(&from, self.copy_in.tile)?, Frame::new(&to, self.copy_out.tile)?);
            let mut state = State::default();
            let (mut at, end) = (rows.start * row, rows.end * row);
            while at < end && !context.abandoned.load(Ordering::Relaxed) {
                // Within one row, and one piece on both sides.
                let most = source.tile().min(row - at % row);
                let len = to.domain.piece(at, from.domain.piece(at, most));
                // SAFETY: rows are this thread's; the sink's input register has room for a tile.
                unsafe {
                    source.run(at, len);
                    let (src, out) = (source.result(0), sink.input(0));
                    (self.along)(Along { src, out, len, at: at % row, row, block: self.block, state: &mut state });
                    sink.run(at, len);
                }
                at += len;
            }
            Ok(())
        })
    }
}

impl ScanKernel {
    /// Rows that lie one after the other, straight from memory to memory.
    fn run_dense(&self, input: Slot, output: Slot, context: &Context) -> Result<()> {
        let row = input.0.dims().last().copied().unwrap_or(1);
        let rows = input.0.len() / row;
        let start = |slot: Slot| slot.1.wrapping_add(slot.0.offset() * self.size);
        let past = 2 * input.0.len() * self.size > cache::past();
        let places = Places { from: start(input).cast_const(), to: start(output), size: self.size, row, past };
        if row <= self.block.min(LONG) {
            return parallel_for(rows.div_ceil(MOST), (row * MOST) as f64 * NANOS, &|groups| {
                for first in groups.map(|g| g * MOST) {
                    if context.abandoned.load(Ordering::Relaxed) {
                        break;
                    }
                    let (src, out) = places.at(first * row);
                    // SAFETY: dense operands that do not overlap; each row is one thread's.
                    unsafe { (self.rows)(Beside { src, out, rows: MOST.min(rows - first), len: row }) };
                }
                Ok(())
            });
        }
        if self.block < row && rows < 4 * threads() && row >= 2 * PIECE && threads() > 1 {
            return (0..rows).try_for_each(|n| self.waves(&places, n * row, context));
        }
        parallel_for(rows, row as f64 * NANOS, &|rows| {
            self.piece(&places, rows.start * row..rows.end * row, &mut State::default(), context)
        })
    }

    /// Elements, numbered through all rows, by one thread.
    fn piece(&self, places: &Places, elements: Range<usize>, state: &mut State, context: &Context) -> Result<()> {
        let &Places { row, past, .. } = places;
        let tile = if past { Some(Scratch::take(STRETCH * self.size)?) } else { None };
        for at in elements.clone().step_by(STRETCH) {
            if context.abandoned.load(Ordering::Relaxed) {
                break;
            }
            let len = STRETCH.min(elements.end - at);
            let (src, to) = places.at(at);
            let out = tile.as_ref().map_or(to, Scratch::as_ptr);
            // SAFETY: dense operands that do not overlap, of which these elements are one thread's; a tile has room for a stretch.
            unsafe {
                (self.along)(Along { src, out, len, at: at % row, row, block: self.block, state });
                if past {
                    cache::store_past(out, to, len * self.size);
                }
            }
        }
        if past {
            cache::fence();
        }
        Ok(())
    }

    /// The row that begins at element `first`, by all threads: what the blocks of a wave come to by themselves, then what stands before
    /// each piece, then the pieces.
    fn waves(&self, places: &Places, first: usize, context: &Context) -> Result<()> {
        let (size, last) = (self.size, first + places.row);
        let wave = threads() * (WAVE / (PIECE * size)).max(1) * PIECE;
        let blocks = wave / self.block;
        let memory = Scratch::take((2 * blocks + 1) * size)?;
        // What each block comes to by itself, and what stands before it.
        let [totals, before] = [0, blocks].map(|n| OfBlocks { start: memory.as_ptr().wrapping_add(n * size), size });
        for at in (first..last).step_by(wave) {
            let end = last.min(at + wave);
            let (pieces, whole) = ((end - at).div_ceil(PIECE), (end - at - 1) / PIECE);
            parallel_for(whole, PIECE as f64 * NANOS, &|range| {
                for n in range {
                    let (src, out) = (places.at(at + n * PIECE).0, totals.of(n * PIECE / self.block));
                    // SAFETY: the elements exist, and each block has its place among the totals.
                    unsafe { (self.ends)(Beside { src, out, rows: PIECE / self.block, len: self.block }) };
                }
                Ok(())
            })?;
            if context.abandoned.load(Ordering::Relaxed) {
                break;
            }
            let (src, out, len) = (totals.start, before.of(1), whole * PIECE / self.block);
            let mut state = State::default();
            // SAFETY: so many totals were written; of all waves but the first something stands before the first block.
            unsafe {
                std::ptr::copy_nonoverlapping(before.start, state.running(), size);
                (self.along)(Along {
                    src,
                    out,
                    len,
                    at: usize::from(at > first),
                    row: usize::MAX,
                    block: usize::MAX,
                    state: &mut state,
                });
            }
            parallel_for(pieces, PIECE as f64 * NANOS, &|range| {
                range.into_iter().try_for_each(|n| {
                    let (from, mut state) = (at + n * PIECE, State::default());
                    let before_of = if planted::is("running-sum-forgets-what-stands-before") { n.min(1) } else { n };
                    // SAFETY: a state holds an element, which is not read where nothing stands before.
                    unsafe {
                        std::ptr::copy_nonoverlapping(before.of(before_of * PIECE / self.block), state.before(), size)
                    };
                    self.piece(places, from..end.min(from + PIECE), &mut state, context)
                })
            })?;
            // SAFETY: the wave's last element was written.
            unsafe { std::ptr::copy_nonoverlapping(places.at(end - 1).1, before.start, size) };
        }
        Ok(())
    }
}

/// An element for each block.
struct OfBlocks {
    start: *mut u8,
    size: usize,
}

// SAFETY: threads write different elements.
unsafe impl Sync for OfBlocks {}

impl OfBlocks {
    fn of(&self, block: usize) -> *mut u8 {
        self.start.wrapping_add(block * self.size)
    }
}

/// The first elements of both operands.
struct Places {
    from: *const u8,
    to: *mut u8,
    size: usize,
    /// Elements of a row.
    row: usize,
    /// Whether results go past the caches.
    past: bool,
}

// SAFETY: the input is only read, and threads write different elements of the output.
unsafe impl Sync for Places {}

impl Places {
    /// Where an element lies.
    fn at(&self, element: usize) -> (*const u8, *mut u8) {
        (self.from.wrapping_add(element * self.size), self.to.wrapping_add(element * self.size))
    }
}
