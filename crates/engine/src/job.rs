//! One run of a schedule: bound operands on the way to the backends, and what became of them.

use crate::foreign::{Foreign, Typed};
use crate::pool::{Block, Pool};
use crate::profile::{Launched, Profiles, Where};
use crate::resolve::HostRoutine;
use crate::schedule::{Schedule, Step};
use crate::stats::Stats;
use crate::storage::{Completion, Storage};
use ferrotensor_core::backend::{Backend, Batch, Launch, Outcome, Ticket};
use ferrotensor_core::error::Code;
use ferrotensor_core::layout::Layout;
use ferrotensor_core::planted;
use ferrotensor_core::{Error, Result};
use ferrotensor_ops::def::by_id;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Work in order.
pub enum Work {
    /// Launches on the device, each with its step.
    Device(Arc<Vec<Launch>>, Vec<u32>),
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
    /// Memory of the tensors' device.
    pub pool: Arc<Pool>,
    /// The CPU, for fallbacks.
    pub cpu: Option<Arc<dyn Backend>>,
    /// The host's routines.
    pub host: HostRoutine,
    /// Set when its environment is gone.
    pub abandoned: Arc<AtomicBool>,
    /// Profiles that are open: the launches of a profiled job are submitted one by one, and timed.
    pub profiles: Profiles,
    /// Ended when the job has.
    pub completion: Option<Arc<Completion>>,
}

/// How long one wait on a device lasts. A batch that was submitted uses its buffers until the device has answered, so there is
/// no giving up here: a device that hangs is the backend's to notice, and to report as lost.
const WAIT_SLICE: Duration = Duration::from_millis(100);

impl Job {
    /// Whether its inputs have values.
    pub fn is_runnable(&self) -> bool {
        self.inputs.iter().all(|s| s.is_ready())
    }

    /// Runs everything, marks what failed, and ends the completion.
    pub fn run(mut self) {
        let mut failures = self.execute();
        // A launch may need memory of its own, of which the pool knows nothing: what the pool keeps for reuse goes, and everything is
        // computed again, from the inputs: temporaries may lie where others lay.
        if failures.iter().any(|(_, e)| e.code == Code::OutOfMemory) {
            self.pool.trim();
            failures = self.execute();
        }
        let failed_input = self.inputs.iter().any(|s| s.error().is_some());
        if (failed_input || !failures.is_empty()) && !planted::is("a-failed-program-leaves-values") {
            self.poison(&failures);
        }
        self.work.clear();
        self.own.clear();
        self.inputs.clear();
        self.arena = None;
        self.profiles.look(self.schedule.device, &self.pool);
        if let Some(completion) = self.completion.take() {
            completion.finish();
        }
    }

    /// Failures by step.
    fn execute(&self) -> Vec<(u32, Error)> {
        let mut failures = Vec::new();
        for work in &self.work {
            if self.abandoned.load(Ordering::Relaxed) {
                // Another environment may have taken a result: what was not computed must not look like a value.
                for storage in self.own.iter().flatten() {
                    storage.fail(Error::abandoned());
                }
                return failures;
            }
            match work {
                Work::Device(launches, steps) if !self.profiles.is_empty() => {
                    self.execute_timed(launches, steps, &mut failures);
                }
                Work::Device(launches, steps) => {
                    let outcome = self.submit_and_wait(Arc::clone(launches));
                    failures.extend(outcome.failed.into_iter().map(|(i, e)| (steps.get(i).copied().unwrap_or(0), e)));
                    if let Some(lost) = outcome.lost {
                        failures.extend(steps.iter().map(|&s| (s, lost.clone())));
                    }
                }
                Work::Foreign(foreign, step) => {
                    let device = &**self.pool.backend();
                    let run = || foreign.run(device, self.cpu.as_deref(), self.host, &self.abandoned);
                    let timed = || {
                        let place = if foreign.reason.is_some() { Where::Fallback } else { Where::Device };
                        let launched = Launched { schedule: &self.schedule, step: *step, place, pool: &self.pool };
                        let layouts = (foreign.inputs.iter().map(layout), foreign.outputs.iter().map(layout));
                        self.profiles.time(&launched, layouts.0, layouts.1, run)
                    };
                    if let Err(e) = if self.profiles.is_empty() { run() } else { timed() } {
                        failures.push((*step, e));
                    }
                }
            }
        }
        failures
    }

    fn submit_and_wait(&self, launches: Arc<Vec<Launch>>) -> Outcome {
        let spare = self.pool.budget().spare();
        submit_and_wait(&**self.pool.backend(), Batch { launches, abandoned: Arc::clone(&self.abandoned), spare })
    }

    /// Launches one by one, each with its time.
    fn execute_timed(&self, launches: &[Launch], steps: &[u32], failures: &mut Vec<(u32, Error)>) {
        for (launch, &step) in launches.iter().zip(steps) {
            let launched = Launched { schedule: &self.schedule, step, place: Where::Device, pool: &self.pool };
            let alone = Arc::new(vec![launch.clone()]);
            let layouts = (launch.inputs.iter().map(|o| &o.layout), launch.outputs.iter().map(|o| &o.layout));
            let run = || self.submit_and_wait(alone);
            let outcome = self.profiles.time(&launched, layouts.0, layouts.1, run);
            failures.extend(outcome.failed.into_iter().map(|(_, e)| (step, e)));
            if let Some(lost) = outcome.lost {
                failures.extend(steps.iter().map(|&s| (s, lost.clone())));
                return;
            }
        }
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
                Some(by_id(schedule.ops[n]).map_or_else(|| e.clone(), |op| op.failed(e.clone())))
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
                Step::Launch { inputs, to, outputs, reach, .. } => {
                    let own = own();
                    for (i, place) in outputs.iter().enumerate() {
                        let met = |k: usize| reach.get(i).is_none_or(|mask| mask >> k & 1 == 1);
                        let from =
                            inputs.iter().enumerate().filter(|(k, _)| met(*k)).find_map(|(_, v)| bad[v.0 as usize].clone());
                        if let Some(e) = from.or_else(|| own.clone()) {
                            self.fail(*place, &e);
                            bad[to.0 as usize + i] = Some(e);
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
            let Some(reason) = &f.reason else { continue };
            let op = by_id(self.schedule.ops[*step as usize]).map_or("".into(), |op| op.path());
            let dtype = f.inputs.first().or(f.outputs.first()).map_or("", |(_, d)| d.name());
            stats.fall_back(&self.pool.backend().caps().name, &op, dtype, reason, f.bytes());
        }
    }
}

fn layout((operand, _): &Typed) -> &Layout {
    &operand.layout
}

/// Runs launches to their end.
fn submit_and_wait(device: &dyn Backend, batch: Batch) -> Outcome {
    match device.submit(batch) {
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
    let batch = Batch { launches: Arc::new(vec![launch]), abandoned: Arc::clone(abandoned), spare: 0 };
    let outcome = submit_and_wait(device, batch);
    let error = outcome.failed.into_iter().next().map(|(_, e)| e).or(outcome.lost);
    error.map_or(Ok(()), Err)
}
