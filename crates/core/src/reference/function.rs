//! What each scalar function is, in float64: `libm` (a translation of musl's), and for what it lacks the formula a textbook
//! gives. Nothing here shares code with `core::math`, which it checks.

use super::double::{self, Double};
use super::special;
use crate::scalar::MathFn;
use std::f64::consts::{LN_2, PI};

/// The function at one argument, or at two (`y` is not read by functions of one).
///
/// About 1 unit in the last place, `digamma`, `erfcx` and `ndtri` about 3, `gamma` about 5; where terms cancel (`lgamma` and `digamma` near their zeros,
/// `logaddexp` and `logaddexp2` near 0) about that much of the terms.
pub fn function(f: MathFn, x: f64, y: f64) -> f64 {
    match f {
        MathFn::Exp => libm::exp(x),
        MathFn::Exp2 => libm::exp2(x),
        MathFn::Expm1 => libm::expm1(x),
        MathFn::Log => libm::log(x),
        MathFn::Log1p => libm::log1p(x),
        MathFn::Log2 => libm::log2(x),
        MathFn::Log10 => libm::log10(x),
        MathFn::Sin => libm::sin(x),
        MathFn::Cos => libm::cos(x),
        MathFn::Tan => libm::tan(x),
        MathFn::Asin => libm::asin(x),
        MathFn::Acos => libm::acos(x),
        MathFn::Atan => libm::atan(x),
        MathFn::Sinh => libm::sinh(x),
        MathFn::Cosh => libm::cosh(x),
        MathFn::Tanh => libm::tanh(x),
        MathFn::Asinh => libm::asinh(x),
        MathFn::Acosh => acosh(x),
        MathFn::Atanh => libm::atanh(x),
        MathFn::Sigmoid => sigmoid(x),
        MathFn::Cbrt => libm::cbrt(x),
        MathFn::Erf => libm::erf(x),
        MathFn::Erfc => libm::erfc(x),
        MathFn::Erfinv => erfinv(x),
        MathFn::Ndtr => ndtr(x),
        MathFn::Gelu => x * ndtr(x),
        MathFn::Lgamma => libm::lgamma(x),
        MathFn::Digamma => digamma(x),
        MathFn::Gamma => special::gamma(x),
        MathFn::I0 => special::plain(0.0, x),
        MathFn::I0e => special::scaled(0.0, x),
        MathFn::I1 => special::plain(1.0, x),
        MathFn::I1e => special::scaled(1.0, x),
        MathFn::Erfcx => special::erfcx(x),
        MathFn::LogNdtr => special::log_ndtr(x),
        MathFn::Ndtri => special::ndtri(x),
        MathFn::Pow => libm::pow(x, y),
        MathFn::Atan2 => libm::atan2(x, y),
        MathFn::Hypot => libm::hypot(x, y),
        MathFn::Logaddexp => logaddexp(x, y),
        MathFn::Logaddexp2 => logaddexp2(x, y),
    }
}

/// `1 / (1 + exp(-x))`, by `exp(x)` below zero so that it does not become 0 before it must.
fn sigmoid(x: f64) -> f64 {
    if x < 0.0 {
        let e = libm::exp(x);
        e / (1.0 + e)
    } else {
        1.0 / (1.0 + libm::exp(-x))
    }
}

/// Half of `erfc(-x / sqrt 2)`, whose argument's rounding is made up for: it counts as often as the square of x says.
pub(super) fn ndtr(x: f64) -> f64 {
    let square_root = Double::from(2.0).sqrt();
    let b = Double::from(-x) / square_root;
    if !x.is_finite() {
        return if x.is_nan() { x } else { f64::from(x > 0.0) };
    }
    0.5 * (libm::erfc(b.hi) - b.lo * 2.0 / PI.sqrt() * libm::exp(-b.hi * b.hi))
}

/// libm's gives numbers for some negative arguments.
fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// Two of Halley's steps (three times the digits each) from Winitzki's approximation, which has a relative error of 0.004.
pub(super) fn erfinv(x: f64) -> f64 {
    let a = x.abs();
    if !(a < 1.0 && a > 0.0) {
        return if a > 1.0 { f64::NAN } else { x / (1.0 - a) };
    }
    let (c, l) = (0.147, libm::log1p(-a) + libm::log1p(a));
    let half = 2.0 / (PI * c) + l / 2.0;
    // The difference of the textbook's square roots, without its cancellation.
    let mut y = (-l / c / (half + (half * half - l / c).sqrt())).sqrt();
    for _ in 0..3 {
        let error = if a < 0.5 { a - libm::erf(y) } else { libm::erfc(y) - (1.0 - a) };
        let u = error * PI.sqrt() / 2.0 * libm::exp(y * y);
        y += u / (1.0 - u * y);
    }
    y.copysign(x)
}

