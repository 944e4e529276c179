//! The kernels of a scatter. The first finds the target of each update, as a number. When these are sorted, beside the numbers of the
//! updates, those of a target stand together, in their order, and the second applies them: a thread for each target and element of
//! a row.

use super::element::{self, Operand};
use super::index::{self, Indices};
use super::module::{Buffer, Module};
use super::reduce::meet;
use super::scalar::{self, Id};
use super::space::{Arguments, Space};
use crate::Can;
use crate::code::{Code, Inst, Type, Word};
use ferrotensor_core::kernel::{Combine, Scatter, Update};
use ferrotensor_core::scalar::{Arithmetic, Program, plain};

/// The target of an update whose index is out of range: sorted, it comes last.
pub const NOWHERE: u32 = u32::MAX;
/// Words before the spaces of updates being applied: pairs, elements that the output's window shows.
const APPLY_HEAD: u32 = 2;

/// How an update meets what is there, in plain form; nothing where it takes its place.
pub fn step(kernel: &Scatter, arithmetic: Arithmetic) -> Option<Program> {
    match kernel.update {
        Update::Set => None,
        Update::Combine(monoid) => Some(plain(&meet(Combine::Value(monoid), kernel.dtype), arithmetic)),
    }
}

/// Where the numbers of the space of indices stand: each index operand.
pub fn targets_arguments(kernel: &Scatter, rank: usize) -> Arguments {
    let indices = kernel.index.len();
    Arguments { start: index::WORDS * indices as u32, rank, operands: indices, params: 0 }
}

/// The kernel that finds targets, over `rank` loops: indices, targets, report.
///
/// # Errors
/// A sentence naming what the device lacks.
pub fn targets(kernel: &Scatter, rank: usize, can: &Can) -> Result<Code, String> {
    index::check(&kernel.index, can)?;
    if 2 + kernel.index.len() > can.max_buffers as usize {
        return Err(format!("more than {} operands", can.max_buffers));
    }
    let arguments = targets_arguments(kernel, rank);
    let mut m = Module::new(arguments.end());
    let operands = Indices::operands(&mut m, &kernel.index, can);
    let keys = m.buffer(Type::U32, true);
    let indices = Indices::new(&mut m, operands, 0);
    let count = m.argument(arguments.start);
    m.for_each(count, |m, i| {
        let (space, nowhere) = (Space::new(m, arguments, i), m.word(NOWHERE));
        let (place, bad) = indices.place(m, |m, n| space.position(m, n));
        let key = m.op(Inst::Select, Type::U32, &[bad, nowhere, place]);
        m.store(keys, i, key);
    });
    Ok(m.finish())
}

/// Where the numbers of three spaces stand: sorted updates and elements of rows (the number of the update, the element in output
/// and updates), targets (in the output), updates (in their operand).
pub fn apply_arguments(rank: usize) -> [Arguments; 3] {
    let elements = Arguments { start: APPLY_HEAD, rank, operands: 3, params: 0 };
    let targets = Arguments { start: elements.end(), rank, operands: 1, params: 0 };
    [elements, targets, Arguments { start: targets.end(), rank, operands: 1, params: 0 }]
}

