//! Programs as TypeScript sends them: any sequence of rows on small tensors, whole or with some of their words changed. A
//! whole program gives the reference's values, fused and not, or the errors it predicts; a changed one gives values or a
//! typed error.

use crate::bytes::Bytes;
use ferrotensor_conformance::bounds::Bound;
use ferrotensor_conformance::compare;
use ferrotensor_conformance::executor::{self, Known};
use ferrotensor_conformance::machine::{self, Machine, read};
use ferrotensor_conformance::programs::SHOW_NAN;
use ferrotensor_conformance::recipe::Recipe;
use ferrotensor_conformance::rows;
use ferrotensor_conformance::values::{self, Fill, Rng};
use ferrotensor_core::kernel::{Kernel, WindowCombine};
use ferrotensor_core::reference::Array;
use ferrotensor_core::{Code, DType, Error, Result};
use ferrotensor_engine::Tensor;
use ferrotensor_engine::program::head;
use ferrotensor_ops::OPS;
use ferrotensor_ops::attrs::Attrs;
use ferrotensor_ops::def::{Domain, OpDef};
use ferrotensor_ops::dtype_rule::Arg;
use ferrotensor_ops::graph::{Def, Graph, Val};
use ferrotensor_ops::lower::{self, Operand};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The first bytes say how a program is run, the others what it is: a longer program is run as before.
const CIRCUMSTANCES: usize = 48;
const NODES: usize = 8;
/// Larger values are not computed: the reference is slow.
const MOST_ELEMENTS: usize = 1000;
const SHAPES: [&[usize]; 9] = [&[], &[1], &[4], &[33], &[0], &[2, 3], &[3, 3], &[1, 4], &[2, 3, 4]];

/// One call.
struct Node {
    op: &'static OpDef,
    /// Attribute words.
    words: Vec<f64>,
    /// Slots of its tensors.
    slots: Vec<i32>,
    /// Operands, tensors or not.
    operands: usize,
    forms: i32,
    params: usize,
}

/// A program, and what the reference makes of it.
#[derive(Default)]
struct Program {
    inputs: Vec<Array>,
    nodes: Vec<Node>,
    params: Vec<u64>,
    graph: Graph,
    slots: Vec<Val>,
    /// A call that lowering refused, to be refused by the engine too.
    refused: Option<(Node, Vec<u64>, Error)>,
}

impl Program {
    fn read(bytes: &mut Bytes) -> Result<Program> {
        let mut program = Program::default();
        for n in 0..1 + bytes.below(3) {
            let dtype = bytes.pick(&DType::all().collect::<Vec<_>>());
            let dims = bytes.pick(&SHAPES);
            let fill = bytes.pick(&[
                Fill::Ordinary(Domain::Any),
                Fill::Ordinary(Domain::Any),
                Fill::Special,
                Fill::Bits,
                Fill::Index(3),
                Fill::Factors,
            ]);
            let array = values::array(dtype, dims, fill, &mut Rng::named(&bytes.byte().to_string()))?;
            let value = program.graph.push(0, Def::Input(n as u32), [(dtype, dims.iter().copied().collect())]);
            program.slots.push(value);
            program.inputs.push(array);
        }
        while program.nodes.len() < NODES && !bytes.is_empty() {
            program.add_node(bytes)?;
        }
        Ok(program)
    }

    fn add_node(&mut self, bytes: &mut Bytes) -> Result<()> {
        let op = &OPS[(bytes.byte() as usize | (bytes.byte() as usize) << 8) % OPS.len()];
        let operands = if op.variadic { 1 + bytes.below(3) } else { op.operands.len() };
        let (mut slots, mut lowered, mut params, mut forms) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for i in 0..operands {
            let def = op.operands.get(i).filter(|_| !op.variadic);
            let form = match (def, bytes.below(4)) {
                (Some(def), form @ 1..=3) if def.weak => form as i32,
                (Some(def), 1) if def.optional => 4,
                _ => 0,
            };
            forms |= form << (3 * i);
            let at = (self.params.len() + params.len()) as u16;
            lowered.push(match form {
                0 => {
                    // The youngest values more often: programs shall be deep.
                    let slot = self.slots.len() - 1 - bytes.below(self.slots.len());
                    slots.push(slot as i32);
                    Operand::Val(self.slots[slot])
                }
                4 => Operand::Absent,
                kind => {
                    let number = bytes.below(4) as u64;
                    let (kind, bits) = match kind {
                        1 => (Arg::Number, (number as f64).to_bits()),
                        2 => (Arg::BigInt, number),
                        _ => (Arg::Boolean, ((number & 1) as f64).to_bits()),
                    };
                    params.push(bits);
                    Operand::Weak(at, kind)
                }
            });
        }
        let first: Vec<usize> = match lowered.first() {
            Some(Operand::Val(v)) => self.graph.dims(*v).to_vec(),
            _ => vec![],
        };
        let Some((words, numbers)) = Recipe::attributes(op, &first, &mut Rng::named(&bytes.byte().to_string())) else {
            return Ok(());
        };
        let own = (self.params.len() + params.len()) as u16;
        params.extend(numbers.iter().map(|n| n.to_bits()));
        let node = Node { op, words, slots, operands, forms, params: params.len() };
        let mut longer = self.graph.clone();
        match Attrs::decode(op, &node.words).and_then(|attrs| lower::lower(&mut longer, op, &lowered, &attrs, own)) {
            Ok(_) if longer.values.iter().any(|v| v.dims.iter().product::<usize>() > MOST_ELEMENTS) => {}
            Ok(results) => {
                self.graph = longer;
                self.slots.extend(results);
                self.params.extend(params);
                self.nodes.push(node);
            }
            Err(e) if e.code == Code::Internal => return Err(e),
            Err(e) => self.refused = Some((node, params, e)),
        }
        Ok(())
    }

