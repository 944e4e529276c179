//! What follows from an instruction whose result is off by its allowed error.

use super::{call_ulps, difference, floor};
use crate::compare::epsilon;
use ferrotensor_core::DType;
use ferrotensor_core::reference::{Array, Scalar};
use ferrotensor_core::scalar::{Args, Instr, MathFn, Op, Program, Value};
use std::collections::BTreeMap;

/// An angle that is off by more, in radians, points anywhere.
const LOST_ANGLE: f64 = 0.125;

/// The part of a program that depends on one of its instructions: all else is read from a run of the whole.
pub struct Perturbed<'a> {
    whole: &'a Program,
    at: usize,
    /// Values of the whole that the part reads, in the order of its inputs; the first is the instruction's own.
    pub read: Vec<Value>,
    /// Angles among the values that depend on the instruction.
    angles: Vec<Value>,
}

impl<'a> Perturbed<'a> {
    pub fn new(whole: &'a Program, at: usize) -> Perturbed<'a> {
        let mut part = Perturbed { whole, at, read: vec![at as Value], angles: Vec::new() };
        let depends = part.depends();
        let by_itself = |v: Value| matches!(whole.instrs[v as usize].op, Op::Const(_) | Op::Param(_));
        for instr in whole.instrs.iter().zip(&depends).filter(|(_, d)| **d).map(|(i, _)| i).skip(1) {
            if let (Op::Call(MathFn::Sin | MathFn::Cos | MathFn::Tan), [angle]) = (instr.op, &instr.args[..])
                && depends[*angle as usize]
            {
                part.angles.push(*angle);
            }
            part.read.extend(instr.args.iter().filter(|&&v| !depends[v as usize] && !by_itself(v)));
        }
        part.read.extend(whole.outputs.iter().filter(|&&v| !depends[v as usize] && !by_itself(v)));
        part.read.extend(&part.angles);
        // Each once, the first first.
        let mut seen = std::collections::BTreeSet::new();
        part.read.retain(|&v| seen.insert(v));
        part
    }

    /// Which instructions depend on it, itself among them.
    fn depends(&self) -> Vec<bool> {
        let mut depends = vec![false; self.whole.instrs.len()];
        depends[self.at] = true;
        for (i, instr) in self.whole.instrs.iter().enumerate().skip(self.at + 1) {
            depends[i] = instr.args.iter().any(|&a| depends[a as usize]);
        }
        depends
    }

    /// The parts with the instruction's result multiplied by one plus or minus its allowed error, and moved up or down by the error of
    /// terms that may cancel in it: in all four ways, since of a negative result one undoes the other. A function whose terms do not
    /// cancel is moved up by the units below the normal numbers, but for its zeros. Their outputs are those of the whole, and the angles.
    pub fn programs(&self) -> Vec<Program> {
        let center = &self.whole.instrs[self.at];
        let (error, floor) = (call_ulps(center) * epsilon(center.dtype), floor(center, -1.0));
        let ways: &[(f64, f64)] =
            if floor == 0.0 { &[(1.0, 1.0), (-1.0, 1.0)] } else { &[(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] };
        let normal = center.dtype.float_format().map_or(0.0, |f| f.smallest_normal());
        ways.iter().map(|(more, up)| self.moved(1.0 + more * error, up * error * floor.max(normal), floor == 0.0)).collect()
    }

    fn moved(&self, times: f64, plus: f64, zeros_stay: bool) -> Program {
        let (whole, depends) = (self.whole, self.depends());
        let mut out = Program { params: whole.params.clone(), ..Program::default() };
        let mut new: BTreeMap<Value, Value> = BTreeMap::new();
        let push = |out: &mut Program, op: Op, dtype, args: Args| -> Value {
            out.instrs.push(Instr { op, dtype, args });
            out.instrs.len() as Value - 1
        };
        for (n, &v) in self.read.iter().enumerate() {
            out.inputs.push(whole.dtype(v));
            new.insert(v, push(&mut out, Op::Input(n as u16), whole.dtype(v), Args::new()));
        }
        let dtype = whole.instrs[self.at].dtype;
        let own = new[&(self.at as Value)];
        let mut moved = own;
        for (op, by) in [(Op::Mul, times), (Op::Add, plus)] {
            if by != 0.0 {
                let encoded = Scalar::float(by).encode(dtype);
                let bits = encoded[..8].iter().rev().fold(0u64, |word, &b| word << 8 | b as u64);
                let by = push(&mut out, Op::Const(bits), dtype, Args::new());
                moved = push(&mut out, op, dtype, [moved, by].into_iter().collect());
            }
        }
        if zeros_stay {
            let zero = push(&mut out, Op::Const(0), dtype, Args::new());
            let is_zero = push(&mut out, Op::Eq, DType::Bool, [own, zero].into_iter().collect());
            moved = push(&mut out, Op::Select, dtype, [is_zero, own, moved].into_iter().collect());
        }
        new.insert(self.at as Value, moved);
        for (i, instr) in whole.instrs.iter().enumerate() {
            let leaf = matches!(instr.op, Op::Const(_) | Op::Param(_));
            if leaf || (depends[i] && i != self.at) {
                let args = instr.args.iter().map(|a| new[a]).collect();
                let value = push(&mut out, instr.op, instr.dtype, args);
                new.insert(i as Value, value);
            }
        }
        out.outputs = whole.outputs.iter().chain(&self.angles).map(|v| new[v]).collect();
        out
    }

    /// The elements whose angles are lost in these runs; `centres` holds what is read.
    pub fn lost(&self, runs: &[Vec<Array>], centres: &BTreeMap<Value, Array>) -> Vec<usize> {
        let outputs = self.whole.outputs.len();
        let of_angle = |(n, angle): (usize, &Value)| {
            let center = &centres[angle];
            let off = move |i: usize| runs.iter().any(|run| difference(run[outputs + n].get(i), center.get(i)) > LOST_ANGLE);
            (0..center.len()).filter(move |&i| off(i)).collect::<Vec<_>>()
        };
        self.angles.iter().enumerate().flat_map(of_angle).collect()
    }
}
