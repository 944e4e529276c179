//! Routine kernels by textbook methods in double-double: accurate to the last bit for all but desperate inputs, and slow.

use super::array::Array;
use super::double::{Double, PI};
use super::value::Scalar;
use super::{eigen, factor, singular};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Routine};

/// A routine on every matrix or vector of a batch. A matrix that holds NaN or infinity gives NaN everywhere.
pub(super) fn run(routine: Routine, inputs: &[Array], outputs: &[&[usize]]) -> Result<Vec<Array>> {
    match (routine, inputs, outputs) {
        (Routine::Solve(dtype), [a, b], [x]) => solve_all(dtype, a, b, x).map(|x| vec![x]),
        (Routine::Qr(dtype), [a], [q, r]) => qr_all(dtype, a, q, r),
        (Routine::Fft { dtype, inverse }, [input], [output]) if input.dims() == *output && !output.is_empty() => {
            fft_all(dtype, inverse, input).map(|y| vec![y])
        }
        (Routine::Cholesky(dtype), [a], [_]) => each(routine, a, outputs, |a| Ok(vec![factor::cholesky(dtype, a)?])),
        (Routine::Lu(dtype), [a], [..]) => each(routine, a, outputs, |a| Ok(factor::lu(dtype, a))),
        (Routine::Triangular { dtype, upper, unit }, [a, b], [x]) => {
            let one = |a, b| factor::triangular(dtype, a, b, upper, unit);
            sides(dtype, a, b, x, one).map(|x| vec![x])
        }
        (Routine::Eigh { dtype, vectors }, [a], [..]) => each(routine, a, outputs, |a| Ok(eigen::eigh(dtype, a, vectors))),
        (Routine::Svd { dtype, outputs: of }, [a], [..]) => each(routine, a, outputs, |a| Ok(singular::svd(dtype, a, of))),
        (Routine::Eig { dtype, vectors }, [a], [..]) => each(routine, a, outputs, |a| Ok(eigen::eig(dtype, a, vectors))),
        (Routine::Expm(dtype), [a], [_]) => each(routine, a, outputs, |a| Ok(vec![factor::expm(dtype, a)])),
        _ => Err(Error::internal(format!("{routine:?}: operands do not fit"))),
    }
}

/// A matrix with the numbers of its rows and columns: one without elements still has both.
pub(super) struct Given {
    pub a: Matrix,
    pub m: usize,
    pub n: usize,
}

/// What `one` makes of every matrix of a batch; its results are written one after the other in row-major order.
fn each(
    routine: Routine,
    a: &Array,
    outputs: &[&[usize]],
    one: impl Fn(Given) -> Result<Vec<Matrix>>,
) -> Result<Vec<Array>> {
    let [batch @ .., m, n] = a.dims() else {
        return Err(Error::internal(format!("{routine:?}: the operand needs rank 2 or more")));
    };
    let dtypes = Kernel::Routine(routine).outputs();
    let mut all: Vec<Vec<Matrix>> = vec![Vec::new(); outputs.len()];
    for i in 0..batch.iter().product() {
        let results = one(Given { a: matrix(a, i, *m, *n), m: *m, n: *n })?;
        if results.len() != outputs.len() {
            return Err(Error::internal(format!("{routine:?}: {} results for {outputs:?}", results.len())));
        }
        all.iter_mut().zip(results).for_each(|(all, result)| all.push(result));
    }
    outputs.iter().zip(all).zip(dtypes).map(|((dims, all), dtype)| collect(dtype, dims, all)).collect()
}

pub(super) type Matrix = Vec<Vec<Scalar>>;

/// The `batch`-th `rows x columns` matrix of an array.
pub(super) fn matrix(array: &Array, batch: usize, rows: usize, columns: usize) -> Matrix {
    let from = batch * rows * columns;
    (0..rows).map(|i| (0..columns).map(|j| array.get(from + i * columns + j)).collect()).collect()
}

pub(super) fn is_finite(matrix: &Matrix) -> bool {
    matrix.iter().flatten().all(|x| x.real().hi.is_finite() && x.imaginary().hi.is_finite())
}

/// A real number in the kind of a dtype.
pub(super) fn number(dtype: DType, value: Double) -> Scalar {
    if dtype.is_complex() { Scalar::Complex(value, 0.0.into()) } else { Scalar::Float(value) }
}

