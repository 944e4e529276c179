//! The kernels of a reduction: the tree of [`ferrotensor_core::kernel::tree`], a thread for each lane.
//!
//! A group of threads works on eight slots of 32 lanes. A slot is an output, or one of the blocks that an output with many
//! elements is cut into: a power of two of the tree's groups, so that a block's lanes are a node of the tree, and a second
//! kernel goes on from there. Each thread combines the rows of its lane as the tree's binary counter does, with the partials
//! in an array of its own; then the lanes meet in shared memory.

use super::element::{self, Operand};
use super::module::{GROUP, Module, Shader, Type};
use super::scalar::{self, Id, held};
use super::space::{Arguments, Space};
use crate::caps::Can;
use ferrotensor_core::DType;
use ferrotensor_core::kernel::tree::{LANES, ROWS};
use ferrotensor_core::kernel::{Combine, Monoid, Reduce};
use ferrotensor_core::scalar::{Builder, Op, Program, plain};
use rspirv::spirv::{Op as Spirv, Word};

/// Partials that a counter over fewer than 2^31 elements can have, and one more.
const DEEPEST: u32 = 24;
/// Words before the spaces: slots, blocks of an output, groups of a block, number of the first element.
const HEAD: u32 = 4;
/// Slots of a group of threads.
pub const SLOTS: u32 = GROUP / LANES as u32;

/// Which part of a reduction a kernel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// All of it: outputs of one block.
    Whole,
    /// From elements to the lanes of blocks.
    Blocks,
    /// From the lanes of blocks to outputs.
    Rest,
}

/// A reduction in plain form.
pub struct Plan {
    pre: Program,
    post: Program,
    combine: Combine,
    /// Older and newer to one; of positions to whether the newer is larger (smaller), equal, and which are NaN.
    meet: Program,
    nothing: Program,
    input: DType,
    acc: DType,
    /// Dtypes of a partial result; the second is of positions only.
    partial: [DType; 2],
    /// Of the axes that `pre` and `post` ask for.
    pre_axes: Vec<u8>,
    post_axes: Vec<u8>,
}

impl Plan {
    /// The plan of a reduction, for a device whose fma of float32 is `fused` or not.
    pub fn new(kernel: &Reduce, fused: bool) -> Plan {
        let result = match kernel.combine {
            Combine::Value(_) => kernel.acc,
            Combine::ArgMax | Combine::ArgMin => DType::I32,
        };
        let pre = plain(&kernel.pre.clone().unwrap_or_else(|| through(kernel.input, kernel.acc)), fused);
        let post = plain(&kernel.post.clone().unwrap_or_else(|| through(result, result)), fused);
        let (pre_axes, post_axes) = (super::map::axes(&pre), super::map::axes(&post));
        Plan {
            combine: kernel.combine,
            meet: plain(&meet(kernel.combine, kernel.acc), fused),
            nothing: plain(&nothing(kernel.combine, kernel.acc), fused),
            input: kernel.input,
            acc: kernel.acc,
            partial: [kernel.acc, DType::I32],
            pre,
            post,
            pre_axes,
            post_axes,
        }
    }

    /// Every program in it.
    pub fn programs(&self) -> [&Program; 3] {
        [&self.pre, &self.post, &self.meet]
    }

    /// What is done with each element.
    pub fn pre(&self) -> &Program {
        &self.pre
    }

    /// Instructions for an element, with those that find and count it.
    pub fn work(&self) -> usize {
        self.pre.instrs.len() + self.meet.instrs.len() + 20
    }

    /// Axes asked for: those of elements, then those of results.
    pub fn axes(&self) -> (&[u8], &[u8]) {
        (&self.pre_axes, &self.post_axes)
    }

    /// Dtype of the elements, of a partial result, of the result.
    pub fn dtypes(&self) -> (DType, &[DType], DType) {
        (self.input, self.partial(), self.post.output_dtype(0))
    }

    fn partial(&self) -> &[DType] {
        match self.combine {
            Combine::Value(_) => &self.partial[..1],
            Combine::ArgMax | Combine::ArgMin => &self.partial,
        }
    }

