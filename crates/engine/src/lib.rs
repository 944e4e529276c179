//! Runs programs: decodes them, infers types, schedules, fuses, resolves kernels to backends, and keeps the memory.
//!
//! The engine is a function: `run(program, inputs, params) -> outputs`. Nothing here knows JavaScript or a device driver.

mod arena;
mod cache;
mod cost;
mod executor;
#[cfg(feature = "fault")]
pub mod fault;
mod foreign;
mod fuse;
mod job;
mod limits;
mod pool;
pub mod program;
mod resolve;
mod run;
mod schedule;
mod session;
mod stats;
mod storage;
mod thread;
mod types;

pub use pool::DeviceMemory;
pub use resolve::HostRoutine;
pub use run::{Mode, Request, RunOutcome};
pub use session::{Config, InferredIds, Session, Strict};
pub use stats::{Fallback, Rewriting, Stats};
pub use storage::{Completion, Tensor, WeakTensor};
pub use thread::{on_file_thread, on_reader_thread};

use ferrotensor_core::backend::{Backend, DeviceClass};
use ferrotensor_core::registry::Registry;
use pool::{Budget, Pool};
use std::sync::Arc;

/// What a process shares: devices, their memory, their executor threads.
pub struct Engine {
    registry: Registry,
    pools: Vec<Arc<Pool>>,
    executors: Vec<executor::Executor>,
    /// What kernels fall back to.
    cpu: Option<Arc<dyn Backend>>,
    budget: Arc<Budget>,
    host: HostRoutine,
}

impl Engine {
    /// An engine over the registry's devices; `host` runs the routines that a device has no kernel for.
    pub fn new(registry: Registry, host: HostRoutine) -> Arc<Engine> {
        let devices = registry.devices();
        let cpu = devices.iter().find(|d| d.caps().class == DeviceClass::Cpu).cloned();
        let budget = Arc::new(Budget::new(limits::default_budget(cpu.as_ref().map_or(0, |cpu| cpu.mem().total))));
        let pools = devices.iter().map(|d| Arc::new(Pool::new(Arc::clone(d), Arc::clone(&budget)))).collect();
        let executors = devices.iter().map(|d| executor::Executor::new(d.caps().name.clone())).collect();
        Arc::new(Engine { registry, pools, executors, cpu, budget, host })
    }

    /// The devices of this process.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Bytes live, cached and at their peak, for each device.
    pub fn memory(&self) -> Vec<DeviceMemory> {
        self.pools.iter().map(|p| p.memory()).collect()
    }

    /// Bytes in tensors and running programs, over all devices.
    pub fn live_bytes(&self) -> usize {
        self.budget.live()
    }

    /// The budget in bytes.
    pub fn limit(&self) -> usize {
        self.budget.limit()
    }

    /// Changes the budget.
    pub fn set_limit(&self, bytes: usize) {
        self.budget.set_limit(bytes);
    }

    /// Called when an environment has ended: the process may be about to.
    pub fn settle(&self) {
        for pool in &self.pools {
            pool.backend().settle();
        }
    }

    /// Gives cached memory back.
    pub fn trim(&self) {
        for pool in &self.pools {
            pool.trim();
        }
    }
}
