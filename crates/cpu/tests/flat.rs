//! Operations on flat arrays by every engine that is here, beside sums in float64.

use ferrotensor_core::{Code, DType};
use ferrotensor_cpu::{FlatArrays, FlatEngine, FlatOp, run_flat};

/// Those that this machine has; `blas` is one of them where a library is installed.
fn engines() -> impl Iterator<Item = FlatEngine> {
    FlatEngine::ALL.into_iter().filter(|engine| engine.info().is_ok())
}

trait Float: Copy + PartialEq + std::fmt::Debug {
    const DTYPE: DType;
    const EPSILON: f64;
    fn of(x: f64) -> Self;
    fn wide(self) -> f64;
}
impl Float for f32 {
    const DTYPE: DType = DType::F32;
    const EPSILON: f64 = f32::EPSILON as f64;
    fn of(x: f64) -> f32 {
        x as f32
    }
    fn wide(self) -> f64 {
        self.into()
    }
}
impl Float for f64 {
    const DTYPE: DType = DType::F64;
    const EPSILON: f64 = f64::EPSILON;
    fn of(x: f64) -> f64 {
        x
    }
    fn wide(self) -> f64 {
        self
    }
}

fn numbers<T: Float>(len: usize, seed: u32) -> Vec<T> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 23) - 1.0
    };
    (0..len).map(|_| T::of(next())).collect()
}

fn run<T: Float, R>(engine: FlatEngine, op: FlatOp, a: &[T], b: &[T], out: &mut [R]) {
    let arrays = FlatArrays { dtype: T::DTYPE, a: a.as_ptr().cast(), b: b.as_ptr().cast(), out: out.as_mut_ptr().cast() };
    // SAFETY: the slices have the lengths that the tests say.
    unsafe { run_flat(engine, op, arrays) }.unwrap();
}

