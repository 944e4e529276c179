//! Bounds of maps: the effect of every function's and complex product's error on the result.

mod perturbed;

use super::{Bound, absolute, floating};
use crate::compare::{epsilon, largest, spacing};
use crate::executor::Known;
use ferrotensor_core::kernel::{Kernel, Map};
use ferrotensor_core::reference::{self, Array, Scalar};
use ferrotensor_core::scalar::{Instr, MathFn, Op, Program};
use ferrotensor_core::{DType, Result, math};
use perturbed::Perturbed;
use std::collections::{BTreeMap, BTreeSet};

/// Whether an instruction may differ between correct backends.
pub fn rounds_freely(program: &Program, instr: &Instr) -> bool {
    matches!(instr.op, Op::Call(_)) || (matches!(instr.op, Op::Mul | Op::Div) && program.dtype(instr.args[0]).is_complex())
}

/// Units in the last place that what rounds freely may be off.
fn call_ulps(instr: &Instr) -> f64 {
    match instr.op {
        // Everything narrower has an oracle that is correct to 0.5.
        _ if instr.dtype.info().real != DType::F64 => 1.0,
        // 2 for the function and 6 for the oracle's logarithm and cotangent, which are larger than their sum (the function
        // itself is held to 1 by golden/math_f64.csv of the core).
        Op::Call(MathFn::Digamma) => 8.0,
        // 1 for the function and the rest for the oracle, which is libm's for gamma, and for the others a product of libm's.
        Op::Call(MathFn::Gamma) => 8.0,
        Op::Call(MathFn::Erfcx | MathFn::Ndtri) => 5.0,
        // 2 for the function and 1 for the oracle.
        Op::Call(_) => 3.0,
        // Complex products and quotients have an oracle in double-double.
        _ => 1.0,
    }
}

/// The size below which the result of a call does not count its error in its own units.
fn floor(call: &Instr, argument: f64) -> f64 {
    match call.op {
        // The oracle has no more digits than the function here, and subtracts terms of that size.
        Op::Call(MathFn::Digamma | MathFn::Logaddexp | MathFn::Logaddexp2 | MathFn::Lgamma) if call.dtype == DType::F64 => {
            4.0
        }
        Op::Call(f) => math::resolution(f, argument),
        // Below the normal numbers the products of parts are rounded to multiples of the smallest number.
        _ => 2.0 * spacing(call.dtype, 0.0) / epsilon(call.dtype),
    }
}

/// Elements of a map of several functions that have a bound: each function takes two runs of the reference. Those behind are held
/// to the bits of the first tier only, as all are.
pub const LONG: usize = 4096;

fn long_errors(map: &Map, inputs: &[&Known], params: &[u64], outputs: &[Array]) -> Result<Vec<Option<Vec<f64>>>> {
    let first: Vec<usize> = (0..LONG).collect();
    let head = |array: &Array| Array::new(array.dtype(), &[LONG], array.bytes()[..LONG * array.dtype().bytes()].to_vec());
    let short = |k: &&Known| Ok(Known { array: head(&k.array)?, bound: k.bound.picked(&first) });
    let short: Vec<Known> = inputs.iter().map(short).collect::<Result<_>>()?;
    let heads: Vec<Array> = outputs.iter().map(head).collect::<Result<_>>()?;
    let mut errors = errors(map, &short.iter().collect::<Vec<_>>(), params, &heads)?;
    for (errors, output) in errors.iter_mut().zip(outputs) {
        errors.get_or_insert_default().resize(output.len(), f64::INFINITY);
    }
    Ok(errors)
}

