//! Whether a changed scalar program still is the same function, as far as a backend may tell: on all operands there are, or on a
//! sample of every class of them.

use crate::bounds::{self, Bound};
use crate::compare;
use crate::executor::Known;
use crate::values::{self, Fill, Rng};
use crate::view;
use ferrotensor_core::kernel::{Kernel, Map};
use ferrotensor_core::reference::{self, Array, Scalar};
use ferrotensor_core::scalar::{Instr, Op, Program};
use ferrotensor_core::{DType, Result};
use ferrotensor_ops::def::Domain;

/// Tuples of operands on which two programs must agree to count as one: all there are of 16 bits.
const TUPLES: usize = 1 << 16;
/// Or a sample, a smaller one for programs of more than so many instructions (powers), which take seconds.
const SAMPLE: usize = 1 << 14;
const LONG_SAMPLE: usize = 1 << 12;
const MANY_INSTRS: usize = 100;
/// Bounds are what a backend may be off; less than some of them are no business of cases with as many elements as they have, nor of
/// NumPy's answers, which allow for NumPy's errors.
const SLACK: f64 = 4.0;

/// Programs of calls of one row and dtype that are the same function in spite of a mutant, after which it is so in the others:
/// operands that are left out or numbers make a hundred, a second each.
const ENOUGH: usize = 12;

/// What is known of pairs of programs.
#[derive(Default)]
pub struct Same {
    known: Vec<(Program, Program, Option<String>)>,
}

impl Same {
    /// Why a mutant with no witness is none.
    pub const REASON: &str =
        "hardly further off than a backend may be, by all operands of 16 bits or a sample of every class";

    /// Whether so many pairs had no witness that the next one is taken to have none.
    pub fn is_clear(&self) -> bool {
        self.known.len() >= ENOUGH && self.known.iter().all(|(.., known)| known.is_none())
    }

    /// Operands at which the second program is not the function of the first, or nothing.
    ///
    /// # Errors
    /// A sentence when a program does not run.
    pub fn witness(&mut self, before: &Program, after: &Program) -> Result<Option<String>, String> {
        if let Some((.., known)) = self.known.iter().find(|(a, b, _)| (a, b) == (before, after)) {
            return Ok(known.clone());
        }
        let found = witness(before, after).map_err(|e| e.message)?;
        self.known.push((before.clone(), after.clone(), found.clone()));
        Ok(found)
    }
}

/// Whether a sample says little of a program: the sample is a small one, or one element of it is at the place that matters.
pub fn is_hard(program: &Program) -> bool {
    is_long(program) || program.instrs.iter().any(|i| matches!(i.op, Op::Index(_)))
}

/// Whether a program takes seconds on a whole sample.
fn is_long(program: &Program) -> bool {
    program.instrs.len() > MANY_INSTRS
}

/// Operands at which one program's results are not within the bounds of the other's: most have none, and must have the same bits.
fn witness(before: &Program, after: &Program) -> Result<Option<String>> {
    let (before, after) = (without_params(before), without_params(after));
    let axes = before.instrs.iter().filter_map(|i| if let Op::Index(a) = i.op { Some(a as usize + 1) } else { None }).max();
    let shape = |count: usize| {
        let mut dims = vec![2; axes.unwrap_or(1) - 1];
        dims.push(count >> dims.len());
        dims
    };
    // Most that differ do so at once.
    let first = SAMPLE >> 6;
    let constants = constants([&before, &after]);
    let found = apart(&before, &after, &sample(&before.inputs, &constants, &shape(first))?, &shape(first))?;
    if found.is_some() {
        return Ok(found);
    }
    let bits: usize = before.inputs.iter().map(|d| if *d == DType::Bool { 1 } else { 8 * d.bytes() }).sum();
    if bits <= 16 && axes.is_none() {
        return apart(&before, &after, &every(&before.inputs, &[TUPLES])?, &[TUPLES]);
    }
    let dims = shape(if is_long(&before) { LONG_SAMPLE } else { SAMPLE });
    apart(&before, &after, &sample(&before.inputs, &constants, &dims)?, &dims)
}

/// The same among these operands. Bounds take a run of the program for each of its functions: only elements whose
/// bits differ are asked for theirs.
fn apart(before: &Program, after: &Program, inputs: &[Array], dims: &[usize]) -> Result<Option<String>> {
    let kernel = |program: &Program| Kernel::Map(Map { program: program.clone() });
    let run = |program: &Program| reference::run(&kernel(program), inputs, &vec![dims; before.outputs.len()], &[]);
    let (a, b) = (run(before)?, run(after)?);
    let other = |i: &usize| {
        let element = |x: &Array| x.bytes()[i * x.dtype().bytes()..][..x.dtype().bytes()].to_vec();
        a.iter().zip(&b).any(|(a, b)| compare::same_bits(a.dtype(), &element(b), &element(a)).is_err())
    };
    let others: Vec<usize> = (0..dims.iter().product()).filter(other).collect();
    let at = |i: usize| {
        let operand = |x: &Array| compare::show(x.dtype(), &x.bytes()[i * x.dtype().bytes()..][..x.dtype().bytes()]);
        Some(inputs.iter().map(operand).collect::<Vec<_>>().join(", "))
    };
    let indexed = before.instrs.iter().any(|i| matches!(i.op, Op::Index(_)));
    if others.is_empty() || indexed || !before.instrs.iter().any(|i| bounds::rounds_freely(before, i)) {
        return Ok(others.first().and_then(|&i| at(i)));
    }
    for others in others.chunks(bounds::LONG) {
        let picked = |all: &[Array]| all.iter().map(|x| view::pick(x, others, &[others.len()])).collect::<Result<Vec<_>>>();
        let known: Vec<Known> = picked(inputs)?.into_iter().map(Known::exact).collect();
        let known = bounds::after(&kernel(before), &known.iter().collect::<Vec<_>>(), &[], picked(&a)?)?;
        for (known, found) in known.iter().zip(picked(&b)?) {
            let allowed = known.bound.absolute(&known.array);
            for (i, &other) in others.iter().enumerate() {
                let bound = Bound::Absolute(vec![SLACK * allowed[i]]);
                let (known, found) = (view::pick(&known.array, &[i], &[1])?, view::pick(&found, &[i], &[1])?);
                if compare::within(found.bytes(), &Known { array: known, bound }).is_err() {
                    return Ok(at(other));
                }
            }
        }
    }
    Ok(None)
}

