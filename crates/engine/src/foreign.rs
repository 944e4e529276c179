//! A kernel that runs off its tensors' device: the memory its operands reach is downloaded, the results are uploaded.

use crate::job::run_one;
use crate::resolve::{HostRoutine, Target};
use ferrotensor_core::backend::{Backend, Launch, Operand, Prepared};
use ferrotensor_core::kernel::Routine;
use ferrotensor_core::layout::Layout;
use ferrotensor_core::planted;
use ferrotensor_core::{DType, Error, Result};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// An operand with its dtype.
pub type Typed = (Operand, DType);

/// The kernel and its operands. Those of a routine are dense; the CPU takes any layout.
pub struct Foreign {
    /// What runs it.
    pub target: Target,
    /// Why the device does not, as in [`crate::resolve::Resolved`].
    pub reason: Option<String>,
    /// Input operands, in the kernel's order.
    pub inputs: SmallVec<[Typed; 3]>,
    /// Output operands, in the kernel's order.
    pub outputs: SmallVec<[Typed; 1]>,
    /// Launch parameters.
    pub params: SmallVec<[u64; 4]>,
}

impl Foreign {
    /// Runs it to its end.
    ///
    /// # Errors
    /// Those of the kernel and of the transfers.
    pub fn run(
        &self,
        device: &dyn Backend,
        cpu: Option<&dyn Backend>,
        host: HostRoutine,
        abandoned: &Arc<AtomicBool>,
    ) -> Result<()> {
        match (&self.target, cpu) {
            (Target::Host(routine), _) => self.on_host(routine, device, host),
            (Target::Cpu(kernel), Some(cpu)) => self.on_cpu(kernel, device, cpu, abandoned),
            _ => Err(Error::internal("no target for a foreign kernel")),
        }
    }

    /// Bytes that cross the border.
    pub fn bytes(&self) -> u64 {
        let surrounded = self.outputs.iter().filter(|o| self.is_surrounded(o));
        let counted = if planted::is("results-alone-count-as-carried") { 0 } else { self.inputs.len() };
        self.inputs[..counted].iter().chain(&self.outputs).chain(surrounded).map(|o| span(o).len() as u64).sum()
    }

    /// Whether an output is a region with other elements in between: the CPU must be given them, to give them back. The span of
    /// a dense one has no others.
    fn is_surrounded(&self, output: &Typed) -> bool {
        let fetched = !planted::is("a-fallback-overwrites-its-surroundings");
        fetched && matches!(self.target, Target::Cpu(_)) && !output.0.layout.is_row_major()
    }

    /// Where the operands lie if the host can reach them; else in copies, whose fresh pages cost more than some routines (a transform of 2^16
    /// elements 1.0 ms instead of 0.3).
    fn on_host(&self, routine: &Routine, device: &dyn Backend, host: HostRoutine) -> Result<()> {
        let from: Vec<_> = self.inputs.iter().map(|o| (&o.0.buffer, span(o))).collect();
        let to: Vec<_> = self.outputs.iter().map(|o| (&o.0.buffer, span(o))).collect();
        let mut run = |inputs: &[&[u8]], outputs: &mut [&mut [u8]]| {
            let inputs: Vec<_> = inputs.iter().zip(&self.inputs).map(|(&m, o)| (m, o.0.layout.dims())).collect();
            let mut outputs: Vec<_> =
                outputs.iter_mut().zip(&self.outputs).map(|(m, o)| (&mut **m, o.0.layout.dims())).collect();
            host(routine, &inputs, &mut outputs)
        };
        if let Some(result) = device.in_place(&from, &to, &mut run) {
            return result;
        }
        let ins = self.inputs.iter().map(|o| download(device, o)).collect::<Result<Vec<_>>>()?;
        let mut outs = self.outputs.iter().map(|o| memory(span(o).len())).collect::<Result<Vec<_>>>()?;
        let inputs: Vec<&[u8]> = ins.iter().zip(&self.inputs).map(|(m, o)| &bytes_of(m)[..span(o).len()]).collect();
        let mut outputs: Vec<&mut [u8]> =
            outs.iter_mut().zip(&self.outputs).map(|(m, o)| &mut bytemuck::cast_slice_mut(m)[..span(o).len()]).collect();
        run(&inputs, &mut outputs)?;
        outs.iter().zip(&self.outputs).try_for_each(|(m, o)| upload(device, m, o))
    }

