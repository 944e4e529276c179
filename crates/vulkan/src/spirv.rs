//! Prints the code of a kernel as SPIR-V: one entry point, its buffers, and types and constants made once. What a compiler gets wrong is
//! written otherwise here: values it must not know (`hidden`), whole parts of float64 (`whole.rs`), what it takes ages for (`uniform.rs`).

use ferrotensor_gpu::code::{Code, GROUP, Inst, Statement, Type};
use rspirv::binary::Assemble;
use rspirv::dr::{Builder, InsertPoint, Instruction, Operand};
use rspirv::spirv::{
    AddressingModel, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl, GlslStd450Op as Glsl,
    LoopControl, MemoryModel, Op, SelectionControl, StorageClass, Word,
};
use std::collections::HashMap;
use table::{Spelling, spelling};
use uniform::Uniform;

mod hidden;
mod memory;
mod table;
mod uniform;
mod whole;

/// What a module asks of a device's floats: where it offers that. The rest is its business, and what that does to results is measured
/// when it is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// float32 rounding to nearest even can be asked for.
    pub rte32: bool,
    /// The same of float64.
    pub rte64: bool,
    /// float32 signed zeros, infinities and NaN can be kept (`SignedZeroInfNanPreserve`).
    pub preserve32: bool,
    /// The same of float64.
    pub preserve64: bool,
    /// float32 denormals can be kept (`DenormPreserve`).
    pub denorm32: bool,
    /// The same of float64.
    pub denorm64: bool,
}

/// The module of a kernel, its only entry point `main`: arguments in a uniform block at binding 0, buffers from binding 1 on.
pub fn words(code: &Code, modes: Modes) -> Vec<u32> {
    let mut printer = Printer::new(code);
    for statement in &code.statements {
        printer.statement(statement);
    }
    printer.finish(modes)
}

/// A loop or a branch that is open.
enum Block {
    Loop { head: Word, inside: Word, tail: Word, after: Word, next: Vec<(Type, Word)> },
    When { after: Word },
}

/// The module being written; instructions go to the end of the current block.
struct Printer<'a> {
    code: &'a Code,
    b: Builder,
    glsl: Word,
    /// By their numbers; 0 where there is none yet.
    types: [Word; 7],
    /// A handful. The builder looks through all types for each.
    pointers: Vec<(StorageClass, Type, Word)>,
    constants: HashMap<(Type, u64), Word>,
    /// The uint32 constants that are met most, numbers of arguments among them, by their values.
    small: [Word; 64],
    capabilities: Vec<Capability>,
    /// Of every global variable, for the entry point.
    interface: Vec<Word>,
    arguments: Word,
    uniform: Uniform,
    /// The built-in number of the thread in its group, where it was needed.
    thread_of_group: Option<Word>,
    function: Word,
    /// Label of the open block.
    current: Word,
    /// Of each value by now.
    values: Vec<Word>,
    /// The values that are literals of 64 bits.
    wide: HashMap<u32, u64>,
    buffers: Vec<Word>,
    arrays: Vec<Word>,
    blocks: Vec<Block>,
}

