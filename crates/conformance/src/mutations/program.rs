//! Changes of one instruction of a scalar program, each into one that a slip of the pen would give.

use ferrotensor_core::scalar::{Args, Instr, MathFn, Op, Program, Value, literal_bits, verify};
use ferrotensor_core::{DType, reference};

/// What becomes of an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    /// Another one on the same operands.
    Op(Op),
    /// The n-th operand and the next change places.
    Exchanged(usize),
    /// It is left out: its n-th operand stands for it.
    Operand(usize),
    /// Its result is one larger.
    OneMore,
    /// Its operand is converted to another dtype before.
    Through(DType),
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Change::Op(Op::Const(_)) => f.write_str("another"),
            Change::Op(op) => write!(f, "{op:?} instead"),
            Change::Exchanged(n) => write!(f, "operands {n} and {} exchanged", n + 1),
            Change::Operand(n) => write!(f, "operand {n} instead"),
            Change::OneMore => f.write_str("one more"),
            Change::Through(_) => f.write_str("by way of another dtype"),
        }
    }
}

/// What an instruction may be mistaken for; those that its dtype does not have drop out by [`verify`].
const NEAR: &[(Op, &[Op])] = &[
    (Op::Neg, &[Op::Abs]),
    (Op::Abs, &[Op::Neg]),
    (Op::Sqrt, &[Op::Abs]),
    (Op::Floor, &[Op::Ceil, Op::Trunc]),
    (Op::Ceil, &[Op::Floor, Op::Trunc]),
    (Op::Round, &[Op::Floor, Op::Trunc]),
    (Op::Trunc, &[Op::Floor, Op::Round]),
    (Op::Add, &[Op::Sub, Op::Mul]),
    (Op::Sub, &[Op::Add]),
    (Op::Mul, &[Op::Add, Op::Div]),
    (Op::Div, &[Op::Mul, Op::Rem]),
    (Op::Rem, &[Op::Div]),
    (Op::Gcd, &[Op::Min]),
    (Op::Min, &[Op::Max]),
    (Op::Max, &[Op::Min]),
    (Op::And, &[Op::Or, Op::Xor]),
    (Op::Or, &[Op::And, Op::Xor]),
    (Op::Xor, &[Op::And, Op::Or]),
    (Op::Shl, &[Op::Shr]),
    (Op::Shr, &[Op::Shl]),
    (Op::MulHi, &[Op::Mul]),
    (Op::Eq, &[Op::Ne, Op::Le]),
    (Op::Ne, &[Op::Eq, Op::Lt]),
    (Op::Lt, &[Op::Le, Op::Ne]),
    (Op::Le, &[Op::Lt, Op::Eq]),
    (Op::Imag, &[Op::Cast]),
    (Op::Bitcast, &[Op::Cast]),
];

/// Every changed program with the name of its change.
pub fn changed(program: &Program) -> Vec<(String, Program)> {
    let mut out = Vec::new();
    for (at, instr) in program.instrs.iter().enumerate() {
        // Without what depends on shapes and dtypes: the same place of other calls has the same name.
        let of = match instr.op {
            Op::Const(_) => "Const".into(),
            Op::Index(_) => "Index".into(),
            op => format!("{op:?}"),
        };
        let found = changes(program, instr).into_iter().map(|c| (format!("{of}: {c}"), with(program, at, c)));
        out.extend(found.filter(|(_, p)| p != program && verify(p).is_ok()));
    }
    out
}