pub fn errors(map: &Map, inputs: &[&Known], params: &[u64], outputs: &[Array]) -> Result<Vec<Option<Vec<f64>>>> {
    let program = &map.program;
    let free: Vec<usize> = (0..program.instrs.len()).filter(|&i| rounds_freely(program, &program.instrs[i])).collect();
    let inexact: Vec<usize> = (0..inputs.len()).filter(|&i| inputs[i].bound != Bound::Exact).collect();
    if free.is_empty() && inexact.is_empty() {
        return Ok(vec![None; outputs.len()]);
    }
    let by_place = program.instrs.iter().any(|i| matches!(i.op, Op::Index(_)));
    if free.len() > 2 && !by_place && outputs.iter().any(|o| o.len() > LONG) {
        return long_errors(map, inputs, params, outputs);
    }
    let read = |value: usize| program.instrs.iter().any(|i| i.args.contains(&(value as u32)));
    if let ([call], true) = (&free[..], inexact.is_empty())
        && !read(*call)
        && matches!(program.instrs[*call].op, Op::Call(_))
    {
        let instr = &program.instrs[*call];
        // The first argument, where it decides: for a result that is an operand of nothing it is computed for this.
        let argument = Program { outputs: vec![instr.args[0]], ..program.clone() };
        let arrays: Vec<Array> = inputs.iter().map(|k| k.array.clone()).collect();
        let dims: Vec<&[usize]> = outputs.iter().take(1).map(Array::dims).collect();
        let arguments = reference::run(&Kernel::Map(Map { program: argument }), &arrays, &dims, params)?;
        let of_output = |(array, &o): (&Array, &u32)| {
            let (ulps, dtype) = (call_ulps(instr), array.dtype());
            let bound = |(x, at): (Scalar, Scalar)| {
                let size = x.real().hi.abs();
                let floor = floor(instr, at.real().hi);
                ulps * spacing(dtype, if size < floor { floor } else { size })
            };
            (o as usize == *call).then(|| array.scalars().zip(arguments[0].scalars()).map(bound).collect())
        };
        return Ok(outputs.iter().zip(&program.outputs).map(of_output).collect());
    }
    let arrays: Vec<Array> = inputs.iter().map(|k| k.array.clone()).collect();
    let dims: Vec<&[usize]> = outputs.iter().map(Array::dims).collect();
    let mut errors: Vec<Vec<f64>> = outputs.iter().map(|o| vec![0.0; o.len()]).collect();
    // Elements of which nothing is promised.
    let mut lost: Vec<usize> = Vec::new();
    let mut add = |runs: &[Vec<Array>]| {
        for (n, center) in outputs.iter().enumerate() {
            for (i, error) in errors[n].iter_mut().enumerate() {
                let off = runs.iter().map(|run| difference(run[n].get(i), center.get(i)));
                // Half more: what first-order perturbation leaves out.
                *error += 1.5 * off.fold(0.0, f64::max);
            }
        }
    };
    let perturbed: Vec<Perturbed> = free.iter().map(|&at| Perturbed::new(program, at)).collect();
    let read: BTreeSet<u32> = perturbed.iter().flat_map(|p| p.read.iter().copied()).collect();
    let centres = Program { outputs: read.iter().copied().collect(), ..program.clone() };
    let centres = reference::run(&Kernel::Map(Map { program: centres }), &arrays, &vec![dims[0]; read.len()], params)?;
    let centres: BTreeMap<u32, Array> = read.into_iter().zip(centres).collect();
    for p in &perturbed {
        let operands: Vec<Array> = p.read.iter().map(|v| centres[v].clone()).collect();
        let run = |program: Program| {
            let dims = vec![dims[0]; program.outputs.len()];
            reference::run(&Kernel::Map(Map { program }), &operands, &dims, params)
        };
        let runs = p.programs().into_iter().map(run).collect::<Result<Vec<_>>>()?;
        add(&runs);
        lost.extend(p.lost(&runs, &centres));
    }
    for &at in &inexact {
        let (array, errors) = (&inputs[at].array, absolute(inputs[at]));
        let run = |operand: Array| {
            let mut moved = arrays.clone();
            moved[at] = operand;
            reference::run(&Kernel::Map(map.clone()), &moved, &dims, params)
        };
        add(&[run(shifted(array, &errors, 1.0)?)?, run(shifted(array, &errors, -1.0)?)?, run(cancelled(array, &errors)?)?]);
        let moved = [arrays[..at].to_vec(), vec![shifted(array, &errors, 1.0)?], arrays[at + 1..].to_vec()].concat();
        lost.extend(turned(program, [&arrays, &moved], dims[0], params)?);
        // A NaN of which nothing is promised may be any number, though nothing moves it; an integer any other.
        lost.extend((0..errors.len()).filter(|&i| errors[i].is_infinite()));
    }
    for &at in free.iter().filter(|&&at| program.instrs[at].dtype.is_complex()) {
        let terms = Program { outputs: program.instrs[at].args.to_vec(), ..program.clone() };
        let terms = reference::run(&Kernel::Map(Map { program: terms }), &arrays, &[dims[0], dims[0]], params)?;
        for (i, (x, y)) in terms[0].scalars().zip(terms[1].scalars()).enumerate() {
            if overflows(&program.instrs[at], x.magnitude().hi, y.magnitude().hi) {
                errors.iter_mut().for_each(|e| e[i] = f64::INFINITY);
            }
        }
    }
    for i in lost {
        errors.iter_mut().for_each(|e| e[i] = f64::INFINITY);
    }
    for (array, errors) in outputs.iter().zip(&mut errors).filter(|(a, _)| floating(a.dtype())) {
        // What is perturbed by less than a rounding may still be rounded the other way.
        errors.iter_mut().zip(array.scalars()).for_each(|(e, x)| *e += spacing(array.dtype(), x.magnitude().hi));
    }
    Ok(errors.into_iter().map(Some).collect())
}

