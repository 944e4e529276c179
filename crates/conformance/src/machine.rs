//! The variants a case runs on: the CPU backend at each instruction-set tier, its engine with and without fusion.

use crate::case::{Case, Operand, Placement};
use ferrotensor_core::backend::Backend;
use ferrotensor_core::reference::Array;
use ferrotensor_core::registry::{Probe, Registry};
use ferrotensor_core::{Error, Result};
use ferrotensor_cpu::{CpuBackend, Tier};
use ferrotensor_engine::{Config, Engine, Mode, Request, RunOutcome, Session, Stats, Strict, Tensor};
use ferrotensor_ops::dtype_rule::Arg;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A session on one tier with one fusion setting.
pub struct Machine {
    session: Session,
}

fn probe_tier<const N: usize>() -> Result<Vec<Arc<dyn Backend>>, String> {
    let tier = Tier::ALL.get(N).ok_or("this build has no such tier")?;
    Ok(vec![Arc::new(CpuBackend::new(*tier)?)])
}

const TIER_PROBES: [Probe; 4] = [probe_tier::<0>, probe_tier::<1>, probe_tier::<2>, probe_tier::<3>];

/// The tiers this machine can run, and the names of those it cannot.
pub fn tiers() -> (Vec<Tier>, Vec<&'static str>) {
    let present = Tier::ALL.iter().copied().filter(|t| t.is_present()).collect();
    (present, Tier::ALL.iter().filter(|t| !t.is_present()).map(|t| t.name()).collect())
}

impl Machine {
    /// A machine over the CPU restricted to a tier.
    ///
    /// # Errors
    /// A sentence when this machine lacks the tier.
    pub fn new(tier: Tier, fusion: bool) -> Result<Machine, String> {
        let at = Tier::ALL.iter().position(|t| *t == tier).ok_or("unknown tier")?;
        Machine::over(*TIER_PROBES.get(at).ok_or("add a probe for this tier")?, fusion)
    }

    /// A machine over any backend.
    ///
    /// # Errors
    /// The probe's sentence.
    pub fn over(probe: Probe, fusion: bool) -> Result<Machine, String> {
        let registry = Registry::new(&[("cpu", probe)]);
        if let Some(Err(reason)) = registry.entries().first().map(|e| &e.devices) {
            return Err(reason.clone());
        }
        let mut session = Session::new(Engine::new(registry, ferrotensor_host::run));
        session.set_config(Config { fusion, strict: Strict::Allow });
        Ok(Machine { session })
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
        let id = self.session.intern_type(array.dtype() as u8, &dims, 0)?;
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
        let head = op.id() as i32 | (numbers.len() as i32) << 24;
        let params: Vec<u64> = numbers.iter().map(|n| n.to_bits()).collect();
        let count = op.variadic.then_some(1);
        let words: Vec<i32> = [0, base_id, head, attr].into_iter().chain(count).chain([0]).collect();
        let outputs = self.run(&words, &params, &[tensor], &[1])?;
        let sizes: Vec<f64> = dims.iter().map(|&d| d as f64).collect();
        let id = self.session.intern_type(base.dtype() as u8, &sizes, 0)?;
        let view = outputs.into_iter().next().ok_or_else(|| Error::internal("no output"))?;
        if placement != Placement::Broadcast
            && !view.is_empty()
            && view.len() > 1
            && view.layout().is_row_major()
            && base.len() != view.len()
        {
            return Err(Error::internal("the view was copied: its layout is not tested"));
        }
        Ok((id, view))
    }

    /// Runs program words.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn run(
        &mut self,
        words: &[i32],
        params: &[u64],
        inputs: &[Arc<Tensor>],
        outputs: &[i32],
    ) -> Result<Vec<Arc<Tensor>>> {
        let request = Request { words, params, inputs, outputs, mode: Mode::Sync, force: true };
        match self.session.run(&request)? {
            RunOutcome::Done(tensors) => Ok(tensors.into_iter().collect()),
            RunOutcome::Refused { bytes } => Err(Error::out_of_memory(format!("a forced run of {bytes} bytes was refused"))),
        }
    }

    /// Runs a case: the dense bytes of each output, or its error.
    ///
    /// # Errors
    /// What refuses the call as a whole.
    pub fn call(&mut self, case: &Case) -> Result<Vec<Result<Vec<u8>>>> {
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
        let attr = self.session.intern_attrs(case.op.id(), &case.words)?;
        words.extend([case.op.id() as i32 | forms << 12 | ((weak + case.numbers.len()) as i32) << 24, attr]);
        if case.op.variadic {
            words.push(case.operands.len() as i32);
        }
        words.extend(&slots);
        let first = tensors.len() as i32;
        let wanted: Vec<i32> = (0..case.op.outputs.len() as i32).map(|i| first + i).collect();
        let outputs = self.run(&words, &case.params(), &tensors, &wanted)?;
        Ok(outputs.iter().map(|t| read(t)).collect())
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

thread_local! {
    static MACHINES: std::cell::RefCell<HashMap<(Tier, bool), Machine>> = std::cell::RefCell::default();
}

/// Runs `f` with this thread's machine for a tier and a fusion setting.
///
/// # Errors
/// As [`Machine::new`], and those of `f`.
pub fn with<R>(tier: Tier, fusion: bool, f: impl FnOnce(&mut Machine) -> Result<R, String>) -> Result<R, String> {
    MACHINES.with_borrow_mut(|machines| {
        let machine = match machines.entry((tier, fusion)) {
            std::collections::hash_map::Entry::Occupied(e) => e.into_mut(),
            std::collections::hash_map::Entry::Vacant(e) => e.insert(Machine::new(tier, fusion)?),
        };
        f(machine)
    })
}

static THREADS: Mutex<()> = Mutex::new(());

/// Runs `f` with each number of kernel threads in turn. The number is the process's, so only one caller has its turn.
pub fn with_threads<R>(counts: &[usize], mut f: impl FnMut(usize) -> R) -> Vec<R> {
    let _turn = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    counts
        .iter()
        .map(|&n| {
            ferrotensor_cpu::set_threads(n);
            f(n)
        })
        .collect()
}
