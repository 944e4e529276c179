//! Products whose columns are not copied for all threads: each is read once, or lies in the cache anyway.

use super::blocks::{self, pieces};
use super::product::{Job, Product, is_cached, scratch};
use super::stored::Stored;
use super::sums::Sums;
use super::tile::{Onto, Tile};
use crate::parallel::start;
use crate::scratch::Scratch;
use ferrotensor_core::error::Result;
use smallvec::SmallVec;
use std::ops::Range;

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
        let (sums, mut room) = (&self.sums(job)?, None);
        for total in pieces(0..job.k, blocks::places_of_total::<S>()) {
            // SAFETY: as the caller promises.
            unsafe {
                if self.is_dots(job) {
                    self.dots(job, sums, total.clone());
                } else if self.is_wide(job) && !is_cached::<S>(job.k, job.n) {
                    self.stream(job, sums, total.clone(), &mut room)?;
                } else {
                    // What is copied is copied block by block.
                    let step = if S::PLAIN { job.k } else { blocks::places::<S>() };
                    for places in pieces(total.clone(), step) {
                        let onto = if places.start == total.start { Onto::Nothing } else { Onto::Total };
                        self.pass(job, sums, places, onto, &mut room)?;
                    }
                }
                self.set_aside(sums, 0..job.m, 0..job.n, total.start == 0);
            }
        }
        // SAFETY: as the caller promises.
        unsafe { self.store(job, sums, 0..job.m, 0..job.n) };
        Ok(())
    }

    /// The totals of one row that meets columns from far away: all of them at a few places, then at the next ones.
    ///
    /// # Errors
    /// As [`Product::unpacked`].
    ///
    /// # Safety
    /// As [`Product::unpacked`].
    unsafe fn stream(&self, job: &Job, sums: &Sums, total: Range<usize>, room: &mut Option<Scratch>) -> Result<()> {
        let mut beside = None;
        for block in pieces(total.clone(), blocks::places::<S>()) {
            // The chains of later blocks lie beside the totals until they are whole.
            let is_first = block.start == total.start;
            let chains = match (is_first, &beside) {
                (true, _) => sums,
                (false, Some(beside)) => beside,
                (false, None) => beside.insert(self.beside(job)?),
            };
            for places in pieces(block.clone(), STREAM) {
                let onto = if places.start == block.start { Onto::Nothing } else { Onto::Chain };
                // SAFETY: as the caller promises.
                unsafe { self.pass(job, chains, places, onto, room)? };
            }
            if !is_first {
                // SAFETY: as the caller promises.
                unsafe { self.join(chains, sums, 0..job.m, 0..job.n) };
            }
        }
        Ok(())
    }

    /// Some places of all rows and columns.
    ///
    /// # Errors
    /// As [`Product::unpacked`].
    ///
    /// # Safety
    /// As [`Product::unpacked`].
    unsafe fn pass(
        &self,
        job: &Job,
        sums: &Sums,
        places: Range<usize>,
        onto: Onto,
        room: &mut Option<Scratch>,
    ) -> Result<()> {
        let (p, in_place, one_row) = (places.start, self.in_place(job), self.is_wide(job));
        // SAFETY: as the caller promises.
        let all = unsafe { self.rows(job, (p, places.len()))? };
        let mut j = 0;
        while j < job.n {
            let tiles = self.tiles.fitting((job.n - j) * S::PARTS);
            let is_wide = one_row && job.n - j >= self.tiles.wide_columns;
            let width = if is_wide { self.tiles.wide_columns } else { tiles.count };
            let count = (width / S::PARTS).min(job.n - j);
            let meet = |Range { start: q, end }: Range<usize>, b: *const S::Real, b_place: isize| {
                let onto = if q == p { onto } else { Onto::Total };
                for rows in &all.rows {
                    let a = rows.start.wrapping_offset(((q - p) * S::PARTS) as isize * rows.place);
                    let tile = Tile::reading((end - q) * S::PARTS, (a, b), (rows.row, rows.place, b_place), onto);
                    let by_rows = if rows.is_packed { &tiles.packed } else { &tiles.strided };
                    let run = if is_wide { self.tiles.wide } else { by_rows[rows.count - 1] };
                    // SAFETY: as the caller promises.
                    unsafe { self.add(sums, (run, width), tile, (rows.first, rows.count), (j, count)) };
                }
            };
            if in_place && count == width {
                let b = job.b.from(p, j, size_of::<S>());
                meet(places.clone(), b.start.cast_const().cast(), b.rows);
                j += count;
                continue;
            }
            let room = match room {
                Some(room) => room,
                None => room.insert(scratch::<S::Real>(&[blocks::floats::<S::Real>(), self.tiles.full.count])?),
            };
            let to = room.as_ptr().cast::<S::Real>();
            for block in pieces(places.clone(), blocks::places::<S>()) {
                // SAFETY: the columns exist, and the copy has room for a block of a tile's.
                unsafe { self.copy_columns(job.b, (j, count), (block.start, block.len()), width, to) };
                meet(block, to, width as isize);
            }
            j += count;
        }
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
