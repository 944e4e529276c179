//! Products whose columns are not copied for all threads: each is read once, or lies in the cache anyway.

use super::product::{Job, Product, is_cached, scratch};
use super::stored::Stored;
use super::tile::Tile;
use crate::parallel::start;
use crate::scratch::Scratch;
use ferrotensor_core::error::Result;
use smallvec::SmallVec;

/// Bytes of a float's places in a copy of a tile's columns, which then stay in the first-level cache.
const PLACES: usize = 1024;

/// Bytes of columns that one row meets at a place, at least: a page of memory.
const ROW: usize = 4096;
/// Places whose columns a row meets before it goes on to the next ones.
const STREAM: usize = 16;

/// The rows of a tile.
struct Rows<T> {
    first: usize,
    count: usize,
    start: *const T,
    row: isize,
    place: isize,
    is_packed: bool,
}

/// All rows of a product at some places, and the copy they are in, if tiles cannot read them where they lie.
struct AllRows<T> {
    rows: SmallVec<[Rows<T>; 8]>,
    _copy: Option<Scratch>,
}

/// Places of a block that is copied.
const fn deep<S: Stored>() -> usize {
    PLACES / size_of::<S::Real>() / S::PARTS
}

impl<S: Stored> Product<S> {
    /// Whether tiles of one row are used. Columns that are copied would be as many streams of memory.
    fn is_wide(&self, job: &Job) -> bool {
        job.m == 1 && self.in_place(job)
    }

    /// Columns that a thread has at least, but for the last ones: whole tiles.
    pub(super) fn group(&self, job: &Job) -> usize {
        if self.is_dots(job) {
            self.tiles.lanes
        } else if self.is_wide(job) {
            ROW / size_of::<S>()
        } else {
            self.tiles.full.count / S::PARTS
        }
    }

    /// A job by this thread alone.
    ///
    /// # Errors
    /// `Code::OutOfMemory` for copies.
    ///
    /// # Safety
    /// The operands exist, and the output is this thread's.
    pub(super) unsafe fn unpacked(&self, job: &Job) -> Result<()> {
        let sums = &self.sums(job)?;
        if self.is_dots(job) {
            // SAFETY: as the caller promises.
            unsafe { self.dots(job, sums) };
            return Ok(());
        }
        let mut room = None;
        let (in_place, one_row) = (self.in_place(job), self.is_wide(job));
        let block = match one_row {
            true if !is_cached::<S>(job.k, job.n) => STREAM,
            _ if S::PLAIN => job.k.max(1),
            _ => deep::<S>(),
        };
        for p in (0..job.k.max(1)).step_by(block) {
            let places = p..(p + block).min(job.k);
            // SAFETY: as the caller promises.
            let all = unsafe { self.rows(job, (p, places.len()))? };
            let mut j = 0;
            while j < job.n {
                let tiles = self.tiles.fitting((job.n - j) * S::PARTS);
                let is_wide = one_row && job.n - j >= self.tiles.wide_columns;
                let width = if is_wide { self.tiles.wide_columns } else { tiles.count };
                let count = (width / S::PARTS).min(job.n - j);
                let meet = |q: usize, k: usize, b: *const S::Real, b_place: isize| {
                    for rows in &all.rows {
                        let a = rows.start.wrapping_offset(((q - p) * S::PARTS) as isize * rows.place);
                        let tile = Tile::reading(k * S::PARTS, (a, b), (rows.row, rows.place, b_place), q == 0);
                        let by_rows = if rows.is_packed { &tiles.packed } else { &tiles.strided };
                        let run = if is_wide { self.tiles.wide } else { by_rows[rows.count - 1] };
                        // SAFETY: as the caller promises.
                        unsafe { self.add(sums, (run, width), tile, (rows.first, rows.count), (j, count)) };
                    }
                };
                if in_place && count == width {
                    let b = job.b.from(p, j, size_of::<S>());
                    meet(p, places.len(), b.start.cast_const().cast(), b.rows);
                    j += count;
                    continue;
                }
                let room = match &room {
                    Some(room) => room,
                    None => room.insert(scratch::<S::Real>(&[deep::<S>() * S::PARTS, self.tiles.full.count])?),
                };
                let to = room.as_ptr().cast::<S::Real>();
                for q in (p..places.end.max(p + 1)).step_by(deep::<S>()) {
                    let k = deep::<S>().min(places.end - q);
                    // SAFETY: the columns exist, and the copy has room for a block of a tile's.
                    unsafe { self.copy_columns(job.b, (j, count), (q, k), width, to) };
                    meet(q, k, to, width as isize);
                }
                j += count;
            }
        }
        // SAFETY: as the caller promises.
        unsafe { self.store(job, sums, 0..job.m, 0..job.n) };
        Ok(())
    }

    /// The rows of `a` at `k` places from `p` on, in nearly equal parts.
    ///
    /// # Safety
    /// They exist.
    unsafe fn rows(&self, job: &Job, (p, k): (usize, usize)) -> Result<AllRows<S::Real>> {
        let panels = job.m.div_ceil(self.tiles.rows());
        let most = self.rows_width(job.m);
        let copy = if S::PLAIN { None } else { Some(scratch::<S::Real>(&[panels, most, k * S::PARTS])?) };
        let rows = (0..panels).map(|panel| {
            let first = start(panel, panels, job.m);
            let count = start(panel + 1, panels, job.m) - first;
            let Some(copy) = &copy else {
                let a = job.a.from(first, p, size_of::<S>());
                let start = a.start.cast_const().cast();
                return Rows { first, count, start, row: a.rows, place: a.columns, is_packed: false };
            };
            let to = copy.as_ptr().cast::<S::Real>().wrapping_add(panel * most * k * S::PARTS);
            // SAFETY: the rows exist, and the copy has room for all of them.
            unsafe { self.copy_rows(job.a, (first, count), (p, k), to) };
            let place = self.tiles.packed_width(count) as isize;
            Rows { first, count, start: to, row: 1, place, is_packed: true }
        });
        Ok(AllRows { rows: rows.collect(), _copy: copy })
    }
}
