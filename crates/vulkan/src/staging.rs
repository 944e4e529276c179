//! Copies between the host and memory it cannot map: through persistent rings the host sees, in chunks, on the queue.

use crate::block::{Block, Use};
use crate::errors;
use crate::frames::Kept;
use crate::memory::Faults;
use crate::raw::{self, Range};
use crate::timeline::Timeline;
use ferrotensor_core::Result;
use ferrotensor_core::planted;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use vulkano::device::Device;

/// Each ring. A quarter of it is copied at a time, so that host and device copy side by side.
const RING: u64 = 32 << 20;
const CHUNK: u64 = RING / 4;

/// Host-visible memory used round and round. Positions count on for ever; the place is the remainder.
struct Ring {
    block: Arc<Block>,
    head: u64,
    /// (first position, timeline value after which it is free), ascending.
    live: VecDeque<(u64, u64)>,
}

impl Ring {
    fn new(device: &Arc<Device>, faults: &Faults, wanted: Use) -> Result<Ring> {
        Ok(Ring { block: Arc::new(Block::new(device, faults, wanted, RING)?), head: 0, live: VecDeque::new() })
    }

    /// The offset of that many free bytes, waiting for the device where it has not come far enough.
    fn reserve(&mut self, bytes: u64, timeline: &Timeline) -> Result<u64> {
        let place = self.head % RING;
        let start = if place + bytes > RING { self.head + (RING - place) } else { self.head };
        while let Some(&(first, value)) = self.live.front() {
            // It is in the way when the new range ends more than a round after it begins.
            if start + bytes <= first + RING && timeline.seen() < value {
                break;
            }
            timeline.wait(value, None)?;
            self.live.pop_front();
        }
        // Copies begin at multiples of 16: what the fastest ones of drivers want.
        self.head = start + bytes.next_multiple_of(16);
        Ok(if planted::is("staging-memory-is-used-too-early") { 0 } else { start % RING })
    }

    fn used(&mut self, offset: u64, bytes: u64, value: u64) {
        let end = self.head;
        let first = end - bytes.next_multiple_of(16);
        debug_assert_eq!(first % RING, offset);
        self.live.push_back((first, value));
    }
}

/// The rings of an opened device, made at first use.
#[derive(Default)]
pub struct Staging {
    up: Mutex<Option<Ring>>,
    down: Mutex<Option<Ring>>,
}

fn ring<'a>(slot: &'a mut Option<Ring>, device: &Arc<Device>, faults: &Faults, wanted: Use) -> Result<&'a mut Ring> {
    if slot.is_none() {
        *slot = Some(Ring::new(device, faults, wanted)?);
    }
    slot.as_mut().ok_or_else(|| ferrotensor_core::Error::internal("a staging ring is gone"))
}

/// Records and submits one copy; its timeline value.
fn copy(device: &Device, timeline: &Timeline, from: Range, to: Range, kept: [Kept; 2]) -> Result<u64> {
    let mut frame = timeline.take()?;
    // SAFETY: the frame records; both ranges lie in their blocks (the callers checked, rings by construction), which are kept.
    unsafe { raw::copy(device, frame.commands(), from, to) };
    kept.into_iter().for_each(|k| frame.keep(k));
    timeline.submit(frame)
}

impl Staging {
    /// Copies host bytes into a block. The device's part may still run on return, before everything submitted later.
    ///
    /// # Errors
    /// The device was lost, or no memory for the ring.
    pub fn upload(
        &self,
        device: &Arc<Device>,
        timeline: &Timeline,
        from: &[u8],
        to: &Block,
        offset: u64,
        kept: &Kept,
    ) -> Result<()> {
        let mut slot = self.up.lock().unwrap_or_else(PoisonError::into_inner);
        let ring = ring(&mut slot, device, timeline.faults(), Use::Upload)?;
        let mut target = offset;
        for chunk in from.chunks(CHUNK as usize) {
            let bytes = chunk.len() as u64;
            let place = ring.reserve(bytes, timeline)?;
            if !ring.block.copy_in(chunk, place) {
                return Err(errors::unmapped());
            }
            let source = Range { buffer: ring.block.handle(), offset: place, bytes };
            let target_range = Range { buffer: to.handle(), offset: target, bytes };
            let kept: [Kept; 2] = [Arc::clone(kept), Arc::clone(&ring.block) as Kept];
            let value = copy(device, timeline, source, target_range, kept)?;
            ring.used(place, bytes, value);
            target += bytes;
        }
        Ok(())
    }

    /// Copies bytes of a block to the host, after everything submitted before.
    ///
    /// # Errors
    /// The device was lost, or no memory for the ring.
    pub fn download(
        &self,
        device: &Arc<Device>,
        timeline: &Timeline,
        from: &Block,
        offset: u64,
        to: &mut [u8],
        kept: &Kept,
    ) -> Result<()> {
        let mut slot = self.down.lock().unwrap_or_else(PoisonError::into_inner);
        let ring = ring(&mut slot, device, timeline.faults(), Use::Readback)?;
        let mut source = offset;
        // The chunk the device copies while the host copies the one before.
        let mut under_way: Option<(&mut [u8], u64, u64)> = None;
        for chunk in to.chunks_mut(CHUNK as usize) {
            let bytes = chunk.len() as u64;
            let place = ring.reserve(bytes, timeline)?;
            let source_range = Range { buffer: from.handle(), offset: source, bytes };
            let target = Range { buffer: ring.block.handle(), offset: place, bytes };
            let kept: [Kept; 2] = [Arc::clone(kept), Arc::clone(&ring.block) as Kept];
            let value = copy(device, timeline, source_range, target, kept)?;
            ring.used(place, bytes, value);
            source += bytes;
            if let Some(before) = under_way.replace((chunk, place, value)) {
                finish(&ring.block, timeline, before)?;
            }
        }
        under_way.map_or(Ok(()), |last| finish(&ring.block, timeline, last))?;
        // The buffer is its owner's alone again.
        timeline.retire()
    }
}

fn finish(block: &Block, timeline: &Timeline, (to, place, value): (&mut [u8], u64, u64)) -> Result<()> {
    timeline.wait(value, None)?;
    if block.copy_out(place, to) { Ok(()) } else { Err(errors::unmapped()) }
}
