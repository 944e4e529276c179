//! Device memory: blocks of the driver's, one `VkBuffer` over each, handed out in pieces under a byte budget of our own.
//!
//! The budget is ours because drivers do not keep one: lavapipe reports a heap of 2 GiB and handed out 50 GiB of it.

use crate::block::{Block, NEVER, Use};
use ferrotensor_core::backend::{Buffer, DeviceBuffer};
use ferrotensor_core::fault::Countdown;
use ferrotensor_core::{Code, Error, Result};
use ferrotensor_gpu::free_list::FreeList;
use ferrotensor_gpu::loss::Loss;
use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use vulkano::device::Device;
use vulkano::device::physical::{PhysicalDevice, PhysicalDeviceType};
use vulkano::memory::MemoryPropertyFlags as Flags;

/// Buffers begin at multiples of this, so that any binding offset a device may ask for is met (the standard allows 256 at most).
pub const ALIGNMENT: u64 = 256;

/// The usual block. Larger ones waste more when mostly empty, smaller ones cost more driver calls (ggml: at most 1 GiB).
const BLOCK: u64 = 256 << 20;

/// What goes wrong, and when: for tests. Memory is refused twice, as those who are refused give back what they have kept and ask again.
#[derive(Default)]
pub struct Faults {
    /// An allocation reports that memory is exhausted.
    pub alloc: Countdown,
    /// The driver has no memory for a block: of tensors, of scratch, of a ring, of arguments or reports.
    pub block: Countdown,
    /// The device is lost at this submission.
    pub submit: Countdown,
    /// The device never ends this submission.
    pub hang: Countdown,
}

/// Whether host and device share their memory: integrated and software devices, and those all of whose memory the host sees.
pub fn is_unified(physical: &PhysicalDevice) -> bool {
    let kind = physical.properties().device_type;
    let own = |f: Flags| f.contains(Flags::DEVICE_LOCAL) && !f.intersects(NEVER);
    let mut types = physical.memory_properties().memory_types.iter().map(|t| t.property_flags).filter(|f| own(*f));
    matches!(kind, PhysicalDeviceType::IntegratedGpu | PhysicalDeviceType::Cpu)
        || types.all(|f| f.contains(Flags::HOST_VISIBLE))
}

/// Bytes of the largest heap that is the device's own.
fn heap_bytes(physical: &PhysicalDevice) -> u64 {
    use vulkano::memory::MemoryHeapFlags;
    let heaps = &physical.memory_properties().memory_heaps;
    let own = heaps.iter().filter(|h| h.flags.intersects(MemoryHeapFlags::DEVICE_LOCAL)).map(|h| h.size).max();
    own.or(heaps.iter().map(|h| h.size).max()).unwrap_or(0)
}

/// The budget when none is given: 80 % of the heap, as other programs use it too; of a software device's half, which is the
/// machine's memory.
pub fn default_budget(physical: &PhysicalDevice) -> u64 {
    let heap = heap_bytes(physical);
    if physical.properties().device_type == PhysicalDeviceType::Cpu { heap / 2 } else { heap / 5 * 4 }
}

/// A block that tensors share.
struct Shared {
    block: Arc<Block>,
    free: FreeList,
}

#[derive(Default)]
struct State {
    shared: Vec<Shared>,
    /// Bytes of all blocks.
    held: u64,
    /// Bytes of all buffers.
    used: u64,
}

/// The memory of one opened device.
pub struct Memory {
    device: Arc<Device>,
    name: String,
    wanted: Use,
    block_bytes: u64,
    budget: u64,
    /// The timeline's.
    lost: Arc<Loss>,
    faults: Arc<Faults>,
    state: Mutex<State>,
}

/// Device memory on loan. Dropping it gives the bytes back, also after the device was lost.
pub struct VulkanBuffer {
    memory: Arc<Memory>,
    block: Arc<Block>,
    offset: u64,
    bytes: u64,
    /// The block was made for this buffer and goes with it.
    alone: bool,
}

