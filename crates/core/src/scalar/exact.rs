//! Float32 on devices whose arithmetic is less than IEEE 754 asks for: Vulkan lets roots and quotients be 2.5 to 3 units in the last
//! place off, and subnormal numbers become zero in any instruction on floats. What a device leaves undone is done with integers here,
//! and with float64, of which subnormal numbers of float32 are normal ones.

mod convert;
mod quotient;
mod range;
mod root;

pub(super) use range::is_far_from_subnormal;

use super::{Builder, Instr, Op, Program, Value};
use crate::dtype::DType;

/// What a device's float32 is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arithmetic {
    /// `fma` rounds once. Elsewhere it is computed in float64, exactly.
    pub fused: bool,
    /// Square roots are correctly rounded. Elsewhere they are at most 4 units in the last place off.
    pub roots: bool,
    /// Quotients are correctly rounded. Elsewhere likewise.
    pub quotients: bool,
    /// Subnormal numbers are kept. Elsewhere instructions on floats may take them, or give them, for zeros: those that compute nothing
    /// (selections, signs, comparisons) then work on bits, and roots, quotients, whole parts and conversions give the right result; so does
    /// `fma` where there is float64. Sums and products may not: the devices seen (NVIDIA's) keep them.
    pub subnormals: bool,
    /// Float64 and int64 are there. Elsewhere `fma` is the device's, also where it keeps no subnormal numbers.
    pub doubles: bool,
}

impl Arithmetic {
    /// As IEEE 754 has it.
    pub const IEEE: Arithmetic = Arithmetic { fused: true, roots: true, quotients: true, subnormals: true, doubles: true };

    /// Whether the device's own `fma` of float32 will do for any operands. Computed in float64 it takes some 45 instructions in place of one,
    /// wherever it is not known that none is subnormal (`range.rs`): an exponential has 191 then and not 39, a sine 868 and not 194. That is the
    /// price of the right bits.
    pub fn own_fma(self) -> bool {
        self.fused && (self.subnormals || !self.doubles)
    }
}

const SIGN: u64 = 0x8000_0000;
const INFINITY: u64 = 0x7f80_0000;
const NAN: u64 = 0x7fc0_0000;
/// The smallest normal number, and the bit before a significand.
const NORMAL: u64 = 0x0080_0000;

/// A program in plain form without the instructions that the device is not exact in.
pub fn exact(program: &Program, arithmetic: Arithmetic) -> Program {
    if (Arithmetic { fused: true, doubles: true, ..arithmetic }) == Arithmetic::IEEE {
        return program.clone();
    }
    let mut b = Builder::new();
    let inputs: Vec<Value> = program.inputs.iter().map(|&d| b.input(d)).collect();
    let params: Vec<Value> = program.params.iter().map(|&d| b.param(d)).collect();
    let mut writer = Writer { b, arithmetic };
    let mut values: Vec<Value> = Vec::with_capacity(program.instrs.len());
    for instr in &program.instrs {
        values.push(match instr.op {
            Op::Input(n) => inputs[n as usize],
            Op::Param(n) => params[n as usize],
            op => {
                let args = instr.args.iter().map(|&a| values[a as usize]).collect();
                writer.instr(Instr { op, dtype: instr.dtype, args })
            }
        });
    }
    let outputs: Vec<Value> = program.outputs.iter().map(|&o| values[o as usize]).collect();
    writer.b.finish(&outputs)
}

struct Writer {
    b: Builder,
    arithmetic: Arithmetic,
}

impl Writer {
    fn instr(&mut self, instr: Instr) -> Value {
        let of = instr.args.first().map_or(instr.dtype, |&a| self.b.dtype(a));
        let (single, args) = (of == DType::F32, &instr.args);
        match (instr.op, &args[..]) {
            (Op::Sqrt, &[x]) if single && !(self.arithmetic.roots && self.arithmetic.subnormals) => self.root(x),
            (Op::Div, &[x, y]) if single && !(self.arithmetic.quotients && self.arithmetic.subnormals) => {
                self.quotient(x, y)
            }
            _ if self.arithmetic.subnormals => self.b.raw(instr),
            (Op::Select, &[c, x, y]) if instr.dtype == DType::F32 => {
                let (x, y) = (self.bits(x), self.bits(y));
                let chosen = self.b.select(c, x, y);
                self.float(chosen)
            }
            (Op::Neg, &[x]) if single => {
                let bits = self.bits(x);
                let other = self.with(Op::Xor, bits, SIGN);
                self.float(other)
            }
            (Op::Abs, &[x]) if single => {
                let size = self.size(x);
                self.float(size)
            }
            (Op::Floor | Op::Ceil | Op::Round | Op::Trunc, &[x]) if single => {
                let seen = self.raised(x);
                self.b.raw(Instr { args: [seen].into_iter().collect(), ..instr })
            }
            (Op::Eq | Op::Ne | Op::Lt | Op::Le, &[x, y]) if single => self.compare(instr.op, x, y),
            (Op::Bitcast, &[x]) if single => self.bits(x),
            (Op::Cast, &[x]) if single && instr.dtype == DType::F64 => self.widened(x),
            (Op::Cast, &[x]) if instr.dtype == DType::F32 && of == DType::F64 => self.narrowed(x),
            _ => self.b.raw(instr),
        }
    }

