//! Index operands: an index becomes a place along its axis, or is reported.

use super::element::{self, Operand};
use super::module::{Buffer, Module};
use crate::Can;
use crate::code::{Inst, Type, Word};
use ferrotensor_core::{DType, Error};

/// Words of arguments for each index operand: the size of its axis, and how far two of its places are apart.
pub const WORDS: u32 = 2;

/// Whether a kernel can have index operands of these dtypes.
///
/// # Errors
/// A sentence naming what the device lacks.
pub fn check(dtypes: &[DType], can: &Can) -> Result<(), String> {
    if dtypes.is_empty() || dtypes.iter().any(|d| !d.is_integer()) {
        return Err("indices that are no integers, or none".into());
    }
    dtypes.iter().try_for_each(|&d| element::check(d, can))
}

/// Index operands of a kernel, and where it reports what is out of range.
pub struct Indices {
    operands: Vec<(DType, Operand)>,
    report: Buffer,
    /// The first word of their arguments.
    start: u32,
}

impl Indices {
    /// The next buffers of the module: one for each operand, then, when all others are there, that of reports.
    pub fn operands(m: &mut Module, dtypes: &[DType], can: &Can) -> Vec<(DType, Operand)> {
        dtypes.iter().map(|&d| (d, Operand::new(m, d, false, can))).collect()
    }

    /// `start`: the number of the first of their arguments.
    pub fn new(m: &mut Module, operands: Vec<(DType, Operand)>, start: u32) -> Indices {
        Indices { operands, report: m.buffer(Type::U32, true), start }
    }

    /// How far the selected place lies from that of all zeros, and whether an index is out of range; `at` gives the position of
    /// the n-th operand's element.
    pub fn place(&self, m: &mut Module, mut at: impl FnMut(&mut Module, usize) -> Word) -> (Word, Word) {
        let (mut sum, mut bad) = (m.word(0), m.constant(Type::Bool, 0));
        for (n, &(dtype, operand)) in self.operands.iter().enumerate() {
            let position = at(m, n);
            let index = operand.load(m, position).first();
            let argument = self.start + n as u32 * WORDS;
            let (dim, step) = (m.argument(argument), m.argument(argument + 1));
            let found = Found::of(m, dtype, index, dim);
            let far = m.op(Inst::IMul, Type::U32, &[found.place, step]);
            sum = m.op(Inst::IAdd, Type::U32, &[sum, far]);
            bad = m.op(Inst::LogicalOr, Type::Bool, &[bad, found.bad]);
            m.when(found.bad, |m| {
                let (large, small) = (m.word(2 * n as u32), m.word(2 * n as u32 + 1));
                m.raise(self.report, large, found.above);
                m.raise(self.report, small, found.below);
            });
        }
        (sum, bad)
    }
}

/// What the report of a dispatch says of index operands with axes of these sizes: of the first axis with an index out of range the
/// largest, or else the one farthest below. Which is the same in every run, whatever order threads come in.
pub fn reported(words: &[u32], axes: &[usize]) -> Option<Error> {
    let told = |(pair, &dim): (&[u32], &usize)| {
        let index = match *pair {
            [0, 0] => return None,
            // Farther than a report can tell.
            [u32::MAX, _] => format!("index {} or more", u32::MAX - 1),
            [0, u32::MAX] => format!("index -{} or less", u32::MAX),
            [0, below] => format!("index -{below}"),
            [above, _] => format!("index {}", above - 1),
            _ => return None,
        };
        Some(Error::index(format!("{index} is out of range for an axis of size {dim}")))
    };
    words.chunks(2).zip(axes).find_map(told)
}

/// An index looked at.
struct Found {
    /// Its place along the axis; anything where it is out of range.
    place: Word,
    bad: Word,
    /// One more than an index that is not negative, 0 for others; 2^32 - 1 for all that has no room.
    above: Word,
    /// The size of a negative index, 0 for others; 2^32 - 1 likewise.
    below: Word,
}

impl Found {
    fn of(m: &mut Module, dtype: DType, index: Word, dim: Word) -> Found {
        let wide = matches!(dtype, DType::I64 | DType::U64);
        let of = if wide { Type::U64 } else { Type::U32 };
        let signed = matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64);
        let size = if wide { m.op(Inst::UConvert, of, &[dim]) } else { dim };
        let zero = if wide { m.literal(Type::U64, 0) } else { m.word(0) };
        let negative = if signed { m.op(Inst::SLessThan, Type::Bool, &[index, zero]) } else { m.constant(Type::Bool, 0) };
        let wrapped = m.op(Inst::IAdd, of, &[index, size]);
        let place = m.op(Inst::Select, of, &[negative, wrapped, index]);
        let bad = m.op(Inst::UGreaterThanEqual, Type::Bool, &[place, size]);
        let away = m.op(Inst::SNegate, of, &[index]);
        let (none, one, most) = (m.word(0), m.word(1), m.word(u32::MAX));
        let plain = Self::told(m, wide, index);
        let full = m.op(Inst::IEqual, Type::Bool, &[plain, most]);
        let more = m.op(Inst::IAdd, Type::U32, &[plain, one]);
        let more = m.op(Inst::Select, Type::U32, &[full, most, more]);
        let above = m.op(Inst::Select, Type::U32, &[negative, none, more]);
        let away = Self::told(m, wide, away);
        let below = m.op(Inst::Select, Type::U32, &[negative, away, none]);
        let place = if wide { m.op(Inst::UConvert, Type::U32, &[place]) } else { place };
        Found { place, bad, above, below }
    }

    /// An unsigned number in 32 bits, their largest for what has no room.
    fn told(m: &mut Module, wide: bool, value: Word) -> Word {
        if !wide {
            return value;
        }
        let (low, most) = (m.op(Inst::UConvert, Type::U32, &[value]), m.word(u32::MAX));
        let back = m.op(Inst::UConvert, Type::U64, &[low]);
        let fits = m.op(Inst::IEqual, Type::Bool, &[back, value]);
        m.op(Inst::Select, Type::U32, &[fits, low, most])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_the_largest_index_of_the_first_axis_that_has_one() {
        let told = |words: &[u32]| reported(words, &[3, 5]).map(|e| e.message);
        let of = |index: &str, dim: usize| Some(format!("{index} is out of range for an axis of size {dim}"));
        assert_eq!(told(&[0, 0, 0, 0]), None);
        assert_eq!(told(&[4, 9, 0, 7]), of("index 3", 3));
        assert_eq!(told(&[0, 0, 0, 7]), of("index -7", 5));
        assert_eq!(told(&[0, 0, u32::MAX, 7]), of("index 4294967294 or more", 5));
        assert_eq!(told(&[0, u32::MAX, 6, 7]), of("index -4294967295 or less", 3));
    }
}
