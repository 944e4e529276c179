//! Double-double arithmetic: about 106 bits, as the unevaluated sum of two float64. Everything float in the reference is
//! computed in it and rounded once at the end.
//!
//! Source: Dekker, "A floating-point technique for extending the available precision" (1971); Hida, Li, Bailey, "Library
//! for double-double and quad-double arithmetic" (2007). A value that overflows or is not finite has `lo = 0`, and the
//! sign of zero is that of plain float64 arithmetic.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// The number `hi + lo`, where `hi` is that sum rounded to nearest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Double {
    /// The value as float64.
    pub hi: f64,
    /// What `hi` leaves out, at most half an ulp of it.
    pub lo: f64,
}

/// Pi to 107 bits.
pub const PI: Double = Double { hi: std::f64::consts::PI, lo: 1.2246467991473532e-16 };

impl From<f64> for Double {
    fn from(hi: f64) -> Self {
        Double { hi, lo: 0.0 }
    }
}

impl From<i128> for Double {
    /// Exact up to 106 bits.
    fn from(value: i128) -> Self {
        let hi = value as f64;
        Double { hi, lo: value.wrapping_sub(hi as i128) as f64 }
    }
}

/// `a + b` without error (Knuth's TwoSum).
fn two_sum(a: f64, b: f64) -> Double {
    let hi = a + b;
    if !hi.is_finite() {
        return hi.into();
    }
    let b_part = hi - a;
    Double { hi, lo: (a - (hi - b_part)) + (b - b_part) }
}

/// `hi + lo` brought to normal form. A zero `lo` must not touch `hi`: `-0 + 0` is `+0`.
fn normal(hi: f64, lo: f64) -> Double {
    if lo == 0.0 || !hi.is_finite() { hi.into() } else { two_sum(hi, lo) }
}

impl Double {
    /// Absolute value.
    pub fn abs(self) -> Double {
        if self.hi.is_sign_negative() { -self } else { self }
    }

    /// Square root; NaN below zero.
    pub fn sqrt(self) -> Double {
        let root = self.hi.sqrt();
        if root == 0.0 || !root.is_finite() {
            return root.into();
        }
        // One Newton step doubles the 53 correct bits.
        let rest = self - Double::from(root) * root.into();
        normal(root, rest.hi / (2.0 * root))
    }

    /// The value rounded to odd in float64 (the last bit is set whenever the value is inexact). Rounding that to a format
    /// of at most 51 bits gives the correctly rounded value (Boldo, Melquiond, "Emulation of FMA and correctly rounded
    /// sums", 2008).
    pub fn to_odd(self) -> f64 {
        if self.lo == 0.0 || self.hi.to_bits() & 1 == 1 {
            return self.hi;
        }
        if self.lo > 0.0 { self.hi.next_up() } else { self.hi.next_down() }
    }
}

impl Neg for Double {
    type Output = Double;
    fn neg(self) -> Double {
        Double { hi: -self.hi, lo: -self.lo }
    }
}

impl Add for Double {
    type Output = Double;
    fn add(self, other: Double) -> Double {
        let (high, low) = (two_sum(self.hi, other.hi), two_sum(self.lo, other.lo));
        let sum = normal(high.hi, high.lo + low.hi);
        normal(sum.hi, sum.lo + low.lo)
    }
}

impl Sub for Double {
    type Output = Double;
    fn sub(self, other: Double) -> Double {
        self + -other
    }
}

impl Mul for Double {
    type Output = Double;
    fn mul(self, other: Double) -> Double {
        let hi = self.hi * other.hi;
        // Near float64's bottom the error of the product underflows: half an ulp of it would round `hi` a second time.
        if !hi.is_finite() || hi.abs() < 1e-290 {
            return hi.into();
        }
        normal(hi, self.hi.mul_add(other.hi, -hi) + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Div for Double {
    type Output = Double;
    fn div(self, other: Double) -> Double {
        let first = self.hi / other.hi;
        if !first.is_finite() || first == 0.0 {
            return first.into();
        }
        let rest = self - other * first.into();
        let second = rest.hi / other.hi;
        let third = (rest - other * second.into()).hi / other.hi;
        Double::from(first) + two_sum(second, third)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(value: f64) -> Double {
        value.into()
    }

    #[test]
    fn what_float64_loses_is_kept() {
        assert_eq!((d(1.0) + d(1e-20) - d(1.0)).hi, 1e-20);
        assert_eq!((d(1e16) + d(1.0) + d(-1e16)).hi, 1.0);
        let third = d(1.0) / d(3.0);
        assert_eq!((third * d(3.0) - d(1.0)).hi, 0.0);
        let root = d(2.0).sqrt();
        assert!((root * root - d(2.0)).hi.abs() < 1e-31);
        assert_eq!(Double::from((1i128 << 64) - 1), Double { hi: 18446744073709551616.0, lo: -1.0 });
    }

    #[test]
    fn zeros_keep_their_sign_and_infinities_behave() {
        assert_eq!((d(-0.0) + d(-0.0)).hi.to_bits(), (-0.0f64).to_bits());
        assert_eq!((d(-0.0) + d(0.0)).hi.to_bits(), 0);
        assert_eq!((d(-0.0) * d(2.0)).hi.to_bits(), (-0.0f64).to_bits());
        assert_eq!((d(f64::INFINITY) + d(1.0)).hi, f64::INFINITY);
        assert!((d(f64::INFINITY) - d(f64::INFINITY)).hi.is_nan());
        assert_eq!((d(1.0) / d(-0.0)).hi, f64::NEG_INFINITY);
        assert_eq!((d(f64::MAX) + d(f64::MAX)).hi, f64::INFINITY);
    }

    #[test]
    fn rounding_to_odd_remembers_what_was_cut() {
        let tie = 1.0 + 2f64.powi(-24);
        assert_eq!(tie as f32, 1.0);
        assert_eq!((d(tie) + d(1e-30)).to_odd() as f32, 1.0 + f32::EPSILON);
        assert_eq!((d(tie) - d(1e-30)).to_odd() as f32, 1.0);
    }
}
