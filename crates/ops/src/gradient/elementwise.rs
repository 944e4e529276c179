//! Maps backwards: a map for each input, of its derivative times the cotangent.
//!
//! A complex cotangent is `dL/dRe + i dL/dIm`, as PyTorch has it. Where all instructions are holomorphic it is `g conj(f')`; elsewhere the
//! map is differentiated in the directions 1 and i.

use super::algebra::conjugate;
use super::back::{Back, Launch};
use super::scalar::{self, Inputs, im, is_differentiable, re, scaled, sum, wide};
use crate::graph::{Param, Val};
use crate::write::Writer;
use ferrotensor_core::kernel::{Kernel, Map};
use ferrotensor_core::scalar::{Builder, Op, Program, Value, simplify};
use ferrotensor_core::{DType, Dims, Result};

/// A map.
pub fn map(back: &mut Back, kernel: &Map, launch: &Launch, params: &[Param]) -> Result<()> {
    for (n, &input) in launch.inputs.iter().enumerate() {
        // An input that stands twice is two inputs.
        if !is_differentiable(kernel.program.inputs[n]) || !back.wants(input) {
            continue;
        }
        if let Some(g) = derivative(back, &kernel.program, launch, params, n)? {
            back.give(input, g)?;
        }
    }
    Ok(())
}

/// The cotangent of the n-th input of a map.
fn derivative(back: &mut Back, program: &Program, launch: &Launch, params: &[Param], n: usize) -> Result<Option<Val>> {
    let plain = written(back, program, launch, n, false);
    let reusing = written(back, program, launch, n, true);
    let (Some(plain), Some(reusing)) = (plain, reusing) else { return Ok(None) };
    let best = if cost(&reusing) < cost(&plain) { reusing } else { plain };
    let operands: Vec<Val> =
        launch.inputs.iter().chain(launch.outputs).copied().chain(launch.cotangents.iter().flatten().copied()).collect();
    let dims = back.w.dims(launch.outputs[0]);
    launched(&mut back.w, &dims, &best, &operands, params).map(Some)
}

/// Functions are what a map costs; of two that call as many, the one with fewer operands.
fn cost(program: &Program) -> (usize, usize) {
    let dear = |op: &Op| matches!(op, Op::Call(_) | Op::Sqrt | Op::Div);
    let used = |op: &Op| matches!(op, Op::Input(_));
    let compact = compacted(program).0;
    let count = |f: &dyn Fn(&Op) -> bool| compact.instrs.iter().filter(|i| f(&i.op)).count();
    (count(&dear), count(&used))
}

/// A map of the operands that its program looks at.
pub fn launched<C>(w: &mut Writer<C>, dims: &Dims, program: &Program, operands: &[Val], params: &[Param]) -> Result<Val> {
    let (program, inputs, numbers) = compacted(program);
    let inputs: Vec<Val> = inputs.into_iter().map(|n| w.broadcast(operands[n], dims)).collect::<Result<_>>()?;
    let params: Vec<Param> = numbers.into_iter().map(|n| params[n]).collect();
    Ok(w.launch(Kernel::Map(Map { program }), &inputs, &params, std::slice::from_ref(dims)))
}

/// The program of a cotangent: inputs, outputs and the outputs' cotangents in; with `reuse`, outputs are not computed again.
fn written(back: &Back, program: &Program, launch: &Launch, n: usize, reuse: bool) -> Option<Program> {
    let (w, rooted) = (&back.w, back.is_rooted());
    let mut b = Builder::new();
    let values: Vec<Value> = program.inputs.iter().map(|&d| b.input(d)).collect();
    let known: Vec<Value> = launch.outputs.iter().map(|&v| b.input(w.dtype(v))).collect();
    let cotangents: Vec<Option<Value>> = launch.cotangents.iter().map(|g| g.map(|v| b.input(w.dtype(v)))).collect();
    let params: Vec<Value> = program.params.iter().map(|&d| b.param(d)).collect();
    let outputs: Vec<Option<Value>> = known.iter().map(|&v| reuse.then_some(v)).collect();
    let d = wide(program.inputs[n]);
    let along = |b: &mut Builder, direction: Value| {
        let tangents: Vec<Option<Value>> = (0..values.len()).map(|i| (i == n).then_some(direction)).collect();
        let (values, params, outputs) = (&values, &params, &outputs);
        scalar::tangents(b, program, &Inputs { values, params, tangents: &tangents, outputs, rooted })
    };
    let one = b.lit(d, 1.0);
    let total = if !d.is_complex() {
        let slopes = along(&mut b, one);
        real_part(&mut b, &slopes, &cotangents)
    } else if is_holomorphic(program) {
        let slopes = along(&mut b, one);
        let terms: Vec<Option<Value>> =
            slopes.iter().zip(&cotangents).map(|(&s, &g)| Some(holomorphic(&mut b, s?, g?))).collect();
        terms.into_iter().fold(None, |total, term| sum(&mut b, total, term))
    } else {
        let part = d.info().real;
        let (unit, zero) = (b.lit(part, 1.0), b.lit(part, 0.0));
        let (one, i) = (b.complex(d, unit, zero), b.complex(d, zero, unit));
        let slopes = along(&mut b, one);
        let by_re = real_part(&mut b, &slopes, &cotangents);
        let slopes = along(&mut b, i);
        let by_im = real_part(&mut b, &slopes, &cotangents);
        match (by_re, by_im) {
            (None, None) => None,
            (by_re, by_im) => {
                // Results may be wider.
                let parts = [by_re, by_im].map(|v| b.cast(v.unwrap_or(zero), part));
                Some(b.complex(d, parts[0], parts[1]))
            }
        }
    }?;
    let total = b.cast(total, program.inputs[n]);
    Some(simplify(&b.finish(&[total])))
}

