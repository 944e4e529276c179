//! What a prepared kernel runs with: its operands as raw memory, and the circumstances of the batch.

use crate::memory::{Account, CpuBuffer};
use crate::tier::Tier;
use ferrotensor_core::backend::{Launch, Operand, Prepared};
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::layout::Layout;
use smallvec::SmallVec;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The circumstances of a launch.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Set when nobody waits for the results any more.
    pub abandoned: &'a AtomicBool,
    /// Where temporary buffers are counted, and copies of operands kept.
    pub account: &'a Arc<Account>,
    /// Bytes that copies of operands may take, all in all.
    pub spare: usize,
}

/// A layout and the start of its buffer.
pub type Slot<'a> = (&'a Layout, *mut u8);

/// Operands of a launch.
pub struct Slots<'a> {
    /// In the kernel's order.
    pub inputs: SmallVec<[Slot<'a>; 3]>,
    /// In the kernel's order.
    pub outputs: SmallVec<[Slot<'a>; 1]>,
}

/// A kernel that can run.
pub trait Run: Send + Sync {
    /// Computes the outputs. The number of operands has been checked.
    ///
    /// # Errors
    /// Those that depend on values, `Code::OutOfMemory` for temporaries, `Code::Internal` for broken invariants.
    fn run(&self, slots: &Slots, params: &[u64], context: &Context) -> Result<()>;
}

/// A kernel of this backend.
pub struct CpuKernel {
    /// The compiled kernel.
    pub run: Box<dyn Run>,
    /// Element size of each input.
    pub inputs: SmallVec<[usize; 4]>,
    /// Element size of each output.
    pub outputs: SmallVec<[usize; 2]>,
    /// Number of parameters.
    pub params: usize,
    /// The tier it was compiled for.
    pub tier: Tier,
}

impl Prepared for CpuKernel {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl CpuKernel {
    /// Runs a launch of this kernel.
    ///
    /// # Errors
    /// As [`Run::run`]; `Code::Internal` for operands that are not ours or not as many as the kernel has.
    pub fn launch(&self, launch: &Launch, context: &Context) -> Result<()> {
        if launch.inputs.len() != self.inputs.len()
            || launch.outputs.len() != self.outputs.len()
            || launch.params.len() != self.params
        {
            return Err(Error::internal("launch: operands or parameters are not as many as the kernel has"));
        }
        let mut slots = Slots { inputs: SmallVec::new(), outputs: SmallVec::new() };
        for (operand, &size) in launch.inputs.iter().zip(&self.inputs) {
            slots.inputs.push(slot(operand, size)?);
        }
        for (operand, &size) in launch.outputs.iter().zip(&self.outputs) {
            slots.outputs.push(slot(operand, size)?);
            operand.buffer.invalidate();
        }
        self.run.run(&slots, &launch.params, context)
    }
}

fn slot(operand: &Operand, size: usize) -> Result<Slot<'_>> {
    let buffer = own(&operand.buffer)?;
    if cfg!(debug_assertions) {
        let (l, len) = (&operand.layout, operand.buffer.bytes() / size);
        Layout::new(l.dims(), l.strides(), l.offset(), len)?;
    }
    Ok((&operand.layout, buffer.as_ptr()))
}

/// The memory behind a buffer.
///
/// # Errors
/// `Code::Internal` for another backend's buffer.
pub fn own(buffer: &ferrotensor_core::backend::Buffer) -> Result<&CpuBuffer> {
    buffer.as_any().downcast_ref().ok_or_else(|| Error::internal("a buffer of another backend reached the CPU"))
}
