//! What a map does to sums (a bias, an activation), while they are still in a cache.

use super::Matrix;
use super::product::Whole;
use crate::launch::{Context, Slot};
use crate::map::compile::{Results, TileProgram, compile};
use crate::map::frame::{Bound, Frame, Memory};
use crate::scratch::Scratch;
use crate::tier::Tier;
use ferrotensor_core::DType;
use ferrotensor_core::error::Result;
use ferrotensor_core::scalar::Program;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// A map after a product, compiled.
pub struct Post(TileProgram);

impl Post {
    /// For a product of a dtype.
    ///
    /// # Errors
    /// A sentence where sums cannot lie in the output until they are whole, or as [`compile`].
    pub fn new(program: &Program, dtype: DType, tier: Tier) -> Result<Post, String> {
        let compiled = compile(program, Results::Stored, tier)?;
        let result = program.outputs.first().map(|&o| program.instrs[o as usize].dtype);
        let fits = result.is_some_and(|result| result.bytes() == dtype.bytes());
        if fits { Ok(Post(compiled)) } else { Err("a map to elements of another size after a product".into()) }
    }

    /// The program.
    pub fn program(&self) -> &TileProgram {
        &self.0
    }

    /// With the operands of a launch: those beside the sums, and the output.
    ///
    /// # Safety
    /// As [`Bound::new`].
    ///
    /// # Errors
    /// As [`Bound::new`].
    pub unsafe fn bind<'a>(&'a self, beside: &[Slot<'a>], output: Slot<'a>, params: &'a [u64]) -> Result<After<'a>> {
        let memory: SmallVec<[Memory; 4]> =
            [None].into_iter().chain(beside.iter().chain([&output]).map(|&o| Some(o))).collect();
        // SAFETY: by the contract above.
        Ok(After { bound: unsafe { Bound::new(&self.0, &memory, params)? }, size: self.0.inputs[0].0 })
    }
}

/// A map after a product, with the operands of a launch.
pub struct After<'a> {
    bound: Bound<'a>,
    /// Bytes of a sum.
    size: usize,
}

impl After<'_> {
    /// Estimated nanoseconds of one sum.
    pub fn nanos(&self) -> f64 {
        self.bound.nanos()
    }

    /// Maps sums that are there: these rows and columns of a whole product.
    ///
    /// # Safety
    /// They are there, and nobody else's.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub unsafe fn map(&self, whole: Whole, rows: Range<usize>, columns: Range<usize>, context: &Context) -> Result<()> {
        // As the output's layout has them.
        let Whole { c, m, n, is_turned, batch } = whole;
        let (c, (m, n), rows, columns) = match is_turned {
            false => (c, (m, n), rows, columns),
            true => (c.transposed(), (n, m), columns, rows),
        };
        let mut frame = Frame::new(&self.bound, rows.len() * columns.len())?;
        let room = Scratch::take(frame.tile() * self.size)?;
        frame.set(0, room.as_ptr());
        // Whole rows follow each other.
        let whole = columns.len() == n;
        let runs = if whole { 1 } else { rows.len() };
        for run in 0..runs {
            let first = (rows.start + run) * n + columns.start;
            let end = first + if whole { rows.len() * n } else { columns.len() };
            let mut at = first;
            while at < end && !context.abandoned.load(Relaxed) {
                let len = self.bound.domain.piece(batch * m * n + at, frame.tile().min(end - at));
                // SAFETY: the sums are there, and the room has as many.
                unsafe { self.collect(c, n, at..at + len, room.as_ptr()) };
                // SAFETY: by the contract above.
                unsafe { frame.run(batch * m * n + at, len) };
                at += len;
            }
        }
        Ok(())
    }

    /// Copies sums of a matrix of `n` columns, numbered in row-major order.
    ///
    /// # Safety
    /// They are there, and `to` has room for them.
    unsafe fn collect(&self, c: Matrix, n: usize, numbers: Range<usize>, to: *mut u8) {
        let mut at = numbers.start;
        while at < numbers.end {
            let (i, j) = (at / n, at % n);
            let beside = if c.columns == 1 { (n - j).min(numbers.end - at) } else { 1 };
            let to = to.wrapping_add((at - numbers.start) * self.size);
            // SAFETY: by the contract above.
            unsafe { std::ptr::copy_nonoverlapping(c.from(i, j, self.size).start, to, beside * self.size) };
            at += beside;
        }
    }
}