    /// The words on a machine, with its tensors.
    fn encode(&self, m: &mut Machine) -> Result<(Vec<i32>, Vec<Arc<Tensor>>)> {
        let (mut words, mut tensors) = (Vec::new(), Vec::new());
        for array in &self.inputs {
            let (id, tensor) = m.upload(array)?;
            words.extend([0, id]);
            tensors.push(tensor);
        }
        for node in &self.nodes {
            node.encode(m, &mut words)?;
        }
        Ok((words, tensors))
    }

    /// Runs it whole: the bytes of each slot that a node defines, or the error that a read of it reports.
    fn run(&self, m: &mut Machine) -> Result<Vec<Result<Vec<u8>>>> {
        let (words, tensors) = self.encode(m)?;
        Ok(m.run(&words, &self.params, &tensors, &self.outputs())?.iter().map(|t| read(t)).collect())
    }

    /// Whether each result has the same bits fused and not, on every instruction set. What shows a NaN's bits shows how it was computed.
    fn bits_promised(&self) -> bool {
        let shows = |node: &Node| SHOW_NAN.contains(&node.op.name);
        !self.nodes.iter().any(shows)
            && rows::kernels(&self.graph).all(|kernel| match kernel {
                Kernel::Contract(c) => c.dtype.is_integer(),
                Kernel::Window(w) => w.combine != WindowCombine::Dot || w.dtype.is_integer(),
                Kernel::Routine(_) => false,
                _ => true,
            })
    }

    fn outputs(&self) -> Vec<i32> {
        (self.inputs.len() as i32..self.slots.len() as i32).collect()
    }
}

impl Node {
    fn encode(&self, m: &mut Machine, words: &mut Vec<i32>) -> Result<()> {
        let attrs = m.session().intern_attrs(self.op.id(), &self.words)?;
        words.extend([head(self.op.id(), self.forms as u32, self.params), attrs]);
        if self.op.variadic {
            words.push(self.operands as i32);
        }
        words.extend(&self.slots);
        Ok(())
    }
}

/// Runs something on a new state of this thread's machine; a panic is an error in words.
fn on_machine<R>(bytes: &mut Bytes, fusion: bool, f: impl FnOnce(&mut Machine) -> Result<R, String>) -> Result<R, String> {
    let tier = bytes.pick(&machine::tiers().0);
    machine::with(machine::Device::Cpu(tier), fusion, |m| {
        let result = catch_unwind(AssertUnwindSafe(|| f(m))).unwrap_or_else(|_| Err("a panic".into()));
        m.forget();
        result.map_err(|e| format!("{}, fusion {fusion}: {e}", tier.name()))
    })
}

/// An error that may happen; a panic that was caught on the way is none.
fn typed(error: Error) -> Result<Error, String> {
    if error.message.is_empty() || error.message.contains("panicked") { Err(format!("{error:?}")) } else { Ok(error) }
}

/// Whether what a run gave is what the reference has, slot by slot.
fn compare_all(program: &Program, got: &[Result<Vec<u8>>], known: &[Result<Known>]) -> Result<(), String> {
    for (n, (got, slot)) in got.iter().zip(&program.slots[program.inputs.len()..]).enumerate() {
        match (got, &known[slot.0 as usize]) {
            // A bound grows without limit near poles, which a search finds; the conformance suite compares within bounds.
            (Ok(_), Ok(Known { bound: Bound::Absolute(_), .. })) => {}
            (Ok(bytes), Ok(known)) => compare::within(bytes, known).map(drop).map_err(|e| format!("result {n}: {e}"))?,
            (Err(got), Err(wanted)) if got.code == wanted.code => {}
            // What a row expects of values is a position out of range to the kernel, and the call's own error to the caller.
            (Err(got), Err(wanted)) if wanted.code == Code::Index && got.code == Code::Argument => {}
            // Whether a nearly singular matrix is one is a matter of rounding.
            (Err(got), _) if got.code == Code::LinAlg => {}
            // Over operands that are not exact the reference may have no result to compare with.
            (_, Err(wanted)) if wanted.code != Code::Index => {}
            (got, wanted) => {
                let words = |e: Option<&Error>| e.map_or("a value".into(), |e| e.to_string());
                return Err(format!(
                    "result {n} is {}, should be {}",
                    words(got.as_ref().err()),
                    words(wanted.as_ref().err())
                ));
            }
        }
    }
    Ok(())
}

