//! A SPIR-V module in the making: one entry point, its buffers, and types and constants made once.

use crate::caps::Can;
use ferrotensor_core::planted;
use rspirv::binary::Assemble;
use rspirv::dr::{Builder, InsertPoint, Instruction, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl, LoopControl,
    MemoryModel, MemorySemantics, Op, Scope, SelectionControl, StorageClass, Word,
};
use std::collections::HashMap;
use uniform::Uniform;

mod uniform;

/// Threads of a group. 256 is what every desktop GPU takes, and keeps a 64-wide machine's four units of a core busy.
pub const GROUP: u32 = 256;

/// A scalar type of SPIR-V. Integers are unsigned: instructions say what is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Type {
    Bool,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
}

impl Type {
    fn bytes(self) -> u32 {
        match self {
            Type::Bool | Type::U8 => 1,
            Type::U16 => 2,
            Type::U32 | Type::F32 => 4,
            Type::U64 | Type::F64 => 8,
        }
    }
}

/// A finished module.
#[derive(Debug)]
pub struct Shader {
    /// SPIR-V.
    pub words: Vec<u32>,
    /// Storage buffers it binds, from binding 1; binding 0 is the uniform buffer of its arguments.
    pub buffers: usize,
}

/// The module being written; instructions go to the end of the current block.
pub struct Module {
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
    buffers: usize,
    arguments: Word,
    /// Number of the argument that is 0.
    nothing: u32,
    uniform: Uniform,
    /// The built-in number of the thread in its group, where it was needed.
    thread_of_group: Option<Word>,
    function: Word,
    /// Label of the open block.
    current: Word,
}

impl Module {
    /// A module with `arguments` words of arguments, after which a word of 0 follows, in the first block of its function.
    pub fn new(arguments: u32) -> Module {
        let mut b = Builder::new();
        b.set_version(1, 5);
        let glsl = b.ext_inst_import("GLSL.std.450");
        b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
        let mut module = Module {
            b,
            glsl,
            types: [0; 7],
            pointers: Vec::new(),
            constants: HashMap::new(),
            small: [0; 64],
            capabilities: Vec::new(),
            interface: Vec::new(),
            buffers: 0,
            arguments: 0,
            nothing: 0,
            uniform: Uniform::default(),
            thread_of_group: None,
            function: 0,
            current: 0,
        };
        module.need(Capability::Shader);
        module.uniform.note(glsl, 0);
        // A uniform block ends at a whole vector of four.
        module.arguments = module.uniform_block((arguments + 1).next_multiple_of(4));
        module.nothing = arguments;
        let void = module.b.type_void();
        let kind = module.b.type_function(void, []);
        // A builder refuses instructions outside of functions and blocks only, which does not happen here.
        module.function = module.b.begin_function(void, None, FunctionControl::NONE, kind).unwrap_or_default();
        module.block(None);
        module
    }

    fn need(&mut self, capability: Capability) {
        if !self.capabilities.contains(&capability) {
            self.capabilities.push(capability);
        }
    }

