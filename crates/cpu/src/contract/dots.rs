//! A few rows times columns whose places lie beside each other (a matrix times a vector): squares of columns are transposed in registers
//! and added at once, without a copy.

use super::blocks;
use super::lanes::Lanes;
use super::product::{Job, Product};
use super::stored::Stored;
use super::sums::Sums;
use super::tile::{Onto, Tile};
use crate::cache;
use crate::tier::Source;
use std::marker::PhantomData;
use std::ops::Range;

/// The most rows.
pub const ROWS: usize = 4;
/// Elements of a column that are asked for before they are needed.
const AHEAD: usize = 256;

/// A tile whose columns are not beside each other, but their places. Its `a` is read by its steps, `b_place` is a column's step, and `c` has
/// rows of a register.
pub struct Dots<T> {
    /// Operands and sums.
    pub tile: Tile<T>,
    /// Columns: at most a register's.
    pub columns: usize,
}

/// `R` rows with a register of columns.
pub struct DotRows<V, const R: usize>(PhantomData<V>);

impl<V: Lanes<Item: Default>, const R: usize> Source for DotRows<V, R> {
    type Args = Dots<V::Item>;

    #[inline(always)]
    unsafe fn run<const FMA: bool>(Dots { tile, columns }: Dots<V::Item>) {
        // SAFETY: R rows and these columns exist, over k places, and a register of sums for each row.
        unsafe {
            let full = columns == V::COUNT;
            let (mut from, mut onto) = (0, tile.onto);
            loop {
                let mut sums = [V::splat(V::Item::default()); R];
                for (r, sum) in sums.iter_mut().enumerate() {
                    match onto {
                        Onto::Nothing => *sum = V::splat(tile.start(r)),
                        Onto::Chain => *sum = V::load(tile.c.offset(r as isize * tile.c_row)),
                        Onto::Total => {}
                    }
                }
                let end = tile.k.min(from + blocks::floats::<V::Item>());
                let whole = from + (end - from) / V::COUNT * V::COUNT;
                for p in (from..whole).step_by(V::COUNT) {
                    let block =
                        if full { square::<V, true>(&tile, p, columns) } else { square::<V, false>(&tile, p, columns) };
                    for (q, lanes) in block.iter().enumerate() {
                        if q < V::COUNT {
                            add(&mut sums, &tile, p + q, *lanes);
                        }
                    }
                }
                for p in whole..end {
                    let mut lanes = [V::Item::default(); 16];
                    for (j, lane) in lanes.iter_mut().enumerate().take(columns) {
                        *lane = *tile.b.offset(j as isize * tile.b_place).add(p);
                    }
                    add(&mut sums, &tile, p, V::load(lanes.as_ptr()));
                }
                for (r, &sum) in sums.iter().enumerate() {
                    let to = tile.c.offset(r as isize * tile.c_row);
                    let sum = if onto == Onto::Total { V::load(to).add(sum) } else { sum };
                    sum.store(to);
                }
                if end >= tile.k {
                    break;
                }
                (from, onto) = (end, Onto::Total);
            }
        }
    }
}

/// Adds the products of a place.
#[inline(always)]
unsafe fn add<V: Lanes, const R: usize>(sums: &mut [V; R], tile: &Tile<V::Item>, p: usize, columns: V) {
    for (r, sum) in sums.iter_mut().enumerate() {
        // SAFETY: the row and the place exist.
        unsafe {
            let x = *tile.a.offset(r as isize * tile.a_row + p as isize * tile.a_place);
            *sum = V::splat(x).fma(columns, *sum);
        }
    }
}

/// As many places as there are columns in a register, from `p` on; all columns exist, if it is `FULL`.
#[inline(always)]
unsafe fn square<V: Lanes<Item: Default>, const FULL: bool>(tile: &Tile<V::Item>, p: usize, columns: usize) -> [V; 16] {
    // SAFETY: the places exist. Loops of constant length stay in registers.
    unsafe {
        let mut block = [V::splat(V::Item::default()); 16];
        for (j, lanes) in block.iter_mut().enumerate() {
            if j < V::COUNT && (FULL || j < columns) {
                let from = tile.b.offset(j as isize * tile.b_place).add(p);
                cache::prefetch(from.wrapping_add(AHEAD).cast());
                *lanes = V::load(from);
            }
        }
        V::transpose(&mut block);
        block
    }
}

impl<S: Stored> Product<S> {
    /// Whether a job goes this way.
    pub(super) fn is_dots(&self, job: &Job) -> bool {
        S::PLAIN && job.m <= ROWS && job.b.rows == 1 && job.k >= self.tiles.lanes
    }

    /// The totals of some places of a job.
    ///
    /// # Safety
    /// The operands exist, and the output is this thread's.
    pub(super) unsafe fn dots(&self, job: &Job, sums: &Sums, places: Range<usize>) {
        let width = self.tiles.lanes;
        let size = size_of::<S>();
        for j in (0..job.n).step_by(width) {
            let count = width.min(job.n - j);
            let [a, b] = [job.a.from(0, places.start, size), job.b.from(places.start, j, size)];
            let (a, b) = (a.start.cast_const().cast(), b.start.cast_const().cast());
            let tile = Tile::reading(places.len(), (a, b), (job.a.rows, job.a.columns, job.b.columns), Onto::Nothing);
            let run = self.tiles.dots[job.m - 1];
            // SAFETY: as the caller promises.
            unsafe { self.through(sums, tile, width, (0, job.m), (j, count), |tile| run(Dots { tile, columns: count })) };
        }
    }
}