impl<'a> Printer<'a> {
    fn new(code: &'a Code) -> Printer<'a> {
        let mut b = Builder::new();
        b.set_version(1, 5);
        let glsl = b.ext_inst_import("GLSL.std.450");
        b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
        let mut printer = Printer {
            code,
            b,
            glsl,
            types: [0; 7],
            pointers: Vec::new(),
            constants: HashMap::new(),
            small: [0; 64],
            capabilities: Vec::new(),
            interface: Vec::new(),
            arguments: 0,
            uniform: Uniform::default(),
            thread_of_group: None,
            function: 0,
            current: 0,
            values: Vec::with_capacity(code.types.len()),
            wide: HashMap::new(),
            buffers: Vec::with_capacity(code.buffers.len()),
            arrays: Vec::with_capacity(code.arrays.len()),
            blocks: Vec::new(),
        };
        printer.need(Capability::Shader);
        printer.uniform.note(glsl, 0);
        // A uniform block ends at a whole vector of four.
        printer.arguments = printer.uniform_block((code.arguments + 1).next_multiple_of(4));
        let void = printer.b.type_void();
        let kind = printer.b.type_function(void, []);
        // A builder refuses instructions outside of functions and blocks only, which does not happen here.
        printer.function = printer.b.begin_function(void, None, FunctionControl::NONE, kind).unwrap_or_default();
        printer.block(None);
        printer
    }

    fn statement(&mut self, statement: &Statement) {
        let of = self.code.types.get(self.values.len()).copied().unwrap_or(Type::U32);
        let value = match *statement {
            Statement::Const(bits) => self.constant(of, bits),
            Statement::Literal(bits) => self.literal(of, bits),
            Statement::Op(inst, ref args) => self.instruction(inst, of, args),
            Statement::Argument(n) => self.argument(n),
            Statement::Place(what) => self.place(what),
            Statement::Load { buffer, index } => {
                let pointer = self.element(buffer, index);
                self.loaded(of, pointer)
            }
            Statement::Get { array, index } => {
                let pointer = self.spot(array, index);
                self.loaded(of, pointer)
            }
            Statement::Loop(ref start) => return self.begin_loop(start),
            ref other => return self.effect(other),
        };
        self.values.push(value);
    }

    /// A statement without a value.
    fn effect(&mut self, statement: &Statement) {
        match *statement {
            Statement::Buffer(n) => self.buffer(n as usize),
            Statement::Array(n) => self.array(n as usize),
            Statement::Store { buffer, index, value } => {
                let pointer = self.element(buffer, index);
                self.write(pointer, value);
            }
            Statement::Set { array, index, value } => {
                let pointer = self.spot(array, index);
                self.write(pointer, value);
            }
            Statement::Raise { buffer, index, value } => self.raise(buffer, index, value),
            Statement::Barrier => self.barrier(),
            Statement::While(more) => self.enter_loop(more),
            Statement::Next(ref values) => self.end_loop(values),
            Statement::When(condition) => {
                let [inside, after] = [(); 2].map(|()| self.b.id());
                let merged = self.b.selection_merge(after, SelectionControl::NONE);
                let left = self.b.branch_conditional(self.values[condition as usize], inside, after, []);
                debug_assert!(merged.is_ok() && left.is_ok());
                self.block(Some(inside));
                self.blocks.push(Block::When { after });
            }
            Statement::End => {
                if let Some(Block::When { after }) = self.blocks.pop() {
                    self.branch(after);
                    self.block(Some(after));
                }
            }
            _ => unreachable!("the others have values"),
        }
    }

    fn need(&mut self, capability: Capability) {
        if !self.capabilities.contains(&capability) {
            self.capabilities.push(capability);
        }
    }

    /// The scalar type.
    fn scalar(&mut self, of: Type) -> Word {
        if self.types[of as usize] != 0 {
            return self.types[of as usize];
        }
        let id = match of {
            Type::Bool => self.b.type_bool(),
            Type::U8 | Type::U16 | Type::U32 | Type::U64 => self.b.type_int(8 * of.bytes(), 0),
            Type::F32 | Type::F64 => self.b.type_float(8 * of.bytes(), None),
        };
        match of {
            Type::U8 => {
                self.b.extension("SPV_KHR_8bit_storage");
                self.need(Capability::StorageBuffer8BitAccess);
            }
            Type::U16 => self.need(Capability::StorageBuffer16BitAccess),
            Type::U64 => self.need(Capability::Int64),
            Type::F64 => self.need(Capability::Float64),
            Type::Bool | Type::U32 | Type::F32 => {}
        }
        self.types[of as usize] = id;
        id
    }

    fn pointer(&mut self, class: StorageClass, to: Type) -> Word {
        if let Some(&(.., id)) = self.pointers.iter().find(|p| (p.0, p.1) == (class, to)) {
            return id;
        }
        let kind = self.scalar(to);
        let id = self.b.type_pointer(None, class, kind);
        self.pointers.push((class, to, id));
        id
    }

    /// A constant by its bits.
    fn constant(&mut self, of: Type, bits: u64) -> Word {
        if let Some(&id) = self.constants.get(&(of, bits)) {
            return id;
        }
        let kind = self.scalar(of);
        let id = match of {
            Type::Bool if bits & 0xff != 0 => self.b.constant_true(kind),
            Type::Bool => self.b.constant_false(kind),
            Type::U64 | Type::F64 => self.b.constant_bit64(kind, bits),
            _ => self.b.constant_bit32(kind, bits as u32),
        };
        self.constants.insert((of, bits), id);
        self.uniform.note(id, 0);
        id
    }

    /// A uint32 constant.
    fn word(&mut self, value: u32) -> Word {
        match self.small.get(value as usize) {
            Some(&id) if id != 0 => id,
            Some(_) => {
                let id = self.constant(Type::U32, value as u64);
                self.small[value as usize] = id;
                id
            }
            None => self.constant(Type::U32, value as u64),
        }
    }

    fn instruction(&mut self, inst: Inst, of: Type, args: &[u32]) -> Word {
        // Three at most, of which a comparison's may be literals.
        let mut ids = [0; 3];
        for (id, &arg) in ids.iter_mut().zip(args) {
            *id = match self.wide.get(&arg) {
                Some(&bits) if of == Type::Bool => self.hidden(bits),
                _ => self.values[arg as usize],
            };
        }
        let ids = &ids[..args.len()];
        if of == Type::F64 && matches!(inst, Inst::Trunc | Inst::RoundEven) {
            return self.whole(inst == Inst::RoundEven, ids[0]);
        }
        match spelling(inst) {
            Spelling::Plain(op) => self.op(op, of, ids),
            Spelling::Rounds(op) => self.exact(op, of, ids),
            Spelling::Extended(number) => self.extended(number, of, ids),
            Spelling::HighProduct => self.high_product(of, ids[0], ids[1]),
            Spelling::Join => self.joined(of, ids[0], ids[1]),
        }
    }

    /// An instruction with a result.
    fn op(&mut self, op: Op, of: Type, args: &[Word]) -> Word {
        let id = self.push_op(op, of, args);
        self.varied(of, id)
    }

    fn push_op(&mut self, op: Op, of: Type, args: &[Word]) -> Word {
        let kind = self.scalar(of);
        self.push(op, kind, args.iter().map(|&id| Operand::IdRef(id)).collect())
    }

    /// The same, and its result may not be merged with another instruction's rounding.
    fn exact(&mut self, op: Op, of: Type, args: &[Word]) -> Word {
        let id = self.push_op(op, of, args);
        self.b.decorate(id, Decoration::NoContraction, []);
        self.varied(of, id)
    }

    /// An instruction of the set GLSL.std.450.
    fn extended(&mut self, number: Glsl, of: Type, args: &[Word]) -> Word {
        let kind = self.scalar(of);
        let mut operands = vec![Operand::IdRef(self.glsl), Operand::LiteralExtInstInteger(number as u32)];
        operands.extend(args.iter().map(|&id| Operand::IdRef(id)));
        let id = self.push(Op::ExtInst, kind, operands);
        if matches!(of, Type::F32 | Type::F64) {
            self.b.decorate(id, Decoration::NoContraction, []);
        }
        self.varied(of, id)
    }

    fn high_product(&mut self, of: Type, x: Word, y: Word) -> Word {
        let part = self.scalar(of);
        let pair = self.b.type_struct([part, part]);
        let both = self.push(Op::UMulExtended, pair, vec![Operand::IdRef(x), Operand::IdRef(y)]);
        self.push(Op::CompositeExtract, part, vec![Operand::IdRef(both), Operand::LiteralBit32(1)])
    }

    fn joined(&mut self, of: Type, low: Word, high: Word) -> Word {
        let word = self.scalar(Type::U32);
        let pair = self.b.type_vector(word, 2);
        let both = self.push(Op::CompositeConstruct, pair, vec![Operand::IdRef(low), Operand::IdRef(high)]);
        self.op(Op::Bitcast, of, &[both])
    }

    fn push(&mut self, op: Op, kind: Word, operands: Vec<Operand>) -> Word {
        let id = self.b.id();
        if let Some(steps) = self.uniform.after(&operands) {
            self.uniform.note(id, steps);
        }
        self.emit(Instruction::new(op, Some(kind), Some(id), operands));
        id
    }

    fn emit(&mut self, instruction: Instruction) {
        let placed = self.b.insert_into_block(InsertPoint::End, instruction);
        debug_assert!(placed.is_ok(), "no block is open");
    }

    /// Opens a block.
    fn block(&mut self, label: Option<Word>) {
        self.current = label.unwrap_or_else(|| self.b.id());
        let opened = self.b.begin_block(Some(self.current));
        debug_assert!(opened.is_ok(), "a block is open");
    }

    fn branch(&mut self, to: Word) {
        let done = self.b.branch(to);
        debug_assert!(done.is_ok());
    }

    fn begin_loop(&mut self, start: &[u32]) {
        let before = self.current;
        let [head, inside, tail, after] = [(); 4].map(|()| self.b.id());
        let types = &self.code.types[self.values.len()..self.values.len() + start.len()];
        let next: Vec<(Type, Word)> = types.iter().map(|&of| (of, self.b.id())).collect();
        self.branch(head);
        self.block(Some(head));
        for (&first, &(of, next)) in start.iter().zip(&next) {
            let kind = self.scalar(of);
            // Not a value of this loop: those begin together.
            let operands = [self.values[first as usize], before, next, tail];
            let value = self.push(Op::Phi, kind, operands.map(Operand::IdRef).to_vec());
            self.values.push(value);
        }
        self.blocks.push(Block::Loop { head, inside, tail, after, next });
    }

    fn enter_loop(&mut self, more: u32) {
        let Some(&Block::Loop { inside, tail, after, .. }) = self.blocks.last() else { return };
        let merged = self.b.loop_merge(after, tail, LoopControl::NONE, []);
        let left = self.b.branch_conditional(self.values[more as usize], inside, after, []);
        debug_assert!(merged.is_ok() && left.is_ok());
        self.block(Some(inside));
    }

    fn end_loop(&mut self, results: &[u32]) {
        let Some(Block::Loop { head, tail, after, next, .. }) = self.blocks.pop() else { return };
        self.branch(tail);
        self.block(Some(tail));
        for ((of, id), &result) in next.into_iter().zip(results) {
            let kind = self.scalar(of);
            let result = vec![Operand::IdRef(self.values[result as usize])];
            self.emit(Instruction::new(Op::CopyObject, Some(kind), Some(id), result));
        }
        self.branch(head);
        self.block(Some(after));
    }

    /// The words of the module, its function ended.
    fn finish(mut self, modes: Modes) -> Vec<u32> {
        let ended = self.b.ret().and_then(|()| self.b.end_function());
        debug_assert!(ended.is_ok());
        let function = self.function;
        let interface = std::mem::take(&mut self.interface);
        self.b.entry_point(ExecutionModel::GLCompute, function, "main", interface);
        self.b.execution_mode(function, ExecutionMode::LocalSize, [GROUP, 1, 1]);
        let double = self.types[Type::F64 as usize] != 0;
        for (offered, capability, mode, width) in [
            (modes.preserve32, Capability::SignedZeroInfNanPreserve, ExecutionMode::SignedZeroInfNanPreserve, 32),
            (modes.preserve64 && double, Capability::SignedZeroInfNanPreserve, ExecutionMode::SignedZeroInfNanPreserve, 64),
            (modes.rte32, Capability::RoundingModeRTE, ExecutionMode::RoundingModeRTE, 32),
            (modes.rte64 && double, Capability::RoundingModeRTE, ExecutionMode::RoundingModeRTE, 64),
            (modes.denorm32, Capability::DenormPreserve, ExecutionMode::DenormPreserve, 32),
            (modes.denorm64 && double, Capability::DenormPreserve, ExecutionMode::DenormPreserve, 64),
        ] {
            if offered {
                self.need(capability);
                self.b.execution_mode(function, mode, [width]);
            }
        }
        for capability in std::mem::take(&mut self.capabilities) {
            self.b.capability(capability);
        }
        self.b.module().assemble()
    }
}
