//! The kernel of a scan: a thread goes along a row, one element after the other, as the order of rounding demands.

use super::element::{self, Operand};
use super::module::{Module, Shader, Type};
use super::reduce::meet;
use super::scalar::{self, Id};
use super::space::{Arguments, Space};
use crate::caps::Can;
use ferrotensor_core::kernel::{Combine, Scan};
use ferrotensor_core::scalar::{Op, Program, plain};
use rspirv::spirv::{Op as Spirv, Word};

/// Words before the space of rows: elements of a row to go along, whether it goes on from the result before them, and how far
/// neighbours are apart in input and output.
pub const HEAD: u32 = 4;

/// Where the numbers of the space stand: input, output.
pub fn arguments(rank: usize) -> Arguments {
    Arguments { start: HEAD, rank, operands: 2, params: 0 }
}

/// How a running value takes the next element, in plain form.
pub fn step(kernel: &Scan, fused: bool) -> Program {
    plain(&meet(Combine::Value(kernel.combine), kernel.dtype), fused)
}

/// The kernel over `rank` loops of rows.
///
/// # Errors
/// A sentence naming what the device lacks.
pub fn shader(kernel: &Scan, step: &Program, rank: usize, can: &Can) -> Result<Shader, String> {
    element::check(kernel.dtype, can)?;
    let arguments = arguments(rank);
    let mut m = Module::new(arguments.end());
    let (input, output) = (Operand::new(&mut m, kernel.dtype, false, can), Operand::new(&mut m, kernel.dtype, true, can));
    let [steps, goes_on, from_step, to_step, rows] = [0, 1, 2, 3, arguments.start].map(|n| m.argument(n));
    let mut trouble = Ok(());
    m.for_each(rows, |m, i| {
        let space = Space::new(m, arguments, i);
        let (from, to, zero, one) = (space.position(m, 0), space.position(m, 1), m.word(0), m.word(1));
        let mut meet = |m: &mut Module, older: Id, newer: Id| {
            let leaf = |_: &mut Module, n: u16| if n == 0 { older } else { newer };
            scalar::program(m, step, |m, instr| match instr.op {
                Op::Input(n) => leaf(m, n),
                _ => unreachable!("a combination has inputs alone"),
            })
            .map_or_else(
                |reason| {
                    trouble = Err(reason);
                    newer
                },
                |values| values[step.outputs[0] as usize],
            )
        };
        let first = input.load(m, from);
        let goes_on = m.op(Spirv::INotEqual, Type::Bool, &[goes_on, zero]);
        let before = m.op(Spirv::ISub, Type::U32, &[to, to_step]);
        let before = m.op(Spirv::Select, Type::U32, &[goes_on, before, to]);
        let before = output.load(m, before);
        let met = meet(m, before, first);
        let pick = |m: &mut Module, x, y| m.op(Spirv::Select, output.held(), &[goes_on, x, y]);
        let start = match (met, first) {
            (Id::Two(a, b), Id::Two(x, y)) => Id::Two(pick(m, a, x), pick(m, b, y)),
            _ => Id::One(pick(m, met.first(), first.first())),
        };
        output.store(m, to, start);
        let mut state: Vec<(Type, Word)> = parts(start).into_iter().map(|part| (output.held(), part)).collect();
        state.push((Type::U32, one));
        let n = state.len() - 1;
        let more = |m: &mut Module, v: &[Word]| m.op(Spirv::ULessThan, Type::Bool, &[v[n], steps]);
        m.repeat(&state, more, |m, v| {
            let at = |m: &mut Module, start: Word, step: Word| {
                let far = m.op(Spirv::IMul, Type::U32, &[v[n], step]);
                m.op(Spirv::IAdd, Type::U32, &[start, far])
            };
            let (next, place) = (at(m, from, from_step), at(m, to, to_step));
            let next = input.load(m, next);
            let running = if n == 2 { Id::Two(v[0], v[1]) } else { Id::One(v[0]) };
            let result = meet(m, running, next);
            output.store(m, place, result);
            let mut state = parts(result);
            state.push(m.op(Spirv::IAdd, Type::U32, &[v[n], one]));
            state
        });
    });
    trouble.map(|()| m.finish(can))
}

fn parts(of: Id) -> Vec<Word> {
    match of {
        Id::One(x) => vec![x],
        Id::Two(re, im) => vec![re, im],
    }
}
