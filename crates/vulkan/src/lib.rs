//! The Vulkan backend: devices found through the system's Vulkan loader, kernels as SPIR-V written at run time.
//!
//! vulkano gives instance, device, memory and pipelines; recording and submission go through its function tables
//! (`raw.rs`), because its own recorders cost 3 to 10 times as much for each dispatch. Nothing is linked: where there is no
//! loader, [`probe`] says so in words.
//!
//! A kernel becomes a plain program (`ferrotensor_core::scalar::plain`), then code (`emit/`), SPIR-V (`spirv.rs`) and a pipeline
//! (`pipelines.rs`); a launch becomes dispatches of it (`launch/`).
//!
//! The way of a batch: `device.rs` takes it, each kernel (`kernel.rs`, `lower.rs`) records its dispatches into a
//! `Recorder` (`stream.rs`), which puts barriers between dependent ones (`hazards.rs`) and fills frames (`frames.rs`); the
//! timeline (`timeline.rs`) submits them, and `wait.rs` answers the ticket when it has passed the last of them.

mod arithmetic;
mod block;
mod can;
mod caps;
mod device;
mod disk_cache;
pub mod emit;
mod errors;
mod frames;
mod free_list;
mod hazards;
pub mod kernel;
mod launch;
mod loss;
pub mod lower;
mod memory;
mod parting;
pub mod pipelines;
mod probe;
mod raw;
pub mod reports;
pub mod spirv;
mod staging;
pub mod stream;
mod timeline;
mod wait;

pub use can::Can;
pub use device::{Options, VulkanBackend};
pub use disk_cache::CachePlace;
pub use kernel::{Program, Ready};
pub use memory::{Faults, VulkanBuffer};
pub use pipelines::{Pipeline, Pipelines};
pub use probe::{Found, found, probe};
pub use stream::{Binding, Recorder};
pub use wait::Counts;
