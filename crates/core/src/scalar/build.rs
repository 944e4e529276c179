//! Writes programs: one method for each instruction, result dtypes inferred.

use super::{Args, Instr, MathFn, Op, Program, Value};
use crate::dtype::DType;
use smallvec::smallvec;

/// Builds a [`Program`], sharing equal instructions as they come.
#[derive(Default)]
pub struct Builder {
    program: Program,
    seen: std::collections::HashMap<Instr, Value>,
}

impl Builder {
    /// An empty program.
    pub fn new() -> Self {
        Self::default()
    }

    fn push(&mut self, op: Op, dtype: DType, args: Args) -> Value {
        let instr = Instr { op, dtype, args };
        if let Some(&value) = self.seen.get(&instr) {
            return value;
        }
        let value = self.program.instrs.len() as Value;
        self.program.instrs.push(instr.clone());
        self.seen.insert(instr, value);
        value
    }

    /// Any instruction whose operands are values of this builder.
    pub fn raw(&mut self, instr: Instr) -> Value {
        self.push(instr.op, instr.dtype, instr.args)
    }

    /// The instruction that defines a value.
    pub fn instr(&self, value: Value) -> &Instr {
        &self.program.instrs[value as usize]
    }

    /// Dtype of a value.
    pub fn dtype(&self, value: Value) -> DType {
        self.program.dtype(value)
    }

    /// The next input operand.
    pub fn input(&mut self, dtype: DType) -> Value {
        self.program.inputs.push(dtype);
        self.push(Op::Input(self.program.inputs.len() as u16 - 1), dtype, smallvec![])
    }

    /// The next launch parameter.
    pub fn param(&mut self, dtype: DType) -> Value {
        self.program.params.push(dtype);
        self.push(Op::Param(self.program.params.len() as u16 - 1), dtype, smallvec![])
    }

    /// A constant by its bits (in the low bytes).
    pub fn bits(&mut self, dtype: DType, bits: u64) -> Value {
        self.push(Op::Const(bits), dtype, smallvec![])
    }

    /// An int64 constant: a size or a position.
    pub fn size(&mut self, v: usize) -> Value {
        self.lit(DType::I64, v as f64)
    }

    /// A constant of any non-complex dtype, rounded from a float64.
    pub fn lit(&mut self, dtype: DType, value: f64) -> Value {
        self.bits(dtype, literal_bits(dtype, value))
    }

    /// Coordinate along an axis of the output, as int32 or int64.
    pub fn index(&mut self, axis: u8, dtype: DType) -> Value {
        self.push(Op::Index(axis), dtype, smallvec![])
    }

    /// `Neg, Abs, Sqrt, Floor, Ceil, Round, Trunc, Not`.
    pub fn unary(&mut self, op: Op, x: Value) -> Value {
        self.push(op, self.dtype(x), smallvec![x])
    }

    /// Arithmetic and bitwise operations on two values of one dtype.
    pub fn binary(&mut self, op: Op, x: Value, y: Value) -> Value {
        self.push(op, self.dtype(x), smallvec![x, y])
    }

    /// `Eq, Ne, Lt, Le`.
    pub fn compare(&mut self, op: Op, x: Value, y: Value) -> Value {
        self.push(op, DType::Bool, smallvec![x, y])
    }

    /// `c ? x : y`.
    pub fn select(&mut self, c: Value, x: Value, y: Value) -> Value {
        self.push(Op::Select, self.dtype(x), smallvec![c, x, y])
    }

    /// `x * y + z`, rounded once.
    pub fn fma(&mut self, x: Value, y: Value, z: Value) -> Value {
        self.push(Op::Fma, self.dtype(x), smallvec![x, y, z])
    }

    /// Value conversion; nothing where the dtype is right already.
    pub fn cast(&mut self, x: Value, dtype: DType) -> Value {
        if self.dtype(x) == dtype { x } else { self.push(Op::Cast, dtype, smallvec![x]) }
    }

    /// The real part; a real number itself.
    pub fn re(&mut self, x: Value) -> Value {
        let part = self.dtype(x).info().real;
        self.cast(x, part)
    }

