//! `Gather` kernels: rows of the data that indices select, copied in parallel.

use crate::cache;
use crate::indices::{Block, IndexPrograms, IndexReader, NOWHERE, Row, leading};
use crate::launch::{Context, Run, Slots};
use crate::map::table::by_size;
use crate::parallel::parallel_for;
use crate::tier::Tier;
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::Gather;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// A compiled `Gather`.
pub struct GatherKernel {
    indices: IndexPrograms,
    kernel: Gather,
}

impl GatherKernel {
    /// Compiles a kernel.
    ///
    /// # Errors
    /// As [`IndexPrograms::new`].
    pub fn new(kernel: &Gather, tier: Tier) -> Result<GatherKernel, String> {
        Ok(GatherKernel { indices: IndexPrograms::new(&kernel.index, tier)?, kernel: kernel.clone() })
    }
}

impl Run for GatherKernel {
    fn run(&self, slots: &Slots, _: &[u64], context: &Context) -> Result<()> {
        let ([(data, from), indices @ ..], [(output, to)]) = (&slots.inputs[..], &slots.outputs[..]) else {
            return Err(Error::internal("gather: data, indices and one output"));
        };
        let (bounds, size) = (self.indices.bind(indices, data)?, self.kernel.dtype.bytes());
        let batch = indices[0].0.rank();
        if output.dims().get(..batch) != Some(indices[0].0.dims()) {
            return Err(Error::internal("gather: the output does not have the indices' axes"));
        }
        let block = Block::new([output, data], [batch, indices.len()])?;
        if indices[0].0.is_empty() {
            return Ok(());
        }
        // Indices into rows of no elements are checked all the same.
        let copies = !output.is_empty();
        let places = Places { from: from.wrapping_add(data.offset() * size), to: to.wrapping_add(output.offset() * size) };
        let failed: Mutex<Option<(usize, Error)>> = Mutex::new(None);
        let nanos = 4.0 + 0.1 * (block.len() * size) as f64;
        let dense = block.dense().filter(|_| output.is_row_major());
        parallel_for(indices[0].0.len(), nanos, &|range| {
            let mut reader = IndexReader::new(&self.indices, &bounds, data)?;
            let mut at = range.start;
            while at < range.end && !context.abandoned.load(Ordering::Relaxed) {
                // SAFETY: the positions exist; inputs are only read.
                let positions = unsafe { reader.read(at, range.end) };
                let count = positions.len();
                if let (Some(len), true) = (dense, copies) {
                    // SAFETY: the indices were checked against the data, and each position of the output is one thread's.
                    by_size!(size, T => unsafe { places.copy_dense::<T>(len, positions, at * len) });
                    at += count;
                    continue;
                }
                if copies && output.is_row_major() {
                    // SAFETY: as above.
                    by_size!(size, T => unsafe { places.copy_along::<T>(&block, positions, at * block.len()) });
                    at += count;
                    continue;
                }
                for (i, &position) in positions.iter().enumerate().filter(|_| copies) {
                    let target = leading(output, batch, at + i);
                    // SAFETY: the index was checked against the data, and each position of the output is one thread's.
                    by_size!(size, T => unsafe { places.copy::<T>(&block, position, target) });
                }
                at += count;
            }
            if let Some(found) = reader.failed {
                let mut first = failed.lock().unwrap_or_else(PoisonError::into_inner);
                if first.as_ref().is_none_or(|(earlier, _)| found.0 < *earlier) {
                    *first = Some(found);
                }
            }
            Ok(())
        })?;
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, error)) => Err(self.kernel.failed(error)),
            None => Ok(()),
        }
    }
}

/// The first elements of data and output.
struct Places {
    from: *const u8,
    to: *mut u8,
}

// SAFETY: `copy` reads data that nobody writes, and writes places that belong to the calling thread.
unsafe impl Sync for Places {}

impl Places {
    /// Copies blocks of `len` neighbours that start `positions` elements into the data, or zeros, to the output from `target`
    /// elements into it on, one after the other.
    ///
    /// # Safety
    /// As [`Places::copy`].
    unsafe fn copy_dense<T: bytemuck::Zeroable + Copy>(&self, len: usize, positions: &[isize], target: usize) {
        let (from, to) = (self.from.cast::<T>(), self.to.cast::<T>().wrapping_add(target));
        for (i, &position) in positions.iter().enumerate() {
            let to = to.wrapping_add(i * len);
            // SAFETY: by the contract above.
            unsafe {
                match position {
                    NOWHERE => std::slice::from_raw_parts_mut(to, len).fill(T::zeroed()),
                    _ if len == 1 => *to = *from.offset(position),
                    _ => std::ptr::copy_nonoverlapping(from.offset(position), to, len),
                }
            }
        }
    }

    /// Copies the blocks that start `positions` elements into the data, or zeros, to the output from `target` elements into it on, one after
    /// the other: rows of neighbours whole, of others a line of each block at a time, since neighbours along the axis that is selected from
    /// often lie in the same lines of the data.
    ///
    /// # Safety
    /// As [`Places::copy`].
    unsafe fn copy_along<T: bytemuck::Zeroable + Copy>(&self, block: &Block, positions: &[isize], target: usize) {
        let len = block.len();
        block.rows(|row| {
            let longest = if row.step == [1, 1] { row.len } else { cache::LINE / size_of::<T>() };
            for first in (0..row.len).step_by(longest.max(1)) {
                let [to, from] = [0, 1].map(|n| row.at[n] + first as isize * row.step[n]);
                for (i, &position) in positions.iter().enumerate() {
                    let part =
                        Row { at: [(target + i * len) as isize + to, from], len: longest.min(row.len - first), ..row };
                    // SAFETY: by the contract above.
                    unsafe { self.copy_row::<T>(&part, position) };
                }
            }
        });
    }

    /// Copies the block that starts `position` elements into the data, or zeros, to `target` elements into the output.
    ///
    /// # Safety
    /// Both blocks exist, and the output's belongs to the calling thread.
    unsafe fn copy<T: bytemuck::Zeroable + Copy>(&self, block: &Block, position: isize, target: isize) {
        // SAFETY: by the contract above.
        block.rows(|row| unsafe { self.copy_row::<T>(&Row { at: [target + row.at[0], row.at[1]], ..row }, position) });
    }

    /// Copies a row of the block that starts `position` elements into the data, or zeros.
    ///
    /// # Safety
    /// As [`Places::copy`].
    unsafe fn copy_row<T: bytemuck::Zeroable + Copy>(&self, row: &Row, position: isize) {
        let to = self.to.cast::<T>().wrapping_offset(row.at[0]);
        let from = (position != NOWHERE).then(|| self.from.cast::<T>().wrapping_offset(position + row.at[1]));
        // SAFETY: by the contract above.
        unsafe {
            match from {
                Some(from) if row.step == [1, 1] => std::ptr::copy_nonoverlapping(from, to, row.len),
                Some(from) => {
                    for i in 0..row.len as isize {
                        *to.offset(i * row.step[0]) = *from.offset(i * row.step[1]);
                    }
                }
                None => {
                    for i in 0..row.len as isize {
                        *to.offset(i * row.step[0]) = T::zeroed();
                    }
                }
            }
        }
    }
}
