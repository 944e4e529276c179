//! Products of floats by tiles: which way each goes, and how tiles reach their sums. None of it shows in a result: see `tile.rs`.

use super::pack::{PackColumns, PackRows, Part};
use super::post::After;
use super::stored::Stored;
use super::tile::{Float, Run, Tile, Tiles};
use super::{Matrix, Operands, Shared, Sizes};
use crate::launch::Context;
use crate::parallel::parallel_for;
use crate::scratch::Scratch;
use crate::tier::{Tier, compiled};
use ferrotensor_core::error::{Error, Result};
use std::sync::atomic::Ordering;

/// Bytes of an operand up to which it is read where it lies: both fit a second-level cache.
const CACHED: usize = 256 << 10;
/// Nanoseconds from which the threads share one product of a batch, and not its products.
const LONG: f64 = 1e6;
/// Floats a tile has at most.
const TILE: usize = 512;

/// Products of a dtype on a tier.
pub struct Product<S: Stored> {
    pub(super) tiles: Tiles<S::Real>,
    pack_rows: unsafe fn(Part<S>),
    pack_columns: unsafe fn(Part<S>),
}

/// One product of the batch.
#[derive(Clone, Copy)]
pub(super) struct Job {
    pub a: Matrix,
    pub b: Matrix,
    pub c: Matrix,
    pub m: usize,
    pub k: usize,
    pub n: usize,
    /// Its number.
    pub batch: usize,
    /// Whether rows stand for columns of the output.
    pub is_turned: bool,
}

impl Job {
    /// The same product, transposed where its few columns would leave tiles empty and its rows would not. Products of real numbers
    /// commute to the bit; the parts of complex ones would be added in another order.
    fn turned<S: Stored>(self, width: usize) -> Job {
        let turn = S::PARTS == 1 && self.c.rows == 1 && (self.c.columns != 1 || (self.n < self.m && self.n < width));
        if !turn {
            return self;
        }
        Job { a: self.b.over(), b: self.a.over(), c: self.c.over(), m: self.n, n: self.m, is_turned: true, ..self }
    }
}

/// Where the `i`-th of so many equal parts begins.
pub(super) fn part(i: usize, parts: usize, len: usize) -> usize {
    i * len / parts
}

/// Room for so many floats.
pub(super) fn scratch<T>(dims: &[usize]) -> Result<Scratch> {
    let bytes = dims.iter().try_fold(size_of::<T>(), |n, &d| n.checked_mul(d));
    Scratch::take(bytes.ok_or_else(|| Error::out_of_memory("operands too large to copy"))?)
}

impl<S: Stored> Product<S> {
    /// For a tier.
    pub fn new(tier: Tier) -> Product<S> {
        Product {
            tiles: S::Real::tiles(tier),
            pack_rows: compiled::<PackRows<S>>(tier),
            pack_columns: compiled::<PackColumns<S>>(tier),
        }
    }

    /// `c = a b` for every matrix of the batch, and what comes after it.
    ///
    /// # Errors
    /// `Code::OutOfMemory` for copies.
    pub fn multiply(&self, operands: Operands, sizes: Sizes, after: Option<&After>, context: &Context) -> Result<()> {
        let Sizes { batch, m, k, n } = sizes;
        if batch == 0 || m == 0 || n == 0 {
            return Ok(());
        }
        let shared = &Shared(operands);
        let job = |i: usize| {
            let Shared(operands) = shared;
            let [a, b, c] = operands.map(|o| Matrix::of(o, i, size_of::<S>()));
            Job { a, b, c, m, k, n, batch: i, is_turned: false }.turned::<S>(self.tiles.columns)
        };
        let (first, nanos) = (job(0), self.nanos(m, k, n));
        let small = self.is_small(&first);
        if !small && (batch == 1 || nanos >= LONG) {
            return (0..batch).try_for_each(|i| self.blocks(&job(i), true, after, context));
        }
        // Columns of few rows are shared too.
        let group = if batch == 1 { self.tiles.wide_columns / S::PARTS } else { first.n };
        let groups = first.n.div_ceil(group);
        parallel_for(batch * groups, nanos / groups as f64, &|units| {
            for unit in units {
                if context.abandoned.load(Ordering::Relaxed) {
                    break;
                }
                let (job, at) = (job(unit / groups), unit % groups * group);
                if !small {
                    self.blocks(&job, false, after, context)?;
                    continue;
                }
                // SAFETY: the matrices exist, and these columns of the output are this thread's.
                unsafe {
                    let columns = at..(at + group).min(job.n);
                    self.few_rows(&job, columns.clone())?;
                    after.map_or(Ok(()), |a| a.map(&job, 0..job.m, columns, context))?;
                }
            }
            Ok(())
        })
    }

