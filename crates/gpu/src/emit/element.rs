//! Elements in storage buffers, and parameters among the arguments, as the values plain programs compute with.

use super::module::{Buffer, Module};
use super::scalar::{Id, held};
use crate::Can;
use crate::code::{Inst, Type, Word};
use ferrotensor_core::DType;
use ferrotensor_core::planted;

/// What an element's buffer is an array of, and how many of them an element is.
fn stored(dtype: DType, can: &Can) -> (Type, u32) {
    match dtype {
        DType::C64 => (Type::U32, 2),
        DType::C128 => (wide(can), 2),
        DType::F64 => (wide(can), 1),
        other => match other.bytes() {
            1 => (Type::U8, 1),
            2 => (Type::U16, 1),
            4 => (Type::U32, 1),
            _ => (Type::U64, 1),
        },
    }
}

/// Eight bytes: as an integer where there is one, so that a copy touches no float.
fn wide(can: &Can) -> Type {
    if can.int64 { Type::U64 } else { Type::F64 }
}

/// Whether elements of a dtype can be loaded and stored.
///
/// # Errors
/// A sentence naming what the device lacks.
pub fn check(dtype: DType, can: &Can) -> Result<(), String> {
    let (of, _) = stored(dtype, can);
    let float64 = can.float64 || planted::is("a-missing-capability-is-used");
    let lacks = match of {
        Type::U8 if !can.storage8 => "8-bit storage",
        Type::U16 if !can.storage16 => "16-bit storage",
        Type::U64 if !can.int64 => "int64",
        Type::F64 if !float64 => "float64",
        _ if matches!(dtype, DType::F64 | DType::C128) && !float64 => "float64",
        _ => return Ok(()),
    };
    Err(format!("no {lacks} for {dtype}"))
}

/// An operand of a dtype in a buffer of its own.
#[derive(Clone, Copy)]
pub struct Operand {
    buffer: Buffer,
    of: Type,
    dtype: DType,
    /// Its elements are only moved: they are loaded as they are stored, narrow ones in 32 bits.
    moved: bool,
}

impl Operand {
    /// The next buffer of the module.
    pub fn new(m: &mut Module, dtype: DType, written: bool, can: &Can) -> Operand {
        let (of, _) = stored(dtype, can);
        Operand { buffer: m.buffer(of, written), of, dtype, moved: false }
    }

    /// The next buffer of the module, whose elements are moved and no numbers.
    pub fn moved(m: &mut Module, dtype: DType, written: bool, can: &Can) -> Operand {
        Operand { moved: true, ..Operand::new(m, dtype, written, can) }
    }

    /// What an element's parts are held in.
    pub fn held(self) -> Type {
        match self.of {
            Type::U8 | Type::U16 if self.moved => Type::U32,
            of if self.moved => of,
            _ => held(self.dtype),
        }
    }

    /// The element at a position.
    pub fn load(self, m: &mut Module, at: Word) -> Id {
        if !self.dtype.is_complex() {
            let raw = m.load(self.buffer, at);
            return Id::One(self.widened(m, raw));
        }
        let parts = both(m, at).map(|at| {
            let raw = m.load(self.buffer, at);
            self.widened(m, raw)
        });
        Id::Two(parts[0], parts[1])
    }

    /// Writes the element at a position.
    pub fn store(self, m: &mut Module, at: Word, value: Id) {
        match value {
            Id::One(x) => {
                let raw = self.narrowed(m, x);
                m.store(self.buffer, at, raw);
            }
            Id::Two(re, im) => {
                for (at, part) in both(m, at).into_iter().zip([re, im]) {
                    let raw = self.narrowed(m, part);
                    m.store(self.buffer, at, raw);
                }
            }
        }
    }

    fn widened(self, m: &mut Module, raw: Word) -> Word {
        let held = self.held();
        match (self.of, self.dtype) {
            (Type::U8 | Type::U16, _) if self.moved => m.op(Inst::UConvert, held, &[raw]),
            (Type::U8, DType::Bool) => {
                let (word, zero) = (m.op(Inst::UConvert, Type::U32, &[raw]), m.word(0));
                m.op(Inst::INotEqual, Type::Bool, &[word, zero])
            }
            (Type::U8 | Type::U16, DType::I8 | DType::I16) => m.op(Inst::SConvert, Type::U32, &[raw]),
            (Type::U8 | Type::U16, _) => m.op(Inst::UConvert, Type::U32, &[raw]),
            (of, _) if of == held => raw,
            _ => m.op(Inst::Bitcast, held, &[raw]),
        }
    }

    fn narrowed(self, m: &mut Module, value: Word) -> Word {
        let held = self.held();
        match (self.of, self.dtype) {
            (of, DType::Bool) if !self.moved => {
                let (one, zero) = (m.word(1), m.word(0));
                let word = m.op(Inst::Select, Type::U32, &[value, one, zero]);
                m.op(Inst::UConvert, of, &[word])
            }
            (of @ (Type::U8 | Type::U16), _) => m.op(Inst::UConvert, of, &[value]),
            (of, _) if of == held => value,
            (of, _) => m.op(Inst::Bitcast, of, &[value]),
        }
    }
}

/// The positions of a complex number's parts.
fn both(m: &mut Module, at: Word) -> [Word; 2] {
    let one = m.word(1);
    let first = m.op(Inst::ShiftLeftLogical, Type::U32, &[at, one]);
    [first, m.op(Inst::BitwiseOr, Type::U32, &[first, one])]
}

/// The parameter whose two words are arguments `n` and `n + 1`.
pub fn parameter(m: &mut Module, dtype: DType, n: u32) -> Id {
    let low = m.argument(n);
    let eight = |m: &mut Module, of| {
        let high = m.argument(n + 1);
        m.op(Inst::Join, of, &[low, high])
    };
    Id::One(match dtype {
        DType::Bool => {
            let (mask, zero) = (m.word(0xff), m.word(0));
            let byte = m.op(Inst::BitwiseAnd, Type::U32, &[low, mask]);
            m.op(Inst::INotEqual, Type::Bool, &[byte, zero])
        }
        DType::I8 | DType::I16 => {
            let above = m.word(32 - 8 * dtype.bytes() as u32);
            let high = m.op(Inst::ShiftLeftLogical, Type::U32, &[low, above]);
            m.op(Inst::ShiftRightArithmetic, Type::U32, &[high, above])
        }
        DType::U8 | DType::U16 | DType::F16 | DType::BF16 => {
            let mask = m.word(if dtype.bytes() == 1 { 0xff } else { 0xffff });
            m.op(Inst::BitwiseAnd, Type::U32, &[low, mask])
        }
        DType::I32 | DType::U32 => low,
        DType::F32 => m.op(Inst::Bitcast, Type::F32, &[low]),
        DType::I64 | DType::U64 => eight(m, Type::U64),
        DType::F64 => eight(m, Type::F64),
        DType::C64 => {
            let high = m.argument(n + 1);
            let parts = [low, high].map(|word| m.op(Inst::Bitcast, Type::F32, &[word]));
            return Id::Two(parts[0], parts[1]);
        }
        // Parameters have 8 bytes: the real part.
        DType::C128 => {
            let re = eight(m, Type::F64);
            return Id::Two(re, m.literal(Type::F64, 0));
        }
    })
}
