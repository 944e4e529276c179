//! The Vulkan backend: devices found through the system's Vulkan loader, kernels as SPIR-V written at run time.
//!
//! vulkano gives instance, device, memory and pipelines; recording and submission go through its function tables
//! (`raw.rs`), because its own recorders cost 3 to 10 times as much for each dispatch. Nothing is linked: where there is no
//! loader, [`probe`] says so in words.
//!
//! Kernels and launches are those of `ferrotensor_gpu`; their code becomes SPIR-V (`spirv.rs`) and a pipeline (`pipelines.rs`).
//!
//! The way of a batch: `device.rs` takes it, each kernel records its dispatches into a `Stream` (`stream.rs`), which puts barriers
//! between dependent ones and fills frames (`frames.rs`); the timeline (`timeline.rs`) submits them, and `wait.rs` answers the ticket
//! when it has passed the last of them.

mod arithmetic;
mod block;
mod caps;
mod device;
mod disk_cache;
mod errors;
mod frames;
mod memory;
mod parting;
pub mod pipelines;
mod probe;
mod raw;
mod reports;
pub mod spirv;
mod staging;
mod stream;
mod timeline;
mod wait;

pub use device::{Options, VulkanBackend};
pub use disk_cache::CachePlace;
pub use memory::{Faults, VulkanBuffer};
pub use pipelines::{Pipeline, Pipelines};
pub use probe::{Found, found, probe};
pub use wait::Counts;