pub(super) fn constant(dtype: DType, rows: usize, columns: usize, value: f64) -> Matrix {
    vec![vec![number(dtype, value.into()); columns]; rows]
}

pub(super) fn conjugate(x: Scalar) -> Scalar {
    if let Scalar::Complex(re, im) = x { Scalar::Complex(re, -im) } else { x }
}

fn collect(dtype: DType, dims: &[usize], matrices: Vec<Matrix>) -> Result<Array> {
    Array::from_scalars(dtype, dims, matrices.into_iter().flatten().flatten())
}

fn solve_all(dtype: DType, a: &Array, b: &Array, x: &[usize]) -> Result<Array> {
    let one = |a: Matrix, b: Matrix| {
        if is_finite(&a) { solve(dtype, a, b) } else { Ok(constant(dtype, b.len(), b[0].len(), f64::NAN)) }
    };
    sides(dtype, a, b, x, one)
}

/// What `one` makes of every matrix and right side of a batch.
fn sides(dtype: DType, a: &Array, b: &Array, x: &[usize], one: impl Fn(Matrix, Matrix) -> Result<Matrix>) -> Result<Array> {
    let ([batch @ .., n, n2], [b_batch @ .., n3, k]) = (a.dims(), b.dims()) else {
        return Err(Error::internal("solve: operands need rank 2 or more"));
    };
    if n != n2 || n != n3 || batch != b_batch || b.dims() != x {
        return Err(Error::internal(format!("solve: {:?} and {:?} do not make {x:?}", a.dims(), b.dims())));
    }
    let count = if *n == 0 { 0 } else { batch.iter().product() };
    let one = |i: usize| one(matrix(a, i, *n, *n), matrix(b, i, *n, *k));
    collect(dtype, x, (0..count).map(one).collect::<Result<_>>()?)
}

/// Gaussian elimination with partial pivoting.
pub(super) fn solve(dtype: DType, mut a: Matrix, mut b: Matrix) -> Result<Matrix> {
    let n = a.len();
    for p in 0..n {
        let size = |i: usize| a[i][p].magnitude().hi;
        let pivot = (p..n).fold(p, |best, i| if size(i) > size(best) { i } else { best });
        if size(pivot) == 0.0 {
            return Err(Error::linalg(format!("the matrix is singular: pivot {p} is zero")));
        }
        a.swap(p, pivot);
        b.swap(p, pivot);
        for i in p + 1..n {
            let factor = a[i][p] / a[p][p];
            for matrix in [&mut a, &mut b] {
                let (above, below) = matrix.split_at_mut(i);
                below[0].iter_mut().zip(&above[p]).for_each(|(to, &from)| *to = *to + -(factor * from));
            }
        }
    }
    for p in (0..n).rev() {
        for j in 0..b[p].len() {
            let known = (p + 1..n).fold(number(dtype, 0.0.into()), |sum, l| sum + a[p][l] * b[l][j]);
            b[p][j] = (b[p][j] + -known) / a[p][p];
        }
    }
    Ok(b)
}

fn qr_all(dtype: DType, a: &Array, q: &[usize], r: &[usize]) -> Result<Vec<Array>> {
    let [batch @ .., m, n] = a.dims() else {
        return Err(Error::internal("qr: the operand needs rank 2 or more"));
    };
    let k = (*m).min(*n);
    if q != [batch, &[*m, k]].concat() || r != [batch, &[k, *n]].concat() {
        return Err(Error::internal(format!("qr: {:?} does not make {q:?} and {r:?}", a.dims())));
    }
    let (mut all_q, mut all_r) = (Vec::new(), Vec::new());
    for i in 0..batch.iter().product() {
        let a = matrix(a, i, *m, *n);
        let finite = is_finite(&a);
        let nan = |rows, columns| constant(dtype, rows, columns, f64::NAN);
        let (q, r) = if finite { qr(dtype, a, *m, *n) } else { (nan(*m, k), nan(k, *n)) };
        all_q.push(q);
        all_r.push(r);
    }
    Ok(vec![collect(dtype, q, all_q)?, collect(dtype, r, all_r)?])
}

