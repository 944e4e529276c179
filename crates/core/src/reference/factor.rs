//! Factors, triangular systems and exponentials by their definitions, in double-double.

use super::double::Double;
use super::routine::{Given, Matrix, conjugate, constant, is_finite, number};
use super::value::Scalar;
use crate::dtype::DType;
use crate::error::{Error, Result};

/// One triangle of a matrix, zeros elsewhere.
fn triangle(dtype: DType, mut a: Matrix, upper: bool) -> Matrix {
    for (i, row) in a.iter_mut().enumerate() {
        let zero = number(dtype, 0.0.into());
        row.iter_mut().enumerate().filter(|(j, _)| if upper { *j < i } else { *j > i }).for_each(|(_, x)| *x = zero);
    }
    a
}

/// The Hermitian matrix whose lower triangle is that of `a`, and whose diagonal is real.
pub fn hermitian(dtype: DType, mut a: Matrix) -> Matrix {
    for i in 0..a.len() {
        a[i][i] = number(dtype, a[i][i].real());
        let column: Vec<Scalar> = a[i + 1..].iter().map(|row| conjugate(row[i])).collect();
        a[i][i + 1..].copy_from_slice(&column);
    }
    a
}

/// Column by column: the diagonal from what is left of it, the rest by division.
pub fn cholesky(dtype: DType, Given { a, n, .. }: Given) -> Result<Matrix> {
    let a = hermitian(dtype, a);
    if !is_finite(&a) {
        return Ok(constant(dtype, n, n, f64::NAN));
    }
    let mut l = constant(dtype, n, n, 0.0);
    for j in 0..n {
        let left = |i: usize, l: &Matrix| (0..j).fold(a[i][j], |sum, k| sum + -(l[i][k] * conjugate(l[j][k])));
        let pivot = left(j, &l).real();
        if pivot.hi <= 0.0 {
            return Err(Error::linalg(format!("the matrix is not positive definite: pivot {j} is not positive")));
        }
        l[j][j] = number(dtype, pivot.sqrt());
        for i in j + 1..n {
            l[i][j] = left(i, &l) / l[j][j];
        }
    }
    Ok(l)
}

/// Gaussian elimination: l, u, the rows' order, its sign.
pub fn lu(dtype: DType, Given { a, m, n }: Given) -> Vec<Matrix> {
    let (k, finite) = (m.min(n), is_finite(&a));
    let mut rows: Vec<usize> = (0..m).collect();
    if !finite {
        let order = vec![rows.iter().map(|&r| Scalar::Int(r as i128)).collect()];
        let nan = |rows, columns| constant(dtype, rows, columns, f64::NAN);
        return vec![nan(m, k), nan(k, n), order, nan(1, 1)];
    }
    let (mut u, mut l, mut sign) = (a, constant(dtype, m, k, 0.0), 1.0);
    for p in 0..k {
        let size = |i: usize| u[i][p].real().abs().hi + u[i][p].imaginary().abs().hi;
        let pivot = (p..m).fold(p, |best, i| if size(i) > size(best) { i } else { best });
        l[p][p] = number(dtype, 1.0.into());
        if size(pivot) == 0.0 {
            continue;
        }
        if pivot != p {
            u.swap(p, pivot);
            rows.swap(p, pivot);
            let (above, below) = l.split_at_mut(pivot);
            above[p][..p].swap_with_slice(&mut below[0][..p]);
            sign = -sign;
        }
        for i in p + 1..m {
            let factor = u[i][p] / u[p][p];
            l[i][p] = factor;
            let (above, below) = u.split_at_mut(i);
            below[0][p..n].iter_mut().zip(&above[p][p..n]).for_each(|(x, &y)| *x = *x + -(factor * y));
            u[i][p] = number(dtype, 0.0.into());
        }
    }
    u.truncate(k);
    let order = vec![rows.iter().map(|&r| Scalar::Int(r as i128)).collect()];
    vec![l, triangle(dtype, u, true), order, constant(dtype, 1, 1, sign)]
}

/// Substitution, from the first row or from the last.
pub fn triangular(dtype: DType, a: Matrix, b: Matrix, upper: bool, unit: bool) -> Result<Matrix> {
    let (n, mut a) = (a.len(), triangle(dtype, a, upper));
    if unit {
        (0..n).for_each(|i| a[i][i] = number(dtype, 1.0.into()));
    }
    if !is_finite(&a) {
        return Ok(constant(dtype, n, b[0].len(), f64::NAN));
    }
    if let Some(i) = (0..n).find(|&i| !a[i][i].truth()) {
        return Err(Error::linalg(format!("the matrix is singular: element {i} of its diagonal is zero")));
    }
    let mut x = b;
    for step in 0..n {
        let i = if upper { n - 1 - step } else { step };
        for c in 0..x[i].len() {
            let known = if upper { i + 1..n } else { 0..i };
            let left = known.fold(x[i][c], |sum, j| sum + -(a[i][j] * x[j][c]));
            x[i][c] = left / a[i][i];
        }
    }
    Ok(x)
}

pub fn product(x: &Matrix, y: &Matrix, dtype: DType) -> Matrix {
    let columns = y.first().map_or(0, Vec::len);
    let cell =
        |row: &Vec<Scalar>, j: usize| row.iter().zip(y).fold(number(dtype, 0.0.into()), |sum, (&x, y)| sum + x * y[j]);
    x.iter().map(|row| (0..columns).map(|j| cell(row, j)).collect()).collect()
}

/// Taylor's series of a matrix halved until its norm is below a half, then squared as often.
pub fn expm(dtype: DType, Given { a, n, .. }: Given) -> Matrix {
    if !is_finite(&a) {
        return constant(dtype, n, n, f64::NAN);
    }
    let mut norm = a.iter().map(|row| row.iter().map(|x| x.magnitude().hi / 4.0).sum::<f64>()).fold(0.0, f64::max);
    let (mut x, mut halvings) = (a, 0);
    let half = number(dtype, 0.5.into());
    while norm > 0.125 {
        x.iter_mut().flatten().for_each(|x| *x = *x * half);
        (norm, halvings) = (norm / 2.0, halvings + 1);
    }
    let mut sum = constant(dtype, n, n, 0.0);
    (0..n).for_each(|i| sum[i][i] = number(dtype, 1.0.into()));
    let mut term = sum.clone();
    // 2^-30 / 30! is below 1e-41.
    for k in 1..30 {
        term = product(&term, &x, dtype);
        let k = number(dtype, Double::from(k as f64));
        term.iter_mut().flatten().for_each(|x| *x = *x / k);
        sum.iter_mut().flatten().zip(term.iter().flatten()).for_each(|(sum, &t)| *sum = *sum + t);
    }
    for _ in 0..halvings {
        sum = product(&sum, &sum, dtype);
    }
    sum
}
