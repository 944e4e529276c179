//! Where the sums of a product lie until they are whole: in the output, or beside it where its elements hold less.

use super::Matrix;
use super::product::{Job, Product, scratch};
use super::stored::Stored;
use super::tile::{Tile, TileFn};
use crate::cache::{LINE, prefetch};
use crate::scratch::Scratch;
use crate::tier::Source;
use ferrotensor_core::error::Result;
use std::marker::PhantomData;
use std::ops::Range;

/// Floats a tile has at most.
const TILE: usize = 512;

/// The sums of a job.
pub struct Sums {
    matrix: Matrix,
    room: Option<Scratch>,
    /// What those of each row begin with, if not with 0.
    starts: Option<Matrix>,
}
// SAFETY: each thread has its own part of them.
unsafe impl Sync for Sums {}

impl Sums {
    /// Where elements hold whole sums.
    pub(super) fn at(matrix: Matrix) -> Sums {
        Sums { matrix, room: None, starts: None }
    }

    /// What the sums of rows from `i` on begin with.
    fn starts<T>(&self, i: usize) -> *const T {
        self.starts.map_or(std::ptr::null(), |starts| starts.from(i, 0, size_of::<T>()).start.cast_const().cast())
    }

    /// Asks for the sums of a tile, which is computed after another one: its rows may be pages apart, and the tile would wait for them at its
    /// beginning and its end (products of 1024^3 take a tenth less time on Golden Cove).
    pub(super) fn fetch(&self, rows: Range<usize>, (j, count): (usize, usize), size: usize) {
        if self.matrix.columns != 1 {
            return;
        }
        for i in rows {
            let row = self.matrix.from(i, j, size).start.cast::<u8>();
            for line in 0..(count * size).div_ceil(LINE) {
                prefetch(row.wrapping_add(line * LINE));
            }
        }
    }
}

impl<S: Stored> Product<S> {
    /// A place for the sums of a job, of anything.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub(super) fn sums(&self, job: &Job) -> Result<Sums> {
        let starts = job.starts;
        if !S::IS_ROUNDED {
            return Ok(Sums { starts, ..Sums::at(job.c) });
        }
        let room = scratch::<S::Sum>(&[job.m, job.n])?;
        Ok(Sums { matrix: Matrix { start: room.as_ptr(), rows: job.n as isize, columns: 1 }, room: Some(room), starts })
    }

    /// Adds a tile's products to the sums of `rows` rows from `i` on and `count` columns from `j` on. A tile has `width` floats of columns.
    ///
    /// # Safety
    /// They and what the tile reads exist, and the sums are this thread's.
    pub(super) unsafe fn add(
        &self,
        sums: &Sums,
        (run, width): (TileFn<S::Real>, usize),
        tile: Tile<S::Real>,
        (i, rows): (usize, usize),
        (j, count): (usize, usize),
    ) {
        let c = sums.matrix.from(i, j, size_of::<S::Sum>());
        let (floats, is_row) = (count * S::PARTS, c.columns == 1);
        if is_row && floats == width {
            // SAFETY: as the caller promises; the parts of a complex number lie beside each other.
            return unsafe {
                run(Tile { c: c.start.cast(), c_row: c.rows * S::PARTS as isize, starts: sums.starts(i), ..tile })
            };
        }
        // SAFETY: as the caller promises.
        unsafe { self.through(sums, tile, width, (i, rows), (j, count), |tile| run(tile)) };
    }

    /// The same through whole rows of `width` floats, which `run` adds to.
    ///
    /// # Safety
    /// As [`Product::add`].
    pub(super) unsafe fn through(
        &self,
        sums: &Sums,
        tile: Tile<S::Real>,
        width: usize,
        (i, rows): (usize, usize),
        (j, count): (usize, usize),
        run: impl Fn(Tile<S::Real>),
    ) {
        let c = sums.matrix.from(i, j, size_of::<S::Sum>());
        let (floats, is_row) = (count * S::PARTS, c.columns == 1);
        let mut whole = [S::Real::default(); TILE];
        let at = |r: usize, q: usize| c.from(r, q, size_of::<S::Sum>()).start.cast::<S::Sum>();
        // SAFETY: as the caller promises; a tile has no more sums than there is room for.
        unsafe {
            if !tile.fresh {
                for r in 0..rows {
                    let row = &mut whole[r * width..][..floats];
                    if is_row {
                        std::ptr::copy_nonoverlapping(at(r, 0).cast(), row.as_mut_ptr(), floats);
                        continue;
                    }
                    for (q, sum) in row.chunks_exact_mut(S::PARTS).enumerate() {
                        sum.copy_from_slice(&(*at(r, q)).parts()[..S::PARTS]);
                    }
                }
            }
            run(Tile { c: whole.as_mut_ptr(), c_row: width as isize, starts: sums.starts(i), ..tile });
            for r in 0..rows {
                let row = &whole[r * width..][..floats];
                if is_row {
                    std::ptr::copy_nonoverlapping(row.as_ptr(), at(r, 0).cast(), floats);
                    continue;
                }
                for (q, sum) in row.chunks_exact(S::PARTS).enumerate() {
                    let mut parts = [S::Real::default(); 2];
                    parts[..S::PARTS].copy_from_slice(sum);
                    *at(r, q) = S::Sum::of(parts);
                }
            }
        }
    }

    /// Rounds whole sums into the output, unless they lie there.
    ///
    /// # Safety
    /// These rows and columns exist, and are this thread's.
    pub(super) unsafe fn store(&self, job: &Job, sums: &Sums, rows: Range<usize>, columns: Range<usize>) {
        if sums.room.is_none() {
            return;
        }
        for i in rows {
            let from = sums.matrix.from(i, columns.start, size_of::<S::Sum>()).start.cast_const().cast();
            let to = job.c.from(i, columns.start, size_of::<S>());
            // SAFETY: as the caller promises.
            unsafe { (self.round)(Row { from, to: to.start.cast(), step: to.columns, count: columns.len() }) };
        }
    }
}

/// A row of sums, and of elements a step apart.
pub struct Row<S: Stored> {
    /// The first sum.
    pub from: *const S::Real,
    /// The first element.
    pub to: *mut S,
    /// From an element to the next one.
    pub step: isize,
    /// How many.
    pub count: usize,
}

/// Rounds a row of sums.
pub struct Round<S>(PhantomData<S>);

impl<S: Stored> Source for Round<S> {
    type Args = Row<S>;

    #[inline(always)]
    unsafe fn run<const FMA: bool>(row: Row<S>) {
        // Where they lie beside each other the loop stores registers.
        let step = if row.step == 1 { 1 } else { row.step };
        for i in 0..row.count {
            // SAFETY: as many sums and elements exist.
            unsafe { *row.to.offset(i as isize * step) = S::of([*row.from.add(i), S::Real::default()]) };
        }
    }
}
