//! One environment's view of the engine: its types, attributes, schedules, settings and counters.

use crate::Engine;
use crate::cache::TwoGenerations;
use crate::executor::InFlight;
use crate::job::Job;
use crate::plan::{self, Plan};
use crate::profile::{Profile, Profiles, Report};
use crate::program::{self, form, row};
use crate::resolve::Resolver;
use crate::run::{self, Context, Mode, Request, RunOutcome};
use crate::schedule::{self, Schedule};
use crate::stats::Stats;
use crate::storage::{Check, Completion, Storage, Tensor};
use crate::timeline::What;
use crate::types::{AttrTable, Types, checked};
use ferrotensor_core::backend::{Buffer, DeviceClass};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::planted;
use ferrotensor_core::{DType, Error, Result};
use ferrotensor_ops::def::AttrKind;
use ferrotensor_ops::dtype_rule::Arg;
use ferrotensor_ops::infer;
use ferrotensor_ops::{OpId, TensorType};
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What happens when a kernel has to run elsewhere than on the tensors' device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strict {
    /// It is counted.
    Allow,
    /// It is counted, and a warning is left for the caller.
    Warn,
    /// The program is refused.
    Throw,
}

/// Settings of a session.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Fuse kernels.
    pub fusion: bool,
    /// Policy for fallbacks.
    pub strict: Strict,
}

impl Default for Config {
    fn default() -> Self {
        Config { fusion: true, strict: Strict::Allow }
    }
}

/// Result types of one call, and the dtype weak scalars are converted to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InferredIds {
    /// Type id of each output.
    pub outputs: SmallVec<[i32; 2]>,
    /// What a JavaScript number, bigint or boolean operand becomes.
    pub weak: DType,
}

/// Programs whose estimate is below this run on the calling thread: a hand-over costs two thread wake-ups, 36 us of CPU.
const INLINE_NS: f64 = 50_000.0;
/// Programs an environment may have in flight before it waits.
const MAX_IN_FLIGHT: usize = 64;

/// One environment.
pub struct Session {
    engine: Arc<Engine>,
    id: u64,
    types: Types,
    attrs: AttrTable,
    schedules: TwoGenerations<Box<[i32]>, Arc<Schedule>>,
    resolvers: Vec<Resolver>,
    key: Vec<i32>,
    values: Vec<Option<run::Bound>>,
    config: Config,
    stats: Stats,
    warnings: Vec<String>,
    profiles: Profiles,
    abandoned: Arc<AtomicBool>,
    in_flight: Arc<InFlight>,
}

static NEXT_SESSION: AtomicU64 = AtomicU64::new(1);

impl Session {
    /// A session with nothing known yet.
    pub fn new(engine: Arc<Engine>) -> Session {
        Session {
            engine,
            id: NEXT_SESSION.fetch_add(1, Ordering::Relaxed),
            types: Types::default(),
            attrs: AttrTable::default(),
            schedules: TwoGenerations::new(1024),
            resolvers: Vec::new(),
            key: Vec::new(),
            values: Vec::new(),
            config: Config::default(),
            stats: Stats::default(),
            warnings: Vec::new(),
            profiles: Profiles::default(),
            abandoned: Arc::default(),
            in_flight: Arc::default(),
        }
    }

    /// The process's engine.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// The id of a type made from outside numbers.
    ///
    /// # Errors
    /// See [`checked`]; `Code::Device` for a device that does not exist.
    pub fn intern_type(&mut self, dtype: u8, dims: &[f64], device: u16) -> Result<i32> {
        self.check_device(device)?;
        Ok(self.types.intern(checked(dtype, dims, device)?))
    }

    /// The type with this id.
    pub fn type_of(&self, id: i32) -> Option<&TensorType> {
        self.types.get(id)
    }

    /// The id of one call's attributes.
    ///
    /// # Errors
    /// `Code::Argument`, `Code::Shape`, `Code::DType` for words outside the row's schema.
    pub fn intern_attrs(&mut self, op: u16, words: &[f64]) -> Result<i32> {
        self.attrs.intern(op, words)
    }

    fn check_device(&self, device: u16) -> Result<()> {
        self.engine.place(device).map(drop)
    }

