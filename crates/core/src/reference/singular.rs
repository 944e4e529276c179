//! Singular values by Jacobi's rotations of the columns themselves, in double-double.

use super::double::Double;
use super::eigen::{adjoint, rotation, scaled, towards_real, turn};
use super::routine::{Given, Matrix, conjugate, constant, is_finite, number};
use super::value::Scalar;
use crate::dtype::DType;
use crate::kernel::SvdOutputs;

/// What counts as nothing beside 1.
const NOTHING: f64 = 1e-30;
const SWEEPS: usize = 100;

fn dot(a: &Matrix, p: usize, q: usize, dtype: DType) -> Scalar {
    a.iter().fold(number(dtype, 0.0.into()), |sum, row| sum + conjugate(row[p]) * row[q])
}

/// u, s, vh, or s alone.
pub fn svd(dtype: DType, Given { a, m, n }: Given, outputs: SvdOutputs) -> Vec<Matrix> {
    let k = m.min(n);
    let (columns, rows) = if outputs == SvdOutputs::Full { (m, n) } else { (k, k) };
    let [u, s, vh] = if is_finite(&a) {
        let [mut u, s, mut v] = if m >= n {
            tall(dtype, a, m, n, columns)
        } else {
            let [v, s, u] = tall(dtype, adjoint(&a, n), n, m, rows);
            [u, s, v]
        };
        for j in 0..columns.max(rows) {
            let of = |v: &Matrix| towards_real(dtype, v.iter().map(|row| row[j]));
            let by = if j < rows { of(&v) } else { of(&u) };
            let also = if j < k || j >= rows { by } else { of_column(dtype, &u, j) };
            v.iter_mut().filter(|_| j < rows).for_each(|row| row[j] = row[j] * by);
            u.iter_mut().filter(|_| j < columns).for_each(|row| row[j] = row[j] * also);
        }
        [u, s, adjoint(&v, rows)]
    } else {
        let nan = |rows, columns| constant(dtype, rows, columns, f64::NAN);
        [nan(m, columns), nan(1, k), nan(rows, n)]
    };
    if outputs == SvdOutputs::Values { vec![s] } else { vec![u, s, vh] }
}

fn of_column(dtype: DType, a: &Matrix, j: usize) -> Scalar {
    if a.first().is_some_and(|row| j < row.len()) {
        towards_real(dtype, a.iter().map(|row| row[j]))
    } else {
        number(dtype, 1.0.into())
    }
}

/// Of a matrix with no fewer rows than columns: `wanted` left vectors as columns, the values, the right vectors as columns.
fn tall(dtype: DType, mut a: Matrix, m: usize, n: usize, wanted: usize) -> [Matrix; 3] {
    let by = scaled(dtype, &mut a).real();
    let mut v = constant(dtype, n, n, 0.0);
    (0..n).for_each(|i| v[i][i] = number(dtype, 1.0.into()));
    for _ in 0..SWEEPS {
        let mut still = true;
        for p in 0..n {
            for q in p + 1..n {
                let (x, y, d) = (dot(&a, p, p, dtype).real(), dot(&a, q, q, dtype).real(), dot(&a, p, q, dtype));
                let size = x.hi.sqrt() * y.hi.sqrt();
                if d.magnitude().hi <= NOTHING * size.max(NOTHING) {
                    continue;
                }
                still = false;
                let turned = rotation(dtype, x, y, d);
                turn(&mut a, p, q, turned);
                turn(&mut v, p, q, turned);
            }
        }
        if still {
            break;
        }
    }
    let sizes: Vec<Double> = (0..n).map(|j| dot(&a, j, j, dtype).real().sqrt()).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| (sizes[j] - sizes[i]).hi.total_cmp(&0.0));
    let largest = order.first().map_or(0.0, |&j| sizes[j].hi);
    let is_left = |j: usize| sizes[j].hi > NOTHING * largest;
    let mut left: Vec<Vec<Scalar>> = order
        .iter()
        .filter(|&&j| is_left(j))
        .map(|&j| a.iter().map(|row| row[j] / number(dtype, sizes[j])).collect())
        .collect();
    complete(dtype, &mut left, m, wanted);
    let u = (0..m).map(|i| left.iter().map(|column| column[i]).collect()).collect();
    let s = vec![order.iter().map(|&j| Scalar::Float(if is_left(j) { sizes[j] * by } else { 0.0.into() })).collect()];
    let v = v.iter().map(|row| order.iter().map(|&j| row[j]).collect()).collect();
    [u, s, v]
}

/// More columns, by what is left of the unit vectors without the directions there are.
fn complete(dtype: DType, columns: &mut Vec<Vec<Scalar>>, m: usize, wanted: usize) {
    let zero = number(dtype, 0.0.into());
    let norm = |v: &[Scalar]| v.iter().fold(Double::from(0.0), |sum, &x| sum + (conjugate(x) * x).real()).sqrt();
    for unit in 0..m {
        if columns.len() >= wanted {
            return;
        }
        let mut new = vec![zero; m];
        new[unit] = number(dtype, 1.0.into());
        for column in columns.iter().chain(columns.iter()) {
            let dot = column.iter().zip(&new).fold(zero, |sum, (&x, &y)| sum + conjugate(x) * y);
            new.iter_mut().zip(column).for_each(|(y, &x)| *y = *y + -(x * dot));
        }
        let size = norm(&new);
        // Of m unit vectors one has at least 1 / m of its square left, whatever the others are.
        if size.hi * size.hi * 2.0 * m as f64 >= 1.0 {
            new.iter_mut().for_each(|x| *x = *x / number(dtype, size));
            columns.push(new);
        }
    }
}
