//! Calls of rows whose derivatives are compared.

use super::arrays::{array, numbers};
use crate::case::{Case, Operand, Placement};
use crate::covering;
use crate::recipe::Recipe;
use crate::values::Rng;
use ferrotensor_core::reference::Array;
use ferrotensor_core::{DType, Result};
use ferrotensor_ops::def::{Domain, OpDef};

/// Cases of a row and dtype.
const LIMIT: usize = 20;
/// Elements of the largest operand or result: differences take a dozen runs of the reference.
const LARGEST: usize = 80;

/// A few calls of small tensors in which every two circumstances meet that matter here; half as many of narrow dtypes.
pub fn cases(op: &'static OpDef, dtype: DType) -> Result<Vec<Case>, String> {
    Ok(filled(op, dtype, 1)?.into_iter().flatten().collect())
}

/// The same with several fillings of each: other elements in operands of the same types.
pub fn filled(op: &'static OpDef, dtype: DType, fillings: usize) -> Result<Vec<Vec<Case>>, String> {
    let limit = if matches!(dtype, DType::F64 | DType::C128) { LIMIT } else { LIMIT / 2 };
    let recipe = Recipe::new(op, dtype, false);
    let mut rng = Rng::named(&format!("gradients/{}/{dtype}", op.path()));
    let allowed: Vec<Vec<usize>> = recipe
        .axes
        .iter()
        .map(|axis| {
            let fits = |(n, value): (usize, &String)| {
                let fits = match axis.name.as_str() {
                    "shape" => recipe.first_dims(n).iter().product::<usize>() <= LARGEST,
                    "values" => n == 0 || value == "ordinary",
                    // PyTorch has no such function, and the gradient of none of this one.
                    "number alpha" if op.name == "celu" => value != "odd",
                    // What was cut off counts as zero and not as cut off, as in PyTorch.
                    "number rtol" if ["pinv", "lstsq"].contains(&op.name) => ["plain", "edge"].contains(&value.as_str()),
                    // One method of each kind: of those that step a fraction has no slope, and among many few calls would show one.
                    "method" if op.name.ends_with("quantile") || op.name.ends_with("percentile") => {
                        ["linear", "lower", "midpoint", "averaged_inverted_cdf", "hazen", "weibull"]
                            .contains(&value.as_str())
                    }
                    "indices" => value != "long",
                    name if name.starts_with("layout") => n == 0,
                    name if name.starts_with("form") => ["tensor", "absent", "number"].contains(&value.as_str()),
                    name if name.starts_with("dtype") => {
                        ["same", "none", "float64", "complex128"].contains(&value.as_str()) || n == 0
                    }
                    _ => true,
                };
                fits.then_some(n)
            };
            axis.values.iter().enumerate().filter_map(fits).collect()
        })
        .collect();
    if allowed.iter().any(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let choose = |a: &[usize]| -> Vec<usize> { a.iter().zip(&allowed).map(|(&n, values)| values[n]).collect() };
    let sizes: Vec<usize> = allowed.iter().map(Vec::len).collect();
    let settle = |a: &mut [usize]| {
        let plan = recipe.plan(&choose(a)).ok().flatten();
        plan.is_some_and(|plan| plan.largest <= LARGEST * 16 && plan.largest > 0)
    };
    let assignments = covering::pairwise(&sizes, limit, &mut rng, settle);
    let mut out = Vec::new();
    for assignment in assignments {
        let chosen = choose(&assignment);
        let mut alike = Vec::new();
        for _ in 0..fillings {
            let Some(plan) = recipe.plan(&chosen)? else { break };
            let mut case = recipe.fill(&chosen, plan, &mut rng).map_err(|e| e.message)?;
            for (n, operand) in case.operands.iter_mut().enumerate() {
                // Of one negative base the powers are no numbers, and differences of their sum say nothing.
                let positive = n == 0 && op.name == "pow";
                moved(op, operand, positive, &mut rng).map_err(|e| e.message)?;
            }
            alike.push(case);
        }
        out.push(alike);
    }
    Ok(out)
}

/// Moves the elements of a floating operand off round numbers.
fn moved(op: &OpDef, operand: &mut Operand, positive: bool, rng: &mut Rng) -> Result<()> {
    let Operand::Tensor { base, placement, logical } = operand else { return Ok(()) };
    let narrow = logical.dtype();
    if let Some(mut x) = wide(logical)?.as_ref().and_then(numbers) {
        let scale = if op.domain == Domain::Unit || x.iter().all(|v| (0.0..=1.0).contains(v)) { 0.9 } else { 1.0 };
        x.iter_mut().for_each(|v| *v = *v * scale + 0.04 * (rng.unit() + 0.1));
        if positive && !narrow.is_complex() {
            x.iter_mut().for_each(|v| *v = v.abs());
        }
        let wide = if narrow.is_complex() { DType::C128 } else { DType::F64 };
        let moved = array(wide, logical.dims(), &x)?;
        *logical = Array::from_scalars(narrow, logical.dims(), moved.scalars())?;
    }
    (*base, *placement) = (logical.clone(), Placement::Contiguous);
    Ok(())
}

/// The same numbers in float64 or complex128.
fn wide(a: &Array) -> Result<Option<Array>> {
    let dtype = if a.dtype().is_complex() { DType::C128 } else { DType::F64 };
    let floating = a.dtype().is_float() || a.dtype().is_complex();
    floating.then(|| Array::from_scalars(dtype, a.dims(), a.scalars())).transpose()
}
