//! Factors, eigenvalues, singular values and exponentials by what defines them: reconstruction, orthogonality, order, signs.
//! Sizes around blocks and threads, rank-deficient matrices, extreme magnitudes, NaN. The last test checks the checkers.

use ferrotensor_core::element::Complex;
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Kernel, Routine, SvdOutputs};
use ferrotensor_core::reference::{Array, Scalar};
use ferrotensor_core::{DType, Result};

type C = Complex<f64>;

const DTYPES: [DType; 4] = [DType::F32, DType::F64, DType::C64, DType::C128];

/// A matrix of complex numbers.
#[derive(Clone)]
struct Matrix {
    m: usize,
    n: usize,
    x: Vec<C>,
}

impl Matrix {
    fn of(m: usize, n: usize, f: impl Fn(usize, usize) -> C) -> Matrix {
        Matrix { m, n, x: (0..m * n).map(|at| f(at / n, at % n)).collect() }
    }

    fn at(&self, i: usize, j: usize) -> C {
        self.x[i * self.n + j]
    }

    fn times(&self, other: &Matrix) -> Matrix {
        assert_eq!(self.n, other.m);
        Matrix::of(self.m, other.n, |i, j| (0..self.n).map(|k| self.at(i, k) * other.at(k, j)).sum())
    }

    fn adjoint(&self) -> Matrix {
        Matrix::of(self.n, self.m, |i, j| self.at(j, i).conj())
    }

    /// Largest difference; infinite for NaN.
    fn off(&self, other: &Matrix) -> f64 {
        assert_eq!((self.m, self.n), (other.m, other.n));
        let gap = self.x.iter().zip(&other.x).map(|(a, b)| (a - b).norm());
        gap.fold(0.0, |d, gap| if gap.is_nan() { f64::INFINITY } else { d.max(gap) })
    }

    fn size(&self) -> f64 {
        self.x.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt()
    }

    fn array(&self, dtype: DType) -> Array {
        let values = self.x.iter().map(|x| Scalar::Complex(x.re.into(), x.im.into()).fit(dtype));
        Array::from_scalars(dtype, &[self.m, self.n], values).unwrap()
    }

    fn from(a: &Array) -> Matrix {
        let (m, n) = match *a.dims() {
            [m, n] => (m, n),
            [n] => (1, n),
            _ => (1, 1),
        };
        Matrix { m, n, x: a.scalars().map(|x| C::new(x.real().hi, x.imaginary().hi)).collect() }
    }
}

fn identity(n: usize) -> Matrix {
    Matrix::of(n, n, |i, j| C::new(f64::from(i == j), 0.0))
}

/// Reproducible elements with parts in (-1, 1), real for real dtypes, as the dtype holds them.
fn random(dtype: DType, m: usize, n: usize, seed: u64) -> Matrix {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / 2f64.powi(52) - 1.0
    };
    let x = (0..m * n).map(|_| C::new(next(), if dtype.is_complex() { next() } else { 0.0 })).collect();
    Matrix::from(&Matrix { m, n, x }.array(dtype))
}

fn unit(dtype: DType) -> f64 {
    if matches!(dtype, DType::F32 | DType::C64) { 2f64.powi(-24) } else { 2f64.powi(-53) }
}

/// Runs a routine with operands that start one byte off.
fn run(routine: Routine, inputs: &[&Array], dims: &[&[usize]]) -> Result<Vec<Array>> {
    let shifted: Vec<Vec<u8>> = inputs.iter().map(|a| [&[0], a.bytes()].concat()).collect();
    let operands: Vec<(&[u8], &[usize])> = shifted.iter().zip(inputs).map(|(b, a)| (&b[1..], a.dims())).collect();
    let dtypes = Kernel::Routine(routine).outputs();
    let size = |(dims, dtype): (&&[usize], &DType)| dims.iter().product::<usize>() * dtype.bytes() + 1;
    let mut buffers: Vec<Vec<u8>> = dims.iter().zip(&dtypes).map(|o| vec![0xa5; size(o)]).collect();
    let mut views: Vec<(&mut [u8], &[usize])> = buffers.iter_mut().zip(dims).map(|(b, d)| (&mut b[1..], *d)).collect();
    ferrotensor_host::run(&routine, &operands, &mut views)?;
    buffers.iter().zip(dims).zip(dtypes).map(|((b, dims), dtype)| Array::new(dtype, dims, b[1..].to_vec())).collect()
}

