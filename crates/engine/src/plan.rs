//! Plans: what a program would do, kernel by kernel, without doing it: on which device, why not on it, what other devices say.

use crate::Engine;
use crate::about::about;
use crate::resolve::{Resolved, Target};
use crate::schedule::{Schedule, Step, apply};
use crate::work;
use ferrotensor_core::Result;
use ferrotensor_core::backend::{Backend, DeviceClass};
use ferrotensor_core::kernel::Kernel;
use ferrotensor_core::layout::Layout;
use ferrotensor_ops::graph::Val;
use smallvec::{SmallVec, smallvec};

/// A planned program.
pub struct Plan {
    /// In the order in which they run.
    pub kernels: Vec<PlannedKernel>,
    /// Name and description of the tensors' device.
    pub device: (String, String),
    /// Bytes of temporaries.
    pub temporary: usize,
    /// Bytes of results.
    pub results: usize,
    /// Kernels that fusion saves.
    pub fused: u64,
}

/// One kernel of a plan.
pub struct PlannedKernel {
    /// Kind, operations, dtype and shape, in words, as in profiles.
    pub name: String,
    /// The device it runs on.
    pub device: String,
    /// Why it does not run on the tensors' device, where it does not.
    pub lacking: Option<String>,
    /// A copy that is made only where an operand does not lie as it must.
    pub is_conditional: bool,
    /// Bytes read and written.
    pub moved: (u64, u64),
    /// Bytes that go from the tensors' device to the CPU and back.
    pub carried: u64,
    /// Floating-point operations, where they are known.
    pub flops: Option<f64>,
    /// Other devices that have it.
    pub alternatives: Vec<String>,
    /// Devices and backends that do not, with the reason.
    pub rejected: Vec<(String, String)>,
}

/// The plan of a schedule.
///
/// # Errors
/// `Code::Device` for a device that is gone, `Code::Shape` for shapes too large to lie anywhere.
pub fn plan(engine: &Engine, schedule: &Schedule) -> Result<Plan> {
    let home = engine.device(schedule.device)?;
    let mut kernels = Vec::new();
    let mut layouts = schedule.values.iter().map(|(_, dims)| Layout::dense(dims)).collect::<Result<Vec<_>>>()?;
    for (n, step) in schedule.steps.iter().enumerate() {
        let (resolved, is_conditional, inputs, outputs) = match step {
            Step::Launch { resolved, inputs, to, outputs, .. } => {
                let outputs = (0..outputs.len() as u32).map(|o| Val(to.0 + o)).collect();
                (resolved, false, inputs.clone(), outputs)
            }
            Step::CopyInto { resolved, from, .. } => (resolved, false, smallvec![*from], smallvec![*from]),
            Step::View { of, to, view, copy } => {
                // Positions that are numbers of a run do not change how many elements there are: 0 will do.
                let seen = apply(&layouts[of.0 as usize], view, &vec![0; schedule.params]);
                if let Ok(Some(seen)) = seen {
                    layouts[to.0 as usize] = seen;
                }
                let Some(copy) = copy else { continue };
                (&copy.resolved, true, smallvec![*to], SmallVec::<[Val; 1]>::from_elem(*to, 1))
            }
            Step::Reserve { .. } => continue,
        };
        let Some(about) = about(schedule, n as u32) else { continue };
        let moved = {
            let of = |values: &[Val]| values.iter().map(|v| &layouts[v.0 as usize]).collect::<SmallVec<[_; 4]>>();
            work::moved(about.kernel, of(&inputs).into_iter(), of(&outputs).into_iter())
        };
        let device = place(resolved, &**home);
        let (alternatives, rejected) = elsewhere(engine, about.kernel, &device);
        kernels.push(PlannedKernel {
            name: about.name(),
            carried: if device == home.caps().name { 0 } else { moved.read + moved.written },
            device,
            lacking: resolved.reason.clone(),
            is_conditional,
            moved: (moved.read, moved.written),
            flops: about.flops(),
            alternatives,
            rejected,
        });
    }
    let caps = home.caps();
    Ok(Plan {
        kernels,
        device: (caps.name.clone(), caps.description.clone()),
        temporary: schedule.arena,
        results: schedule.own.iter().sum(),
        fused: schedule.fused,
    })
}

/// The device that runs a kernel of tensors on `home`.
fn place(resolved: &Resolved, home: &dyn Backend) -> String {
    match (&resolved.target, &resolved.reason) {
        (Target::Native(_), _) | (Target::Host(_), None) => home.caps().name.clone(),
        (Target::Host(_) | Target::Cpu(_), _) => "cpu".into(),
    }
}

/// What all devices but the chosen one say to a kernel, and why backends without devices have none.
fn elsewhere(engine: &Engine, kernel: &Kernel, chosen: &str) -> (Vec<String>, Vec<(String, String)>) {
    let (mut have, mut lack) = (Vec::new(), Vec::new());
    for entry in engine.registry().entries() {
        let devices = match &entry.devices {
            Ok(devices) => devices,
            Err(reason) => {
                lack.push((entry.name.to_owned(), reason.clone()));
                continue;
            }
        };
        for device in devices.iter().filter(|device| device.caps().name != chosen) {
            let caps = device.caps();
            // The host's routines are the CPU's own.
            let is_hosts = matches!(kernel, Kernel::Routine(_)) && caps.class == DeviceClass::Cpu;
            match device.supports(kernel) {
                Ok(()) => have.push(caps.name.clone()),
                Err(_) if is_hosts => have.push(caps.name.clone()),
                Err(reason) => lack.push((caps.name.clone(), reason)),
            }
        }
    }
    (have, lack)
}
