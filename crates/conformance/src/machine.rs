//! The variants a case runs on: the CPU backend at each instruction-set tier and the hostile device, each with and without fusion, and
//! a Vulkan device where there is one, with one of the two.

use crate::case::{Case, Operand, Placement};
use ferrotensor_core::backend::{Backend, DeviceClass};
use ferrotensor_core::reference::Array;
use ferrotensor_core::registry::{Entry, Registry};
use ferrotensor_core::{Error, Result};
use ferrotensor_cpu::{CpuBackend, Tier};
use ferrotensor_engine::program::head;
use ferrotensor_engine::{Config, Engine, Mode, Request, RunOutcome, Session, Stats, Strict, Tensor};
use ferrotensor_fakes::{Faults, Hostile};
use ferrotensor_gpu::Can;
use ferrotensor_ops::dtype_rule::Arg;
use ferrotensor_vulkan::spirv::Modes;
use ferrotensor_vulkan::{Options, VulkanBackend};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Where tensors are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Device {
    /// On the CPU, at one of its tiers.
    Cpu(Tier),
    /// On a device that maps float32 and nothing else (`crates/fakes`); what it lacks falls back to the CPU as it is.
    Hostile,
    /// On the first Vulkan device.
    Vulkan,
}

impl Device {
    /// Those of this machine, the CPU's tiers first.
    pub fn present() -> Vec<Device> {
        let vulkan = vulkan().is_ok().then_some(Device::Vulkan);
        tiers().0.into_iter().map(Device::Cpu).chain([Device::Hostile]).chain(vulkan).collect()
    }

    /// Whether it is the processor's own.
    pub fn is_cpu(self) -> bool {
        matches!(self, Device::Cpu(_))
    }

    /// Name in tests.
    pub fn name(self) -> &'static str {
        match self {
            Device::Cpu(tier) => tier.name(),
            Device::Hostile | Device::Vulkan => self.backend(),
        }
    }

    /// Its backend, as `EXPECT_BACKENDS` and the files of `expected/` name it.
    pub fn backend(self) -> &'static str {
        match self {
            Device::Cpu(_) => "cpu",
            Device::Hostile => "hostile",
            Device::Vulkan => "vulkan",
        }
    }
}

/// The Vulkan devices of all threads.
static OPENED: Mutex<Vec<Arc<VulkanBackend>>> = Mutex::new(Vec::new());

/// The Vulkan device that all machines of a thread share: its pipelines are compiled once. Each thread has its own, since a device in software
/// compiles on one thread, for which all others would wait. `VULKAN_WITHOUT` takes something away from it.
///
/// # Errors
/// Why there is none.
pub fn vulkan() -> Result<Arc<VulkanBackend>, String> {
    thread_local! {
        static DEVICE: OnceCell<Result<Arc<VulkanBackend>, String>> = const { OnceCell::new() };
    }
    let open = || {
        let found = ferrotensor_vulkan::found()?.into_iter().next().ok_or("no device")?;
        let names = std::env::var("VULKAN_WITHOUT").unwrap_or_default();
        let (can, modes) = lacking(found.can, &names)?;
        let device = VulkanBackend::with(found.physical, "vulkan:0", can, Options { modes, ..Options::default() });
        let device = Arc::new(device);
        OPENED.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&device));
        Ok(device)
    };
    DEVICE.with(|device| device.get_or_init(open).clone())
}

/// Pipelines that all of them compiled.
pub fn compiled() -> usize {
    OPENED.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|device| device.counts().compiled).sum()
}

