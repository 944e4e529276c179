//! The Vulkan backend, as one test binary: each one links the whole backend. What asks for a process of its own is beside it (`end`,
//! `steady`); what is of kernels and not of Vulkan is in `crates/gpu/tests/suite`.

mod batches;
mod emit_cost;
mod host;
mod memory;
mod pipelines;
mod planted;
mod probing;
mod product_speed;
mod record_cost;
mod rig;
mod snapshots;
#[path = "../../../gpu/tests/suite/mod.rs"]
mod suite;
