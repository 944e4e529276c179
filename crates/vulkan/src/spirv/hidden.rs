//! Constants that a compiler must not know.

use super::Printer;
use ferrotensor_gpu::code::Type;
use rspirv::spirv::{Op, Word};

impl Printer<'_> {
    /// The next value, a constant of the program: zeros of floats are hidden here, integers of 64 bits where they are compared.
    pub(super) fn literal(&mut self, of: Type, bits: u64) -> Word {
        let sign = match of {
            Type::F32 => 1 << 31,
            Type::F64 => 1 << 63,
            Type::U64 => {
                self.wide.insert(self.values.len() as u32, bits);
                0
            }
            _ => 0,
        };
        if sign != 0 && bits & !sign == 0 { self.hidden_zero(of, bits != 0) } else { self.constant(of, bits) }
    }

    /// A zero of a float type that no compiler sees: Mesa's software device takes a product with a literal zero for zero, whatever
    /// the other factor's sign, and leaves out the addition of one.
    pub(super) fn hidden_zero(&mut self, of: Type, negative: bool) -> Word {
        let low = self.argument(self.code.arguments);
        let high = if negative {
            let sign = self.word(1 << 31);
            self.op(Op::BitwiseOr, Type::U32, &[low, sign])
        } else {
            low
        };
        if of == Type::F64 { self.joined(of, low, high) } else { self.op(Op::Bitcast, of, &[high]) }
    }

    /// A uint64 that no compiler sees: Mesa's software device compares a literal with an integer that was widened to 64 bits as if
    /// that had kept its width.
    pub(super) fn hidden(&mut self, bits: u64) -> Word {
        let nothing = self.argument(self.code.arguments);
        let [low, high] = [bits as u32, (bits >> 32) as u32].map(|half| {
            let half = self.word(half);
            self.op(Op::BitwiseOr, Type::U32, &[nothing, half])
        });
        self.joined(Type::U64, low, high)
    }
}
