//! Bounds of reductions, scans and sorts.

use super::{Bound, absolute, finite_sizes, floating, magnitudes, or_undefined};
use crate::compare::{epsilon, largest};
use crate::executor::Known;
use ferrotensor_core::kernel::{Combine, Kernel, Monoid, Reduce, Scan, Sort, SortOutputs};
use ferrotensor_core::reference::{self, Array};
use ferrotensor_core::{DType, Error, Result};

pub fn errors(k: &Reduce, input: &Known, output: &Array) -> Result<Option<Vec<f64>>> {
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
                or_undefined((n.max(1.0).log2() + 16.0) * eps * total + errors.iter().sum::<f64>(), total, k.acc)
            }
            Monoid::Prod => {
                let terms: Vec<[f64; 4]> = sizes.iter().zip(errors).map(|(s, e)| factor(*s, *e)).collect();
                let over = |part: usize| terms.iter().map(|t| t[part]).sum();
                product_error(n, k.acc, [over(0), over(1), over(2), over(3)], output.get(o).magnitude().hi)
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

/// What a factor adds to the error of a product: its logarithm above 1, below 1, whether it is not finite, and its relative error.
pub fn factor(size: f64, error: f64) -> [f64; 4] {
    let log = if size.is_finite() && size > 0.0 { size.log2() } else { 0.0 };
    [log.max(0.0), -log.min(0.0), (!size.is_finite()) as u8 as f64, if error == 0.0 { 0.0 } else { error / size }]
}

/// The error of a product of n factors, of which [`factor`] says these sums.
pub fn product_error(n: f64, dtype: DType, [above, below, infinite, carried]: [f64; 4], result: f64) -> f64 {
    // No partial product is larger than all factors above 1, or smaller than all below.
    let swings = above.max(below) > largest(dtype).log2() - 2.0;
    let eps = if floating(dtype) { epsilon(dtype) } else { 0.0 };
    if swings || (dtype.is_complex() && infinite > 0.0) { f64::INFINITY } else { (n * eps + carried) * result }
}

pub fn scan_errors(k: &Scan, input: &Known, output: &Array) -> Result<Vec<f64>> {
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

pub fn sort_errors(k: &Sort, input: &Known, outputs: &[Array]) -> Vec<Option<Vec<f64>>> {
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
