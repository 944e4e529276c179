//! The kernel of a gather: each thread moves elements of the output, one after the other.

use super::element::{self, Operand};
use super::index::{self, Indices};
use super::module::Module;
use super::scalar::Id;
use super::space::{Arguments, Space};
use crate::Can;
use crate::code::{Code, Inst, Type};
use ferrotensor_core::kernel::Gather;

/// Words before those of the index operands: elements of the data that its window shows, and whether this is the window that
/// answers for indices out of range.
pub const HEAD: u32 = 2;

/// Where the numbers of the space stand: output, row of the data, index operands.
pub fn arguments(kernel: &Gather, rank: usize) -> Arguments {
    let indices = kernel.index.len();
    Arguments { start: HEAD + index::WORDS * indices as u32, rank, operands: 2 + indices, params: 0 }
}

/// The kernel over `rank` loops: data, indices, output, report.
///
/// # Errors
/// A sentence naming what the device lacks.
pub fn shader(kernel: &Gather, rank: usize, can: &Can) -> Result<Code, String> {
    index::check(&kernel.index, can)?;
    element::check(kernel.dtype, can)?;
    if 3 + kernel.index.len() > can.max_buffers as usize {
        return Err(format!("more than {} operands", can.max_buffers));
    }
    let arguments = arguments(kernel, rank);
    let mut m = Module::new(arguments.end());
    let data = Operand::moved(&mut m, kernel.dtype, false, can);
    let operands = Indices::operands(&mut m, &kernel.index, can);
    let output = Operand::moved(&mut m, kernel.dtype, true, can);
    let indices = Indices::new(&mut m, operands, HEAD);
    let (shown, answers, count) = (m.argument(0), m.argument(1), m.argument(arguments.start));
    m.for_each(count, |m, i| {
        let space = Space::new(m, arguments, i);
        let (row, bad) = indices.place(m, |m, n| space.position(m, 2 + n));
        let (none, first) = (m.word(0), space.position(m, 1));
        let at = m.op(Inst::IAdd, Type::U32, &[first, row]);
        let (inside, good) = (m.op(Inst::ULessThan, Type::Bool, &[at, shown]), m.op(Inst::LogicalNot, Type::Bool, &[bad]));
        let found = m.op(Inst::LogicalAnd, Type::Bool, &[inside, good]);
        let answers = m.op(Inst::INotEqual, Type::Bool, &[answers, none]);
        let zero = m.op(Inst::LogicalAnd, Type::Bool, &[bad, answers]);
        let writes = m.op(Inst::LogicalOr, Type::Bool, &[found, zero]);
        m.when(writes, |m| {
            let safe = m.op(Inst::Select, Type::U32, &[found, at, none]);
            let value = data.load(m, safe);
            let of = data.held();
            let nothing = m.constant(of, 0);
            let mut pick = |part| m.op(Inst::Select, of, &[found, part, nothing]);
            let value = match value {
                Id::One(x) => Id::One(pick(x)),
                Id::Two(re, im) => Id::Two(pick(re), pick(im)),
            };
            let to = space.position(m, 0);
            output.store(m, to, value);
        });
    });
    Ok(m.finish())
}
