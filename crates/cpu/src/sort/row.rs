//! One row of an operand, read or written a piece at a time; long rows by several threads.

use crate::map::frame::{Bound, Frame};
use crate::parallel::parallel_for;
use ferrotensor_core::error::Result;
use std::ops::Range;

/// Elements of a row from which threads share it. Miri, which interprets few, gets there all the same.
pub const LONG: usize = if cfg!(miri) { 1 << 8 } else { 1 << 16 };
// Elements that a thread takes.
const STRETCH: usize = LONG / 8;

/// A row: `len` elements from `start` on, through a frame of this thread's.
pub struct Row<'a, 'b> {
    pub bound: &'b Bound<'b>,
    pub frame: &'a mut Frame<'b>,
    pub start: usize,
    pub len: usize,
}

impl Row<'_, '_> {
    /// Some of the elements from `at` on, at most `most`: where they are until the next piece is asked for, and how many.
    pub fn piece(&mut self, at: usize, most: usize) -> (*const u8, usize) {
        let len = self.bound.domain.piece(self.start + at, self.frame.tile().min(most));
        // SAFETY: the elements exist and are only read.
        unsafe { self.frame.run(self.start + at, len) };
        (self.frame.result(0).cast_const(), len)
    }

    /// Calls `with(place, position, count)` for the elements from `at` on, at most `most`, piece by piece.
    pub fn each(&mut self, mut at: usize, most: usize, mut with: impl FnMut(*const u8, usize, usize)) {
        let end = self.len.min(at + most);
        while at < end {
            let (src, len) = self.piece(at, end - at);
            with(src, at, len);
            at += len;
        }
    }

    /// The same for all elements, on several threads where there are many.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn pieces(&mut self, with: &(dyn Fn(*const u8, usize, usize) + Sync)) -> Result<()> {
        self.shared(0..self.len, &|row, at, end| row.each(at, end - at, with))
    }

    /// Calls `run(row, c)` for each chunk `c` of so many elements, of `nanos` each, on several threads.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn chunks(&self, length: usize, nanos: f64, run: &(dyn Fn(&mut Row, usize) + Sync)) -> Result<()> {
        let (bound, start, len) = (self.bound, self.start, self.len);
        parallel_for(len.div_ceil(length), nanos * length as f64, &|chunks| {
            let mut frame = Frame::new(bound, usize::MAX)?;
            chunks.for_each(|c| run(&mut Row { bound, frame: &mut frame, start, len }, c));
            Ok(())
        })
    }

    /// Writes the places `places`, each part of which `write(to, at, count)` makes.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn store(&mut self, places: Range<usize>, write: &(dyn Fn(*mut u8, usize, usize) + Sync)) -> Result<()> {
        self.shared(places, &|row, mut at, end| {
            while at < end {
                let len = row.bound.domain.piece(row.start + at, row.frame.tile().min(end - at));
                write(row.frame.input(0), at, len);
                // SAFETY: the elements exist, and each is one thread's.
                unsafe { row.frame.run(row.start + at, len) };
                at += len;
            }
        })
    }

    /// Calls `run(row, from, to)` for parts of `range`, on several threads where it is long.
    fn shared(&mut self, range: Range<usize>, run: &(dyn Fn(&mut Row, usize, usize) + Sync)) -> Result<()> {
        if range.len() < LONG {
            run(self, range.start, range.end);
            return Ok(());
        }
        let (bound, start, len) = (self.bound, self.start, self.len);
        parallel_for(range.len().div_ceil(STRETCH), STRETCH as f64, &|parts| {
            let mut frame = Frame::new(bound, usize::MAX)?;
            let place = |part: usize| range.end.min(range.start + part * STRETCH);
            run(&mut Row { bound, frame: &mut frame, start, len }, place(parts.start), place(parts.end));
            Ok(())
        })
    }
}
