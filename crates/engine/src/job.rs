//! One run of a schedule: bound operands on the way to the backends, and what became of them.

use crate::pool::Block;
use crate::resolve::{HostRoutine, Target};
use crate::schedule::{Schedule, Step};
use crate::stats::Stats;
use crate::storage::{Completion, Storage};
use ferrotensor_core::backend::{Backend, Batch, Launch, Operand, Outcome, Ticket};
use ferrotensor_core::kernel::Routine;
use ferrotensor_core::{DType, Error, Result};
use ferrotensor_ops::def::by_id;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A kernel that runs off the device: operands are downloaded, results uploaded.
pub struct Foreign {
    /// What runs it.
    pub target: Target,
    /// Dense inputs with their dtypes.
    pub inputs: SmallVec<[(Operand, DType); 3]>,
    /// Dense outputs, each at the start of its own buffer.
    pub outputs: SmallVec<[(Operand, DType); 1]>,
    /// Launch parameters.
    pub params: SmallVec<[u64; 4]>,
}

/// Work in order.
pub enum Work {
    /// Launches on the device, each with its step.
    Device(Vec<Launch>, Vec<u32>),
    /// A kernel that runs elsewhere, with its step.
    Foreign(Box<Foreign>, u32),
}

/// A bound program.
pub struct Job {
    /// What it runs.
    pub schedule: Arc<Schedule>,
    /// Bound work.
    pub work: SmallVec<[Work; 1]>,
    /// Storages of the inputs, kept and asked for earlier failures.
    pub inputs: SmallVec<[Arc<Storage>; 4]>,
    /// Its own storages, by number.
    pub own: SmallVec<[Option<Arc<Storage>>; 2]>,
    /// Temporaries.
    pub arena: Option<Block>,
    /// The tensors' device.
    pub device: Arc<dyn Backend>,
    /// The CPU, for fallbacks.
    pub cpu: Option<Arc<dyn Backend>>,
    /// The host's routines.
    pub host: HostRoutine,
    /// Set when its environment is gone.
    pub abandoned: Arc<AtomicBool>,
    /// Ended when the job has.
    pub completion: Option<Arc<Completion>>,
}

/// How long one wait on a device lasts before the abandoned flag is looked at again.
const WAIT_SLICE: Duration = Duration::from_millis(100);

impl Job {
    /// Whether its inputs have values.
    pub fn is_runnable(&self) -> bool {
        self.inputs.iter().all(|s| s.is_ready())
    }

    /// Runs everything, marks what failed, and ends the completion.
    pub fn run(mut self) {
        let failures = self.execute();
        let failed_input = self.inputs.iter().any(|s| s.error().is_some());
        if failed_input || !failures.is_empty() {
            self.poison(&failures);
        }
        self.own.clear();
        self.inputs.clear();
        self.arena = None;
        if let Some(completion) = self.completion.take() {
            completion.finish();
        }
    }

    /// Failures by step.
    fn execute(&mut self) -> Vec<(u32, Error)> {
        let mut failures = Vec::new();
        for work in std::mem::take(&mut self.work) {
            if self.abandoned.load(Ordering::Relaxed) {
                failures.push((0, Error::internal("the environment that asked for this has ended")));
                return failures;
            }
            match work {
                Work::Device(launches, steps) => {
                    let outcome = self.submit(launches);
                    failures.extend(outcome.failed.into_iter().map(|(i, e)| (steps.get(i).copied().unwrap_or(0), e)));
                    if let Some(lost) = outcome.lost {
                        failures.extend(steps.iter().map(|&s| (s, lost.clone())));
                    }
                }
                Work::Foreign(foreign, step) => {
                    if let Err(e) = self.foreign(&foreign) {
                        failures.push((step, e));
                    }
                }
            }
        }
        failures
    }

    fn submit(&self, launches: Vec<Launch>) -> Outcome {
        submit_and_wait(&*self.device, launches, &self.abandoned)
    }

