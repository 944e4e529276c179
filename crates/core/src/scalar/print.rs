//! The printed form of a program, one instruction a line: for snapshots, bug reports and cache keys people read.

use super::{Op, Program};
use crate::dtype::DType;
use std::fmt;

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, instr) in self.instrs.iter().enumerate() {
            write!(f, "%{i}: {} = ", instr.dtype)?;
            match instr.op {
                Op::Input(n) => write!(f, "input {n}")?,
                Op::Param(n) => write!(f, "param {n}")?,
                Op::Const(bits) => write_const(f, instr.dtype, bits)?,
                Op::Index(axis) => write!(f, "index {axis}")?,
                Op::Call(function) => write!(f, "call {}", function.name())?,
                op => write!(f, "{}", format!("{op:?}").to_lowercase())?,
            }
            for arg in &instr.args {
                write!(f, " %{arg}")?;
            }
            writeln!(f)?;
        }
        write!(f, "out")?;
        for o in &self.outputs {
            write!(f, " %{o}")?;
        }
        writeln!(f)
    }
}

fn write_const(f: &mut fmt::Formatter<'_>, dtype: DType, bits: u64) -> fmt::Result {
    match dtype {
        DType::F32 => write!(f, "const {:?}", f32::from_bits(bits as u32)),
        DType::F64 => write!(f, "const {:?}", f64::from_bits(bits)),
        DType::I32 => write!(f, "const {}", bits as u32 as i32),
        DType::I64 => write!(f, "const {}", bits as i64),
        _ => write!(f, "const 0x{bits:x}"),
    }
}