/// Recurrence up to 10, then Stirling's series with Bernoulli's numbers; reflection below zero. Sums are in double-double.
fn digamma(x: f64) -> f64 {
    // Smaller ones have no other term.
    if x.abs() < 1e-20 {
        return -1.0 / x;
    }
    if x > 0.0 {
        return digamma_of_positive(x).hi;
    }
    let fraction = x - x.round();
    if fraction == 0.0 || !x.is_finite() {
        return if x > 0.0 || x.is_nan() { x } else { f64::NAN };
    }
    let angle = double::PI * fraction.into();
    let cotangent = 1.0 / libm::tan(angle.hi);
    // Its derivative is -(1 + cot^2).
    let cotangent = Double::from(cotangent) - Double::from(angle.lo * (1.0 + cotangent * cotangent));
    (digamma_of_positive(-x) - Double::from(1.0) / x.into() - double::PI * cotangent).hi
}

fn digamma_of_positive(x: f64) -> Double {
    let (mut x, mut sum) = (Double::from(x), Double::from(0.0));
    while x.hi < 10.0 {
        sum = sum + Double::from(1.0) / x;
        x = x + 1.0.into();
    }
    const SERIES: [f64; 7] =
        [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0, 1.0 / 12.0];
    let z = 1.0 / (x.hi * x.hi);
    let series = SERIES.iter().rev().fold(0.0, |rest, term| (rest + term) * z);
    Double::from(libm::log(x.hi)) + (x.lo / x.hi - 0.5 / x.hi - series).into() - sum
}

/// The larger and what the smaller adds.
fn logaddexp(x: f64, y: f64) -> f64 {
    if x == y {
        return x + LN_2;
    }
    let larger = if x < y { y } else { x };
    larger + libm::log1p(libm::exp(-(x - y).abs()))
}

/// The larger and what the smaller adds, of base 2.
fn logaddexp2(x: f64, y: f64) -> f64 {
    if x == y {
        return x + 1.0;
    }
    let larger = if x < y { y } else { x };
    larger + libm::log1p(libm::exp2(-(x - y).abs())) / LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_libm_lacks_has_the_values_of_the_tables() {
        // Abramowitz and Stegun, tables 6.1 (digamma of 1, 1.5, 2, -0.5) and 7.1 (erf 0.5 and 2).
        for (x, want) in [
            (1.0, -0.577_215_664_901_532_9),
            (1.5, 0.036_489_973_978_576_52),
            (2.0, 0.422_784_335_098_467_1),
            (-0.5, 0.036_489_973_978_576_52),
            (100.0, 4.600_161_852_738_087),
        ] {
            assert!((digamma(x) - want).abs() < 2e-15, "{x}");
        }
        assert!(digamma(-3.0).is_nan() && digamma(f64::NEG_INFINITY).is_nan());
        assert_eq!((digamma(0.0), digamma(-0.0)), (f64::NEG_INFINITY, f64::INFINITY));
        for (y, x) in
            [(0.5, 0.520_499_877_813_046_5), (2.0, 0.995_322_265_018_952_7), (-1e-300, -1.128_379_167_095_512_6e-300)]
        {
            assert!((erfinv(x) / y - 1.0).abs() < 1e-14, "{x}");
        }
        assert_eq!((erfinv(1.0), erfinv(-1.0)), (f64::INFINITY, f64::NEG_INFINITY));
        assert!(erfinv(1.5).is_nan() && erfinv(f64::NAN).is_nan());
        assert_eq!(logaddexp(0.0, 0.0), LN_2);
        assert_eq!(logaddexp(f64::NEG_INFINITY, f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert_eq!(logaddexp(f64::NEG_INFINITY, 3.0), 3.0);
        assert!(logaddexp(f64::INFINITY, f64::NAN).is_nan());
        assert_eq!(logaddexp2(3.0, 3.0), 4.0);
        assert!((logaddexp2(1.0, 2.0) - 2.584_962_500_721_156).abs() < 1e-15);
    }
}
