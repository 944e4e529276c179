//! Variables of a module: arguments, buffers, arrays, built-in numbers, and how their elements are read and written.

use super::Printer;
use ferrotensor_gpu::code::{Place, Type};
use rspirv::dr::{InsertPoint, Instruction, Operand};
use rspirv::spirv::{BuiltIn, Decoration, MemorySemantics, Op, Scope, StorageClass, Word};

impl Printer<'_> {
    pub(super) fn variable(&mut self, kind: Word, class: StorageClass) -> Word {
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
    pub(super) fn uniform_block(&mut self, words: u32) -> Word {
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

    /// The n-th buffer, the next one.
    pub(super) fn buffer(&mut self, n: usize) {
        let bound = self.code.buffers[n];
        let element = self.scalar(bound.of);
        // Types of equal content would be one; their decorations may differ from the arguments'.
        let array = self.b.id();
        let runtime = Instruction::new(Op::TypeRuntimeArray, None, Some(array), vec![Operand::IdRef(element)]);
        self.b.insert_types_global_values(InsertPoint::End, runtime);
        self.b.decorate(array, Decoration::ArrayStride, [Operand::LiteralBit32(bound.of.bytes())]);
        let block = self.b.id();
        let structure = Instruction::new(Op::TypeStruct, None, Some(block), vec![Operand::IdRef(array)]);
        self.b.insert_types_global_values(InsertPoint::End, structure);
        self.b.decorate(block, Decoration::Block, []);
        self.b.member_decorate(block, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
        if !bound.written {
            self.b.member_decorate(block, 0, Decoration::NonWritable, []);
        }
        let variable = self.variable(block, StorageClass::StorageBuffer);
        self.buffers.push(variable);
        self.bind(variable, n as u32 + 1);
    }

    /// Where an element of a buffer is.
    pub(super) fn element(&mut self, buffer: u32, index: u32) -> Word {
        let of = self.code.buffers[buffer as usize].of;
        let (pointer, first) = (self.pointer(StorageClass::StorageBuffer, of), self.word(0));
        let at = [self.buffers[buffer as usize], first, self.values[index as usize]];
        self.push(Op::AccessChain, pointer, at.map(Operand::IdRef).to_vec())
    }

    /// The n-th array, the next one.
    pub(super) fn array(&mut self, n: usize) {
        let room = self.code.arrays[n];
        let (element, count) = (self.scalar(room.of), self.word(room.length));
        let kind = self.b.type_array(element, count);
        let variable = self.variable(kind, class(room.shared));
        self.arrays.push(variable);
    }

    /// Where an element of an array is.
    pub(super) fn spot(&mut self, array: u32, index: u32) -> Word {
        let room = self.code.arrays[array as usize];
        let pointer = self.pointer(class(room.shared), room.of);
        let at = [self.arrays[array as usize], self.values[index as usize]];
        self.push(Op::AccessChain, pointer, at.map(Operand::IdRef).to_vec())
    }

    pub(super) fn loaded(&mut self, of: Type, pointer: Word) -> Word {
        let kind = self.scalar(of);
        self.push(Op::Load, kind, vec![Operand::IdRef(pointer)])
    }

    pub(super) fn write(&mut self, pointer: Word, value: u32) {
        let operands = [pointer, self.values[value as usize]].map(Operand::IdRef).to_vec();
        self.emit(Instruction::new(Op::Store, None, None, operands));
    }

    pub(super) fn raise(&mut self, buffer: u32, index: u32, value: u32) {
        let pointer = self.element(buffer, index);
        let (kind, device, relaxed) = (self.scalar(Type::U32), self.word(Scope::Device as u32), self.word(0));
        let operands = vec![
            Operand::IdRef(pointer),
            Operand::IdScope(device),
            Operand::IdMemorySemantics(relaxed),
            Operand::IdRef(self.values[value as usize]),
        ];
        self.push(Op::AtomicUMax, kind, operands);
    }

    /// The n-th word of the arguments.
    pub(super) fn argument(&mut self, n: u32) -> Word {
        let (kind, first, index) = (self.scalar(Type::U32), self.word(0), self.word(n));
        let pointer = self.pointer(StorageClass::Uniform, Type::U32);
        let at = [self.arguments, first, index].map(Operand::IdRef).to_vec();
        let pointer = self.push(Op::AccessChain, pointer, at);
        let id = self.push(Op::Load, kind, vec![Operand::IdRef(pointer)]);
        self.uniform.note(id, 0);
        id
    }

    /// The first component of a built-in vector.
    pub(super) fn place(&mut self, what: Place) -> Word {
        let what = match what {
            Place::Thread => BuiltIn::GlobalInvocationId,
            Place::Local => BuiltIn::LocalInvocationId,
            Place::Group => BuiltIn::WorkgroupId,
            Place::Groups => BuiltIn::NumWorkgroups,
        };
        let word = self.scalar(Type::U32);
        let vector = self.b.type_vector(word, 3);
        let variable = self.variable(vector, StorageClass::Input);
        self.b.decorate(variable, Decoration::BuiltIn, [Operand::BuiltIn(what)]);
        let all = self.push(Op::Load, vector, vec![Operand::IdRef(variable)]);
        self.push(Op::CompositeExtract, word, vec![Operand::IdRef(all), Operand::LiteralBit32(0)])
    }

    pub(super) fn barrier(&mut self) {
        let group = self.word(Scope::Workgroup as u32);
        let semantics = self.word((MemorySemantics::WORKGROUP_MEMORY | MemorySemantics::ACQUIRE_RELEASE).bits());
        self.emit(Instruction::new(
            Op::ControlBarrier,
            None,
            None,
            vec![Operand::IdScope(group), Operand::IdScope(group), Operand::IdMemorySemantics(semantics)],
        ));
    }
}

fn class(shared: bool) -> StorageClass {
    if shared { StorageClass::Workgroup } else { StorageClass::Private }
}
