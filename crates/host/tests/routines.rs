//! The routines against the reference interpreter, by residuals where a result is only defined up to conditioning.
//! The last tests check the checkers: a wrong result must fail.

use ferrotensor_core::element::{Complex, Element};
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Kernel, Routine};
use ferrotensor_core::reference::{self, Array, Scalar};
use ferrotensor_core::{DType, Result};
use proptest::prelude::*;

/// Reproducible numbers in (-1, 1), evenly spread.
fn random(seed: u64) -> impl Iterator<Item = f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / 2f64.powi(52) - 1.0
    })
}

fn filled(dtype: DType, dims: &[usize], seed: u64) -> Array {
    let count: usize = dims.iter().product();
    let complex: Vec<f64> = random(seed).take(2 * count).collect();
    match dtype {
        DType::C64 => {
            let values: Vec<_> = complex.chunks(2).map(|v| Complex::new(v[0] as f32, v[1] as f32)).collect();
            Array::from_slice(dims, &values).unwrap()
        }
        DType::C128 => {
            let values: Vec<_> = complex.chunks(2).map(|v| Complex::new(v[0], v[1])).collect();
            Array::from_slice(dims, &values).unwrap()
        }
        _ => real(dtype, dims, complex.into_iter().take(count)),
    }
}

/// Runs a routine with outputs that start one byte off when `misaligned`, and inputs too.
fn host(routine: Routine, inputs: &[&Array], outputs: &[&[usize]], misaligned: bool) -> Result<Vec<Array>> {
    let dtype = inputs[0].dtype();
    let skip = misaligned as usize;
    let shifted: Vec<Vec<u8>> = inputs.iter().map(|a| [&vec![0; skip], a.bytes()].concat()).collect();
    let operands: Vec<(&[u8], &[usize])> = shifted.iter().zip(inputs).map(|(b, a)| (&b[skip..], a.dims())).collect();
    let mut buffers: Vec<Vec<u8>> =
        outputs.iter().map(|dims| vec![0xa5; dims.iter().product::<usize>() * dtype.bytes() + skip]).collect();
    let mut views: Vec<(&mut [u8], &[usize])> =
        buffers.iter_mut().zip(outputs).map(|(b, dims)| (&mut b[skip..], *dims)).collect();
    ferrotensor_host::run(&routine, &operands, &mut views)?;
    buffers.iter().zip(outputs).map(|(b, dims)| Array::new(dtype, dims, b[skip..].to_vec())).collect()
}

/// Matrix product, summed in float64.
fn product(a: &Array, b: &Array) -> Array {
    let ([batch @ .., m, k], [.., n]) = (a.dims(), b.dims()) else { panic!("rank") };
    let (x, y) = (values(a), values(b));
    let cell = |o: usize| {
        let (matrix, i, j) = (o / (m * n), o / n % m, o % n);
        (0..*k).map(|l| x[(matrix * m + i) * k + l] * y[(matrix * k + l) * n + j]).sum()
    };
    let count = batch.iter().product::<usize>() * m * n;
    real(a.dtype(), &[batch, &[*m, *n]].concat(), (0..count).map(cell))
}

fn real(dtype: DType, dims: &[usize], values: impl Iterator<Item = f64>) -> Array {
    match dtype {
        DType::F32 => Array::from_slice(dims, &values.map(|v| v as f32).collect::<Vec<_>>()),
        _ => Array::from_slice(dims, &values.collect::<Vec<_>>()),
    }
    .unwrap()
}

fn transposed(a: &Array) -> Array {
    let rank = a.dims().len();
    let mut axes: Vec<usize> = (0..rank).collect();
    axes.swap(rank - 1, rank - 2);
    let layout = ferrotensor_core::Layout::dense(a.dims()).unwrap().permute(&axes);
    Array::gather(a.bytes(), &layout, a.dtype()).unwrap()
}

fn values(a: &Array) -> Vec<f64> {
    a.scalars().map(|v| v.real().hi).collect()
}

fn largest(a: &Array) -> f64 {
    values(a).into_iter().fold(0.0, |x: f64, y| if y.is_nan() { f64::INFINITY } else { x.max(y.abs()) })
}

