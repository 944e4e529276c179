//! The emulated fused multiply-add against `libm`'s, which is integer arithmetic, and against values known by reasoning.

use super::super::triples::{DOUBLE, SINGLE, Triples};
use super::super::{EmulatedFma, Exact, Fused, Quick, Way, call};
use crate::scalar::MathFn;
use std::cell::Cell;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
const MAX: f64 = f64::MAX;
/// 2^970, half a unit in the last place of the largest number.
const HALF_UNIT: f64 = f64::from_bits((970 + 1023) << 52);
/// The smallest subnormal.
const LEAST: f64 = f64::from_bits(1);

/// Equal bits, or NaN both.
macro_rules! assert_same {
    ($got:expr, $want:expr, $($context:tt)*) => {{
        let (got, want) = ($got, $want);
        assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{got:e}, not {want:e}: {}", format!($($context)*));
    }};
}

/// (x, y, z, x * y + z).
const DOUBLES: &[[f64; 4]] = &[
    // Zeros and their signs.
    [0.0, 1.0, 0.0, 0.0],
    [-0.0, 1.0, 0.0, 0.0],
    [-0.0, 1.0, -0.0, -0.0],
    [0.0, -MAX, -0.0, -0.0],
    [0.0, MAX, -0.0, 0.0],
    [3.0, -4.0, 12.0, 0.0],
    [-3.0, -4.0, -12.0, 0.0],
    [LEAST, -LEAST, 0.0, -0.0],
    [-LEAST, -LEAST, -0.0, 0.0],
    [1e-200, 1e-200, -0.0, 0.0],
    [MAX, 0.0, 1.5, 1.5],
    // Infinities and NaN; a product that overflows is still finite.
    [INF, 0.0, 1.0, NAN],
    [INF, 1.0, -INF, NAN],
    [INF, -1.0, -INF, -INF],
    [MAX, MAX, -INF, -INF],
    [MAX, -MAX, INF, INF],
    [MAX, MAX, NAN, NAN],
    [NAN, 0.0, 0.0, NAN],
    [MAX, MAX, -MAX, INF],
    [MAX, 2.0, -MAX, MAX],
    [MAX, -2.0, MAX, -MAX],
    // 2^1024 less half a unit and a little: the largest number; without the little it is infinite.
    [MAX, 1.0, f64::from_bits(HALF_UNIT.to_bits() - 1), MAX],
    [MAX, 1.0, HALF_UNIT, INF],
    [MAX, 1.0 + f64::EPSILON, -LEAST, INF],
    // (1 + e)(1 - e) = 1 - e^2 is a tie's neighbour for the smallest of addends, and exact with 1 taken away.
    [1.0 + f64::EPSILON, 1.0 - f64::EPSILON, 0.0, 1.0],
    [1.0 + f64::EPSILON, 1.0 - f64::EPSILON, -1.0, -f64::EPSILON * f64::EPSILON],
    // 3 * (2^52 + 1) / 2 = 1.5 * 2^52 + 1.5 is a tie, to even 2; an addend of 2^-1074 decides it the other way.
    [1.5, 4503599627370497.0, 0.0, 6755399441055746.0],
    [1.5, 4503599627370497.0, LEAST, 6755399441055746.0],
    [1.5, 4503599627370497.0, -LEAST, 6755399441055745.0],
    // Half of the smallest subnormal: to even 0, and up to 2 units from 1.
    [LEAST, 0.5, 0.0, 0.0],
    [LEAST, 0.5, LEAST, 2.0 * LEAST],
    [LEAST, 0.75, LEAST, 2.0 * LEAST],
    [LEAST, -0.5, LEAST, 0.0],
    [LEAST, -0.5, -LEAST, -2.0 * LEAST],
    // The largest subnormal and half a unit more, or a little less.
    [f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0, 0.0, f64::MIN_POSITIVE],
    [f64::MIN_POSITIVE, 1.0 - f64::EPSILON, 0.0, f64::MIN_POSITIVE - LEAST],
    // A subnormal factor of one bit beside one of 53.
    [MAX, 67108864.0 * LEAST, LEAST, MAX * (67108864.0 * LEAST)],
    [MAX / 4096.0, 67108864.0 * LEAST, LEAST, MAX / 4096.0 * (67108864.0 * LEAST)],
    // Far below half a unit of the addend.
    [1e-300, 1e-300, 1.0, 1.0],
    [1e-300, -1e-300, LEAST, LEAST],
];

#[test]
fn known_results_in_float64() {
    for &[x, y, z, want] in DOUBLES {
        assert_same!(libm::fma(x, y, z), want, "libm: {x:e} * {y:e} + {z:e}");
        assert_same!(f64::exact(x, y, z), want, "exact: {x:e} * {y:e} + {z:e}");
        let (quick, in_doubt) = f64::quick(x, y, z);
        assert!(in_doubt || quick.to_bits() == want.to_bits(), "quick: {x:e} * {y:e} + {z:e} = {want:e}, not {quick:e}");
    }
}