    /// An instruction on an integer and a constant.
    fn with(&mut self, op: Op, x: Value, constant: u64) -> Value {
        let y = self.b.bits(self.b.dtype(x), constant);
        self.b.binary(op, x, y)
    }

    /// A comparison with a constant.
    fn is(&mut self, op: Op, x: Value, constant: u64) -> Value {
        let y = self.b.bits(self.b.dtype(x), constant);
        self.b.compare(op, x, y)
    }

    /// The bits of a float, as uint32.
    fn bits(&mut self, x: Value) -> Value {
        let instr = self.b.instr(x);
        match (instr.op, instr.args.first()) {
            (Op::Const(bits), _) => self.b.bits(DType::U32, bits),
            (Op::Bitcast, Some(&from)) if self.b.dtype(from) == DType::U32 => from,
            _ => self.b.bitcast(x, DType::U32),
        }
    }

    /// The float with these bits.
    fn float(&mut self, bits: Value) -> Value {
        self.b.bitcast(bits, DType::F32)
    }

    /// The bits of a float without its sign.
    fn size(&mut self, x: Value) -> Value {
        let bits = self.bits(x);
        self.with(Op::And, bits, !SIGN & 0xffff_ffff)
    }

    /// Halves in place of what lies between them and zero: they are rounded to the same whole number.
    fn raised(&mut self, x: Value) -> Value {
        let (bits, size) = (self.bits(x), self.size(x));
        let (is_tiny, is_zero) = (self.is(Op::Lt, size, NORMAL), self.is(Op::Eq, size, 0));
        let sign = self.with(Op::And, bits, SIGN);
        let half = self.with(Op::Or, sign, 0x3f00_0000);
        let half = self.b.select(is_zero, bits, half);
        let seen = self.b.select(is_tiny, half, bits);
        self.float(seen)
    }

    /// Floats compared as integers in whose order they are; nothing is less than NaN, or equal to it.
    fn compare(&mut self, op: Op, x: Value, y: Value) -> Value {
        let [a, b] = [x, y].map(|v| self.ordered(v));
        let [first, second] = [x, y].map(|v| {
            let size = self.size(v);
            self.is(Op::Le, size, INFINITY)
        });
        let are_numbers = self.b.binary(Op::And, first, second);
        let compared = self.b.compare(op, a, b);
        if op == Op::Ne {
            let is_nan = self.b.unary(Op::Not, are_numbers);
            return self.b.binary(Op::Or, compared, is_nan);
        }
        self.b.binary(Op::And, compared, are_numbers)
    }

    /// An int32 that is in the order of floats, one for both zeros.
    fn ordered(&mut self, x: Value) -> Value {
        let (bits, size) = (self.bits(x), self.size(x));
        let signed = self.b.bitcast(size, DType::I32);
        let below = self.b.unary(Op::Neg, signed);
        let sign = self.with(Op::And, bits, SIGN);
        let is_positive = self.is(Op::Eq, sign, 0);
        self.b.select(is_positive, signed, below)
    }

    /// The significand of a positive number's bits, in [2^23, 2^24), and the int32 `e` for which it is `significand * 2^(e - 150)`.
    fn taken_apart(&mut self, size: Value) -> (Value, Value) {
        // A subnormal number is its bits as a whole number, which is a float of its own.
        let whole = self.b.cast(size, DType::F32);
        let whole = self.bits(whole);
        let is_tiny = self.is(Op::Lt, size, NORMAL);
        let bits = self.b.select(is_tiny, whole, size);
        let significand = self.with(Op::And, bits, NORMAL - 1);
        let significand = self.with(Op::Or, significand, NORMAL);
        let exponent = self.with(Op::Shr, bits, 23);
        let exponent = self.b.bitcast(exponent, DType::I32);
        let lower = self.with(Op::Sub, exponent, 149);
        (significand, self.b.select(is_tiny, lower, exponent))
    }
}

#[cfg(test)]
mod tests;
