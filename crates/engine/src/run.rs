//! Binding: a schedule plus this run's tensors and parameters becomes launches over real memory.

use crate::foreign::{self, Foreign};
use crate::job::{Job, Work, run_one};
use crate::pool::{Block, Pool};
use crate::resolve::{Resolved, Target};
use crate::schedule::{Place, Schedule, Step, apply};
use crate::storage::{Completion, Storage, Tensor};
use ferrotensor_core::backend::{Buffer, Launch, Operand};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::planted;
use ferrotensor_core::scalar::literal_bits;
use ferrotensor_core::{DType, Error, Result};
use ferrotensor_ops::graph::{Param, Val};
use ferrotensor_ops::write::copy_kernel;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// Who waits for the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The calling thread, now.
    Sync,
    /// Nobody yet.
    Async,
}

/// One program to run.
pub struct Request<'a> {
    /// The program, see [`crate::program`].
    pub words: &'a [i32],
    /// 8 bytes for each parameter.
    pub params: &'a [u64],
    /// A tensor for each input node.
    pub inputs: &'a [Arc<Tensor>],
    /// Slots asked for.
    pub outputs: &'a [i32],
    /// Who waits.
    pub mode: Mode,
    /// Run even beyond the budget.
    pub force: bool,
}

/// What `run` did.
pub enum RunOutcome {
    /// A tensor for each output; it may not be ready yet.
    Done(SmallVec<[Arc<Tensor>; 4]>),
    /// The budget does not admit this many bytes; nothing happened.
    Refused {
        /// Bytes asked for.
        bytes: usize,
    },
}

/// A value with its memory.
#[derive(Clone)]
pub struct Bound {
    buffer: Buffer,
    layout: Layout,
    source: Source,
}

/// Who owns a value's memory.
#[derive(Clone, Copy)]
enum Source {
    Input(u32),
    Own(u32),
    Arena,
}

/// A bound job and the tensors it will write.
pub struct BoundRun {
    /// The work.
    pub job: Job,
    /// The outputs asked for.
    pub outputs: SmallVec<[Arc<Tensor>; 4]>,
    /// Number of launches.
    pub launches: u64,
}

/// Everything a job needs besides its schedule and operands.
pub struct Context<'a> {
    /// Memory of the device.
    pub pool: &'a Arc<Pool>,
    /// The rest of a job, to be cloned.
    pub blank: &'a dyn Fn(Arc<Schedule>) -> Job,
    /// Ends when the job has; `None` when it runs before anybody can ask.
    pub completion: Option<Arc<Completion>>,
}

struct Binder<'a> {
    pool: &'a Arc<Pool>,
    device: u16,
    schedule: &'a Schedule,
    params: &'a [u64],
    completion: Option<Arc<Completion>>,
    values: &'a mut Vec<Option<Bound>>,
    own: SmallVec<[Option<Arc<Storage>>; 2]>,
    arena: Option<Block>,
    work: SmallVec<[Work; 1]>,
    batch: Vec<Launch>,
    batch_steps: Vec<u32>,
    launches: u64,
}

/// Binds a schedule to tensors and parameters. `values` is working memory, kept (and cleared) by the caller between runs.
///
/// # Errors
/// `Code::OutOfMemory` when the device has no memory, `Code::Index` for run-time indices out of range, `Code::Internal`
/// for inputs of other types than the program says.
pub fn bind(
    ctx: &Context,
    schedule: &Arc<Schedule>,
    request: &Request,
    values: &mut Vec<Option<Bound>>,
) -> Result<BoundRun> {
    if request.params.len() < schedule.params {
        return Err(Error::internal("too few parameters"));
    }
    let arena = if schedule.arena > 0 { Some(ctx.pool.alloc(schedule.arena)?) } else { None };
    values.clear();
    values.resize_with(schedule.values.len(), || None);
    let mut b = Binder {
        pool: ctx.pool,
        device: schedule.device,
        schedule,
        params: request.params,
        completion: ctx.completion.clone(),
        values,
        own: smallvec![None; schedule.own.len()],
        arena,
        work: SmallVec::new(),
        batch: Vec::new(),
        batch_steps: Vec::new(),
        launches: 0,
    };
    for (n, (v, tensor)) in schedule.input_values.iter().zip(request.inputs).enumerate() {
        let (dtype, dims) = &schedule.values[v.0 as usize];
        if tensor.dtype() != *dtype || tensor.dims() != dims.as_slice() {
            return Err(Error::internal("a tensor is not of the type the program says"));
        }
        let buffer = Arc::clone(tensor.storage().block().buffer());
        b.values[v.0 as usize] = Some(Bound { buffer, layout: tensor.layout().clone(), source: Source::Input(n as u32) });
    }
    for (n, step) in schedule.steps.iter().enumerate() {
        b.step(n as u32, step)?;
    }
    b.close_batch();
    let mut outputs = SmallVec::new();
    for v in &schedule.outputs {
        outputs.push(b.output(*v, request.inputs)?);
    }
    let mut job = (ctx.blank)(Arc::clone(schedule));
    job.inputs = request.inputs.iter().map(|t| Arc::clone(t.storage())).collect();
    (job.work, job.own, job.arena, job.completion) = (b.work, b.own, b.arena, b.completion);
    Ok(BoundRun { job, outputs, launches: b.launches })
}