/// What may be taken from a device, by the name it has in `VULKAN_WITHOUT`.
type Lack = (&'static str, fn(&mut Can));
/// What a device is asked about its arithmetic at opening: the answer no, each by itself.
const ANSWERS: [Lack; 3] =
    [("roots", |c| c.roots = false), ("quotients", |c| c.quotients = false), ("subnormals", |c| c.subnormals = false)];
const LACKS: [Lack; 6] = [
    ("float64", |c| c.float64 = false),
    ("int64", |c| c.int64 = false),
    ("16-bit", |c| c.storage16 = false),
    ("8-bit", |c| c.storage8 = false),
    ("arithmetic", |c| ANSWERS.iter().for_each(|(_, take)| take(c))),
    ("room", |c| (c.max_range, c.max_groups, c.max_shared, c.max_buffers) = (64 << 10, 7, 16 << 10, 4)),
];

/// Kernels ask nothing of floats.
const CONTROLS: &str = "controls";

/// What a device can do without these, named with commas, and what kernels ask of floats, where not all that it offers.
fn lacking(mut can: Can, names: &str) -> Result<(Can, Option<Modes>), String> {
    let mut modes = None;
    for name in names.split(',').filter(|name| !name.is_empty()) {
        if name == CONTROLS {
            modes = Some(Modes::default());
            continue;
        }
        let (_, take) = LACKS.iter().chain(&ANSWERS).find(|(known, _)| *known == name).ok_or_else(|| {
            let known = LACKS.iter().chain(&ANSWERS).map(|(known, _)| *known);
            format!("VULKAN_WITHOUT={name}: there are {}", known.chain([CONTROLS]).collect::<Vec<_>>().join(", "))
        })?;
        take(&mut can);
    }
    Ok((can, modes))
}

/// The answers about arithmetic that can be forced, by their names in `VULKAN_WITHOUT`.
pub fn answers() -> Vec<&'static str> {
    ANSWERS.iter().map(|(name, _)| *name).collect()
}

/// Those of them that are forced on a device without these, named with commas.
///
/// # Errors
/// A sentence for a name that nobody knows.
pub fn forced(names: &str) -> Result<Vec<&'static str>, String> {
    let whole = Can { roots: true, quotients: true, subnormals: true, ..Can::default() };
    let (poor, _) = lacking(whole, names)?;
    let is_forced = |take: &fn(&mut Can)| {
        let mut can = poor.clone();
        take(&mut can);
        can == poor
    };
    Ok(ANSWERS.iter().filter(|(_, take)| is_forced(take)).map(|(name, _)| *name).collect())
}

/// A session whose tensors are on one device, with one fusion setting.
pub struct Machine {
    session: Session,
    /// Number of the device.
    device: u16,
    /// The device, where it can tell how many bytes were carried.
    hostile: Option<Arc<Hostile>>,
}

/// The tiers this machine can run, and the names of those it cannot.
pub fn tiers() -> (Vec<Tier>, Vec<&'static str>) {
    let present = Tier::ALL.iter().copied().filter(|t| t.is_present()).collect();
    (present, Tier::ALL.iter().filter(|t| !t.is_present()).map(|t| t.name()).collect())
}

/// The newest tier this machine can run.
pub fn newest() -> Tier {
    tiers().0.last().copied().unwrap_or(Tier::Baseline)
}

impl Machine {
    /// A machine with tensors on a device.
    ///
    /// # Errors
    /// A sentence when this machine lacks the tier, or has no thread for the hostile device.
    pub fn new(device: Device, fusion: bool) -> Result<Machine, String> {
        match device {
            Device::Cpu(tier) => Ok(Machine::over(Arc::new(CpuBackend::new(tier)?), fusion)),
            Device::Hostile => {
                let hostile = Arc::new(Hostile::new(DeviceClass::Discrete, Arc::<Faults>::default())?);
                let cpu = Entry { name: "cpu", devices: ferrotensor_cpu::probe(), complete: true };
                let poor = Entry { name: "hostile", devices: Ok(vec![Arc::clone(&hostile) as _]), complete: true };
                Ok(Machine { session: session(vec![cpu, poor], fusion), device: 1, hostile: Some(hostile) })
            }
            Device::Vulkan => {
                let cpu = Entry { name: "cpu", devices: ferrotensor_cpu::probe(), complete: true };
                let gpu = Entry { name: "vulkan", devices: Ok(vec![vulkan()? as Arc<dyn Backend>]), complete: false };
                Ok(Machine { session: session(vec![cpu, gpu], fusion), device: 1, hostile: None })
            }
        }
    }

    /// A machine over any backend that calls itself the CPU.
    pub fn over(backend: Arc<dyn Backend>, fusion: bool) -> Machine {
        let entry = Entry { name: "cpu", devices: Ok(vec![backend]), complete: true };
        Machine { session: session(vec![entry], fusion), device: 0, hostile: None }
    }

    /// The number of its device in types and attributes.
    pub fn device(&self) -> u16 {
        self.device
    }

    /// The session, for programs that are no single call.
    pub fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// What was counted since the last call.
    pub fn take_stats(&mut self) -> Stats {
        let stats = self.session.stats();
        self.session.reset_stats();
        stats
    }

    /// Forgets types and schedules, so that thousands of cases do not fill the tables.
    pub fn forget(&mut self) {
        self.session.end_epoch();
    }

