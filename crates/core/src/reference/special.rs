//! What the special functions are that no library of float64 has: by series, continued fractions and Newton's method, in double-double where
//! terms add up.

use super::double::{self, Double};
use super::function::{erfinv, ndtr};
use std::f64::consts::{PI, SQRT_2};

/// `value` e^x, where e^x may lie beyond the largest number.
fn times_exp(value: Double, x: f64) -> Double {
    if x <= 700.0 {
        return value * Double::from(libm::exp(x));
    }
    // e^512 to 106 bits.
    let scale = Double { hi: 2.2844135865397565e222, lo: 1.3549224944023444e206 };
    value * Double::from(libm::exp(x - 512.0)) * scale
}

/// The sum of terms, each the one before times `ratio(k)`, from 1 on, until they no longer count.
fn sum_of(ratio: impl Fn(f64) -> Double) -> Double {
    let (mut sum, mut term) = (Double::from(1.0), Double::from(1.0));
    for k in 1..200 {
        term = term * ratio(k as f64);
        sum = sum + term;
        if term.hi.abs() < 1e-33 * sum.hi.abs() {
            break;
        }
    }
    sum
}

/// I of order 0 or 1 at |x|, and whether it lacks a factor e^|x|: Abramowitz and Stegun, 9.6.10 and 9.7.1.
fn bessel(order: f64, x: f64) -> (Double, bool) {
    let a = Double::from(x.abs());
    if x.abs() < 40.0 {
        let quarter = a * a * 0.25.into();
        let sum = sum_of(|k| quarter / Double::from(k * (k + order)));
        return (if order == 0.0 { sum } else { sum * (a * 0.5.into()) }, false);
    }
    let four = 4.0 * order * order;
    let sum = sum_of(|k| Double::from((2.0 * k - 1.0) * (2.0 * k - 1.0) - four) / (a * Double::from(8.0 * k)));
    // A quarter of the root of x / 16, which is finite where 2 pi x is not.
    (sum * 0.25.into() / (double::PI * Double::from(x.abs() / 16.0) * 2.0.into()).sqrt(), true)
}

/// I of order 0 or 1.
pub fn plain(order: f64, x: f64) -> f64 {
    if !x.is_finite() {
        return if x.is_nan() || order == 1.0 { x } else { f64::INFINITY };
    }
    let a = x.abs().min(720.0);
    let (value, scaled) = bessel(order, a);
    let y = if scaled { times_exp(value, a).hi } else { value.hi };
    if order == 1.0 { y.copysign(x) } else { y }
}

/// e^-|x| I of order 0 or 1.
pub fn scaled(order: f64, x: f64) -> f64 {
    if !x.is_finite() {
        return if x.is_nan() {
            x
        } else if order == 1.0 {
            0f64.copysign(x)
        } else {
            0.0
        };
    }
    let (value, scaled) = bessel(order, x);
    let y = if scaled { value.hi } else { (value * Double::from(libm::exp(-x.abs()))).hi };
    if order == 1.0 { y.copysign(x) } else { y }
}

/// e^(x^2) erfc x: the product up to 8, Laplace's continued fraction above (Abramowitz and Stegun, 7.1.14).
pub fn erfcx(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x < 8.0 {
        let x = x.max(-30.0);
        let square = Double::from(x) * x.into();
        let e = libm::exp(square.hi);
        return if e.is_finite() { (Double::from(e) * Double::from(1.0 + square.lo) * libm::erfc(x).into()).hi } else { e };
    }
    if x > 1e9 {
        return 1.0 / PI.sqrt() / x;
    }
    let fraction = (1..=80).rev().fold(Double::from(x), |rest, k| Double::from(x) + Double::from(k as f64 / 2.0) / rest);
    (Double::from(1.0) / (fraction * double::PI.sqrt())).hi
}