/// Largest difference; infinite for NaN.
fn distance(a: &Array, b: &Array) -> f64 {
    assert_eq!((a.dims(), a.dtype()), (b.dims(), b.dtype()));
    let part = |a: &Array| match a.dtype() {
        DType::C64 => a.to_vec::<Complex<f32>>().unwrap().iter().flat_map(|c| [c.re as f64, c.im as f64]).collect(),
        DType::C128 => a.to_vec::<Complex<f64>>().unwrap().iter().flat_map(|c| [c.re, c.im]).collect(),
        _ => values(a),
    };
    part(a).iter().zip(part(b)).fold(0.0, |d, (x, y)| if (x - y).is_nan() { f64::INFINITY } else { d.max((x - y).abs()) })
}

/// Half an ulp of 1.
fn unit(dtype: DType) -> f64 {
    if matches!(dtype, DType::F32 | DType::C64) { 2f64.powi(-24) } else { 2f64.powi(-53) }
}

fn identity(dtype: DType, batch: &[usize], n: usize) -> Array {
    let count = batch.iter().product::<usize>() * n * n;
    let values = (0..count).map(|i| if i % (n * n) / n == i % n { 1.0 } else { 0.0 });
    real(dtype, &[batch, &[n, n]].concat(), values)
}

/// `|a x - b| <= c n u |a| |x|`: the backward error bound of elimination (Higham, "Accuracy and Stability", 9.3), with
/// c = 8 for the growth that partial pivoting shows on random matrices.
fn check_solution(a: &Array, x: &Array, b: &Array) {
    let n = b.dims()[b.dims().len() - 2];
    let bound = 8.0 * (n * n) as f64 * unit(a.dtype()) * largest(a) * largest(x);
    // The product is rounded to the operands' precision once more.
    let residual = distance(&product(a, x), b);
    assert!(residual <= bound + unit(a.dtype()) * largest(b), "n = {n}: residual {residual:e} above {bound:e}");
}

/// `q r = a`, `q^T q = 1`, r upper triangular with a diagonal that is not negative.
fn check_qr(a: &Array, q: &Array, r: &Array) {
    let [batch @ .., m, n] = a.dims() else { panic!("rank") };
    let (k, u) = ((*m).min(*n), unit(a.dtype()));
    // Householder QR: |a - q r| <= c m n u |a| normwise (Higham, 19.3); 16 m u more for the columns faer takes for dependent.
    let bound = 32.0 * *m as f64 * (*n as f64).sqrt() * u;
    assert!(distance(&product(q, r), a) <= bound * largest(a), "{m} x {n}: q r is not a");
    assert!(
        distance(&product(&transposed(q), q), &identity(a.dtype(), batch, k)) <= bound,
        "{m} x {n}: q is not orthogonal"
    );
    for (i, value) in values(r).into_iter().enumerate() {
        let (row, column) = (i / n % k, i % n);
        assert!(column >= row || value == 0.0, "{m} x {n}: r[{row}, {column}] = {value}");
        assert!(column != row || !value.is_sign_negative(), "{m} x {n}: r[{row}, {row}] = {value}");
    }
}

fn solve(dtype: DType, batch: &[usize], n: usize, k: usize, seed: u64, misaligned: bool) {
    let (a, b) = (filled(dtype, &[batch, &[n, n]].concat(), seed), filled(dtype, &[batch, &[n, k]].concat(), !seed));
    let x = host(Routine::Solve(dtype), &[&a, &b], &[b.dims()], misaligned).unwrap().remove(0);
    check_solution(&a, &x, &b);
}

fn qr(dtype: DType, batch: &[usize], m: usize, n: usize, seed: u64, misaligned: bool) {
    let a = filled(dtype, &[batch, &[m, n]].concat(), seed);
    let (q, r) = factor(&a, misaligned);
    check_qr(&a, &q, &r);
}

fn factor(a: &Array, misaligned: bool) -> (Array, Array) {
    let [batch @ .., m, n] = a.dims() else { panic!("rank") };
    let k = (*m).min(*n);
    let mut out =
        host(Routine::Qr(a.dtype()), &[a], &[&[batch, &[*m, k]].concat(), &[batch, &[k, *n]].concat()], misaligned).unwrap();
    let r = out.remove(1);
    (out.remove(0), r)
}