/// The finite constants of programs, near which they may go other ways.
fn constants(programs: [&Program; 2]) -> Vec<f64> {
    let of = |i: &Instr| match i.op {
        Op::Const(bits) if i.dtype.is_float() => {
            Some(reference::constant(i.dtype, bits).real().hi).filter(|v| v.is_finite())
        }
        _ => None,
    };
    programs.iter().flat_map(|p| p.instrs.iter().filter_map(of)).collect()
}

/// The program with its parameters as inputs, behind the others.
fn without_params(program: &Program) -> Program {
    let mut out = program.clone();
    let inputs = out.inputs.len() as u16;
    out.inputs.append(&mut out.params);
    for instr in &mut out.instrs {
        if let Op::Param(n) = instr.op {
            instr.op = Op::Input(inputs + n);
        }
    }
    out
}

/// Every tuple of operands that have 16 bits together.
fn every(dtypes: &[DType], dims: &[usize]) -> Result<Vec<Array>> {
    let mut shift = 0;
    let array = |&dtype: &DType| {
        let (from, size, mask) = (shift, dtype.bytes(), if dtype == DType::Bool { 1 } else { u16::MAX });
        shift += if dtype == DType::Bool { 1 } else { 8 * size };
        let bytes = (0..TUPLES).flat_map(|i| (((i >> from) as u16) & mask).to_le_bytes()[..size].to_vec()).collect();
        Array::new(dtype, dims, bytes)
    };
    dtypes.iter().map(array).collect()
}

/// Ordinary numbers, special ones, those of any size, random bits and numbers near the constants, in all combinations, also of a
/// complex number's parts, or real; now and then equal in all operands of a dtype.
fn sample(dtypes: &[DType], constants: &[f64], dims: &[usize]) -> Result<Vec<Array>> {
    let (mut rng, count) = (Rng::named("operands of every class"), dims.iter().product());
    let mut pools: Vec<(DType, Vec<Array>)> = Vec::new();
    let fills =
        [Fill::Ordinary(Domain::Any), Fill::Special, Fill::AnySize, Fill::Bits, Fill::Ordinary(Domain::Unit), Fill::Whole];
    for part in dtypes.iter().map(|d| d.info().real) {
        if !pools.iter().any(|(d, _)| *d == part) {
            let mut arrays =
                fills.iter().map(|&fill| values::array(part, &[count], fill, &mut rng)).collect::<Result<Vec<Array>>>()?;
            if part.is_float() && !constants.is_empty() {
                let near = (0..count).flat_map(|_| {
                    let x = constants[rng.below(constants.len())] * if rng.below(2) == 0 { 1.0 } else { -1.0 };
                    let off = (rng.below(3) as f64 - 1.0) * 2f64.powi(-(rng.below(54) as i32));
                    Scalar::float(x + x * off).encode(part).into_iter().take(part.bytes()).collect::<Vec<u8>>()
                });
                arrays.push(Array::new(part, &[count], near.collect())?);
            }
            pools.push((part, arrays));
        }
    }
    let mut bytes: Vec<Vec<u8>> = vec![Vec::new(); dtypes.len()];
    for _ in 0..count {
        let mut draw = |of: usize| (rng.below(of), rng.below(count));
        let real = draw(4).0 == 0;
        let common = (draw(8).0 == 0).then(|| [draw(usize::MAX), draw(usize::MAX)]);
        for (out, dtype) in bytes.iter_mut().zip(dtypes) {
            let part = dtype.info().real;
            let pool = pools.iter().find(|(d, _)| *d == part).map_or(&[][..], |(_, arrays)| arrays);
            for n in 0..dtype.bytes() / part.bytes() {
                let (fill, at) = common.map_or_else(|| draw(usize::MAX), |c| c[n]);
                if real && n == 1 {
                    out.extend_from_slice(
                        &Scalar::float(if fill % 2 == 0 { 0.0 } else { -0.0 }).encode(part)[..part.bytes()],
                    );
                } else {
                    out.extend_from_slice(&pool[fill % pool.len()].bytes()[at * part.bytes()..][..part.bytes()]);
                }
            }
        }
    }
    dtypes.iter().zip(bytes).map(|(&dtype, bytes)| Array::new(dtype, dims, bytes)).collect()
}