impl Binder<'_> {
    fn bound(&self, v: Val) -> Result<&Bound> {
        self.values[v.0 as usize].as_ref().ok_or_else(|| Error::internal("a value is used before it is defined"))
    }

    fn step(&mut self, n: u32, step: &Step) -> Result<()> {
        match step {
            Step::View { of, to, view, copy } => {
                let from = self.bound(*of)?.clone();
                let layout = match copy {
                    Some(c) if c.dense && !from.layout.is_row_major() => None,
                    _ => apply(&from.layout, view, self.params)?,
                };
                self.values[to.0 as usize] = Some(match (layout, copy) {
                    (Some(layout), _) => Bound { layout, ..from },
                    (None, Some(copy)) => {
                        // The copy takes the old shape; as it is dense, the new one is a view of it.
                        let dims: SmallVec<[usize; 6]> = SmallVec::from_slice(from.layout.dims());
                        let target = self.reserve(copy.place, self.schedule.values[of.0 as usize].0, &dims)?;
                        self.copy(n, &copy.resolved, from.operand(), target.operand(), *of);
                        let dense = apply(&target.layout, view, self.params)?;
                        let layout = dense.ok_or_else(|| Error::internal("a dense value cannot be reshaped"))?;
                        Bound { layout, ..target }
                    }
                    (None, None) => return Err(Error::internal("a view needs a copy nobody planned")),
                });
            }
            Step::Launch { resolved, inputs, to, outputs, params, .. } => {
                let mut operands: SmallVec<[Operand; 3]> = SmallVec::new();
                for &v in inputs {
                    operands.push(self.bound(v)?.operand());
                }
                let mut targets: SmallVec<[Operand; 1]> = SmallVec::new();
                for (i, place) in outputs.iter().enumerate() {
                    let v = to.0 as usize + i;
                    let (dtype, dims) = &self.schedule.values[v];
                    let bound = self.reserve(*place, *dtype, dims)?;
                    targets.push(bound.operand());
                    self.values[v] = Some(bound);
                }
                let mut numbers: SmallVec<[u64; 4]> = SmallVec::new();
                for p in params {
                    numbers.push(convert(p, self.params)?);
                }
                let first = to.0 as usize;
                let value = |i: usize| inputs.get(i).map_or_else(|| first + i - inputs.len(), |v| v.0 as usize);
                let schedule = self.schedule;
                self.launch(n, resolved, operands, targets, numbers, &|i| schedule.values[value(i)].0);
            }
            Step::Reserve { to, place } => {
                let (dtype, dims) = &self.schedule.values[to.0 as usize];
                self.values[to.0 as usize] = Some(self.reserve(*place, *dtype, dims)?);
            }
            Step::CopyInto { resolved, from, into, region } => {
                let target = self.bound(*into)?;
                let layout = match region {
                    Some(view) => apply(&target.layout, view, self.params)?,
                    None => Some(target.layout.clone()),
                };
                let layout = layout.ok_or_else(|| Error::internal("a region is no view"))?;
                let target = Operand { buffer: Arc::clone(&target.buffer), layout };
                let source = self.bound(*from)?.operand();
                self.copy(n, resolved, source, target, *from);
            }
        }
        Ok(())
    }

    /// Dense memory for a value.
    fn reserve(&mut self, place: Place, dtype: DType, dims: &[usize]) -> Result<Bound> {
        let layout = Layout::dense(dims)?;
        match place {
            Place::Own(n) => {
                let block = self.pool.alloc(self.schedule.own[n as usize])?;
                let buffer = Arc::clone(block.buffer());
                let storage = Storage::new(block, self.device, self.completion.clone());
                self.own[n as usize] = Some(Arc::new(storage));
                Ok(Bound { buffer, layout, source: Source::Own(n) })
            }
            Place::Arena(offset) => {
                let arena = self.arena.as_ref();
                let block = match arena {
                    Some(block) => Arc::clone(block.buffer()),
                    // An arena of no bytes: an empty temporary.
                    None => Arc::clone(self.arena.insert(self.pool.alloc(1)?).buffer()),
                };
                let elements = block.bytes() / dtype.bytes();
                let layout = Layout::new(dims, layout.strides(), offset / dtype.bytes(), elements)?;
                Ok(Bound { buffer: block, layout, source: Source::Arena })
            }
        }
    }

    /// A copy of a value.
    fn copy(&mut self, step: u32, resolved: &Resolved, from: Operand, to: Operand, of: Val) {
        let dtype = self.schedule.values[of.0 as usize].0;
        self.launch(step, resolved, smallvec![from], smallvec![to], SmallVec::new(), &|_| dtype);
    }

    /// `dtype` of the n-th operand, inputs before outputs.
    fn launch(
        &mut self,
        step: u32,
        resolved: &Resolved,
        inputs: SmallVec<[Operand; 3]>,
        outputs: SmallVec<[Operand; 1]>,
        params: SmallVec<[u64; 4]>,
        dtype: &dyn Fn(usize) -> DType,
    ) {
        self.launches += 1;
        let backwards = || inputs.iter().chain(&outputs).any(|o| walks_backwards(&o.layout));
        let (target, reason) = match (&resolved.target, &resolved.backwards) {
            (Target::Native(_), Some(cpu)) if backwards() => {
                (Target::Cpu(Arc::clone(cpu)), Some("no negative strides".into()))
            }
            (Target::Native(kernel), _) => {
                let launch = Launch { kernel: Arc::clone(kernel), inputs, outputs, params };
                if self.batch.is_empty() && self.work.is_empty() && !planted::is("launches-grow-step-by-step") {
                    // At once for all that may follow: grown step by step, both ask for memory again at each doubling. Batches that kernels
                    // elsewhere cut are as many as those.
                    let rest = self.schedule.steps.len() - step as usize;
                    self.batch.reserve_exact(rest);
                    self.batch_steps.reserve_exact(rest);
                }
                self.batch.push(launch);
                self.batch_steps.push(step);
                return;
            }
            (target, _) => (target.clone(), resolved.reason.clone()),
        };
        let arity = inputs.len();
        let foreign = Foreign {
            target,
            reason,
            inputs: inputs.into_iter().enumerate().map(|(i, o)| (o, dtype(i))).collect(),
            outputs: outputs.into_iter().enumerate().map(|(i, o)| (o, dtype(arity + i))).collect(),
            params,
        };
        self.close_batch();
        self.work.push(Work::Foreign(Box::new(foreign), step));
    }

    /// Launches gathered since the last kernel that runs elsewhere go to the device together.
    fn close_batch(&mut self) {
        if !self.batch.is_empty() {
            let launches = Arc::new(std::mem::take(&mut self.batch));
            self.work.push(Work::Device(launches, std::mem::take(&mut self.batch_steps)));
        }
    }

    fn output(&self, v: Val, inputs: &[Arc<Tensor>]) -> Result<Arc<Tensor>> {
        let bound = self.bound(v)?;
        let storage = match bound.source {
            Source::Input(n) => Arc::clone(inputs[n as usize].storage()),
            Source::Own(n) => match &self.own[n as usize] {
                Some(storage) => Arc::clone(storage),
                None => return Err(Error::internal("an output was never reserved")),
            },
            Source::Arena => return Err(Error::internal("an output lies among the temporaries")),
        };
        let dtype = self.schedule.values[v.0 as usize].0;
        Ok(Arc::new(Tensor::new(dtype, bound.layout.clone(), storage)))
    }
}

