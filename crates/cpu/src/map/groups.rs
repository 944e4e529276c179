//! Values that neighbours share: what depends on `i >> n` alone is computed once for a group of 2^n elements, and what depends on no element
//! once for all. Random numbers are made so: of a Philox block that four of them share, each element otherwise computes all hundred
//! instructions (10^7 normal numbers: 75 ms).

use super::compile::{TileProgram, compile_in_groups};
use super::frame::Memory;
use crate::tier::Tier;
use ferrotensor_core::layout::Layout;
use ferrotensor_core::scalar::{Op, Program, Value};
use std::sync::OnceLock;

/// How many elements share a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Shared {
    /// 2^n neighbours, in groups that begin at multiples of as many.
    By(u8),
    /// All of a launch.
    ByAll,
}

/// Each element has its own.
pub const OWN: Shared = Shared::By(0);

/// Groups have at most 2^3 elements: repeating a value is not free either.
const MOST: u8 = 3;

/// The coordinate shifted right by `n`: which axis, and `n`.
pub fn group_number(program: &Program, value: Value) -> Option<(u8, u8)> {
    let instr = &program.instrs[value as usize];
    let (Op::Shr, [x, by]) = (instr.op, &instr.args[..]) else { return None };
    match (program.instrs[*x as usize].op, program.instrs[*by as usize].op) {
        (Op::Index(axis), Op::Const(by)) if (1..=u64::from(MOST)).contains(&by) => Some((axis, by as u8)),
        _ => None,
    }
}

/// Who shares each value of a simplified program, where the inputs of `scalars` (a bit for each) have one element. The result of an
/// instruction is shared as its operands are.
pub fn shared(program: &Program, scalars: u64) -> Vec<Shared> {
    let mut all: Vec<Shared> = Vec::with_capacity(program.instrs.len());
    for (value, instr) in program.instrs.iter().enumerate() {
        all.push(match (instr.op, group_number(program, value as Value)) {
            (_, Some((_, by))) => Shared::By(by),
            (Op::Input(n), _) if scalars >> n & 1 == 0 => OWN,
            (Op::Index(_), _) => OWN,
            _ => instr.args.iter().map(|&a| all[a as usize]).min().unwrap_or(Shared::ByAll),
        });
    }
    all
}

/// Of each value, that it is computed once for each 2^n elements; of one that all share, that it is read so: where nobody reads more than
/// every fourth element of it, a quarter of a register is filled.
pub fn groups(program: &Program, shared: &[Shared]) -> Vec<u8> {
    let mut groups = vec![MOST; shared.len()];
    program.outputs.iter().for_each(|&value| groups[value as usize] = 0);
    for (value, instr) in program.instrs.iter().enumerate().rev() {
        if let Shared::By(n) = shared[value] {
            groups[value] = n;
        }
        for &a in &instr.args {
            groups[a as usize] = groups[a as usize].min(groups[value]);
        }
    }
    groups
}

/// A program with values that neighbours may share, compiled when a launch first shows which operands have one element.
pub struct Groups {
    program: Program,
    tier: Tier,
    /// The axis whose neighbours share.
    axis: usize,
    compiled: OnceLock<Option<(u64, TileProgram)>>,
}

impl Groups {
    /// Those of a simple program, where there are any.
    pub fn find(program: &Program, tier: Tier) -> Option<Groups> {
        let (axis, _) = (0..program.instrs.len()).find_map(|v| group_number(program, v as Value))?;
        // A scalar is a bit, and neighbours lie along one axis.
        let one_axis = program.instrs.iter().all(|i| !matches!(i.op, Op::Index(other) if other != axis));
        (program.inputs.len() <= 64 && one_axis).then(|| Groups {
            program: program.clone(),
            tier,
            axis: axis as usize,
            compiled: OnceLock::new(),
        })
    }

    /// The program for operands (inputs, then outputs) that are all there and whose elements are numbered along the one axis; where their
    /// inputs of one element are at least those it was compiled for.
    pub fn fitting(&self, operands: &[Memory]) -> Option<&TileProgram> {
        let is_one = |(layout, _): (&Layout, *mut u8)| layout.strides().iter().all(|&s| s == 0);
        let (output, _) = (*operands.last()?)?;
        if output.dims().get(self.axis) != Some(&output.len()) || operands.iter().any(Option::is_none) {
            return None;
        }
        let inputs = operands.get(..self.program.inputs.len())?;
        let scalars = inputs.iter().enumerate().fold(0, |bits, (n, o)| bits | u64::from(o.is_some_and(is_one)) << n);
        let compiled = self.compiled.get_or_init(|| {
            let program = compile_in_groups(&self.program, self.tier, scalars).ok()?;
            Some((scalars, program))
        });
        let (needed, program) = compiled.as_ref()?;
        // Less than a tile is done before it would pay; and a single element is not met as one for all.
        (needed & !scalars == 0 && output.len() > program.tile).then_some(program)
    }
}
