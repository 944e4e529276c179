//! Operands that product after product reads: the copy made for tiles is kept beside them (`kept.rs`), so that later products copy rows
//! only.

use super::post::After;
use super::product::{Job, Product, fits};
use super::stored::Stored;
use crate::kept::{Found, Key};
use crate::launch::Context;
use crate::memory::Block;
use ferrotensor_core::error::Result;
use std::any::TypeId;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Bytes of columns from which a copy beside them is worth it: up to here tiles read them in second-level caches.
const LEAST: usize = 3 << 20;
/// Places and columns at least: fewer of them are read as fast where they lie, and a copy has whole tiles of columns.
const SIDE: usize = 128;
/// Rows up to which it pays to spare the copy, which takes as long as the sums of 100 rows.
const ROWS: usize = 256;

/// The copy of a product's columns, tile after tile of them: the places of each block in the block's columns.
pub(super) struct Constant {
    pub block: Arc<Block>,
    /// Whether it is there, or made by the product that has it.
    pub is_whole: bool,
}

impl<S: Stored> Product<S> {
    /// A product with columns that were read often, in their buffer; `None` where they were not, or no copy is worth it.
    ///
    /// # Errors
    /// As [`Product::packed`].
    pub(super) fn constant(
        &self,
        job: &Job,
        buffer: *const u8,
        after: Option<&After>,
        context: &Context,
    ) -> Option<Result<()>> {
        // One row reads floats as fast where they lie. Behind two rows and more copies are read as one stream (16 rows by 1024^2 on one
        // thread: 0.43 -> 0.23 ms, by 4096^2 15 -> 4.7), and half floats are converted (one row by 4096^2: 9.4 -> 2.4 ms).
        let is_row = job.m == 1 && S::PLAIN;
        let is_unfit = job.k < SIDE || job.n < SIDE || job.b.rows == 0 || job.b.columns == 0;
        if is_row || job.m > ROWS || is_unfit || fits::<S>(job.k, job.n, LEAST) {
            return None;
        }
        let kept = &context.account.kept;
        let key = Key {
            element: TypeId::of::<S>(),
            start: job.b.start as usize,
            strides: (job.b.rows, job.b.columns),
            dims: (job.k, job.n),
        };
        let constant = match kept.find(buffer, key) {
            Found::New => return None,
            Found::Copy(block) => Constant { block, is_whole: true },
            Found::Often => {
                let panels = job.n.div_ceil(self.tiles.full.count / S::PARTS);
                let bytes = panels.checked_mul(self.panel(job.k))?.checked_mul(size_of::<S::Real>())?;
                // Without memory for a copy that stays there is the one that does not.
                let block =
                    if kept.bytes().checked_add(bytes)? <= context.spare { Block::new(bytes).ok()? } else { return None };
                Constant { block: Arc::new(block), is_whole: false }
            }
        };
        let done = self.packed(job, true, Some(&constant), after, context);
        // Whoever is abandoned leaves the copy unfinished.
        if done.is_ok() && !constant.is_whole && !context.abandoned.load(Ordering::Relaxed) {
            kept.keep(buffer, key, constant.block);
        }
        Some(done)
    }
}
