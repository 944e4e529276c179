//! Large products, by blocks of rows, columns and inner places: all threads copy both operands' parts, then they share the sums.

use super::blocks;
use super::constant::Constant;
use super::post::After;
use super::product::{Job, Product, scratch};
use super::stored::Stored;
use super::sums::Sums;
use super::tile::{Onto, Tile};
use crate::launch::Context;
use crate::parallel::{grain, parallel_for, start, threads};
use ferrotensor_core::error::Result;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Floats of rows or of columns in a block: 4 MB, so that a thread keeps both copies as scratch memory.
const SIDE: usize = 2048;
/// The same where as many sums lie beside the output as rows times columns: 4 MB too.
const SIDE_WITH_SUMS: usize = 1024;
/// Rows of a unit of work at most: they stay in the second-level cache while its columns pass.
const ROWS: usize = 252;
/// Columns of a unit of work at most.
const COLUMNS: usize = 512;
/// Units for a thread to take turns, where they are not too short for that.
const UNITS: usize = 8;

/// Copies of a block: threads write their own parts of them, and read them when all have been written.
struct Block<T> {
    a: *mut T,
    b: *mut T,
    job: Job,
    /// Tiles along the rows and along the columns.
    panels: (usize, usize),
    /// Units of work, likewise.
    units: (usize, usize),
    /// Its first place, and how many: a block of them, whose columns of a tile take 64 KB, an eighth of a second-level cache.
    places: (usize, usize),
}
// SAFETY: as said above.
unsafe impl<T> Sync for Block<T> {}

impl<S: Stored> Product<S> {
    /// A whole product, by this thread or by all.
    ///
    /// # Errors
    /// `Code::OutOfMemory` for copies.
    pub(super) fn packed(
        &self,
        job: &Job,
        shared: bool,
        constant: Option<&Constant>,
        after: Option<&After>,
        context: &Context,
    ) -> Result<()> {
        let (t, side) = (&self.tiles, if S::IS_ROUNDED { SIDE_WITH_SUMS } else { SIDE });
        // In tiles, which are not cut.
        let (height, width) = (t.rows(), t.full.count / S::PARTS);
        let tiles = (job.m.div_ceil(height), job.n.div_ceil(width));
        let most = (side / t.packed_width(height), side / t.full.count);
        let blocks = (tiles.0.div_ceil(most.0), tiles.1.div_ceil(most.1));
        for h in 0..blocks.1 {
            let column = |h: usize| (start(h, blocks.1, tiles.1) * width).min(job.n);
            let first = start(h, blocks.1, tiles.1) * self.panel(job.k);
            let copies = constant.map(|c| c.block.as_ptr().cast::<S::Real>().wrapping_add(first));
            for g in 0..blocks.0 {
                let row = |g: usize| (start(g, blocks.0, tiles.0) * height).min(job.m);
                let part = job.part(row(g)..row(g + 1), column(h)..column(h + 1), size_of::<S>());
                // Later blocks of rows find the copies of the first.
                let copies = copies.map(|to| (to, g > 0 || constant.is_some_and(|c| c.is_whole)));
                self.block(&part, shared, copies, after, context)?;
            }
        }
        Ok(())
    }

    /// Floats of the copy of a tile's columns.
    pub(super) fn panel(&self, k: usize) -> usize {
        self.tiles.full.count * k * S::PARTS
    }

    /// A block of rows and columns. `copies`: where those of its columns are kept, and whether they are there.
    fn block(
        &self,
        job: &Job,
        shared: bool,
        copies: Option<(*mut S::Real, bool)>,
        after: Option<&After>,
        context: &Context,
    ) -> Result<()> {
        let t = &self.tiles;
        let panels = (job.m.div_ceil(t.rows()), job.n.div_ceil(t.full.count / S::PARTS));
        let (deep, total) = (blocks::places::<S>(), blocks::places_of_total::<S>());
        let floats = deep.min(job.k) * S::PARTS;
        let a = scratch::<S::Real>(&[panels.0, self.rows_width(job.m), floats])?;
        let mut room = None;
        let (b, is_copied) = match copies {
            Some(kept) => kept,
            None => (room.insert(scratch::<S::Real>(&[panels.1, t.full.count, floats])?).as_ptr().cast(), false),
        };
        let sums = &self.sums(job)?;
        let units = self.units(job, panels, deep.min(job.k));
        for p in (0..job.k.max(1)).step_by(deep) {
            let places = (p, deep.min(job.k - p));
            // What is kept has a place for each block of places, what is not takes the same one again.
            let b = b.wrapping_add(if room.is_none() { panels.1 * self.panel(p) } else { 0 });
            let block = &Block { a: a.as_ptr().cast::<S::Real>(), b, job: *job, panels, units, places };
            let work = |items: usize, nanos: f64, body: &(dyn Fn(usize) -> Result<()> + Sync)| {
                let each = |mut range: Range<usize>| {
                    range.try_for_each(|i| if context.abandoned.load(Ordering::Relaxed) { Ok(()) } else { body(i) })
                };
                if shared { parallel_for(items, nanos / items as f64, &each) } else { each(0..items) }
            };
            let columns = if is_copied { 0 } else { panels.1 };
            let copied = (panels.0 * t.rows() + columns * t.full.count) * places.1 * S::PARTS * size_of::<S::Real>();
            // About 10 GB/s.
            work(panels.0 + columns, copied as f64 / 10.0, &|panel| {
                // SAFETY: the operands exist, and each copy is made by one thread.
                unsafe { self.copy_panel(block, panel) };
                Ok(())
            })?;
            let is_last = p + places.1 >= job.k;
            let after = after.filter(|_| is_last);
            let nanos = self.nanos(job.m, places.1, job.n) + after.map_or(0.0, After::nanos) * (job.m * job.n) as f64;
            work(units.0 * units.1, nanos, &|unit| {
                // SAFETY: the copies are made, and this part of the output is this thread's.
                unsafe {
                    let (rows, columns) = self.unit(block, sums, (unit % units.0, unit / units.0));
                    if is_last || (p + deep).is_multiple_of(total) {
                        self.set_aside(sums, rows.clone(), columns.clone(), p < total);
                    }
                    if is_last {
                        self.store(job, sums, rows.clone(), columns.clone());
                    }
                    let (rows, columns) = job.in_whole(rows, columns);
                    after.map_or(Ok(()), |after| after.map(job.whole, rows, columns, context))
                }
            })?;
        }
        Ok(())
    }

