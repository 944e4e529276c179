//! The kernels of a scan. A thread goes along a row, one element after the other, as the order of rounding demands. Where no order
//! does, long rows are cut into chunks: threads combine the elements of each, the results are scanned, and threads go along the
//! chunks again, each from what stands before it.

use super::element::{self, Operand};
use super::module::Module;
use super::reduce::meet;
use super::scalar::{self, Id};
use super::space::{Arguments, Space};
use crate::Can;
use crate::code::{Code, Inst, Type, Word};
use ferrotensor_core::kernel::{Combine, Scan};
use ferrotensor_core::scalar::{Arithmetic, Program, plain};

/// Words before the space: elements of a row (or of a chunk at most) to go along, elements of the row, whether it goes on from what
/// the output has before it, and how far neighbours are apart in input and output.
pub const HEAD: u32 = 5;

/// Which part of a scan a kernel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// All of it, row by row.
    Rows,
    /// From elements to what chunks come to.
    Totals,
    /// From elements and the scanned totals to the output.
    Chunks,
}

/// Where the numbers of the space stand: input, output, and of chunks the number in its row and the place of its total.
pub fn arguments(stage: Stage, rank: usize) -> Arguments {
    Arguments { start: HEAD, rank, operands: if stage == Stage::Rows { 2 } else { 4 }, params: 0 }
}

/// How a running value takes the next element, in plain form.
pub fn step(kernel: &Scan, arithmetic: Arithmetic) -> Program {
    plain(&meet(Combine::Value(kernel.combine), kernel.dtype), arithmetic)
}

/// The kernel of a stage over `rank` loops of rows or chunks: input, scanned totals (of chunks), output or totals.
///
/// # Errors
/// A sentence naming what the device lacks.
pub fn shader(kernel: &Scan, step: &Program, stage: Stage, rank: usize, can: &Can) -> Result<Code, String> {
    element::check(kernel.dtype, can)?;
    let arguments = arguments(stage, rank);
    let mut m = Module::new(arguments.end());
    let mut operand = |written| Operand::new(&mut m, kernel.dtype, written, can);
    let input = operand(false);
    let carried = (stage == Stage::Chunks).then(|| operand(false));
    let output = operand(true);
    let carried = carried.unwrap_or(output);
    let [chunk, length, goes_on, from_step, to_step] = [0, 1, 2, 3, 4].map(|n| m.argument(n));
    let rows = m.argument(arguments.start);
    let mut w = Writer { step, trouble: Ok(()) };
    m.for_each(rows, |m, i| {
        let space = Space::new(m, arguments, i);
        let (from, to, zero, one) = (space.position(m, 0), space.position(m, 1), m.word(0), m.word(1));
        // Elements to go along; where what stands before is, and whether there is any.
        let (steps, before, goes_on) = match stage {
            Stage::Rows => {
                let before = m.op(Inst::ISub, Type::U32, &[to, to_step]);
                (chunk, before, m.op(Inst::INotEqual, Type::Bool, &[goes_on, zero]))
            }
            Stage::Totals | Stage::Chunks => {
                let (nth, total) = (space.position(m, 2), space.position(m, 3));
                let begin = m.op(Inst::IMul, Type::U32, &[nth, chunk]);
                let left = m.op(Inst::ISub, Type::U32, &[length, begin]);
                let short = m.op(Inst::ULessThan, Type::Bool, &[left, chunk]);
                let steps = m.op(Inst::Select, Type::U32, &[short, left, chunk]);
                let before = m.op(Inst::ISub, Type::U32, &[total, one]);
                (steps, before, m.op(Inst::INotEqual, Type::Bool, &[nth, zero]))
            }
        };
        let first = input.load(m, from);
        let start = if stage == Stage::Totals {
            first
        } else {
            // A place that exists, where nothing stands before.
            let at = if stage == Stage::Rows { to } else { zero };
            let before = m.op(Inst::Select, Type::U32, &[goes_on, before, at]);
            let before = carried.load(m, before);
            let met = w.meet(m, before, first).words().to_vec();
            let mut pick = |(&x, &y)| m.op(Inst::Select, output.held(), &[goes_on, x, y]);
            Id::of(&met.iter().zip(&first.words().to_vec()).map(&mut pick).collect::<Vec<_>>())
        };
        if stage != Stage::Totals {
            output.store(m, to, start);
        }
        let mut state: Vec<(Type, Word)> = start.words().to_vec().into_iter().map(|part| (output.held(), part)).collect();
        state.push((Type::U32, one));
        let n = state.len() - 1;
        let more = |m: &mut Module, v: &[Word]| m.op(Inst::ULessThan, Type::Bool, &[v[n], steps]);
        let end = m.repeat(&state, more, |m, v| {
            let at = |m: &mut Module, start: Word, step: Word| {
                let far = m.op(Inst::IMul, Type::U32, &[v[n], step]);
                m.op(Inst::IAdd, Type::U32, &[start, far])
            };
            let next = at(m, from, from_step);
            let next = input.load(m, next);
            let result = w.meet(m, Id::of(&v[..n]), next);
            if stage != Stage::Totals {
                let place = at(m, to, to_step);
                output.store(m, place, result);
            }
            let mut state = result.words().to_vec();
            state.push(m.op(Inst::IAdd, Type::U32, &[v[n], one]));
            state
        });
        if stage == Stage::Totals {
            let total = space.position(m, 3);
            output.store(m, total, Id::of(&end[..n]));
        }
    });
    w.trouble.map(|()| m.finish())
}

struct Writer<'a> {
    step: &'a Program,
    trouble: Result<(), String>,
}

impl Writer<'_> {
    /// A running value and the next element; a problem is remembered.
    fn meet(&mut self, m: &mut Module, older: Id, newer: Id) -> Id {
        match scalar::pair(m, self.step, older, newer) {
            Ok(met) => met,
            Err(reason) => {
                self.trouble = Err(reason);
                newer
            }
        }
    }
}