/// The kernel that applies updates, over at most `rank` loops in each space: targets, numbers of updates, updates, output.
///
/// # Errors
/// A sentence naming what the device lacks.
pub fn apply(kernel: &Scatter, step: Option<&Program>, rank: usize, can: &Can) -> Result<Code, String> {
    element::check(kernel.dtype, can)?;
    let spaces = apply_arguments(rank);
    let mut m = Module::new(spaces[2].end());
    let (keys, order) = (m.buffer(Type::U32, false), m.buffer(Type::U32, false));
    let operand = if step.is_some() { Operand::new } else { Operand::moved };
    let (updates, output) = (operand(&mut m, kernel.dtype, false, can), operand(&mut m, kernel.dtype, true, can));
    let (pairs, shown, count) = (m.argument(0), m.argument(1), m.argument(spaces[0].start));
    let mut w = Writer { keys, order, updates, output, pairs, spaces, step, trouble: Ok(()) };
    m.for_each(count, |m, i| {
        let space = Space::new(m, spaces[0], i);
        let (zero, one, nowhere) = (m.word(0), m.word(1), m.word(NOWHERE));
        let nth = space.position(m, 0);
        let target = m.load(keys, nth);
        // What is set last stays; what is combined is so from the first on.
        let (next, before, last) = (
            m.op(Inst::IAdd, Type::U32, &[nth, one]),
            m.op(Inst::ISub, Type::U32, &[nth, one]),
            m.op(Inst::ISub, Type::U32, &[pairs, one]),
        );
        let (neighbour, edge) = if step.is_none() { (next, last) } else { (before, zero) };
        let alone = m.op(Inst::IEqual, Type::Bool, &[nth, edge]);
        let neighbour = m.op(Inst::Select, Type::U32, &[alone, nth, neighbour]);
        let other = m.load(keys, neighbour);
        let differs = m.op(Inst::INotEqual, Type::Bool, &[other, target]);
        let border = m.op(Inst::LogicalOr, Type::Bool, &[alone, differs]);
        let exists = m.op(Inst::INotEqual, Type::Bool, &[target, nowhere]);
        let own = m.op(Inst::LogicalAnd, Type::Bool, &[border, exists]);
        m.when(own, |m| {
            let lead = Space::new(m, spaces[1], target);
            let (lead, rest) = (lead.position(m, 0), space.position(m, 1));
            let at = m.op(Inst::IAdd, Type::U32, &[lead, rest]);
            let inside = m.op(Inst::ULessThan, Type::Bool, &[at, shown]);
            m.when(inside, |m| {
                let element = space.position(m, 2);
                let result = w.result(m, target, nth, element, at);
                output.store(m, at, result);
            });
        });
    });
    w.trouble.map(|()| m.finish())
}

struct Writer<'a> {
    keys: Buffer,
    order: Buffer,
    updates: Operand,
    output: Operand,
    pairs: Word,
    spaces: [Arguments; 3],
    step: Option<&'a Program>,
    trouble: Result<(), String>,
}

impl Writer<'_> {
    /// The update at a place of the sorted pairs, of one element of its row.
    fn update(&self, m: &mut Module, nth: Word, element: Word) -> Id {
        let own = m.load(self.order, nth);
        let lead = Space::new(m, self.spaces[2], own).position(m, 0);
        let at = m.op(Inst::IAdd, Type::U32, &[lead, element]);
        self.updates.load(m, at)
    }

    fn meet(&mut self, m: &mut Module, step: &Program, older: Id, newer: Id) -> Id {
        match scalar::pair(m, step, older, newer) {
            Ok(met) => met,
            Err(reason) => {
                self.trouble = Err(reason);
                newer
            }
        }
    }

    /// What is at `at` after the updates of a target from the n-th pair on.
    fn result(&mut self, m: &mut Module, target: Word, nth: Word, element: Word, at: Word) -> Id {
        let Some(step) = self.step else { return self.update(m, nth, element) };
        let start = self.output.load(m, at).words().to_vec();
        let (of, n, one) = (self.output.held(), start.len(), m.word(1));
        let mut state: Vec<(Type, Word)> = start.iter().map(|&v| (of, v)).collect();
        state.push((Type::U32, nth));
        let own = Own { keys: self.keys, pairs: self.pairs, target, known: nth };
        let mut end = m.repeat(
            &state,
            |m, v| own.there(m, v[n]),
            |m, v| {
                let update = self.update(m, v[n], element);
                let mut next = self.meet(m, step, Id::of(&v[..n]), update).words().to_vec();
                next.push(m.op(Inst::IAdd, Type::U32, &[v[n], one]));
                next
            },
        );
        end.truncate(n);
        Id::of(&end)
    }
}

/// The pairs of one target.
#[derive(Clone, Copy)]
struct Own {
    keys: Buffer,
    pairs: Word,
    target: Word,
    /// One of its pairs.
    known: Word,
}

impl Own {
    /// Whether a place is one of them.
    fn there(self, m: &mut Module, at: Word) -> Word {
        let inside = m.op(Inst::ULessThan, Type::Bool, &[at, self.pairs]);
        let safe = m.op(Inst::Select, Type::U32, &[inside, at, self.known]);
        let key = m.load(self.keys, safe);
        let same = m.op(Inst::IEqual, Type::Bool, &[key, self.target]);
        m.op(Inst::LogicalAnd, Type::Bool, &[inside, same])
    }
}
