//! How far a correct backend may be from the reference, derived from kernel kind and dtype; there is no table of tolerances.
//!
//! | kernel | bound |
//! |---|---|
//! | Map of arithmetic, moves, integers, Scan, Scatter, Sort, max, min | none: equal bits |
//! | Map that ends in one function | 1 ulp (float64: 2, and 1 for the oracle, which is float64 too) of the result, or of the |
//! |  | terms it is a difference of (`math::resolution`; for the oracle's float64 also around zeros of positive arguments) |
//! | Map with functions inside | the effect of that error on the result, found by perturbing each call, and 1 ulp |
//! | sum | (log2 n + 16) eps sum abs x: the fixed tree (architecture, "What numbers promise") |
//! | product | n eps abs p: one rounding for each factor (Higham, Accuracy and Stability, 2002, lemma 3.1) |
//! | Contract | (K + 1) (u (abs A)(abs B) + the smallest number) in the compute dtype, and the last roundings |
//! | Window | as sum, or as Contract with K = channels x places |
//! | Fft | 8 (log2 n + 2) eps norm2 y (Higham, theorem 24.2, with room for Bluestein's three transforms) |
//! | Solve | 8 n eps norm(inv A) norm(A) norm(x) (Higham, theorem 9.4, growth factor of random matrices) |
//! | Qr | 16 m eps cond(R) norm(A) (Higham, theorem 19.4 and Stewart 1977) |
//! | Solve and Qr of complex numbers | 4 times that (Higham, lemma 3.5) |
//!
//! Inexact operands add their own bounds, carried through each kernel. An infinite bound says that the result is not
//! defined: a sum whose terms exceed the dtype may overflow on the way, whatever the order, and so may the terms of a
//! complex product or quotient, which with infinite or NaN parts have as many results as there are formulas (C99, annex G).

mod perturbed;
mod routine;

use crate::compare::{epsilon, largest, spacing};
use crate::executor::Known;
use ferrotensor_core::kernel::{
    Combine, Contract, Gather, Kernel, Map, Monoid, Reduce, Scan, Scatter, Sort, SortOutputs, Window, WindowCombine,
};
use ferrotensor_core::reference::{self, Array, Scalar};
use ferrotensor_core::scalar::{Instr, MathFn, Op, Program};
use ferrotensor_core::{DType, Error, Result, math};
use perturbed::Perturbed;
use std::collections::{BTreeMap, BTreeSet};

/// Largest allowed difference from the reference.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// Equal bits, NaN apart.
    Exact,
    /// Of each element, in row-major order; infinite where nothing is promised.
    Absolute(Vec<f64>),
}

impl Bound {
    /// The bounds of some elements.
    pub fn picked(&self, positions: &[usize]) -> Bound {
        match self {
            Bound::Exact => Bound::Exact,
            Bound::Absolute(errors) => Bound::Absolute(positions.iter().map(|&p| errors[p]).collect()),
        }
    }

    /// One number for each element.
    pub fn absolute(&self, array: &Array) -> Vec<f64> {
        match self {
            Bound::Exact => vec![0.0; array.len()],
            Bound::Absolute(errors) => errors.clone(),
        }
    }
}

