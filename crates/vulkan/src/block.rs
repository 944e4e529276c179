//! Blocks of the driver's memory: of the type that fits their use, with one `VkBuffer` over all of each.

use crate::errors;
use crate::memory::Faults;
use crate::parting;
use ferrotensor_core::{Error, Result};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;
use vulkano::VulkanObject;
use vulkano::buffer::sys::{BufferCreateInfo, RawBuffer};
use vulkano::buffer::{Buffer as DriverBuffer, BufferUsage};
use vulkano::device::Device;
use vulkano::device::physical::PhysicalDevice;
use vulkano::memory::{DeviceMemory, MemoryAllocateInfo, MemoryMapInfo, MemoryPropertyFlags as Flags, ResourceMemory};

/// How the host reaches the tensors' memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Tensors on memory the host shares with the device.
    Shared,
    /// Tensors on the device's own memory.
    Own,
    /// Arguments of dispatches: written by the host, read by the device once.
    Arguments,
    /// Bytes on their way to the device.
    Upload,
    /// Bytes on their way to the host, which reads them: without a cache 10 to 50 times slower.
    Readback,
}

/// Memory types from the best on: flags it must have, flags it must not have. The first that exists is taken. Never a wish for
/// device memory together with a demand for host access: on a discrete GPU it puts tensors behind the bus (16 instead of
/// 431 GB/s in another project's measurement).
fn ranking(wanted: Use) -> &'static [(Flags, Flags)] {
    const ANY: Flags = Flags::empty();
    const LOCAL: Flags = Flags::DEVICE_LOCAL;
    const CACHED: Flags = Flags::HOST_CACHED;
    const HOST: Flags = Flags::HOST_VISIBLE.union(Flags::HOST_COHERENT);
    const BOTH: Flags = HOST.union(LOCAL);
    const SHARED: [(Flags, Flags); 3] = [(BOTH.union(CACHED), ANY), (BOTH, ANY), (HOST, ANY)];
    const OWN: [(Flags, Flags); 3] = [(LOCAL, Flags::HOST_VISIBLE), (LOCAL, ANY), (ANY, ANY)];
    const ARGUMENTS: [(Flags, Flags); 2] = [(BOTH, ANY), (HOST, ANY)];
    const UPLOAD: [(Flags, Flags); 3] = [(HOST, LOCAL.union(CACHED)), (HOST, LOCAL), (HOST, ANY)];
    const READBACK: [(Flags, Flags); 2] = [(HOST.union(CACHED), ANY), (HOST, ANY)];
    match wanted {
        Use::Shared => &SHARED,
        Use::Own => &OWN,
        Use::Arguments => &ARGUMENTS,
        Use::Upload => &UPLOAD,
        Use::Readback => &READBACK,
    }
}

/// Memory that must not be chosen by us: lazily backed, protected, or coherent by a feature that is not switched on.
pub const NEVER: Flags =
    Flags::LAZILY_ALLOCATED.union(Flags::PROTECTED).union(Flags::DEVICE_COHERENT).union(Flags::DEVICE_UNCACHED);

/// The memory type for a use.
fn memory_type(physical: &PhysicalDevice, wanted: Use, allowed: u32) -> Option<u32> {
    let types = &physical.memory_properties().memory_types;
    ranking(wanted).iter().find_map(|&(with, without)| {
        let fits = |n: &usize| {
            let flags = types[*n].property_flags;
            allowed & (1 << n) != 0 && flags.contains(with) && !flags.intersects(without | NEVER)
        };
        (0..types.len()).find(fits).map(|n| n as u32)
    })
}

/// A piece of driver memory with a buffer over all of it, mapped where the host can see it.
pub struct Block {
    /// Dropped among those inside: blocks go wherever the last handle of a tensor is dropped.
    buffer: ManuallyDrop<DriverBuffer>,
    bytes: u64,
    mapped: Option<NonNull<u8>>,
    cached: bool,
}

