//! A device that maps float32 numbers and nothing else, in buffers of at most 60,000 bytes without negative strides, and that can
//! be told to fail. Its arithmetic is the reference's, its functions the recorded ones: the bits a GPU would produce that runs
//! the scalar IR faithfully.

use crate::memory::Memory;
use crate::worker::Worker;
use ferrotensor_core::backend::{
    Backend, Batch, Buffer, Caps, DeviceClass, Launch, MemInfo, Operand, Outcome, Prepared, Ticket,
};
use ferrotensor_core::fault::Countdown;
use ferrotensor_core::kernel::{Kernel, Map};
use ferrotensor_core::layout::positions;
use ferrotensor_core::reference::{self, Array};
use ferrotensor_core::scalar::{Op, Program};
use ferrotensor_core::{DType, Error, Result, math};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The largest buffer: no size that an allocator would round to.
pub const MAX_BUFFER: usize = 60_000;

/// What goes wrong, and when.
#[derive(Default)]
pub struct Faults {
    /// An allocation reports that memory is exhausted, and so does the next one: pools try twice.
    pub alloc: Countdown,
    /// An upload is refused.
    pub upload: Countdown,
    /// A download is refused.
    pub download: Countdown,
    /// A launch fails on the device, long after its submission.
    pub launch: Countdown,
    /// The device is lost: this submission and everything after it fails.
    pub submit: Countdown,
}

/// The device.
pub struct Hostile {
    caps: Caps,
    memory: Arc<Memory>,
    faults: Arc<Faults>,
    moved: AtomicU64,
    worker: Worker,
}

/// A map without function calls.
struct Expanded(Map);

impl Prepared for Expanded {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Hostile {
    /// The device `hostile:0`, posing as one of a class, failing as `faults` says.
    ///
    /// # Errors
    /// A sentence when its thread cannot be started.
    pub fn new(class: DeviceClass, faults: Arc<Faults>) -> Result<Hostile, String> {
        let memory = Arc::new(Memory::default());
        let (own, plan) = (Arc::clone(&memory), Arc::clone(&faults));
        let worker = Worker::start(Box::new(move |batch| run(&own, &plan, batch)))?;
        let caps = Caps {
            name: "hostile:0".into(),
            description: "a fake device for tests".into(),
            max_buffer: MAX_BUFFER,
            class,
            negative_strides: false,
        };
        Ok(Hostile { caps, memory, faults, moved: AtomicU64::new(0), worker })
    }

    /// Bytes that were uploaded and downloaded.
    pub fn moved(&self) -> u64 {
        self.moved.load(Ordering::Acquire)
    }

    fn gone(&self) -> Result<()> {
        if self.memory.is_lost() { Err(lost()) } else { Ok(()) }
    }
}

fn lost() -> Error {
    Error::device("hostile:0 was lost")
}

/// The program with every function call replaced by what the function is made of.
///
/// # Errors
/// A sentence naming what the device lacks.
fn expanded(kernel: &Kernel) -> Result<Program, String> {
    let Kernel::Map(map) = kernel else { return Err(format!("no {} here", kernel.kind())) };
    let outputs = (0..map.program.outputs.len()).map(|n| map.program.output_dtype(n));
    if let Some(other) = map.program.inputs.iter().copied().chain(outputs).find(|&d| d != DType::F32) {
        return Err(format!("float32 only, not {other}"));
    }
    let program = math::expand_calls(&map.program);
    match program.instrs.iter().find(|i| !matches!(i.dtype, DType::F32 | DType::U32 | DType::Bool)) {
        Some(instr) if matches!(instr.op, Op::Index(_)) => Err("no positions".into()),
        Some(instr) => Err(format!("no {} inside a program", instr.dtype)),
        None => Ok(program),
    }
}

impl Backend for Hostile {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn alloc(&self, bytes: usize) -> Result<Buffer> {
        self.gone()?;
        if bytes > MAX_BUFFER {
            return Err(Error::out_of_memory(format!("{bytes} bytes: a buffer of hostile:0 has at most {MAX_BUFFER}")));
        }
        if self.faults.alloc.strikes_twice() {
            return Err(Error::out_of_memory(format!("{bytes} bytes on hostile:0")));
        }
        Ok(self.memory.alloc(bytes))
    }