    /// The imaginary part of a complex number.
    pub fn im(&mut self, x: Value) -> Value {
        let part = self.dtype(x).info().real;
        self.push(Op::Imag, part, smallvec![x])
    }

    /// The number `re + im i` of a complex dtype.
    pub fn complex(&mut self, dtype: DType, re: Value, im: Value) -> Value {
        self.push(Op::Complex, dtype, smallvec![re, im])
    }

    /// The same bits as another dtype.
    pub fn bitcast(&mut self, x: Value, dtype: DType) -> Value {
        if self.dtype(x) == dtype { x } else { self.push(Op::Bitcast, dtype, smallvec![x]) }
    }

    /// A function of one or two arguments.
    pub fn call(&mut self, f: MathFn, args: &[Value]) -> Value {
        self.push(Op::Call(f), self.dtype(args[0]), Args::from_slice(args))
    }

    /// Copies `program` in, its inputs and parameters replaced by values of this builder. Returns its outputs.
    pub fn inline(&mut self, program: &Program, inputs: &[Value], params: &[Value]) -> Vec<Value> {
        let mut map: Vec<Value> = Vec::with_capacity(program.instrs.len());
        for instr in &program.instrs {
            map.push(match instr.op {
                Op::Input(n) => inputs[n as usize],
                Op::Param(n) => params[n as usize],
                op => self.push(op, instr.dtype, instr.args.iter().map(|&a| map[a as usize]).collect()),
            });
        }
        program.outputs.iter().map(|&o| map[o as usize]).collect()
    }

    /// The program with these results, verified in debug builds.
    pub fn finish(mut self, outputs: &[Value]) -> Program {
        self.program.outputs = outputs.to_vec();
        debug_assert_eq!(super::verify(&self.program), Ok(()));
        self.program
    }
}

/// The bits of `value` as a constant of `dtype` (not complex). Integers saturate.
pub fn literal_bits(dtype: DType, value: f64) -> u64 {
    use half::{bf16, f16};
    match dtype {
        DType::Bool => (value != 0.0) as u64,
        DType::I8 => value as i8 as u8 as u64,
        DType::U8 => value as u8 as u64,
        DType::I16 => value as i16 as u16 as u64,
        DType::U16 => value as u16 as u64,
        DType::I32 => value as i32 as u32 as u64,
        DType::U32 => value as u32 as u64,
        DType::I64 => value as i64 as u64,
        DType::U64 => value as u64,
        DType::F16 => f16::from_f32(odd_f32(value)).to_bits() as u64,
        DType::BF16 => bf16::from_f32(odd_f32(value)).to_bits() as u64,
        DType::F32 | DType::C64 => (value as f32).to_bits() as u64,
        DType::F64 | DType::C128 => value.to_bits(),
    }
}

/// `value` in float32, rounded to odd: rounding that once more, to a half float, gives what one rounding of `value` would.
/// (`half` itself drops low bits first, which loses values just above a tie.)
fn odd_f32(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) == value || value.is_nan() {
        return nearest;
    }
    let towards_zero = nearest.to_bits() - u32::from(f64::from(nearest).abs() > value.abs());
    f32::from_bits(towards_zero | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_literals_are_rounded_once() {
        let above_tie = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(literal_bits(DType::F16, above_tie), 0x3c01);
        assert_eq!(literal_bits(DType::F16, 1.0 + 2f64.powi(-11)), 0x3c00);
        assert_eq!(literal_bits(DType::F16, -above_tie), 0xbc01);
        assert_eq!(literal_bits(DType::BF16, 1.0 + 2f64.powi(-8) + 2f64.powi(-40)), 0x3f81);
        assert_eq!(literal_bits(DType::F16, 1e300), 0x7c00);
        assert_eq!(literal_bits(DType::F16, f64::NEG_INFINITY), 0xfc00);
        assert_eq!(literal_bits(DType::F16, 65519.9), 0x7bff);
        assert_eq!(literal_bits(DType::F16, 65520.0), 0x7c00);
    }
}