/// Elements of which an angle is further off than a radian may be: the function of it may be anything, and the same again a turn away.
fn turned(program: &Program, [arrays, moved]: [&[Array]; 2], dims: &[usize], params: &[u64]) -> Result<Vec<usize>> {
    let periodic = |i: &&Instr| matches!(i.op, Op::Call(MathFn::Sin | MathFn::Cos | MathFn::Tan));
    let angles: Vec<u32> = program.instrs.iter().filter(periodic).map(|i| i.args[0]).collect();
    if angles.is_empty() {
        return Ok(Vec::new());
    }
    let angles = Map { program: Program { outputs: angles, ..program.clone() } };
    let dims = vec![dims; angles.program.outputs.len()];
    let run = |inputs: &[Array]| reference::run(&Kernel::Map(angles.clone()), inputs, &dims, params);
    let off = run(arrays)?.into_iter().zip(run(moved)?).flat_map(|(a, b)| {
        let far = |i: &usize| difference(a.get(*i), b.get(*i)) > 1.0;
        (0..a.len()).filter(far).collect::<Vec<_>>()
    });
    Ok(off.collect())
}

/// Whether a complex product or quotient of finite numbers of these sizes, or a term on the way to the product, may not be finite.
fn overflows(instr: &Instr, x: f64, y: f64) -> bool {
    let most = largest(instr.dtype);
    match instr.op {
        // Sums of two products.
        Op::Mul => x.is_finite() && y.is_finite() && x * y >= most / 4.0,
        _ => x.is_finite() && y.is_finite() && y != 0.0 && x / y >= most / 2.0,
    }
}

/// How far two values are apart, in the part that is further off; not at all where both are the same infinity or NaN, infinitely where only
/// one is.
fn difference(a: Scalar, b: Scalar) -> f64 {
    let part = |x: f64, y: f64| {
        let off = if x == y || (x.is_nan() && y.is_nan()) { 0.0 } else { (x - y).abs() };
        if off.is_nan() { f64::INFINITY } else { off }
    };
    match (a, b) {
        (Scalar::Complex(a, b), Scalar::Complex(c, d)) => part(a.hi, c.hi).max(part(b.hi, d.hi)),
        (a, b) => part(a.real().hi, b.real().hi),
    }
}

/// The array moved by its errors, by at least a spacing each.
fn shifted(array: &Array, errors: &[f64], sign: f64) -> Result<Array> {
    let dtype = array.dtype();
    let elements = array.scalars().zip(errors).flat_map(|(x, &e)| {
        let part = |v: ferrotensor_core::reference::Double| {
            let by = if e == 0.0 || !floating(dtype) { e } else { e.max(spacing(dtype, v.hi)) };
            v + (sign * by).into()
        };
        let moved = match x {
            Scalar::Complex(re, im) => Scalar::Complex(part(re), part(im)),
            Scalar::Float(v) => Scalar::Float(part(v)),
            Scalar::Bool(b) => Scalar::Bool(b ^ (e > 0.0)),
            Scalar::Int(v) => Scalar::Int(v + (sign * e) as i128),
        };
        moved.encode(dtype).into_iter().take(dtype.bytes())
    });
    Array::new(dtype, array.dims(), elements.collect())
}

