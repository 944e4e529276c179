//! Arithmetic of words, which positions and counts are.

use super::module::Module;
use crate::code::{Inst, Type, Word};

/// An instruction of two words.
pub fn word(m: &mut Module, op: Inst, x: Word, y: Word) -> Word {
    m.op(op, Type::U32, &[x, y])
}

/// `x < y`.
pub fn less(m: &mut Module, x: Word, y: Word) -> Word {
    m.op(Inst::ULessThan, Type::Bool, &[x, y])
}

/// Whether both hold.
pub fn both(m: &mut Module, x: Word, y: Word) -> Word {
    m.op(Inst::LogicalAnd, Type::Bool, &[x, y])
}
