//! Which code an instruction of a plain program becomes. An arm means support; there is no other list of what can be emitted.

use super::module::Module;
use super::{integer, remainder};
use crate::code::{Inst, Type, Word};
use ferrotensor_core::DType;
use ferrotensor_core::scalar::{Instr, Op, Program};
use smallvec::SmallVec;

/// A value: an id, or of a complex number those of its parts.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub enum Id {
    One(Word),
    Two(Word, Word),
}

impl Id {
    /// The id of a real value, or of the real part.
    pub fn first(self) -> Word {
        match self {
            Id::One(x) | Id::Two(x, _) => x,
        }
    }

    /// The ids of its parts.
    pub fn words(self) -> Words {
        match self {
            Id::One(x) => Words::from_slice(&[x]),
            Id::Two(re, im) => Words::from_slice(&[re, im]),
        }
    }

    /// The value of one part or two.
    pub fn of(words: &[Word]) -> Id {
        match *words {
            [re, im, ..] => Id::Two(re, im),
            [x] => Id::One(x),
            [] => Id::One(0),
        }
    }
}

/// The ids of a value's parts.
pub type Words = SmallVec<[Word; 2]>;

/// What a value of a dtype is held in: narrow integers and the bits of half floats in 32 bits, sign or zeros above them; of a
/// complex number the parts.
pub fn held(dtype: DType) -> Type {
    match dtype {
        DType::Bool => Type::Bool,
        DType::I64 | DType::U64 => Type::U64,
        DType::F32 | DType::C64 => Type::F32,
        DType::F64 | DType::C128 => Type::F64,
        _ => Type::U32,
    }
}

fn signed(dtype: DType) -> bool {
    matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64)
}

/// The instructions that leave nothing to `held` values: everything but inputs, parameters and positions.
///
/// # Errors
/// A sentence naming what has no instruction.
pub fn instruction(m: &mut Module, program: &Program, instr: &Instr, values: &[Id]) -> Result<Id, String> {
    let x = |n: usize| values[instr.args[n] as usize].first();
    let dtype = instr.args.first().map_or(instr.dtype, |&a| program.dtype(a));
    let (d, of) = (instr.dtype, held(instr.dtype));
    let all: SmallVec<[Word; 3]> = (0..instr.args.len()).map(x).collect();
    if let Op::Const(bits) = instr.op {
        return Ok(Id::One(m.literal(of, bits)));
    }
    if let Some(inst) = simple(instr.op, dtype) {
        return Ok(Id::One(m.op(inst, of, &all)));
    }
    Ok(match instr.op {
        Op::Abs => values[instr.args[0] as usize],
        Op::MulHi => Id::One(m.op(Inst::UMulHigh, of, &all)),
        Op::Gcd => Id::One(integer::common_divisor(m, of, signed(d), x(0), x(1))),
        // Not an instruction: SPIR-V's has any result where an operand is negative (without maintenance8).
        Op::Rem if !dtype.is_float() => {
            let quotient = m.op(Inst::SDiv, of, &all);
            let product = m.op(Inst::IMul, of, &[quotient, x(1)]);
            Id::One(m.op(Inst::ISub, of, &[x(0), product]))
        }
        Op::Rem => Id::One(remainder::remainder(m, of, x(0), x(1))),
        Op::Cast => cast(m, dtype, values[instr.args[0] as usize], d),
        Op::Bitcast => Id::One(if held(dtype) == of { x(0) } else { m.op(Inst::Bitcast, of, &[x(0)]) }),
        Op::Imag => match values[instr.args[0] as usize] {
            Id::Two(_, im) => Id::One(im),
            Id::One(x) => Id::One(x),
        },
        Op::Complex => Id::Two(x(0), x(1)),
        op => return Err(format!("no {} of {d}", format!("{op:?}").to_lowercase())),
    })
}

/// Instructions that are one.
fn simple(op: Op, dtype: DType) -> Option<Inst> {
    let (float, sign, bool) = (dtype.is_float(), signed(dtype), dtype == DType::Bool);
    Some(match op {
        Op::Neg if float => Inst::FNegate,
        Op::Neg => Inst::SNegate,
        Op::Not if bool => Inst::LogicalNot,
        Op::Not => Inst::Not,
        Op::Add if float => Inst::FAdd,
        Op::Add => Inst::IAdd,
        Op::Sub if float => Inst::FSub,
        Op::Sub => Inst::ISub,
        Op::Mul if float => Inst::FMul,
        Op::Mul => Inst::IMul,
        Op::Div if float => Inst::FDiv,
        Op::Div if sign => Inst::SDiv,
        Op::Div => Inst::UDiv,
        Op::Rem if float => return None,
        Op::Rem if sign => return None,
        Op::Rem => Inst::UMod,
        Op::And if bool => Inst::LogicalAnd,
        Op::And => Inst::BitwiseAnd,
        Op::Or if bool => Inst::LogicalOr,
        Op::Or => Inst::BitwiseOr,
        Op::Xor if bool => Inst::LogicalNotEqual,
        Op::Xor => Inst::BitwiseXor,
        Op::Shl => Inst::ShiftLeftLogical,
        Op::Shr if sign => Inst::ShiftRightArithmetic,
        Op::Shr => Inst::ShiftRightLogical,
        Op::Eq if float => Inst::FOrdEqual,
        Op::Eq => Inst::IEqual,
        Op::Ne if float => Inst::FUnordNotEqual,
        Op::Ne => Inst::INotEqual,
        Op::Lt if float => Inst::FOrdLessThan,
        Op::Lt if sign => Inst::SLessThan,
        Op::Lt => Inst::ULessThan,
        Op::Le if float => Inst::FOrdLessThanEqual,
        Op::Le if sign => Inst::SLessThanEqual,
        Op::Le => Inst::ULessThanEqual,
        Op::Select => Inst::Select,
        Op::Abs if float => Inst::FAbs,
        Op::Abs if sign => Inst::SAbs,
        Op::Sqrt => Inst::Sqrt,
        Op::Floor => Inst::Floor,
        Op::Ceil => Inst::Ceil,
        Op::Round => Inst::RoundEven,
        Op::Trunc => Inst::Trunc,
        Op::Fma => Inst::Fma,
        _ => return None,
    })
}

