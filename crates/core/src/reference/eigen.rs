//! Eigenvalues by Jacobi's rotations (Hermitian matrices) and by shifted QR steps (others), in double-double.

use super::double::Double;
use super::factor::{hermitian, product};
use super::routine::{Given, Matrix, conjugate, constant, direction, is_finite, number};
use super::value::Scalar;
use crate::dtype::DType;
use crate::promotion;
use std::cmp::Ordering;

/// What counts as nothing beside 1.
const NOTHING: f64 = 1e-31;
const SWEEPS: usize = 100;

fn identity(dtype: DType, n: usize) -> Matrix {
    let mut eye = constant(dtype, n, n, 0.0);
    (0..n).for_each(|i| eye[i][i] = number(dtype, 1.0.into()));
    eye
}

/// Divides by the largest entry, which is returned: so that squares neither overflow nor vanish.
pub fn scaled(dtype: DType, a: &mut Matrix) -> Scalar {
    let largest = a.iter().flatten().fold(0.0f64, |most, x| most.max(x.magnitude().hi));
    let by = number(dtype, if largest == 0.0 { 1.0 } else { largest }.into());
    a.iter_mut().flatten().for_each(|x| *x = *x / by);
    by
}

/// Cosine, sine, and the conjugate of the direction of `dot`, of the rotation that makes two vectors orthogonal whose sizes have
/// these squares (or, of a matrix, that diagonalises its 2 x 2 part).
pub fn rotation(dtype: DType, a: Double, b: Double, dot: Scalar) -> [Scalar; 3] {
    let half = (b - a) / (dot.magnitude() + dot.magnitude());
    let one = Double::from(1.0);
    let root = half.abs() + (half * half + one).sqrt();
    let tangent = if half.hi < 0.0 { -(one / root) } else { one / root };
    let cos = one / (tangent * tangent + one).sqrt();
    [number(dtype, cos), number(dtype, cos * tangent), conjugate(direction(dtype, dot))]
}

/// Columns p and q of a matrix turned.
pub fn turn(a: &mut Matrix, p: usize, q: usize, [cos, sin, by]: [Scalar; 3]) {
    for row in a {
        let (x, y) = (row[p], row[q] * by);
        (row[p], row[q]) = (cos * x + -(sin * y), sin * x + cos * y);
    }
}

pub fn adjoint(a: &Matrix, columns: usize) -> Matrix {
    (0..columns).map(|j| a.iter().map(|row| conjugate(row[j])).collect()).collect()
}

/// What a column is multiplied with so that the first of its largest entries becomes real and positive.
pub fn towards_real(dtype: DType, column: impl Iterator<Item = Scalar>) -> Scalar {
    let most = column.fold(None, |most: Option<Scalar>, x| match most {
        Some(m) if m.magnitude().hi * (1.0 + 1e-25) >= x.magnitude().hi => Some(m),
        _ => Some(x),
    });
    most.map_or(number(dtype, 1.0.into()), |x| conjugate(direction(dtype, x)))
}

fn picked(a: &Matrix, order: &[usize]) -> Matrix {
    a.iter().map(|row| order.iter().map(|&j| row[j]).collect()).collect()
}

/// Each column settled, in an order.
fn settled(dtype: DType, v: &Matrix, order: &[usize]) -> Matrix {
    let mut v = picked(v, order);
    for j in 0..order.len() {
        let by = towards_real(dtype, v.iter().map(|row| row[j]));
        v.iter_mut().for_each(|row| row[j] = row[j] * by);
    }
    v
}