/// The outputs of a kernel with their bounds.
///
/// # Errors
/// As [`reference::run`], for kernels over inexact operands that have no defined result.
pub fn after(kernel: &Kernel, inputs: &[&Known], params: &[u64], outputs: Vec<Array>) -> Result<Vec<Known>> {
    let exact_inputs = inputs.iter().all(|k| k.bound == Bound::Exact);
    let errors: Vec<Option<Vec<f64>>> = match kernel {
        Kernel::Map(map) => map_errors(map, inputs, params, &outputs)?,
        Kernel::Reduce(k) => vec![reduce_errors(k, inputs[0], &outputs[0])?],
        Kernel::Contract(k) => vec![contract_errors(k, inputs, &outputs[0])?],
        Kernel::Window(k) => vec![window_errors(k, inputs, &outputs[0])?],
        Kernel::Routine(routine) => routine::errors(*routine, inputs, &outputs)?,
        _ if exact_inputs => vec![None; outputs.len()],
        Kernel::Scan(k) => vec![Some(scan_errors(k, inputs[0], &outputs[0])?)],
        Kernel::Gather(k) => {
            let moved = Gather { dtype: DType::F64, index: k.index.clone() };
            vec![Some(moves(Kernel::Gather(moved), inputs, &[0], outputs[0].dims())?)]
        }
        Kernel::Scatter(k) => {
            let moved = Scatter { dtype: DType::F64, ..k.clone() };
            let sizes =
                moves_of(Kernel::Scatter(moved.clone()), inputs, &[0, inputs.len() - 1], outputs[0].dims(), finite_sizes)?;
            let mut errors = moves(Kernel::Scatter(moved), inputs, &[0, inputs.len() - 1], outputs[0].dims())?;
            let unit = inputs[inputs.len() - 1].array.len() as f64 * epsilon(k.dtype);
            errors.iter_mut().zip(sizes).for_each(|(e, size)| *e += unit * size);
            vec![Some(errors)]
        }
        Kernel::Sort(k) => sort_errors(k, inputs[0], &outputs),
    };
    let known = outputs
        .into_iter()
        .zip(errors)
        .map(|(array, errors)| Known { array, bound: errors.map_or(Bound::Exact, Bound::Absolute) });
    Ok(known.collect())
}

fn floating(dtype: DType) -> bool {
    dtype.is_float() || dtype.is_complex()
}

fn magnitudes(known: &Known) -> Vec<f64> {
    known.array.scalars().map(|x| x.magnitude().hi).collect()
}

/// Of what is finite of each element: a complex number with an infinite part adds the other to a sum.
fn finite_sizes(known: &Known) -> Vec<f64> {
    let finite = |v: f64| if v.is_finite() { v } else { 0.0 };
    let size = |x: Scalar| match x {
        Scalar::Complex(re, im) => finite(re.hi).hypot(finite(im.hi)),
        x => finite(x.magnitude().hi),
    };
    known.array.scalars().map(size).collect()
}

fn absolute(known: &Known) -> Vec<f64> {
    known.bound.absolute(&known.array)
}

/// Runs a moving kernel over numbers about its operands instead of the operands.
fn moves_of(
    kernel: Kernel,
    inputs: &[&Known],
    which: &[usize],
    dims: &[usize],
    of: fn(&Known) -> Vec<f64>,
) -> Result<Vec<f64>> {
    let arrays = inputs
        .iter()
        .enumerate()
        .map(|(i, k)| if which.contains(&i) { Array::from_slice(k.array.dims(), &of(k)) } else { Ok(k.array.clone()) });
    reference::run(&kernel, &arrays.collect::<Result<Vec<_>>>()?, &[dims], &[])?[0].to_vec()
}

fn moves(kernel: Kernel, inputs: &[&Known], which: &[usize], dims: &[usize]) -> Result<Vec<f64>> {
    moves_of(kernel, inputs, which, dims, absolute)
}

// --- Map

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
        Op::Call(MathFn::Digamma | MathFn::Logaddexp | MathFn::Lgamma) if call.dtype == DType::F64 => 4.0,
        Op::Call(f) => math::resolution(f, argument),
        // Below the normal numbers the products of parts are rounded to multiples of the smallest number.
        _ => 2.0 * spacing(call.dtype, 0.0) / epsilon(call.dtype),
    }
}

/// Elements of a map of several functions that have a bound: each function takes two runs of the reference. Those behind are held
/// to the bits of the first tier only, as all are.
pub const LONG: usize = 4096;

fn long_map_errors(map: &Map, inputs: &[&Known], params: &[u64], outputs: &[Array]) -> Result<Vec<Option<Vec<f64>>>> {
    let first: Vec<usize> = (0..LONG).collect();
    let head = |array: &Array| Array::new(array.dtype(), &[LONG], array.bytes()[..LONG * array.dtype().bytes()].to_vec());
    let short = |k: &&Known| Ok(Known { array: head(&k.array)?, bound: k.bound.picked(&first) });
    let short: Vec<Known> = inputs.iter().map(short).collect::<Result<_>>()?;
    let heads: Vec<Array> = outputs.iter().map(head).collect::<Result<_>>()?;
    let mut errors = map_errors(map, &short.iter().collect::<Vec<_>>(), params, &heads)?;
    for (errors, output) in errors.iter_mut().zip(outputs) {
        errors.get_or_insert_default().resize(output.len(), f64::INFINITY);
    }
    Ok(errors)
}

