//! The checkers checked: backends that are wrong in one way each, and every row broken in every way before NumPy's answers.
//! Whatever is broken must be found by the same code that finds real faults; the unbroken one must pass.

use crate::Check;
use crate::breadth;
use crate::case::Placement;
use crate::golden;
use crate::guards;
use crate::machine::Machine;
use crate::mutants;
use crate::rows;
use ferrotensor_core::backend::{Backend, Batch, Buffer, Caps, Launch, MemInfo, Outcome, Prepared, Ticket};
use ferrotensor_core::kernel::Kernel;
use ferrotensor_core::layout::{Layout, positions};
use ferrotensor_core::{DType, Result};
use ferrotensor_cpu::{CpuBackend, Tier};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// What a backend does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Nothing,
    /// A high bit of the first element: of the exponent, for floats.
    FlippedBit,
    /// The last element is never written.
    LastElement,
    /// Operands are taken for dense ones.
    Strides,
    /// Nothing runs: what was in memory stays.
    Stale,
    /// One element too many.
    Overrun,
    /// One element before the first.
    Underrun,
    /// An input is overwritten.
    Input,
    /// Failed launches are reported as done.
    Silence,
}

const FAULTS: [Fault; 9] = [
    Fault::Nothing,
    Fault::FlippedBit,
    Fault::LastElement,
    Fault::Strides,
    Fault::Stale,
    Fault::Overrun,
    Fault::Underrun,
    Fault::Input,
    Fault::Silence,
];

/// The CPU, broken.
struct Broken {
    cpu: CpuBackend,
    fault: Fault,
}

/// A prepared kernel with the element sizes of its operands, which faults need to know.
struct Sized {
    inner: Arc<dyn Prepared>,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
}

impl Prepared for Sized {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Broken {
    fn bytes(&self, buffer: &Buffer) -> Vec<u8> {
        let mut bytes = vec![0; buffer.bytes()];
        // The whole of a buffer of this backend can be read.
        let _ = self.cpu.download(buffer, 0, &mut bytes);
        bytes
    }

