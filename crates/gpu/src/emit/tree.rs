//! The tree of [`ferrotensor_core::kernel::tree`] as a thread for each lane goes along it: the rows of a group, groups as a binary
//! counter combines them, with the partials in an array of the thread's own, and lanes in shared memory.

use super::module::{Array, Module};
use super::reduce::Plan;
use super::scalar::{self, Id, held};
use crate::code::{Inst, Type, Word};
use ferrotensor_core::DType;
use ferrotensor_core::kernel::Combine;
use ferrotensor_core::kernel::tree::{LANES, ROWS};
use ferrotensor_core::planted;
use ferrotensor_core::scalar::{Op, Program};

/// Writes the parts of one reduction.
pub struct Writer<'a> {
    /// What is combined, and how.
    pub plan: &'a Plan,
    /// Types of a partial result's words.
    pub types: Vec<Type>,
    /// Launch parameters of the programs.
    params: Vec<Id>,
    /// The first thing that could not be written.
    pub trouble: Result<(), String>,
}

/// A number by an instruction of two.
pub fn word(m: &mut Module, op: Inst, x: Word, y: Word) -> Word {
    m.op(op, Type::U32, &[x, y])
}

/// Whether a number is less than another.
pub fn compare(m: &mut Module, x: Word, y: Word) -> Word {
    m.op(Inst::ULessThan, Type::Bool, &[x, y])
}