fn products<T: Float>() {
    for [m, n, k] in [[1, 1, 1], [1, 5, 9], [3, 1, 7], [4, 4, 1], [17, 33, 65], [64, 64, 64], [130, 257, 70], [2, 300, 500]]
    {
        let (a, b) = (numbers::<T>(m * k, 1), numbers::<T>(k * n, 2));
        for engine in engines() {
            let mut c = vec![T::of(f64::NAN); m * n];
            run(engine, FlatOp::Matmul { m, n, k }, &a, &b, &mut c);
            for (at, sum) in c.iter().enumerate() {
                let terms = || (0..k).map(|p| a[at / n * k + p].wide() * b[p * n + at % n].wide());
                let (exact, size) = (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
                let bound = (k as f64 + 2.0) * T::EPSILON * size;
                assert!((sum.wide() - exact).abs() <= bound, "{} {m} x {n} x {k} at {at}: {sum:?}, {exact}", engine.name());
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "a vendor's library")]
fn products_are_within_a_rounding_for_each_term() {
    products::<f32>();
    products::<f64>();
}

#[test]
#[cfg_attr(miri, ignore = "a vendor's library")]
fn not_a_number_and_infinity_go_through_a_product() {
    for engine in engines() {
        let (a, b) = ([0.0f32, 1.0, f32::NAN, 0.0], [f32::INFINITY, 1.0, 2.0, 3.0]);
        let mut c = [0f32; 4];
        run(engine, FlatOp::Matmul { m: 2, n: 2, k: 2 }, &a, &b, &mut c);
        assert!(c[0].is_nan(), "{}: 0 times infinity", engine.name());
        assert_eq!(c[1], 3.0);
        assert!(c[2].is_nan() && c[3].is_nan(), "{}", engine.name());
    }
}

fn elements<T: Float>() {
    for len in [1, 2, 31, 2048, 2049, 100_003] {
        let (a, b) = (numbers::<T>(len, 3), numbers::<T>(len, 4));
        let sum: Vec<T> = a.iter().zip(&b).map(|(x, y)| T::of(x.wide() + y.wide())).collect();
        let twice: Vec<T> = a.iter().map(|x| T::of(x.wide() * 2.0)).collect();
        let scaled: Vec<T> = a.iter().map(|x| T::of(x.wide() * -0.75)).collect();
        for engine in engines() {
            let mut out = vec![T::of(9.0); len];
            run(engine, FlatOp::Add(len), &a, &b, &mut out);
            assert!(out == sum, "{} {len}", engine.name());
            run(engine, FlatOp::Scale(len, -0.75), &a, &a, &mut out);
            assert!(out == scaled, "{} {len}", engine.name());
            // In place: the first operand, the second one, both, and a multiple.
            for (which, want) in [(0, &sum), (1, &sum), (2, &twice), (3, &scaled)] {
                let mut both = [a.clone(), b.clone()];
                let at = usize::from(which == 1);
                let out = both[at].as_mut_ptr().cast::<u8>();
                let (x, y) = (both[0].as_ptr().cast(), both[1].as_ptr().cast());
                let arrays = FlatArrays { dtype: T::DTYPE, a: x, b: if which == 2 { x } else { y }, out };
                let op = if which == 3 { FlatOp::Scale(len, -0.75) } else { FlatOp::Add(len) };
                // SAFETY: the result is an operand as a whole.
                unsafe { run_flat(engine, op, arrays) }.unwrap();
                assert!(both[at] == *want, "{} {len} in place {which}", engine.name());
            }
        }
    }
}

#[test]
fn elements_are_rounded_once_also_where_the_result_is_an_operand() {
    elements::<f32>();
    elements::<f64>();
}

fn totals<T: Float>(bound: f64) {
    for len in [1, 31, 33, 2047, 2048, 4097, 300_001] {
        let (a, b) = (numbers::<T>(len, 5), numbers::<T>(len, 6));
        for engine in engines() {
            let (mut sum, mut dot) = ([0f64], [0f64]);
            run(engine, FlatOp::Sum(len), &a, &a, &mut sum);
            run(engine, FlatOp::Dot(len), &a, &b, &mut dot);
            let terms = |x: &[T]| (x.iter().map(|x| x.wide()).sum::<f64>(), x.iter().map(|x| x.wide().abs()).sum::<f64>());
            let (exact, size) = terms(&a);
            assert!((sum[0] - exact).abs() <= bound * size, "{} {len}", engine.name());
            let products = || a.iter().zip(&b).map(|(x, y)| x.wide() * y.wide());
            let (exact, size) = (products().sum::<f64>(), products().map(f64::abs).sum::<f64>());
            assert!((dot[0] - exact).abs() <= bound * size, "{} {len}", engine.name());
            let again = (sum, dot);
            run(engine, FlatOp::Sum(len), &a, &a, &mut sum);
            run(engine, FlatOp::Dot(len), &a, &b, &mut dot);
            assert_eq!((sum, dot), again, "the same bits again");
        }
    }
}

#[test]
fn sums_are_accurate_and_the_same_on_every_engine() {
    totals::<f32>(1e-12);
    totals::<f64>(1e-12);
    // 10^7 times 0.1 in float32: summed in float32 it is off by 8 percent.
    let len = if cfg!(miri) { 10_000 } else { 10_000_000 };
    let tenths = vec![0.1f32; len];
    let sums: Vec<f64> = engines()
        .map(|engine| {
            let mut out = [0f64];
            run(engine, FlatOp::Sum(len), &tenths, &tenths, &mut out);
            out[0]
        })
        .collect();
    assert!((sums[0] / (len as f64 * f64::from(0.1f32)) - 1.0).abs() < 1e-12);
    assert!(sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
}

#[test]
fn the_engines_say_what_they_are() {
    for engine in FlatEngine::ALL {
        match engine.info() {
            Ok(info) if engine == FlatEngine::Blas => assert!(info.library.is_some_and(|name| !name.is_empty())),
            Ok(info) => assert!(info.isa.is_some() && info.threads.is_some_and(|n| n > 0)),
            Err(reason) => {
                assert_eq!(engine, FlatEngine::Blas, "{reason}");
                assert!(reason.contains("FERROTENSOR_BLAS"), "{reason}");
                let one = [1f32];
                let mut out = [0f32];
                let arrays = FlatArrays {
                    dtype: DType::F32,
                    a: one.as_ptr().cast(),
                    b: one.as_ptr().cast(),
                    out: out.as_mut_ptr().cast(),
                };
                // SAFETY: one element each.
                let error = unsafe { run_flat(engine, FlatOp::Matmul { m: 1, n: 1, k: 1 }, arrays) }.unwrap_err();
                assert_eq!(error.code, Code::BackendUnavailable);
            }
        }
    }
}