    fn upload(&self, from: &[u8], to: &Buffer, offset: usize) -> Result<()> {
        self.gone()?;
        if self.faults.upload.strikes() {
            return Err(Error::device("hostile:0 refused an upload"));
        }
        self.memory.with(to, |bytes| match bytes.get_mut(offset..).and_then(|b| b.get_mut(..from.len())) {
            Some(target) => {
                target.copy_from_slice(from);
                self.moved.fetch_add(from.len() as u64, Ordering::AcqRel);
                Ok(())
            }
            None => Err(Error::internal("an upload reaches beyond its buffer")),
        })?
    }

    fn download(&self, from: &Buffer, offset: usize, to: &mut [u8]) -> Result<()> {
        self.gone()?;
        if self.faults.download.strikes() {
            return Err(Error::device("hostile:0 refused a download"));
        }
        self.memory.with(from, |bytes| match bytes.get(offset..).and_then(|b| b.get(..to.len())) {
            Some(source) => {
                to.copy_from_slice(source);
                self.moved.fetch_add(source.len() as u64, Ordering::AcqRel);
                Ok(())
            }
            None => Err(Error::internal("a download reaches beyond its buffer")),
        })?
    }

    fn supports(&self, kernel: &Kernel) -> Result<(), String> {
        expanded(kernel).map(drop)
    }

    fn prepare(&self, kernel: &Kernel) -> Result<Arc<dyn Prepared>> {
        let program = expanded(kernel).map_err(Error::unsupported)?;
        Ok(Arc::new(Expanded(Map { program })))
    }

    fn submit(&self, batch: Batch) -> Ticket {
        if self.faults.submit.strikes() {
            self.memory.lose();
        }
        if self.gone().is_err() {
            return Ticket::Done(Outcome { failed: Vec::new(), lost: Some(lost()) });
        }
        Ticket::Pending(self.worker.submit(batch))
    }

    fn poll(&self, ticket: u64) -> Option<Outcome> {
        self.worker.poll(ticket)
    }

    fn wait(&self, ticket: u64, deadline: Instant) -> Option<Outcome> {
        self.worker.wait(ticket, deadline)
    }

    fn mem(&self) -> MemInfo {
        MemInfo { used: self.memory.used(), total: 0 }
    }

    fn trim(&self) {}
}

fn run(memory: &Arc<Memory>, faults: &Faults, batch: Batch) -> Outcome {
    let mut outcome = Outcome::default();
    for (n, launch) in batch.launches.iter().enumerate() {
        let result = if faults.launch.strikes() {
            Err(Error::device("hostile:0 failed a launch"))
        } else {
            run_launch(memory, launch)
        };
        outcome.failed.extend(result.err().map(|e| (n, e)));
    }
    outcome
}

fn run_launch(memory: &Arc<Memory>, launch: &Launch) -> Result<()> {
    let map = launch.kernel.as_any().downcast_ref::<Expanded>().ok_or_else(|| Error::internal("a foreign kernel"))?;
    let size = DType::F32.bytes();
    let operands = || launch.inputs.iter().chain(&launch.outputs);
    if operands().any(|o| o.layout.strides().iter().any(|&s| s < 0)) {
        return Err(Error::internal("a negative stride reached a device without them"));
    }
    let gather = |o: &Operand| memory.with(&o.buffer, |bytes| Array::gather(bytes, &o.layout, DType::F32))?;
    let inputs = launch.inputs.iter().map(gather).collect::<Result<Vec<Array>>>()?;
    let dims: Vec<&[usize]> = launch.outputs.iter().map(|o| o.layout.dims()).collect();
    let outputs = reference::run(&Kernel::Map(map.0.clone()), &inputs, &dims, &launch.params)?;
    for (array, o) in outputs.iter().zip(&launch.outputs) {
        memory.with(&o.buffer, |bytes| {
            for (at, element) in positions(&o.layout).zip(array.bytes().chunks_exact(size)) {
                let target = bytes.get_mut(at * size..(at + 1) * size);
                target.ok_or_else(|| Error::internal("a layout reaches outside its buffer"))?.copy_from_slice(element);
            }
            Ok(())
        })??;
    }
    Ok(())
}
