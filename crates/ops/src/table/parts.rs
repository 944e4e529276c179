//! Parts of numbers: real and imaginary ones, directions, and what a float's sign and steps are.

use super::bits::unsigned;
use super::rows::{BASE, binary, doc, unary, weak};
use crate::def::{Form, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::gradient::{Gradient, partials};
use crate::lower::MapFn;
use crate::shape;
use ferrotensor_core::scalar::{Builder, MathFn, Op, Value};
use ferrotensor_core::{DType, Kind};

const OF_COMPLEX: OpDef = unary(Class::Any, Compute::Own, Out::RealPart);
const STEPS: OpDef = binary(Class::RealOrBool, Compute::Float, Out::Compute);
const MADE: OpDef = OpDef {
    form: Form::Function,
    dtype: DTypeRule::new(Class::RealOrBool, Compute::Float, Out::ComplexOf),
    shape: shape::broadcast,
    ..BASE
};

/// The imaginary part; of real numbers nothing.
fn imaginary(b: &mut Builder, x: Value) -> Value {
    let d = b.dtype(x);
    if d.is_complex() { b.im(x) } else { b.lit(d, 0.0) }
}

/// The complex conjugate; of a real number itself.
pub fn conjugate(b: &mut Builder, x: Value) -> Value {
    let d = b.dtype(x);
    if !d.is_complex() {
        return x;
    }
    let (re, im) = (b.re(x), b.im(x));
    let im = b.unary(Op::Neg, im);
    b.complex(d, re, im)
}

const ANGLE: MapFn = |b, x, _| {
    let (re, im) = (b.re(x[0]), imaginary(b, x[0]));
    b.call(MathFn::Atan2, &[im, re])
};

/// Two floats as the parts of a complex number of dtype `d`.
fn made(b: &mut Builder, re: Value, im: Value, d: DType) -> Value {
    let (re, im) = (b.cast(re, d.info().real), b.cast(im, d.info().real));
    b.complex(d, re, im)
}

const POLAR: MapFn = |b, x, d| {
    let (size, angle) = (b.cast(x[0], d.info().real), b.cast(x[1], d.info().real));
    let (cos, sin) = (b.call(MathFn::Cos, &[angle]), b.call(MathFn::Sin, &[angle]));
    let (re, im) = (b.binary(Op::Mul, size, cos), b.binary(Op::Mul, size, sin));
    b.complex(d, re, im)
};

/// The bits of a float, and the one that is its sign.
fn float_bits(b: &mut Builder, x: Value) -> (Value, Value) {
    let d = unsigned(b.dtype(x));
    (b.bitcast(x, d), b.bits(d, 1 << (8 * d.bytes() - 1)))
}

const SIGN_BIT: MapFn = |b, x, _| {
    let d = b.dtype(x[0]);
    match d.kind() {
        Kind::Bool | Kind::Unsigned => b.lit(DType::Bool, 0.0),
        Kind::Float => {
            let (bits, sign) = float_bits(b, x[0]);
            b.compare(Op::Le, sign, bits)
        }
        _ => {
            let zero = b.lit(d, 0.0);
            b.compare(Op::Lt, x[0], zero)
        }
    }
};

/// The bits of the first but for the sign, which is the second's.
fn copy_sign(b: &mut Builder, x: Value, y: Value) -> Value {
    let d = b.dtype(x);
    let ((x, sign), (y, _)) = (float_bits(b, x), float_bits(b, y));
    let rest = b.unary(Op::Not, sign);
    let (rest, sign) = (b.binary(Op::And, x, rest), b.binary(Op::And, y, sign));
    let bits = b.binary(Op::Or, rest, sign);
    b.bitcast(bits, d)
}

/// Bits of floats of one sign are ordered as their sizes are, so that the next one's are one more or less.
const NEXT_AFTER: MapFn = |b, v, d| {
    let (x, y) = (v[0], v[1]);
    let (bits, _) = float_bits(b, x);
    let (zero, one) = (b.lit(d, 0.0), b.lit(unsigned(d), 1.0));
    let (up, positive, at_zero) = (b.compare(Op::Lt, x, y), b.compare(Op::Lt, zero, x), b.compare(Op::Eq, x, zero));
    let nearer = b.binary(Op::Xor, up, positive);
    let (less, more) = (b.binary(Op::Sub, bits, one), b.binary(Op::Add, bits, one));
    let next = b.select(nearer, less, more);
    let (next, smallest) = (b.bitcast(next, d), b.bitcast(one, d));
    let from_zero = copy_sign(b, smallest, y);
    let next = b.select(at_zero, from_zero, next);
    let (sum, same) = (b.binary(Op::Add, x, y), b.compare(Op::Eq, x, y));
    let next = b.select(same, y, next);
    let nan = b.compare(Op::Ne, sum, sum);
    // Of opposite infinities the sum is NaN too.
    let (x_nan, y_nan) = (b.compare(Op::Ne, x, x), b.compare(Op::Ne, y, y));
    let either = b.binary(Op::Or, x_nan, y_nan);
    let lost = b.binary(Op::And, nan, either);
    b.select(lost, sum, next)
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "real", lower: Lowering::Map(|b, x, _| b.re(x[0])),
        doc: doc("Real part of each element; real numbers stay as they are.", "a of a + bi", "ft.complex(ft.tensor([1, 2]), 3).real() // [1, 2]", "real", "real"), ..OF_COMPLEX },
    OpDef { name: "imag", lower: Lowering::Map(|b, x, _| imaginary(b, x[0])),
        doc: doc("Imaginary part of each element; 0 for real numbers.", "b of a + bi", "ft.complex(ft.tensor([1, 2]), 3).imag() // [3, 3]", "imag", "imag"), ..OF_COMPLEX },
    OpDef { name: "conj", lower: Lowering::Map(|b, x, _| conjugate(b, x[0])),
        doc: doc("Complex conjugate of each element; real numbers stay as they are.", "a - bi of a + bi", "ft.complex(ft.tensor([1, 2]), 3).conj().imag() // [-3, -3]", "conj", "conj"), ..BASE },
    OpDef { name: "angle", gradient: Gradient::Partials(partials::ANGLE), lower: Lowering::Map(ANGLE), dtype: DTypeRule::new(Class::Any, Compute::Float, Out::RealPart),
        doc: doc("Angle of each element from the positive real axis, from -pi to pi: 0 or pi for real numbers.", "atan2(imag x, real x)", "ft.complex(ft.tensor([1, 0]), ft.tensor([1, 2])).angle() // [0.7853982, 1.5707964]", "angle", "angle"), ..BASE },
    OpDef { name: "complex", operands: &[weak("real"), weak("imag")], lower: Lowering::Map(|b, x, d| made(b, x[0], x[1], d)),
        doc: doc("Complex numbers of two real parts: complex128 of float64, complex64 of all others.", "real + imag i", "ft.complex(ft.tensor([3, 0]), ft.tensor([4, 1])).abs() // [5, 1]", "", "complex"), ..MADE },
    OpDef { name: "polar", operands: &[weak("abs"), weak("angle")], lower: Lowering::Map(POLAR),
        doc: doc("Complex numbers of an absolute value and an angle.", "abs (cos angle + i sin angle)", "ft.polar(ft.tensor([2, 3]), 0).real() // [2, 3]", "", "polar"), ..MADE },
    OpDef { name: "signbit", lower: Lowering::Map(SIGN_BIT), dtype: DTypeRule::new(Class::RealOrBool, Compute::Own, Out::Bool),
        doc: doc("Whether the sign of each element is negative, that of -0 and of NaN too.", "x < 0, or x is -0", "ft.tensor([1, -2, -0]).signbit() // [false, true, true]", "signbit", "signbit"), ..BASE },
    OpDef { name: "copysign", gradient: Gradient::Partials(partials::COPYSIGN), lower: Lowering::Map(|b, x, _| copy_sign(b, x[0], x[1])),
        doc: doc("The absolute value of the first with the sign of the second, that of -0 too.", "|x1| sign(x2)", "ft.tensor([1, -2]).copysign(-3) // [-1, -2]", "copysign", "copysign"), ..STEPS },
    OpDef { name: "nextafter", gradient: Gradient::Partials(partials::NEXTAFTER), lower: Lowering::Map(NEXT_AFTER),
        doc: doc("The next float after the first on the way to the second; the second where they are equal.", "min { y > x1 } or max { y < x1 }", "ft.tensor([0]).nextafter(1).greater(0) // [true]", "nextafter", "nextafter"), ..STEPS },
];
