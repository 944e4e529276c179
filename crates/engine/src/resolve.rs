//! Which code runs a kernel: the device itself, else the host's routine, else the CPU with counted transfers. What the device
//! lacks and could have in other words was rewritten before ([`ferrotensor_ops::rewrite`]).

use crate::cache::TwoGenerations;
use ferrotensor_core::backend::{Backend, DeviceClass, Prepared};
use ferrotensor_core::kernel::{Kernel, Routine};
use ferrotensor_core::{Error, Result};
use std::sync::Arc;

/// Runs a routine on host memory: dense row-major operands as (bytes, dims). `ferrotensor_host::run` in the product.
pub type HostRoutine = fn(&Routine, &[(&[u8], &[usize])], &mut [(&mut [u8], &[usize])]) -> Result<()>;

/// What runs one kernel.
#[derive(Clone)]
pub enum Target {
    /// The tensors' device.
    Native(Arc<dyn Prepared>),
    /// The host's routine, on downloaded operands.
    Host(Routine),
    /// The CPU backend, on downloaded operands.
    Cpu(Arc<dyn Prepared>),
}

/// A resolved kernel; the reason says why it is not native.
#[derive(Clone)]
pub struct Resolved {
    /// What is computed.
    pub kernel: Arc<Kernel>,
    /// What runs it.
    pub target: Target,
    /// Why the device does not; nothing where it does, or has the routine from the host anyway.
    pub reason: Option<String>,
    /// The CPU's kernel, for operands that walk backwards on a device that cannot.
    pub backwards: Option<Arc<dyn Prepared>>,
}

/// Prepared kernels of one device, shared by schedules.
pub struct Resolver {
    cache: TwoGenerations<Arc<Kernel>, Resolved>,
}

impl Resolver {
    /// Nothing prepared yet.
    pub fn new() -> Self {
        Resolver { cache: TwoGenerations::new(1024) }
    }

    /// What runs a kernel for tensors on `device`.
    ///
    /// # Errors
    /// `Code::Unsupported` when nothing does.
    pub fn resolve(&mut self, kernel: &Kernel, device: &dyn Backend, cpu: Option<&dyn Backend>) -> Result<Resolved> {
        if let Some(known) = self.cache.get(kernel) {
            return Ok(known);
        }
        let on_cpu = || cpu.filter(|cpu| cpu.supports(kernel).is_ok()).map(|cpu| cpu.prepare(kernel)).transpose();
        let (target, reason) = match (device.supports(kernel), kernel) {
            (Ok(()), _) => (Target::Native(device.prepare(kernel)?), None),
            // The host's routines are the CPU's own.
            (Err(reason), Kernel::Routine(routine)) => {
                (Target::Host(*routine), (device.caps().class != DeviceClass::Cpu).then_some(reason))
            }
            (Err(reason), _) => match on_cpu()? {
                Some(prepared) => (Target::Cpu(prepared), Some(reason)),
                None => return Err(Error::unsupported(format!("{}: {reason}", device.caps().name))),
            },
        };
        let one_way = matches!(target, Target::Native(_)) && !device.caps().negative_strides;
        let backwards = if one_way { on_cpu()? } else { None };
        let kernel = Arc::new(kernel.clone());
        let resolved = Resolved { kernel: Arc::clone(&kernel), target, reason, backwards };
        self.cache.insert(kernel, resolved.clone());
        Ok(resolved)
    }
}
