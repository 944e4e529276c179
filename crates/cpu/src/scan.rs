//! `Scan` kernels: cumulative combination along the last axis, one element after the other; rows in parallel.

use crate::launch::{Context, Run, Slots};
use crate::map::cast_program;
use crate::map::compile::{Results, TileProgram, compile};
use crate::map::frame::{Bound, Frame};
use crate::map::table::by_monoid;
use crate::map::tile::Binary;
use crate::parallel::parallel_for;
use crate::tier::{Source, Tier, compiled};
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::Scan;
use std::marker::PhantomData;
use std::sync::atomic::Ordering;

/// `len` elements of a row at `src`, their running values to `out`; `carry` is the value before them.
struct Stretch {
    src: *const u8,
    out: *mut u8,
    len: usize,
    carry: *mut u8,
    /// The row starts here: there is no carry yet.
    starts: bool,
}

struct Running<F, T>(PhantomData<(F, T)>);

impl<F: Binary<T, T>, T: Copy> Source for Running<F, T> {
    type Args = Stretch;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(s: Stretch) {
        // SAFETY: `len` elements at both, apart.
        let (src, out) = unsafe {
            (std::slice::from_raw_parts(s.src.cast::<T>(), s.len), std::slice::from_raw_parts_mut(s.out.cast::<T>(), s.len))
        };
        let Some((&first, rest)) = src.split_first() else { return };
        let carry = s.carry.cast::<T>();
        // SAFETY: `carry` is one element, written before it is read.
        let mut running = if s.starts { first } else { F::apply(unsafe { *carry }, first) };
        out[0] = running;
        for (x, y) in rest.iter().zip(&mut out[1..]) {
            running = F::apply(running, *x);
            *y = running;
        }
        // SAFETY: as above.
        unsafe { *carry = running };
    }
}

struct ScanKernel {
    copy_in: TileProgram,
    copy_out: TileProgram,
    run: unsafe fn(Stretch),
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
    Ok(Box::new(ScanKernel { copy_in, copy_out, run }))
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
        // SAFETY: a launch's layouts lie inside its buffers and its outputs overlap nothing.
        let (from, to) = unsafe {
            (
                Bound::new(&self.copy_in, &[Some(*input), None], &[])?,
                Bound::new(&self.copy_out, &[None, Some(*output)], &[])?,
            )
        };
        let row = input.0.dims().last().copied().unwrap_or(1);
        let nanos = from.nanos() + to.nanos() + 1.0;
        parallel_for(from.domain.total / row, nanos * row as f64, &|rows| {
            let (mut source, mut sink) = (Frame::new(&from, self.copy_in.tile)?, Frame::new(&to, self.copy_out.tile)?);
            let mut carry = [0u64; 2];
            let (mut at, end) = (rows.start * row, rows.end * row);
            while at < end && !context.abandoned.load(Ordering::Relaxed) {
                // Within one row, and one piece on both sides.
                let most = source.tile().min(row - at % row);
                let len = to.domain.piece(at, from.domain.piece(at, most));
                // SAFETY: rows are this thread's; the sink's input register has room for a tile; a carry is at most 16 bytes.
                unsafe {
                    source.run(at, len);
                    let (src, out) = (source.result(0), sink.input(0));
                    (self.run)(Stretch { src, out, len, carry: carry.as_mut_ptr().cast(), starts: at % row == 0 });
                    sink.run(at, len);
                }
                at += len;
            }
            Ok(())
        })
    }
}