/// `g conj(f')`, in the dtype of f'.
pub fn holomorphic(b: &mut Builder, slope: Value, g: Value) -> Value {
    let g = b.cast(g, b.dtype(slope));
    let slope = if scalar::is_constant(b, slope, 1.0) { slope } else { conjugate(b, slope) };
    scaled(b, slope, g)
}

/// The sum over outputs of the real inner product of cotangent and slope.
fn real_part(b: &mut Builder, slopes: &[Option<Value>], cotangents: &[Option<Value>]) -> Option<Value> {
    let mut total = None;
    for (slope, g) in slopes.iter().zip(cotangents) {
        let (Some(slope), Some(g)) = (*slope, *g) else { continue };
        let g = b.cast(g, wide(b.dtype(g)));
        let term = if b.dtype(slope).is_complex() {
            let parts = [(re(b, slope), re(b, g)), (im(b, slope), im(b, g))];
            let terms = parts.map(|(slope, g)| (!scalar::is_constant(b, slope, 0.0)).then(|| scaled(b, slope, g)));
            sum(b, terms[0], terms[1])
        } else {
            Some(scaled(b, slope, g))
        };
        total = match (total, term) {
            // Outputs of other dtypes are added in the first one's.
            (Some(sum), Some(term)) => {
                let term = b.cast(term, b.dtype(sum));
                Some(b.binary(Op::Add, sum, term))
            }
            (total, term) => total.or(term),
        };
    }
    total
}

/// Whether complex numbers meet nothing that is not complex differentiable.
fn is_holomorphic(program: &Program) -> bool {
    program.instrs.iter().all(|i| match i.op {
        Op::Imag | Op::Complex => false,
        Op::Cast => i.dtype.is_complex() || !program.dtype(i.args[0]).is_complex(),
        Op::Bitcast => !i.dtype.is_complex(),
        _ => true,
    })
}

/// The program without the inputs and parameters it does not look at; the numbers of those that are left.
pub fn compacted(program: &Program) -> (Program, Vec<usize>, Vec<usize>) {
    let mut live = vec![false; program.instrs.len()];
    program.outputs.iter().for_each(|&o| live[o as usize] = true);
    for at in (0..live.len()).rev().collect::<Vec<_>>() {
        if live[at] {
            program.instrs[at].args.iter().for_each(|&a| live[a as usize] = true);
        }
    }
    let numbered = |f: &dyn Fn(&Op) -> Option<u16>| {
        let mut found: Vec<usize> =
            program.instrs.iter().zip(&live).filter(|(_, l)| **l).filter_map(|(i, _)| f(&i.op)).map(usize::from).collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    let inputs = numbered(&|op| if let Op::Input(n) = op { Some(*n) } else { None });
    let params = numbered(&|op| if let Op::Param(n) = op { Some(*n) } else { None });
    let mut b = Builder::new();
    let input = |b: &mut Builder, used: &[usize], dtypes: &[DType], f: fn(&mut Builder, DType) -> Value| {
        let mut out = vec![Value::MAX; dtypes.len()];
        used.iter().for_each(|&n| out[n] = f(b, dtypes[n]));
        out
    };
    let values = input(&mut b, &inputs, &program.inputs, Builder::input);
    let numbers = input(&mut b, &params, &program.params, Builder::param);
    let mut map = vec![Value::MAX; program.instrs.len()];
    for (at, instr) in program.instrs.iter().enumerate().filter(|(at, _)| live[*at]) {
        map[at] = match instr.op {
            Op::Input(n) => values[n as usize],
            Op::Param(n) => numbers[n as usize],
            _ => {
                let args = instr.args.iter().map(|&a| map[a as usize]).collect();
                b.raw(ferrotensor_core::scalar::Instr { op: instr.op, dtype: instr.dtype, args })
            }
        };
    }
    let outputs: Vec<Value> = program.outputs.iter().map(|&o| map[o as usize]).collect();
    (b.finish(&outputs), inputs, params)
}