    /// Result types of a call; `types` are those of the tensor operands, in order.
    ///
    /// # Errors
    /// Everything that is wrong with the call, led by the operation's name.
    pub fn infer(&mut self, op: OpId, forms: u32, attr: i32, types: &[i32]) -> Result<InferredIds> {
        let def = row(op)?;
        let attrs = self.attrs.get(op, attr)?;
        let (mut args, mut dims, mut next) = (Vec::new(), Vec::new(), types.iter());
        let mut device: Option<u16> = None;
        // A list is as long as there are types for it; scalars have none.
        let scalars = (0..program::OPERANDS).filter(|i| forms >> (3 * i) & 7 != 0).count();
        let count = if def.variadic { types.len() + scalars } else { def.operands.len() };
        for i in 0..count {
            match form(forms, i)? {
                None => {
                    let id = *next.next().ok_or_else(|| Error::argument(format!("{}: missing operand", def.path())))?;
                    let ty = self.types.known(id)?;
                    if device.is_some_and(|d| d != ty.device) {
                        return Err(self.mixed_devices(&def.path(), device.unwrap_or(0), ty.device));
                    }
                    device = Some(ty.device);
                    args.push(Arg::Tensor(ty.dtype));
                    dims.push(Some(ty.dims.clone()));
                }
                Some(Arg::Absent) => {
                    args.push(Arg::Absent);
                    dims.push(None);
                }
                Some(kind) => {
                    args.push(kind);
                    dims.push(Some(SmallVec::new()));
                }
            }
        }
        if next.next().is_some() {
            return Err(Error::argument(format!("{}: takes {} operands, got more", def.path(), def.operands.len())));
        }
        let asked = u16::try_from(attrs.int("device")).unwrap_or(u16::MAX);
        self.check_device(asked).map_err(|e| e.in_op(&def.path()))?;
        let device = match device {
            Some(d) if d != asked && def.attrs.iter().any(|a| a.kind == AttrKind::Device) => {
                return Err(self.mixed_devices(&def.path(), d, asked));
            }
            Some(d) => d,
            None => asked,
        };
        let inferred = infer::infer(def, &args, dims, &attrs)?;
        let outputs = inferred
            .outputs
            .into_iter()
            .map(|(dtype, dims)| self.types.intern(TensorType { dtype, dims, device, encoding: 0 }));
        Ok(InferredIds { outputs: outputs.collect(), weak: inferred.compute })
    }

    fn mixed_devices(&self, op: &str, a: u16, b: u16) -> Error {
        let name = |d: u16| self.engine.device(d).map_or("?", |device| device.caps().name.as_str());
        Error::device(format!("{op}: tensors on different devices: {} and {}; move one with to()", name(a), name(b)))
    }

    /// Runs a program.
    ///
    /// # Errors
    /// What is wrong with the program; errors that depend on values are found when an output is waited for or read.
    pub fn run(&mut self, request: &Request) -> Result<RunOutcome> {
        let since = self.profiles.now();
        let known = self.stats.schedules;
        let schedule = self.schedule(request)?;
        let engine = Arc::clone(&self.engine);
        let place = engine.place(schedule.device)?;
        let pool = &place.pool;
        if self.stats.schedules > known {
            self.profiles.note(since, What::Planning, schedule.device, pool, schedule.op_count);
        }
        let bytes = schedule.own.iter().sum::<usize>() + schedule.arena;
        if !request.force && !pool.make_room(bytes) {
            return Ok(RunOutcome::Refused { bytes });
        }
        let idle = self.in_flight.count() == 0;
        let ready = request.inputs.iter().all(|t| t.is_ready());
        // Small work of other devices waits behind what other environments gave them, which may be long.
        let small = || schedule.estimate < INLINE_NS && pool.backend().caps().class == DeviceClass::Cpu;
        let inline = idle && ready && (request.mode == Mode::Sync || small());
        let completion = (!inline).then(|| Arc::new(Completion::default()));
        let blank = |schedule: Arc<Schedule>| Job {
            schedule,
            work: SmallVec::new(),
            inputs: SmallVec::new(),
            own: SmallVec::new(),
            arena: None,
            pool: Arc::clone(pool),
            cpu: engine.cpu.clone(),
            host: engine.host,
            profiles: self.profiles.clone(),
            abandoned: Arc::clone(&self.abandoned),
            completion: None,
        };
        let bound = run::bind(&Context { pool, blank: &blank, completion }, &schedule, request, &mut self.values);
        self.values.clear();
        let bound = bound?;
        self.stats.programs += 1;
        self.stats.ops += schedule.op_count;
        self.stats.launches += bound.launches;
        bound.job.count_fallbacks(&mut self.stats);
        for r in &schedule.rewritten {
            let op = ferrotensor_ops::def::by_id(r.op).map_or("".into(), |op| op.path());
            self.stats.rewrite(&pool.backend().caps().name, &op, r.kernel, r.dtype.name());
        }
        if inline {
            self.stats.inline += 1;
            bound.job.run();
        } else {
            self.in_flight.wait_below(MAX_IN_FLIGHT);
            place.executor.push(self.id, bound.job, &self.in_flight);
        }
        self.profiles.note(since, What::Program, schedule.device, pool, schedule.op_count);
        Ok(RunOutcome::Done(bound.outputs))
    }

