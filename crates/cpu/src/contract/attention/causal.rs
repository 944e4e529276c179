//! Keys that no query of a block sees: where the map after the scores leaves minus infinity behind each query's own place and the weights
//! are a softmax, their weights are zeros. A sum that more zeros are added to, or products of zeros, keeps its bits unless it is minus
//! zero or a value is infinite or NaN; then all keys are met.

use crate::contract::Matrix;
use crate::contract::tile::Float;
use ferrotensor_core::DType;
use ferrotensor_core::attention::Attention;
use ferrotensor_core::kernel::{Combine, Monoid, Reduce};
use ferrotensor_core::math::Lane as _;
use ferrotensor_core::rows::{RowStep, Rows};
use ferrotensor_core::scalar::{MathFn, Op, Program, Value};
use std::ops::Range;

/// A mask that leaves out keys behind each query's place.
pub struct Causal {
    /// The axis of the keys; queries lie along the one before.
    key: u8,
}

impl Causal {
    /// Of a kernel that leaves keys out so.
    pub fn of(kernel: &Attention) -> Option<Causal> {
        let post = kernel.scores.post.as_ref()?;
        let result = &post.instrs[*post.outputs.first()? as usize];
        let (Op::Select, &[seen, _, nothing]) = (result.op, &result.args[..]) else { return None };
        let (Op::Le, [key, query]) = operation(post, seen)? else { return None };
        let (Op::Index(key), Op::Index(query)) = (post.instrs[key as usize].op, post.instrs[query as usize].op) else {
            return None;
        };
        let fits = query + 1 == key && is_constant(post, nothing, f64::NEG_INFINITY) && is_softmax(&kernel.weights);
        fits.then_some(Causal { key })
    }

    /// Whether keys lie along the last of so many axes.
    pub fn fits(&self, rank: usize) -> bool {
        usize::from(self.key) + 1 == rank
    }
}

/// An operation of two operands.
fn operation(program: &Program, value: Value) -> Option<(Op, [Value; 2])> {
    let instr = &program.instrs[value as usize];
    let &[x, y] = &instr.args[..] else { return None };
    Some((instr.op, [x, y]))
}

/// Exponentials of what the largest leaves, by their sum or times its inverse: not by more than a sum of 1 and above may be.
fn is_softmax(rows: &Rows) -> bool {
    let [
        RowStep::Reduce { reduce: largest, operand: 0 },
        RowStep::Map { map: gap, operands: of_gap },
        RowStep::Reduce { reduce: sum, operand: 2 },
        between @ ..,
        RowStep::Map { map: share, operands: of_share },
    ] = &rows.steps[..]
    else {
        return false;
    };
    let bare = |reduce: &Reduce, monoid: Monoid| {
        reduce.combine == Combine::Value(monoid) && reduce.pre.is_none() && reduce.post.is_none()
    };
    let exponential = |program: &Program| {
        let exp = &program.instrs[program.outputs[0] as usize];
        exp.op == Op::Call(MathFn::Exp) && is_of_inputs(program, exp.args[0], Op::Sub)
    };
    let shares = |op: Op| is_of_inputs(&share.program, share.program.outputs[0], op);
    let is_whole = match between {
        [] => of_share[..] == [2, 3] && shares(Op::Div),
        [RowStep::Map { map, operands }] => {
            operands[..] == [3] && is_inverse(&map.program) && of_share[..] == [2, 4] && shares(Op::Mul)
        }
        _ => false,
    };
    let is_alone = rows.inputs.len() == 1 && rows.outputs == [rows.steps.len()];
    is_whole
        && is_alone
        && bare(largest, Monoid::Max)
        && bare(sum, Monoid::Sum)
        && of_gap[..] == [0, 1]
        && exponential(&gap.program)
}

/// Whether a value is an operation of a program's first two inputs.
fn is_of_inputs(program: &Program, value: Value, op: Op) -> bool {
    let is_input = |value: Value, n: u16| program.instrs[value as usize].op == Op::Input(n);
    matches!(operation(program, value), Some((found, [x, y])) if found == op && is_input(x, 0) && is_input(y, 1))
}

/// Whether a program is 1 by its input.
fn is_inverse(program: &Program) -> bool {
    let is_input = |value: Value| program.instrs[value as usize].op == Op::Input(0);
    matches!(operation(program, program.outputs[0]), Some((Op::Div, [x, y])) if is_constant(program, x, 1.0) && is_input(y))
}

/// Whether a value is this number.
fn is_constant(program: &Program, value: Value, number: f64) -> bool {
    let instr = &program.instrs[value as usize];
    match (instr.op, instr.dtype) {
        (Op::Const(bits), DType::F32) => bits == u64::from((number as f32).to_bits()),
        (Op::Const(bits), DType::F64) => bits == number.to_bits(),
        _ => false,
    }
}

/// Whether all are finite.
pub fn are_finite<T: Float>(values: &[T]) -> bool {
    values.iter().fold(true, |all, &x| all & (x * x.lit(0.0)).eq(x.lit(0.0)))
}

/// Whether one of these rows of a matrix has a minus zero.
///
/// # Safety
/// They exist, and nobody writes them.
pub unsafe fn has_minus_zero<T: Float>(matrix: Matrix, rows: Range<usize>, columns: usize) -> bool {
    // SAFETY: as the caller promises.
    let at = |i: usize, j: usize| unsafe { *matrix.from(i, j, size_of::<T>()).start.cast::<T>() };
    rows.flat_map(|i| (0..columns).map(move |j| (i, j))).any(|(i, j)| {
        let x = at(i, j);
        x.bits().eq(x.lit(-0.0).bits())
    })
}