/// log(ndtr x): by erfcx below -1, where the argument's rounding is made up for.
pub fn log_ndtr(x: f64) -> f64 {
    if x > -1.0 {
        return if x.is_nan() { x } else { libm::log1p(-ndtr(-x)) };
    }
    if x < -1e150 {
        return -(x * 0.5 * x);
    }
    let b = Double::from(-x) / Double::from(2.0).sqrt();
    let ratio = erfcx(b.hi);
    // Of a large argument the rounding counts for nothing, and its factor has lost its digits.
    let slope = if b.hi < 1e6 { 2.0 * b.hi * ratio - 2.0 / PI.sqrt() } else { 0.0 };
    let ratio = ratio + b.lo * slope;
    let square = Double::from(x) * Double::from(x) * 0.5.into();
    (Double::from(libm::log(ratio * 0.5)) - square).hi
}

/// The inverse of ndtr: by erfinv near 1/2, and in the tails by Newton's method on the logarithm, which is nearly a parabola there.
pub fn ndtri(p: f64) -> f64 {
    let rest = if p > 0.5 { 1.0 - p } else { p };
    if rest.is_nan() || rest <= 0.0 {
        return if rest == 0.0 { if p > 0.5 { f64::INFINITY } else { f64::NEG_INFINITY } } else { f64::NAN };
    }
    if rest > 0.25 {
        return SQRT_2 * erfinv(2.0 * p - 1.0);
    }
    let log = libm::log(rest);
    let mut x = -(-2.0 * log).sqrt();
    for _ in 0..60 {
        // log_ndtr' = e^(-x^2 / 2 - log_ndtr x) / sqrt(2 pi), the inverse of Mills' ratio.
        let slope = 2.0 / (2.0 * PI).sqrt() / erfcx(-x / SQRT_2);
        let step = (log_ndtr(x) - log) / slope;
        x -= step;
        if step.abs() <= 1e-17 * x.abs() {
            break;
        }
    }
    if p > 0.5 { -x } else { x }
}

/// gamma(x), NaN where it has poles but 0.
pub fn gamma(x: f64) -> f64 {
    if x < 0.0 && x == x.floor() { f64::NAN } else { libm::tgamma(x) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, want: f64) {
        assert!((got / want - 1.0).abs() < 1e-15, "{got:e} is not {want:e}");
    }

    #[test]
    fn values_are_those_of_the_tables() {
        // mpmath 1.3 to 40 digits.
        near(plain(0.0, 1.0), 1.266_065_877_752_008_4);
        near(plain(1.0, -1.0), -0.565_159_103_992_485);
        near(plain(0.0, 713.0), 6.705_128_263_670_997e307);
        near(scaled(1.0, 100.0), 0.039_744_153_025_130_25);
        near(erfcx(1.0), 0.427_583_576_155_807);
        near(erfcx(-20.0), 1.044_293_937_952_828_8e174);
        near(erfcx(50.0), 0.011_281_536_265_323_773);
        near(log_ndtr(-40.0), -804.608_442_013_754);
        near(ndtri(0.975), 1.959_963_984_540_054_2);
        near(ndtri(1e-300), -37.047_096_299_361_2);
        near(gamma(5.5), 52.342_777_784_553_52);
    }

    #[test]
    fn ends_are_the_limits() {
        assert_eq!((plain(0.0, 1e4), plain(1.0, -1e4)), (f64::INFINITY, f64::NEG_INFINITY));
        assert_eq!((scaled(0.0, f64::INFINITY), erfcx(-40.0), erfcx(f64::INFINITY)), (0.0, f64::INFINITY, 0.0));
        assert_eq!((log_ndtr(f64::NEG_INFINITY), log_ndtr(f64::INFINITY).to_bits()), (f64::NEG_INFINITY, (-0f64).to_bits()));
        assert_eq!((ndtri(0.0), ndtri(1.0), ndtri(0.5)), (f64::NEG_INFINITY, f64::INFINITY, 0.0));
        assert!(ndtri(1.5).is_nan() && ndtri(-0.1).is_nan() && gamma(-2.0).is_nan() && gamma(f64::NEG_INFINITY).is_nan());
    }
}
