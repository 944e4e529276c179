//! Large products, by blocks of inner places: all threads copy both operands' parts, then they share the sums.

use super::post::After;
use super::product::{Job, Product, part, scratch};
use super::stored::Stored;
use super::tile::Tile;
use crate::launch::Context;
use crate::parallel::{GRAIN, parallel_for};
use ferrotensor_core::error::Result;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Bytes of a float's places in a block: the columns of a tile then take 64 KB, an eighth of a second-level cache.
const PLACES: usize = 2048;
/// Rows of a unit of work at most: they stay in the second-level cache while its columns pass.
const ROWS: usize = 252;
/// Columns of a unit of work at most.
const COLUMNS: usize = 512;
/// Units for the threads to take turns, where they are not too short for that.
const UNITS: usize = 16;

/// Copies of a block: threads write their own parts of them, and read them when all have been written.
struct Block<T> {
    a: *mut T,
    b: *mut T,
    job: Job,
    /// Tiles along the rows and along the columns.
    panels: (usize, usize),
    /// Units of work, likewise.
    units: (usize, usize),
    /// Its first place, and how many.
    places: (usize, usize),
}
// SAFETY: as said above.
unsafe impl<T> Sync for Block<T> {}

impl<S: Stored> Product<S> {
    /// A whole product, by this thread or by all.
    ///
    /// # Errors
    /// `Code::OutOfMemory` for copies.
    pub(super) fn blocks(&self, job: &Job, shared: bool, after: Option<&After>, context: &Context) -> Result<()> {
        let t = &self.tiles;
        let panels = (job.m.div_ceil(t.rows()), job.n.div_ceil(t.columns / S::PARTS));
        // Halves are rounded once, so all their places are added in one go.
        let deep = if S::PLAIN || S::PARTS == 2 { PLACES / size_of::<S::Real>() / S::PARTS } else { job.k }.max(1);
        let floats = deep.min(job.k) * S::PARTS;
        let (a, b) = (
            scratch::<S::Real>(&[panels.0, self.rows_width(job), floats])?,
            scratch::<S::Real>(&[panels.1, t.columns, floats])?,
        );
        let units = self.units(job, panels, deep.min(job.k));
        for p in (0..job.k.max(1)).step_by(deep) {
            let places = (p, deep.min(job.k - p));
            let block = &Block { a: a.as_ptr().cast::<S::Real>(), b: b.as_ptr().cast(), job: *job, panels, units, places };
            let work = |items: usize, nanos: f64, body: &(dyn Fn(Range<usize>) -> Result<()> + Sync)| {
                if shared { parallel_for(items, nanos / items as f64, body) } else { body(0..items) }
            };
            let copied = (panels.0 * t.rows() + panels.1 * t.columns) * places.1 * S::PARTS * size_of::<S::Real>();
            // About 10 GB/s.
            work(panels.0 + panels.1, copied as f64 / 10.0, &|copies| {
                // SAFETY: the operands exist, and each copy is made by one thread.
                copies.into_iter().for_each(|panel| unsafe { self.copy_panel(block, panel) });
                Ok(())
            })?;
            work(units.0 * units.1, self.nanos(job.m, places.1, job.n), &|parts| {
                for unit in parts {
                    if context.abandoned.load(Ordering::Relaxed) {
                        break;
                    }
                    // SAFETY: the copies are made, and this part of the output is this thread's.
                    unsafe {
                        let (rows, columns) = self.unit(block, (unit % units.0, unit / units.0));
                        if let Some(after) = after.filter(|_| p + places.1 >= block.job.k) {
                            after.map(&block.job, rows, columns, context)?;
                        }
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Into how many units the tiles are shared out, along the rows and along the columns.
    fn units(&self, job: &Job, panels: (usize, usize), k: usize) -> (usize, usize) {
        let t = &self.tiles;
        let mut units = ((panels.0 * t.rows()).div_ceil(ROWS), (panels.1 * t.columns).div_ceil(COLUMNS));
        let most = UNITS.min((self.nanos(job.m, k, job.n) / f64::from(GRAIN)) as usize);
        while units.0 * units.1 < most && units != panels {
            let (rows, columns) = (panels.0 * t.rows() / units.0, panels.1 * t.columns / units.1);
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
        let floats = places.1 * S::PARTS;
        if panel < panels.0 {
            let (i, end) = (part(panel, panels.0, job.m), part(panel + 1, panels.0, job.m));
            let to = block.a.wrapping_add(panel * self.rows_width(&job) * floats);
            // SAFETY: as the caller promises; the copy has room for all rows.
            return unsafe { self.copy_rows(&job, (i, end - i), places, to) };
        }
        let (panel, width) = (panel - panels.0, self.tiles.columns);
        let j = panel * width / S::PARTS;
        let to = block.b.wrapping_add(panel * width * floats);
        let count = (width / S::PARTS).min(job.n - j);
        // SAFETY: as the caller promises; the copy has room for all columns.
        unsafe { self.copy_columns(&job, (j, count), places, width, to) };
    }

    /// Sums of a unit of work: of which rows and columns.
    ///
    /// # Safety
    /// The copies of the block are made, and nobody else has these sums.
    unsafe fn unit(&self, block: &Block<S::Real>, (g, h): (usize, usize)) -> (Range<usize>, Range<usize>) {
        let Block { job, panels, units, places, .. } = *block;
        let (t, floats) = (&self.tiles, places.1 * S::PARTS);
        let rows = part(g, units.0, panels.0)..part(g + 1, units.0, panels.0);
        let columns = part(h, units.1, panels.1)..part(h + 1, units.1, panels.1);
        for jp in columns.clone() {
            let j = jp * t.columns / S::PARTS;
            let b = block.b.wrapping_add(jp * t.columns * floats).cast_const();
            let count = (t.columns / S::PARTS).min(job.n - j) * S::PARTS;
            for ip in rows.clone() {
                let (i, end) = (part(ip, panels.0, job.m), part(ip + 1, panels.0, job.m));
                let a = block.a.wrapping_add(ip * self.rows_width(&job) * floats).cast_const();
                let tile = Tile::reading(floats, (a, b), (0, 0, t.columns as isize), places.0 == 0);
                // SAFETY: as the caller promises.
                unsafe { self.run(&job, t.packed[end - i - 1], t.columns, tile, (i, end - i), (j, count)) };
            }
        }
        let row = |panel: usize| part(panel, panels.0, job.m);
        let column = |panel: usize| (panel * t.columns / S::PARTS).min(job.n);
        (row(rows.start)..row(rows.end), column(columns.start)..column(columns.end))
    }
}
