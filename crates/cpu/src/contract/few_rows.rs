//! Products whose columns are not copied for all threads: each is read once, or lies in the cache anyway.

use super::product::{Job, Product, part, scratch};
use super::stored::Stored;
use super::tile::{Run, Tile};
use crate::scratch::Scratch;
use ferrotensor_core::error::Result;
use smallvec::SmallVec;
use std::ops::Range;

/// Bytes of a float's places in a copy of a tile's columns, which then stay in the first-level cache.
const PLACES: usize = 1024;

/// The rows of a tile.
struct Rows<T> {
    first: usize,
    count: usize,
    start: *const T,
    row: isize,
    place: isize,
    run: Run<T>,
}

/// All rows of a product, and the copy they are in, if tiles cannot read them where they lie.
struct AllRows<T> {
    rows: SmallVec<[Rows<T>; 8]>,
    _copy: Option<Scratch>,
}

impl<S: Stored> Product<S> {
    /// Some columns of the output, by one thread.
    ///
    /// # Safety
    /// The operands exist, and these columns of the output are this thread's.
    pub(super) unsafe fn few_rows(&self, job: &Job, columns: Range<usize>) -> Result<()> {
        // Columns that are copied are as many streams of memory.
        let wide = job.m == 1 && job.b.columns == 1;
        let width = if wide { self.tiles.wide_columns } else { self.tiles.columns };
        // SAFETY: as the caller promises.
        let all = unsafe { self.rows(job, wide)? };
        // Halves are rounded once, so all their places are added in one go.
        let block = if S::PLAIN || S::PARTS == 2 { PLACES / size_of::<S::Real>() / S::PARTS } else { job.k }.max(1);
        let mut room = None;
        for j in columns.clone().step_by(width / S::PARTS) {
            let count = (width / S::PARTS).min(columns.end - j);
            if S::PLAIN && job.b.columns == 1 && count == width {
                let b = job.b.from(0, j, size_of::<S>());
                // SAFETY: as the caller promises.
                unsafe { self.meet(job, &all, (0, job.k), (b.start.cast_const().cast(), b.rows), width, (j, count)) };
                continue;
            }
            let room = match &room {
                Some(room) => room,
                None => room.insert(scratch::<S::Real>(&[block.min(job.k) * S::PARTS, width])?),
            };
            let to = room.as_ptr().cast::<S::Real>();
            for p in (0..job.k.max(1)).step_by(block) {
                let k = block.min(job.k - p);
                // SAFETY: the columns exist, the copy has room for a block of them, and the rest is as the caller promises.
                unsafe {
                    self.copy_columns(job, (j, count), (p, k), width, to);
                    self.meet(job, &all, (p, k), (to.cast_const(), width as isize), width, (j, count));
                }
            }
        }
        Ok(())
    }

    /// The rows of `a`, in equal parts; the only one for wide tiles.
    ///
    /// # Safety
    /// They exist.
    unsafe fn rows(&self, job: &Job, wide: bool) -> Result<AllRows<S::Real>> {
        let places = job.k * S::PARTS;
        let panels = job.m.div_ceil(self.tiles.rows());
        let most = self.rows_width(job);
        let copy = if S::PLAIN { None } else { Some(scratch::<S::Real>(&[panels, most, places])?) };
        let rows = (0..panels).map(|panel| {
            let first = part(panel, panels, job.m);
            let count = part(panel + 1, panels, job.m) - first;
            let Some(copy) = &copy else {
                let a = job.a.from(first, 0, size_of::<S>());
                let run = if wide { self.tiles.wide } else { self.tiles.strided[count - 1] };
                return Rows { first, count, start: a.start.cast_const().cast(), row: a.rows, place: a.columns, run };
            };
            let to = copy.as_ptr().cast::<S::Real>().wrapping_add(panel * most * places);
            // SAFETY: the rows exist, and the copy has room for all of them.
            unsafe { self.copy_rows(job, (first, count), (0, job.k), to) };
            let run = if wide { self.tiles.wide } else { self.tiles.packed[count - 1] };
            Rows { first, count, start: to, row: 1, place: self.tiles.packed_width(count) as isize, run }
        });
        Ok(AllRows { rows: rows.collect(), _copy: copy })
    }

    /// All rows meet a tile's columns at `k` places from `p` on.
    ///
    /// # Safety
    /// As [`Product::run`].
    unsafe fn meet(
        &self,
        job: &Job,
        all: &AllRows<S::Real>,
        (p, k): (usize, usize),
        (b, b_place): (*const S::Real, isize),
        width: usize,
        (j, count): (usize, usize),
    ) {
        for rows in &all.rows {
            let a = rows.start.wrapping_offset((p * S::PARTS) as isize * rows.place);
            let steps = (rows.row, rows.place, b_place);
            let tile = Tile::reading(k * S::PARTS, (a, b), steps, p == 0);
            // SAFETY: as the caller promises.
            unsafe { self.run(job, rows.run, width, tile, (rows.first, rows.count), (j, count * S::PARTS)) };
        }
    }
}
