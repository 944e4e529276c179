//! Bounds of what adds products, and of windows.

use super::reduction::{factor, product_error};
use super::{Bound, absolute, finite_sizes, floating, magnitudes, or_undefined};
use crate::compare::{epsilon, spacing};
use crate::executor::Known;
use ferrotensor_core::kernel::{Contract, Kernel, Monoid, Window, WindowCombine};
use ferrotensor_core::reference::{self, Array};
use ferrotensor_core::{DType, Error, Result, blocks};

pub fn contract_errors(k: &Contract, inputs: &[&Known], output: &Array) -> Result<Option<Vec<f64>>> {
    let inner = inputs[0].array.dims().last().copied().unwrap_or(0);
    product_errors(Kernel::Contract(Contract::new(DType::F64)), inner, k.dtype, inputs, output)
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
    let roundings = blocks::roundings(dtype.compute(), inner) as f64;
    let mut errors: Vec<f64> = sizes.iter().map(|s| roundings * unit * s + (inner as f64 + 1.0) * underflow).collect();
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
        // Nothing times what is not bounded.
        *e = if e.is_nan() { f64::INFINITY } else { or_undefined(*e, size, dtype) };
    }
    Ok(Some(errors))
}

pub fn window_errors(k: &Window, inputs: &[&Known], output: &Array) -> Result<Option<Vec<f64>>> {
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
        Monoid::Prod if floating(k.dtype) && (volume > 1 || !exact) => {
            let terms: Vec<[f64; 4]> =
                magnitudes(inputs[0]).iter().zip(absolute(inputs[0])).map(|(s, e)| factor(*s, e)).collect();
            let sums = |part: usize| over(terms.iter().map(|t| t[part]).collect(), Monoid::Sum);
            let [above, below, infinite, carried] = [sums(0)?, sums(1)?, sums(2)?, sums(3)?];
            let one = |o: usize| {
                let sums = [above[o], below[o], infinite[o], carried[o]];
                product_error(volume as f64, k.dtype, sums, output.get(o).magnitude().hi)
            };
            Ok(Some((0..output.len()).map(one).collect()))
        }
        Monoid::All | Monoid::Any if !exact => Err(Error::internal("no row asks whether inexact windows are true")),
        _ => Ok(None),
    }
}