    fn on_cpu(
        &self,
        kernel: &Arc<dyn Prepared>,
        device: &dyn Backend,
        cpu: &dyn Backend,
        abandoned: &Arc<AtomicBool>,
    ) -> Result<()> {
        let fetch = |o: &Typed| fetch(device, cpu, o);
        let target = |o: &Typed| if self.is_surrounded(o) { fetch(o) } else { place(cpu, o) };
        let inputs = self.inputs.iter().map(fetch).collect::<Result<_>>()?;
        let outputs: SmallVec<[Operand; 1]> = self.outputs.iter().map(target).collect::<Result<_>>()?;
        let (kernel, params) = (Arc::clone(kernel), self.params.clone());
        run_one(cpu, Launch { kernel, inputs, outputs: outputs.clone(), params }, abandoned)?;
        for (o, done) in self.outputs.iter().zip(&outputs) {
            let mut bytes = memory(span(o).len())?;
            cpu.download(&done.buffer, 0, &mut bytemuck::cast_slice_mut(&mut bytes)[..span(o).len()])?;
            upload(device, &bytes, o)?;
        }
        Ok(())
    }
}

/// The bytes of its buffer that an operand reaches.
fn span((operand, dtype): &Typed) -> Range<usize> {
    let range = operand.layout.range();
    range.start * dtype.bytes()..range.end * dtype.bytes()
}

/// Memory on another device for what an operand reaches, and the operand there.
fn place(device: &dyn Backend, o: &Typed) -> Result<Operand> {
    let (layout, range) = (&o.0.layout, o.0.layout.range());
    let buffer = device.alloc(span(o).len())?;
    let layout = Layout::new(layout.dims(), layout.strides(), layout.offset().saturating_sub(range.start), range.len())?;
    Ok(Operand { buffer, layout })
}

/// The operand with its memory on another device.
fn fetch(from: &dyn Backend, to: &dyn Backend, o: &Typed) -> Result<Operand> {
    let placed = place(to, o)?;
    let bytes = download(from, o)?;
    to.upload(&bytes_of(&bytes)[..span(o).len()], &placed.buffer, 0)?;
    Ok(placed)
}

/// The elements of an operand, dense, made by the host: for devices that cannot copy it themselves.
///
/// # Errors
/// Those of the transfer.
pub fn gather(device: &dyn Backend, o: &Typed, out: &mut [u8]) -> Result<()> {
    let (bytes, first, size) = (download(device, o)?, o.0.layout.range().start, o.1.bytes());
    for (at, element) in ferrotensor_core::layout::positions(&o.0.layout).zip(out.chunks_exact_mut(size)) {
        element.copy_from_slice(&bytes_of(&bytes)[(at - first) * size..][..size]);
    }
    Ok(())
}

fn download(device: &dyn Backend, o: &Typed) -> Result<Vec<u64>> {
    let span = span(o);
    let mut bytes = memory(span.len())?;
    if !span.is_empty() {
        device.download(&o.0.buffer, span.start, &mut bytemuck::cast_slice_mut(&mut bytes)[..span.len()])?;
    }
    Ok(bytes)
}

fn upload(device: &dyn Backend, bytes: &[u64], o: &Typed) -> Result<()> {
    let span = span(o);
    if span.is_empty() { Ok(()) } else { device.upload(&bytes_of(bytes)[..span.len()], &o.0.buffer, span.start) }
}

/// Host memory in words: routines need it aligned.
fn memory(bytes: usize) -> Result<Vec<u64>> {
    let refused = || Error::out_of_memory(format!("{bytes} bytes on the host"));
    #[cfg(feature = "fault")]
    if crate::fault::MEMORY.strikes() {
        return Err(refused());
    }
    let words = bytes.div_ceil(8);
    let mut memory = Vec::new();
    memory.try_reserve_exact(words).map_err(|_| refused())?;
    memory.resize(words, 0);
    Ok(memory)
}

fn bytes_of(words: &[u64]) -> &[u8] {
    bytemuck::cast_slice(words)
}
