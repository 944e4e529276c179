//! The calls that go through the device's function table: recording, push descriptors, submission.
//!
//! vulkano's own recorder costs 1.1 us for each dispatch with push descriptors, these calls 0.35 us (lavapipe, release), and
//! 0.35.2 cannot submit a raw command buffer at all. Everything here is unsafe to call; `stream.rs`, `frames.rs` and
//! `staging.rs` uphold the conditions: command buffers in the recording state, handles of this device that live until the
//! timeline has passed, offsets and ranges within buffers.

use ash::vk;
use std::sync::Arc;
use vulkano::device::{Device, Queue};
use vulkano::pipeline::ComputePipeline;
use vulkano::sync::semaphore::Semaphore;
use vulkano::{VulkanError, VulkanObject};

/// What a barrier stands between.
#[derive(Clone, Copy, Debug)]
pub enum Between {
    /// Everything submitted before and everything after.
    Submissions,
    /// Dispatches of one command buffer.
    Dispatches,
    /// The device and a host that reads when the timeline has passed.
    Host,
}

impl Between {
    /// (stages before, accesses before, stages after, accesses after)
    fn scopes(self) -> (vk::PipelineStageFlags, vk::AccessFlags, vk::PipelineStageFlags, vk::AccessFlags) {
        use vk::{AccessFlags as A, PipelineStageFlags as S};
        let device = S::COMPUTE_SHADER | S::TRANSFER;
        let written = A::SHADER_WRITE | A::TRANSFER_WRITE;
        match self {
            Between::Submissions => {
                (device, written, device, A::SHADER_READ | A::SHADER_WRITE | A::TRANSFER_READ | A::TRANSFER_WRITE)
            }
            Between::Dispatches => (S::COMPUTE_SHADER, A::SHADER_WRITE, S::COMPUTE_SHADER, A::SHADER_READ | A::SHADER_WRITE),
            Between::Host => (device, written, S::HOST, A::HOST_READ),
        }
    }
}

/// A range of a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    pub buffer: vk::Buffer,
    pub offset: u64,
    pub bytes: u64,
}

fn result(code: vk::Result) -> Result<(), VulkanError> {
    code.result().map_err(VulkanError::from)
}

/// Puts a command buffer into the recording state.
///
/// # Safety
/// It is not in use by the device, and its pool by no other thread.
pub unsafe fn begin(device: &Device, to: vk::CommandBuffer) -> Result<(), VulkanError> {
    let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
    // SAFETY: the caller's promise.
    result(unsafe { (device.fns().v1_0.begin_command_buffer)(to, &info) })
}

/// Ends recording.
///
/// # Safety
/// The command buffer is recording.
pub unsafe fn end(device: &Device, to: vk::CommandBuffer) -> Result<(), VulkanError> {
    // SAFETY: the caller's promise.
    result(unsafe { (device.fns().v1_0.end_command_buffer)(to) })
}

/// Binds a pipeline for the dispatches that follow.
///
/// # Safety
/// The command buffer is recording; the pipeline lives until the device is done with it.
pub unsafe fn bind(device: &Device, to: vk::CommandBuffer, pipeline: &ComputePipeline) {
    // SAFETY: the caller's promise.
    unsafe { (device.fns().v1_0.cmd_bind_pipeline)(to, vk::PipelineBindPoint::COMPUTE, pipeline.handle()) }
}

