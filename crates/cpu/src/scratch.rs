//! Working memory of one thread, kept between launches so that a small launch allocates nothing.

use crate::memory::Block;
use ferrotensor_core::error::Result;
use ferrotensor_core::planted;
use std::cell::Cell;

// What a thread keeps: programs that fusion makes ask for about 30 registers of 8 KiB, rows of a million elements that are sorted
// for twice 8 MB.
const KEEP_BYTES: usize = 32 << 20;
// A sort holds seven at a time: four buffers and the frames of three programs.
const KEEP_BLOCKS: usize = 8;
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
        // The smallest that fits, so that large ones are there for who needs them.
        let fitting = kept.iter().enumerate().filter(|(_, b)| b.bytes() >= bytes).min_by_key(|(_, b)| b.bytes());
        let fitting = fitting.map(|(i, _)| i).map(|i| kept.swap_remove(i));
        if fitting.is_none() && kept.len() == KEEP_BLOCKS {
            // Makes room for the larger one.
            kept.pop();
        }
        let _ = KEPT.try_with(|k| k.set(kept));
        let block = match fitting {
            Some(block) => block,
            None if planted::is("refused-memory-panics") => Block::new(bytes.max(SMALLEST)).expect("memory"),
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
        let Some(block) = self.block.take() else { return };
        #[cfg(feature = "fault")]
        if crate::fault::is_forgetful() {
            return;
        }
        let _ = KEPT.try_with(|k| {
            let mut kept = k.take();
            let bytes = kept.iter().map(Block::bytes).sum::<usize>();
            if kept.len() < KEEP_BLOCKS && bytes + block.bytes() <= KEEP_BYTES {
                kept.push(block);
            }
            k.set(kept);
        });
    }
}