    /// Uploads an array.
    ///
    /// # Errors
    /// As [`Session::upload`].
    pub fn upload(&mut self, array: &Array) -> Result<(i32, Arc<Tensor>)> {
        let dims: Vec<f64> = array.dims().iter().map(|&d| d as f64).collect();
        let id = self.session.intern_type(array.dtype() as u8, &dims, self.device)?;
        let tensor = self.session.upload(id, array.bytes(), true)?;
        Ok((id, tensor.ok_or_else(|| Error::out_of_memory("the budget refused a forced upload"))?))
    }

    /// Uploads a tensor that lies as its placement says.
    ///
    /// # Errors
    /// Those of the view's program.
    pub fn place(&mut self, base: &Array, placement: Placement, dims: &[usize]) -> Result<(i32, Arc<Tensor>)> {
        let (base_id, tensor) = self.upload(base)?;
        let Some((name, words, numbers)) = placement.call(dims) else { return Ok((base_id, tensor)) };
        let op = ferrotensor_ops::find(name).ok_or_else(|| Error::internal("the table lost a view"))?;
        let attr = self.session.intern_attrs(op.id(), &words)?;
        let head = head(op.id(), 0, numbers.len());
        let params: Vec<u64> = numbers.iter().map(|n| n.to_bits()).collect();
        let count = op.variadic.then_some(1);
        let words: Vec<i32> = [0, base_id, head, attr].into_iter().chain(count).chain([0]).collect();
        let outputs = self.run(&words, &params, &[tensor], &[1])?;
        let sizes: Vec<f64> = dims.iter().map(|&d| d as f64).collect();
        let id = self.session.intern_type(base.dtype() as u8, &sizes, self.device)?;
        let view = outputs.into_iter().next().ok_or_else(|| Error::internal("no output"))?;
        let (layout, long) = (view.layout(), |axis: &usize| view.layout().dims()[*axis] > 1);
        let long: Vec<usize> = (0..dims.len()).filter(long).collect();
        let copied = match placement {
            _ if view.len() < 2 => false,
            Placement::Contiguous | Placement::Broadcast => false,
            Placement::Reversed => long.iter().all(|&a| layout.strides()[a] >= 0),
            Placement::Transposed => long.len() > 1 && layout.is_row_major(),
            Placement::Sliced => base.len() != view.len() && layout.is_row_major(),
        };
        if copied {
            return Err(Error::internal("the view was copied: its layout is not tested"));
        }
        Ok((id, view))
    }

    /// Runs program words.
    ///
    /// # Errors
    /// As [`Session::run`]; `Code::Internal` when the bytes carried to and from the device are not those that were counted.
    pub fn run(
        &mut self,
        words: &[i32],
        params: &[u64],
        inputs: &[Arc<Tensor>],
        outputs: &[i32],
    ) -> Result<Vec<Arc<Tensor>>> {
        let request = Request { words, params, inputs, outputs, mode: Mode::Sync, force: true };
        let before = self.carried();
        let outcome = self.session.run(&request)?;
        let after = self.carried();
        let tensors: Vec<Arc<Tensor>> = match outcome {
            RunOutcome::Done(tensors) => tensors.into_iter().collect(),
            RunOutcome::Refused { bytes } => {
                return Err(Error::out_of_memory(format!("a forced run of {bytes} bytes was refused")));
            }
        };
        if let (Some(before), Some(after)) = (before, after) {
            let (moved, counted) = (after.0 - before.0, after.1 - before.1);
            // A kernel that fails by its values has no result to carry.
            let failed = moved < counted && tensors.iter().any(|t| t.wait().is_err());
            if moved != counted && !failed {
                return Err(Error::internal(format!("{moved} bytes were carried, {counted} were counted")));
            }
        }
        Ok(tensors)
    }

    /// Bytes carried to and from the device, as the device and as the session count them.
    fn carried(&self) -> Option<(u64, u64)> {
        let counted = |hostile: &Arc<Hostile>| {
            let stats = self.session.stats();
            (hostile.moved(), stats.uploaded + stats.fallbacks.iter().map(|f| f.bytes).sum::<u64>())
        };
        self.hostile.as_ref().map(counted)
    }