/// Sets the argument block (binding 0) and the storage buffers (bindings 1, 2, ...).
///
/// # Safety
/// The command buffer is recording, `layout` has these bindings, the buffers live until the device is done with them, and
/// the ranges lie in them at offsets the device allows.
pub unsafe fn push(device: &Device, to: vk::CommandBuffer, layout: vk::PipelineLayout, arguments: Range, storage: &[Range]) {
    let info = |r: &Range| vk::DescriptorBufferInfo { buffer: r.buffer, offset: r.offset, range: r.bytes };
    let infos: smallvec::SmallVec<[vk::DescriptorBufferInfo; 17]> =
        std::iter::once(info(&arguments)).chain(storage.iter().map(info)).collect();
    let write = |binding: u32, kind: vk::DescriptorType, infos: &[vk::DescriptorBufferInfo]| vk::WriteDescriptorSet {
        dst_binding: binding,
        descriptor_count: infos.len() as u32,
        descriptor_type: kind,
        p_buffer_info: infos.as_ptr(),
        ..Default::default()
    };
    let writes: smallvec::SmallVec<[vk::WriteDescriptorSet; 17]> = infos
        .iter()
        .enumerate()
        .map(|(n, info)| {
            let kind = if n == 0 { vk::DescriptorType::UNIFORM_BUFFER } else { vk::DescriptorType::STORAGE_BUFFER };
            write(n as u32, kind, std::slice::from_ref(info))
        })
        .collect();
    // SAFETY: the caller's promise; `writes` points into `infos`, and both outlive the call.
    unsafe {
        (device.fns().khr_push_descriptor.cmd_push_descriptor_set_khr)(
            to,
            vk::PipelineBindPoint::COMPUTE,
            layout,
            0,
            writes.len() as u32,
            writes.as_ptr(),
        );
    }
}

/// Starts workgroups along x.
///
/// # Safety
/// The command buffer is recording, with a pipeline and its bindings set; `groups` is within the device's limit.
pub unsafe fn dispatch(device: &Device, to: vk::CommandBuffer, groups: u32) {
    // SAFETY: the caller's promise.
    unsafe { (device.fns().v1_0.cmd_dispatch)(to, groups, 1, 1) }
}

/// One global memory barrier: as good as one for each buffer (ggml#15489).
///
/// # Safety
/// The command buffer is recording.
pub unsafe fn barrier(device: &Device, to: vk::CommandBuffer, between: Between) {
    let (from_stage, from_access, to_stage, to_access) = between.scopes();
    let memory = vk::MemoryBarrier { src_access_mask: from_access, dst_access_mask: to_access, ..Default::default() };
    let none = vk::DependencyFlags::empty();
    // SAFETY: the caller's promise; `memory` outlives the call, and the other lists are empty.
    unsafe {
        (device.fns().v1_0.cmd_pipeline_barrier)(
            to,
            from_stage,
            to_stage,
            none,
            1,
            &memory,
            0,
            std::ptr::null(),
            0,
            std::ptr::null(),
        );
    }
}

/// Copies between buffers.
///
/// # Safety
/// The command buffer is recording; both buffers have the range and live until the device is done; they do not overlap.
pub unsafe fn copy(device: &Device, to: vk::CommandBuffer, source: Range, target: Range) {
    let region = vk::BufferCopy { src_offset: source.offset, dst_offset: target.offset, size: source.bytes };
    // SAFETY: the caller's promise.
    unsafe { (device.fns().v1_0.cmd_copy_buffer)(to, source.buffer, target.buffer, 1, &region) }
}

/// Submits a command buffer that sets the timeline to `value` when it ends.
///
/// # Safety
/// Recording has ended; everything the command buffer names, and itself, live until the timeline has passed `value`, which is
/// larger than all before.
pub unsafe fn submit(
    queue: &Arc<Queue>,
    what: vk::CommandBuffer,
    timeline: &Semaphore,
    value: u64,
) -> Result<(), VulkanError> {
    let semaphore = timeline.handle();
    let mut values = vk::TimelineSemaphoreSubmitInfo {
        signal_semaphore_value_count: 1,
        p_signal_semaphore_values: &value,
        ..Default::default()
    };
    let info = vk::SubmitInfo {
        p_next: std::ptr::from_mut(&mut values).cast(),
        command_buffer_count: 1,
        p_command_buffers: &what,
        signal_semaphore_count: 1,
        p_signal_semaphores: &semaphore,
        ..Default::default()
    };
    // A queue is for one thread at a time: the guard holds its lock.
    queue.with(|guard| {
        let device = vulkano::device::DeviceOwned::device(queue);
        // SAFETY: the caller's promise; `info` points to locals that outlive the call.
        let code = unsafe { (device.fns().v1_0.queue_submit)(queue.handle(), 1, &info, vk::Fence::null()) };
        drop(guard);
        result(code)
    })
}
