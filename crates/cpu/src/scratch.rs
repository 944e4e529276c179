//! Working memory of one thread, kept between launches so that a small launch allocates nothing.

use crate::memory::Block;
use ferrotensor_core::error::Result;
use std::cell::Cell;

// What a thread keeps: programs that fusion makes ask for about 30 registers of 8 KiB, rows of 100,000 elements for 2.4 MB.
const KEEP_BYTES: usize = 4 << 20;
// A sort holds eight at a time: five buffers and the frames of three programs.
// Under fault injection each one is asked for anew.
const KEEP_BLOCKS: usize = if cfg!(feature = "fault") { 0 } else { 8 };
// Blocks are rarely smaller than this, so that any kept one fits the next launch.
const SMALLEST: usize = 1 << 16;

thread_local! {
    static KEPT: Cell<Vec<Block>> = const { Cell::new(Vec::new()) };
}

/// 64-byte aligned memory with undefined content, handed back to its thread when dropped.
pub struct Scratch {
    start: *mut u8,
    block: Option<Block>,
}

impl Scratch {
    /// At least `bytes`.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn take(bytes: usize) -> Result<Scratch> {
        // The list is gone once the thread is ending.
        let mut kept = KEPT.try_with(Cell::take).unwrap_or_default();
        let fitting = kept.iter().rposition(|b| b.bytes() >= bytes).map(|i| kept.swap_remove(i));
        if fitting.is_none() && kept.len() == KEEP_BLOCKS {
            // Makes room for the larger one.
            kept.pop();
        }
        let _ = KEPT.try_with(|k| k.set(kept));
        let block = match fitting {
            Some(block) => block,
            None => Block::new(bytes.max(SMALLEST))?,
        };
        Ok(Scratch { start: block.as_ptr(), block: Some(block) })
    }

    /// The first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let Some(block) = self.block.take().filter(|b| b.bytes() <= KEEP_BYTES) else { return };
        let _ = KEPT.try_with(|k| {
            let mut kept = k.take();
            if kept.len() < KEEP_BLOCKS {
                kept.push(block);
            }
            k.set(kept);
        });
    }
}