fn check_orthonormal(columns: &Matrix, allowed: f64) {
    let off = columns.adjoint().times(columns).off(&identity(columns.n));
    assert!(off <= allowed, "columns are off orthonormal by {off:e}, allowed {allowed:e}");
}

/// The first among the largest of each column is real and positive.
fn check_settled(columns: &Matrix, allowed: f64) {
    for j in 0..columns.n {
        let column: Vec<C> = (0..columns.m).map(|i| columns.at(i, j)).collect();
        let largest = column.iter().map(|x| x.norm()).fold(0.0, f64::max);
        let real = |x: &&C| x.norm() >= largest * (1.0 - allowed) && x.re > 0.0 && x.im.abs() <= allowed;
        assert!(column.iter().any(|x| real(&x)), "column {j} is not settled: {column:?}");
    }
}

fn check_ascending(values: impl Iterator<Item = f64>) {
    let values: Vec<f64> = values.collect();
    assert!(values.is_sorted(), "{values:?}");
}

fn check_svd(dtype: DType, a: &Matrix) -> Vec<f64> {
    let (m, n, k) = (a.m, a.n, a.m.min(a.n));
    let (input, allowed) = (a.array(dtype), 8.0 * (m.max(n) as f64) * unit(dtype));
    let mut kept = Vec::new();
    // A full basis of thousands of rows is millions of numbers.
    let kinds = if m > 1000 { 1 } else { 2 };
    for (outputs, columns, rows) in [(SvdOutputs::Thin, k, k), (SvdOutputs::Full, m, n)].into_iter().take(kinds) {
        let found = run(Routine::Svd { dtype, outputs }, &[&input], &[&[m, columns], &[k], &[rows, n]]).unwrap();
        let (u, s, vh) = (Matrix::from(&found[0]), Matrix::from(&found[1]), Matrix::from(&found[2]));
        check_orthonormal(&u, allowed);
        check_orthonormal(&vh.adjoint(), allowed);
        check_settled(&vh.adjoint(), allowed.max(1e-12));
        check_ascending(s.x.iter().rev().map(|s| s.re));
        assert!(s.x.iter().all(|s| s.re >= 0.0));
        let middle = Matrix::of(columns, rows, |i, j| if i == j && i < k { s.x[i] } else { C::default() });
        let off = u.times(&middle).times(&vh).off(a);
        assert!(off <= allowed * a.size().max(1e-300), "{dtype} {m} x {n}: u s vh is off by {off:e}");
        kept = s.x.iter().map(|s| s.re).collect();
    }
    let values = run(Routine::Svd { dtype, outputs: SvdOutputs::Values }, &[&input], &[&[k]]).unwrap();
    let off = Matrix::from(&values[0]).x.iter().zip(&kept).fold(0.0f64, |d, (a, b)| d.max((a.re - b).abs()));
    assert!(off <= allowed * a.size(), "values alone are off by {off:e}");
    kept
}

fn check_eigh(dtype: DType, a: &Matrix) {
    let n = a.n;
    let h = Matrix::of(n, n, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => a.at(j, i).conj(),
        std::cmp::Ordering::Equal => a.at(i, i).re.into(),
        std::cmp::Ordering::Greater => a.at(i, j),
    });
    let (input, allowed) = (a.array(dtype), 8.0 * n as f64 * unit(dtype));
    let found = run(Routine::Eigh { dtype, vectors: true }, &[&input], &[&[n], &[n, n]]).unwrap();
    let (w, v) = (Matrix::from(&found[0]), Matrix::from(&found[1]));
    check_orthonormal(&v, allowed);
    check_settled(&v, allowed.max(1e-12));
    check_ascending(w.x.iter().map(|w| w.re));
    let scaled = Matrix::of(n, n, |i, j| v.at(i, j) * w.x[j]);
    let off = h.times(&v).off(&scaled);
    assert!(off <= allowed * h.size().max(1e-300), "{dtype} n = {n}: a v is not v w by {off:e}");
    let values = run(Routine::Eigh { dtype, vectors: false }, &[&input], &[&[n]]).unwrap();
    assert!(Matrix::from(&values[0]).off(&w) <= allowed * h.size());
}

