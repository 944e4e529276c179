//! `Scan` kernels: cumulative combination along the last axis, one element after the other; rows in parallel.

use crate::launch::{Context, Run, Slot, Slots};
use crate::map::cast_program;
use crate::map::compile::{Results, TileProgram, compile};
use crate::map::frame::{Bound, Frame};
use crate::map::table::by_monoid;
use crate::map::tile::Binary;
use crate::map::transpose;
use crate::parallel::parallel_for;
use crate::tier::{Source, Tier, compiled};
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::Scan;
use std::marker::PhantomData;
use std::sync::atomic::Ordering;

// Rows gone along together: each element waits for the one before it, so four rows take the time of one. With more, rows of a
// power of two would meet in the same lines of the first-level cache.
const SIDE: usize = 4;
// Elements of a row at a time, where no tile says so.
const STRETCH: usize = 2048;

/// `len` elements of each of at most [`SIDE`] rows, `stride` elements apart, from `src` on; their running values to `out`, apart
/// likewise; at `carry` are the values before them.
struct Stretch {
    src: *const u8,
    out: *mut u8,
    len: usize,
    rows: usize,
    stride: usize,
    carry: *mut u8,
    /// The rows start here: there is no carry yet.
    starts: bool,
}

struct Running<F, T>(PhantomData<(F, T)>);

impl<F: Binary<T, T>, T: Copy> Running<F, T> {
    /// `N` rows, from row `first` on.
    ///
    /// # Safety
    /// The rows exist, with room for their results and their carries, all apart; there is at least one element.
    #[inline(always)]
    unsafe fn rows<const N: usize>(s: &Stretch, first: usize) {
        let (src, out) =
            (s.src.cast::<T>().wrapping_add(first * s.stride), s.out.cast::<T>().wrapping_add(first * s.stride));
        let carry = s.carry.cast::<T>().wrapping_add(first);
        // SAFETY: by the contract above; a carry is read only after it was written.
        unsafe {
            let mut running: [T; N] = std::array::from_fn(|r| match (s.starts, *src.add(r * s.stride)) {
                (true, x) => x,
                (false, x) => F::apply(*carry.add(r), x),
            });
            (0..N).for_each(|r| *out.add(r * s.stride) = running[r]);
            for i in 1..s.len {
                for (r, running) in running.iter_mut().enumerate() {
                    *running = F::apply(*running, *src.add(r * s.stride + i));
                    *out.add(r * s.stride + i) = *running;
                }
            }
            (0..N).for_each(|r| *carry.add(r) = running[r]);
        }
    }
}

impl<F: Binary<T, T>, T: Copy> Source for Running<F, T> {
    type Args = Stretch;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(s: Stretch) {
        // SAFETY: the contract of a stretch.
        unsafe {
            match s.rows {
                1 => Self::rows::<1>(&s, 0),
                2 => Self::rows::<2>(&s, 0),
                3 => Self::rows::<3>(&s, 0),
                _ => Self::rows::<SIDE>(&s, 0),
            }
        }
    }
}

struct ScanKernel {
    copy_in: TileProgram,
    copy_out: TileProgram,
    run: unsafe fn(Stretch),
    size: usize,
}

/// Compiles a scan.
///
/// # Errors
/// A sentence where the monoid is not defined for the dtype.
pub fn prepare(kernel: &Scan, tier: Tier) -> Result<Box<dyn Run>, String> {
    let d = kernel.dtype;
    let run = by_monoid!(kernel.combine, d, F, T => compiled::<Running<F, T>>(tier))?;
    let copy = cast_program(d, d);
    let (copy_in, copy_out) = (compile(&copy, Results::Kept, tier)?, compile(&copy, Results::Stored, tier)?);
    Ok(Box::new(ScanKernel { copy_in, copy_out, run, size: d.bytes() }))
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
            let mut carry = Carry::default();
            let (mut at, end) = (rows.start * row, rows.end * row);
            while at < end && !context.abandoned.load(Ordering::Relaxed) {
                // Within one row, and one piece on both sides.
                let most = source.tile().min(row - at % row);
                let len = to.domain.piece(at, from.domain.piece(at, most));
                // SAFETY: rows are this thread's; the sink's input register has room for a tile; a carry is at most 16 bytes.
                unsafe {
                    source.run(at, len);
                    let (src, out) = (source.result(0), sink.input(0));
                    let carry = carry.as_mut_ptr().cast();
                    (self.run)(Stretch { src, out, len, rows: 1, stride: 0, carry, starts: at % row == 0 });
                    sink.run(at, len);
                }
                at += len;
            }
            Ok(())
        })
    }
}

/// Values that rows have come to: elements of at most 16 bytes.
type Carry = [[u64; 2]; SIDE];

impl ScanKernel {
    /// Rows that lie one after the other, straight from memory to memory.
    fn run_dense(&self, input: Slot, output: Slot, context: &Context) -> Result<()> {
        let row = input.0.dims().last().copied().unwrap_or(1);
        let rows = input.0.len() / row;
        let from = input.1.wrapping_add(input.0.offset() * self.size).cast_const();
        let places = Places { from, to: output.1.wrapping_add(output.0.offset() * self.size) };
        parallel_for(rows.div_ceil(SIDE), (row * SIDE) as f64, &|groups| {
            let mut carry = Carry::default();
            for first in groups.map(|g| g * SIDE) {
                for at in (0..row).step_by(STRETCH) {
                    if context.abandoned.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                    let (src, out) = places.at((first * row + at) * self.size);
                    let (len, carry) = (STRETCH.min(row - at), carry.as_mut_ptr().cast());
                    let rows = SIDE.min(rows - first);
                    // SAFETY: dense operands that do not overlap; each row is one thread's.
                    unsafe { (self.run)(Stretch { src, out, len, rows, stride: row, carry, starts: at == 0 }) };
                }
            }
            Ok(())
        })
    }
}

/// The first elements of both operands.
struct Places {
    from: *const u8,
    to: *mut u8,
}

// SAFETY: the input is only read, and threads write different rows of the output.
unsafe impl Sync for Places {}

impl Places {
    /// So many bytes behind.
    fn at(&self, bytes: usize) -> (*const u8, *mut u8) {
        (self.from.wrapping_add(bytes), self.to.wrapping_add(bytes))
    }
}