    /// Where the numbers of the space of outputs stand: input, output, axes; and of the reduced space: input, axes, parameters.
    pub fn arguments(&self, rank: usize) -> (Arguments, Arguments) {
        let (pre, post) = (self.pre_axes.len(), self.post_axes.len());
        let kept = Arguments { start: HEAD, rank, operands: 2 + pre + post, params: 0 };
        let params = self.pre.params.len() + self.post.params.len();
        (kept, Arguments { start: kept.end(), rank, operands: 1 + pre, params })
    }
}

/// What a missing program is: the value, in the dtype that is asked for.
pub fn through(from: DType, to: DType) -> Program {
    let mut b = Builder::new();
    let x = b.input(from);
    let y = b.cast(x, to);
    b.finish(&[y])
}

/// Older and newer to one; of positions to whether the newer is larger (smaller), equal, and which are NaN.
pub fn meet(combine: Combine, acc: DType) -> Program {
    let mut b = Builder::new();
    let (older, newer) = (b.input(acc), b.input(acc));
    let op = match combine {
        Combine::Value(Monoid::Sum) => Op::Add,
        Combine::Value(Monoid::Prod) => Op::Mul,
        Combine::Value(Monoid::Max) => Op::Max,
        Combine::Value(Monoid::Min) => Op::Min,
        Combine::Value(Monoid::All) => Op::And,
        Combine::Value(Monoid::Any) => Op::Or,
        Combine::ArgMax | Combine::ArgMin => {
            let (low, high) = if combine == Combine::ArgMax { (older, newer) } else { (newer, older) };
            let (surpasses, equal) = (b.compare(Op::Lt, low, high), b.compare(Op::Eq, older, newer));
            let (old_nan, new_nan) = (b.compare(Op::Ne, older, older), b.compare(Op::Ne, newer, newer));
            return b.finish(&[surpasses, equal, old_nan, new_nan]);
        }
    };
    let both = b.binary(op, older, newer);
    b.finish(&[both])
}

/// What reducing no element gives: the identity, +0 for a sum.
fn nothing(combine: Combine, acc: DType) -> Program {
    let value = match combine {
        Combine::Value(Monoid::Prod | Monoid::All) => 1.0,
        // Nothing is larger than true.
        Combine::Value(Monoid::Max) if acc != DType::Bool => f64::NEG_INFINITY,
        Combine::Value(Monoid::Min) => f64::INFINITY,
        _ => 0.0,
    };
    let mut b = Builder::new();
    let value = b.lit(acc, value);
    b.finish(&[value])
}

/// What all parts of a kernel need.
struct Writer<'a> {
    plan: &'a Plan,
    /// Types of a partial result's words.
    types: Vec<Type>,
    params: Vec<Id>,
    kept: Arguments,
    reduced: Arguments,
    trouble: Result<(), String>,
}

