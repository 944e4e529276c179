//! Which SPIR-V an instruction of a plain program becomes. An arm means support; there is no other list of what can be emitted.

use super::module::{Module, Type};
use super::{integer, remainder, whole};
use ferrotensor_core::DType;
use ferrotensor_core::scalar::{Instr, Op, Program};
use rspirv::spirv::{GlslStd450Op as Glsl, Op as Spirv, Word};
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
    let mut all: Vec<Word> = (0..instr.args.len()).map(x).collect();
    if matches!(instr.op, Op::Eq | Op::Ne | Op::Lt | Op::Le) && held(dtype) == Type::U64 {
        for (id, &arg) in all.iter_mut().zip(&instr.args) {
            if let Op::Const(bits) = program.instrs[arg as usize].op {
                *id = m.hidden(bits);
            }
        }
    }
    if let Op::Const(bits) = instr.op {
        let size = 8 * d.bytes();
        let zero = dtype.is_float() && bits << (65 - size) == 0;
        return Ok(Id::One(if zero { m.hidden_zero(of, bits >> (size - 1) != 0) } else { m.constant(of, bits) }));
    }
    if let Some(op) = simple(instr.op, dtype) {
        let rounds = dtype.is_float() && matches!(instr.op, Op::Add | Op::Sub | Op::Mul | Op::Div);
        return Ok(Id::One(if rounds { m.exact(op, of, &all) } else { m.op(op, of, &all) }));
    }
    if of == Type::F64 && matches!(instr.op, Op::Trunc | Op::Round) {
        return Ok(Id::One(whole::whole(m, instr.op == Op::Round, x(0))));
    }
    if let Some(glsl) = extended(instr.op, dtype) {
        return Ok(Id::One(m.extended(glsl as u32, of, &all)));
    }
    Ok(match instr.op {
        Op::Abs => values[instr.args[0] as usize],
        Op::MulHi => Id::One(m.high_product(of, x(0), x(1))),
        Op::Gcd => Id::One(integer::common_divisor(m, of, signed(d), x(0), x(1))),
        // OpSRem has any result where an operand is negative (without maintenance8).
        Op::Rem if !dtype.is_float() => {
            let quotient = m.op(Spirv::SDiv, of, &all);
            let product = m.op(Spirv::IMul, of, &[quotient, x(1)]);
            Id::One(m.op(Spirv::ISub, of, &[x(0), product]))
        }
        Op::Rem => Id::One(remainder::remainder(m, of, x(0), x(1))),
        Op::Cast => cast(m, dtype, values[instr.args[0] as usize], d),
        Op::Bitcast => Id::One(if held(dtype) == of { x(0) } else { m.op(Spirv::Bitcast, of, &[x(0)]) }),
        Op::Imag => match values[instr.args[0] as usize] {
            Id::Two(_, im) => Id::One(im),
            Id::One(x) => Id::One(x),
        },
        Op::Complex => Id::Two(x(0), x(1)),
        op => return Err(format!("no {} of {d}", format!("{op:?}").to_lowercase())),
    })
}

