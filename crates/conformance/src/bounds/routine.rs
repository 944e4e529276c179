//! Bounds of the dense routines, by norms: sources in the table of `bounds.rs`.

use super::{absolute, magnitudes};
use crate::compare::epsilon;
use crate::executor::Known;
use ferrotensor_core::kernel::{Kernel, Routine};
use ferrotensor_core::reference::{self, Array, Scalar};
use ferrotensor_core::{Code, DType, Error, Result};

fn row_norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// How much larger the error of a product is: a complex one is two sums of two products.
fn product(dtype: DType) -> f64 {
    if dtype.is_complex() { 4.0 } else { 1.0 }
}

/// Largest row sum of absolute values.
fn matrix_norm(values: &[f64], columns: usize) -> f64 {
    values.chunks(columns.max(1)).map(|row| row.iter().sum::<f64>()).fold(0.0, f64::max)
}

/// Bounds of each output, row by row or matrix by matrix.
pub fn errors(routine: Routine, inputs: &[&Known], outputs: &[Array]) -> Result<Vec<Option<Vec<f64>>>> {
    let sizes: Vec<Vec<f64>> = inputs.iter().map(|k| magnitudes(k)).collect();
    let carried: Vec<Vec<f64>> = inputs.iter().map(|k| absolute(k)).collect();
    let last = |a: &Array, from_end: usize| a.dims().get(a.dims().len().wrapping_sub(from_end)).copied().unwrap_or(1).max(1);
    match routine {
        Routine::Fft { dtype, .. } => {
            let n = last(&outputs[0], 1);
            let rows = sizes[0].chunks(n).zip(carried[0].chunks(n));
            let errors = rows.flat_map(|(x, e)| {
                let norm = (n as f64).sqrt() * row_norm(x);
                let error = 8.0 * ((n as f64).log2() + 2.0) * epsilon(dtype) * norm + e.iter().sum::<f64>();
                std::iter::repeat_n(error, x.len())
            });
            Ok(vec![Some(errors.collect())])
        }
        Routine::Solve(dtype) => {
            if carried.iter().flatten().any(|&e| e > 0.0) {
                return Err(Error::internal("no row solves an inexact system"));
            }
            let (n, k) = (last(&inputs[0].array, 1), last(&outputs[0], 1));
            let solutions = magnitudes(&Known::exact(outputs[0].clone()));
            let inverses = inverses(&inputs[0].array, n)?;
            let errors = solutions.chunks(n * k).enumerate().flat_map(|(i, x)| {
                let (a, inverse) = (&sizes[0][i * n * n..(i + 1) * n * n], &inverses[i * n * n..(i + 1) * n * n]);
                let largest = x.iter().fold(0.0, |a: f64, &b| a.max(b));
                let error =
                    product(dtype) * 8.0 * n as f64 * epsilon(dtype) * matrix_norm(inverse, n) * matrix_norm(a, n) * largest;
                std::iter::repeat_n(error, x.len())
            });
            Ok(vec![Some(errors.collect())])
        }
        Routine::Qr(dtype) => {
            if carried[0].iter().any(|&e| e > 0.0) {
                return Err(Error::internal("no row factors an inexact matrix"));
            }
            let (m, n) = (last(&inputs[0].array, 2), last(&inputs[0].array, 1));
            let k = m.min(n);
            let r = magnitudes(&Known::exact(outputs[1].clone()));
            let mut errors = [Vec::new(), Vec::new()];
            for (i, a) in sizes[0].chunks(m * n).enumerate() {
                let square = (0..k).flat_map(|p| (0..k).map(move |q| (i * k + p) * n + q)).map(|e| outputs[1].get(e));
                let square = Array::from_scalars(dtype, &[k, k], square)?;
                let condition = match inverses(&square, k) {
                    Ok(inverse) => matrix_norm(&inverse, k) * matrix_norm(&magnitudes(&Known::exact(square)), k),
                    // A rank-deficient matrix has no unique factors.
                    Err(e) if e.code == Code::LinAlg => f64::INFINITY,
                    Err(e) => return Err(e),
                };
                let relative = product(dtype) * 16.0 * m as f64 * epsilon(dtype) * condition;
                let size = row_norm(a).max(row_norm(&r[i * k * n..(i + 1) * k * n]));
                errors[0].extend(std::iter::repeat_n(relative, m * k));
                errors[1].extend(std::iter::repeat_n(relative * size, k * n));
            }
            let [q, r] = errors;
            Ok(vec![Some(q), Some(r)])
        }
    }
}

/// Absolute values of the inverses of a stack of matrices, by the reference's own solver.
fn inverses(matrices: &Array, n: usize) -> Result<Vec<f64>> {
    let count = matrices.len() / (n * n).max(1);
    let (dims, wide) = ([count, n, n], if matrices.dtype().is_complex() { DType::C128 } else { DType::F64 });
    let eye = (0..count * n * n).map(|i| Scalar::float(if (i / n) % n == i % n { 1.0 } else { 0.0 }));
    let operands = [Array::from_scalars(wide, &dims, matrices.scalars())?, Array::from_scalars(wide, &dims, eye)?];
    let out = reference::run(&Kernel::Routine(Routine::Solve(wide)), &operands, &[&dims], &[])?;
    Ok(out[0].scalars().map(|x| x.magnitude().hi).collect())
}