/// Against the reference: rustfft's error grows with log n; 4 u sqrt(n) log2(2 n) covers Bluestein's three transforms.
fn fft(dtype: DType, batch: &[usize], n: usize, inverse: bool, seed: u64, misaligned: bool) {
    let x = filled(dtype, &[batch, &[n]].concat(), seed);
    let routine = Routine::Fft { dtype, inverse };
    let y = host(routine, &[&x], &[x.dims()], misaligned).unwrap().remove(0);
    let expected = reference::run(&Kernel::Routine(routine), std::slice::from_ref(&x), &[x.dims()], &[]).unwrap().remove(0);
    let bound = 4.0 * unit(dtype) * (n as f64).sqrt() * (2.0 * n.max(1) as f64).log2();
    let error = distance(&y, &expected);
    assert!(error <= bound, "fft {dtype} n = {n}: {error:e} above {bound:e}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_systems_are_solved(n in 1usize..40, k in 0usize..4, batch in 0usize..4, wide: bool, seed: u64, misaligned: bool) {
        solve(if wide { DType::F64 } else { DType::F32 }, &[batch, 2][..(seed % 3) as usize], n, k, seed, misaligned);
    }

    #[test]
    fn random_matrices_are_factored(m in 0usize..40, n in 0usize..40, batch in 0usize..4, wide: bool, seed: u64, misaligned: bool) {
        qr(if wide { DType::F64 } else { DType::F32 }, &[batch, 2][..(seed % 3) as usize], m, n, seed, misaligned);
    }

    #[test]
    fn random_signals_are_transformed(n in 0usize..70, batch in 0usize..4, inverse: bool, wide: bool, seed: u64, misaligned: bool) {
        let dtype = if wide { DType::C128 } else { DType::C64 };
        fft(dtype, &[batch, 2][..(seed % 3) as usize], n, inverse, seed, misaligned);
    }
}

#[test]
fn well_conditioned_results_equal_the_reference() {
    // Diagonally dominant, so that solution and factors are defined to a few ulp.
    let (n, dims) = (12, [3, 12, 12]);
    let dominant: Vec<f64> =
        random(5).take(3 * n * n).enumerate().map(|(i, v)| if i % (n * n) / n == i % n { 24.0 + v } else { v }).collect();
    let (a, b) = (Array::from_slice(&dims, &dominant).unwrap(), filled(DType::F64, &[3, 12, 2], 6));
    for (routine, inputs, outputs) in [
        (Routine::Solve(DType::F64), vec![&a, &b], vec![b.dims()]),
        (Routine::Qr(DType::F64), vec![&a], vec![&dims[..], &dims[..]]),
    ] {
        let owned: Vec<Array> = inputs.iter().map(|&i| i.clone()).collect();
        let expected = reference::run(&Kernel::Routine(routine), &owned, &outputs, &[]).unwrap();
        for (found, expected) in host(routine, &inputs, &outputs, false).unwrap().iter().zip(&expected) {
            assert!(distance(found, expected) <= 64.0 * unit(DType::F64) * largest(expected), "{routine:?}");
        }
    }
}

#[test]
fn complex_systems_and_factors_equal_the_reference() {
    for (dtype, n) in [(DType::C64, 5), (DType::C128, 12), (DType::C128, 70), (DType::C64, 70)] {
        let dims = [2, n, n];
        let mut elements = filled(dtype, &dims, 5).scalars().collect::<Vec<_>>();
        (0..2 * n * n).filter(|i| i % (n * n) / n == i % n).for_each(|i| {
            elements[i] = elements[i] + Scalar::Complex(0.0.into(), (4.0 * n as f64).into());
        });
        let (a, b) = (Array::from_scalars(dtype, &dims, elements).unwrap(), filled(dtype, &[2, n, 3], 6));
        let cases = [
            (Routine::Solve(dtype), vec![a.clone(), b.clone()], vec![b.dims()]),
            (Routine::Qr(dtype), vec![a.clone()], vec![&dims[..], &dims[..]]),
        ];
        for (routine, inputs, outputs) in cases {
            let wanted = reference::run(&Kernel::Routine(routine), &inputs, &outputs, &[]).unwrap();
            let found = host(routine, &inputs.iter().collect::<Vec<_>>(), &outputs, true).unwrap();
            for (found, wanted) in found.iter().zip(&wanted) {
                let largest = wanted.scalars().fold(0.0f64, |x, y| x.max(y.magnitude().hi));
                assert!(distance(found, wanted) <= 16.0 * n as f64 * unit(dtype) * largest, "{routine:?}, n = {n}");
            }
        }
    }
}