impl<'a> Writer<'a> {
    /// Of a reduction with these launch parameters.
    pub fn new(plan: &'a Plan, params: Vec<Id>) -> Writer<'a> {
        let (_, partial, _) = plan.dtypes();
        let parts = if partial[0].is_complex() { 2 } else { 1 };
        let mut types = vec![held(partial[0]); parts];
        types.extend(partial.iter().skip(1).map(|&d| held(d)));
        Writer { plan, types, params, trouble: Ok(()) }
    }

    /// The values of a partial result: that of the accumulator, and of positions the position.
    pub fn ids(&self, words: &[Word]) -> Vec<Id> {
        if self.plan.acc().is_complex() {
            return vec![Id::Two(words[0], words[1])];
        }
        words.iter().map(|&w| Id::One(w)).collect()
    }

    fn typed(&self, words: &[Word]) -> Vec<(Type, Word)> {
        self.types.iter().copied().zip(words.iter().copied()).collect()
    }

    /// A program's outputs; a problem is remembered, and something else returned.
    pub fn run(
        &mut self,
        m: &mut Module,
        program: &Program,
        inputs: &[Id],
        params: usize,
        mut index: impl FnMut(&mut Module, u8) -> Word,
    ) -> Vec<Id> {
        let given = &self.params[params..];
        let values = scalar::program(m, program, |m, instr| match instr.op {
            Op::Input(n) => inputs[n as usize],
            Op::Param(n) => given[n as usize],
            Op::Index(axis) => {
                let at = index(m, axis);
                // Coordinates are below 2^31, or the launch is refused.
                Id::One(if instr.dtype == DType::I64 { m.op(Inst::UConvert, Type::U64, &[at]) } else { at })
            }
            _ => unreachable!("the other instructions are no leaves"),
        });
        match values {
            Ok(values) => program.outputs.iter().map(|&o| values[o as usize]).collect(),
            Err(reason) => {
                self.trouble = Err(reason);
                let zero = m.word(0);
                vec![Id::One(zero); program.outputs.len()]
            }
        }
    }

    /// Older and newer partial result combined.
    pub fn meet(&mut self, m: &mut Module, older: &[Word], newer: &[Word]) -> Vec<Word> {
        let plan = self.plan;
        let (first, second) = (self.ids(older)[0], self.ids(newer)[0]);
        let met = self.run(m, plan.meet(), &[first, second], 0, |m, _| m.word(0));
        if matches!(plan.combine(), Combine::Value(_)) {
            return met[0].words().to_vec();
        }
        let [surpasses, equal, old_nan, new_nan] = [0, 1, 2, 3].map(|n| met[n].first());
        let and = |m: &mut Module, x, y| m.op(Inst::LogicalAnd, Type::Bool, &[x, y]);
        let or = |m: &mut Module, x, y| m.op(Inst::LogicalOr, Type::Bool, &[x, y]);
        // Of equal elements, and of NaN, the first.
        let earlier = compare(m, newer[1], older[1]);
        let both = and(m, old_nan, new_nan);
        let same = or(m, equal, both);
        let first = and(m, same, earlier);
        let no_nan = m.op(Inst::LogicalNot, Type::Bool, &[old_nan]);
        let appears = and(m, new_nan, no_nan);
        let wins = or(m, surpasses, appears);
        let wins = or(m, wins, first);
        let pick = |m: &mut Module, n: usize| m.op(Inst::Select, self.types[n], &[wins, newer[n], older[n]]);
        vec![pick(m, 0), pick(m, 1)]
    }

    /// The rows of a group, one after the other, from the lane's element `at`.
    pub fn group(
        &mut self,
        m: &mut Module,
        at: Word,
        count: Word,
        mut element: impl FnMut(&mut Self, &mut Module, Word) -> Vec<Word>,
    ) -> Vec<Word> {
        let first = element(self, m, at);
        let (lanes, size) = (m.word(LANES as u32), m.word((LANES * ROWS) as u32));
        let next = word(m, Inst::IAdd, at, lanes);
        let end = word(m, Inst::IAdd, at, size);
        let mut state = self.typed(&first);
        state.push((Type::U32, next));
        let i = state.len() - 1;
        let more = |m: &mut Module, v: &[Word]| {
            let (inside, left) = (compare(m, v[i], count), compare(m, v[i], end));
            m.op(Inst::LogicalAnd, Type::Bool, &[inside, left])
        };
        let mut end = m.repeat(&state, more, |m, v| {
            let newer = element(self, m, v[i]);
            let mut next = self.meet(m, &v[..i], &newer);
            next.push(word(m, Inst::IAdd, v[i], lanes));
            next
        });
        end.truncate(i);
        end
    }

    /// Groups combined as a binary counter does; something, where there are none.
    pub fn counted(
        &mut self,
        m: &mut Module,
        stack: &[Array],
        exists: impl Fn(&mut Module, Word) -> Word,
        mut group: impl FnMut(&mut Self, &mut Module, Word) -> Vec<Word>,
    ) -> Vec<Word> {
        let (zero, one) = (m.word(0), m.word(1));
        let pop = |m: &mut Module, at: Word| stack.iter().map(|&s| m.get(s, at)).collect::<Vec<_>>();
        let n = self.types.len();
        let start = [(Type::U32, zero), (Type::U32, zero)];
        let filled = m.repeat(
            &start,
            |m, v| exists(m, v[0]),
            |m, v| {
                let newest = group(self, m, v[0]);
                let mut state = self.typed(&newest);
                state.extend([(Type::U32, v[1]), (Type::U32, v[0])]);
                let odd = |m: &mut Module, v: &[Word]| {
                    let bit = word(m, Inst::BitwiseAnd, v[n + 1], one);
                    m.op(Inst::INotEqual, Type::Bool, &[bit, zero])
                };
                let merged = m.repeat(&state, odd, |m, v| {
                    let top = word(m, Inst::ISub, v[n], one);
                    let older = pop(m, top);
                    let mut next = self.meet(m, &older, &v[..n]);
                    next.extend([top, word(m, Inst::ShiftRightLogical, v[n + 1], one)]);
                    next
                });
                for (&place, &value) in stack.iter().zip(&merged) {
                    m.set(place, merged[n], value);
                }
                vec![word(m, Inst::IAdd, v[0], one), word(m, Inst::IAdd, merged[n], one)]
            },
        )[1];
        let any = m.op(Inst::INotEqual, Type::Bool, &[filled, zero]);
        let below = word(m, Inst::ISub, filled, one);
        let top = m.op(Inst::Select, Type::U32, &[any, below, zero]);
        let newest = pop(m, top);
        let mut state = self.typed(&newest);
        state.push((Type::U32, top));
        let more = |m: &mut Module, v: &[Word]| m.op(Inst::INotEqual, Type::Bool, &[v[n], zero]);
        let mut all = m.repeat(&state, more, |m, v| {
            let top = word(m, Inst::ISub, v[n], one);
            let older = pop(m, top);
            let mut next = self.meet(m, &older, &v[..n]);
            next.push(top);
            next
        });
        all.truncate(n);
        all
    }

    /// The parts of a row that slots beside each other went along, lane by lane: each a power of two of the tree's groups, so that
    /// they are combined as the tree combines groups. The sum is the first part's. `place`: the thread in its group, its part, the
    /// first element of its lane; parts are `share` elements apart.
    #[allow(clippy::too_many_arguments)]
    pub fn parts(
        &mut self,
        m: &mut Module,
        shared: &[Array],
        mut mine: Vec<Word>,
        place: [Word; 3],
        share: Word,
        count: Word,
        parts: u32,
    ) -> Vec<Word> {
        let [local, part, begin] = place;
        let zero = m.word(0);
        let mut apart = 1;
        while apart < parts {
            shared.iter().zip(&mine).for_each(|(&s, &v)| m.set(s, local, v));
            m.barrier();
            let [threads, far, below] = [apart * LANES as u32, apart, 2 * apart - 1].map(|v| m.word(v));
            let odd = word(m, Inst::BitwiseAnd, part, below);
            let older = m.op(Inst::IEqual, Type::Bool, &[odd, zero]);
            let elements = word(m, Inst::IMul, far, share);
            let first = word(m, Inst::IAdd, begin, elements);
            let filled = compare(m, first, count);
            let joins = m.op(Inst::LogicalAnd, Type::Bool, &[older, filled]);
            let other = word(m, Inst::IAdd, local, threads);
            let at = m.op(Inst::Select, Type::U32, &[joins, other, local]);
            let newer: Vec<Word> = shared.iter().map(|&s| m.get(s, at)).collect();
            let met = self.meet(m, &mine, &newer);
            let select = |m: &mut Module, n: usize| m.op(Inst::Select, self.types[n], &[joins, met[n], mine[n]]);
            mine = (0..mine.len()).map(|n| select(m, n)).collect();
            m.barrier();
            apart *= 2;
        }
        mine
    }

    /// The lanes combined into the first.
    pub fn lanes(
        &mut self,
        m: &mut Module,
        shared: &[Array],
        mut mine: Vec<Word>,
        local: Word,
        lane: Word,
        count: Word,
    ) -> Vec<Word> {
        let write = |m: &mut Module, values: &[Word]| {
            shared.iter().zip(values).for_each(|(&s, &v)| m.set(s, local, v));
        };
        write(m, &mine);
        m.barrier();
        let mut half = LANES as u32 / 2;
        while half > 0 {
            let distance = m.word(half);
            let other = word(m, Inst::IAdd, lane, distance);
            let (lower, filled) = (compare(m, lane, distance), compare(m, other, count));
            let joins = m.op(Inst::LogicalAnd, Type::Bool, &[lower, filled]);
            let far = word(m, Inst::IAdd, local, distance);
            let at = m.op(Inst::Select, Type::U32, &[joins, far, local]);
            let newer: Vec<Word> = shared.iter().map(|&s| m.get(s, at)).collect();
            let met = self.meet(m, &mine, &newer);
            let select = |m: &mut Module, n: usize| m.op(Inst::Select, self.types[n], &[joins, met[n], mine[n]]);
            mine = (0..mine.len()).map(|n| select(m, n)).collect();
            let together = half <= 8 && planted::is("lanes-of-a-subgroup-run-together");
            if !together {
                m.barrier();
            }
            write(m, &mine);
            if !together {
                m.barrier();
            }
            half /= 2;
        }
        mine
    }
}