impl DeviceBuffer for VulkanBuffer {
    fn bytes(&self) -> usize {
        self.bytes as usize
    }
    fn is_lost(&self) -> bool {
        self.memory.lost.is_told()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl VulkanBuffer {
    /// The block it lies in.
    pub(crate) fn block(&self) -> &Block {
        &self.block
    }

    /// Where it begins in its block.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether it is of this memory.
    pub(crate) fn is_of(&self, memory: &Arc<Memory>) -> bool {
        Arc::ptr_eq(&self.memory, memory)
    }

    /// The buffer behind a handle of any backend, if it is Vulkan's.
    pub fn of(buffer: &Buffer) -> Option<&VulkanBuffer> {
        buffer.as_any().downcast_ref()
    }
}

impl Drop for VulkanBuffer {
    fn drop(&mut self) {
        let mut state = self.memory.lock();
        state.used -= self.bytes;
        if self.memory.lost.is_hanging() {
            // The device may still write here.
            std::mem::forget(Arc::clone(&self.block));
        }
        if self.alone {
            state.held -= self.block.bytes();
        } else if let Some(shared) = state.shared.iter_mut().find(|s| Arc::ptr_eq(&s.block, &self.block)) {
            shared.free.give(self.offset, self.bytes);
        }
    }
}

impl Memory {
    /// Memory of a device, with a budget in bytes; `lost` says when the device is gone.
    pub fn new(
        device: &Arc<Device>,
        name: &str,
        unified: bool,
        budget: u64,
        (lost, faults): (Arc<Loss>, Arc<Faults>),
    ) -> Memory {
        // A block of an eighth leaves room for others, of small budgets too.
        let block_bytes =
            BLOCK.min(heap_bytes(device.physical_device()) / 8).min(budget / 8).max(64 << 10) / ALIGNMENT * ALIGNMENT;
        let wanted = if unified { Use::Shared } else { Use::Own };
        let (device, name) = (Arc::clone(device), name.into());
        Memory { device, name, wanted, block_bytes, budget, lost, faults, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// New memory, its size rounded up to a multiple of 256 bytes, its content undefined.
    ///
    /// # Errors
    /// `Code::OutOfMemory` naming requested, used and budget.
    pub fn alloc(self: &Arc<Self>, bytes: u64) -> Result<VulkanBuffer> {
        let size = bytes.max(1).checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX);
        let mut state = self.lock();
        let (block, offset, alone) = self.place(&mut state, size)?;
        state.used += size;
        Ok(VulkanBuffer { memory: Arc::clone(self), block, offset, bytes: size, alone })
    }

    fn place(&self, state: &mut State, size: u64) -> Result<(Arc<Block>, u64, bool)> {
        // Over half a block: a block of its own, which would else stay half empty.
        let alone = size > self.block_bytes / 2;
        if !alone {
            for shared in &mut state.shared {
                if let Some(offset) = shared.free.take(size) {
                    return Ok((Arc::clone(&shared.block), offset, false));
                }
            }
        }
        let mut last = None;
        for attempt in 0..2 {
            if self.faults.block.strikes_twice() {
                // Of no size.
                break;
            }
            if attempt == 1 && !release_empty(state) {
                break;
            }
            let left = self.budget.saturating_sub(state.held);
            let mut block_bytes = if alone { size } else { self.block_bytes.min(left / ALIGNMENT * ALIGNMENT) };
            // A driver without a large piece left may have a small one.
            while block_bytes >= size && block_bytes <= left {
                match Block::take(&self.device, self.wanted, block_bytes) {
                    Ok(block) => return Ok(keep(state, block, size, alone)),
                    Err(e) if e.code != Code::OutOfMemory => return Err(e),
                    Err(e) => last = Some(e),
                }
                if block_bytes == size {
                    break;
                }
                block_bytes = (block_bytes / 2 / ALIGNMENT * ALIGNMENT).max(size);
            }
        }
        let (used, held, budget) = (state.used, state.held, self.budget);
        let reason = last.map_or(String::new(), |e| format!("; the driver says: {}", e.message));
        Err(Error::out_of_memory(format!(
            "{size} bytes asked for on {}, where {used} are used ({held} with free parts of blocks) of {budget}{reason}",
            self.name
        )))
    }

    /// Gives empty blocks back to the driver.
    pub fn trim(&self) {
        release_empty(&mut self.lock());
    }

    /// Bytes in buffers, bytes taken from the driver, budget.
    pub fn sizes(&self) -> (u64, u64, u64) {
        let state = self.lock();
        (state.used, state.held, self.budget)
    }
}

/// Enters a new block and takes its first bytes.
fn keep(state: &mut State, block: Block, size: u64, alone: bool) -> (Arc<Block>, u64, bool) {
    state.held += block.bytes();
    let block = Arc::new(block);
    if !alone {
        let mut free = FreeList::new(block.bytes());
        free.take(size);
        state.shared.push(Shared { block: Arc::clone(&block), free });
    }
    (block, 0, alone)
}

/// Whether there was an empty block.
fn release_empty(state: &mut State) -> bool {
    let before = state.held;
    let State { shared, held, .. } = state;
    shared.retain(|s| {
        let empty = s.free.is_empty();
        if empty {
            *held -= s.block.bytes();
        }
        !empty
    });
    state.held < before
}
