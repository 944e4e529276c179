//! The CPU backend: one source for several instruction sets, its own threads, and no knowledge of operations.
//!
//! Reading order: `backend.rs` (what the engine calls), `map/` (tile programs, the machine under everything), `reduce/`,
//! then the kernels that are a file each. `number/` holds the arithmetic of one element, `tier.rs` how one source becomes
//! one function for each instruction set, `parallel/` the threads, `memory.rs` the buffers, `cache.rs` what the
//! caches are told.

mod backend;
mod blas;
mod cache;
mod contract;
#[cfg(feature = "fault")]
pub mod fault;
mod flat;
mod gather;
mod indices;
mod kept;
mod launch;
mod map;
mod memory;
mod number;
mod parallel;
mod peak;
mod reduce;
mod rows;
mod scan;
mod scatter;
mod scratch;
mod sort;
mod tier;
mod window;

pub use backend::{CpuBackend, probe};
pub use flat::{EngineInfo, FlatArrays, FlatEngine, FlatOp, run as run_flat};
pub use memory::CpuBuffer;
pub use parallel::{GRAIN, set_grain, set_threads, threads};
pub use tier::Tier;