    fn foreign(&self, foreign: &Foreign) -> Result<()> {
        let ins = foreign.inputs.iter().map(|(o, d)| download(&*self.device, o, *d)).collect::<Result<Vec<_>>>()?;
        let mut outs: Vec<Vec<u64>> = Vec::new();
        for (o, d) in &foreign.outputs {
            outs.push(host_memory(o.layout.len() * d.bytes())?);
        }
        match (&foreign.target, &self.cpu) {
            (Target::Host(routine), _) => self.host_routine(routine, foreign, &ins, &mut outs)?,
            (Target::Cpu(kernel), Some(cpu)) => {
                let mut operands: Vec<Operand> = Vec::new();
                for (bytes, (o, _)) in ins.iter().zip(&foreign.inputs) {
                    let buffer = cpu.alloc(bytes.len() * 8)?;
                    cpu.upload(bytes_of(bytes), &buffer)?;
                    operands.push(Operand { buffer, layout: ferrotensor_core::Layout::dense(o.layout.dims())? });
                }
                let mut results: SmallVec<[Operand; 1]> = SmallVec::new();
                for (bytes, (o, _)) in outs.iter().zip(&foreign.outputs) {
                    let buffer = cpu.alloc(bytes.len() * 8)?;
                    results.push(Operand { buffer, layout: ferrotensor_core::Layout::dense(o.layout.dims())? });
                }
                let launch = Launch {
                    kernel: Arc::clone(kernel),
                    inputs: operands.into(),
                    outputs: results.clone(),
                    params: foreign.params.clone(),
                };
                run_one(&**cpu, launch, &self.abandoned)?;
                for (bytes, o) in outs.iter_mut().zip(&results) {
                    cpu.download(&o.buffer, 0, bytes_mut(bytes))?;
                }
            }
            _ => return Err(Error::internal("no target for a foreign kernel")),
        }
        for (bytes, (o, d)) in outs.iter().zip(&foreign.outputs) {
            let n = o.layout.len() * d.bytes();
            self.device.upload(&bytes_of(bytes)[..n], &o.buffer)?;
        }
        Ok(())
    }

    fn host_routine(&self, routine: &Routine, f: &Foreign, ins: &[Vec<u64>], outs: &mut [Vec<u64>]) -> Result<()> {
        let inputs: Vec<(&[u8], &[usize])> = ins
            .iter()
            .zip(&f.inputs)
            .map(|(b, (o, d))| (&bytes_of(b)[..o.layout.len() * d.bytes()], o.layout.dims()))
            .collect();
        let mut outputs: Vec<(&mut [u8], &[usize])> = outs
            .iter_mut()
            .zip(&f.outputs)
            .map(|(b, (o, d))| (&mut bytes_mut(b)[..o.layout.len() * d.bytes()], o.layout.dims()))
            .collect();
        (self.host)(routine, &inputs, &mut outputs)
    }

    /// Marks the stored values that depend on a failure, and nothing else.
    fn poison(&self, failures: &[(u32, Error)]) {
        let schedule = &self.schedule;
        let mut bad: Vec<Option<Error>> = vec![None; schedule.values.len()];
        for (v, storage) in schedule.input_values.iter().zip(&self.inputs) {
            bad[v.0 as usize] = storage.error().cloned();
        }
        for (n, step) in schedule.steps.iter().enumerate() {
            let own = || {
                let (_, e) = failures.iter().find(|(s, _)| *s as usize == n)?;
                let name = by_id(schedule.ops[n]).map_or("".into(), |op| op.path());
                Some(e.clone().in_op(&name))
            };
            let of = |v: &ferrotensor_ops::graph::Val| bad[v.0 as usize].clone();
            match step {
                Step::View { of: from, to, copy, .. } => {
                    let e = of(from).or_else(own);
                    if let (Some(e), Some(copy)) = (&e, copy) {
                        self.fail(copy.place, e);
                    }
                    bad[to.0 as usize] = e;
                }
                Step::Launch { inputs, to, outputs, .. } => {
                    if let Some(e) = inputs.iter().find_map(of).or_else(own) {
                        for (i, place) in outputs.iter().enumerate() {
                            bad[to.0 as usize + i] = Some(e.clone());
                            self.fail(*place, &e);
                        }
                    }
                }
                Step::Reserve { .. } => {}
                Step::CopyInto { from, into, .. } => {
                    if let Some(e) = of(from).or_else(own) {
                        bad[into.0 as usize] = Some(e);
                    }
                }
            }
        }
        // A value assembled from regions fails with the first bad region; its storage was reserved before.
        for step in &schedule.steps {
            if let Step::Reserve { to, place } = step
                && let Some(e) = &bad[to.0 as usize]
            {
                self.fail(*place, e);
            }
        }
    }

