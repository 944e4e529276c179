//! The rules a program must keep. Runs after every stage of a debug build.

use super::{Instr, Op, Program};
use crate::dtype::{DType, Kind};

/// Checks single assignment, operand counts and dtypes. The message names the first instruction that breaks a rule.
pub fn verify(program: &Program) -> Result<(), String> {
    let (mut inputs, mut params) = (0usize, 0usize);
    for (i, instr) in program.instrs.iter().enumerate() {
        if let Some(&a) = instr.args.iter().find(|&&a| a as usize >= i) {
            return Err(format!("%{i}: operand %{a} is not defined before it"));
        }
        check(program, instr, &mut inputs, &mut params).map_err(|e| format!("%{i} ({:?}): {e}", instr.op))?;
    }
    if let Some(o) = program.outputs.iter().find(|&&o| o as usize >= program.instrs.len()) {
        return Err(format!("output %{o} does not exist"));
    }
    Ok(())
}

fn check(program: &Program, instr: &Instr, inputs: &mut usize, params: &mut usize) -> Result<(), String> {
    let dtypes: Vec<DType> = instr.args.iter().map(|&a| program.dtype(a)).collect();
    let d = instr.dtype;
    let count = |n: usize| if dtypes.len() == n { Ok(()) } else { Err(format!("{} operands, expected {n}", dtypes.len())) };
    let same = |from: usize| match dtypes[from..].iter().find(|&&a| a != d) {
        Some(a) => Err(format!("operand is {a}, result {d}")),
        None => Ok(()),
    };
    let demand = |ok: bool, what: &str| if ok { Ok(()) } else { Err(format!("{d} is not {what}")) };
    let bitty = d.is_integer() || d == DType::Bool;
    let arithmetic = d.kind() != Kind::Bool;
    match instr.op {
        Op::Input(n) => {
            *inputs += 1;
            demand(program.inputs.get(n as usize) == Some(&d), "the declared input dtype")?;
            count(0)
        }
        Op::Param(n) => {
            *params += 1;
            demand(program.params.get(n as usize) == Some(&d), "the declared parameter dtype")?;
            count(0)
        }
        Op::Const(_) => count(0),
        Op::Index(_) => {
            demand(matches!(d, DType::I32 | DType::I64), "int32 or int64")?;
            count(0)
        }
        Op::Neg => count(1).and_then(|()| same(0)).and_then(|()| demand(arithmetic, "arithmetic")),
        Op::Abs => count(1).and_then(|()| same(0)).and_then(|()| demand(arithmetic && !d.is_complex(), "real")),
        Op::Sqrt | Op::Floor | Op::Ceil | Op::Round | Op::Trunc => {
            count(1).and_then(|()| same(0)).and_then(|()| demand(d.is_float(), "floating"))
        }
        Op::Not => count(1).and_then(|()| same(0)).and_then(|()| demand(bitty, "integer or bool")),
        Op::Add | Op::Mul => count(2).and_then(|()| same(0)),
        Op::Sub | Op::Div => count(2).and_then(|()| same(0)).and_then(|()| demand(arithmetic, "arithmetic")),
        Op::Rem => count(2).and_then(|()| same(0)).and_then(|()| demand(arithmetic && !d.is_complex(), "real")),
        Op::Min | Op::Max => count(2).and_then(|()| same(0)).and_then(|()| demand(!d.is_complex(), "ordered")),
        Op::And | Op::Or | Op::Xor => count(2).and_then(|()| same(0)).and_then(|()| demand(bitty, "integer or bool")),
        Op::Shl | Op::Shr | Op::Gcd => count(2).and_then(|()| same(0)).and_then(|()| demand(d.is_integer(), "integer")),
        Op::MulHi => {
            count(2).and_then(|()| same(0)).and_then(|()| demand(matches!(d, DType::U32 | DType::U64), "uint32 or uint64"))
        }
        Op::Eq | Op::Ne | Op::Lt | Op::Le => {
            count(2)?;
            demand(d == DType::Bool, "bool")?;
            if dtypes[0] != dtypes[1] {
                return Err(format!("compares {} with {}", dtypes[0], dtypes[1]));
            }
            let ordered = matches!(instr.op, Op::Lt | Op::Le);
            if ordered && dtypes[0].is_complex() { Err("complex numbers have no order".into()) } else { Ok(()) }
        }
        Op::Select => {
            count(3)?;
            if dtypes[0] != DType::Bool {
                return Err("condition is not bool".into());
            }
            same(1)
        }
        Op::Fma => count(3).and_then(|()| same(0)).and_then(|()| demand(d.is_float(), "floating")),
        Op::Cast => count(1),
        Op::Imag => {
            count(1)?;
            demand(dtypes[0].is_complex() && dtypes[0].info().real == d, "the dtype of the operand's parts")
        }
        Op::Complex => {
            count(2)?;
            demand(d.is_complex() && dtypes.iter().all(|&part| part == d.info().real), "complex with such parts")
        }
        Op::Bitcast => {
            count(1)?;
            demand(dtypes[0].bytes() == d.bytes(), "of the operand's size")
        }
        Op::Call(f) => count(f.arity()).and_then(|()| same(0)).and_then(|()| demand(d.is_float(), "floating")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Builder, MathFn};
    use super::*;
    use smallvec::smallvec;

    #[test]
    fn a_good_program_passes_and_each_broken_one_is_named() {
        let mut b = Builder::new();
        let x = b.input(DType::F32);
        let p = b.param(DType::F32);
        let y = b.binary(Op::Mul, x, p);
        let e = b.call(MathFn::Exp, &[y]);
        let good = b.finish(&[e]);
        assert_eq!(verify(&good), Ok(()));
        let breaks: [fn(&mut Program); 6] = [
            |p| p.instrs[2].args = smallvec![0, 3],
            |p| p.instrs[2].args = smallvec![0],
            |p| p.instrs[3].dtype = DType::I32,
            |p| p.inputs[0] = DType::F64,
            |p| p.outputs[0] = 9,
            |p| p.instrs[3].op = Op::Shl,
        ];
        for (i, break_it) in breaks.iter().enumerate() {
            let mut bad = good.clone();
            break_it(&mut bad);
            assert!(verify(&bad).is_err(), "mutation {i} passed");
        }
    }
}
