//! Products by tiles: which way each goes. None of it shows in a result: see `tile.rs`.

use super::grid::Apart;
use super::pack::{PackColumns, PackRows, Part};
use super::post::After;
use super::stored::Stored;
use super::sums::{Round, Row};
use super::tile::{RowOf, Tiled, Tiles};
use super::{Matrix, Operands, Shared, Sizes, folded};
use crate::launch::Context;
use crate::parallel::{least, parallel_for, threads};
use crate::scratch::Scratch;
use crate::tier::{Tier, compiled};
use ferrotensor_core::error::{Error, Result};
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Bytes of an operand up to which it is read where it lies: both fit a second-level cache.
const CACHED: usize = 256 << 10;
/// Bytes of columns that stay in a second-level cache beside the rows of [`TILES`] tiles, or just behind it.
const NEAR: usize = 1 << 20;
/// Tiles of rows for which columns may be read from there again and again.
const TILES: usize = 10;
/// Nanoseconds from which the threads share one product of a batch, and not its products.
pub(super) const LONG: f64 = 1e6;

/// Nanoseconds of a product of nothing: of a batch of small ones most of its time.
const EACH: f64 = 150.0;

/// Products of a dtype on a tier.
pub struct Product<S: Stored> {
    pub(super) tiles: Tiles<S::Real>,
    pub(super) round: unsafe fn(Row<S>),
    pack_rows: unsafe fn(Part<S>),
    pack_columns: unsafe fn(Part<S>),
}

/// One product of the batch.
#[derive(Clone, Copy)]
pub(super) struct Whole {
    /// Its number.
    pub batch: usize,
    pub c: Matrix,
    pub m: usize,
    pub n: usize,
    /// Whether rows stand for columns of the output.
    pub is_turned: bool,
}

/// Some rows and columns of a product.
#[derive(Clone, Copy)]
pub(super) struct Job {
    pub a: Matrix,
    pub b: Matrix,
    pub c: Matrix,
    pub m: usize,
    pub k: usize,
    pub n: usize,
    /// What the sums of its rows begin with, if not with 0.
    pub starts: Option<Matrix>,
    /// Its first row and column there.
    pub at: (usize, usize),
    pub whole: Whole,
}

impl Job {
    /// A whole product, transposed where that lets tiles write rows of the output, or where it has fewer columns than `few`, which would
    /// leave tiles empty. Products of real numbers commute to the bit.
    fn new<S: Stored>(batch: usize, [a, b, c]: [Matrix; 3], Sizes { m, k, n, .. }: Sizes, few: usize) -> Job {
        let is_column = c.rows == 1 && c.columns != 1;
        let is_turned = S::COMMUTES && (is_column || (n < m && n < few));
        let (a, b, c, m, n) =
            if is_turned { (b.transposed(), a.transposed(), c.transposed(), n, m) } else { (a, b, c, m, n) };
        Job { a, b, c, m, k, n, starts: None, at: (0, 0), whole: Whole { batch, c, m, n, is_turned } }
    }

    /// Its rows and columns as the whole product counts them.
    pub fn in_whole(&self, rows: Range<usize>, columns: Range<usize>) -> (Range<usize>, Range<usize>) {
        let from = |range: Range<usize>, at: usize| at + range.start..at + range.end;
        (from(rows, self.at.0), from(columns, self.at.1))
    }

    /// Some of its rows and columns.
    pub fn part(&self, rows: Range<usize>, columns: Range<usize>, size: usize) -> Job {
        Job {
            a: self.a.from(rows.start, 0, size),
            b: self.b.from(0, columns.start, size),
            c: self.c.from(rows.start, columns.start, size),
            m: rows.len(),
            n: columns.len(),
            starts: self.starts.map(|starts| starts.from(rows.start, 0, size)),
            at: (self.at.0 + rows.start, self.at.1 + columns.start),
            ..*self
        }
    }
}