#[test]
fn complex_columns_that_depend_on_others_and_extremes_give_finite_factors() {
    let part = |v: f64| Complex::new(v, -v);
    for size in [1e-310, 1e-200, 1.0, 1e200, 1e307] {
        let column = [1.0, 2.0, -1.0].map(|v| part(v * size));
        let a = Array::from_slice(&[3, 2], &column.iter().flat_map(|&c| [c, c]).collect::<Vec<_>>());
        let (q, r) = factor(&a.unwrap(), false);
        let finite = |a: &Array| a.to_vec::<Complex<f64>>().unwrap().iter().all(|c| c.is_finite());
        assert!(finite(&q) && finite(&r), "{size:e}");
        let diagonal = [r.get(0), r.get(3)];
        assert!(diagonal.iter().all(|d| d.real().hi >= 0.0 && d.imaginary().hi == 0.0), "{size:e}: {diagonal:?}");
    }
}

#[test]
fn sizes_around_blocks_and_threads() {
    for n in [63, 64, 65, 255, 256, 257] {
        solve(DType::F32, &[], n, 1, n as u64, false);
    }
    solve(DType::F64, &[], 300, 2, 1, false);
    for (m, n) in [(48, 48), (130, 70), (70, 130), (256, 16), (300, 280), (280, 300)] {
        qr(DType::F64, &[], m, n, 7, false);
        qr(DType::F32, &[], m, n, 8, false);
    }
}

#[test]
fn transforms_of_prime_power_and_mixed_lengths() {
    for n in [1, 2, 4, 97, 128, 210, 257, 509, 1000, 1009] {
        for dtype in [DType::C64, DType::C128] {
            fft(dtype, &[2], n, n % 2 == 0, n as u64, false);
        }
    }
}

#[test]
fn there_and_back_gives_n_times_the_signal() {
    let (n, dtype) = (1 << 16, DType::C128);
    let x = filled(dtype, &[n], 3);
    let there = host(Routine::Fft { dtype, inverse: false }, &[&x], &[&[n]], false).unwrap().remove(0);
    let back = host(Routine::Fft { dtype, inverse: true }, &[&there], &[&[n]], false).unwrap().remove(0);
    let scaled: Vec<Complex<f64>> = back.to_vec::<Complex<f64>>().unwrap().iter().map(|c| c / n as f64).collect();
    assert!(distance(&Array::from_slice(&[n], &scaled).unwrap(), &x) < 1e-15 * 8.0);
}

/// Bits of a transform on so many threads.
fn on_threads(threads: usize, x: &Array, inverse: bool) -> Vec<u8> {
    ferrotensor_host::set_threads(threads);
    let routine = Routine::Fft { dtype: x.dtype(), inverse };
    let y = host(routine, &[x], &[x.dims()], false).unwrap().remove(0);
    ferrotensor_host::set_threads(1);
    y.bytes().to_vec()
}

#[test]
fn transforms_are_the_same_on_any_number_of_threads() {
    // One, and batches that are shared: of two, of many, with a part left over.
    let shapes: [&[usize]; 4] = [&[1 << 16], &[2, 1 << 19], &[2081, 509], &[3, 43, 8192]];
    for dims in shapes {
        for dtype in [DType::C64, DType::C128] {
            let x = filled(dtype, dims, 5);
            for inverse in [false, true] {
                let alone = on_threads(1, &x, inverse);
                assert_eq!(alone, on_threads(3, &x, inverse), "{dtype} {dims:?}");
            }
        }
    }
}

#[test]
fn long_transforms_find_waves_where_they_are() {
    for (n, waves) in [(1usize << 16, [3usize, 40_000]), (70 * 1009, [1, 69_000]), (3 << 16, [77, 150_001])] {
        let wave = |j: usize| -> Complex<f64> {
            let angle = |w: usize| std::f64::consts::TAU * ((w * j) % n) as f64 / n as f64;
            Complex::cis(angle(waves[0])) + Complex::cis(angle(waves[1])) * 0.5
        };
        let x = Array::from_slice(&[n], &(0..n).map(wave).collect::<Vec<_>>()).unwrap();
        let routine = Routine::Fft { dtype: DType::C128, inverse: false };
        let y = host(routine, &[&x], &[&[n]], false).unwrap().remove(0);
        for (k, y) in y.to_vec::<Complex<f64>>().unwrap().into_iter().enumerate() {
            let expected = n as f64 * if k == waves[0] { 1.0 } else { 0.5 * f64::from(u8::from(k == waves[1])) };
            assert!((y - expected).norm() < 1e-15 * 8.0 * n as f64, "n = {n}, k = {k}: {y}");
        }
    }
}