    /// The scalar type.
    pub fn scalar(&mut self, of: Type) -> Word {
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
    pub fn constant(&mut self, of: Type, bits: u64) -> Word {
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
    pub fn word(&mut self, value: u32) -> Word {
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

    /// An instruction with a result.
    pub fn op(&mut self, op: Op, of: Type, args: &[Word]) -> Word {
        let id = self.push_op(op, of, args);
        self.varied(of, id)
    }

    fn push_op(&mut self, op: Op, of: Type, args: &[Word]) -> Word {
        let kind = self.scalar(of);
        self.push(op, kind, args.iter().map(|&id| Operand::IdRef(id)).collect())
    }

    /// The same, and its result may not be merged with another instruction's rounding.
    pub fn exact(&mut self, op: Op, of: Type, args: &[Word]) -> Word {
        let id = self.push_op(op, of, args);
        self.b.decorate(id, Decoration::NoContraction, []);
        self.varied(of, id)
    }

    /// An instruction of the set GLSL.std.450.
    pub fn extended(&mut self, number: u32, of: Type, args: &[Word]) -> Word {
        let kind = self.scalar(of);
        let mut operands = vec![Operand::IdRef(self.glsl), Operand::LiteralExtInstInteger(number)];
        operands.extend(args.iter().map(|&id| Operand::IdRef(id)));
        let id = self.push(Op::ExtInst, kind, operands);
        if matches!(of, Type::F32 | Type::F64) {
            self.b.decorate(id, Decoration::NoContraction, []);
        }
        self.varied(of, id)
    }

    /// The high half of a product.
    pub fn high_product(&mut self, of: Type, x: Word, y: Word) -> Word {
        let part = self.scalar(of);
        let pair = self.b.type_struct([part, part]);
        let both = self.push(Op::UMulExtended, pair, vec![Operand::IdRef(x), Operand::IdRef(y)]);
        self.push(Op::CompositeExtract, part, vec![Operand::IdRef(both), Operand::LiteralBit32(1)])
    }

    /// 64 bits from two words, as uint64 or float64.
    pub fn joined(&mut self, of: Type, low: Word, high: Word) -> Word {
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

    fn variable(&mut self, kind: Word, class: StorageClass) -> Word {
        let (pointer, id) = (self.b.type_pointer(None, class, kind), self.b.id());
        // Not the builder's own method: that one writes into the open block.
        let variable = Instruction::new(Op::Variable, Some(pointer), Some(id), vec![Operand::StorageClass(class)]);
        self.b.insert_types_global_values(InsertPoint::End, variable);
        self.interface.push(id);
        id
    }

    fn bind(&mut self, variable: Word, binding: u32) {
        self.b.decorate(variable, Decoration::DescriptorSet, [Operand::LiteralBit32(0)]);
        self.b.decorate(variable, Decoration::Binding, [Operand::LiteralBit32(binding)]);
    }

    /// The block of arguments.
    fn uniform_block(&mut self, words: u32) -> Word {
        let (word, length) = (self.scalar(Type::U32), self.word(words));
        let array = self.b.type_array(word, length);
        self.b.decorate(array, Decoration::ArrayStride, [Operand::LiteralBit32(4)]);
        let block = self.b.type_struct([array]);
        self.b.decorate(block, Decoration::Block, []);
        self.b.member_decorate(block, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
        let variable = self.variable(block, StorageClass::Uniform);
        self.bind(variable, 0);
        variable
    }

    /// The next storage buffer, of elements of a type.
    pub fn buffer(&mut self, of: Type, written: bool) -> Buffer {
        let element = self.scalar(of);
        // Types of equal content would be one; their decorations may differ from the arguments'.
        let array = self.b.id();
        let runtime = Instruction::new(Op::TypeRuntimeArray, None, Some(array), vec![Operand::IdRef(element)]);
        self.b.insert_types_global_values(InsertPoint::End, runtime);
        self.b.decorate(array, Decoration::ArrayStride, [Operand::LiteralBit32(of.bytes())]);
        let block = self.b.id();
        let structure = Instruction::new(Op::TypeStruct, None, Some(block), vec![Operand::IdRef(array)]);
        self.b.insert_types_global_values(InsertPoint::End, structure);
        self.b.decorate(block, Decoration::Block, []);
        self.b.member_decorate(block, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
        if !written {
            self.b.member_decorate(block, 0, Decoration::NonWritable, []);
        }
        let variable = self.variable(block, StorageClass::StorageBuffer);
        self.buffers += 1;
        self.bind(variable, self.buffers as u32);
        Buffer { variable, of }
    }

    /// An element.
    pub fn load(&mut self, from: Buffer, index: Word) -> Word {
        let pointer = self.element(from, index);
        let kind = self.scalar(from.of);
        self.push(Op::Load, kind, vec![Operand::IdRef(pointer)])
    }

    /// Writes an element.
    pub fn store(&mut self, to: Buffer, index: Word, value: Word) {
        let pointer = self.element(to, index);
        self.emit(Instruction::new(Op::Store, None, None, vec![Operand::IdRef(pointer), Operand::IdRef(value)]));
    }

    /// Raises a word to a value, whoever else does so at the same time.
    pub fn raise(&mut self, word: Buffer, index: Word, value: Word) {
        let pointer = self.element(word, index);
        let (kind, device, relaxed) = (self.scalar(Type::U32), self.word(Scope::Device as u32), self.word(0));
        let operands = vec![
            Operand::IdRef(pointer),
            Operand::IdScope(device),
            Operand::IdMemorySemantics(relaxed),
            Operand::IdRef(value),
        ];
        self.push(Op::AtomicUMax, kind, operands);
    }

    fn element(&mut self, buffer: Buffer, index: Word) -> Word {
        let (pointer, first) = (self.pointer(StorageClass::StorageBuffer, buffer.of), self.word(0));
        self.push(
            Op::AccessChain,
            pointer,
            vec![Operand::IdRef(buffer.variable), Operand::IdRef(first), Operand::IdRef(index)],
        )
    }

    /// The n-th word of the arguments.
    pub fn argument(&mut self, n: u32) -> Word {
        let (kind, first, index) = (self.scalar(Type::U32), self.word(0), self.word(n));
        let pointer = self.pointer(StorageClass::Uniform, Type::U32);
        let variable = self.arguments;
        let at = [variable, first, index].map(Operand::IdRef).to_vec();
        let pointer = self.push(Op::AccessChain, pointer, at);
        let id = self.push(Op::Load, kind, vec![Operand::IdRef(pointer)]);
        self.uniform.note(id, 0);
        id
    }

    /// A zero of a float type that no compiler sees: Mesa's software device takes a product with a literal zero for zero, whatever
    /// the other factor's sign, and leaves out the addition of one.
    pub fn hidden_zero(&mut self, of: Type, negative: bool) -> Word {
        let low = self.argument(self.nothing);
        let high = if negative {
            let sign = self.word(1 << 31);
            self.op(Op::BitwiseOr, Type::U32, &[low, sign])
        } else {
            low
        };
        if of == Type::F64 { self.joined(of, low, high) } else { self.op(Op::Bitcast, of, &[high]) }
    }

    /// A uint64 that no compiler sees: Mesa's software device compares a literal with an integer that was widened to 64 bits as if
    /// that had kept its width.
    pub fn hidden(&mut self, bits: u64) -> Word {
        let nothing = self.argument(self.nothing);
        let [low, high] = [bits as u32, (bits >> 32) as u32].map(|half| {
            let half = self.word(half);
            self.op(Op::BitwiseOr, Type::U32, &[nothing, half])
        });
        self.joined(Type::U64, low, high)
    }

    /// The first component of a built-in vector.
    fn built_in(&mut self, what: BuiltIn) -> Word {
        let word = self.scalar(Type::U32);
        let vector = self.b.type_vector(word, 3);
        let variable = self.variable(vector, StorageClass::Input);
        self.b.decorate(variable, Decoration::BuiltIn, [Operand::BuiltIn(what)]);
        let all = self.push(Op::Load, vector, vec![Operand::IdRef(variable)]);
        self.push(Op::CompositeExtract, word, vec![Operand::IdRef(all), Operand::LiteralBit32(0)])
    }

    /// A loop over `count` elements that all threads share: `body` gets the element's number.
    pub fn for_each(&mut self, count: Word, body: impl FnOnce(&mut Module, Word)) {
        let (thread, groups) = (self.built_in(BuiltIn::GlobalInvocationId), self.built_in(BuiltIn::NumWorkgroups));
        let group = self.word(GROUP);
        let step = self.op(Op::IMul, Type::U32, &[groups, group]);
        let inside = if planted::is("the-last-group-writes-beyond") { Op::ULessThanEqual } else { Op::ULessThan };
        let more = |m: &mut Module, i: &[Word]| m.op(inside, Type::Bool, &[i[0], count]);
        self.repeat(&[(Type::U32, thread)], more, |m, i| {
            body(m, i[0]);
            vec![m.op(Op::IAdd, Type::U32, &[i[0], step])]
        });
    }

    /// A loop: values at its start, whether there is another round, and the values after it. Returns those it ends with.
    pub fn repeat(
        &mut self,
        start: &[(Type, Word)],
        again: impl FnOnce(&mut Module, &[Word]) -> Word,
        round: impl FnOnce(&mut Module, &[Word]) -> Vec<Word>,
    ) -> Vec<Word> {
        let before = self.current;
        let [head, inside, tail, after] = [(); 4].map(|()| self.b.id());
        let next: Vec<Word> = start.iter().map(|_| self.b.id()).collect();
        self.branch(head);
        self.block(Some(head));
        let phi = |(&(of, first), &next): (&(Type, Word), &Word)| (of, [first, before, next, tail]);
        let phis: Vec<_> = start.iter().zip(&next).map(phi).collect();
        let values: Vec<Word> = phis
            .into_iter()
            .map(|(of, operands)| {
                let kind = self.scalar(of);
                self.push(Op::Phi, kind, operands.map(Operand::IdRef).to_vec())
            })
            .collect();
        let more = again(self, &values);
        let merged = self.b.loop_merge(after, tail, LoopControl::NONE, []);
        let left = self.b.branch_conditional(more, inside, after, []);
        debug_assert!(merged.is_ok() && left.is_ok());
        self.block(Some(inside));
        let results = round(self, &values);
        self.branch(tail);
        self.block(Some(tail));
        for ((&(of, _), id), result) in start.iter().zip(next).zip(results) {
            let kind = self.scalar(of);
            self.emit(Instruction::new(Op::CopyObject, Some(kind), Some(id), vec![Operand::IdRef(result)]));
        }
        self.branch(head);
        self.block(Some(after));
        values
    }

    /// A branch taken where `condition` holds; what it computes stays inside.
    pub fn when(&mut self, condition: Word, body: impl FnOnce(&mut Module)) {
        let [inside, after] = [(); 2].map(|()| self.b.id());
        let merged = self.b.selection_merge(after, SelectionControl::NONE);
        let left = self.b.branch_conditional(condition, inside, after, []);
        debug_assert!(merged.is_ok() && left.is_ok());
        self.block(Some(inside));
        body(self);
        self.branch(after);
        self.block(Some(after));
    }

    /// An array of each thread's own, or of a group's.
    pub fn array(&mut self, of: Type, length: u32, shared: bool) -> Array {
        let (element, count) = (self.scalar(of), self.word(length));
        let kind = self.b.type_array(element, count);
        let class = if shared { StorageClass::Workgroup } else { StorageClass::Private };
        Array { variable: self.variable(kind, class), of, class }
    }

    fn place(&mut self, array: Array, index: Word) -> Word {
        let pointer = self.pointer(array.class, array.of);
        self.push(Op::AccessChain, pointer, [array.variable, index].map(Operand::IdRef).to_vec())
    }

    /// An element of an array.
    pub fn get(&mut self, array: Array, index: Word) -> Word {
        let pointer = self.place(array, index);
        let kind = self.scalar(array.of);
        self.push(Op::Load, kind, vec![Operand::IdRef(pointer)])
    }

    /// Writes an element of an array.
    pub fn set(&mut self, array: Array, index: Word, value: Word) {
        let pointer = self.place(array, index);
        self.emit(Instruction::new(Op::Store, None, None, [pointer, value].map(Operand::IdRef).to_vec()));
    }

    /// All threads of the group arrive, and see what the others wrote to shared arrays.
    pub fn barrier(&mut self) {
        let group = self.word(Scope::Workgroup as u32);
        let semantics = self.word((MemorySemantics::WORKGROUP_MEMORY | MemorySemantics::ACQUIRE_RELEASE).bits());
        self.emit(Instruction::new(
            Op::ControlBarrier,
            None,
            None,
            vec![Operand::IdScope(group), Operand::IdScope(group), Operand::IdMemorySemantics(semantics)],
        ));
    }

    /// The thread's number in its group, its group's number, and how many groups there are.
    pub fn thread(&mut self) -> [Word; 3] {
        [BuiltIn::LocalInvocationId, BuiltIn::WorkgroupId, BuiltIn::NumWorkgroups].map(|what| self.built_in(what))
    }

    /// The words of the module, its function ended.
    pub fn finish(mut self, can: &Can) -> Shader {
        let ended = self.b.ret().and_then(|()| self.b.end_function());
        debug_assert!(ended.is_ok());
        let function = self.function;
        let interface = std::mem::take(&mut self.interface);
        self.b.entry_point(ExecutionModel::GLCompute, function, "main", interface);
        self.b.execution_mode(function, ExecutionMode::LocalSize, [GROUP, 1, 1]);
        let double = self.types[Type::F64 as usize] != 0;
        // Where a device offers them. The rest is its business, and what that does to results is measured when it is opened.
        for (offered, capability, mode, width) in [
            (can.preserve32, Capability::SignedZeroInfNanPreserve, ExecutionMode::SignedZeroInfNanPreserve, 32),
            (can.preserve64 && double, Capability::SignedZeroInfNanPreserve, ExecutionMode::SignedZeroInfNanPreserve, 64),
            (can.rte32, Capability::RoundingModeRTE, ExecutionMode::RoundingModeRTE, 32),
            (can.rte64 && double, Capability::RoundingModeRTE, ExecutionMode::RoundingModeRTE, 64),
            (can.denorm32, Capability::DenormPreserve, ExecutionMode::DenormPreserve, 32),
            (can.denorm64 && double, Capability::DenormPreserve, ExecutionMode::DenormPreserve, 64),
        ] {
            if offered {
                self.need(capability);
                self.b.execution_mode(function, mode, [width]);
            }
        }
        for capability in std::mem::take(&mut self.capabilities) {
            self.b.capability(capability);
        }
        Shader { words: self.b.module().assemble(), buffers: self.buffers }
    }
}

/// An array in a thread's or a group's memory.
#[derive(Clone, Copy)]
pub struct Array {
    variable: Word,
    of: Type,
    class: StorageClass,
}

/// A storage buffer of a module.
#[derive(Clone, Copy)]
pub struct Buffer {
    variable: Word,
    of: Type,
}