    fn launch(&self, launch: Launch) -> Outcome {
        let Some(sized) = launch.kernel.as_any().downcast_ref::<Sized>() else { return Outcome::default() };
        let mut inner = Launch {
            kernel: Arc::clone(&sized.inner),
            inputs: launch.inputs.clone(),
            outputs: launch.outputs.clone(),
            params: launch.params.clone(),
        };
        if self.fault == Fault::Strides {
            for (operand, size) in inner.inputs.iter_mut().zip(&sized.inputs) {
                let elements = operand.buffer.bytes() / size;
                if let Ok(dense) = Layout::dense(operand.layout.dims())
                    && let Ok(layout) = Layout::new(dense.dims(), dense.strides(), operand.layout.offset(), elements)
                {
                    operand.layout = layout;
                }
            }
        }
        let (output, size) = (&launch.outputs[0], sized.outputs[0]);
        let before = self.bytes(&output.buffer);
        let outcome = if self.fault == Fault::Stale { Outcome::default() } else { guards::finish(&self.cpu, vec![inner]) };
        let mut now = self.bytes(&output.buffer);
        let places: Vec<usize> = positions(&output.layout).map(|p| p * size).collect();
        if let (Some(&first), Some(&last)) = (places.iter().min(), places.iter().max()) {
            match self.fault {
                Fault::FlippedBit => now[places[0] + size - 1] ^= 1 << if size == 1 { 0 } else { 5 },
                Fault::LastElement => now[last..last + size].copy_from_slice(&before[last..last + size]),
                Fault::Overrun if last + size < now.len() => now[last + size] ^= 0x11,
                Fault::Underrun if first > 0 => now[first - 1] ^= 0x11,
                Fault::Input => {
                    if let Some(input) = launch.inputs.first()
                        && let Some(at) = positions(&input.layout).next()
                    {
                        let mut bytes = self.bytes(&input.buffer);
                        bytes[at * sized.inputs[0]] ^= 1;
                        let _ = self.cpu.upload(&bytes, &input.buffer, 0);
                    }
                }
                _ => {}
            }
            let _ = self.cpu.upload(&now, &output.buffer, 0);
        }
        outcome
    }
}

impl Backend for Broken {
    fn caps(&self) -> &Caps {
        self.cpu.caps()
    }
    fn alloc(&self, bytes: usize) -> Result<Buffer> {
        self.cpu.alloc(bytes)
    }
    fn upload(&self, from: &[u8], to: &Buffer, offset: usize) -> Result<()> {
        self.cpu.upload(from, to, offset)
    }
    fn download(&self, from: &Buffer, offset: usize, to: &mut [u8]) -> Result<()> {
        self.cpu.download(from, offset, to)
    }
    fn supports(&self, kernel: &Kernel) -> Result<(), String> {
        self.cpu.supports(kernel)
    }
    fn prepare(&self, kernel: &Kernel) -> Result<Arc<dyn Prepared>> {
        let sizes = |dtypes: Vec<DType>| dtypes.into_iter().map(DType::bytes).collect();
        Ok(Arc::new(Sized {
            inner: self.cpu.prepare(kernel)?,
            inputs: sizes(kernel.inputs()),
            outputs: sizes(kernel.outputs()),
        }))
    }
    fn submit(&self, batch: Batch) -> Ticket {
        let mut out = Outcome::default();
        for (n, launch) in batch.launches.iter().cloned().enumerate() {
            let outcome = self.launch(launch);
            if self.fault != Fault::Silence {
                out.failed.extend(outcome.failed.into_iter().map(|(_, e)| (n, e)));
            }
        }
        Ticket::Done(out)
    }
    fn poll(&self, ticket: u64) -> Option<Outcome> {
        self.cpu.poll(ticket)
    }
    fn wait(&self, ticket: u64, deadline: Instant) -> Option<Outcome> {
        self.cpu.wait(ticket, deadline)
    }
    fn mem(&self) -> MemInfo {
        self.cpu.mem()
    }
    fn trim(&self) {
        self.cpu.trim();
    }
}

fn broken(fault: Fault) -> Result<Broken, String> {
    Ok(Broken { cpu: CpuBackend::new(Tier::Baseline)?, fault })
}

/// The tests.
pub fn trials() -> Vec<(String, Check)> {
    let mut out: Vec<(String, Check)> = Vec::new();
    for fault in FAULTS {
        // Guards see no reports; what happens beside the operands is theirs alone to find.
        if fault != Fault::Silence {
            out.push((format!("saboteur/guards find {fault:?}"), Box::new(move || guards_find(fault))));
        }
        if !matches!(fault, Fault::Overrun | Fault::Underrun | Fault::Input) {
            out.push((format!("saboteur/rows find {fault:?}"), Box::new(move || rows_find(fault))));
        }
    }
    // What was broken before them is in mutants.txt, with a hash of both: only a change can let a mutant live.
    if breadth::is_whole() {
        match golden::answers() {
            Err(e) => out.push(("saboteur/answers".into(), Box::new(move || Err(e)))),
            Ok(rows) => out.extend(rows.iter().map(|(row, goldens)| -> (String, Check) {
                (format!("saboteur/answers find mutants of {row}"), Box::new(move || mutants::found(row, goldens)))
            })),
        }
    }
    out
}

/// Faults that only memory around the operands shows, or only a launch that fails.
fn guards_find(fault: Fault) -> Result<(), String> {
    let backend = broken(fault)?;
    for dtype in [DType::F32, DType::I32] {
        let mut cases = guards::cases(dtype, Placement::Sliced).map_err(|e| e.message)?;
        // Without elements nothing can be wrong; operands that are dense cannot be mistaken for dense ones.
        cases.retain(|(_, c)| c.outputs.iter().all(|d| d.iter().product::<usize>() > 0));
        if fault == Fault::Strides {
            cases.retain(|(name, c)| !name.starts_with("sort") && !name.contains("Arg") && c.inputs.iter().all(is_many));
        }
        if fault == Fault::Input {
            cases.retain(|(_, c)| c.inputs.iter().all(is_some));
        }
        if cases.len() < 10 {
            return Err(format!("only {} kernels are left to find it in", cases.len()));
        }
        let missed: Vec<&String> =
            cases.iter().filter(|(_, c)| guards::check(&backend, c).is_ok()).map(|(n, _)| n).collect();
        // A reduction of equal elements, or a maximum that stays, is right by chance for one case in a few.
        let allowed = if fault == Fault::Strides { cases.len() / 3 } else { 0 };
        match fault {
            Fault::Nothing if missed.len() == cases.len() => {}
            Fault::Nothing => return Err("the backend that does nothing wrong was blamed".into()),
            _ if missed.len() > allowed => {
                return Err(format!("{} of {} kernels passed: {missed:?}", missed.len(), cases.len()));
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_some(operand: &crate::case::Operand) -> bool {
    matches!(operand, crate::case::Operand::Tensor { logical, .. } if !logical.is_empty())
}

fn is_many(operand: &crate::case::Operand) -> bool {
    matches!(operand, crate::case::Operand::Tensor { logical, .. } if logical.len() > 4)
}

/// Every fault that changes a result is found through the engine, by the comparison the rows use.
fn rows_find(fault: Fault) -> Result<(), String> {
    let found = |op: &str, dtype: DType| -> Result<bool, String> {
        let mut machine = Machine::over(Arc::new(broken(fault)?), true);
        rows::sample(op, dtype, &mut machine).map(|right| !right)
    };
    if fault == Fault::Silence {
        let mut machine = Machine::over(Arc::new(broken(fault)?), true);
        return if crate::refusals::takes_bad_index(&mut machine)? {
            Ok(())
        } else {
            Err("an index out of range was found where it was silenced".into())
        };
    }
    for (op, dtype) in [
        ("add", DType::F32),
        ("sum", DType::I32),
        ("cumulativeSum", DType::F32),
        ("take", DType::F32),
        ("sort", DType::I16),
        ("matmul", DType::I32),
        ("astype", DType::U8),
    ] {
        let found = found(op, dtype)?;
        if found != (fault != Fault::Nothing) {
            return Err(format!("{op} {dtype}: {}", if found { "blamed" } else { "not found" }));
        }
    }
    Ok(())
}