/// Householder reflections, then factors of modulus 1 such that the diagonal of r is real and not negative.
fn qr(dtype: DType, mut a: Matrix, m: usize, n: usize) -> (Matrix, Matrix) {
    let (k, zero) = (m.min(n), number(dtype, 0.0.into()));
    // Reflector p maps column p of what is left to a multiple of the p-th unit vector; None where that is so already.
    let mut reflectors: Vec<Option<Vec<Scalar>>> = Vec::with_capacity(k);
    let norm = |v: &[Scalar]| v.iter().fold(zero, |sum, &x| sum + conjugate(x) * x);
    let reflect = |v: &[Scalar], a: &mut Matrix, p: usize, columns: std::ops::Range<usize>| {
        let norm = norm(v);
        for j in columns {
            let dot = v.iter().enumerate().fold(zero, |sum, (i, &x)| sum + conjugate(x) * a[p + i][j]);
            let factor = (dot + dot) / norm;
            for (i, &x) in v.iter().enumerate() {
                a[p + i][j] = a[p + i][j] + -(factor * x);
            }
        }
    };
    for p in 0..k {
        let mut v: Vec<Scalar> = (p..m).map(|i| a[i][p]).collect();
        let largest = v.iter().fold(0.0f64, |x, y| x.max(y.magnitude().hi));
        if v[1..].iter().all(|x| !x.truth()) {
            reflectors.push(None);
            continue;
        }
        // By the largest entry first, so that squares neither overflow nor vanish.
        v.iter_mut().for_each(|x| *x = *x / number(dtype, largest.into()));
        v[0] = v[0] + direction(dtype, v[0]) * number(dtype, norm(&v).real().sqrt());
        reflect(&v, &mut a, p, p..n);
        reflectors.push(Some(v));
    }
    let mut q = constant(dtype, m, k, 0.0);
    (0..k).for_each(|i| q[i][i] = number(dtype, 1.0.into()));
    for (p, v) in reflectors.iter().enumerate().rev() {
        if let Some(v) = v {
            reflect(v, &mut q, p, 0..k);
        }
    }
    a.truncate(k);
    for p in 0..k {
        a[p][..p].fill(zero);
        let phase = direction(dtype, a[p][p]);
        a[p].iter_mut().for_each(|x| *x = *x * conjugate(phase));
        q.iter_mut().for_each(|row| row[p] = row[p] * phase);
        a[p][p] = number(dtype, a[p][p].real().abs());
    }
    (q, a)
}

/// `x / |x|`, or 1.
pub(super) fn direction(dtype: DType, x: Scalar) -> Scalar {
    if !x.truth() {
        return number(dtype, 1.0.into());
    }
    match x {
        Scalar::Complex(re, im) => {
            let (size, zero) = (number(dtype, re.hi.abs().max(im.hi.abs()).into()), 0.0.into());
            let x = x / size;
            x / Scalar::Complex((x * conjugate(x)).real().sqrt(), zero)
        }
        _ => Scalar::float(1f64.copysign(x.real().hi)),
    }
}

fn fft_all(dtype: DType, inverse: bool, input: &Array) -> Result<Array> {
    let n = input.dims().last().copied().unwrap_or(1).max(1);
    let roots: Vec<Scalar> = (0..n).map(|r| root_of_unity(r, n, inverse)).collect();
    let results = (0..input.len()).map(|o| {
        let (row, j) = (o / n * n, o % n);
        (0..n).fold(Scalar::Int(0).fit(dtype), |sum, l| {
            // j * l mod n without error: angles never grow.
            let r = (j as u128 * l as u128 % n as u128) as usize;
            sum + input.get(row + l) * roots[r]
        })
    });
    Array::from_scalars(dtype, input.dims(), results)
}

/// `exp(-2 pi i r / n)` (inverse: `+`) for `r < n`, by Taylor series in the first quadrant.
fn root_of_unity(r: usize, n: usize, inverse: bool) -> Scalar {
    let (quadrant, rest) = (4 * r as u128 / n as u128, 4 * r as u128 % n as u128);
    let angle = PI * Double::from(rest as f64) / Double::from(2.0 * n as f64);
    let (mut cos, mut sin, mut term) = (Double::from(1.0), Double::from(0.0), Double::from(1.0));
    // (pi / 2)^k / k! is below 1e-40 from k = 40 on.
    for k in 1..40 {
        term = term * angle / Double::from(k as f64);
        match k % 4 {
            1 => sin = sin + term,
            2 => cos = cos - term,
            3 => sin = sin - term,
            _ => cos = cos + term,
        }
    }
    let (re, im) = match quadrant {
        0 => (cos, sin),
        1 => (-sin, cos),
        2 => (-cos, -sin),
        _ => (sin, -cos),
    };
    Scalar::Complex(re, if inverse { im } else { -im })
}
