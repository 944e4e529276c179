//! The kernel of a map: each thread computes elements of the output shape, one after the other.

use super::element::{self, Operand};
use super::module::Module;
use super::scalar::{self, Id};
use super::space::{Arguments, Space};
use crate::Can;
use crate::code::{Code, Inst};
use ferrotensor_core::DType;
use ferrotensor_core::scalar::{Op, Program};

/// The axes whose coordinates a program asks for, each once. They are operands whose positions are their values.
pub fn axes(program: &Program) -> Vec<u8> {
    let mut axes: Vec<u8> = Vec::new();
    for instr in &program.instrs {
        if let Op::Index(axis) = instr.op
            && !axes.contains(&axis)
        {
            axes.push(axis);
        }
    }
    axes
}

/// Inputs, outputs, then axes.
pub fn arguments(program: &Program, rank: usize) -> Arguments {
    let operands = program.inputs.len() + program.outputs.len() + axes(program).len();
    Arguments { start: 0, rank, operands, params: program.params.len() }
}

/// The kernel of a plain program over `rank` loops.
///
/// # Errors
/// A sentence naming what the device lacks.
pub fn shader(program: &Program, rank: usize, can: &Can) -> Result<Code, String> {
    let outputs: Vec<DType> = (0..program.outputs.len()).map(|n| program.output_dtype(n)).collect();
    program.inputs.iter().chain(&outputs).try_for_each(|&d| element::check(d, can))?;
    if program.inputs.len() + outputs.len() > can.max_buffers as usize {
        return Err(format!("more than {} operands", can.max_buffers));
    }
    let (arguments, axes) = (arguments(program, rank), axes(program));
    let mut m = Module::new(arguments.end());
    let inputs: Vec<Operand> = program.inputs.iter().map(|&d| Operand::new(&mut m, d, false, can)).collect();
    let targets: Vec<Operand> = outputs.iter().map(|&d| Operand::new(&mut m, d, true, can)).collect();
    let params: Vec<Id> =
        program.params.iter().enumerate().map(|(n, &d)| element::parameter(&mut m, d, arguments.param(n))).collect();
    let count = m.argument(0);
    let mut result = Ok(());
    m.for_each(count, |m, i| {
        let space = Space::new(m, arguments, i);
        let values = scalar::program(m, program, |m, instr| match instr.op {
            Op::Param(n) => params[n as usize],
            Op::Index(axis) => {
                let nth = axes.iter().position(|&a| a == axis).unwrap_or_default();
                let at = space.position(m, inputs.len() + targets.len() + nth);
                let of = scalar::held(instr.dtype);
                // Coordinates are below 2^31, or the launch is refused.
                Id::One(if instr.dtype == DType::I64 { m.op(Inst::UConvert, of, &[at]) } else { at })
            }
            Op::Input(n) => {
                let at = space.position(m, n as usize);
                inputs[n as usize].load(m, at)
            }
            _ => unreachable!("the other instructions are no leaves"),
        });
        match values {
            Ok(values) => {
                for (n, target) in targets.iter().enumerate() {
                    let at = space.position(m, inputs.len() + n);
                    target.store(m, at, values[program.outputs[n] as usize]);
                }
            }
            Err(reason) => result = Err(reason),
        }
    });
    result.map(|()| m.finish())
}
