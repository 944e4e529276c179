//! Records the [`Code`] of a kernel: instructions go to its end, constants are made once.

use crate::code::{Args, Bound, Code, GROUP, Inst, Place, Room, Statement, Type, Word};
use ferrotensor_core::planted;
use std::collections::HashMap;

/// The kernel being written.
pub struct Module {
    code: Code,
    constants: HashMap<(Type, u64), Word>,
    /// The uint32 constants that are met most, by their values.
    small: [Option<Word>; 64],
}

impl Module {
    /// A kernel with `arguments` words of arguments.
    pub fn new(arguments: u32) -> Module {
        let (statements, types) = (Vec::with_capacity(256), Vec::with_capacity(256));
        let code = Code { statements, types, arguments, ..Code::default() };
        Module { code, constants: HashMap::new(), small: [None; 64] }
    }

    fn value(&mut self, of: Type, statement: Statement) -> Word {
        self.code.statements.push(statement);
        self.code.types.push(of);
        self.code.types.len() as Word - 1
    }

    fn push(&mut self, statement: Statement) {
        self.code.statements.push(statement);
    }

    /// A constant by its bits.
    pub fn constant(&mut self, of: Type, bits: u64) -> Word {
        if let Some(&known) = self.constants.get(&(of, bits)) {
            return known;
        }
        let made = self.value(of, Statement::Const(bits));
        self.constants.insert((of, bits), made);
        made
    }

    /// A uint32 constant.
    pub fn word(&mut self, value: u32) -> Word {
        let Some(&known) = self.small.get(value as usize) else { return self.constant(Type::U32, value.into()) };
        known.unwrap_or_else(|| {
            let made = self.constant(Type::U32, value.into());
            self.small[value as usize] = Some(made);
            made
        })
    }

    /// A constant that instructions of a scalar program meet.
    pub fn literal(&mut self, of: Type, bits: u64) -> Word {
        self.value(of, Statement::Literal(bits))
    }

    /// An instruction.
    pub fn op(&mut self, op: Inst, of: Type, args: &[Word]) -> Word {
        self.value(of, Statement::Op(op, Args::new(args)))
    }

    /// The next buffer, of elements of a type.
    pub fn buffer(&mut self, of: Type, written: bool) -> Buffer {
        let number = self.code.buffers.len() as u32;
        self.code.buffers.push(Bound { of, written });
        self.push(Statement::Buffer(number));
        Buffer { number, of }
    }

    /// An element.
    pub fn load(&mut self, from: Buffer, index: Word) -> Word {
        self.value(from.of, Statement::Load { buffer: from.number, index })
    }

    /// Writes an element.
    pub fn store(&mut self, to: Buffer, index: Word, value: Word) {
        self.push(Statement::Store { buffer: to.number, index, value });
    }

    /// Raises a word to a value, whoever else does so at the same time.
    pub fn raise(&mut self, word: Buffer, index: Word, value: Word) {
        self.push(Statement::Raise { buffer: word.number, index, value });
    }

    /// The n-th word of the arguments.
    pub fn argument(&mut self, n: u32) -> Word {
        self.value(Type::U32, Statement::Argument(n))
    }

    fn place(&mut self, what: Place) -> Word {
        self.value(Type::U32, Statement::Place(what))
    }

    /// A loop over `count` elements that all threads share: `body` gets the element's number.
    pub fn for_each(&mut self, count: Word, body: impl FnOnce(&mut Module, Word)) {
        let (thread, groups) = (self.place(Place::Thread), self.place(Place::Groups));
        let group = self.word(GROUP);
        let step = self.op(Inst::IMul, Type::U32, &[groups, group]);
        let inside = if planted::is("the-last-group-writes-beyond") { Inst::ULessThanEqual } else { Inst::ULessThan };
        let more = |m: &mut Module, i: &[Word]| m.op(inside, Type::Bool, &[i[0], count]);
        self.repeat(&[(Type::U32, thread)], more, |m, i| {
            body(m, i[0]);
            vec![m.op(Inst::IAdd, Type::U32, &[i[0], step])]
        });
    }

    /// A loop: values at its start, whether there is another round, and the values after it. Returns those it ends with.
    pub fn repeat(
        &mut self,
        start: &[(Type, Word)],
        again: impl FnOnce(&mut Module, &[Word]) -> Word,
        round: impl FnOnce(&mut Module, &[Word]) -> Vec<Word>,
    ) -> Vec<Word> {
        self.push(Statement::Loop(start.iter().map(|&(_, first)| first).collect()));
        let begin = self.code.types.len() as Word;
        self.code.types.extend(start.iter().map(|&(of, _)| of));
        let values: Vec<Word> = (begin..begin + start.len() as Word).collect();
        let more = again(self, &values);
        self.push(Statement::While(more));
        let results = round(self, &values);
        self.push(Statement::Next(results.into()));
        values
    }

    /// A branch taken where `condition` holds; what it computes stays inside.
    pub fn when(&mut self, condition: Word, body: impl FnOnce(&mut Module)) {
        self.push(Statement::When(condition));
        body(self);
        self.push(Statement::End);
    }

    /// An array of each thread's own, or of a group's.
    pub fn array(&mut self, of: Type, length: u32, shared: bool) -> Array {
        let number = self.code.arrays.len() as u32;
        self.code.arrays.push(Room { of, length, shared });
        self.push(Statement::Array(number));
        Array { number, of }
    }

    /// An element of an array.
    pub fn get(&mut self, array: Array, index: Word) -> Word {
        self.value(array.of, Statement::Get { array: array.number, index })
    }

    /// Writes an element of an array.
    pub fn set(&mut self, array: Array, index: Word, value: Word) {
        self.push(Statement::Set { array: array.number, index, value });
    }

    /// All threads of the group arrive, and see what the others wrote to shared arrays.
    pub fn barrier(&mut self) {
        self.push(Statement::Barrier);
    }

    /// The thread's number in its group, its group's number, and how many groups there are.
    pub fn thread(&mut self) -> [Word; 3] {
        [Place::Local, Place::Group, Place::Groups].map(|what| self.place(what))
    }

    /// The kernel.
    pub fn finish(self) -> Code {
        self.code
    }
}

/// An array in a thread's or a group's memory.
#[derive(Clone, Copy)]
pub struct Array {
    number: u32,
    of: Type,
}

/// A buffer of a kernel.
#[derive(Clone, Copy)]
pub struct Buffer {
    number: u32,
    of: Type,
}
