//! Which values are the same in each thread: constants, arguments, and what is computed from them alone.
//!
//! Compilers ask that of a value by asking it of its operands. Mesa's analysis of loops keeps no answers, so each instruction that reads
//! one value twice doubles its time, and a logarithm of a parameter takes it ages. So no value is more than [`MOST_STEPS`] from
//! constants and arguments: there a [`Printer`] hides it from compilers.

use super::Printer;
use ferrotensor_gpu::code::Type;
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Decoration, Op, StorageClass, Word};

/// Instructions one after the other that a compiler may see to be uniform; it then asks 2^12 questions at most.
const MOST_STEPS: u8 = 12;

/// Of uniform values, by their ids, the instructions that lead to them.
#[derive(Default)]
pub struct Uniform(Vec<Option<u8>>);

impl Uniform {
    /// Says of a value that so many instructions lead to it.
    pub fn note(&mut self, id: Word, steps: u8) {
        let id = id as usize;
        if self.0.len() <= id {
            self.0.resize(id + 1, None);
        }
        self.0[id] = Some(steps);
    }

    /// The instructions that lead to a value, or none where it may differ from thread to thread.
    pub fn steps(&self, id: Word) -> Option<u8> {
        *self.0.get(id as usize)?
    }

    /// Those that lead to the result of an instruction with these operands.
    pub fn after(&self, operands: &[Operand]) -> Option<u8> {
        let mut most = None;
        for operand in operands {
            if let Operand::IdRef(id) = operand {
                most = most.max(Some(self.steps(*id)?));
            }
        }
        most.map(|steps| steps.saturating_add(1))
    }
}

impl Printer<'_> {
    /// A value, or where it is the end of [`MOST_STEPS`] on what is uniform, one that seems to differ from thread to thread.
    pub(super) fn varied(&mut self, of: Type, id: Word) -> Word {
        if self.uniform.steps(id).is_none_or(|steps| steps < MOST_STEPS) {
            return id;
        }
        let word = self.scalar(Type::U32);
        let thread = match self.thread_of_group {
            Some(variable) => variable,
            None => {
                let variable = self.variable(word, StorageClass::Input);
                self.b.decorate(variable, Decoration::BuiltIn, [Operand::BuiltIn(BuiltIn::LocalInvocationIndex)]);
                *self.thread_of_group.insert(variable)
            }
        };
        let thread = self.push(Op::Load, word, vec![Operand::IdRef(thread)]);
        let (nothing, zero) = (self.argument(self.code.arguments), self.word(0));
        let masked = self.push_op(Op::BitwiseAnd, Type::U32, &[thread, nothing]);
        let always = self.push_op(Op::IEqual, Type::Bool, &[masked, zero]);
        let never = self.constant(of, 0);
        self.push_op(Op::Select, of, &[always, id, never])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrotensor_gpu::code::Code;

    #[test]
    fn no_value_is_many_steps_from_an_argument_and_still_seen_to_be_uniform() {
        let code = Code { arguments: 1, ..Code::default() };
        let mut m = Printer::new(&code);
        let (mut x, mut hidden) = (m.argument(0), 0);
        for _ in 0..3 * MOST_STEPS {
            x = m.op(Op::IMul, Type::U32, &[x, x]);
            let steps = m.uniform.steps(x);
            assert!(steps.is_none_or(|steps| steps < MOST_STEPS));
            hidden += usize::from(steps.is_none());
        }
        assert_eq!(hidden, 2 * MOST_STEPS as usize + 1);
    }
}