#[test]
fn ordinary_operands_zeros_included_are_never_in_doubt() {
    for [x, y, z] in [[0.0, 5.0, 1.0], [-0.0, 0.0, 0.0], [3.0, -4.0, 12.0], [1e140, 1e140, 1e300], [1e-140, 1e-140, 0.0]] {
        assert!(!f64::quick(x, y, z).1, "{x:e} * {y:e} + {z:e}");
    }
    for [x, y, z] in [[1e-150, 1e-150, 1.0], [INF, 1.0, 1.0], [1.0, NAN, 1.0], [1.0, 1.0, INF], [MAX, 1.0, 0.0]] {
        assert!(f64::quick(x, y, z).1, "{x:e} * {y:e} + {z:e}");
    }
}

#[test]
fn known_results_in_float32() {
    let power = |e: i32| 2f32.powi(e);
    // The factors of 2^46 + 1: a product of half the smallest subnormal and a little. The float64 nearest to its sum with
    // 2^-127 is a tie of float32, whose rounding to even loses the little.
    let (x, y) = (8384513.0 * power(-98), 8392705.0 * power(-98));
    let z = power(-127);
    let cases = [
        [x, y, z, z + power(-149)],
        [x, y, -z, -z + power(-149)],
        [-x, y, z, z - power(-149)],
        // Above the subnormal range the same trap: 1 + 2^-24 and a little.
        [8384513.0 * power(-35), 8392705.0 * power(-35), 1.0, 1.0 + f32::EPSILON],
        [-0.0, 1.0, -0.0, -0.0],
        [-power(-100), power(-100), 0.0, -0.0],
        [3.0, -4.0, 12.0, 0.0],
        [f32::MAX, f32::MAX, f32::NEG_INFINITY, f32::NEG_INFINITY],
        [f32::MAX, 2.0, -f32::MAX, f32::MAX],
        [f32::MAX, f32::MAX, -f32::MAX, f32::INFINITY],
        [f32::INFINITY, 0.0, 1.0, f32::NAN],
    ];
    for [x, y, z, want] in cases {
        let (got, in_doubt) = f32::quick(x, y, z);
        assert!(!in_doubt);
        assert_same!(got, want, "{x:e} * {y:e} + {z:e}");
        assert_same!(libm::fmaf(x, y, z), want, "libm: {x:e} * {y:e} + {z:e}");
    }
}

#[test]
fn adversarial_triples_equal_integer_arithmetic() {
    const COUNT: usize = 300_000;
    let mut single = Triples::new(SINGLE, 1);
    for _ in 0..COUNT {
        let [x, y, z] = single.next().map(|bits| f32::from_bits(bits as u32));
        assert_same!(f32::quick(x, y, z).0, libm::fmaf(x, y, z), "{x:e} * {y:e} + {z:e}");
    }
    let (mut double, mut doubts) = (Triples::new(DOUBLE, 2), 0);
    for _ in 0..COUNT {
        let [x, y, z] = double.next().map(f64::from_bits);
        let want = libm::fma(x, y, z);
        assert_same!(f64::exact(x, y, z), want, "exact: {x:e} * {y:e} + {z:e}");
        let (quick, in_doubt) = f64::quick(x, y, z);
        doubts += in_doubt as usize;
        if !in_doubt {
            assert_same!(quick, want, "quick: {x:e} * {y:e} + {z:e}");
        }
    }
    assert!((COUNT / 10..COUNT * 2 / 3).contains(&doubts), "{doubts} in doubt: the triples are one-sided");
}

/// The function at `x` and `y` with its fused multiply-adds done one way, and whether any of them is in doubt.
fn by<W: Way, F: EmulatedFma>(f: MathFn, x: F, y: F) -> (F, bool) {
    let doubt = Cell::new(0);
    let result = call(f, Fused::<F, W>::new(x, &doubt), Fused::new(y, &doubt)).value();
    (result, doubt.get() != 0)
}

#[test]
fn functions_have_the_same_bits_by_every_way() {
    let (mut single, mut double) = (Triples::new(SINGLE, 3), Triples::new(DOUBLE, 4));
    for &f in MathFn::ALL {
        let mut certain = 0;
        for i in 0..2000 {
            let [x, y, _] = single.next().map(|bits| f32::from_bits(bits as u32));
            let (quick, in_doubt) = by::<Quick, _>(f, x, y);
            assert!(!in_doubt);
            assert_same!(quick, call(f, x, y), "{}({x:e}, {y:e})", f.name());
            // Any bits are far from what functions are called with.
            let [x, y, _] = double.next().map(f64::from_bits);
            let [x, y] = if i % 2 == 0 { [x, y] } else { [0.0009 * i as f64, 3.0 - 0.0017 * i as f64] };
            let want = call(f, x, y);
            assert_same!(by::<Exact, _>(f, x, y).0, want, "{}({x:e}, {y:e})", f.name());
            let (quick, in_doubt) = by::<Quick, _>(f, x, y);
            certain += usize::from(!in_doubt && i % 2 == 1);
            if !in_doubt {
                assert_same!(quick, want, "{}({x:e}, {y:e})", f.name());
            }
        }
        // Outside of a function's domain there are NaN, which are in doubt: acosh has 444 of the 1000 inside.
        assert!(certain > 400, "{}: {certain} of 1000 ordinary arguments do without a second pass", f.name());
    }
}