/// Cyclic Jacobi rotations.
pub fn eigh(dtype: DType, Given { a, n, .. }: Given, vectors: bool) -> Vec<Matrix> {
    let mut a = hermitian(dtype, a);
    let nan = |rows| constant(dtype, rows, n, f64::NAN);
    let wanted = 1 + vectors as usize;
    if !is_finite(&a) {
        return [nan(1), nan(n)].into_iter().take(wanted).collect();
    }
    let by = scaled(dtype, &mut a);
    let mut v = identity(dtype, n);
    for _ in 0..SWEEPS {
        let mut still = true;
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q].magnitude().hi <= NOTHING {
                    continue;
                }
                still = false;
                let turned = rotation(dtype, a[p][p].real(), a[q][q].real(), a[p][q]);
                turn(&mut a, p, q, turned);
                a = adjoint(&a, n);
                turn(&mut a, p, q, turned);
                turn(&mut v, p, q, turned);
            }
        }
        if still {
            break;
        }
    }
    let values: Vec<Double> = (0..n).map(|i| a[i][i].real()).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| (values[i] - values[j]).hi.total_cmp(&0.0));
    let w = vec![order.iter().map(|&i| Scalar::Float(values[i] * by.real())).collect()];
    [w, settled(dtype, &v, &order)].into_iter().take(wanted).collect()
}

fn complex(x: Scalar) -> Scalar {
    Scalar::Complex(x.real(), x.imaginary())
}

fn root(z: Scalar) -> Scalar {
    let (half, x) = (Double::from(0.5), z.real());
    let size = z.magnitude();
    let large = ((size + x.abs()) * half).sqrt();
    if large.hi == 0.0 {
        return Scalar::Complex(0.0.into(), 0.0.into());
    }
    let small = z.imaginary() * half / large;
    match x.hi < 0.0 {
        true if small.hi < 0.0 => Scalar::Complex(-small, -large),
        true => Scalar::Complex(small, large),
        false => Scalar::Complex(large, small),
    }
}

/// The rotation of rows p and p + 1 that takes `(x, y)` to a multiple of `(1, 0)`, as two rows.
fn givens(x: Scalar, y: Scalar) -> [[Scalar; 2]; 2] {
    let size = (x * conjugate(x) + y * conjugate(y)).real().sqrt();
    if size.hi == 0.0 {
        let (zero, one) = (number(DType::C128, 0.0.into()), number(DType::C128, 1.0.into()));
        return [[one, zero], [zero, one]];
    }
    let by = number(DType::C128, size);
    [[conjugate(x) / by, conjugate(y) / by], [-(y / by), x / by]]
}

fn rows_turned(a: &mut Matrix, p: usize, q: usize, g: &[[Scalar; 2]; 2]) {
    let turned = |row: &[Scalar; 2], (&x, &y): (&Scalar, &Scalar)| row[0] * x + row[1] * y;
    let both = g.each_ref().map(|row| a[p].iter().zip(&a[q]).map(|at| turned(row, at)).collect());
    let [first, second] = both;
    (a[p], a[q]) = (first, second);
}

/// Times the adjoint of what turned the rows.
fn columns_turned(a: &mut Matrix, p: usize, q: usize, g: &[[Scalar; 2]; 2]) {
    for row in a {
        let (x, y) = (row[p], row[q]);
        row[p] = x * conjugate(g[0][0]) + y * conjugate(g[0][1]);
        row[q] = x * conjugate(g[1][0]) + y * conjugate(g[1][1]);
    }
}

