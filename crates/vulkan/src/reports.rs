//! The memory of a frame's reports (`ferrotensor_gpu::report`), which the host reads when the device has passed it.

use crate::block::{Block, Use};
use crate::memory::Faults;
use ferrotensor_core::Result;
use ferrotensor_gpu::report::{Failures, Tell, WORDS};
use std::sync::Arc;
use vulkano::device::Device;

/// Reports of a frame, one for each dispatch.
const MOST: u64 = crate::stream::DISPATCHES as u64;
const BYTES: u64 = WORDS as u64 * 4;

struct Watched {
    launch: usize,
    tell: Tell,
    to: Arc<Failures>,
}

/// The reports of a frame.
#[derive(Default)]
pub struct Reports {
    block: Option<Block>,
    watched: Vec<Watched>,
}

impl Reports {
    /// The place of the next report, all zeros.
    ///
    /// # Errors
    /// The driver's, for want of memory.
    pub fn next(
        &mut self,
        (device, faults): (&Arc<Device>, &Faults),
        launch: usize,
        tell: &Tell,
        to: &Arc<Failures>,
    ) -> Result<(&Block, u64)> {
        let block = match self.block.take() {
            Some(block) => block,
            None => Block::new(device, faults, Use::Readback, MOST * BYTES)?,
        };
        let offset = self.watched.len() as u64 * BYTES;
        block.copy_in(&[0; BYTES as usize], offset);
        self.watched.push(Watched { launch, tell: Arc::clone(tell), to: Arc::clone(to) });
        Ok((self.block.insert(block), offset))
    }

    /// Reads what the device left, which it must have passed.
    pub fn read(&mut self) {
        let Some(block) = &self.block else { return };
        for (n, watched) in self.watched.drain(..).enumerate() {
            let mut bytes = [0; BYTES as usize];
            block.copy_out(n as u64 * BYTES, &mut bytes);
            let mut words = [0; WORDS];
            let read = bytes.chunks_exact(4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]));
            words.iter_mut().zip(read).for_each(|(word, read)| *word = read);
            if let Some(error) = (watched.tell)(&words) {
                watched.to.note(watched.launch, error);
            }
        }
    }

    /// Forgets what was not submitted.
    pub fn clear(&mut self) {
        self.watched.clear();
    }
}
