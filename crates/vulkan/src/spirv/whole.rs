//! float64 rounded to whole numbers without the instructions for it: Mesa's software device with vectors of 512 bits (22.3.6) rounds
//! -3.5 to -3 and -0.25 to 0 with these, of float64 alone. What is used instead costs five instructions more.

use super::Printer;
use ferrotensor_gpu::code::Type;
use rspirv::spirv::{GlslStd450Op as Glsl, Op, Word};

/// 2^52: the smallest size from which on every float64 is whole.
const WHOLE: f64 = 4_503_599_627_370_496.0;

impl Printer<'_> {
    /// `x` towards zero, or to the nearest whole number, halves to even.
    pub(super) fn whole(&mut self, nearest: bool, x: Word) -> Word {
        let size = self.extended(Glsl::FAbs, Type::F64, &[x]);
        let rounded = if nearest {
            // The sum has no bits left for a fraction, so it is what rounds.
            let limit = self.constant(Type::F64, WHOLE.to_bits());
            let sum = self.exact(Op::FAdd, Type::F64, &[size, limit]);
            let rounded = self.exact(Op::FSub, Type::F64, &[sum, limit]);
            let small = self.op(Op::FOrdLessThan, Type::Bool, &[size, limit]);
            self.op(Op::Select, Type::F64, &[small, rounded, size])
        } else {
            self.extended(Glsl::Floor, Type::F64, &[size])
        };
        // A zero of either sign is itself; what is below it keeps its sign when it becomes one.
        let zero = self.hidden_zero(Type::F64, false);
        let negated = self.op(Op::FNegate, Type::F64, &[rounded]);
        let below = self.op(Op::FOrdLessThan, Type::Bool, &[x, zero]);
        let signed = self.op(Op::Select, Type::F64, &[below, negated, rounded]);
        let nothing = self.op(Op::FOrdEqual, Type::Bool, &[x, zero]);
        self.op(Op::Select, Type::F64, &[nothing, x, signed])
    }
}