impl Bound {
    fn operand(&self) -> Operand {
        Operand { buffer: Arc::clone(&self.buffer), layout: self.layout.clone() }
    }
}

/// A program parameter in the form a kernel wants.
fn convert(param: &Param, params: &[u64]) -> Result<u64> {
    let bits = *params.get(param.index as usize).ok_or_else(|| Error::internal("missing parameter"))?;
    if !param.bigint {
        return Ok(literal_bits(param.dtype, f64::from_bits(bits)));
    }
    Ok(if param.dtype.is_integer() { bits } else { literal_bits(param.dtype, bits as i64 as f64) })
}

fn walks_backwards(layout: &Layout) -> bool {
    layout.strides().iter().any(|&s| s < 0)
}

/// Reads a tensor whose elements do not lie densely: through a dense copy made by its device, or by the host where the device
/// cannot make one (or has no memory for it: reading is what memory is freed by).
pub fn read_strided(tensor: &Tensor, out: &mut [u8]) -> Result<()> {
    let backend = tensor.storage().block().backend();
    let source = Operand { buffer: Arc::clone(tensor.storage().block().buffer()), layout: tensor.layout().clone() };
    let can_walk = backend.caps().negative_strides || !walks_backwards(&source.layout);
    let kernel = backend.prepare(&copy_kernel(tensor.dtype())).ok().filter(|_| can_walk);
    let Some((kernel, buffer)) = kernel.and_then(|kernel| Some((kernel, backend.alloc(out.len()).ok()?))) else {
        return foreign::gather(&**backend, &(source, tensor.dtype()), out);
    };
    let target = Operand { buffer: Arc::clone(&buffer), layout: Layout::dense(tensor.dims())? };
    let launch = Launch { kernel, inputs: smallvec![source], outputs: smallvec![target], params: SmallVec::new() };
    run_one(&**backend, launch, &Arc::default())?;
    backend.download(&buffer, 0, out)
}
