//! What of integers takes a loop.

use super::module::Module;
use crate::code::{Inst, Type, Word};

/// The greatest common divisor, not negative, by Euclid's algorithm on absolute values, which fit as unsigned numbers.
pub fn common_divisor(m: &mut Module, of: Type, signed: bool, x: Word, y: Word) -> Word {
    let zero = m.constant(of, 0);
    let size = |m: &mut Module, v: Word| {
        if !signed {
            return v;
        }
        if of == Type::U32 {
            return m.op(Inst::SAbs, of, &[v]);
        }
        let none = m.literal(Type::U64, 0);
        let (negative, other) = (m.op(Inst::SLessThan, Type::Bool, &[v, none]), m.op(Inst::SNegate, of, &[v]));
        m.op(Inst::Select, of, &[negative, other, v])
    };
    let start = [(of, size(m, x)), (of, size(m, y))];
    let again = |m: &mut Module, v: &[Word]| m.op(Inst::INotEqual, Type::Bool, &[v[1], zero]);
    m.repeat(&start, again, |m, v| vec![v[1], m.op(Inst::UMod, of, &[v[0], v[1]])])[0]
}
