//! float64 rounded to whole numbers without the instructions for it: Mesa's software device with vectors of 512 bits (22.3.6) rounds
//! -3.5 to -3 and -0.25 to 0 with these, of float64 alone. What is used instead costs five instructions more.

use super::module::{Module, Type};
use rspirv::spirv::{GlslStd450Op as Glsl, Op as Spirv, Word};

/// 2^52: the smallest size from which on every float64 is whole.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// `x` towards zero, or to the nearest whole number, halves to even.
pub fn whole(m: &mut Module, nearest: bool, x: Word) -> Word {
    let size = m.extended(Glsl::FAbs as u32, Type::F64, &[x]);
    let rounded = if nearest {
        // The sum has no bits left for a fraction, so it is what rounds.
        let limit = m.constant(Type::F64, WHOLE.to_bits());
        let sum = m.exact(Spirv::FAdd, Type::F64, &[size, limit]);
        let rounded = m.exact(Spirv::FSub, Type::F64, &[sum, limit]);
        let small = m.op(Spirv::FOrdLessThan, Type::Bool, &[size, limit]);
        m.op(Spirv::Select, Type::F64, &[small, rounded, size])
    } else {
        m.extended(Glsl::Floor as u32, Type::F64, &[size])
    };
    // A zero of either sign is itself; what is below it keeps its sign when it becomes one.
    let zero = m.hidden_zero(Type::F64, false);
    let negated = m.op(Spirv::FNegate, Type::F64, &[rounded]);
    let below = m.op(Spirv::FOrdLessThan, Type::Bool, &[x, zero]);
    let signed = m.op(Spirv::Select, Type::F64, &[below, negated, rounded]);
    let nothing = m.op(Spirv::FOrdEqual, Type::Bool, &[x, zero]);
    m.op(Spirv::Select, Type::F64, &[nothing, x, signed])
}
