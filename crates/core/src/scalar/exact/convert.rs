//! Conversions between float32 and float64, in which no float32 is subnormal: NVIDIA's take subnormal numbers for zeros.

use super::{NORMAL, SIGN, Writer};
use crate::dtype::DType;
use crate::scalar::{Args, Instr, Op, Value};

impl Writer {
    /// A float32 as float64: below the normal numbers it is its bits, a whole number, times 2^-149.
    pub(super) fn widened(&mut self, x: Value) -> Value {
        if let Op::Const(bits) = self.b.instr(x).op {
            return self.b.lit(DType::F64, f64::from(f32::from_bits(bits as u32)));
        }
        let (size, whole) = (self.size(x), self.ordered(x));
        // Neither zeros, which have a sign, nor what is above: one less than zero is above all.
        let below = self.with(Op::Sub, size, 1);
        let is_tiny = self.is(Op::Lt, below, NORMAL - 1);
        let whole = self.b.cast(whole, DType::F64);
        let unit = self.b.lit(DType::F64, 2f64.powi(-149));
        let tiny = self.b.binary(Op::Mul, whole, unit);
        let own = self.own_cast(x, DType::F64);
        self.b.select(is_tiny, tiny, own)
    }

    /// A float64 rounded to float32, ties to even.
    pub(super) fn narrowed(&mut self, x: Value) -> Value {
        let float = |of: &mut Self, value: f64| of.b.lit(DType::F64, value);
        let (zero, normal) = (float(self, 0.0), float(self, 2f64.powi(-126)));
        let size = self.b.unary(Op::Abs, x);
        let (is_some, is_below) = (self.b.compare(Op::Lt, zero, size), self.b.compare(Op::Lt, size, normal));
        let is_tiny = self.b.binary(Op::And, is_some, is_below);
        // Beside 2^-97 a float64 ends at 2^-149, as float32 does: the sum is rounded there, once. What is left of it beside 2^-126 is a
        // normal float32, and exact.
        let (beside, back) = (float(self, 2f64.powi(-97)), float(self, 2f64.powi(-97) - 2f64.powi(-126)));
        let sum = self.b.binary(Op::Add, size, beside);
        let raised = self.b.binary(Op::Sub, sum, back);
        let seen = self.b.select(is_tiny, raised, x);
        let own = self.own_cast(seen, DType::F32);
        let bits = self.bits(own);
        let tiny = self.with(Op::Sub, bits, NORMAL);
        let is_negative = self.b.compare(Op::Lt, x, zero);
        let (minus, plus) = (self.b.bits(DType::U32, SIGN), self.b.bits(DType::U32, 0));
        let sign = self.b.select(is_negative, minus, plus);
        let tiny = self.b.binary(Op::Or, tiny, sign);
        let bits = self.b.select(is_tiny, tiny, bits);
        self.float(bits)
    }

    /// The device's own conversion.
    fn own_cast(&mut self, x: Value, dtype: DType) -> Value {
        self.b.raw(Instr { op: Op::Cast, dtype, args: Args::from_slice(&[x]) })
    }
}
