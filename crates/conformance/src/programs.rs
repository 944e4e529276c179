//! Random programs of 5 to 15 operations with several outputs, views and broadcasts included: as one program with fusion, one
//! without, and one program for each operation. All must agree bit by bit, and with the reference; on devices beside the CPU also with
//! the CPU.

use crate::Check;
use crate::breadth;
use crate::case::Placement;
use crate::compare;
use crate::executor::{self, Known};
use crate::machine::{self, Device, Machine, read};
use crate::recipe::Recipe;
use crate::rows::SameBits;
use crate::values::{self, Fill, Rng};
use ferrotensor_core::reference::Array;
use ferrotensor_core::{DType, Error, Result};
use ferrotensor_cpu::Tier;
use ferrotensor_engine::Tensor;
use ferrotensor_engine::program::head;
use ferrotensor_ops::attrs::Attrs;
use ferrotensor_ops::def::{Form, Namespace, OpDef};
use ferrotensor_ops::graph::{Def, Graph, Val};
use ferrotensor_ops::lower::{self, Operand};
use std::sync::{Arc, OnceLock};

const TRIALS: usize = 100;
const PROGRAMS: usize = 6;
/// Of the trials, those that devices beside the CPU have too.
const SAMPLED_TRIALS: usize = 25;
/// Larger values are not used on: broadcasts of broadcasts grow.
const MOST_ELEMENTS: usize = 4000;

/// The programs of a trial, or why there is none.
type Made = [OnceLock<Result<Program, String>>; PROGRAMS];

/// One test for a few programs on each device.
pub fn trials() -> Vec<(String, Check)> {
    let mut out: Vec<(String, Check)> = Vec::new();
    // Made by the first device that runs them, shared by all.
    let made: Vec<Arc<Made>> = (0..TRIALS).map(|_| Arc::default()).collect();
    for device in Device::present() {
        for (trial, made) in made.iter().enumerate().take(if device.is_cpu() { TRIALS } else { SAMPLED_TRIALS }) {
            if matches!(device, Device::Cpu(tier) if !breadth::takes(&format!("programs/{trial}"), tier)) {
                continue;
            }
            let made = Arc::clone(made);
            out.push((
                format!("programs/{trial}/{}", device.name()),
                Box::new(move || {
                    made.iter().enumerate().try_for_each(|(n, made)| {
                        let name = format!("programs/{trial}/{n}");
                        let program = made.get_or_init(|| generate(&mut Rng::named(&name))).as_ref();
                        let program = program.map_err(|e| format!("{name}: {e}"))?;
                        check(program, device).map_err(|e| {
                            format!(
                                "{name}: {e}\n  {}",
                                program.steps.iter().map(|s| s.show()).collect::<Vec<_>>().join("\n  ")
                            )
                        })
                    })
                }),
            ));
        }
    }
    out
}

/// One operation of a program.
struct Step {
    op: &'static OpDef,
    words: Vec<f64>,
    numbers: Vec<f64>,
    /// Slots of the operands.
    operands: Vec<usize>,
    /// First slot of the results.
    first: usize,
    outputs: usize,
}

impl Step {
    fn show(&self) -> String {
        format!(
            "{} = {} {:?} attributes {:?} numbers {:?}",
            self.first,
            self.op.path(),
            self.operands,
            self.words,
            self.numbers
        )
    }
}

struct Input {
    base: Array,
    placement: Placement,
    dims: Vec<usize>,
}

struct Program {
    inputs: Vec<Input>,
    steps: Vec<Step>,
    /// The reference's value of each slot.
    slots: Vec<Known>,
    outputs: Vec<usize>,
    same_bits: SameBits,
}

/// Rows that show the bits of a NaN, which are promised of none that was computed.
pub const SHOW_NAN: [&str; 3] = ["signbit", "copysign", "bitcast"];

/// Rows that stand inside programs: those of tensors, without failures that depend on values (indices, singular matrices), without
/// those whose bounds say little of inexact operands (powers, factors), and without [`SHOW_NAN`].
fn eligible(op: &OpDef) -> bool {
    let special = ["take", "scatterAdd", "oneHot", "withAt", "linalg.solve", "linalg.qr", "pow"];
    !op.operands.is_empty()
        && (op.form != Form::Internal || op.name == "at")
        && op.namespace != Namespace::Random
        && op.namespace != Namespace::Fft
        && op.operands[0].name != "fillValue"
        && !special.contains(&op.path().as_ref())
        && !SHOW_NAN.contains(&op.name)
}

/// Rows that fusion makes kernels of rows of, where they go along the last axes.
const ALONG_ROWS: [&str; 10] =
    ["softmax", "logSoftmax", "logsumexp", "nn.layerNorm", "nn.rmsNorm", "nn.groupNorm", "var", "std", "sum", "max"];

