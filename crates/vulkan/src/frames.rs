//! Frames: a command buffer with the memory of its dispatches' arguments, and what they keep alive. Used again when the
//! device is done with them.

use crate::block::{Block, Use};
use crate::errors;
use crate::memory::Faults;
use crate::raw::{self, Between};
use crate::reports::Reports;
use ferrotensor_core::Result;
use std::any::Any;
use std::sync::Arc;
use vulkano::VulkanObject;
use vulkano::command_buffer::pool::{
    CommandBufferAllocateInfo, CommandPool, CommandPoolCreateFlags, CommandPoolCreateInfo, CommandPoolResetFlags,
};
use vulkano::device::{Device, Queue};

/// Bytes of arguments in a frame: 64 dispatches of 4 KiB each, while most need under 256 bytes.
pub const ARGUMENTS: u64 = 256 << 10;

/// Something that must outlive the device's work on it.
pub type Kept = Arc<dyn Any + Send + Sync>;

/// One submission: being recorded, under way, or free.
pub struct Frame {
    // Its command buffer is freed with it.
    pool: CommandPool,
    device: Arc<Device>,
    commands: ash::vk::CommandBuffer,
    arguments: Block,
    reports: Reports,
    kept: Vec<Kept>,
    weight: u64,
}

impl Frame {
    /// A new frame.
    ///
    /// # Errors
    /// The driver's, for want of memory.
    pub fn new(device: &Arc<Device>, queue: &Queue, faults: &Faults) -> Result<Frame> {
        let info = CommandPoolCreateInfo {
            flags: CommandPoolCreateFlags::TRANSIENT,
            queue_family_index: queue.queue_family_index(),
            ..CommandPoolCreateInfo::default()
        };
        let pool = CommandPool::new(Arc::clone(device), info).map_err(|e| errors::driver("a command pool", e))?;
        let info = CommandBufferAllocateInfo { command_buffer_count: 1, ..CommandBufferAllocateInfo::default() };
        let mut buffers = pool.allocate_command_buffers(info).map_err(|e| errors::driver("a command buffer", e))?;
        let commands = buffers.next().map(|b| b.handle()).unwrap_or_default();
        drop(buffers);
        let arguments = Block::new(device, faults, Use::Arguments, ARGUMENTS)?;
        Ok(Frame {
            pool,
            device: Arc::clone(device),
            commands,
            arguments,
            reports: Reports::default(),
            kept: Vec::new(),
            weight: 0,
        })
    }

    /// Starts recording, after everything submitted before.
    ///
    /// # Safety
    /// The device does not use the frame.
    ///
    /// # Errors
    /// The driver's, for want of memory.
    pub unsafe fn begin(&mut self) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.pool.reset(CommandPoolResetFlags::empty()) }.map_err(|e| errors::driver("a command pool", e))?;
        // SAFETY: the pool was reset, and `&mut self` keeps other threads from it.
        unsafe { raw::begin(&self.device, self.commands) }.map_err(|e| errors::driver("recording", e))?;
        // SAFETY: recording.
        unsafe { raw::barrier(&self.device, self.commands, Between::Submissions) };
        self.reports.clear();
        self.weight = 0;
        Ok(())
    }

    /// Ends recording; what was written can be read by a host that has waited.
    ///
    /// # Errors
    /// The driver's, for want of memory.
    pub fn end(&mut self) -> Result<()> {
        // SAFETY: frames are handed out recording (`Timeline::take`), and end once (`Timeline::submit`).
        unsafe { raw::barrier(&self.device, self.commands, Between::Host) };
        // SAFETY: as above.
        unsafe { raw::end(&self.device, self.commands) }.map_err(|e| errors::driver("recording", e))
    }

    /// The command buffer.
    pub fn commands(&self) -> ash::vk::CommandBuffer {
        self.commands
    }

    /// Where arguments are written.
    pub fn arguments(&self) -> &Block {
        &self.arguments
    }

    /// What its dispatches find out.
    pub fn reports(&mut self) -> &mut Reports {
        &mut self.reports
    }

    /// How much it does, in bytes as the recorder counts them.
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// Says how much it does.
    pub fn weigh(&mut self, bytes: u64) {
        self.weight = bytes;
    }

    /// Keeps something until the device is done with the frame.
    pub fn keep(&mut self, what: Kept) {
        self.kept.push(what);
    }

    /// What it kept; the device has passed it.
    pub fn release(&mut self) -> Vec<Kept> {
        self.reports.read();
        std::mem::take(&mut self.kept)
    }
}