/// Runs the program whole, and a call that must be refused after it.
fn whole(bytes: &mut Bytes, program: &Program) -> Result<(), String> {
    let inputs: Vec<Known> = program.inputs.iter().cloned().map(Known::exact).collect();
    let known = executor::evaluate(&program.graph, &inputs, &program.params);
    let mut runs = Vec::new();
    for fusion in [true, false] {
        runs.push(on_machine(bytes, fusion, |m| match (program.run(m), &known) {
            (Ok(got), Ok(known)) => compare_all(program, &got, known).map(|()| got),
            (Ok(_), Err(e)) if e.code == Code::Index => Err(format!("runs, should be refused: {e}")),
            (Ok(got), Err(_)) => Ok(got),
            (Err(e), Err(wanted)) if e.code == wanted.code => Ok(vec![]),
            (Err(e), _) => Err(format!("refused: {e}")),
        })?);
    }
    if program.bits_promised() {
        for (n, (a, b)) in runs[0].iter().zip(&runs[1]).enumerate() {
            let dtype = program.graph.dtype(program.slots[program.inputs.len() + n]);
            if let (Ok(a), Ok(b)) = (a, b) {
                compare::same_bits(dtype, a, b).map_err(|e| format!("result {n}, fused and not: {e}"))?;
            }
        }
    }
    let Some((node, params, wanted)) = &program.refused else { return Ok(()) };
    on_machine(bytes, true, |m| {
        let text = |e: Error| e.to_string();
        let (mut words, tensors) = program.encode(m).map_err(text)?;
        let outputs = [program.slots.len() as i32];
        let all = [&program.params[..], params].concat();
        match node.encode(m, &mut words).and_then(|()| m.run(&words, &all, &tensors, &outputs)) {
            Err(e) if e.code == wanted.code => Ok(()),
            Err(e) => Err(format!("{}: refused with {e}, should be {wanted}", node.op.path())),
            Ok(_) => Err(format!("{}: runs, should be refused: {wanted}", node.op.path())),
        }
    })
}

/// Runs it with some words, parameters and outputs changed.
fn changed(bytes: &mut Bytes, program: &Program) -> Result<(), String> {
    let fusion = bytes.byte() & 1 == 0;
    let changes: Vec<(u8, usize, u64)> =
        (0..1 + bytes.below(4)).map(|_| (bytes.byte(), bytes.byte() as usize, bytes.word())).collect();
    on_machine(bytes, fusion, |m| {
        let (mut words, mut tensors) = program.encode(m).map_err(|e| e.to_string())?;
        let (mut params, mut outputs) = (program.params.clone(), program.outputs());
        for (what, at, to) in changes {
            match what % 8 {
                0 => params.push(to),
                1 if !params.is_empty() => {
                    let at = at % params.len();
                    params[at] = to;
                }
                2 => outputs.push(to as i32),
                3 => words.truncate(at % (words.len() + 1)),
                4 => words.insert(at % (words.len() + 1), to as i32),
                5 => drop(tensors.pop()),
                _ if !words.is_empty() => {
                    let at = at % words.len();
                    words[at] ^= if what & 8 == 0 { 1 << (to % 32) } else { to as i32 };
                }
                _ => {}
            }
        }
        match m.run(&words, &params, &tensors, &outputs) {
            Ok(results) => results.iter().try_for_each(|t| read(t).map(drop).or_else(|e| typed(e).map(drop))),
            Err(e) => typed(e).map(drop),
        }
    })
}

/// Checks what the bytes describe.
///
/// # Errors
/// A sentence that says what is wrong.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let (circumstances, program) = bytes.split_at(bytes.len().min(CIRCUMSTANCES));
    let mut bytes = Bytes::new(circumstances);
    let program = Program::read(&mut Bytes::new(program)).map_err(|e| e.to_string())?;
    if program.nodes.is_empty() && program.refused.is_none() {
        return Ok(());
    }
    let result = if bytes.byte() & 1 == 0 { whole(&mut bytes, &program) } else { changed(&mut bytes, &program) };
    result.map_err(|e| {
        let calls: Vec<String> =
            program.nodes.iter().map(|n| format!("{} {:?} {:?}", n.op.path(), n.slots, n.words)).collect();
        format!("{e}\n  {}", calls.join("\n  "))
    })
}
