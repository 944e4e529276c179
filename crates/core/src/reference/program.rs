//! What a scalar program means for one element. Functions are those of [`super::function`], never of `core::math`.

use super::array::coordinates;
use super::function::function;
use super::value::Scalar::{self, Bool, Float, Int};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::scalar::{Instr, Op, Program};
use std::cmp::Ordering;

/// A verified program with its constants and parameters read, and room for the values of one element.
pub(super) struct Ready<'a> {
    program: &'a Program,
    /// Of each instruction; between two elements, those of constants and parameters count.
    values: Vec<Scalar>,
    by_place: bool,
}

impl<'a> Ready<'a> {
    /// # Errors
    /// `Code::Internal` for parameters the caller did not hand over.
    pub(super) fn new(program: &'a Program, params: &[u64]) -> Result<Ready<'a>> {
        let leaf = |instr: &Instr| match instr.op {
            Op::Param(n) => Ok(constant(instr.dtype, *params.get(n as usize).ok_or_else(|| absent("parameter"))?)),
            Op::Const(bits) => Ok(constant(instr.dtype, bits)),
            _ => Ok(Bool(false)),
        };
        let by_place = program.instrs.iter().any(|instr| matches!(instr.op, Op::Index(_)));
        Ok(Ready { program, values: program.instrs.iter().map(leaf).collect::<Result<_>>()?, by_place })
    }

    /// The outputs for the element at a row-major position of an array of shape `dims`; `input` is the element of each operand.
    ///
    /// # Errors
    /// `Code::Internal` for operands or axes the caller did not hand over.
    pub(super) fn run(
        &mut self,
        input: impl Fn(usize) -> Option<Scalar>,
        dims: &[usize],
        position: usize,
    ) -> Result<impl Iterator<Item = Scalar>> {
        let coordinates = if self.by_place { coordinates(dims, position) } else { Vec::new() };
        for (i, instr) in self.program.instrs.iter().enumerate() {
            let value = match instr.op {
                Op::Param(_) | Op::Const(_) => continue,
                Op::Input(n) => input(n as usize).ok_or_else(|| absent("input"))?,
                Op::Index(axis) => Int(*coordinates.get(axis as usize).ok_or_else(|| absent("axis"))? as i128),
                op => {
                    let mut args = [Bool(false); 3];
                    args.iter_mut().zip(&instr.args).for_each(|(to, &a)| *to = self.values[a as usize]);
                    apply(op, instr, &args, self.program)
                }
            };
            self.values[i] = value.fit(instr.dtype);
        }
        Ok(self.program.outputs.iter().map(|&o| self.values[o as usize]))
    }
}

fn absent(what: &str) -> Error {
    Error::internal(format!("reference: the program names an absent {what}"))
}

/// A constant or parameter: the value in the low bytes. complex128 does not fit into 8 bytes: they are its real part.
pub fn constant(dtype: DType, bits: u64) -> Scalar {
    let mut bytes = [0u8; 16];
    bytes[..8].copy_from_slice(&bits.to_le_bytes());
    Scalar::decode(dtype, &bytes)
}

/// The exact or nearly exact result; the caller rounds it to the instruction's dtype.
fn apply(op: Op, instr: &Instr, args: &[Scalar; 3], program: &Program) -> Scalar {
    let width = 8 * instr.dtype.bytes() as i128;
    let real = |n: usize| args[n].real().hi;
    let int = |n: usize| args[n].int();
    match op {
        Op::Input(_) | Op::Param(_) | Op::Const(_) | Op::Index(_) => unreachable!("the caller evaluates leaves"),
        Op::Neg => -args[0],
        Op::Abs => match args[0] {
            Int(x) => Int(x.abs()),
            x => Float(x.magnitude()),
        },
        // In float64 first: its 53 bits are enough for the square root and the quotient of any narrower format to be
        // rounded twice without harm (2p + 2 bits, Figueroa 1995).
        Op::Sqrt => Scalar::float(libm::sqrt(real(0))),
        Op::Floor => Scalar::float(libm::floor(real(0))),
        Op::Ceil => Scalar::float(libm::ceil(real(0))),
        Op::Round => Scalar::float(libm::rint(real(0))),
        Op::Trunc => Scalar::float(libm::trunc(real(0))),
        Op::Not => match args[0] {
            Bool(x) => Bool(!x),
            x => Int(!x.int()),
        },
        Op::Add => args[0] + args[1],
        Op::Sub => args[0] + -args[1],
        Op::Mul => args[0] * args[1],
        Op::Div => match (args[0], args[1]) {
            (Float(x), Float(y)) => Scalar::float(x.hi / y.hi),
            (x, y) => x / y,
        },
        Op::Rem => match (args[0], args[1]) {
            (Int(x), Int(y)) => Int(x.checked_rem(y).unwrap_or(0)),
            _ => Scalar::float(libm::fmod(real(0), real(1))),
        },
        Op::Gcd => Int(gcd(int(0).abs(), int(1).abs())),
        Op::Min => args[0].extreme(args[1], Ordering::Less),
        Op::Max => args[0].extreme(args[1], Ordering::Greater),
        Op::And => Int(int(0) & int(1)),
        Op::Or => Int(int(0) | int(1)),
        Op::Xor => Int(int(0) ^ int(1)),
        Op::Shl => Int(if (0..width).contains(&int(1)) { int(0) << int(1) } else { 0 }),
        // Past the width only the sign is left, which a shift by 127 leaves too.
        Op::Shr => Int(int(0) >> if (0..width).contains(&int(1)) { int(1) } else { 127 }),
        Op::MulHi => Int(((int(0) as u128 * int(1) as u128) >> width) as i128),
        Op::Eq => Bool(args[0].equals(args[1])),
        Op::Ne => Bool(!args[0].equals(args[1])),
        Op::Lt => Bool(args[0].compare(args[1]) == Some(Ordering::Less)),
        Op::Le => Bool(matches!(args[0].compare(args[1]), Some(Ordering::Less | Ordering::Equal))),
        Op::Select => args[if args[0].truth() { 1 } else { 2 }],
        Op::Fma if instr.dtype == DType::F64 => Scalar::float(libm::fma(real(0), real(1), real(2))),
        // The product of narrower floats is exact in float64, and the sum with the third operand in a double-double.
        Op::Fma => args[0] * args[1] + args[2],
        Op::Cast => args[0],
        Op::Imag => Float(args[0].imaginary()),
        Op::Complex => Scalar::Complex(args[0].real(), args[1].real()),
        Op::Bitcast => Scalar::decode(instr.dtype, &args[0].encode(program.dtype(instr.args[0]))),
        // A function of one argument does not read the second.
        Op::Call(f) => Scalar::float(function(f, real(0), real(f.arity() - 1))),
    }
}

/// Euclid's algorithm.
fn gcd(x: i128, y: i128) -> i128 {
    if y == 0 { x } else { gcd(y, x % y) }
}
