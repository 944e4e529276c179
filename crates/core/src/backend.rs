//! The contract between the engine and a device: an object-safe trait of a dozen coarse methods.
//!
//! A backend sees kernels and buffers, never operations or tensors. Work is submitted in batches; a batch's errors are
//! reported with its ticket, possibly long after `submit` returned.

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::layout::Layout;
use smallvec::SmallVec;
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Memory of one device. Dropping the last handle gives it back to the device.
pub trait DeviceBuffer: Send + Sync {
    /// Size in bytes, at least what was asked for.
    fn bytes(&self) -> usize;
    /// Whether the device was lost with everything on it: such memory is not used again.
    fn is_lost(&self) -> bool {
        false
    }
    /// Says that what it holds is read no more: it may be written next, and what was derived from it goes.
    fn invalidate(&self) {}
    /// For the backend's own downcast.
    fn as_any(&self) -> &dyn Any;
}

/// A shared handle of device memory.
pub type Buffer = Arc<dyn DeviceBuffer>;

/// Bytes of a buffer.
pub type Stretch<'a> = (&'a Buffer, Range<usize>);

/// What is done with inputs and outputs in host memory.
pub type HostWork<'a> = dyn FnMut(&[&[u8]], &mut [&mut [u8]]) -> Result<()> + 'a;

/// A kernel made ready by its backend.
pub trait Prepared: Send + Sync {
    /// For the backend's own downcast.
    fn as_any(&self) -> &dyn Any;
}

/// A buffer seen through a layout.
#[derive(Clone)]
pub struct Operand {
    /// Where the elements are.
    pub buffer: Buffer,
    /// How they lie, in elements of the operand's dtype.
    pub layout: Layout,
}

/// One kernel with its operands. Outputs never overlap inputs or each other.
#[derive(Clone)]
pub struct Launch {
    /// From this backend's `prepare`.
    pub kernel: Arc<dyn Prepared>,
    /// Input operands, in the kernel's order.
    pub inputs: SmallVec<[Operand; 3]>,
    /// Output operands, in the kernel's order.
    pub outputs: SmallVec<[Operand; 1]>,
    /// 8 bytes for each parameter.
    pub params: SmallVec<[u64; 4]>,
}

/// Launches in order, each seeing the results of those before it.
pub struct Batch {
    /// The work. Whoever submits it may want to do so once more.
    pub launches: Arc<Vec<Launch>>,
    /// Set when nobody waits for the results any more: the backend may stop after a few tiles.
    pub abandoned: Arc<AtomicBool>,
    /// Bytes that the backend may keep beside the buffers it was asked for, all in all: what the budget leaves.
    pub spare: usize,
}

impl Batch {
    /// A batch nobody can abandon, under no budget.
    pub fn new(launches: Vec<Launch>) -> Self {
        Batch { launches: Arc::new(launches), abandoned: Arc::default(), spare: usize::MAX }
    }

    /// Whether the work may be dropped.
    pub fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }
}

/// How a batch ended.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Launches that failed by their values (position in the batch, error). The others completed.
    pub failed: Vec<(usize, Error)>,
    /// The whole batch failed: device lost, abandoned.
    pub lost: Option<Error>,
}

/// Names a submitted batch of one backend.
#[derive(Debug)]
pub enum Ticket {
    /// The batch ran inside `submit`.
    Done(Outcome),
    /// To be asked with `poll` or `wait`.
    Pending(u64),
}

/// What stands behind a device, from the least fit to be the default to the best; see [`crate::registry::Registry::preferred`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeviceClass {
    /// A program that imitates other hardware (a driver that renders on the CPU, a simulator): never the default.
    Software,
    /// The processor this process runs on.
    Cpu,
    /// A GPU that shares the processor's memory.
    Integrated,
    /// A GPU or another accelerator with memory of its own.
    Discrete,
}

impl DeviceClass {
    /// The name users see.
    pub const fn name(self) -> &'static str {
        match self {
            DeviceClass::Software => "software",
            DeviceClass::Cpu => "cpu",
            DeviceClass::Integrated => "integrated",
            DeviceClass::Discrete => "discrete",
        }
    }
}

/// What a device is and can do.
#[derive(Clone, Debug)]
pub struct Caps {
    /// Device name as users write it: `cpu`, `vulkan:0`.
    pub name: String,
    /// What the device calls itself, with the engine chosen (instruction set, driver).
    pub description: String,
    /// Largest buffer in bytes.
    pub max_buffer: usize,
    /// What stands behind it.
    pub class: DeviceClass,
    /// Whether operands may be walked backwards. Where not, what has such an operand runs on the CPU.
    pub negative_strides: bool,
}

/// Bytes a device has handed out and has in all (0: unknown).
#[derive(Clone, Copy, Debug, Default)]
pub struct MemInfo {
    /// In buffers that exist.
    pub used: usize,
    /// Of the device.
    pub total: usize,
}

/// What a device does at best, in a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// Bytes of a copy from memory to memory, those read and those written together.
    pub copy: f64,
    /// Floating-point operations in float32, two for each fused multiply-add.
    pub float32: f64,
    /// The same in float64.
    pub float64: f64,
}

/// A device.
pub trait Backend: Send + Sync {
    /// What it is. Constant.
    fn caps(&self) -> &Caps;

    /// New memory, aligned to 64 bytes, its content undefined.
    ///
    /// # Errors
    /// `Code::OutOfMemory`, with nothing changed.
    fn alloc(&self, bytes: usize) -> Result<Buffer>;

    /// Copies host bytes to `offset` of a buffer, ordered before later batches.
    fn upload(&self, from: &[u8], to: &Buffer, offset: usize) -> Result<()>;

    /// Copies bytes from `offset` of a buffer to the host; the caller has waited for the batches that write it.
    fn download(&self, from: &Buffer, offset: usize, to: &mut [u8]) -> Result<()>;

    /// Calls `work` with bytes of buffers where they lie, if the device's memory is the host's and no output overlaps another operand. The
    /// caller has waited for the batches that write the inputs, and nobody else uses the outputs meanwhile.
    fn in_place(&self, _inputs: &[Stretch], _outputs: &[Stretch], _work: &mut HostWork) -> Option<Result<()>> {
        None
    }

    /// Whether `prepare` would succeed, or the reason why not. Derived from the code `prepare` runs.
    fn supports(&self, kernel: &Kernel) -> Result<(), String>;

    /// Makes a kernel ready to launch.
    fn prepare(&self, kernel: &Kernel) -> Result<Arc<dyn Prepared>>;

    /// Starts a batch. May run it before returning.
    fn submit(&self, batch: Batch) -> Ticket;

    /// The outcome, if the batch has ended. A ticket answers once.
    fn poll(&self, ticket: u64) -> Option<Outcome>;

    /// Waits for the outcome until the deadline.
    fn wait(&self, ticket: u64, deadline: Instant) -> Option<Outcome>;

    /// Memory handed out.
    fn mem(&self) -> MemInfo;

    /// Bytes in copies of operands that it keeps to be faster, under [`Batch::spare`].
    fn kept(&self) -> usize {
        0
    }

    /// Gives cached memory and those copies back to the operating system or driver.
    fn trim(&self);

    /// What it does at best, where that is known; measured when first asked, which may take a moment.
    fn peak(&self) -> Option<Peak> {
        None
    }

    /// Called when the process may be about to end: saves what should outlive it, and waits a little for what still runs.
    fn settle(&self) {}
}
