//! Keys and values as tiles read them.

use super::causal::are_finite;
use super::{Launch, Product};
use crate::contract::Matrix;
use crate::contract::product::scratch;
use crate::contract::tile::Float;
use crate::scratch::Scratch;
use ferrotensor_core::error::Result;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Copies of the keys and values of some matrices of a batch, in panels as wide as a tile.
pub struct Copies<'a, T: Float> {
    product: &'a Product<T>,
    launch: &'a Launch<'a>,
    keys: Scratch,
    values: Scratch,
    /// Panels of the keys and of the values of a matrix.
    panels: (usize, usize),
    /// Whether the values of each are finite.
    finite: Vec<AtomicBool>,
}
// SAFETY: each panel is written by one thread, and read when all are written.
unsafe impl<T: Float> Sync for Copies<'_, T> {}

/// The copies of a matrix.
pub struct Copied<T> {
    pub keys: *const T,
    pub values: *const T,
    /// Whether keys that no query of a block sees may be left out.
    pub leaves_out: bool,
}

impl<'a, T: Float> Copies<'a, T> {
    /// Room for so many matrices.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn new(product: &'a Product<T>, launch: &'a Launch<'a>, matrices: usize) -> Result<Copies<'a, T>> {
        let (width, sizes) = (product.tiles.full.count, launch.sizes);
        let panels = (sizes.n.div_ceil(width), launch.columns.div_ceil(width));
        Ok(Copies {
            product,
            launch,
            keys: scratch::<T>(&[matrices, panels.0, width, sizes.k])?,
            values: scratch::<T>(&[matrices, panels.1, width, sizes.n])?,
            panels,
            finite: (0..matrices).map(|_| AtomicBool::new(true)).collect(),
        })
    }

    /// Panels of a matrix.
    pub fn parts(&self) -> usize {
        self.panels.0 + self.panels.1
    }

    /// Where the copies of the `at`-th matrix begin.
    fn start(&self, at: usize) -> (*mut T, *mut T) {
        let (width, sizes) = (self.product.tiles.full.count, self.launch.sizes);
        let keys = self.keys.as_ptr().cast::<T>().wrapping_add(at * self.panels.0 * width * sizes.k);
        (keys, self.values.as_ptr().cast::<T>().wrapping_add(at * self.panels.1 * width * sizes.n))
    }

    /// Copies a panel of matrix `i` of the batch to the `at`-th place.
    ///
    /// # Safety
    /// The operands exist, and nobody else copies or reads this panel.
    pub unsafe fn copy(&self, i: usize, part: usize, at: usize) {
        let ((keys, values), sizes) = (self.start(at), self.launch.sizes);
        let panel = |b: Matrix, columns: usize, places: usize, n: usize, to: *mut T| {
            let width = self.product.tiles.full.count;
            let count = width.min(columns - n * width);
            let (to, floats) = (to.wrapping_add(n * width * places), self.product.tiles.fitting(count).count);
            // SAFETY: as the caller promises; there is room for all panels.
            unsafe {
                self.product.copy_columns(b, (n * width, count), (0, places), floats, to);
                std::slice::from_raw_parts(to.cast_const(), floats * places)
            }
        };
        let size = size_of::<T>();
        if part < self.panels.0 {
            panel(Matrix::of(self.launch.b, i, size), sizes.n, sizes.k, part, keys);
            return;
        }
        let copy = panel(Matrix::of(self.launch.v, i, size), self.launch.columns, sizes.n, part - self.panels.0, values);
        if self.launch.leaves_out && !are_finite(copy) {
            self.finite[at].store(false, Relaxed);
        }
    }

    /// Copies all of matrix `i` of the batch to the first place.
    ///
    /// # Safety
    /// As [`Copies::copy`].
    pub unsafe fn whole(&self, i: usize) -> Copied<T> {
        self.finite[0].store(true, Relaxed);
        for part in 0..self.parts() {
            // SAFETY: as the caller promises.
            unsafe { self.copy(i, part, 0) };
        }
        self.of(0)
    }

    /// The copies at the `at`-th place.
    pub fn of(&self, at: usize) -> Copied<T> {
        let (keys, values) = self.start(at);
        Copied { keys, values, leaves_out: self.launch.leaves_out && self.finite[at].load(Relaxed) }
    }
}