/// One of these.
fn along_rows(rng: &mut Rng) -> &'static OpDef {
    let name = ALONG_ROWS[rng.below(ALONG_ROWS.len())];
    ferrotensor_ops::find(name).unwrap_or(&ferrotensor_ops::OPS[0])
}

fn generate(rng: &mut Rng) -> Result<Program, String> {
    let text = |e: Error| e.message;
    let mut graph = Graph::default();
    let (mut values, mut inputs) = (Vec::new(), Vec::new());
    let mut program = Program {
        inputs: Vec::new(),
        steps: Vec::new(),
        slots: Vec::new(),
        outputs: Vec::new(),
        same_bits: SameBits::Everywhere,
    };
    let dtypes = [
        DType::F32,
        DType::F32,
        DType::F64,
        DType::I32,
        DType::F16,
        DType::BF16,
        DType::U8,
        DType::I64,
        DType::C64,
        DType::Bool,
    ];
    let shapes: [&[usize]; 6] = [&[33], &[5, 7], &[2, 3, 4], &[70, 3], &[1, 40], &[2, 3, 2, 2, 3]];
    let main = rng.below(dtypes.len());
    for n in 0..2 + rng.below(2) {
        // Mostly one dtype and shape, so that operands fit.
        let dtype = if rng.below(3) > 0 { dtypes[main] } else { dtypes[rng.below(dtypes.len())] };
        let dims = shapes[(main + rng.below(2)) % shapes.len()];
        let placement = Placement::ALL[rng.below(5)];
        let fill = if rng.below(3) == 0 { Fill::Special } else { Fill::Ordinary(ferrotensor_ops::def::Domain::Any) };
        let base = values::array(dtype, &placement.base_dims(dims), fill, rng).map_err(text)?;
        let crate::case::Operand::Tensor { logical, .. } =
            crate::case::Operand::tensor(base.clone(), placement, dims).map_err(text)?
        else {
            return Err("a tensor is a tensor".into());
        };
        values.push(graph.push(0, Def::Input(n as u32), [(dtype, dims.iter().copied().collect())]));
        inputs.push(Known::exact(logical.clone()));
        program.slots.push(Known::exact(logical));
        program.inputs.push(Input { base, placement, dims: dims.to_vec() });
    }
    let wanted = 5 + rng.below(11);
    let rowed = rng.below(3) == 0;
    let (mut params, mut known) = (Vec::new(), Vec::new());
    for _ in 0..wanted * 60 {
        if program.steps.len() == wanted {
            break;
        }
        let any = &ferrotensor_ops::OPS[rng.below(ferrotensor_ops::OPS.len())];
        let op = if rowed && rng.below(3) == 0 { along_rows(rng) } else { any };
        let Some((words, numbers, operands)) = eligible(op).then(|| choose(op, &program.slots, rng)).flatten() else {
            continue;
        };
        let mut longer = graph.clone();
        let attrs = Attrs::decode(op, &words).map_err(text)?;
        let lowered: Vec<Operand> = operands.iter().map(|&s| Operand::Val(values[s])).collect();
        let Ok(results) = lower::lower(&mut longer, op, &lowered, &attrs, params.len() as u16) else { continue };
        if longer.values.iter().any(|v| v.dims.iter().product::<usize>() > MOST_ELEMENTS) {
            continue;
        }
        let more: Vec<u64> = params.iter().copied().chain(numbers.iter().map(|n| n.to_bits())).collect();
        // What has no defined result (the position of an inexact maximum, ...) is no step.
        let before = known.len();
        let Some(found) = evaluate(&longer, &mut known, &inputs, &more, &results) else {
            known.truncate(before);
            continue;
        };
        let (first, outputs) = (program.slots.len(), results.len());
        (graph, params) = (longer, more);
        values.extend(results);
        program.slots.extend(found);
        program.steps.push(Step { op, words, numbers, operands, first, outputs });
    }
    if program.steps.len() < 5 {
        return Err("fewer than five steps were found".into());
    }
    program.same_bits = SameBits::of(&graph);
    let first = program.inputs.len();
    program.outputs = (first..program.slots.len()).filter(|_| rng.below(3) == 0).collect();
    program.outputs.push(program.slots.len() - 1);
    program.outputs.dedup();
    Ok(program)
}

fn evaluate(
    graph: &Graph,
    known: &mut Vec<Result<Known>>,
    inputs: &[Known],
    params: &[u64],
    wanted: &[Val],
) -> Option<Vec<Known>> {
    executor::extend(graph, known, inputs, params).ok()?;
    wanted.iter().map(|v| known.get(v.0 as usize)?.as_ref().ok().cloned()).collect()
}