fn check_eig(dtype: DType, a: &Matrix) {
    let n = a.n;
    let (input, allowed) = (a.array(dtype), 32.0 * n as f64 * unit(dtype));
    let found = run(Routine::Eig { dtype, vectors: true }, &[&input], &[&[n], &[n, n]]).unwrap();
    let (w, v) = (Matrix::from(&found[0]), Matrix::from(&found[1]));
    check_settled(&v, allowed.max(1e-12));
    check_ascending(w.x.iter().map(|w| w.re));
    for j in 0..n {
        let length = (0..n).map(|i| v.at(i, j).norm_sqr()).sum::<f64>().sqrt();
        assert!((length - 1.0).abs() <= allowed, "column {j} is of length {length}");
    }
    let scaled = Matrix::of(n, n, |i, j| v.at(i, j) * w.x[j]);
    let off = a.times(&v).off(&scaled);
    assert!(off <= allowed * a.size().max(1e-300), "{dtype} n = {n}: a v is not v w by {off:e}");
    let values = run(Routine::Eig { dtype, vectors: false }, &[&input], &[&[n]]).unwrap();
    // Of values that depend on nothing but rounding, as far as their sum.
    let sum = |m: &Matrix| m.x.iter().sum::<C>();
    assert!((sum(&Matrix::from(&values[0])) - sum(&w)).norm() <= n as f64 * allowed * a.size());
}

fn check_lu(dtype: DType, a: &Matrix) {
    let (m, n, k) = (a.m, a.n, a.m.min(a.n));
    let found = run(Routine::Lu(dtype), &[&a.array(dtype)], &[&[m, k], &[k, n], &[m], &[]]).unwrap();
    let (l, u, rows) = (Matrix::from(&found[0]), Matrix::from(&found[1]), Matrix::from(&found[2]));
    let triangular = |x: &Matrix, below: bool| {
        (0..x.m * x.n).all(|at| {
            let (i, j) = (at / x.n, at % x.n);
            if below { i >= j || x.at(i, j) == C::default() } else { i <= j || x.at(i, j) == C::default() }
        })
    };
    assert!(triangular(&l, true) && triangular(&u, false) && (0..k).all(|i| l.at(i, i) == C::new(1.0, 0.0)));
    assert!(l.x.iter().all(|x| x.norm() <= 2f64.sqrt() + 1e-6), "a pivot is not the largest");
    let taken = Matrix::of(m, n, |i, j| a.at(rows.x[i].re as usize, j));
    let off = l.times(&u).off(&taken);
    let allowed = 8.0 * m.max(n) as f64 * unit(dtype) * a.size();
    assert!(off <= allowed, "{dtype} {m} x {n}: l u is off by {off:e}");
}

const SHAPES: [(usize, usize); 9] = [(1, 1), (2, 2), (1, 5), (5, 1), (7, 4), (4, 7), (33, 33), (70, 40), (40, 70)];

#[test]
fn matrices_of_every_shape_are_taken_apart() {
    for dtype in DTYPES {
        for (m, n) in SHAPES {
            let a = random(dtype, m, n, (m * 100 + n) as u64);
            check_svd(dtype, &a);
            check_lu(dtype, &a);
            if m == n {
                check_eigh(dtype, &a);
                check_eig(dtype, &a);
            }
        }
    }
}

#[test]
fn several_threads_and_blocks() {
    ferrotensor_host::set_threads(3);
    let a = random(DType::F64, 260, 260, 3);
    check_svd(DType::F64, &random(DType::F64, 270, 256, 5));
    check_eigh(DType::F64, &a);
    check_eig(DType::F64, &a);
    check_lu(DType::F64, &a);
    check_eigh(DType::C64, &random(DType::C64, 130, 130, 4));
    check_eig(DType::C128, &random(DType::C128, 130, 130, 4));
}

/// Matrices that are cut into blocks of rows, the last of which is longer.
#[test]
fn tall_matrices_are_taken_apart_in_blocks() {
    for (dtype, m, n) in [(DType::F64, 8700, 4), (DType::F32, 4500, 15), (DType::C128, 5500, 3), (DType::C64, 33_000, 1)] {
        let a = random(dtype, m, n, 11);
        check_svd(dtype, &a);
        // Columns that repeat, rows of zeros in whole blocks, and nothing but zeros.
        let of = |f: &dyn Fn(usize, usize) -> C| Matrix::from(&Matrix::of(m, n, f).array(dtype));
        let values = check_svd(dtype, &of(&|i, j| a.at(i, j % 2)));
        assert!(values.iter().skip(2).all(|s| *s <= 64.0 * n as f64 * unit(dtype) * values[0]), "{values:?}");
        check_svd(dtype, &of(&|i, j| if i < m / 2 { C::default() } else { a.at(i, j) }));
        check_svd(dtype, &of(&|_, _| C::default()));
        check_svd(dtype, &of(&|i, j| a.at(i, j) * 1e-30));
    }
}

