//! Runs programs: decodes them, infers types, schedules, fuses, resolves kernels to backends, and keeps the memory.
//!
//! The engine is a function: `run(program, inputs, params) -> outputs`. Nothing here knows JavaScript or a device driver.

mod about;
mod arena;
mod attention;
mod cache;
mod cost;
mod dedup;
mod executor;
#[cfg(feature = "fault")]
pub mod fault;
mod foreign;
mod fuse;
mod job;
mod limits;
mod narrow;
mod plan;
mod pool;
mod profile;
pub mod program;
mod reductions;
mod resolve;
mod rows;
mod run;
mod schedule;
mod session;
mod stats;
mod storage;
mod thread;
mod timeline;
mod types;
mod work;

pub use plan::{Plan, PlannedKernel};
pub use pool::DeviceMemory;
pub use profile::{KernelTime, Profiles, Report};
pub use resolve::HostRoutine;
pub use run::{Mode, Request, RunOutcome};
pub use session::{Config, InferredIds, Session, Strict};
pub use stats::{Fallback, Rewriting, Stats};
pub use storage::{Check, Completion, Tensor, WeakTensor};
pub use thread::{on_file_thread, on_flat_thread, on_reader_thread};
pub use timeline::{Span, Timeline, What};

use ferrotensor_core::backend::{Backend, DeviceClass, Peak};
use ferrotensor_core::registry::Registry;
use ferrotensor_core::{Error, Result};
use pool::{Budget, Pool};
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// What a process shares: devices, their memory, their executor threads.
pub struct Engine {
    registry: Registry,
    near: Vec<Place>,
    /// Of the devices that are looked for when one of them is named.
    far: OnceLock<Vec<Place>>,
    /// What kernels fall back to.
    cpu: Option<Arc<dyn Backend>>,
    budget: Arc<Budget>,
    host: HostRoutine,
}

/// What belongs to a device.
struct Place {
    pool: Arc<Pool>,
    executor: executor::Executor,
}

impl Place {
    fn new(device: &Arc<dyn Backend>, budget: &Arc<Budget>) -> Place {
        Place {
            pool: Arc::new(Pool::new(Arc::clone(device), Arc::clone(budget))),
            executor: executor::Executor::new(device.caps().name.clone()),
        }
    }
}

impl Engine {
    /// An engine over the registry's devices; `host` runs the routines that a device has no kernel for.
    pub fn new(registry: Registry, host: HostRoutine) -> Arc<Engine> {
        let cpu = registry.near().find(|d| d.caps().class == DeviceClass::Cpu).cloned();
        let budget = Arc::new(Budget::new(limits::default_budget(cpu.as_ref().map_or(0, |cpu| cpu.mem().total))));
        let near = registry.near().map(|d| Place::new(d, &budget)).collect();
        Arc::new(Engine { registry, near, far: OnceLock::new(), cpu, budget, host })
    }

    /// What belongs to the device of this number.
    ///
    /// # Errors
    /// `Code::Device` for a number without a device.
    fn place(&self, device: u16) -> Result<&Place> {
        let (number, near) = (device as usize, self.near.len());
        let far =
            || self.far.get_or_init(|| self.registry.devices().skip(near).map(|d| Place::new(d, &self.budget)).collect());
        let place = self.near.get(number).or_else(|| far().get(number - near));
        place.ok_or_else(|| Error::device(format!("there is no device number {device}")))
    }

    /// The device of this number.
    ///
    /// # Errors
    /// `Code::Device` for a number without a device.
    pub fn device(&self, number: u16) -> Result<&Arc<dyn Backend>> {
        Ok(self.place(number)?.pool.backend())
    }

    /// Of the devices that something has been asked of.
    fn pools(&self) -> impl Iterator<Item = &Arc<Pool>> {
        self.near.iter().chain(self.far.get().into_iter().flatten()).map(|p| &p.pool)
    }

    /// The devices of this process.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Bytes live, cached and at their peak, for each device that something has been asked of.
    pub fn memory(&self) -> Vec<DeviceMemory> {
        self.pools().map(|p| p.memory()).collect()
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
        for pool in self.pools() {
            pool.backend().settle();
        }
    }

    /// What the named devices can do at best, of those that know.
    fn peaks(&self, names: &HashSet<&str>) -> Vec<(String, Peak)> {
        let devices = self.pools().map(|p| p.backend()).filter(|d| names.contains(d.caps().name.as_str()));
        devices.filter_map(|d| Some((d.caps().name.clone(), d.peak()?))).collect()
    }

    /// Gives cached memory back.
    pub fn trim(&self) {
        for pool in self.pools() {
            pool.trim();
        }
    }
}
