//! Errors in units in the last place: float32 against the reference's float64 on a sweep of all bit patterns, float64 against
//! checked-in results that carry their rounding error (golden/math_f64.py).

use super::super::{call, cos, cos_moderate, resolution, sin, sin_moderate, tan, tan_moderate, ulp};
use crate::reference::function;
use crate::scalar::MathFn;

const GOLDEN: &str = include_str!("../../../golden/math_f64.csv");

/// Every `step`-th float32, from both ends of the exponent range and through all NaNs.
fn sweep(step: usize) -> impl Iterator<Item = f32> {
    (0..=u32::MAX).step_by(step).map(f32::from_bits)
}

/// Error of a float32, in units of the exact result or of the function's resolution.
fn error32(f: MathFn, x: f32, y: f32) -> f64 {
    let (got, want) = (call(f, x, y), function(f, x as f64, y as f64));
    let floor = resolution(f, x as f64);
    if want.abs() < floor { ulp::float32_near(got, want, floor) } else { ulp::float32(got, want) }
}

#[test]
fn float32_functions_of_one_argument_err_by_less_than_one_unit() {
    for &f in MathFn::ALL.iter().filter(|f| f.arity() == 1) {
        // A prime step: all exponents and, over them, all positions in the significand.
        for x in sweep(16_411) {
            let error = error32(f, x, x);
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
            let error = error32(MathFn::Pow, x, y);
            assert!(error < 1.0, "pow({x:e}, {y:e}) errs by {error}");
        }
    }
}

#[test]
fn float32_functions_of_two_arguments_err_by_less_than_one_unit() {
    for (n, x) in sweep(65_537).enumerate() {
        // Partners of any size, of nearby size, and of equal size.
        let other = f32::from_bits((n as u32).wrapping_mul(0x9e37_79b9));
        for y in [other, x * (1.0 + (n % 512) as f32 / 64.0), -x, x / 3.0, x + (n % 97) as f32 / 16.0 - 3.0] {
            for f in [MathFn::Atan2, MathFn::Hypot, MathFn::Logaddexp, MathFn::Logaddexp2] {
                let error = error32(f, x, y);
                assert!(error < 1.0, "{}({x:e}, {y:e}) errs by {error}", f.name());
            }
        }
    }
    for n in 0..100_000 {
        let (x, y) = (n as f32 / 25_000.0 - 2.0, (n * 7919 % 100_000) as f32 / 10_000.0 - 5.0);
        for f in [MathFn::Logaddexp, MathFn::Logaddexp2] {
            let error = error32(f, x, y);
            assert!(error < 1.0, "{}({x:e}, {y:e}) errs by {error}", f.name());
        }
    }
}

#[test]
fn float64_functions_err_by_less_than_one_unit_on_the_golden_rows() {
    let mut rows = std::collections::HashMap::new();
    for row in GOLDEN.lines() {
        let fields: Vec<&str> = row.split(',').collect();
        let f = *MathFn::ALL.iter().find(|f| f.name() == fields[0]).expect("a function");
        let [x, hi, rest] = [fields[1], fields[3], fields[4]].map(parse_hex_float);
        let y = if f.arity() == 2 { parse_hex_float(fields[2]) } else { x };
        let (got, floor) = (call(f, x, y), resolution(f, x));
        let error = if hi.abs() < floor {
            (got - hi).abs() / ulp::unit(floor, 52, -1022)
        } else {
            ulp::float64(got, hi, rest, 52, -1022)
        };
        assert!(error < 1.0, "{row}: {got:e} errs by {error}");
        *rows.entry(f).or_insert(0) += 1;
    }
    for f in MathFn::ALL {
        assert!(rows.get(f).is_some_and(|&n| n > 150), "{} has {:?} rows", f.name(), rows.get(f));
    }
}

#[test]
fn the_moderate_forms_have_the_bits_of_the_full_ones() {
    for x in sweep(16_411).filter(|x| x.is_nan() || x.abs() < super::super::MODERATE as f32) {
        assert_eq!(bits(sin_moderate(x) as f64), bits(sin(x) as f64), "sin {x:e}");
        assert_eq!(bits(cos_moderate(x) as f64), bits(cos(x) as f64), "cos {x:e}");
        assert_eq!(bits(tan_moderate(x) as f64), bits(tan(x) as f64), "tan {x:e}");
        let wide = x as f64 * (1.0 + f64::EPSILON);
        assert_eq!(bits(sin_moderate(wide)), bits(sin(wide)), "sin {wide:e}");
        assert_eq!(bits(cos_moderate(wide)), bits(cos(wide)), "cos {wide:e}");
        assert_eq!(bits(tan_moderate(wide)), bits(tan(wide)), "tan {wide:e}");
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