    /// The schedule of a program, made on the first use. Its key is everything that decides it, compared in full.
    fn schedule(&mut self, request: &Request) -> Result<Arc<Schedule>> {
        self.key.clear();
        self.key.extend_from_slice(request.words);
        self.key.push(-1);
        self.key.extend_from_slice(request.outputs);
        self.key.push(-1);
        for chunk in request.inputs.chunks(31) {
            let bits = chunk.iter().enumerate().map(|(i, t)| (t.layout().is_row_major() as i32) << i);
            self.key.push(if planted::is("schedules-ignore-layouts") { 0 } else { bits.sum() });
        }
        if let Some(schedule) = self.schedules.get(self.key.as_slice()) {
            if schedule.inputs.len() != request.inputs.len() {
                return Err(Error::internal("a program got another number of tensors than it takes"));
            }
            return Ok(schedule);
        }
        let dense: Vec<bool> = request.inputs.iter().map(|t| t.layout().is_row_major()).collect();
        let (schedule, mut reasons) = self.build(request.words, request.outputs, &dense)?;
        match (self.config.strict, reasons.first()) {
            (Strict::Throw, Some(reason)) => return Err(Error::unsupported(format!("strict: would fall back: {reason}"))),
            (Strict::Warn, Some(_)) => self.warnings.append(&mut reasons),
            _ => {}
        }
        self.stats.schedules += 1;
        self.stats.fusions += schedule.fused;
        let schedule = Arc::new(schedule);
        if !planted::is("schedules-are-made-anew") {
            self.schedules.insert(self.key.clone().into_boxed_slice(), Arc::clone(&schedule));
        }
        Ok(schedule)
    }