#[test]
fn matrices_of_lower_rank_and_equal_values() {
    for dtype in DTYPES {
        for (m, n, rank) in [(5, 5, 0), (6, 4, 2), (4, 6, 3), (40, 40, 10), (3, 3, 1)] {
            let a = random(dtype, m, rank, 1).times(&random(dtype, rank, n, 2));
            let a = Matrix::from(&a.array(dtype));
            let values = check_svd(dtype, &a);
            assert!(values.iter().skip(rank).all(|s| *s <= 64.0 * n as f64 * unit(dtype) * a.size()), "{values:?}");
            check_lu(dtype, &a);
        }
        for n in [1, 2, 5, 40] {
            check_svd(dtype, &identity(n));
            check_eigh(dtype, &identity(n));
            check_eig(dtype, &identity(n));
            check_lu(dtype, &identity(n));
            let exchange = Matrix::of(n, n, |i, j| C::new(f64::from(i + j + 1 == n), 0.0));
            check_svd(dtype, &exchange);
            check_eigh(dtype, &exchange);
            check_eig(dtype, &exchange);
            // Equal rows leave zeros in exact arithmetic too.
            check_svd(dtype, &Matrix::of(n, n, |_, j| C::new(j as f64, 0.0)));
            check_eigh(dtype, &Matrix::of(n, n, |_, _| C::new(1.0, 0.0)));
        }
    }
}

#[test]
fn graded_matrices_keep_their_small_values() {
    let a = Matrix::of(4, 4, |i, j| C::new(10f64.powi(-4 * j as i32) * if i == j { 1.0 } else { 0.25 }, 0.0));
    let values = check_svd(DType::F64, &a);
    let exact = check_svd(DType::F64, &Matrix::of(4, 4, |i, j| if i == j { a.at(i, i) } else { C::default() }));
    for (s, d) in values.iter().zip(&exact) {
        assert!(s / d > 0.5 && s / d < 2.0, "{values:?}");
    }
}

#[test]
fn extreme_magnitudes_are_no_obstacle() {
    for size in [1e-300, 1e-160, 1e160, 1e300] {
        let scaled = |a: &Matrix| Matrix { x: a.x.iter().map(|x| x * size).collect(), ..*a };
        let a = random(DType::F64, 4, 4, 7);
        let values =
            |a: &Matrix, routine, dims: &[&[usize]]| Matrix::from(&run(routine, &[&a.array(DType::F64)], dims).unwrap()[0]);
        let routines = [
            Routine::Svd { dtype: DType::F64, outputs: SvdOutputs::Values },
            Routine::Eigh { dtype: DType::F64, vectors: false },
            Routine::Eig { dtype: DType::F64, vectors: false },
        ];
        for routine in routines {
            let (found, plain) = (values(&scaled(&a), routine, &[&[4]]), values(&a, routine, &[&[4]]));
            let back = Matrix { x: found.x.iter().map(|x| x / size).collect(), ..found };
            assert!(back.off(&plain) < 1e-13, "{routine:?} {size:e}");
        }
        let h = a.times(&a.adjoint());
        let l = values(&scaled(&h), Routine::Cholesky(DType::F64), &[&[4, 4]]);
        let product = l.times(&l.adjoint());
        assert!(product.off(&scaled(&h)) <= 1e-13 * size, "{size:e}");
    }
}

#[test]
fn exponentials_of_nilpotent_and_rotating_matrices() {
    for dtype in DTYPES {
        let angle = 1.0;
        let a = Matrix::of(2, 2, |i, j| C::new(if i == j { 0.0 } else { angle * (i as f64 - j as f64) }, 0.0));
        let e = Matrix::from(&run(Routine::Expm(dtype), &[&a.array(dtype)], &[&[2, 2]]).unwrap()[0]);
        let wanted =
            Matrix::of(2, 2, |i, j| C::new(if i == j { angle.cos() } else { angle.sin() * (i as f64 - j as f64) }, 0.0));
        assert!(e.off(&wanted) < 16.0 * unit(dtype));
        let shift = Matrix::of(3, 3, |i, j| C::new(if j == i + 1 { 1000.0 } else { 0.0 }, 0.0));
        let e = Matrix::from(&run(Routine::Expm(dtype), &[&shift.array(dtype)], &[&[3, 3]]).unwrap()[0]);
        assert!((e.at(0, 2) - C::new(500000.0, 0.0)).norm() < 1e8 * unit(dtype), "{:?}", e.at(0, 2));
        let none = Matrix::from(
            &run(Routine::Expm(dtype), &[&Matrix::of(3, 3, |_, _| C::default()).array(dtype)], &[&[3, 3]]).unwrap()[0],
        );
        assert_eq!(none.off(&identity(3)), 0.0);
    }
}