    /// Runs a case: each output, or its error.
    ///
    /// # Errors
    /// What refuses the call as a whole.
    pub fn call(&mut self, case: &Case) -> Result<Vec<Result<Array>>> {
        let (mut words, mut tensors, mut slots, mut forms, mut weak) = (Vec::new(), Vec::new(), Vec::new(), 0, 0);
        for (i, operand) in case.operands.iter().enumerate() {
            let form = match operand {
                Operand::Tensor { base, placement, logical } => {
                    let (id, tensor) = self.place(base, *placement, logical.dims())?;
                    words.extend([0, id]);
                    slots.push(tensors.len() as i32);
                    tensors.push(tensor);
                    0
                }
                Operand::Weak(kind, _) => {
                    weak += 1;
                    match kind {
                        Arg::BigInt => 2,
                        Arg::Boolean => 3,
                        _ => 1,
                    }
                }
                Operand::Absent => 4,
            };
            forms |= form << (3 * i);
        }
        let mut attributes = case.words.clone();
        if let Some(word) = case.device_word {
            attributes[word] = f64::from(self.device);
        }
        let attr = self.session.intern_attrs(case.op.id(), &attributes)?;
        words.extend([head(case.op.id(), forms as u32, weak + case.numbers.len()), attr]);
        if case.op.variadic {
            words.push(case.operands.len() as i32);
        }
        words.extend(&slots);
        let first = tensors.len() as i32;
        let wanted: Vec<i32> = (0..case.op.outputs.len() as i32).map(|i| first + i).collect();
        let outputs = self.run(&words, &case.params(), &tensors, &wanted)?;
        Ok(outputs.iter().map(|t| Array::new(t.dtype(), t.layout().dims(), read(t)?)).collect())
    }
}

/// The dense bytes of a tensor, or the failure it remembers.
///
/// # Errors
/// As [`Tensor::wait`] and [`Tensor::read`].
pub fn read(tensor: &Tensor) -> Result<Vec<u8>> {
    tensor.wait()?;
    let mut out = vec![0xA5; tensor.len() * tensor.dtype().bytes()];
    tensor.read(&mut out)?;
    Ok(out)
}

fn session(entries: Vec<Entry>, fusion: bool) -> Session {
    let mut session = Session::new(Engine::new(Registry::of(entries), ferrotensor_host::run));
    session.set_config(Config { fusion, strict: Strict::Allow });
    session
}

thread_local! {
    static MACHINES: std::cell::RefCell<HashMap<(Device, bool), Machine>> = std::cell::RefCell::default();
}

/// Runs `f` with this thread's machine for a device and a fusion setting.
///
/// # Errors
/// As [`Machine::new`], and those of `f`.
pub fn with<R>(device: Device, fusion: bool, f: impl FnOnce(&mut Machine) -> Result<R, String>) -> Result<R, String> {
    MACHINES.with_borrow_mut(|machines| {
        let machine = match machines.entry((device, fusion)) {
            std::collections::hash_map::Entry::Occupied(e) => e.into_mut(),
            std::collections::hash_map::Entry::Vacant(e) => e.insert(Machine::new(device, fusion)?),
        };
        f(machine)
    })
}

static THREADS: Mutex<()> = Mutex::new(());

/// Estimated nanoseconds of what one thread is given at least: a hundredth of what is worth it, so that a few tiles are shared.
const GRAIN: u32 = 300;

/// Runs `f` with each number of kernel threads in turn. The number is the process's, so only one caller has its turn.
pub fn with_threads<R>(counts: &[usize], mut f: impl FnMut(usize) -> R) -> Vec<R> {
    let _turn = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    ferrotensor_cpu::set_grain(GRAIN);
    let run = |&n: &usize| {
        ferrotensor_cpu::set_threads(n);
        f(n)
    };
    let results = counts.iter().map(run).collect();
    ferrotensor_cpu::set_grain(ferrotensor_cpu::GRAIN);
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_from_a_device_is_gone_and_what_is_not_known_is_refused() {
        let rich = Can { float64: true, int64: true, max_range: 1 << 30, ..Can::default() };
        assert_eq!(lacking(rich.clone(), ""), Ok((rich.clone(), None)));
        let (poor, modes) = lacking(rich.clone(), "int64,room,controls").unwrap();
        assert_eq!(modes, Some(Modes::default()));
        assert_eq!((poor.float64, poor.int64, poor.max_range), (true, false, 64 << 10));
        assert!(lacking(rich, "float65").unwrap_err().contains("there are float64, int64"));
    }

    #[test]
    fn answers_are_forced_one_by_one_or_together() {
        assert_eq!(forced("float64,room"), Ok(vec![]));
        assert_eq!(forced("subnormals,float64"), Ok(vec!["subnormals"]));
        assert_eq!(forced("arithmetic"), Ok(answers()));
    }
}