/// Conversions between what plain programs compute in, and to and from dtypes held in 32 bits.
fn cast(m: &mut Module, from: DType, x: Id, to: DType) -> Id {
    if from.is_complex() {
        return Id::One(x.first());
    }
    let (source, of, x) = (held(from), held(to), x.first());
    Id::One(match (from.is_float(), to.is_float()) {
        (true, true) => m.op(Inst::FConvert, of, &[x]),
        (false, true) => m.op(if signed(from) { Inst::ConvertSToF } else { Inst::ConvertUToF }, of, &[x]),
        (true, false) => saturated(m, source, x, to),
        (false, false) if source == of => x,
        (false, false) if signed(from) => m.op(Inst::SConvert, of, &[x]),
        (false, false) => m.op(Inst::UConvert, of, &[x]),
    })
}

/// A float truncated to an integer, the ends of the range for what lies beyond, 0 for NaN: what lies outside of the range is
/// undefined to a device, so it is replaced before.
fn saturated(m: &mut Module, from: Type, x: Word, to: DType) -> Word {
    let (of, width) = (held(to), 8 * to.bytes() as i32);
    let (low, high) = if signed(to) { (-2f64.powi(width - 1), 2f64.powi(width - 1)) } else { (0.0, 2f64.powi(width)) };
    let (smallest, largest) =
        if signed(to) { (1u64 << (width - 1), (1u64 << (width - 1)) - 1) } else { (0, u64::MAX >> (64 - width)) };
    let float = |value: f64| if from == Type::F64 { value.to_bits() } else { (value as f32).to_bits() as u64 };
    let (low, high, zero) = (m.constant(from, float(low)), m.constant(from, float(high)), m.constant(from, 0));
    let above = m.op(Inst::FOrdGreaterThanEqual, Type::Bool, &[x, high]);
    let below = m.op(Inst::FOrdLessThan, Type::Bool, &[x, low]);
    // False for NaN too.
    let (up, down) =
        (m.op(Inst::FOrdLessThan, Type::Bool, &[x, high]), m.op(Inst::FOrdGreaterThanEqual, Type::Bool, &[x, low]));
    let inside = m.op(Inst::LogicalAnd, Type::Bool, &[up, down]);
    let safe = m.op(Inst::Select, from, &[inside, x, zero]);
    let whole = m.op(if signed(to) { Inst::ConvertFToS } else { Inst::ConvertFToU }, of, &[safe]);
    let (smallest, largest) = (m.constant(of, smallest), m.constant(of, largest));
    let whole = m.op(Inst::Select, of, &[above, largest, whole]);
    m.op(Inst::Select, of, &[below, smallest, whole])
}

/// What a program needs of a device beside storage for its operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Needs {
    pub float64: bool,
    pub int64: bool,
    pub fma32: bool,
    pub fma64: bool,
}

/// What a plain program computes in.
pub fn needs(program: &Program) -> Needs {
    let held_in = |of: Type| program.instrs.iter().any(|i| held(i.dtype) == of);
    let has = |op: Op, dtype: DType| program.instrs.iter().any(|i| i.op == op && i.dtype == dtype);
    Needs {
        float64: held_in(Type::F64),
        // The remainder divides significands.
        int64: held_in(Type::U64) || has(Op::Rem, DType::F64),
        fma32: has(Op::Fma, DType::F32),
        fma64: has(Op::Fma, DType::F64),
    }
}

/// The first output of a program of two inputs and nothing else.
///
/// # Errors
/// As [`instruction`].
pub fn pair(m: &mut Module, of: &Program, x: Id, y: Id) -> Result<Id, String> {
    let values = program(m, of, |_, instr| if instr.op == Op::Input(0) { x } else { y })?;
    Ok(values[of.outputs[0] as usize])
}

/// The instructions of a program in order; `leaf` gives inputs, parameters and positions. Returns the values.
///
/// # Errors
/// As [`instruction`].
pub fn program(
    m: &mut Module,
    program: &Program,
    mut leaf: impl FnMut(&mut Module, &Instr) -> Id,
) -> Result<Vec<Id>, String> {
    let mut values = Vec::with_capacity(program.instrs.len());
    for instr in &program.instrs {
        let id = match instr.op {
            Op::Input(_) | Op::Param(_) | Op::Index(_) => leaf(m, instr),
            _ => instruction(m, program, instr, &values)?,
        };
        values.push(id);
    }
    Ok(values)
}

/// The first output of a program without parameters and positions.
///
/// # Errors
/// As [`instruction`].
pub fn call(m: &mut Module, of: &Program, inputs: &[Id]) -> Result<Id, String> {
    call_with(m, of, inputs, &[])
}

/// The first output of a program without positions.
///
/// # Errors
/// As [`instruction`].
pub fn call_with(m: &mut Module, of: &Program, inputs: &[Id], params: &[Id]) -> Result<Id, String> {
    let values = program(m, of, |_, instr| match instr.op {
        Op::Input(n) => inputs[n as usize],
        Op::Param(n) => params[n as usize],
        _ => unreachable!("it has no other leaves"),
    })?;
    Ok(values[of.outputs[0] as usize])
}
