//! Where the sums of a product lie until they are whole: in the output, or beside it where its elements hold less. A product of so many
//! places that running totals are set aside has those of the places it is at in memory of their own.

use super::Matrix;
use super::blocks;
use super::product::{Job, Product, scratch};
use super::stored::Stored;
use super::tile::{Onto, Tile, TileFn};
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
    /// Running totals.
    matrix: Matrix,
    /// What was set aside, if anything ever is.
    aside: Option<Matrix>,
    /// Memory of either that is not the output's.
    _rooms: [Option<Scratch>; 2],
    /// What those of each row begin with, if not with 0.
    starts: Option<Matrix>,
}
// SAFETY: each thread has its own part of them.
unsafe impl Sync for Sums {}

impl Sums {
    /// Where elements hold whole sums, of places of one running total.
    pub(super) fn at(matrix: Matrix) -> Sums {
        Sums { matrix, aside: None, _rooms: [None, None], starts: None }
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

/// Memory for so many sums, row by row.
fn memory<S: Stored>((rows, columns): (usize, usize)) -> Result<(Matrix, Option<Scratch>)> {
    let room = scratch::<S::Sum>(&[rows, columns])?;
    Ok((Matrix { start: room.as_ptr(), rows: columns as isize, columns: 1 }, Some(room)))
}

impl<S: Stored> Product<S> {
    /// A place for the sums of a job, of anything.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub(super) fn sums(&self, job: &Job) -> Result<Sums> {
        let (whole, room) = if S::IS_ROUNDED { memory::<S>((job.m, job.n))? } else { (job.c, None) };
        let sums = self.sums_of(whole, (job.m, job.k, job.n))?;
        let [running, _] = sums._rooms;
        Ok(Sums { _rooms: [running, room], starts: job.starts, ..sums })
    }

    /// A place for the sums of rows, places and columns that end in a matrix of [`Stored::Sum`].
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub(super) fn sums_of(&self, whole: Matrix, (m, k, n): (usize, usize, usize)) -> Result<Sums> {
        if k <= blocks::places_of_total::<S>() {
            return Ok(Sums::at(whole));
        }
        let (matrix, room) = memory::<S>((m, n))?;
        Ok(Sums { aside: Some(whole), _rooms: [room, None], ..Sums::at(matrix) })
    }

    /// A place for sums beside those of a job.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub(super) fn beside(&self, job: &Job) -> Result<Sums> {
        let (matrix, room) = memory::<S>((job.m, job.n))?;
        Ok(Sums { _rooms: [room, None], ..Sums::at(matrix) })
    }

    /// At the end of a running total adds it to what was set aside, unless it is the `first`.
    ///
    /// # Safety
    /// These rows and columns exist, and are this thread's.
    pub(super) unsafe fn set_aside(&self, sums: &Sums, rows: Range<usize>, columns: Range<usize>, first: bool) {
        let Some(matrix) = sums.aside else { return };
        if first {
            let at = |m: Matrix, i, j| m.from(i, j, size_of::<S::Sum>()).start.cast::<S::Sum>();
            for (i, j) in rows.flat_map(|i| columns.clone().map(move |j| (i, j))) {
                // SAFETY: as the caller promises.
                unsafe { *at(matrix, i, j) = *at(sums.matrix, i, j) };
            }
            return;
        }
        // SAFETY: as the caller promises.
        unsafe { self.join(sums, &Sums::at(matrix), rows, columns) };
    }

    /// Adds sums to others.
    ///
    /// # Safety
    /// These rows and columns of both exist, and are this thread's.
    pub(super) unsafe fn join(&self, from: &Sums, to: &Sums, rows: Range<usize>, columns: Range<usize>) {
        let at = |m: Matrix, i, j| m.from(i, j, size_of::<S::Sum>()).start.cast::<S::Sum>();
        for (i, j) in rows.flat_map(|i| columns.clone().map(move |j| (i, j))) {
            // SAFETY: as the caller promises.
            unsafe {
                let ([re, im], [to_re, to_im]) = ((*at(from.matrix, i, j)).parts(), (*at(to.matrix, i, j)).parts());
                *at(to.matrix, i, j) = S::Sum::of([to_re + re, to_im + im]);
            }
        }
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
            if tile.onto != Onto::Nothing {
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
        if !S::IS_ROUNDED {
            return;
        }
        for i in rows {
            let from =
                sums.aside.unwrap_or(sums.matrix).from(i, columns.start, size_of::<S::Sum>()).start.cast_const().cast();
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