// SAFETY: the pointer is to memory mapped for as long as the block lives, valid from any thread; who copies through it keeps
// ranges apart (`copy_in`, `copy_out`).
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Block {
    /// New driver memory.
    ///
    /// # Errors
    /// The driver's.
    pub fn new(device: &Arc<Device>, faults: &Faults, wanted: Use, bytes: u64) -> Result<Block> {
        if faults.block.strikes_twice() {
            return Err(Error::out_of_memory(format!("{bytes} bytes of device memory: none, as a test wants it")));
        }
        Block::take(device, wanted, bytes)
    }

    /// As [`Block::new`], without faults.
    ///
    /// # Errors
    /// The driver's.
    pub fn take(device: &Arc<Device>, wanted: Use, bytes: u64) -> Result<Block> {
        let tensors = BufferUsage::STORAGE_BUFFER | BufferUsage::TRANSFER_SRC | BufferUsage::TRANSFER_DST;
        let usage = if wanted == Use::Arguments { BufferUsage::UNIFORM_BUFFER } else { tensors };
        let info = BufferCreateInfo { size: bytes, usage, ..BufferCreateInfo::default() };
        let raw = RawBuffer::new(Arc::clone(device), info).map_err(|e| errors::driver("a buffer", e))?;
        let need = *raw.memory_requirements();
        let physical = device.physical_device();
        let index = memory_type(physical, wanted, need.memory_type_bits)
            .ok_or_else(|| Error::device(format!("no memory of the device fits the use {wanted:?}")))?;
        let flags = physical.memory_properties().memory_types[index as usize].property_flags;
        let info = MemoryAllocateInfo {
            allocation_size: need.layout.size(),
            memory_type_index: index,
            ..MemoryAllocateInfo::default()
        };
        // Whatever it is (the heap is smaller, or 4096 blocks are out), there is no such memory.
        let mut memory = DeviceMemory::allocate(Arc::clone(device), info)
            .map_err(|e| Error::out_of_memory(format!("{} bytes of device memory: {e:?}", need.layout.size())))?;
        let mut mapped = None;
        if wanted != Use::Own && flags.contains(Flags::HOST_VISIBLE) {
            let map = MemoryMapInfo { size: memory.allocation_size(), ..MemoryMapInfo::default() };
            memory.map(map).map_err(|e| errors::driver("mapping memory", e))?;
            mapped = memory.mapping_state().map(|state| state.ptr().cast::<u8>());
        }
        let buffer = raw
            .bind_memory(ResourceMemory::new_dedicated(memory))
            .map_err(|(e, _, _)| errors::driver("binding memory", e))?;
        Ok(Block { buffer: ManuallyDrop::new(buffer), bytes, mapped, cached: flags.contains(Flags::HOST_CACHED) })
    }

    /// The driver's handle.
    pub fn handle(&self) -> ash::vk::Buffer {
        self.buffer.handle()
    }

    /// Size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the host reads it at full speed.
    pub fn is_cached(&self) -> bool {
        self.mapped.is_some() && self.cached
    }

    /// Copies host bytes to an offset; false where the host cannot see the block.
    pub fn copy_in(&self, from: &[u8], offset: u64) -> bool {
        assert!(offset.checked_add(from.len() as u64).is_some_and(|end| end <= self.bytes), "a write outside its block");
        let Some(base) = self.mapped else { return false };
        // SAFETY: the range lies in the mapped block (asserted), host slices do not overlap device memory, and nobody else
        // uses the range: it belongs to one buffer, ring slot or frame, whose owner has waited for the device.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), base.as_ptr().add(offset as usize), from.len()) };
        true
    }

    /// Copies bytes at an offset to the host; false where the host cannot see the block.
    pub fn copy_out(&self, offset: u64, to: &mut [u8]) -> bool {
        assert!(offset.checked_add(to.len() as u64).is_some_and(|end| end <= self.bytes), "a read outside its block");
        let Some(base) = self.mapped else { return false };
        // SAFETY: as in `copy_in`.
        unsafe { std::ptr::copy_nonoverlapping(base.as_ptr().add(offset as usize), to.as_mut_ptr(), to.len()) };
        true
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(_inside) = parting::enter() {
            // SAFETY: dropped here only, and not used after.
            unsafe { ManuallyDrop::drop(&mut self.buffer) };
        }
    }
}