/// Attribute words, numbers and operands of a call that may fit the values there are.
fn choose(op: &'static OpDef, slots: &[Known], rng: &mut Rng) -> Option<(Vec<f64>, Vec<f64>, Vec<usize>)> {
    // A list of tensors is of any length; one of indices would have to fit the items, and is left out.
    let count = if op.variadic && op.operands.len() == 1 { 1 + rng.below(3) } else { op.least_operands() };
    // Recent values more often: programs shall be deep.
    let pick = |rng: &mut Rng| slots.len() - 1 - rng.below(slots.len()).min(rng.below(slots.len()));
    let operands: Vec<usize> = (0..count).map(|_| pick(rng)).collect();
    let dims = slots[operands[0]].array.dims();
    let (words, numbers) = Recipe::attributes(op, dims, rng)?;
    Some((words, numbers, operands))
}

fn check(program: &Program, device: Device) -> Result<(), String> {
    let mut first: Option<Vec<Vec<u8>>> = None;
    let same_bits = program.same_bits.on(device);
    let elsewhere = (!device.is_cpu()).then_some(("on the CPU", Device::Cpu(Tier::Baseline), true, true));
    let here =
        [("fused", device, true, true), ("unfused", device, false, true), ("one program an operation", device, true, false)];
    for (variant, device, fusion, whole) in elsewhere.into_iter().chain(here) {
        let got = machine::with(device, fusion, |m| {
            let got = if whole { at_once(m, program) } else { one_by_one(m, program) };
            m.forget();
            got.map_err(|e| e.message)
        });
        let got = got.map_err(|e| format!("{variant}: {e}"))?;
        for (bytes, &slot) in got.iter().zip(&program.outputs) {
            compare::within(bytes, &program.slots[slot]).map_err(|e| format!("{variant}: slot {slot}: {e}"))?;
        }
        let first = first.get_or_insert_with(|| got.clone());
        for ((bytes, wanted), &slot) in got.iter().zip(first.iter()).zip(&program.outputs).filter(|_| same_bits) {
            compare::same_bits(program.slots[slot].array.dtype(), bytes, wanted)
                .map_err(|e| format!("{variant} differs from another variant: slot {slot}: {e}"))?;
        }
    }
    Ok(())
}

fn node(m: &mut Machine, step: &Step, slot: impl Fn(usize) -> i32) -> Result<Vec<i32>> {
    let attr = m.session().intern_attrs(step.op.id(), &step.words)?;
    let mut words = vec![head(step.op.id(), 0, step.numbers.len()), attr];
    if step.op.variadic {
        words.push(step.operands.len() as i32);
    }
    words.extend(step.operands.iter().map(|&s| slot(s)));
    Ok(words)
}

fn uploads(m: &mut Machine, program: &Program) -> Result<Vec<(i32, Arc<Tensor>)>> {
    program.inputs.iter().map(|i| m.place(&i.base, i.placement, &i.dims)).collect()
}

fn at_once(m: &mut Machine, program: &Program) -> Result<Vec<Vec<u8>>> {
    let inputs = uploads(m, program)?;
    let mut words: Vec<i32> = inputs.iter().flat_map(|(id, _)| [0, *id]).collect();
    let mut params = Vec::new();
    for step in &program.steps {
        words.extend(node(m, step, |s| s as i32)?);
        params.extend(step.numbers.iter().map(|n| n.to_bits()));
    }
    let tensors: Vec<Arc<Tensor>> = inputs.into_iter().map(|i| i.1).collect();
    let outputs: Vec<i32> = program.outputs.iter().map(|&o| o as i32).collect();
    m.run(&words, &params, &tensors, &outputs)?.iter().map(|t| read(t)).collect()
}

fn one_by_one(m: &mut Machine, program: &Program) -> Result<Vec<Vec<u8>>> {
    let mut slots: Vec<Arc<Tensor>> = uploads(m, program)?.into_iter().map(|i| i.1).collect();
    for step in &program.steps {
        let mut words = Vec::new();
        let mut tensors = Vec::new();
        let device = m.device();
        for &s in &step.operands {
            let dims: Vec<f64> = slots[s].dims().iter().map(|&d| d as f64).collect();
            words.extend([0, m.session().intern_type(slots[s].dtype() as u8, &dims, device)?]);
            tensors.push(Arc::clone(&slots[s]));
        }
        let order = std::cell::Cell::new(-1);
        words.extend(node(m, step, |_| {
            order.set(order.get() + 1);
            order.get()
        })?);
        let params: Vec<u64> = step.numbers.iter().map(|n| n.to_bits()).collect();
        let outputs: Vec<i32> = (0..step.outputs).map(|o| (step.operands.len() + o) as i32).collect();
        slots.extend(m.run(&words, &params, &tensors, &outputs)?);
    }
    program.outputs.iter().map(|&o| read(&slots[o])).collect()
}