#[test]
fn many_lengths_do_not_keep_plans_forever_and_stay_right() {
    for n in 1..150 {
        fft(DType::C64, &[], n, false, 1, false);
    }
    fft(DType::C64, &[], 3, false, 1, false);
}

#[test]
fn rank_deficient_matrices_are_factored() {
    for (m, n, rank) in [(5, 5, 0), (6, 4, 2), (4, 6, 3), (90, 90, 30), (300, 260, 100)] {
        let a = product(&filled(DType::F64, &[m, rank], 1), &filled(DType::F64, &[rank, n], 2));
        let (q, r) = factor(&a, false);
        check_qr(&a, &q, &r);
    }
}

#[test]
fn extreme_magnitudes_are_no_obstacle() {
    for size in [1e-310, 1e-300, 1e-160, 1e160, 1e306] {
        let scaled =
            |a: &Array| Array::from_slice(a.dims(), &values(a).iter().map(|v| v * size).collect::<Vec<_>>()).unwrap();
        let unscaled =
            |a: &Array| Array::from_slice(a.dims(), &values(a).iter().map(|v| v / size).collect::<Vec<_>>()).unwrap();
        // Multiples of 1/16: also the subnormal ones are scaled with few bits lost.
        let a = Array::from_slice(&[3, 3], &[0.5, -0.25, 1.0, 0.75, 0.5, -1.0, 0.0625, 1.0, 0.5]).unwrap();
        let (q, r) = factor(&scaled(&a), false);
        let (expected_q, expected_r) = factor(&a, false);
        let tolerance = if size < 1e-307 { 1e-12 } else { 1e-14 };
        assert!(distance(&q, &expected_q) < tolerance && distance(&unscaled(&r), &expected_r) < tolerance, "{size:e}");
        let b = scaled(&Array::from_slice(&[3, 1], &[1.0, -0.5, 0.25]).unwrap());
        let x = host(Routine::Solve(DType::F64), &[&scaled(&a), &b], &[&[3, 1]], false).unwrap().remove(0);
        let expected = host(Routine::Solve(DType::F64), &[&a, &unscaled(&b)], &[&[3, 1]], false).unwrap().remove(0);
        assert!(distance(&x, &expected) < tolerance, "{size:e}");
    }
}

#[test]
fn singular_matrices_are_named() {
    let b = Array::from_slice(&[2, 2, 1], &[1.0, 1.0, 1.0, 1.0]).unwrap();
    let a = Array::from_slice(&[2, 2, 2], &[1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 4.0]).unwrap();
    let error = host(Routine::Solve(DType::F64), &[&a, &b], &[&[2, 2, 1]], false).unwrap_err();
    assert_eq!(error.code, Code::LinAlg);
    assert!(error.message.contains("matrix 1 of the batch is singular") && error.message.contains("column 1"), "{error}");
    let (zero, one) = (Array::from_slice(&[1, 1], &[0f32]).unwrap(), Array::from_slice(&[1, 1], &[1f32]).unwrap());
    assert_eq!(host(Routine::Solve(DType::F32), &[&zero, &one], &[&[1, 1]], false).unwrap_err().code, Code::LinAlg);
    // Not exactly singular, but the solution overflows.
    let (a, b) = (Array::from_slice(&[1, 1], &[1e-300]).unwrap(), Array::from_slice(&[1, 1], &[1e300]).unwrap());
    assert_eq!(host(Routine::Solve(DType::F64), &[&a, &b], &[&[1, 1]], false).unwrap_err().code, Code::LinAlg);
}