    /// Floats that the rows of a tile take at a place, of the tile that has most.
    pub(super) fn rows_width(&self, job: &Job) -> usize {
        self.tiles.packed_width(job.m.div_ceil(job.m.div_ceil(self.tiles.rows())))
    }

    /// Copies rows of `a` for their tile.
    ///
    /// # Safety
    /// The rows exist, and so does room for [`Tiles::packed_width`] floats at each place.
    pub(super) unsafe fn copy_rows(&self, job: &Job, rows: (usize, usize), places: (usize, usize), to: *mut S::Real) {
        let width = self.tiles.packed_width(rows.1);
        // SAFETY: as the caller promises.
        unsafe { self.copy(Part::rows(job.a, rows, places, width, to), self.pack_rows) };
    }

    /// Copies columns of `b` for tiles so wide.
    ///
    /// # Safety
    /// The columns exist, and so does room for the width at each place.
    pub(super) unsafe fn copy_columns(
        &self,
        job: &Job,
        columns: (usize, usize),
        places: (usize, usize),
        width: usize,
        to: *mut S::Real,
    ) {
        // SAFETY: as the caller promises.
        unsafe { self.copy(Part::columns(job.b, columns, places, width, to), self.pack_columns) };
    }

    /// # Safety
    /// As of the callers.
    unsafe fn copy(&self, part: Part<S>, pack: unsafe fn(Part<S>)) {
        // SAFETY: as the caller promises; a plain element is its float.
        unsafe {
            if S::PLAIN && part.place == 1 {
                let Part { from, step, place, k, count, width, to } = part;
                (self.tiles.transposed)(Part { from: from.cast(), step, place, k, count, width, to });
            } else {
                pack(part);
            }
        }
    }

    /// Estimated time of a product on one thread: 120 GFLOP/s in float32.
    pub(super) fn nanos(&self, m: usize, k: usize, n: usize) -> f64 {
        let multiplications = (S::PARTS * S::PARTS * k.max(1)) as f64 * (m * n) as f64;
        2.0 * multiplications * size_of::<S::Real>() as f64 / 4.0 / 120.0
    }

    /// Whether columns are not worth a copy of their own for all threads: few rows meet them, or they are in the cache anyway.
    fn is_small(&self, job: &Job) -> bool {
        let cached = |rows: usize, columns: usize| rows.saturating_mul(columns).saturating_mul(size_of::<S>()) <= CACHED;
        let lies_well = S::PLAIN && job.b.columns == 1 && cached(job.m, job.k) && cached(job.k, job.n);
        job.m <= 2 * self.tiles.rows() || lies_well
    }

    /// Runs a tile over the sums of `rows` rows from `i` on and `count` floats from column `j` on.
    ///
    /// # Safety
    /// They and what the tile reads exist, and the sums are this thread's.
    pub(super) unsafe fn run(
        &self,
        job: &Job,
        run: Run<S::Real>,
        width: usize,
        tile: Tile<S::Real>,
        (i, rows): (usize, usize),
        (j, count): (usize, usize),
    ) {
        let c = job.c.from(i, j, size_of::<S>());
        if S::PLAIN && c.columns == 1 && count == width {
            // SAFETY: as the caller promises.
            return unsafe { run(Tile { c: c.start.cast(), c_row: c.rows, ..tile }) };
        }
        let mut sums = [S::Real::default(); TILE];
        let at = |r: usize, q: usize| c.from(r, q, size_of::<S>()).start.cast::<S>();
        // SAFETY: as the caller promises; a tile has no more sums than there is room for.
        unsafe {
            if !tile.fresh {
                for r in 0..rows {
                    let row = &mut sums[r * width..][..count];
                    if S::PLAIN && c.columns == 1 {
                        row.copy_from_slice(std::slice::from_raw_parts(at(r, 0).cast(), count));
                        continue;
                    }
                    for (q, sum) in row.chunks_exact_mut(S::PARTS).enumerate() {
                        sum.copy_from_slice(&(*at(r, q)).parts()[..S::PARTS]);
                    }
                }
            }
            run(Tile { c: sums.as_mut_ptr(), c_row: width as isize, ..tile });
            for r in 0..rows {
                let row = &sums[r * width..][..count];
                if S::PLAIN && c.columns == 1 {
                    std::ptr::copy_nonoverlapping(row.as_ptr(), at(r, 0).cast(), count);
                    continue;
                }
                for (q, sum) in row.chunks_exact(S::PARTS).enumerate() {
                    let mut parts = [S::Real::default(); 2];
                    parts[..S::PARTS].copy_from_slice(sum);
                    *at(r, q) = S::of(parts);
                }
            }
        }
    }
}