fn map_errors(map: &Map, inputs: &[&Known], params: &[u64], outputs: &[Array]) -> Result<Vec<Option<Vec<f64>>>> {
    let program = &map.program;
    let free: Vec<usize> = (0..program.instrs.len()).filter(|&i| rounds_freely(program, &program.instrs[i])).collect();
    let inexact: Vec<usize> = (0..inputs.len()).filter(|&i| inputs[i].bound != Bound::Exact).collect();
    if free.is_empty() && inexact.is_empty() {
        return Ok(vec![None; outputs.len()]);
    }
    let by_place = program.instrs.iter().any(|i| matches!(i.op, Op::Index(_)));
    if free.len() > 2 && !by_place && outputs.iter().any(|o| o.len() > LONG) {
        return long_map_errors(map, inputs, params, outputs);
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
        let run = |sign: f64| -> Result<Vec<Array>> {
            let map = Map { program: p.program(sign) };
            reference::run(&Kernel::Map(map.clone()), &operands, &vec![dims[0]; map.program.outputs.len()], params)
        };
        let runs = [run(1.0)?, run(-1.0)?];
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

/// Whether terms on the way to a complex product or quotient of numbers of these sizes may not be finite.
fn overflows(instr: &Instr, x: f64, y: f64) -> bool {
    let result = if instr.op == Op::Mul { x * y } else { x / y };
    // Sums of two products, of operands scaled by less than 2.
    let most = largest(instr.dtype) / 4.0;
    !(x < most && y < most && result < most)
}

/// How far two values are apart; not at all where both are the same infinity or NaN, infinitely where only one is.
fn difference(a: Scalar, b: Scalar) -> f64 {
    let real = |x: f64, y: f64| if x == y || (x.is_nan() && y.is_nan()) { 0.0 } else { (x - y).abs() };
    let off = match (a, b) {
        (Scalar::Complex(a, b), Scalar::Complex(c, d)) => real(a.hi, c.hi).max(real(b.hi, d.hi)),
        (a, b) => real(a.real().hi, b.real().hi),
    };
    if off.is_nan() { f64::INFINITY } else { off }
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

// --- Reduce and Scan

/// Where finite terms of this total size may overflow on the way, nothing is promised.
fn or_undefined(error: f64, finite_size: f64, dtype: DType) -> f64 {
    if finite_size > largest(dtype) { f64::INFINITY } else { error }
}

fn reduce_errors(k: &Reduce, input: &Known, output: &Array) -> Result<Option<Vec<f64>>> {
    let dims = input.array.dims();
    let extent: usize = dims[output.dims().len()..].iter().product();
    let exact_input = input.bound == Bound::Exact;
    let monoid = match k.combine {
        Combine::Value(monoid) => monoid,
        _ if exact_input => return Ok(None),
        _ => return Err(Error::internal("the position of an inexact extreme is not defined")),
    };
    let rounds = matches!(monoid, Monoid::Sum | Monoid::Prod) && floating(k.acc) && extent > 1;
    if exact_input && !rounds {
        return Ok(None);
    }
    if k.pre.is_some() || k.post.is_some() {
        return Err(Error::internal("a lowered graph holds fused reductions"));
    }
    let sizes = if monoid == Monoid::Sum { finite_sizes(input) } else { magnitudes(input) };
    let errors = absolute(input);
    let eps = if floating(k.acc) { epsilon(k.acc) } else { 0.0 };
    let of_group = |o: usize| {
        let group = o * extent..(o + 1) * extent;
        let (sizes, errors, n) = (&sizes[group.clone()], &errors[group], extent as f64);
        match monoid {
            Monoid::Sum => {
                let total = sizes.iter().sum();
                or_undefined((n.log2() + 16.0) * eps * total + errors.iter().sum::<f64>(), total, k.acc)
            }
            Monoid::Prod => {
                let result = output.get(o).magnitude().hi;
                let logs = || sizes.iter().filter(|s| s.is_finite() && **s > 0.0).map(|s| s.log2());
                // No partial product is larger than all factors above 1, or smaller than all below.
                let swing = logs().map(|l| l.max(0.0)).sum::<f64>().max(logs().map(|l| -l.min(0.0)).sum());
                let wild = k.acc.is_complex() && sizes.iter().any(|s| !s.is_finite());
                if wild || swing > largest(k.acc).log2() - 2.0 {
                    return f64::INFINITY;
                }
                let carried: f64 = sizes.iter().zip(errors).map(|(s, e)| if *e == 0.0 { 0.0 } else { e / s }).sum();
                (n * eps + carried) * result
            }
            Monoid::Max | Monoid::Min => errors.iter().fold(0.0, |a, &b| f64::max(a, b)),
            Monoid::All | Monoid::Any => {
                if errors.iter().any(|&e| e > 0.0) {
                    f64::INFINITY
                } else {
                    0.0
                }
            }
        }
    };
    Ok(Some((0..output.len()).map(of_group).collect()))
}

fn scan_errors(k: &Scan, input: &Known, output: &Array) -> Result<Vec<f64>> {
    let carry = |values: Vec<f64>, combine: Monoid| -> Result<Vec<f64>> {
        let array = Array::from_slice(output.dims(), &values)?;
        reference::run(&Kernel::Scan(Scan { combine, dtype: DType::F64 }), &[array], &[output.dims()], &[])?[0].to_vec()
    };
    match k.combine {
        Monoid::Sum => {
            let n = output.dims().last().copied().unwrap_or(1) as f64;
            let (sizes, errors) = (carry(finite_sizes(input), Monoid::Sum)?, carry(absolute(input), Monoid::Sum)?);
            Ok(sizes.iter().zip(errors).map(|(s, e)| or_undefined(e + n * epsilon(k.dtype) * s, *s, k.dtype)).collect())
        }
        Monoid::Max | Monoid::Min => carry(absolute(input), Monoid::Max),
        _ => Err(Error::internal("no row scans inexact products")),
    }
}

fn sort_errors(k: &Sort, input: &Known, outputs: &[Array]) -> Vec<Option<Vec<f64>>> {
    let n = input.array.dims().last().copied().unwrap_or(1).max(1);
    let worst: Vec<f64> = absolute(input).chunks(n).map(|row| row.iter().fold(0.0, |a, &b| f64::max(a, b))).collect();
    let kinds = match k.outputs {
        SortOutputs::Values => vec![true],
        SortOutputs::Indices => vec![false],
        SortOutputs::Both => vec![true, false],
    };
    let of_output = |(output, values): (&Array, bool)| {
        let kept = output.dims().last().copied().unwrap_or(1).max(1);
        let errors = (0..output.len()).map(|i| match worst.get(i / kept) {
            Some(&e) if values || e == 0.0 => e,
            _ => f64::INFINITY,
        });
        Some(errors.collect())
    };
    outputs.iter().zip(kinds).map(of_output).collect()
}

// --- Contract and Routine

fn contract_errors(k: &Contract, inputs: &[&Known], output: &Array) -> Result<Option<Vec<f64>>> {
    let inner = inputs[0].array.dims().last().copied().unwrap_or(0);
    product_errors(Kernel::Contract(Contract { dtype: DType::F64 }), inner, k.dtype, inputs, output)
}

/// Of a kernel that adds `inner` products for each element; `wide` is the same kernel in float64.
fn product_errors(wide: Kernel, inner: usize, dtype: DType, inputs: &[&Known], output: &Array) -> Result<Option<Vec<f64>>> {
    let exact_inputs = inputs.iter().all(|i| i.bound == Bound::Exact);
    if !floating(dtype) {
        return if exact_inputs { Ok(None) } else { Err(Error::internal("no row contracts inexact integers")) };
    }
    let (a, b) = (inputs[0], inputs[1]);
    let product = |x: Vec<f64>, y: Vec<f64>| -> Result<Vec<f64>> {
        let (x, y) = (Array::from_slice(a.array.dims(), &x)?, Array::from_slice(b.array.dims(), &y)?);
        reference::run(&wide, &[x, y], &[output.dims()], &[])?[0].to_vec()
    };
    let unit = epsilon(dtype.compute()) / 2.0;
    let sizes = product(finite_sizes(a), finite_sizes(b))?;
    // Below the normal numbers a product's error is no part of its size (Higham, (2.8)).
    let underflow = if dtype.is_complex() { 2.0 } else { 1.0 } * spacing(dtype.compute(), 0.0);
    let mut errors: Vec<f64> = sizes.iter().map(|s| (inner as f64 + 1.0) * (unit * s + underflow)).collect();
    if dtype.is_complex() {
        let is_wild = |k: &Known| magnitudes(k).into_iter().map(|v| f64::from(!v.is_finite())).collect::<Vec<_>>();
        let all = |k: &Known| vec![1.0; k.array.len()];
        let wild = product(is_wild(a), all(b))?.into_iter().zip(product(all(a), is_wild(b))?);
        errors.iter_mut().zip(wild).filter(|(_, (x, y))| x + y > 0.0).for_each(|(e, _)| *e = f64::INFINITY);
    }
    if !exact_inputs {
        let from_a = product(absolute(a), finite_sizes(b))?;
        let with = |k: &Known| finite_sizes(k).iter().zip(absolute(k)).map(|(s, e)| s + e).collect::<Vec<_>>();
        let from_b = product(with(a), absolute(b))?;
        errors.iter_mut().zip(from_a.iter().zip(&from_b)).for_each(|(e, (x, y))| *e += x + y);
    }
    for (o, (e, size)) in errors.iter_mut().zip(sizes).enumerate() {
        // The reference was rounded; where float32 is narrowed, the result was rounded twice.
        let roundings = if dtype.compute() == dtype { 0.5 } else { 1.0 };
        *e += roundings * spacing(dtype, output.get(o).magnitude().hi);
        *e = or_undefined(*e, size, dtype);
    }
    Ok(Some(errors))
}

fn window_errors(k: &Window, inputs: &[&Known], output: &Array) -> Result<Option<Vec<f64>>> {
    let volume: usize = k.axes.iter().map(|a| a.size).product();
    let wide = |combine| Kernel::Window(Window { combine, dtype: DType::F64, axes: k.axes.clone() });
    let monoid = match k.combine {
        WindowCombine::Dot => {
            let channels = inputs[0].array.dims().get(2).copied().unwrap_or(0);
            return product_errors(wide(WindowCombine::Dot), channels * volume, k.dtype, inputs, output);
        }
        WindowCombine::Reduce(monoid) => monoid,
    };
    // Of the numbers that stand in the places of the elements.
    let over = |numbers: Vec<f64>, monoid| -> Result<Vec<f64>> {
        let numbers = Array::from_slice(inputs[0].array.dims(), &numbers)?;
        reference::run(&wide(WindowCombine::Reduce(monoid)), &[numbers], &[output.dims()], &[])?[0].to_vec()
    };
    let exact = inputs[0].bound == Bound::Exact;
    match monoid {
        Monoid::Sum if floating(k.dtype) && (volume > 1 || !exact) => {
            let (sizes, errors) = (over(finite_sizes(inputs[0]), Monoid::Sum)?, over(absolute(inputs[0]), Monoid::Sum)?);
            let unit = ((volume as f64).log2() + 16.0) * epsilon(k.dtype);
            Ok(Some(sizes.iter().zip(errors).map(|(s, e)| or_undefined(unit * s + e, *s, k.dtype)).collect()))
        }
        Monoid::Max | Monoid::Min if !exact => {
            // Windows without data are the identity, exactly.
            Ok(Some(over(absolute(inputs[0]), Monoid::Max)?.into_iter().map(|e| e.max(0.0)).collect()))
        }
        Monoid::Prod | Monoid::All | Monoid::Any if !exact || floating(k.dtype) => {
            Err(Error::internal("no row multiplies windows or asks inexact ones"))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
}