/// The array with zero for what may be zero within its error: truth values and signs jump there, and nowhere near it.
fn cancelled(array: &Array, errors: &[f64]) -> Result<Array> {
    let (dtype, size) = (array.dtype(), array.dtype().bytes());
    let elements =
        array.scalars().zip(errors).zip(array.bytes().chunks_exact(size)).flat_map(|((x, &e), bytes)| {
            if floating(dtype) && x.magnitude().hi <= e { vec![0; size] } else { bytes.to_vec() }
        });
    Array::new(dtype, array.dims(), elements.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::after;
    use ferrotensor_core::scalar::Builder;

    fn bound_of(program: Program, x: f32) -> f64 {
        let input = Known::exact(Array::from_slice(&[1], &[x]).unwrap());
        let kernel = Kernel::Map(Map { program });
        let out = reference::run(&kernel, std::slice::from_ref(&input.array), &[&[1]], &[]).unwrap();
        match &after(&kernel, &[&input], &[], out).unwrap()[0].bound {
            Bound::Exact => 0.0,
            Bound::Absolute(e) => e[0],
        }
    }

    #[test]
    fn a_function_has_one_ulp_and_what_follows_it_carries_the_error() {
        let mut b = Builder::new();
        let x = b.input(DType::F32);
        let e = b.call(MathFn::Exp, &[x]);
        assert_eq!(bound_of(b.finish(&[e]), 0.0), epsilon(DType::F32));

        let mut b = Builder::new();
        let x = b.input(DType::F32);
        let e = b.call(MathFn::Exp, &[x]);
        let thousand = b.lit(DType::F32, 1024.0);
        let y = b.binary(Op::Mul, e, thousand);
        let bound = bound_of(b.finish(&[y]), 0.0);
        assert!((1024.0..4096.0).contains(&(bound / epsilon(DType::F32))), "{bound:e}");

        let mut b = Builder::new();
        let x = b.input(DType::F32);
        let y = b.binary(Op::Mul, x, x);
        assert_eq!(bound_of(b.finish(&[y]), 3.0), 0.0);
    }

    #[test]
    fn a_function_below_the_normal_numbers_has_a_unit_there() {
        let mut b = Builder::new();
        let x = b.input(DType::F32);
        let e = b.call(MathFn::Exp, &[x]);
        let y = b.binary(Op::Mul, e, x);
        let bound = bound_of(b.finish(&[y]), -88.0);
        assert!(bound >= 88.0 * spacing(DType::F32, 0.0), "{bound:e}");
    }

    #[test]
    fn both_errors_of_a_negative_quotient_count() {
        // Twice the smallest normal number in size, where they are equal and would undo each other.
        for x in [-2f32.powi(125), 2f32.powi(125)] {
            let mut b = Builder::new();
            let (x_in, one) = (b.input(DType::F32), b.lit(DType::C64, 1.0));
            let z = b.cast(x_in, DType::C64);
            let y = b.binary(Op::Div, one, z);
            let bound = bound_of(b.finish(&[y]), x);
            assert!(bound >= 4.0 * spacing(DType::F32, 0.0), "{x}: {bound:e}");
        }
    }

    #[test]
    fn a_nan_of_which_nothing_is_promised_may_be_any_number() {
        let mut b = Builder::new();
        let x = b.input(DType::F32);
        let y = b.cast(x, DType::U8);
        let kernel = Kernel::Map(Map { program: b.finish(&[y]) });
        let array = Array::from_slice(&[1], &[f32::NAN]).unwrap();
        let out = reference::run(&kernel, std::slice::from_ref(&array), &[&[1]], &[]).unwrap();
        let lost = Known { array, bound: Bound::Absolute(vec![f64::INFINITY]) };
        assert_eq!(after(&kernel, &[&lost], &[], out).unwrap()[0].bound, Bound::Absolute(vec![f64::INFINITY]));
    }
}
