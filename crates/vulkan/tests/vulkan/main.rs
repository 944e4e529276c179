//! The Vulkan backend, as one test binary: each one links the whole backend. What asks for a process of its own is beside it (`end`,
//! `steady`).

mod batches;
mod careful;
mod contract;
mod convolution;
mod emit_cost;
mod emitter;
mod indexed;
mod kernels;
mod memory;
mod pipelines;
mod planted;
mod poor;
mod probing;
mod product_speed;
mod record_cost;
mod rig;
mod rows;
mod scans;
mod snapshots;
mod sort;