#[test]
fn nan_and_infinity_make_every_result_nan() {
    for bad in [f64::NAN, f64::INFINITY] {
        let mut a = random(DType::F64, 5, 5, 1);
        a.x[10] = C::new(bad, 0.0);
        let a = a.array(DType::F64);
        let square: &[usize] = &[5, 5];
        for (routine, dims) in [
            (Routine::Cholesky(DType::F64), vec![square]),
            (Routine::Eigh { dtype: DType::F64, vectors: true }, vec![&[5], square]),
            (Routine::Eig { dtype: DType::F64, vectors: true }, vec![&[5], square]),
            (Routine::Svd { dtype: DType::F64, outputs: SvdOutputs::Full }, vec![square, &[5], square]),
            (Routine::Svd { dtype: DType::F64, outputs: SvdOutputs::Values }, vec![&[5]]),
            (Routine::Expm(DType::F64), vec![square]),
        ] {
            for found in run(routine, &[&a], &dims).unwrap() {
                assert!(found.scalars().all(|x| x.is_nan()), "{routine:?}");
            }
        }
        let lu = run(Routine::Lu(DType::F64), &[&a], &[square, square, &[5], &[]]).unwrap();
        assert!([&lu[0], &lu[1], &lu[3]].iter().all(|a| a.scalars().all(|x| x.is_nan())));
        let routine = Routine::Triangular { dtype: DType::F64, upper: false, unit: false };
        let sides = random(DType::F64, 5, 2, 2).array(DType::F64);
        assert!(run(routine, &[&a, &sides], &[&[5, 2]]).unwrap()[0].scalars().all(|x| x.is_nan()));
    }
}

#[test]
fn what_has_no_result_is_named() {
    let fails = |routine, inputs: &[&Matrix], dims: &[usize]| {
        let arrays: Vec<Array> = inputs.iter().map(|a| a.array(DType::F64)).collect();
        let error = run(routine, &arrays.iter().collect::<Vec<_>>(), &[dims]).unwrap_err();
        assert_eq!(error.code, Code::LinAlg, "{error}");
    };
    let indefinite = Matrix::of(2, 2, |i, j| C::new(if i == j { 1.0 } else { 2.0 }, 0.0));
    fails(Routine::Cholesky(DType::F64), &[&indefinite], &[2, 2]);
    fails(Routine::Cholesky(DType::F64), &[&Matrix::of(3, 3, |_, _| C::default())], &[3, 3]);
    let singular = Matrix::of(3, 3, |i, j| C::new(f64::from(i > j || i == 0), 0.0));
    let routine = Routine::Triangular { dtype: DType::F64, upper: false, unit: false };
    fails(routine, &[&singular, &identity(3)], &[3, 3]);
}

#[test]
fn matrices_without_elements() {
    let none = |m, n| Matrix::of(m, n, |_, _| C::default());
    for (m, n) in [(0, 0), (0, 3), (3, 0)] {
        check_svd(DType::F64, &none(m, n));
        check_lu(DType::F64, &none(m, n));
    }
    check_eigh(DType::F32, &none(0, 0));
    check_eig(DType::F32, &none(0, 0));
    assert!(run(Routine::Expm(DType::C64), &[&none(0, 0).array(DType::C64)], &[&[0, 0]]).is_ok());
    assert!(run(Routine::Cholesky(DType::C64), &[&none(0, 0).array(DType::C64)], &[&[0, 0]]).is_ok());
}

#[test]
#[should_panic(expected = "off orthonormal")]
fn columns_that_are_not_orthonormal_are_noticed() {
    let mut q = identity(4);
    q.x[1] = C::new(1e-9, 0.0);
    check_orthonormal(&q, 1e-12);
}