/// The kernel of a stage over at most `rank` loops of outputs and of reduced elements.
///
/// # Errors
/// A sentence naming what the device lacks.
pub fn shader(plan: &Plan, rank: usize, stage: Stage, can: &Can) -> Result<Shader, String> {
    let (input, partial, output) = plan.dtypes();
    partial.iter().chain([&input, &output]).try_for_each(|&d| element::check(d, can))?;
    let (kept, reduced) = plan.arguments(rank);
    let mut m = Module::new(reduced.end());
    let operands = |m: &mut Module, dtypes: &[DType], written| -> Vec<Operand> {
        dtypes.iter().map(|&d| Operand::new(m, d, written, can)).collect()
    };
    let sources = operands(&mut m, if stage == Stage::Rest { partial } else { std::slice::from_ref(&input) }, false);
    let targets = operands(&mut m, if stage == Stage::Blocks { partial } else { std::slice::from_ref(&output) }, true);
    let dtypes = plan.pre.params.iter().chain(&plan.post.params);
    let params = dtypes.enumerate().map(|(n, &d)| element::parameter(&mut m, d, reduced.param(n))).collect();
    let parts = if plan.acc.is_complex() { 2 } else { 1 };
    let mut types = vec![held(plan.acc); parts];
    types.extend(partial.iter().skip(1).map(|&d| held(d)));
    let stack: Vec<_> = types.iter().map(|&of| m.array(of, DEEPEST, false)).collect();
    let shared: Vec<_> = types.iter().map(|&of| m.array(of, GROUP, true)).collect();
    let mut w = Writer { plan, types, params, kept, reduced, trouble: Ok(()) };

    let [local, group, groups] = m.thread();
    let (total, blocks, span) = (m.argument(0), m.argument(1), m.argument(2));
    let [five, mask, slots] = [5, LANES as u32 - 1, SLOTS].map(|v| m.word(v));
    let lane = m.op(Spirv::BitwiseAnd, Type::U32, &[local, mask]);
    let own = m.op(Spirv::ShiftRightLogical, Type::U32, &[local, five]);
    let (first, step) = (word(&mut m, Spirv::IMul, group, slots), word(&mut m, Spirv::IMul, groups, slots));
    // Elements of a group of the tree, and of a block.
    let size = m.word((LANES * ROWS) as u32);
    let block = word(&mut m, Spirv::IMul, span, size);
    let count = m.argument(reduced.start);
    let more = |m: &mut Module, v: &[Word]| m.op(Spirv::ULessThan, Type::Bool, &[v[0], total]);
    m.repeat(&[(Type::U32, first)], more, |m, v| {
        let slot = word(m, Spirv::IAdd, v[0], own);
        let active = m.op(Spirv::ULessThan, Type::Bool, &[slot, total]);
        let (o, b) = match stage {
            Stage::Rest => (slot, m.word(0)),
            Stage::Whole => (slot, m.word(0)),
            Stage::Blocks => {
                let o = word(m, Spirv::UDiv, slot, blocks);
                (o, word(m, Spirv::UMod, slot, blocks))
            }
        };
        let outputs = Space::new(m, w.kept, o);
        // The lane's first element in the slot, and how far its groups (or blocks) are apart.
        let begin = word(m, Spirv::IMul, b, block);
        let begin = word(m, Spirv::IAdd, begin, lane);
        let (bound, apart) = if stage == Stage::Rest { (blocks, block) } else { (span, size) };
        let exists = |m: &mut Module, n: Word| {
            let far = word(m, Spirv::IMul, n, apart);
            let at = word(m, Spirv::IAdd, begin, far);
            let (inside, left) = (compare(m, at, count), compare(m, n, bound));
            let both = m.op(Spirv::LogicalAnd, Type::Bool, &[inside, left]);
            (m.op(Spirv::LogicalAnd, Type::Bool, &[both, active]), at)
        };
        let zero = m.word(0);
        let (present, _) = exists(m, zero);
        let result = w.counted(
            m,
            &stack,
            |m, n| exists(m, n).0,
            |w, m, n| match stage {
                Stage::Rest => {
                    let node = word(m, Spirv::IMul, o, blocks);
                    let node = word(m, Spirv::IAdd, node, n);
                    let at = w.lane_of(m, node, lane);
                    sources.iter().flat_map(|s| s.load(m, at).words().to_vec()).collect()
                }
                Stage::Whole | Stage::Blocks => {
                    let (_, at) = exists(m, n);
                    w.group(m, sources[0], &outputs, at, count)
                }
            },
        );
        if stage == Stage::Blocks {
            m.when(present, |m| {
                let at = w.lane_of(m, slot, lane);
                for (target, value) in targets.iter().zip(w.ids(&result)) {
                    target.store(m, at, value);
                }
            });
        } else {
            let total = w.lanes(m, &shared, result, local, lane, count);
            let leader = m.op(Spirv::IEqual, Type::Bool, &[lane, zero]);
            let writes = m.op(Spirv::LogicalAnd, Type::Bool, &[leader, active]);
            m.when(writes, |m| w.finish(m, &outputs, targets[0], &total, count));
        }
        vec![word(m, Spirv::IAdd, v[0], step)]
    });
    w.trouble.map(|()| m.finish(can))
}

fn word(m: &mut Module, op: Spirv, x: Word, y: Word) -> Word {
    m.op(op, Type::U32, &[x, y])
}

fn compare(m: &mut Module, x: Word, y: Word) -> Word {
    m.op(Spirv::ULessThan, Type::Bool, &[x, y])
}

