//! Gradients in float16, bfloat16, float32 and complex64 beside those of the same numbers in float64 and complex128: dtypes fit at every
//! step, sums run in float32, and what is rounded is rounded few times.

use super::cases;
use super::trial::{Built, input, told};
use crate::case::{Case, Operand, Placement};
use crate::values::Rng;
use ferrotensor_core::kernel::Kernel;
use ferrotensor_core::reference::{Array, Scalar};
use ferrotensor_core::scalar::verify;
use ferrotensor_core::{Code, DType, Result};
use ferrotensor_ops::def::OpDef;
use ferrotensor_ops::gradient;
use ferrotensor_ops::graph::{Def, Graph};
use ferrotensor_ops::lower;

/// The dtypes with those of the same kind whose digits are enough to judge them.
const DTYPES: [(DType, DType); 4] =
    [(DType::F16, DType::F64), (DType::BF16, DType::F64), (DType::F32, DType::F64), (DType::C64, DType::C128)];
/// Units in the last place of the largest element that a gradient may be off. Values that a rule uses are rounded to the dtype, and
/// what is nearly a difference of equals shows that; of a step in a narrower dtype float32 shows thousands.
fn units(dtype: DType) -> f64 {
    if matches!(dtype, DType::F16 | DType::BF16) { 24.0 } else { 128.0 }
}

/// Checks a row.
///
/// # Errors
/// A sentence for each call that is wrong, at most three.
pub fn check(op: &'static OpDef) -> Result<usize, String> {
    let (mut problems, mut count) = (Vec::new(), 0);
    for (dtype, wide) in DTYPES {
        for case in cases(op, dtype)? {
            match check_case(&case, dtype, wide) {
                Ok(compared) => count += compared as usize,
                Err(e) => problems.push(format!("{dtype} {case}: {e}")),
            }
        }
    }
    let shown: Vec<String> = problems.iter().take(3).cloned().collect();
    if problems.is_empty() { Ok(count) } else { Err(format!("{} calls\n  {}", problems.len(), shown.join("\n  "))) }
}

fn check_case(case: &Case, dtype: DType, wide: DType) -> Result<bool, String> {
    let mut rng = Rng::named(&case.to_string());
    let mut numbers = || (rng.below(33) as f64 - 16.0) / 16.0;
    let Some(found) = gradients(case, &mut numbers)? else { return Ok(false) };
    if case.op.name == "bitcast" {
        return Ok(false);
    }
    let mut other = case.clone();
    for operand in &mut other.operands {
        let Operand::Tensor { logical, .. } = operand else { continue };
        if logical.dtype() == dtype {
            let (wider, dims) = (converted(logical, wide).map_err(told)?, logical.dims().to_vec());
            *operand = Operand::tensor(wider, Placement::Contiguous, &dims).map_err(told)?;
        }
    }
    rng = Rng::named(&case.to_string());
    let mut numbers = || (rng.below(33) as f64 - 16.0) / 16.0;
    let Some(wanted) = gradients(&other, &mut numbers)? else { return Ok(false) };
    // A number in an operand's place is another one in fewer digits.
    if case.operands.iter().any(|o| matches!(o, Operand::Weak(..))) {
        return Ok(false);
    }
    let epsilon = dtype.info().real.float_format().map_or(0.0, |f| f.epsilon());
    for (n, (is, should)) in found.iter().zip(&wanted).enumerate() {
        let (Some(is), Some(should)) = (is, should) else { continue };
        let (is, should) = (parts(is), parts(should));
        let largest = should.iter().fold(1.0, |a, v| f64::max(a, v.abs()));
        if !largest.is_finite() || largest > 1e4 {
            continue;
        }
        let off = is.iter().zip(&should).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        if off > units(dtype) * epsilon * largest || is.iter().any(|x| x.is_nan()) && !should.iter().any(|x| x.is_nan()) {
            return Err(format!("operand {n} is off by {:.0} units of {largest}", off / epsilon / largest));
        }
    }
    Ok(true)
}

/// The parts of all elements, one after the other.
pub fn parts(a: &Array) -> Vec<f64> {
    let complex = a.dtype().is_complex();
    a.scalars().flat_map(|x| [Some(x.real().hi), complex.then(|| x.imaginary().hi)]).flatten().collect()
}

fn converted(a: &Array, dtype: DType) -> Result<Array> {
    Array::from_scalars(dtype, a.dims(), a.scalars())
}

/// The gradients of a call's operands, for cotangents of these numbers; nothing where there are none.
fn gradients(case: &Case, numbers: &mut dyn FnMut() -> f64) -> Result<Option<Vec<Option<Array>>>, String> {
    let mut built = Built::new(case).map_err(told)?;
    let differentiable = |d: DType| d.is_float() || d.is_complex();
    let asked: Vec<bool> = case
        .operands
        .iter()
        .map(|o| matches!(o, Operand::Tensor { logical, .. } if differentiable(logical.dtype())))
        .collect();
    let outputs = lower::lower(&mut built.graph, case.op, &built.operands, &built.attrs, built.first_param).map_err(told)?;
    let mut cotangents = Vec::new();
    for &v in &outputs {
        let (dtype, dims) = (built.graph.dtype(v), built.graph.dims(v).clone());
        let random = differentiable(dtype).then(|| {
            let number = |numbers: &mut dyn FnMut() -> f64| match dtype.is_complex() {
                true => Scalar::Complex(numbers().into(), numbers().into()),
                false => Scalar::float(numbers()),
            };
            let elements: Vec<Scalar> = (0..dims.iter().product()).map(|_| number(numbers)).collect();
            Array::from_scalars(dtype, &dims, elements)
        });
        let random = random.transpose().map_err(told)?;
        cotangents.push(random.map(|a| input(&mut built.graph, &mut built.inputs, a)));
    }
    if cotangents.iter().all(Option::is_none) || !asked.contains(&true) {
        return Ok(None);
    }
    let Built { graph, operands, attrs, first_param, .. } = &mut built;
    let found = gradient::vjp(graph, case.op, operands, attrs, *first_param, &outputs, &cotangents, &asked).map_err(told)?;
    verified(graph)?;
    for (n, g) in found.iter().enumerate() {
        let (Some(g), Operand::Tensor { logical, .. }) = (g, &case.operands[n]) else { continue };
        if graph.dtype(*g) != logical.dtype() || graph.dims(*g).as_slice() != logical.dims() {
            return Err(format!("the cotangent of operand {n} is {} {:?}", graph.dtype(*g), graph.dims(*g)));
        }
    }
    let mut out = Vec::new();
    for g in found {
        let Some(g) = g else {
            out.push(None);
            continue;
        };
        match built.run(&built.inputs, &case.params(), &[g]) {
            Ok(values) => out.extend(values.into_iter().map(Some)),
            Err(e) if e.code == Code::Internal => return Err(told(e)),
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(out))
}

/// That all programs of a graph keep the rules of the scalar IR, and all operands are of the dtypes their kernels take.
fn verified(graph: &Graph) -> Result<(), String> {
    for node in &graph.nodes {
        let Def::Kernel { kernel, inputs, .. } = &node.def else { continue };
        if let Kernel::Map(map) = kernel {
            verify(&map.program)?;
        }
        let given: Vec<DType> = inputs.iter().map(|&v| graph.dtype(v)).collect();
        if given != kernel.inputs() {
            return Err(format!("{} takes {:?}, is given {given:?}", kernel.kind(), kernel.inputs()));
        }
    }
    Ok(())
}
