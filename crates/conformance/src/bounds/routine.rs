//! Bounds of the dense routines, by norms: sources in the table of `bounds.rs`.

use super::spectral;
use super::{absolute, magnitudes};
use crate::compare::epsilon;
use crate::executor::Known;
use ferrotensor_core::kernel::{Kernel, Routine, SvdOutputs};
use ferrotensor_core::reference::{self, Array, Scalar};
use ferrotensor_core::{Code, DType, Error, Result};

pub(super) fn row_norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// How much larger the error of a product is: a complex one is two sums of two products.
pub(super) fn product(dtype: DType) -> f64 {
    if dtype.is_complex() { 4.0 } else { 1.0 }
}

/// Largest row sum of absolute values.
pub(super) fn matrix_norm(values: &[f64], columns: usize) -> f64 {
    values.chunks(columns.max(1)).map(|row| row.iter().sum::<f64>()).fold(0.0, f64::max)
}

/// Bounds of each output, row by row or matrix by matrix.
pub fn errors(routine: Routine, inputs: &[&Known], outputs: &[Array]) -> Result<Vec<Option<Vec<f64>>>> {
    let sizes: Vec<Vec<f64>> = inputs.iter().map(|k| magnitudes(k)).collect();
    let carried: Vec<Vec<f64>> = inputs.iter().map(|k| absolute(k)).collect();
    let last = |a: &Array, from_end: usize| a.dims().get(a.dims().len().wrapping_sub(from_end)).copied().unwrap_or(1).max(1);
    let exact_only =
        !matches!(routine, Routine::Fft { .. } | Routine::Solve(_) | Routine::Svd { outputs: SvdOutputs::Values, .. });
    if exact_only && carried.iter().flatten().any(|&e| e > 0.0) {
        return Err(Error::internal(format!("no row gives {routine:?} inexact operands")));
    }
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
            let (n, k) = (last(&inputs[0].array, 1), last(&outputs[0], 1));
            let solutions = magnitudes(&Known::exact(outputs[0].clone()));
            let inverses = inverses(&inputs[0].array, n)?;
            let errors = solutions.chunks(n * k).enumerate().flat_map(|(i, x)| {
                let (a, inverse) = (&sizes[0][i * n * n..(i + 1) * n * n], &inverses[i * n * n..(i + 1) * n * n]);
                let largest = x.iter().fold(0.0, |a: f64, &b| a.max(b));
                let unit = product(dtype) * 8.0 * n as f64 * epsilon(dtype);
                // What the operands are off by moves the solution as a residual does.
                let off = matrix_norm(&carried[0][i * n * n..(i + 1) * n * n], n);
                let of_sides = carried[1][i * n * k..(i + 1) * n * k].iter().fold(0.0, |a: f64, &b| a.max(b));
                let moved = 2.0 * (off * largest + of_sides);
                let error = matrix_norm(inverse, n) * (unit * matrix_norm(a, n) * largest + moved);
                std::iter::repeat_n(error, x.len())
            });
            Ok(vec![Some(errors.collect())])
        }
        Routine::Qr(dtype) => {
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
        Routine::Triangular { dtype, upper, unit } => {
            let (n, k) = (last(&inputs[0].array, 1), last(&outputs[0], 1));
            let triangle = triangle(&inputs[0].array, n, upper, unit)?;
            let (sizes, inverses) = (magnitudes(&Known::exact(triangle.clone())), inverses(&triangle, n)?);
            let solutions = magnitudes(&Known::exact(outputs[0].clone()));
            let errors = solutions.chunks(n * k).enumerate().flat_map(|(i, x)| {
                let (a, inverse) = (&sizes[i * n * n..(i + 1) * n * n], &inverses[i * n * n..(i + 1) * n * n]);
                let largest = x.iter().fold(0.0, |a: f64, &b| a.max(b));
                let unit = product(dtype) * 8.0 * n as f64 * epsilon(dtype);
                std::iter::repeat_n(unit * matrix_norm(inverse, n) * matrix_norm(a, n) * largest, x.len())
            });
            Ok(vec![Some(errors.collect())])
        }
        Routine::Cholesky(dtype) => {
            let n = last(&outputs[0], 1);
            let (factors, inverses) = (magnitudes(&Known::exact(outputs[0].clone())), inverses(&outputs[0], n)?);
            let errors = factors.chunks(n * n).zip(inverses.chunks(n * n)).flat_map(|(l, inverse)| {
                let (norm, of_inverse) = (matrix_norm(l, n), matrix_norm(inverse, n));
                let relative = product(dtype) * 8.0 * n as f64 * epsilon(dtype) * (norm * of_inverse).powi(2);
                std::iter::repeat_n(relative * norm, l.len())
            });
            Ok(vec![Some(errors.collect())])
        }
        Routine::Lu(dtype) => lu_errors(dtype, inputs[0], &sizes[0], outputs).map(Vec::from),
        Routine::Eigh { dtype, .. } => spectral::eigh_errors(dtype, inputs[0], outputs),
        Routine::Svd { dtype, outputs: of } => spectral::svd_errors(dtype, of, inputs[0], outputs),
        Routine::Eig { dtype, .. } => spectral::eig_errors(dtype, inputs[0], outputs),
        Routine::Expm(dtype) => spectral::expm_errors(dtype, inputs[0], &outputs[0]).map(|e| vec![Some(e)]),
    }
}

