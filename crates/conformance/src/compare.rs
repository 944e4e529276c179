//! Decides whether a backend's bytes are right: the same bits apart from NaN's sign and payload, or within the bound of the
//! reference's value.

use crate::bounds::Bound;
use crate::executor::Known;
use ferrotensor_core::reference::Scalar;
use ferrotensor_core::{DType, FloatFormat};

/// How far the worst element was, in units of the result's last place, and as a share of what is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distance {
    /// In units in the last place of the reference's value.
    pub ulps: f64,
    /// Of the bound (0 for exact results).
    pub share: f64,
}

impl Distance {
    /// The larger of both.
    pub fn max(self, other: Distance) -> Distance {
        Distance { ulps: self.ulps.max(other.ulps), share: self.share.max(other.share) }
    }
}

/// Compares two dense results bit by bit, NaN equal to NaN.
///
/// # Errors
/// A sentence naming the first element that differs, or the sizes.
pub fn same_bits(dtype: DType, got: &[u8], wanted: &[u8]) -> Result<(), String> {
    if got.len() != wanted.len() {
        return Err(format!("{} bytes instead of {}", got.len(), wanted.len()));
    }
    if got == wanted {
        return Ok(());
    }
    let size = dtype.bytes();
    for (i, (g, w)) in got.chunks_exact(size).zip(wanted.chunks_exact(size)).enumerate() {
        if g != w && !same_nan(dtype, g, w) {
            return Err(format!("element {i} is {}, should be {}", show(dtype, g), show(dtype, w)));
        }
    }
    Ok(())
}

/// Bits equal, or both NaN; complex numbers part by part.
fn same_nan(dtype: DType, g: &[u8], w: &[u8]) -> bool {
    let part = dtype.info().real;
    if !part.is_float() {
        return false;
    }
    let equal = |g: &[u8], w: &[u8]| g == w || (Scalar::decode(part, g).is_nan() && Scalar::decode(part, w).is_nan());
    g.chunks_exact(part.bytes()).zip(w.chunks_exact(part.bytes())).all(|(g, w)| equal(g, w))
}

/// A number with its bits.
pub fn show(dtype: DType, bytes: &[u8]) -> String {
    let hex: String = bytes.iter().rev().map(|b| format!("{b:02x}")).collect();
    match Scalar::decode(dtype, bytes) {
        Scalar::Bool(v) => format!("{v} (0x{hex})"),
        Scalar::Int(v) => format!("{v}"),
        Scalar::Float(v) => format!("{:e} (0x{hex})", v.hi),
        Scalar::Complex(re, im) => format!("{:e} + {:e}i (0x{hex})", re.hi, im.hi),
    }
}

/// Compares a dense result with the reference.
///
/// # Errors
/// A sentence naming the element that is furthest outside its bound, or the sizes.
pub fn within(got: &[u8], wanted: &Known) -> Result<Distance, String> {
    let (dtype, array) = (wanted.array.dtype(), &wanted.array);
    let Bound::Absolute(errors) = &wanted.bound else {
        return same_bits(dtype, got, array.bytes()).map(|()| Distance::default());
    };
    if got.len() != array.bytes().len() {
        return Err(format!("{} bytes instead of {}", got.len(), array.bytes().len()));
    }
    let size = dtype.bytes();
    let mut worst = Distance::default();
    for (i, (g, &allowed)) in got.chunks_exact(size).zip(errors).enumerate() {
        if allowed == f64::INFINITY {
            continue;
        }
        let wanted = array.get(i);
        let found = Scalar::decode(dtype, g);
        let distance = match (found, wanted) {
            (Scalar::Complex(a, b), Scalar::Complex(c, d)) => {
                one(dtype, a.hi, c.hi, allowed).max(one(dtype, b.hi, d.hi, allowed))
            }
            (Scalar::Float(a), Scalar::Float(b)) => one(dtype, a.hi, b.hi, allowed),
            (a, b) => (if a == b { 0.0 } else { (a.real().hi - b.real().hi).abs() }, allowed).into(),
        };
        if distance.share.is_nan() || distance.share > 1.0 {
            let w = wanted.encode(dtype);
            return Err(format!(
                "element {i} is {}, should be {} within {allowed:e} ({:.2} ulp, {:.3} of the bound)",
                show(dtype, g),
                show(dtype, &w[..size]),
                distance.ulps,
                distance.share
            ));
        }
        worst = worst.max(distance);
    }
    Ok(worst)
}

impl From<(f64, f64)> for Distance {
    /// From an absolute difference of discrete values and what is allowed.
    fn from((off, allowed): (f64, f64)) -> Distance {
        Distance { ulps: off, share: if off == 0.0 { 0.0 } else { off / allowed } }
    }
}