/// Instructions that SPIR-V has.
fn simple(op: Op, dtype: DType) -> Option<Spirv> {
    let (float, sign, bool) = (dtype.is_float(), signed(dtype), dtype == DType::Bool);
    Some(match op {
        Op::Neg if float => Spirv::FNegate,
        Op::Neg => Spirv::SNegate,
        Op::Not if bool => Spirv::LogicalNot,
        Op::Not => Spirv::Not,
        Op::Add if float => Spirv::FAdd,
        Op::Add => Spirv::IAdd,
        Op::Sub if float => Spirv::FSub,
        Op::Sub => Spirv::ISub,
        Op::Mul if float => Spirv::FMul,
        Op::Mul => Spirv::IMul,
        Op::Div if float => Spirv::FDiv,
        Op::Div if sign => Spirv::SDiv,
        Op::Div => Spirv::UDiv,
        Op::Rem if float => return None,
        Op::Rem if sign => return None,
        Op::Rem => Spirv::UMod,
        Op::And if bool => Spirv::LogicalAnd,
        Op::And => Spirv::BitwiseAnd,
        Op::Or if bool => Spirv::LogicalOr,
        Op::Or => Spirv::BitwiseOr,
        Op::Xor if bool => Spirv::LogicalNotEqual,
        Op::Xor => Spirv::BitwiseXor,
        Op::Shl => Spirv::ShiftLeftLogical,
        Op::Shr if sign => Spirv::ShiftRightArithmetic,
        Op::Shr => Spirv::ShiftRightLogical,
        Op::Eq if float => Spirv::FOrdEqual,
        Op::Eq => Spirv::IEqual,
        Op::Ne if float => Spirv::FUnordNotEqual,
        Op::Ne => Spirv::INotEqual,
        Op::Lt if float => Spirv::FOrdLessThan,
        Op::Lt if sign => Spirv::SLessThan,
        Op::Lt => Spirv::ULessThan,
        Op::Le if float => Spirv::FOrdLessThanEqual,
        Op::Le if sign => Spirv::SLessThanEqual,
        Op::Le => Spirv::ULessThanEqual,
        Op::Select => Spirv::Select,
        _ => return None,
    })
}

/// Instructions of GLSL.std.450 that are exact or correctly rounded wherever they are what they say (which opening a device finds out).
fn extended(op: Op, dtype: DType) -> Option<Glsl> {
    Some(match op {
        Op::Abs if dtype.is_float() => Glsl::FAbs,
        Op::Abs if signed(dtype) => Glsl::SAbs,
        Op::Sqrt => Glsl::Sqrt,
        Op::Floor => Glsl::Floor,
        Op::Ceil => Glsl::Ceil,
        Op::Round => Glsl::RoundEven,
        Op::Trunc => Glsl::Trunc,
        Op::Fma => Glsl::Fma,
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
        (true, true) => m.op(Spirv::FConvert, of, &[x]),
        (false, true) => m.op(if signed(from) { Spirv::ConvertSToF } else { Spirv::ConvertUToF }, of, &[x]),
        (true, false) => saturated(m, source, x, to),
        (false, false) if source == of => x,
        (false, false) if signed(from) => m.op(Spirv::SConvert, of, &[x]),
        (false, false) => m.op(Spirv::UConvert, of, &[x]),
    })
}

/// A float truncated to an integer, the ends of the range for what lies beyond, 0 for NaN: what lies outside of the range is
/// undefined to SPIR-V, so it is replaced before.
fn saturated(m: &mut Module, from: Type, x: Word, to: DType) -> Word {
    let (of, width) = (held(to), 8 * to.bytes() as i32);
    let (low, high) = if signed(to) { (-2f64.powi(width - 1), 2f64.powi(width - 1)) } else { (0.0, 2f64.powi(width)) };
    let (smallest, largest) =
        if signed(to) { (1u64 << (width - 1), (1u64 << (width - 1)) - 1) } else { (0, u64::MAX >> (64 - width)) };
    let float = |value: f64| if from == Type::F64 { value.to_bits() } else { (value as f32).to_bits() as u64 };
    let (low, high, zero) = (m.constant(from, float(low)), m.constant(from, float(high)), m.constant(from, 0));
    let above = m.op(Spirv::FOrdGreaterThanEqual, Type::Bool, &[x, high]);
    let below = m.op(Spirv::FOrdLessThan, Type::Bool, &[x, low]);
    // False for NaN too.
    let (up, down) =
        (m.op(Spirv::FOrdLessThan, Type::Bool, &[x, high]), m.op(Spirv::FOrdGreaterThanEqual, Type::Bool, &[x, low]));
    let inside = m.op(Spirv::LogicalAnd, Type::Bool, &[up, down]);
    let safe = m.op(Spirv::Select, from, &[inside, x, zero]);
    let whole = m.op(if signed(to) { Spirv::ConvertFToS } else { Spirv::ConvertFToU }, of, &[safe]);
    let (smallest, largest) = (m.constant(of, smallest), m.constant(of, largest));
    let whole = m.op(Spirv::Select, of, &[above, largest, whole]);
    m.op(Spirv::Select, of, &[below, smallest, whole])
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