impl Writer<'_> {
    /// The values of a partial result: that of the accumulator, and of positions the position.
    fn ids(&self, words: &[Word]) -> Vec<Id> {
        if self.plan.acc.is_complex() {
            return vec![Id::Two(words[0], words[1])];
        }
        words.iter().map(|&w| Id::One(w)).collect()
    }

    fn lane_of(&self, m: &mut Module, node: Word, lane: Word) -> Word {
        let lanes = m.word(LANES as u32);
        let at = word(m, Spirv::IMul, node, lanes);
        word(m, Spirv::IAdd, at, lane)
    }

    fn typed(&self, words: &[Word]) -> Vec<(Type, Word)> {
        self.types.iter().copied().zip(words.iter().copied()).collect()
    }

    /// A program's outputs; a problem is remembered, and something else returned.
    fn run(
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
                Id::One(if instr.dtype == DType::I64 { m.op(Spirv::UConvert, Type::U64, &[at]) } else { at })
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
    fn meet(&mut self, m: &mut Module, older: &[Word], newer: &[Word]) -> Vec<Word> {
        let plan = self.plan;
        let (first, second) = (self.ids(older)[0], self.ids(newer)[0]);
        let met = self.run(m, &plan.meet, &[first, second], 0, |m, _| m.word(0));
        if matches!(plan.combine, Combine::Value(_)) {
            return met[0].words().to_vec();
        }
        let [surpasses, equal, old_nan, new_nan] = [0, 1, 2, 3].map(|n| met[n].first());
        let and = |m: &mut Module, x, y| m.op(Spirv::LogicalAnd, Type::Bool, &[x, y]);
        let or = |m: &mut Module, x, y| m.op(Spirv::LogicalOr, Type::Bool, &[x, y]);
        // Of equal elements, and of NaN, the first.
        let earlier = compare(m, newer[1], older[1]);
        let both = and(m, old_nan, new_nan);
        let same = or(m, equal, both);
        let first = and(m, same, earlier);
        let no_nan = m.op(Spirv::LogicalNot, Type::Bool, &[old_nan]);
        let appears = and(m, new_nan, no_nan);
        let wins = or(m, surpasses, appears);
        let wins = or(m, wins, first);
        let pick = |m: &mut Module, n: usize| m.op(Spirv::Select, self.types[n], &[wins, newer[n], older[n]]);
        vec![pick(m, 0), pick(m, 1)]
    }

    /// The element at a place of the reduced space, as a partial result.
    fn element(&mut self, m: &mut Module, source: Operand, outputs: &Space, i: Word) -> Vec<Word> {
        let plan = self.plan;
        let reduced = Space::new(m, self.reduced, i);
        let (base, more) = (outputs.position(m, 0), reduced.position(m, 0));
        let at = word(m, Spirv::IAdd, base, more);
        let x = source.load(m, at);
        let acc = self.run(m, &plan.pre, &[x], 0, |m, axis| {
            let nth = plan.pre_axes.iter().position(|&a| a == axis).unwrap_or_default();
            let (outer, inner) = (outputs.position(m, 2 + nth), reduced.position(m, 1 + nth));
            word(m, Spirv::IAdd, outer, inner)
        });
        let mut state = acc[0].words().to_vec();
        if !matches!(plan.combine, Combine::Value(_)) {
            let first = m.argument(3);
            state.push(word(m, Spirv::IAdd, first, i));
        }
        state
    }

    /// The rows of a group, one after the other, from the lane's element `at`.
    fn group(&mut self, m: &mut Module, source: Operand, outputs: &Space, at: Word, count: Word) -> Vec<Word> {
        let first = self.element(m, source, outputs, at);
        let (lanes, size) = (m.word(LANES as u32), m.word((LANES * ROWS) as u32));
        let next = word(m, Spirv::IAdd, at, lanes);
        let end = word(m, Spirv::IAdd, at, size);
        let mut state = self.typed(&first);
        state.push((Type::U32, next));
        let i = state.len() - 1;
        let more = |m: &mut Module, v: &[Word]| {
            let (inside, left) = (compare(m, v[i], count), compare(m, v[i], end));
            m.op(Spirv::LogicalAnd, Type::Bool, &[inside, left])
        };
        let mut end = m.repeat(&state, more, |m, v| {
            let element = self.element(m, source, outputs, v[i]);
            let mut next = self.meet(m, &v[..i], &element);
            next.push(word(m, Spirv::IAdd, v[i], lanes));
            next
        });
        end.truncate(i);
        end
    }

    /// Groups combined as a binary counter does; something, where there are none.
    fn counted(
        &mut self,
        m: &mut Module,
        stack: &[super::module::Array],
        exists: impl Fn(&mut Module, Word) -> Word,
        group: impl Fn(&mut Self, &mut Module, Word) -> Vec<Word>,
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
                    let bit = word(m, Spirv::BitwiseAnd, v[n + 1], one);
                    m.op(Spirv::INotEqual, Type::Bool, &[bit, zero])
                };
                let merged = m.repeat(&state, odd, |m, v| {
                    let top = word(m, Spirv::ISub, v[n], one);
                    let older = pop(m, top);
                    let mut next = self.meet(m, &older, &v[..n]);
                    next.extend([top, word(m, Spirv::ShiftRightLogical, v[n + 1], one)]);
                    next
                });
                for (&place, &value) in stack.iter().zip(&merged) {
                    m.set(place, merged[n], value);
                }
                vec![word(m, Spirv::IAdd, v[0], one), word(m, Spirv::IAdd, merged[n], one)]
            },
        )[1];
        let any = m.op(Spirv::INotEqual, Type::Bool, &[filled, zero]);
        let below = word(m, Spirv::ISub, filled, one);
        let top = m.op(Spirv::Select, Type::U32, &[any, below, zero]);
        let newest = pop(m, top);
        let mut state = self.typed(&newest);
        state.push((Type::U32, top));
        let more = |m: &mut Module, v: &[Word]| m.op(Spirv::INotEqual, Type::Bool, &[v[n], zero]);
        let mut all = m.repeat(&state, more, |m, v| {
            let top = word(m, Spirv::ISub, v[n], one);
            let older = pop(m, top);
            let mut next = self.meet(m, &older, &v[..n]);
            next.push(top);
            next
        });
        all.truncate(n);
        all
    }

    /// The lanes combined into the first.
    fn lanes(
        &mut self,
        m: &mut Module,
        shared: &[super::module::Array],
        mut mine: Vec<Word>,
        local: Word,
        lane: Word,
        count: Word,
    ) -> Vec<Word> {
        let write = |m: &mut Module, values: &[Word]| {
            shared.iter().zip(values).for_each(|(&s, &v)| m.set(s, local, v));
            m.barrier();
        };
        write(m, &mine);
        let mut half = LANES as u32 / 2;
        while half > 0 {
            let distance = m.word(half);
            let other = word(m, Spirv::IAdd, lane, distance);
            let (lower, filled) = (compare(m, lane, distance), compare(m, other, count));
            let joins = m.op(Spirv::LogicalAnd, Type::Bool, &[lower, filled]);
            let far = word(m, Spirv::IAdd, local, distance);
            let at = m.op(Spirv::Select, Type::U32, &[joins, far, local]);
            let newer: Vec<Word> = shared.iter().map(|&s| m.get(s, at)).collect();
            let met = self.meet(m, &mine, &newer);
            let select = |m: &mut Module, n: usize| m.op(Spirv::Select, self.types[n], &[joins, met[n], mine[n]]);
            mine = (0..mine.len()).map(|n| select(m, n)).collect();
            m.barrier();
            write(m, &mine);
            half /= 2;
        }
        mine
    }

    /// The result of an output, written.
    fn finish(&mut self, m: &mut Module, outputs: &Space, target: Operand, total: &[Word], count: Word) {
        let plan = self.plan;
        let value = match plan.combine {
            Combine::Value(_) => {
                let zero = m.word(0);
                let empty = m.op(Spirv::IEqual, Type::Bool, &[count, zero]);
                let nothing = self.run(m, &plan.nothing, &[], 0, |m, _| m.word(0))[0].words().to_vec();
                let pick = |(n, (&x, &y)): (usize, (&Word, &Word))| m.op(Spirv::Select, self.types[n], &[empty, x, y]);
                let value: Vec<Word> = nothing.iter().zip(total).enumerate().map(pick).collect();
                self.ids(&value)[0]
            }
            Combine::ArgMax | Combine::ArgMin => Id::One(total[1]),
        };
        let result = self.run(m, &plan.post, &[value], plan.pre.params.len(), |m, axis| {
            let nth = plan.post_axes.iter().position(|&a| a == axis).unwrap_or_default();
            outputs.position(m, 2 + plan.pre_axes.len() + nth)
        });
        let at = outputs.position(m, 1);
        target.store(m, at, result[0]);
    }
}
