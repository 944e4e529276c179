//! Recording: [`Real`] whose operations are instructions of a program being built.

use super::real::{Bits, Lane, Mask, Real};
use crate::dtype::DType;
use crate::scalar::{Builder, Op, Value};
use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

#[derive(Clone, Copy)]
struct Node<'b> {
    builder: &'b RefCell<Builder>,
    value: Value,
}

impl<'b> Node<'b> {
    // Not inlined: the functions have some 5,000 operations, and a copy of the builder at each took a minute to compile.
    #[inline(never)]
    fn then(self, write: impl FnOnce(&mut Builder, Value) -> Value) -> Self {
        Node { builder: self.builder, value: write(&mut self.builder.borrow_mut(), self.value) }
    }
    #[inline(never)]
    fn binary(self, op: Op, other: Self) -> Self {
        self.then(|b, x| b.binary(op, x, other.value))
    }
    #[inline(never)]
    fn compare(self, op: Op, other: Self) -> RecordedMask<'b> {
        RecordedMask(self.then(|b, x| b.compare(op, x, other.value)))
    }
}

/// A float32 (`WIDTH` 32) or float64 (64) value of a program.
#[derive(Clone, Copy)]
pub(crate) struct Recorded<'b, const WIDTH: u32>(Node<'b>);

/// A uint32 or uint64 value of a program.
#[derive(Clone, Copy)]
pub(crate) struct RecordedBits<'b, const WIDTH: u32>(Node<'b>);

/// A bool value of a program.
#[derive(Clone, Copy)]
pub(crate) struct RecordedMask<'b>(Node<'b>);

impl<'b, const WIDTH: u32> Recorded<'b, WIDTH> {
    /// The value `value` of `builder`, which is a float of this width.
    pub(crate) fn new(builder: &'b RefCell<Builder>, value: Value) -> Self {
        Recorded(Node { builder, value })
    }
    /// The number of the value.
    pub(crate) fn value(self) -> Value {
        self.0.value
    }
}

const fn float(width: u32) -> DType {
    if width == 32 { DType::F32 } else { DType::F64 }
}

const fn unsigned(width: u32) -> DType {
    if width == 32 { DType::U32 } else { DType::U64 }
}

macro_rules! operators {
    ($([$($generics:tt)*] $type:ty: $trait:ident $method:ident $op:ident;)*) => {
        $(impl<'b, $($generics)*> $trait for $type {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                Self(self.0.binary(Op::$op, other.0))
            }
        })*
    };
}

operators! {
    [const WIDTH: u32] Recorded<'b, WIDTH>: Add add Add;
    [const WIDTH: u32] Recorded<'b, WIDTH>: Sub sub Sub;
    [const WIDTH: u32] Recorded<'b, WIDTH>: Mul mul Mul;
    [const WIDTH: u32] Recorded<'b, WIDTH>: Div div Div;
    [const WIDTH: u32] RecordedBits<'b, WIDTH>: BitAnd bitand And;
    [const WIDTH: u32] RecordedBits<'b, WIDTH>: BitOr bitor Or;
    [const WIDTH: u32] RecordedBits<'b, WIDTH>: BitXor bitxor Xor;
    [] RecordedMask<'b>: BitAnd bitand And;
    [] RecordedMask<'b>: BitOr bitor Or;
}

impl<const WIDTH: u32> Neg for Recorded<'_, WIDTH> {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.then(|b, x| b.unary(Op::Neg, x)))
    }
}

impl Not for RecordedMask<'_> {
    type Output = Self;
    fn not(self) -> Self {
        Self(self.0.then(|b, x| b.unary(Op::Not, x)))
    }
}

impl Mask for RecordedMask<'_> {}

macro_rules! lane {
    ($type:ident) => {
        impl<'b, const WIDTH: u32> Lane for $type<'b, WIDTH> {
            type Mask = RecordedMask<'b>;
            fn select(mask: RecordedMask<'b>, yes: Self, no: Self) -> Self {
                Self(mask.0.then(|b, m| b.select(m, yes.0.value, no.0.value)))
            }
            fn eq(self, other: Self) -> RecordedMask<'b> {
                self.0.compare(Op::Eq, other.0)
            }
        }
    };
}

lane!(Recorded);
lane!(RecordedBits);

impl<'b, const WIDTH: u32> Bits for RecordedBits<'b, WIDTH> {
    fn lit(self, value: u64) -> Self {
        Self(self.0.then(|b, _| b.bits(unsigned(WIDTH), value & (u64::MAX >> (64 - WIDTH)))))
    }
    fn wrapping_add(self, other: Self) -> Self {
        Self(self.0.binary(Op::Add, other.0))
    }
    fn wrapping_sub(self, other: Self) -> Self {
        Self(self.0.binary(Op::Sub, other.0))
    }
    fn wrapping_mul(self, other: Self) -> Self {
        Self(self.0.binary(Op::Mul, other.0))
    }
    fn mul_hi(self, other: Self) -> Self {
        Self(self.0.binary(Op::MulHi, other.0))
    }
    fn shl(self, count: Self) -> Self {
        Self(self.0.binary(Op::Shl, count.0))
    }
    fn shr(self, count: Self) -> Self {
        Self(self.0.binary(Op::Shr, count.0))
    }
    fn lt(self, other: Self) -> RecordedMask<'b> {
        self.0.compare(Op::Lt, other.0)
    }
}

impl<'b, const WIDTH: u32> Real for Recorded<'b, WIDTH> {
    type Bits = RecordedBits<'b, WIDTH>;
    const WIDTH: u32 = WIDTH;
    fn lit(self, value: f64) -> Self {
        Self(self.0.then(|b, _| b.lit(float(WIDTH), value)))
    }
    fn fma(self, y: Self, z: Self) -> Self {
        Self(self.0.then(|b, x| b.fma(x, y.0.value, z.0.value)))
    }
    fn abs(self) -> Self {
        Self(self.0.then(|b, x| b.unary(Op::Abs, x)))
    }
    fn sqrt(self) -> Self {
        Self(self.0.then(|b, x| b.unary(Op::Sqrt, x)))
    }
    fn lt(self, other: Self) -> RecordedMask<'b> {
        self.0.compare(Op::Lt, other.0)
    }
    fn bits(self) -> RecordedBits<'b, WIDTH> {
        RecordedBits(self.0.then(|b, x| b.bitcast(x, unsigned(WIDTH))))
    }
    fn with_bits(self, bits: RecordedBits<'b, WIDTH>) -> Self {
        Self(bits.0.then(|b, x| b.bitcast(x, float(WIDTH))))
    }
}