/// Whether an operand has at most so many bytes.
pub(super) fn fits<S>(rows: usize, columns: usize, bytes: usize) -> bool {
    rows.saturating_mul(columns).saturating_mul(size_of::<S>()) <= bytes
}

/// Whether an operand fits the cache.
pub(super) fn is_cached<S>(rows: usize, columns: usize) -> bool {
    fits::<S>(rows, columns, CACHED)
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
            round: compiled::<Round<S>>(tier),
            pack_rows: compiled::<PackRows<S>>(tier),
            pack_columns: compiled::<PackColumns<S>>(tier),
        }
    }

    /// `c = a b` for every matrix of the batch, and what comes after it.
    ///
    /// # Errors
    /// `Code::OutOfMemory` for copies.
    pub fn multiply(&self, operands: Operands, sizes: Sizes, after: Option<&After>, context: &Context) -> Result<()> {
        let Some([a, b, c]) = &folded(&operands, &sizes) else { return self.each(operands, sizes, after, context) };
        let [x, y, z] = operands.map(|o| o.1);
        let sizes = Sizes { batch: 1, m: sizes.batch * sizes.m, ..sizes };
        self.each([(a, x), (b, y), (c, z)], sizes, after, context)
    }

    fn each(&self, operands: Operands, sizes: Sizes, after: Option<&After>, context: &Context) -> Result<()> {
        let Sizes { batch, m, k, n } = sizes;
        if batch == 0 || m == 0 || n == 0 {
            return Ok(());
        }
        let shared = &Shared(operands);
        let bare = |i: usize| {
            let Shared(operands) = shared;
            Job::new::<S>(i, operands.map(|o| Matrix::of(o, i, size_of::<S>())), sizes, self.tiles.lanes / 2)
        };
        let starts = self.tiles.starts.map(|start| self.starts(batch, &bare, start, context)).transpose()?;
        let begin = &Apart(starts.as_ref().map(Scratch::as_ptr));
        let job = |i: usize| {
            let job = bare(i);
            let starts = begin.0.map(|start| Matrix { start, rows: 1, columns: 0 }.from(i * job.m, 0, size_of::<S>()));
            Job { starts, ..job }
        };
        let nanos = EACH + self.nanos(m, k, n) + after.map_or(0.0, After::nanos) * (m * n) as f64;
        let first = job(0);
        // Without room for copies there are no notes: the operands' memory may be anybody's.
        if batch == 1 && context.spare > 0 {
            let Shared(operands) = shared;
            let buffer = operands[usize::from(!first.whole.is_turned)].1;
            if let Some(done) = self.constant(&first, buffer, after, context) {
                return done;
            }
        }
        if self.is_small(&first) {
            // Columns are shared too, of work that is just worth it as well (128^3 on two threads: 42 -> 30 us).
            let most = (first.n as f64 * least() / nanos) as usize;
            let group = most.clamp(1, first.n).next_multiple_of(self.group(&first));
            let groups = first.n.div_ceil(group);
            return parallel_for(batch * groups, nanos / groups as f64, &|units| {
                for unit in units {
                    if context.abandoned.load(Ordering::Relaxed) {
                        break;
                    }
                    let (whole, at) = (job(unit / groups), unit % groups * group);
                    let part = whole.part(0..whole.m, at..(at + group).min(whole.n), size_of::<S>());
                    // SAFETY: the matrices exist, and these columns of the output are this thread's.
                    unsafe {
                        self.unpacked(&part)?;
                        let (rows, columns) = part.in_whole(0..part.m, 0..part.n);
                        after.map_or(Ok(()), |a| a.map(part.whole, rows, columns, context))?;
                    }
                }
                Ok(())
            });
        }
        if batch == 1 || nanos >= LONG {
            return (0..batch).try_for_each(|i| self.packed(&job(i), true, None, after, context));
        }
        parallel_for(batch, nanos, &|units| {
            units.into_iter().try_for_each(|i| self.packed(&job(i), false, None, after, context))
        })
    }

    /// What the sums of all rows begin with.
    fn starts(
        &self,
        batch: usize,
        job: &(impl Fn(usize) -> Job + Sync),
        start: unsafe fn(RowOf<S::Real>),
        context: &Context,
    ) -> Result<Scratch> {
        let Job { m, k, .. } = job(0);
        let room = scratch::<S::Real>(&[batch, m])?;
        let to = &Apart(room.as_ptr().cast::<S::Real>());
        // Read at about 20 GB/s.
        parallel_for(batch * m, (k * size_of::<S>()) as f64 / 20.0, &|rows| {
            for row in rows {
                if context.abandoned.load(Ordering::Relaxed) {
                    break;
                }
                let a = job(row / m).a;
                let from = a.from(row % m, 0, size_of::<S>()).start.cast_const().cast();
                // SAFETY: the row exists, and each start is one thread's.
                unsafe { start(RowOf { from, step: a.columns, k, to: to.0.wrapping_add(row) }) };
            }
            Ok(())
        })?;
        Ok(room)
    }

    /// Floats that the rows of a tile take at a place, of the tile that has most.
    pub(super) fn rows_width(&self, rows: usize) -> usize {
        self.tiles.packed_width(rows.div_ceil(rows.div_ceil(self.tiles.rows())))
    }

    /// Copies rows of `a` for their tile.
    ///
    /// # Safety
    /// The rows exist, and so does room for [`Tiles::packed_width`] floats at each place.
    pub(super) unsafe fn copy_rows(&self, a: Matrix, rows: (usize, usize), places: (usize, usize), to: *mut S::Real) {
        let width = self.tiles.packed_width(rows.1);
        // SAFETY: as the caller promises.
        unsafe { self.copy(Part::rows(a, rows, places, width, to), self.pack_rows) };
    }

    /// Copies columns of `b` for tiles so wide.
    ///
    /// # Safety
    /// The columns exist, and so does room for the width at each place.
    pub(super) unsafe fn copy_columns(
        &self,
        b: Matrix,
        columns: (usize, usize),
        places: (usize, usize),
        width: usize,
        to: *mut S::Real,
    ) {
        // SAFETY: as the caller promises.
        unsafe { self.copy(Part::columns(b, columns, places, width, to), self.pack_columns) };
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

    /// Estimated time of a product on one thread. Columns come from memory at 20 GB/s.
    pub(super) fn nanos(&self, m: usize, k: usize, n: usize) -> f64 {
        let columns = (S::PARTS * k.max(1)) as f64 * n as f64;
        columns * ((2 * S::PARTS * m) as f64 / self.tiles.rate + size_of::<S::Real>() as f64 / 20.0)
    }

    /// Whether columns are not worth a copy of their own for all threads: few rows meet them, or they are in the cache anyway.
    fn is_small(&self, job: &Job) -> bool {
        job.m <= 2 * self.tiles.rows() || self.is_near(job) || self.lies_well(job)
    }

    /// Whether tiles had best read columns where they lie.
    pub(super) fn in_place(&self, job: &Job) -> bool {
        S::PLAIN && job.b.columns == 1 && self.is_small(job)
    }

    /// Whether columns stay near while rather few rows meet them, enough columns for all threads: batches by the weights of a layer, for
    /// which a copy is a fifth of the time (128 rows by 784 x 256 on two threads: 0.38 ms with a copy, 0.30 without).
    fn is_near(&self, job: &Job) -> bool {
        let is_shared_out = job.whole.n >= 2 * threads() * self.tiles.full.count;
        S::PLAIN && job.m <= TILES * self.tiles.rows() && is_shared_out && fits::<S>(job.k, job.whole.n, NEAR)
    }

    fn lies_well(&self, job: &Job) -> bool {
        S::PLAIN && job.b.columns == 1 && is_cached::<S>(job.m, job.k) && is_cached::<S>(job.k, job.n)
    }
}