fn one(dtype: DType, found: f64, wanted: f64, allowed: f64) -> Distance {
    if found == wanted || (found.is_nan() && wanted.is_nan()) {
        return Distance::default();
    }
    if found.is_nan() || wanted.is_nan() {
        return Distance { ulps: f64::INFINITY, share: f64::INFINITY };
    }
    let last = spacing(dtype, wanted);
    // Infinity stands where the next number after the largest would: a result may overflow within its bound.
    let largest = largest(dtype);
    let finite = |v: f64| if v.is_infinite() { largest.copysign(v) } else { v };
    let past = if found.is_infinite() != wanted.is_infinite() { spacing(dtype, largest) } else { 0.0 };
    let off = (finite(found) - finite(wanted)).abs() + past;
    Distance { ulps: off / last, share: off / allowed }
}

/// Of a dtype that has no fraction, float64's.
fn format(dtype: DType) -> FloatFormat {
    dtype.float_format().or(DType::F64.float_format()).unwrap_or(FloatFormat { top: 0, bottom: 0, fraction: 0 })
}

/// Distance between neighbouring numbers of a floating (or complex) dtype at `x`.
pub fn spacing(dtype: DType, x: f64) -> f64 {
    let FloatFormat { top, bottom, fraction } = format(dtype);
    let bits = x.abs().to_bits();
    // Exponent of a float64; subnormal ones lie below every other bottom, and at float64's own.
    let exponent = ((bits >> 52) as i32 - 1023).clamp(bottom, top);
    // In two steps: 2^-1074 is subnormal.
    2f64.powi(exponent) * 2f64.powi(-fraction)
}

/// Largest finite number of a floating (or complex) dtype.
pub fn largest(dtype: DType) -> f64 {
    format(dtype).max()
}

/// Spacing at 1.
pub fn epsilon(dtype: DType) -> f64 {
    spacing(dtype, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrotensor_core::reference::Array;

    fn known(values: &[f32], errors: &[f64]) -> Known {
        Known { array: Array::from_slice(&[values.len()], values).unwrap(), bound: Bound::Absolute(errors.to_vec()) }
    }

    fn bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    #[test]
    fn spacing_is_the_distance_of_neighbours() {
        for x in [1.0f32, 1.5, 2.0, 1e-40, 3e38, f32::MIN_POSITIVE, 0.0] {
            assert_eq!(spacing(DType::F32, x as f64), x.next_up() as f64 - x as f64, "{x}");
        }
        for x in [1.0f64, 1e-310, 1e308, 0.0] {
            assert_eq!(spacing(DType::F64, x), x.next_up() - x, "{x}");
        }
        assert_eq!((largest(DType::F32), largest(DType::F64), largest(DType::F16)), (f32::MAX as f64, f64::MAX, 65504.0));
    }

    #[test]
    fn a_result_just_inside_its_bound_passes_and_one_just_outside_fails() {
        let eps = f32::EPSILON as f64;
        assert!(within(&bytes(&[1.0 + f32::EPSILON]), &known(&[1.0], &[eps])).is_ok());
        assert!(within(&bytes(&[1.0 + 2.0 * f32::EPSILON]), &known(&[1.0], &[eps])).is_err());
        assert!(within(&bytes(&[f32::NAN]), &known(&[1.0], &[1.0])).is_err());
        assert!(within(&bytes(&[1.0]), &known(&[f32::NAN], &[1.0])).is_err());
        assert!(within(&bytes(&[f32::INFINITY]), &known(&[1.0], &[1e30])).is_err());
        assert!(within(&bytes(&[f32::INFINITY]), &known(&[f32::NEG_INFINITY], &[1.0])).is_err());
        let last = spacing(DType::F32, f32::MAX as f64);
        assert!(within(&bytes(&[f32::INFINITY]), &known(&[f32::MAX], &[last])).is_ok());
        assert!(within(&bytes(&[1.0]), &known(&[1.0, 2.0], &[1.0, 1.0])).is_err(), "a missing element");
    }

    #[test]
    fn bits_tell_zeros_apart_but_not_nans() {
        let (zero, minus, quiet, payload) = (0f32, -0f32, f32::from_bits(0x7fc0_0000), f32::from_bits(0xffc0_1234));
        assert!(same_bits(DType::F32, &bytes(&[zero]), &bytes(&[minus])).is_err());
        assert!(same_bits(DType::F32, &bytes(&[quiet]), &bytes(&[payload])).is_ok());
        assert!(same_bits(DType::I32, &bytes(&[quiet]), &bytes(&[payload])).is_err());
    }
}