#[test]
fn nan_and_infinity_neither_panic_nor_hang() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for n in [1, 3, 20, 70, 260] {
            let mut elements: Vec<f64> = random(4).take(n * n).collect();
            elements[n * n / 2] = bad;
            let (a, b) = (Array::from_slice(&[n, n], &elements).unwrap(), filled(DType::F64, &[n, 2], 9));
            let x = host(Routine::Solve(DType::F64), &[&a, &b], &[&[n, 2]], false).unwrap().remove(0);
            let (q, r) = factor(&a, false);
            assert!([x, q, r].iter().all(|a| values(a).iter().all(|v| v.is_nan())), "n = {n}, {bad}");
            // In a right-hand side it stays in its column.
            let mut rhs = values(&b);
            rhs[0] = bad;
            let b = Array::from_slice(&[n, 2], &rhs).unwrap();
            let x =
                host(Routine::Solve(DType::F64), &[&identity(DType::F64, &[], n), &b], &[&[n, 2]], false).unwrap().remove(0);
            assert!(values(&x)[0].to_bits() == bad.to_bits() || values(&x)[0].is_nan(), "n = {n}, {bad}");
            assert!(values(&x).iter().skip(1).step_by(2).all(|v| v.is_finite()), "n = {n}, {bad}");
        }
        let x = Array::from_slice(&[97], &[Complex::new(bad, 1.0); 97]).unwrap();
        let y = host(Routine::Fft { dtype: DType::C128, inverse: false }, &[&x], &[&[97]], false).unwrap().remove(0);
        assert!(y.to_vec::<Complex<f64>>().unwrap().iter().all(|c| !c.is_finite()));
    }
}

#[test]
fn empty_operands_are_valid() {
    for (batch, n, k) in [(0, 3, 1), (2, 0, 1), (2, 0, 0), (2, 3, 0)] {
        solve(DType::F32, &[batch], n.max(1), k, 1, false);
        let (a, b) = (filled(DType::F32, &[batch, n, n], 1), filled(DType::F32, &[batch, n, k], 2));
        assert!(host(Routine::Solve(DType::F32), &[&a, &b], &[&[batch, n, k]], false).is_ok());
    }
    for (m, n) in [(0, 0), (0, 3), (3, 0)] {
        qr(DType::F32, &[2], m, n, 1, false);
    }
    fft(DType::C64, &[2], 0, false, 1, false);
    fft(DType::C64, &[0], 5, true, 1, false);
}

fn refused<T: Element>(routine: Routine, inputs: &[&[usize]], outputs: &[&[usize]]) {
    let inputs: Vec<Array> = inputs
        .iter()
        .map(|dims| Array::new(T::DTYPE, dims, vec![0; dims.iter().product::<usize>() * size_of::<T>()]).unwrap())
        .collect();
    let error = host(routine, &inputs.iter().collect::<Vec<_>>(), outputs, false).unwrap_err();
    assert_eq!(error.code, Code::Internal, "{routine:?} {outputs:?}");
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    refused::<f64>(Routine::Solve(DType::F64), &[&[2, 3], &[2, 1]], &[&[2, 1]]);
    refused::<f64>(Routine::Solve(DType::F64), &[&[2, 2], &[3, 1]], &[&[3, 1]]);
    refused::<f64>(Routine::Solve(DType::F64), &[&[2, 2], &[2]], &[&[2]]);
    refused::<f64>(Routine::Solve(DType::F64), &[&[2, 2]], &[&[2, 1]]);
    refused::<f64>(Routine::Solve(DType::F32), &[&[2, 2], &[2, 1]], &[&[2, 1]]);
    refused::<i32>(Routine::Solve(DType::I32), &[&[2, 2], &[2, 1]], &[&[2, 1]]);
    refused::<f64>(Routine::Qr(DType::F64), &[&[3, 2]], &[&[3, 3], &[3, 2]]);
    refused::<f64>(Routine::Qr(DType::F64), &[&[3]], &[&[3], &[3]]);
    refused::<Complex<f32>>(Routine::Fft { dtype: DType::C64, inverse: false }, &[&[4]], &[&[5]]);
    refused::<Complex<f32>>(Routine::Fft { dtype: DType::C64, inverse: false }, &[&[]], &[&[]]);
}

#[test]
#[should_panic(expected = "residual")]
fn a_wrong_solution_is_noticed() {
    let (a, b) = (filled(DType::F64, &[20, 20], 1), filled(DType::F64, &[20, 1], 2));
    let mut x = values(&host(Routine::Solve(DType::F64), &[&a, &b], &[&[20, 1]], false).unwrap()[0]);
    x[7] *= 1.0 + 1e-9;
    check_solution(&a, &Array::from_slice(&[20, 1], &x).unwrap(), &b);
}

#[test]
#[should_panic(expected = "q r is not a")]
fn a_wrong_factor_is_noticed() {
    let a = filled(DType::F64, &[20, 20], 1);
    let (q, r) = factor(&a, false);
    let mut r = values(&r);
    r[3] += 1e-9;
    check_qr(&a, &q, &Array::from_slice(&[20, 20], &r).unwrap());
}