    /// Into how many units the tiles are shared out, along the rows and along the columns.
    fn units(&self, job: &Job, panels: (usize, usize), k: usize) -> (usize, usize) {
        let t = &self.tiles;
        let mut units = ((panels.0 * t.rows()).div_ceil(ROWS), (panels.1 * t.full.count).div_ceil(COLUMNS));
        let most = (UNITS * threads()).min((self.nanos(job.m, k, job.n) / f64::from(grain())) as usize);
        while units.0 * units.1 < most && units != panels {
            let (rows, columns) = (panels.0 * t.rows() / units.0, panels.1 * t.full.count / units.1);
            // The longer side of a unit, as both are read for all of the other.
            if units.0 == panels.0 || (columns >= rows && units.1 < panels.1) {
                units.1 = (2 * units.1).min(panels.1);
            } else {
                units.0 = (2 * units.0).min(panels.0);
            }
        }
        units
    }

    /// The rows of a tile, or after those the columns of one.
    ///
    /// # Safety
    /// The operands exist, and nobody else makes this copy.
    unsafe fn copy_panel(&self, block: &Block<S::Real>, panel: usize) {
        let Block { job, panels, places, .. } = *block;
        let (t, floats) = (&self.tiles, places.1 * S::PARTS);
        if panel < panels.0 {
            let (i, end) = (start(panel, panels.0, job.m), start(panel + 1, panels.0, job.m));
            let to = block.a.wrapping_add(panel * self.rows_width(job.m) * floats);
            // SAFETY: as the caller promises; the copy has room for all rows.
            return unsafe { self.copy_rows(job.a, (i, end - i), places, to) };
        }
        let panel = panel - panels.0;
        let j = panel * t.full.count / S::PARTS;
        let to = block.b.wrapping_add(panel * t.full.count * floats);
        let count = (t.full.count / S::PARTS).min(job.n - j);
        // SAFETY: as the caller promises; the copy has room for all columns.
        unsafe { self.copy_columns(job.b, (j, count), places, t.fitting(count * S::PARTS).count, to) };
    }

    /// Sums of a unit of work: of which rows and columns.
    ///
    /// # Safety
    /// The copies of the block are made, and nobody else has these sums.
    unsafe fn unit(&self, block: &Block<S::Real>, sums: &Sums, (g, h): (usize, usize)) -> (Range<usize>, Range<usize>) {
        let Block { job, panels, units, places, .. } = *block;
        let (t, floats) = (&self.tiles, places.1 * S::PARTS);
        let rows = start(g, units.0, panels.0)..start(g + 1, units.0, panels.0);
        let columns = start(h, units.1, panels.1)..start(h + 1, units.1, panels.1);
        let begins = places.0.is_multiple_of(blocks::places_of_total::<S>());
        let onto = if begins { Onto::Nothing } else { Onto::Total };
        for jp in columns.clone() {
            let j = jp * t.full.count / S::PARTS;
            let b = block.b.wrapping_add(jp * t.full.count * floats).cast_const();
            let count = (t.full.count / S::PARTS).min(job.n - j);
            let tiles = t.fitting(count * S::PARTS);
            for ip in rows.clone() {
                let (i, end) = (start(ip, panels.0, job.m), start(ip + 1, panels.0, job.m));
                let a = block.a.wrapping_add(ip * self.rows_width(job.m) * floats).cast_const();
                let tile = Tile::reading(floats, (a, b), (0, 0, tiles.count as isize), onto);
                if ip + 1 < rows.end {
                    sums.fetch(end..start(ip + 2, panels.0, job.m), (j, count), size_of::<S::Sum>());
                }
                // SAFETY: as the caller promises.
                unsafe { self.add(sums, (tiles.packed[end - i - 1], tiles.count), tile, (i, end - i), (j, count)) };
            }
        }
        let row = |panel: usize| start(panel, panels.0, job.m);
        let column = |panel: usize| (panel * t.full.count / S::PARTS).min(job.n);
        (row(rows.start)..row(rows.end), column(columns.start)..column(columns.end))
    }
}