    fn fail(&self, place: crate::schedule::Place, error: &Error) {
        if let crate::schedule::Place::Own(n) = place
            && let Some(Some(storage)) = self.own.get(n as usize)
        {
            storage.fail(error.clone());
        }
    }

    /// Counts what runs off the device.
    pub fn count_fallbacks(&self, stats: &mut Stats) {
        for work in &self.work {
            let Work::Foreign(f, step) = work else { continue };
            if self.device.caps().name == "cpu" && matches!(f.target, Target::Host(_)) {
                continue;
            }
            let bytes = f.inputs.iter().chain(&f.outputs).map(|(o, d)| (o.layout.len() * d.bytes()) as u64).sum();
            let op = by_id(self.schedule.ops[*step as usize]).map_or("", |op| op.name);
            let dtype = f.inputs.first().or(f.outputs.first()).map_or("", |(_, d)| d.name());
            let reason = match &self.schedule.steps[*step as usize] {
                Step::Launch { resolved, .. } | Step::CopyInto { resolved, .. } => resolved.reason.as_deref().unwrap_or(""),
                _ => "",
            };
            stats.fall_back(&self.device.caps().name, op, dtype, reason, bytes);
        }
    }
}

/// Runs launches to their end, looking at the abandoned flag between waits.
fn submit_and_wait(device: &dyn Backend, launches: Vec<Launch>, abandoned: &Arc<AtomicBool>) -> Outcome {
    match device.submit(Batch { launches, abandoned: Arc::clone(abandoned) }) {
        Ticket::Done(outcome) => outcome,
        Ticket::Pending(id) => loop {
            if let Some(outcome) = device.wait(id, Instant::now() + WAIT_SLICE) {
                return outcome;
            }
        },
    }
}

/// Runs one launch to its end.
///
/// # Errors
/// The launch's own, or that of the lost batch.
pub fn run_one(device: &dyn Backend, launch: Launch, abandoned: &Arc<AtomicBool>) -> Result<()> {
    let outcome = submit_and_wait(device, vec![launch], abandoned);
    let error = outcome.failed.into_iter().next().map(|(_, e)| e).or(outcome.lost);
    error.map_or(Ok(()), Err)
}

fn host_memory(bytes: usize) -> Result<Vec<u64>> {
    let words = bytes.div_ceil(8);
    let mut memory = Vec::new();
    memory.try_reserve_exact(words).map_err(|_| Error::out_of_memory(format!("{bytes} bytes on the host")))?;
    memory.resize(words, 0);
    Ok(memory)
}

fn download(device: &dyn Backend, operand: &Operand, dtype: DType) -> Result<Vec<u64>> {
    let bytes = operand.layout.len() * dtype.bytes();
    let mut memory = host_memory(bytes)?;
    if bytes > 0 {
        let target = &mut bytes_mut(&mut memory)[..bytes];
        device.download(&operand.buffer, operand.layout.offset() * dtype.bytes(), target)?;
    }
    Ok(memory)
}

fn bytes_of(words: &[u64]) -> &[u8] {
    bytemuck::cast_slice(words)
}

fn bytes_mut(words: &mut [u64]) -> &mut [u8] {
    bytemuck::cast_slice_mut(words)
}