/// Of l and u, each by its norm; the rows and their sign are exact. Where two rows are candidates for a pivot but for rounding,
/// either is right and nothing is promised.
fn lu_errors(dtype: DType, input: &Known, sizes: &[f64], outputs: &[Array]) -> Result<[Option<Vec<f64>>; 4]> {
    let dims = input.array.dims();
    let (m, n) = (dims[dims.len() - 2], dims[dims.len() - 1]);
    let k = m.min(n);
    let mut errors = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    let size = |x: Scalar| x.real().hi.abs() + x.imaginary().hi.abs();
    let tied = |i: usize| {
        let rival = |p: usize, row: usize| {
            let (l, pivot) = (outputs[0].get((i * m + row) * k + p), outputs[1].get((i * k + p) * n + p));
            size(l * pivot) > size(pivot) * (1.0 - 1e-3)
        };
        (0..k).any(|p| (p + 1..m).any(|row| rival(p, row)))
    };
    for (i, a) in sizes.chunks((m * n).max(1)).enumerate() {
        // What is no number makes pivots of which none is larger.
        let undefined = if tied(i) || a.iter().any(|s| !s.is_finite()) { f64::INFINITY } else { 0.0 };
        // The square parts of both, whose inverses amplify.
        let part = |o: usize, columns: usize, rows: usize| -> Result<Array> {
            let at = (0..k).flat_map(|p| (0..k).map(move |q| i * rows * columns + p * columns + q));
            Array::from_scalars(dtype, &[k, k], at.map(|e| outputs[o].get(e)))
        };
        let condition = |square: Array| match inverses(&square, k) {
            Ok(inverse) => Ok(matrix_norm(&inverse, k) * matrix_norm(&magnitudes(&Known::exact(square)), k)),
            Err(e) if e.code == Code::LinAlg => Ok(f64::INFINITY),
            Err(e) => Err(e),
        };
        let condition = condition(part(0, k, m)?)? * condition(part(1, n, k)?)?;
        let relative = product(dtype) * 8.0 * m.max(n) as f64 * epsilon(dtype) * condition;
        errors[0].extend(std::iter::repeat_n(relative + undefined, m * k));
        errors[1].extend(std::iter::repeat_n(relative * row_norm(a) + undefined, k * n));
        errors[2].extend(std::iter::repeat_n(undefined, m));
        errors[3].push(undefined);
    }
    let [l, u, rows, sign] = errors;
    // Empty matrices have no elements to bound.
    let sized = |errors: Vec<f64>, output: &Array| (errors.len() == output.len()).then_some(errors);
    // Exact rows stay exact, for what is made of them.
    let whole = |errors: Vec<f64>, output: &Array| sized(errors, output).filter(|e| e.contains(&f64::INFINITY));
    Ok([sized(l, &outputs[0]), sized(u, &outputs[1]), whole(rows, &outputs[2]), whole(sign, &outputs[3])])
}

/// One triangle of each matrix, with ones as diagonal where those are meant.
fn triangle(matrices: &Array, n: usize, upper: bool, unit: bool) -> Result<Array> {
    let element = |i: usize| {
        let (row, column) = (i / n % n, i % n);
        match row.cmp(&column) {
            std::cmp::Ordering::Equal if unit => Scalar::float(1.0),
            std::cmp::Ordering::Equal => matrices.get(i),
            order if (order == std::cmp::Ordering::Less) == upper => matrices.get(i),
            _ => Scalar::float(0.0),
        }
    };
    Array::from_scalars(matrices.dtype(), matrices.dims(), (0..matrices.len()).map(element))
}

/// Absolute values of the inverses of a stack of matrices, by the reference's own solver.
pub(super) fn inverses(matrices: &Array, n: usize) -> Result<Vec<f64>> {
    let count = matrices.len() / (n * n).max(1);
    let (dims, wide) = ([count, n, n], if matrices.dtype().is_complex() { DType::C128 } else { DType::F64 });
    let eye = (0..count * n * n).map(|i| Scalar::float(if (i / n) % n == i % n { 1.0 } else { 0.0 }));
    let operands = [Array::from_scalars(wide, &dims, matrices.scalars())?, Array::from_scalars(wide, &dims, eye)?];
    let out = reference::run(&Kernel::Routine(Routine::Solve(wide)), &operands, &[&dims], &[])?;
    Ok(out[0].scalars().map(|x| x.magnitude().hi).collect())
}
