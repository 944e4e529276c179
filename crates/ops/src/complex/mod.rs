//! Elementary functions of complex numbers, composed of the real ones; of real numbers they are the real ones.
//!
//! Branch cuts and the signs on them are those of W. Kahan, "Branch cuts for complex elementary functions, or much ado about
//! nothing's sign bit" (1987), special values those of C99, annex G. Sizes beyond what squares and exponentials can hold are
//! scaled by powers of two first, so that nothing overflows, or loses bits below the normal numbers, where the result does not.

mod functions;
mod parts;
mod power;

use ferrotensor_core::scalar::{Builder, MathFn, Op, Value};

/// A function of one number.
pub fn call(b: &mut Builder, f: MathFn, z: Value) -> Value {
    if b.dtype(z).is_complex() { parts::write(b, [z], |[z]| functions::of(f, z)) } else { b.call(f, &[z]) }
}

/// The principal square root.
pub fn sqrt(b: &mut Builder, z: Value) -> Value {
    if b.dtype(z).is_complex() { parts::write(b, [z], |[z]| functions::sqrt(z)) } else { b.unary(Op::Sqrt, z) }
}

/// `z^w`.
pub fn pow(b: &mut Builder, z: Value, w: Value) -> Value {
    if b.dtype(z).is_complex() { parts::write(b, [z, w], |[z, w]| power::pow(z, w)) } else { b.call(MathFn::Pow, &[z, w]) }
}