/// Upper triangular t and unitary q with `a = q t q^H`.
fn schur(mut t: Matrix) -> (Matrix, Matrix) {
    let n = t.len();
    let mut q = identity(DType::C128, n);
    for k in 0..n.saturating_sub(2) {
        for i in k + 2..n {
            let g = givens(t[k + 1][k], t[i][k]);
            rows_turned(&mut t, k + 1, i, &g);
            columns_turned(&mut t, k + 1, i, &g);
            columns_turned(&mut q, k + 1, i, &g);
        }
    }
    let (mut last, mut steps) = (n.saturating_sub(1), 0);
    while last > 0 && steps < 100 * n {
        let small = |i: usize, t: &Matrix| {
            t[i][i - 1].magnitude().hi <= NOTHING * (t[i][i].magnitude().hi + t[i - 1][i - 1].magnitude().hi)
        };
        if small(last, &t) {
            t[last][last - 1] = number(DType::C128, 0.0.into());
            last -= 1;
            continue;
        }
        let first = (1..=last).rev().find(|&i| small(i, &t)).unwrap_or(0);
        steps += 1;
        // Wilkinson's shift: the eigenvalue of the trailing 2 x 2 that is nearer to its last element.
        let (a, b, c, d) = (t[last - 1][last - 1], t[last - 1][last], t[last][last - 1], t[last][last]);
        let half = number(DType::C128, 0.5.into());
        let gap = (a + -d) * half;
        let root = root(gap * gap + b * c);
        let (up, down) = (gap + root, gap + -root);
        let nearer = if up.magnitude().hi < down.magnitude().hi { up } else { down };
        // Now and then another, against cycles.
        let shift = if steps % 11 == 10 { d + number(DType::C128, c.magnitude()) } else { d + nearer };
        (0..n).for_each(|i| t[i][i] = t[i][i] + -shift);
        let turns: Vec<_> = (first..last)
            .map(|k| {
                let g = givens(t[k][k], t[k + 1][k]);
                rows_turned(&mut t, k, k + 1, &g);
                g
            })
            .collect();
        for (k, g) in (first..last).zip(&turns) {
            columns_turned(&mut t, k, k + 1, g);
            columns_turned(&mut q, k, k + 1, g);
        }
        (0..n).for_each(|i| t[i][i] = t[i][i] + shift);
    }
    (t, q)
}

/// Eigenvalues of the triangular form and, by substitution, its eigenvectors.
pub fn eig(dtype: DType, Given { a, n, .. }: Given, vectors: bool) -> Vec<Matrix> {
    let (wanted, wide) = (1 + vectors as usize, promotion::to_complex(dtype));
    let mut a: Matrix = a.into_iter().map(|row| row.into_iter().map(complex).collect()).collect();
    if !is_finite(&a) {
        let nan = |rows| constant(wide, rows, n, f64::NAN);
        return [nan(1), nan(n)].into_iter().take(wanted).collect();
    }
    let by = scaled(wide, &mut a);
    let (t, q) = schur(a);
    let values: Vec<Scalar> = (0..n).map(|i| t[i][i] * by).collect();
    // Of conjugates, whose real parts are equal but for the last of double-double's digits, the imaginary parts decide.
    let rounded: Vec<Scalar> = values.iter().map(|v| v.fit(wide)).collect();
    let coarse = |i: usize| if t[i][i].real().hi.abs() < 1e-25 { 0.0 } else { rounded[i].real().hi };
    let mut order: Vec<usize> = (0..n).collect();
    let compare = |x: f64, y: f64| x.partial_cmp(&y).unwrap_or(Ordering::Equal);
    order.sort_by(|&i, &j| {
        let (x, y) = (rounded[i], rounded[j]);
        compare(coarse(i), coarse(j)).then(compare(x.imaginary().hi, y.imaginary().hi))
    });
    let w = vec![order.iter().map(|&i| values[i]).collect()];
    if !vectors {
        return vec![w];
    }
    let mut v = constant(wide, n, n, 0.0);
    for k in 0..n {
        v[k][k] = number(wide, 1.0.into());
        for i in (0..k).rev() {
            let sum = (i + 1..=k).fold(number(wide, 0.0.into()), |sum, j| sum + t[i][j] * v[j][k]);
            let gap = t[i][i] + -t[k][k];
            let gap = if gap.magnitude().hi == 0.0 { number(wide, NOTHING.into()) } else { gap };
            v[i][k] = -(sum / gap);
        }
    }
    let mut v = product(&q, &v, wide);
    for k in 0..n {
        let largest = number(wide, v.iter().fold(0.0f64, |most, row| most.max(row[k].magnitude().hi)).into());
        v.iter_mut().for_each(|row| row[k] = row[k] / largest);
        let squares = v.iter().fold(Double::from(0.0), |sum, row| sum + (row[k] * conjugate(row[k])).real());
        let size = number(wide, squares.sqrt());
        v.iter_mut().for_each(|row| row[k] = row[k] / size);
    }
    vec![w, settled(wide, &v, &order)]
}
