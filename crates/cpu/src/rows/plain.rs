//! Rows of a block by passes, where what they meet in operands is plain.

use super::block::{Block, Results};
use super::fused::Pass;
use super::passes::{Extremes, Scaled, Sums};
use super::{RowsKernel, Step};
use crate::launch::Slot;
use ferrotensor_core::layout::Layout;
use std::ops::Range;

/// Rows of an operand whose elements lie side by side.
#[derive(Clone, Copy)]
pub struct Plain {
    first: *mut u8,
    /// Elements from one row to the next: those of a row, or none where all rows are one.
    step: usize,
}

// SAFETY: the pointers lead to operands, which blocks keep apart as those of `Bound`.
unsafe impl Sync for Plain {}

impl Plain {
    pub fn new(layout: &Layout, start: *mut u8, size: usize, kept: usize) -> Option<Plain> {
        let first = (0..kept).fold(layout.clone(), |row, _| row.pick(0, 0));
        let repeats = layout.dims()[..kept].iter().zip(layout.strides()).all(|(&d, &stride)| d == 1 || stride == 0);
        let step = if layout.is_row_major() { first.len() } else { 0 };
        let is_plain = first.is_row_major() && (step > 0 || repeats);
        is_plain.then(|| Plain { first: start.wrapping_add(layout.offset() * size), step })
    }
}

impl RowsKernel {
    /// Whether what a pass meets in operands is plain; weights and biases may be those of all rows.
    pub(super) fn fits(
        &self,
        pass: Option<&Pass>,
        step: &Step,
        memory: &[Option<Slot>],
        plain: &[Option<Plain>],
        extent: usize,
    ) -> bool {
        let Some(pass) = pass else { return true };
        let is_plain =
            |v: usize, repeats: bool| memory[v].is_none() || plain[v].is_some_and(|p| p.step == extent || repeats);
        let (own, others): (Vec<usize>, &[usize]) = match pass {
            Pass::Absorbed => (Vec::new(), &[]),
            Pass::Sum { x, y, kept, .. } => ([Some(*x), *y, *kept].into_iter().flatten().collect(), &[]),
            Pass::Extreme { x, .. } => (vec![*x], &[]),
            Pass::Scale { x, others, .. } => (vec![*x, step.to], others),
        };
        own.iter().all(|&v| is_plain(v, false)) && others.iter().all(|&v| is_plain(v, true))
    }
}

impl Block<'_> {
    /// The elements of a value from those of a row on.
    fn row_of(&self, v: usize, row: usize) -> *mut u8 {
        match self.launch.plain[v] {
            Some(plain) => plain.first.wrapping_add(row * plain.step * self.size(v)),
            None => self.element(v, row * self.launch.extent),
        }
    }

    /// Rows by a pass that sums: a second operand, a value of each row, and what it keeps, where there are such.
    ///
    /// # Safety
    /// As [`Block::cross`], and its operands are plain.
    pub(super) unsafe fn sum(
        &self,
        run: unsafe fn(Sums),
        x: usize,
        [y, row, kept]: [Option<usize>; 3],
        results: &mut Results,
    ) {
        let extent = self.launch.extent;
        // The next block, which this thread computes most likely.
        let ahead = self.launch.plain[x].filter(|_| row.is_some());
        let mut from = self.rows.start;
        while from < self.rows.end {
            let rows = (self.rows.end - from).min(results.most());
            // SAFETY: by the contract above; there is room for as many results.
            unsafe {
                run(Sums {
                    x: self.row_of(x, from),
                    y: y.map_or(std::ptr::null(), |y| self.row_of(y, from).cast_const()),
                    row: row.map_or(std::ptr::null(), |r| self.of_row(r, from).cast_const()),
                    kept: kept.map_or(std::ptr::null_mut(), |k| self.row_of(k, from)),
                    ahead: ahead.map_or(std::ptr::null(), |_| self.row_of(x, from + self.rows.len()).cast_const()),
                    sums: results.room(rows),
                    rows,
                    extent,
                });
            }
            from += rows;
        }
    }

    /// Rows by a pass that looks for an extreme, or else as their step does.
    ///
    /// # Safety
    /// As [`Block::sum`].
    pub(super) unsafe fn extreme(
        &self,
        run: unsafe fn(Extremes),
        x: usize,
        results: &mut Results,
        mut step: impl FnMut(Range<usize>, &mut Results),
    ) {
        let mut from = self.rows.start;
        while from < self.rows.end {
            let rows = (self.rows.end - from).min(results.most());
            let mut in_doubt = false;
            // SAFETY: by the contract above; there is room for as many results.
            unsafe {
                let found = results.room(rows);
                run(Extremes {
                    x: self.row_of(x, from),
                    found,
                    rows,
                    extent: self.launch.extent,
                    in_doubt: &raw mut in_doubt,
                });
            }
            if in_doubt {
                results.retract(rows);
                step(from..from + rows, results);
            }
            from += rows;
        }
    }

    /// Rows by a pass that scales: elements, values of rows, and the result; what is subtracted first, weights and biases.
    ///
    /// # Safety
    /// As [`Block::sum`].
    pub(super) unsafe fn scale(
        &self,
        run: unsafe fn(Scaled),
        [x, row, to]: [usize; 3],
        less: Option<usize>,
        others: &[usize],
    ) {
        let from = self.rows.start;
        let at = |n: usize| {
            others.get(n).map_or((std::ptr::null(), 0), |&v| {
                let step = self.launch.plain[v].map_or(self.launch.extent, |plain| plain.step);
                (self.row_of(v, from).cast_const(), step)
            })
        };
        let (weights, biases) = (at(0), at(1));
        // SAFETY: by the contract above.
        unsafe {
            run(Scaled {
                x: self.row_of(x, from),
                less: less.map_or(std::ptr::null(), |less| self.of_row(less, from).cast_const()),
                row: self.of_row(row, from),
                others: [weights.0, biases.0],
                steps: [weights.1, biases.1],
                out: self.row_of(to, from),
                rows: self.rows.len(),
                extent: self.launch.extent,
            });
        }
    }
}
