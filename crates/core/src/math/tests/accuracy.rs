//! Errors in units in the last place: float32 against libm's float64 on a sweep of all bit patterns, float64 against
//! checked-in results that carry their rounding error (golden/math_f64.py).

use super::super::{call, cos, cos_moderate, sin, sin_moderate, ulp};
use crate::scalar::MathFn;

const GOLDEN: &str = include_str!("../../../golden/math_f64.csv");

fn oracle(f: MathFn, x: f64, y: f64) -> f64 {
    match f {
        MathFn::Exp => libm::exp(x),
        MathFn::Log => libm::log(x),
        MathFn::Tanh => libm::tanh(x),
        MathFn::Sigmoid => 1.0 / (1.0 + libm::exp(-x)),
        MathFn::Sin => libm::sin(x),
        MathFn::Cos => libm::cos(x),
        MathFn::Erf => libm::erf(x),
        MathFn::Pow => libm::pow(x, y),
    }
}

/// Every `step`-th float32, from both ends of the exponent range and through all NaNs.
fn sweep(step: usize) -> impl Iterator<Item = f32> {
    (0..=u32::MAX).step_by(step).map(f32::from_bits)
}

#[test]
fn float32_functions_of_one_argument_err_by_less_than_one_unit() {
    for f in MathFn::ALL.into_iter().filter(|f| f.arity() == 1) {
        // A prime step: all exponents and, over them, all positions in the significand.
        for x in sweep(16_411) {
            let error = ulp::float32(call(f, x, x), oracle(f, x as f64, 0.0));
            assert!(error < 1.0, "{} of {x:e} ({:#x}) errs by {error}", f.name(), x.to_bits());
        }
    }
}

#[test]
fn float32_pow_errs_by_less_than_one_unit() {
    for x in sweep(65_537) {
        // Exponents that spread the results over the whole range, and plain ones.
        let natural = libm::log(x.abs() as f64);
        for y in [0.5, -1.5, 3.0, 40.0, (88.0 / natural) as f32, (-61.7 / natural) as f32, (-100.0 / natural) as f32] {
            let error = ulp::float32(call(MathFn::Pow, x, y), oracle(MathFn::Pow, x as f64, y as f64));
            assert!(error < 1.0, "pow({x:e}, {y:e}) errs by {error}");
        }
    }
}

#[test]
fn float64_functions_err_by_less_than_one_unit_on_the_golden_rows() {
    for f in MathFn::ALL {
        let rows: Vec<&str> = GOLDEN.lines().filter(|row| row.split(',').next() == Some(f.name())).collect();
        assert!(rows.len() > 200, "{} rows of {}", rows.len(), f.name());
        for row in rows {
            let fields: Vec<&str> = row.split(',').collect();
            let [x, hi, rest] = [fields[1], fields[3], fields[4]].map(parse_hex_float);
            let y = if f.arity() == 2 { parse_hex_float(fields[2]) } else { x };
            let error = ulp::float64(call(f, x, y), hi, rest, 52, -1022);
            assert!(error < 1.0, "{row}: {:e} errs by {error}", call(f, x, y));
        }
    }
}

#[test]
fn the_moderate_forms_have_the_bits_of_the_full_ones() {
    for x in sweep(16_411).filter(|x| x.is_nan() || x.abs() < super::super::MODERATE as f32) {
        assert_eq!(bits(sin_moderate(x) as f64), bits(sin(x) as f64), "sin {x:e}");
        assert_eq!(bits(cos_moderate(x) as f64), bits(cos(x) as f64), "cos {x:e}");
        let wide = x as f64 * (1.0 + f64::EPSILON);
        assert_eq!(bits(sin_moderate(wide)), bits(sin(wide)), "sin {wide:e}");
        assert_eq!(bits(cos_moderate(wide)), bits(cos(wide)), "cos {wide:e}");
    }
}

/// Bits, one NaN for all.
fn bits(x: f64) -> u64 {
    if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }
}

/// C99's hex floats as Python writes them: `-0x1.8000000000000p+3`.
fn parse_hex_float(text: &str) -> f64 {
    let (sign, text) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let (digits, exponent) = text.strip_prefix("0x").and_then(|t| t.split_once('p')).expect("a hex float");
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let significand = u64::from_str_radix(&format!("{whole}{fraction}"), 16).expect("hex digits");
    let exponent: i32 = exponent.parse().expect("an exponent");
    sign * libm::scalbn(significand as f64, exponent - 4 * fraction.len() as i32)
}

#[test]
fn the_measure_sees_each_kind_of_wrong_result() {
    assert_eq!(ulp::float32(1.0, 1.0), 0.0);
    assert_eq!(ulp::float32(1f32.next_up(), 1.0), 1.0);
    assert_eq!(ulp::float32(1.0, 1.0 + 2f64.powi(-24)), 0.5);
    assert_eq!(ulp::float32(0.0, 2f64.powi(-149)), 1.0);
    assert_eq!(ulp::float32(f32::MAX, 2f64.powi(128)), 0.5);
    assert_eq!(ulp::float32(f32::INFINITY, 1e300), 0.0);
    assert_eq!(ulp::float32(0.0, -0.0), f64::INFINITY);
    assert_eq!(ulp::float32(f32::NAN, 1.0), f64::INFINITY);
    assert_eq!(ulp::float32(1.0, f64::NAN), f64::INFINITY);
    assert_eq!(ulp::float64(1.0, 1.0, 0.25, 52, -1022), 0.25);
    assert_eq!(ulp::float64(0.0, f64::MIN_POSITIVE * f64::EPSILON, 0.0, 52, -1022), 1.0);
    assert_eq!(parse_hex_float("-0x1.8000000000000p+3"), -12.0);
}
