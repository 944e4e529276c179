//! The exact simplifier: shares equal instructions, drops dead ones, and removes what provably changes no bit.
//! It never reassociates, never turns `x * 0` into 0, and never touches the rounding of an instruction.

use super::{Builder, Instr, Op, Program, Value};
use crate::dtype::DType;
use crate::planted;

/// An equal program, at most as long.
pub fn simplify(program: &Program) -> Program {
    // A rewrite can leave its operands dead, so passes run until nothing changes (each one shortens the program).
    let mut best = pass(program);
    loop {
        let next = pass(&best);
        if next == best {
            return best;
        }
        best = next;
    }
}

fn pass(program: &Program) -> Program {
    let live = liveness(program);
    let mut out = Builder::new();
    // Inputs and parameters keep their numbers, used or not.
    let inputs: Vec<Value> = program.inputs.iter().map(|&d| out.input(d)).collect();
    let params: Vec<Value> = program.params.iter().map(|&d| out.param(d)).collect();
    let mut map: Vec<Value> = Vec::with_capacity(program.instrs.len());
    for (i, instr) in program.instrs.iter().enumerate() {
        let value = match instr.op {
            _ if !live[i] => Value::MAX,
            Op::Input(n) => inputs[n as usize],
            Op::Param(n) => params[n as usize],
            _ => {
                let args: Vec<Value> = instr.args.iter().map(|&a| map[a as usize]).collect();
                match reduce(instr, &args, &out) {
                    Some(known) => known,
                    None => emit(&mut out, instr, &args),
                }
            }
        };
        map.push(value);
    }
    let outputs: Vec<Value> = program.outputs.iter().map(|&o| map[o as usize]).collect();
    out.finish(&outputs)
}

fn liveness(program: &Program) -> Vec<bool> {
    let mut live = vec![false; program.instrs.len()];
    for &o in &program.outputs {
        live[o as usize] = true;
    }
    for i in (0..program.instrs.len()).rev() {
        if live[i] {
            for &a in &program.instrs[i].args {
                live[a as usize] = true;
            }
        }
    }
    live
}

fn emit(b: &mut Builder, instr: &Instr, args: &[Value]) -> Value {
    b.raw(Instr { op: instr.op, dtype: instr.dtype, args: args.iter().copied().collect() })
}

/// The value this instruction is equal to bit for bit, if that value exists already.
fn reduce(instr: &Instr, args: &[Value], b: &Builder) -> Option<Value> {
    let source = |v: Value| b.instr(v);
    match instr.op {
        Op::Cast | Op::Bitcast if b.dtype(args[0]) == instr.dtype => Some(args[0]),
        Op::Cast => {
            // A value widened without loss and narrowed back is itself.
            let inner = source(args[0]);
            let back = (inner.op == Op::Cast).then(|| inner.args[0])?;
            let exact = widens_exactly(instr.dtype, inner.dtype) || planted::is("fusion-forgets-a-rounding");
            (b.dtype(back) == instr.dtype && exact).then_some(back)
        }
        Op::Neg | Op::Not if source(args[0]).op == instr.op => Some(source(args[0]).args[0]),
        Op::Abs if source(args[0]).op == Op::Abs => Some(args[0]),
        Op::Floor | Op::Ceil | Op::Round | Op::Trunc
            if matches!(source(args[0]).op, Op::Floor | Op::Ceil | Op::Round | Op::Trunc) =>
        {
            Some(args[0])
        }
        Op::Select if args[1] == args[2] => Some(args[1]),
        Op::Select => match source(args[0]).op {
            Op::Const(bits) => Some(if bits & 0xff != 0 { args[1] } else { args[2] }),
            _ => None,
        },
        Op::And | Op::Or | Op::Min | Op::Max if args[0] == args[1] && !instr.dtype.is_float() => Some(args[0]),
        _ => None,
    }
}

/// Whether every value of `from` survives a trip through `to`.
fn widens_exactly(from: DType, to: DType) -> bool {
    use DType::*;
    match (from, to) {
        (Bool, _) => true,
        (F16 | BF16, F32 | F64) | (F32, F64) => true,
        (a, b) if a.is_integer() && b.is_integer() => a.bytes() <= b.bytes(),
        (a, F64) if a.is_integer() => a.bytes() <= 4,
        (a, F32) if a.is_integer() => a.bytes() <= 2,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_and_double_instructions_go_and_meaning_stays() {
        let mut b = Builder::new();
        let x = b.input(DType::F32);
        let wide = b.cast(x, DType::F64);
        let back = b.cast(wide, DType::F32);
        let n = b.unary(Op::Neg, back);
        let p = b.unary(Op::Neg, n);
        let _dead = b.unary(Op::Sqrt, p);
        let sum = b.binary(Op::Add, p, x);
        let short = simplify(&b.finish(&[sum]));
        assert_eq!(short.to_string(), "%0: float32 = input 0\n%1: float32 = add %0 %0\nout %1\n");
    }

    #[test]
    fn what_could_change_a_bit_is_kept() {
        let mut b = Builder::new();
        let x = b.input(DType::F64);
        let narrow = b.cast(x, DType::F32);
        let back = b.cast(narrow, DType::F64);
        let zero = b.lit(DType::F64, 0.0);
        let product = b.binary(Op::Mul, back, zero);
        let same = b.binary(Op::Max, product, product);
        let program = b.finish(&[same]);
        assert_eq!(simplify(&program), program);
    }
}
