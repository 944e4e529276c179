//! The remainder of a truncated division of floats: exact, by long division of the significands.

use super::module::Module;
use crate::code::{Inst, Type, Word};

/// The parts of a float's format that the division needs.
struct Format {
    float: Type,
    bits: Type,
    fraction: u64,
    top: u64,
}

/// `x rem y` with the sign of x, as C's `fmod`: NaN for an infinite x, a y of zero, and NaN; x itself for an infinite y.
pub fn remainder(m: &mut Module, of: Type, x: Word, y: Word) -> Word {
    let f = if of == Type::F64 {
        Format { float: of, bits: Type::U64, fraction: 52, top: 0x7ff }
    } else {
        Format { float: of, bits: Type::U32, fraction: 23, top: 0xff }
    };
    let zero = m.constant(f.bits, 0);
    let sign_bit = m.constant(f.bits, (f.top + 1) << f.fraction);
    let (bx, by) = (m.op(Inst::Bitcast, f.bits, &[x]), m.op(Inst::Bitcast, f.bits, &[y]));
    let sign = m.op(Inst::BitwiseAnd, f.bits, &[bx, sign_bit]);
    let (size_x, size_y) = (m.op(Inst::BitwiseXor, f.bits, &[bx, sign]), f.magnitude(m, by));
    let infinity = m.constant(f.bits, f.top << f.fraction);
    // Either would make the loop below run for nothing, or for ever.
    let x_is_number = m.op(Inst::ULessThan, Type::Bool, &[size_x, infinity]);
    let y_is_no_nan = m.op(Inst::ULessThanEqual, Type::Bool, &[size_y, infinity]);
    let y_is_no_zero = m.op(Inst::INotEqual, Type::Bool, &[size_y, zero]);
    let valid = m.op(Inst::LogicalAnd, Type::Bool, &[x_is_number, y_is_no_nan]);
    let valid = m.op(Inst::LogicalAnd, Type::Bool, &[valid, y_is_no_zero]);
    let divides = m.op(Inst::ULessThanEqual, Type::Bool, &[size_y, size_x]);
    let divides = m.op(Inst::LogicalAnd, Type::Bool, &[valid, divides]);
    // Where nothing is divided, 1 by 1.
    let one = m.constant(f.bits, (f.top >> 1) << f.fraction);
    let (px, py) =
        (m.op(Inst::Select, f.bits, &[divides, size_x, one]), m.op(Inst::Select, f.bits, &[divides, size_y, one]));
    let rest = f.divide(m, px, py);
    let rest = m.op(Inst::Select, f.bits, &[divides, rest, size_x]);
    let nan = m.constant(f.bits, (f.top << f.fraction) | 1 << (f.fraction - 1));
    let rest = m.op(Inst::BitwiseOr, f.bits, &[rest, sign]);
    let rest = m.op(Inst::Select, f.bits, &[valid, rest, nan]);
    m.op(Inst::Bitcast, f.float, &[rest])
}

impl Format {
    fn magnitude(&self, m: &mut Module, bits: Word) -> Word {
        let mask = m.constant(self.bits, ((self.top + 1) << self.fraction) - 1);
        m.op(Inst::BitwiseAnd, self.bits, &[bits, mask])
    }

    /// Exponent and significand: a number is significand times two to the exponent, but for a constant. Those below the normal
    /// ones have the exponent 1 too.
    fn taken_apart(&self, m: &mut Module, bits: Word) -> (Word, Word) {
        let (by, one) = (m.constant(self.bits, self.fraction), m.constant(self.bits, 1));
        let (zero, hidden) = (m.constant(self.bits, 0), m.constant(self.bits, 1 << self.fraction));
        let mask = m.constant(self.bits, (1 << self.fraction) - 1);
        let field = m.op(Inst::ShiftRightLogical, self.bits, &[bits, by]);
        let normal = m.op(Inst::INotEqual, Type::Bool, &[field, zero]);
        let exponent = m.op(Inst::Select, self.bits, &[normal, field, one]);
        let fraction = m.op(Inst::BitwiseAnd, self.bits, &[bits, mask]);
        let whole = m.op(Inst::BitwiseOr, self.bits, &[fraction, hidden]);
        (exponent, m.op(Inst::Select, self.bits, &[normal, whole, fraction]))
    }

    /// The bits of `x rem y` for bits of finite numbers with 0 < y <= x.
    fn divide(&self, m: &mut Module, x: Word, y: Word) -> Word {
        let (one, zero) = (m.constant(self.bits, 1), m.constant(self.bits, 0));
        let ((ex, mx), (ey, my)) = (self.taken_apart(m, x), self.taken_apart(m, y));
        let first = m.op(Inst::UMod, self.bits, &[mx, my]);
        let steps = m.op(Inst::ISub, self.bits, &[ex, ey]);
        let more = |m: &mut Module, v: &[Word]| m.op(Inst::INotEqual, Type::Bool, &[v[1], zero]);
        let rest = m.repeat(&[(self.bits, first), (self.bits, steps)], more, |m, v| {
            let twice = m.op(Inst::ShiftLeftLogical, self.bits, &[v[0], one]);
            let over = m.op(Inst::UGreaterThanEqual, Type::Bool, &[twice, my]);
            let less = m.op(Inst::ISub, self.bits, &[twice, my]);
            vec![m.op(Inst::Select, self.bits, &[over, less, twice]), m.op(Inst::ISub, self.bits, &[v[1], one])]
        })[0];
        // Upwards until it is a normal number, or the exponent is the smallest.
        let hidden = m.constant(self.bits, 1 << self.fraction);
        let more = |m: &mut Module, v: &[Word]| {
            let low = m.op(Inst::ULessThan, Type::Bool, &[v[0], hidden]);
            let room = m.op(Inst::ULessThan, Type::Bool, &[one, v[1]]);
            m.op(Inst::LogicalAnd, Type::Bool, &[low, room])
        };
        let found = m.repeat(&[(self.bits, rest), (self.bits, ey)], more, |m, v| {
            vec![m.op(Inst::ShiftLeftLogical, self.bits, &[v[0], one]), m.op(Inst::ISub, self.bits, &[v[1], one])]
        });
        let normal = m.op(Inst::UGreaterThanEqual, Type::Bool, &[found[0], hidden]);
        // The hidden bit adds one to the exponent's field.
        let by = m.constant(self.bits, self.fraction);
        let below = m.op(Inst::ISub, self.bits, &[found[1], one]);
        let field = m.op(Inst::ShiftLeftLogical, self.bits, &[below, by]);
        let sum = m.op(Inst::IAdd, self.bits, &[field, found[0]]);
        m.op(Inst::Select, self.bits, &[normal, sum, found[0]])
    }
}