fn changes(program: &Program, instr: &Instr) -> Vec<Change> {
    let dtype = instr.dtype;
    let others = |n: u16, all: &[DType], op: fn(u16) -> Op| -> Vec<Change> {
        (0..all.len() as u16).filter(|&m| m != n && all[m as usize] == dtype).map(|m| Change::Op(op(m))).collect()
    };
    let mut out: Vec<Change> = match instr.op {
        Op::Input(n) => others(n, &program.inputs, Op::Input),
        Op::Param(n) => others(n, &program.params, Op::Param),
        Op::Const(bits) => vec![Change::Op(Op::Const(nudged(dtype, bits)))],
        Op::Index(_) => vec![Change::OneMore],
        Op::Cast => detour(program.dtype(instr.args[0]), dtype).map(Change::Through).into_iter().collect(),
        Op::Call(f) => {
            let at = MathFn::ALL.iter().position(|&g| g == f).unwrap_or(0);
            let others = MathFn::ALL[at + 1..].iter().chain(&MathFn::ALL[..at]);
            others.copied().find(|g| g.arity() == f.arity()).map(|g| Change::Op(Op::Call(g))).into_iter().collect()
        }
        op => NEAR.iter().filter(|(from, _)| *from == op).flat_map(|(_, to)| to.iter().map(|&o| Change::Op(o))).collect(),
    };
    match instr.op {
        Op::Sub | Op::Div | Op::Rem | Op::Shl | Op::Shr | Op::Lt | Op::Le | Op::Complex => out.push(Change::Exchanged(0)),
        Op::Call(MathFn::Pow | MathFn::Atan2) => out.push(Change::Exchanged(0)),
        Op::Select | Op::Fma => out.push(Change::Exchanged(1)),
        _ => {}
    }
    out.extend((0..instr.args.len()).filter(|&n| program.dtype(instr.args[n]) == dtype).map(Change::Operand));
    out
}

/// Another constant: not the next one, which a function's error bound may hide, but one that is off by a 64th.
fn nudged(dtype: DType, bits: u64) -> u64 {
    let part = dtype.info().real;
    if !part.is_float() {
        let width = 8 * dtype.bytes().min(8) as u32;
        return if dtype == DType::Bool { bits ^ 1 } else { bits.wrapping_add(1) & (u64::MAX >> (64 - width)) };
    }
    let value = reference::constant(part, bits).real().hi;
    let other = match value {
        _ if value.is_nan() || value == 0.0 => 1.0,
        _ if value.is_infinite() => 1f64.copysign(value),
        _ => value * (1.0 + 1.0 / 64.0),
    };
    literal_bits(part, other)
}

/// A dtype on the way that loses something of the conversion, where there is one.
fn detour(from: DType, to: DType) -> Option<DType> {
    match to {
        _ if from.bytes() == 1 => None,
        DType::I8 | DType::U8 => from.is_float().then_some(DType::I32),
        DType::F16 | DType::BF16 if from.is_float() => Some(DType::I32),
        _ if to.is_complex() || matches!(to, DType::F32 | DType::F64) => (from != DType::BF16).then_some(DType::BF16),
        _ => Some(DType::I8),
    }
}

fn with(program: &Program, at: usize, change: Change) -> Program {
    let mut out = Program { instrs: Vec::new(), ..program.clone() };
    let mut moved: Vec<Value> = Vec::with_capacity(program.instrs.len());
    for (i, instr) in program.instrs.iter().enumerate() {
        let mut push = |op, dtype, args| {
            out.instrs.push(Instr { op, dtype, args });
            out.instrs.len() as Value - 1
        };
        let mut args: Args = instr.args.iter().map(|&a| moved[a as usize]).collect();
        moved.push(match change {
            _ if i != at => push(instr.op, instr.dtype, args),
            Change::Op(op) => push(op, instr.dtype, args),
            Change::Exchanged(n) => {
                args.swap(n, n + 1);
                push(instr.op, instr.dtype, args)
            }
            Change::Operand(n) => args[n],
            Change::OneMore => {
                let value = push(instr.op, instr.dtype, args);
                let one = push(Op::Const(literal_bits(instr.dtype, 1.0)), instr.dtype, Args::new());
                push(Op::Add, instr.dtype, Args::from_slice(&[value, one]))
            }
            Change::Through(dtype) => {
                args[0] = push(Op::Cast, dtype, Args::from_slice(&args));
                push(instr.op, instr.dtype, args)
            }
        });
    }
    out.outputs.iter_mut().for_each(|o| *o = moved[*o as usize]);
    out
}