    /// A new schedule of a program, and what of it does not run on its device. `dense` says of each input whether it is row-major.
    fn build(&mut self, words: &[i32], outputs: &[i32], dense: &[bool]) -> Result<(Schedule, Vec<String>)> {
        let lowered = program::lower(words, &self.types, &self.attrs)?;
        if lowered.inputs.len() != dense.len() {
            return Err(Error::internal("a program got another number of tensors than it takes"));
        }
        let device = Arc::clone(self.engine.device(lowered.device)?);
        let outputs = outputs
            .iter()
            .map(|&slot| usize::try_from(slot).ok().and_then(|s| lowered.slots.get(s)).copied())
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| Error::internal("unknown output slot"))?;
        let cpu = self.engine.cpu.clone();
        let number = lowered.device as usize;
        if self.resolvers.len() <= number {
            self.resolvers.resize_with(number + 1, Resolver::new);
        }
        let resolver = &mut self.resolvers[number];
        let mut reasons = Vec::new();
        let mut resolve = |kernel: &ferrotensor_core::kernel::Kernel| {
            let resolved = resolver.resolve(kernel, &*device, cpu.as_deref())?;
            if let Some(reason) = &resolved.reason {
                reasons.push(format!("{} on {}: {reason}", kernel.kind(), device.caps().name));
            }
            Ok(resolved)
        };
        let supports = |kernel: &_| device.supports(kernel).is_ok();
        let max = device.caps().max_buffer;
        let schedule = schedule::build(lowered, &outputs, dense, self.config.fusion, max, &supports, &mut resolve)?;
        Ok((schedule, reasons))
    }

    /// What a program of dense inputs would do.
    ///
    /// # Errors
    /// What is wrong with the program.
    pub fn plan(&mut self, words: &[i32], outputs: &[i32], inputs: usize) -> Result<Plan> {
        let (schedule, _) = self.build(words, outputs, &vec![true; inputs])?;
        plan::plan(&self.engine, &schedule)
    }

    /// A tensor from bytes, dense and row-major. `None`: the budget refuses.
    ///
    /// # Errors
    /// `Code::OutOfMemory` from the device, `Code::Internal` for an unknown type or another number of bytes.
    pub fn upload(&mut self, type_id: i32, bytes: &[u8], force: bool) -> Result<Option<Arc<Tensor>>> {
        let Some(tensor) = self.reserve(type_id, force)? else { return Ok(None) };
        if bytes.len() != tensor.len() * tensor.dtype().bytes() {
            return Err(Error::internal(format!(
                "{} bytes for {} elements of {}",
                bytes.len(),
                tensor.len(),
                tensor.dtype()
            )));
        }
        self.profiles.around(What::Upload, &tensor, || tensor.write(0, bytes))?;
        Ok(Some(tensor))
    }

    /// A tensor whose elements are still to be written (with [`Tensor::write`]) before anybody reads it. `None`: the budget
    /// refuses.
    ///
    /// # Errors
    /// `Code::OutOfMemory` from the device, `Code::Internal` for an unknown type.
    pub fn reserve(&mut self, type_id: i32, force: bool) -> Result<Option<Arc<Tensor>>> {
        let ty = self.types.known(type_id)?.clone();
        let layout = Layout::dense(&ty.dims)?;
        let bytes = layout.len() * ty.dtype.bytes();
        let pool = &self.engine.place(ty.device)?.pool;
        if !force && !pool.make_room(bytes) {
            return Ok(None);
        }
        let block = pool.alloc(bytes)?;
        self.stats.uploaded += bytes as u64;
        let storage = Arc::new(Storage::new(block, ty.device, None));
        Ok(Some(Arc::new(Tensor::new(ty.dtype, layout, storage))))
    }

    /// A tensor in memory that is lent, dense and row-major: `lend` makes a buffer of the device beside one of its own. `check` says afterwards
    /// whether that memory is what it was. `None`: it cannot be lent.
    ///
    /// # Errors
    /// `Code::OutOfMemory` from the device, `Code::Internal` for an unknown type.
    pub fn adopt(
        &mut self,
        type_id: i32,
        lend: &dyn Fn(&Buffer) -> Option<Buffer>,
        check: Check,
    ) -> Result<Option<Arc<Tensor>>> {
        let ty = self.types.known(type_id)?.clone();
        let layout = Layout::dense(&ty.dims)?;
        let pool = &self.engine.place(ty.device)?.pool;
        let Some(buffer) = lend(pool.alloc(1)?.buffer()) else { return Ok(None) };
        if buffer.bytes() != layout.len() * ty.dtype.bytes() {
            return Err(Error::internal("what was lent is of another length"));
        }
        let storage = Arc::new(Storage::lent(pool.lent(buffer), ty.device, check));
        Ok(Some(Arc::new(Tensor::new(ty.dtype, layout, storage))))
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        self.stats.clone()
    }

    /// Sets the counters to zero.
    pub fn reset_stats(&mut self) {
        self.stats = Stats::default();
    }

    /// Times every launch from now on until the profile is closed; returns its number. Several may be open: each counts all that
    /// runs meanwhile. Programs that were queued before are not timed, so the caller waits for them first.
    pub fn open_profile(&mut self) -> u32 {
        let id = self.profiles.open();
        if let Some(profile) = self.profiles.last() {
            self.look(profile);
        }
        id
    }

    /// The profiles that are open, for what threads of the caller copy and wait for.
    pub fn profiles(&self) -> &Profiles {
        &self.profiles
    }

    /// Notes the memory of each device that something has been asked of.
    fn look(&self, profile: &Profile) {
        for (number, pool) in self.engine.pools().enumerate() {
            profile.look(number as u16, pool);
        }
    }

    /// Closes a profile, whose programs the caller has waited for; `None` for a number of none.
    pub fn close_profile(&mut self, id: u32) -> Option<Report> {
        let profile = self.profiles.close(id)?;
        self.look(&profile);
        let name = |d: u16| self.engine.device(d).map_or("?".into(), |device| device.caps().name.clone());
        let mut report = profile.report(&name);
        report.peaks = self.engine.peaks(&report.kernels.iter().map(|k| k.device.as_str()).collect());
        Some(report)
    }

    /// Changes the settings and forgets the schedules made under others.
    pub fn set_config(&mut self, config: Config) {
        self.config = config;
        self.schedules.clear();
    }

    /// Warnings since the last call, under [`Strict::Warn`].
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Forgets types, attributes and schedules; ids start again.
    pub fn end_epoch(&mut self) {
        self.types = Types::default();
        self.attrs = AttrTable::default();
        self.schedules.clear();
    }

    /// Drops queued programs and stops running ones soon: their environment has ended.
    pub fn abandon(&self) {
        self.abandoned.store(!planted::is("an-ended-environment-goes-on"), Ordering::Relaxed);
    }
}
