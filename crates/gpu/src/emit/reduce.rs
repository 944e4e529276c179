//! The kernels of a reduction: the tree of [`ferrotensor_core::kernel::tree`], a thread for each lane.
//!
//! A group of threads works on eight slots of 32 lanes. A slot is an output, or one of the blocks that an output with many
//! elements is cut into: a power of two of the tree's groups, so that a block's lanes are a node of the tree, and a second
//! kernel goes on from there. How a thread goes along its lane, and lanes meet, is in `tree.rs`.

use super::element::{self, Operand};
use super::module::Module;
use super::scalar::Id;
use super::space::{Arguments, Space};
use super::tree::{Writer, compare, word};
use crate::Can;
use crate::code::{Code, GROUP, Inst, Type, Word};
use ferrotensor_core::DType;
use ferrotensor_core::kernel::tree::{LANES, ROWS};
use ferrotensor_core::kernel::{Combine, Monoid, Reduce};
use ferrotensor_core::scalar::{Arithmetic, Builder, Op, Program, plain};

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
    /// The plan of a reduction.
    pub fn new(kernel: &Reduce, arithmetic: Arithmetic) -> Plan {
        let result = match kernel.combine {
            Combine::Value(_) => kernel.acc,
            Combine::ArgMax | Combine::ArgMin => DType::I32,
        };
        let pre = plain(&kernel.pre.clone().unwrap_or_else(|| through(kernel.input, kernel.acc)), arithmetic);
        let post = plain(&kernel.post.clone().unwrap_or_else(|| through(result, result)), arithmetic);
        let (pre_axes, post_axes) = (super::map::axes(&pre), super::map::axes(&post));
        Plan {
            combine: kernel.combine,
            meet: plain(&meet(kernel.combine, kernel.acc), arithmetic),
            nothing: plain(&nothing(kernel.combine, kernel.acc), arithmetic),
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

    /// Older and newer to one.
    pub fn meet(&self) -> &Program {
        &self.meet
    }

    /// What is reported.
    pub fn combine(&self) -> Combine {
        self.combine
    }

    /// Dtype of the accumulator.
    pub fn acc(&self) -> DType {
        self.acc
    }

    /// What is done with each result.
    pub fn post(&self) -> &Program {
        &self.post
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
        Combine::Value(Monoid::Sum) | Combine::ArgMax | Combine::ArgMin => 0.0,
        Combine::Value(monoid) => monoid.identity_literal(acc),
    };
    let mut b = Builder::new();
    let value = b.lit(acc, value);
    b.finish(&[value])
}

/// The spaces of outputs and of the elements of one.
#[derive(Clone, Copy)]
struct Places {
    kept: Arguments,
    reduced: Arguments,
}

/// The kernel of a stage over at most `rank` loops of outputs and of reduced elements.
///
/// # Errors
/// A sentence naming what the device lacks.
pub fn shader(plan: &Plan, rank: usize, stage: Stage, can: &Can) -> Result<Code, String> {
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
    let mut w = Writer::new(plan, params);
    let stack: Vec<_> = w.types.iter().map(|&of| m.array(of, DEEPEST, false)).collect();
    let shared: Vec<_> = w.types.iter().map(|&of| m.array(of, GROUP, true)).collect();
    let places = Places { kept, reduced };

    let [local, group, groups] = m.thread();
    let (total, blocks, span) = (m.argument(0), m.argument(1), m.argument(2));
    let [five, mask, slots] = [5, LANES as u32 - 1, SLOTS].map(|v| m.word(v));
    let lane = m.op(Inst::BitwiseAnd, Type::U32, &[local, mask]);
    let own = m.op(Inst::ShiftRightLogical, Type::U32, &[local, five]);
    let (first, step) = (word(&mut m, Inst::IMul, group, slots), word(&mut m, Inst::IMul, groups, slots));
    // Elements of a group of the tree, and of a block.
    let size = m.word((LANES * ROWS) as u32);
    let block = word(&mut m, Inst::IMul, span, size);
    let count = m.argument(reduced.start);
    let more = |m: &mut Module, v: &[Word]| m.op(Inst::ULessThan, Type::Bool, &[v[0], total]);
    m.repeat(&[(Type::U32, first)], more, |m, v| {
        let slot = word(m, Inst::IAdd, v[0], own);
        let active = m.op(Inst::ULessThan, Type::Bool, &[slot, total]);
        let (o, b) = match stage {
            Stage::Rest => (slot, m.word(0)),
            Stage::Whole => (slot, m.word(0)),
            Stage::Blocks => {
                let o = word(m, Inst::UDiv, slot, blocks);
                (o, word(m, Inst::UMod, slot, blocks))
            }
        };
        let outputs = Space::new(m, places.kept, o);
        // The lane's first element in the slot, and how far its groups (or blocks) are apart.
        let begin = word(m, Inst::IMul, b, block);
        let begin = word(m, Inst::IAdd, begin, lane);
        let (bound, apart) = if stage == Stage::Rest { (blocks, block) } else { (span, size) };
        let exists = |m: &mut Module, n: Word| {
            let far = word(m, Inst::IMul, n, apart);
            let at = word(m, Inst::IAdd, begin, far);
            let (inside, left) = (compare(m, at, count), compare(m, n, bound));
            let both = m.op(Inst::LogicalAnd, Type::Bool, &[inside, left]);
            (m.op(Inst::LogicalAnd, Type::Bool, &[both, active]), at)
        };
        let zero = m.word(0);
        let (present, _) = exists(m, zero);
        let result = w.counted(
            m,
            &stack,
            |m, n| exists(m, n).0,
            |w, m, n| match stage {
                Stage::Rest => {
                    let node = word(m, Inst::IMul, o, blocks);
                    let node = word(m, Inst::IAdd, node, n);
                    let at = lane_of(m, node, lane);
                    sources.iter().flat_map(|s| s.load(m, at).words().to_vec()).collect()
                }
                Stage::Whole | Stage::Blocks => {
                    let (_, at) = exists(m, n);
                    w.group(m, at, count, |w, m, i| element(w, m, places, sources[0], &outputs, i))
                }
            },
        );
        if stage == Stage::Blocks {
            m.when(present, |m| {
                let at = lane_of(m, slot, lane);
                for (target, value) in targets.iter().zip(w.ids(&result)) {
                    target.store(m, at, value);
                }
            });
        } else {
            let total = w.lanes(m, &shared, result, local, lane, count);
            let leader = m.op(Inst::IEqual, Type::Bool, &[lane, zero]);
            let writes = m.op(Inst::LogicalAnd, Type::Bool, &[leader, active]);
            m.when(writes, |m| finish(&mut w, m, &outputs, targets[0], &total, count));
        }
        vec![word(m, Inst::IAdd, v[0], step)]
    });
    w.trouble.map(|()| m.finish())
}

fn lane_of(m: &mut Module, node: Word, lane: Word) -> Word {
    let lanes = m.word(LANES as u32);
    let at = word(m, Inst::IMul, node, lanes);
    word(m, Inst::IAdd, at, lane)
}

/// The element at a place of the reduced space, as a partial result.
fn element(w: &mut Writer, m: &mut Module, places: Places, source: Operand, outputs: &Space, i: Word) -> Vec<Word> {
    let plan = w.plan;
    let reduced = Space::new(m, places.reduced, i);
    let (base, more) = (outputs.position(m, 0), reduced.position(m, 0));
    let at = word(m, Inst::IAdd, base, more);
    let x = source.load(m, at);
    let acc = w.run(m, &plan.pre, &[x], 0, |m, axis| {
        let nth = plan.pre_axes.iter().position(|&a| a == axis).unwrap_or_default();
        let (outer, inner) = (outputs.position(m, 2 + nth), reduced.position(m, 1 + nth));
        word(m, Inst::IAdd, outer, inner)
    });
    let mut state = acc[0].words().to_vec();
    if !matches!(plan.combine, Combine::Value(_)) {
        let first = m.argument(3);
        state.push(word(m, Inst::IAdd, first, i));
    }
    state
}

/// The result of an output, written.
fn finish(w: &mut Writer, m: &mut Module, outputs: &Space, target: Operand, total: &[Word], count: Word) {
    let plan = w.plan;
    let value = match plan.combine {
        Combine::Value(_) => {
            let zero = m.word(0);
            let empty = m.op(Inst::IEqual, Type::Bool, &[count, zero]);
            let nothing = w.run(m, &plan.nothing, &[], 0, |m, _| m.word(0))[0].words().to_vec();
            let pick = |(n, (&x, &y)): (usize, (&Word, &Word))| m.op(Inst::Select, w.types[n], &[empty, x, y]);
            let value: Vec<Word> = nothing.iter().zip(total).enumerate().map(pick).collect();
            w.ids(&value)[0]
        }
        Combine::ArgMax | Combine::ArgMin => Id::One(total[1]),
    };
    let result = w.run(m, &plan.post, &[value], plan.pre.params.len(), |m, axis| {
        let nth = plan.post_axes.iter().position(|&a| a == axis).unwrap_or_default();
        outputs.position(m, 2 + plan.pre_axes.len() + nth)
    });
    let at = outputs.position(m, 1);
    target.store(m, at, result[0]);
}
