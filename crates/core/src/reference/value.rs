//! One element as a number: what each dtype can hold, how bytes become a value, and how a value is rounded or wrapped back.

use super::double::Double;
use crate::dtype::{DType, FloatFormat, Kind};
use crate::element::{bf16, f16};
use crate::match_dtype;
use bytemuck::{bytes_of, pod_read_unaligned};
use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg};

/// A number with room to spare: arithmetic on it is exact or nearly so until [`Scalar::fit`] rounds it to a dtype.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Scalar {
    Bool(bool),
    Int(i128),
    Float(Double),
    /// Real and imaginary part.
    Complex(Double, Double),
}
use Scalar::*;

/// A NaN of a float dtype as a float64: sign, and payload from the top. A conversion would quiet it, which a bit cast shows.
fn nan(dtype: DType, bytes: &[u8]) -> Option<f64> {
    let FloatFormat { fraction, top, .. } = dtype.float_format()?;
    let bits = bytes.iter().rev().fold(0u64, |word, &b| word << 8 | b as u64);
    let (payload, exponent) = (bits & ((1 << fraction) - 1), bits >> fraction & (2 * top as u64 + 1));
    let sign = bits >> (8 * bytes.len() - 1) << 63;
    let is_nan = exponent == 2 * top as u64 + 1 && payload != 0;
    is_nan.then(|| f64::from_bits(sign | 0x7ff << 52 | payload << (52 - fraction)))
}

/// The reverse of [`nan`]; a payload that does not fit leaves a quiet one.
fn nan_bits(dtype: DType, value: f64) -> [u8; 8] {
    let Some(FloatFormat { fraction, top, .. }) = dtype.float_format() else { return value.to_le_bytes() };
    let (bits, width) = (value.to_bits(), 8 * dtype.bytes() as u32);
    let payload = match bits << 12 >> (64 - fraction) {
        0 => 1 << (fraction - 1),
        payload => payload,
    };
    ((bits >> 63) << (width - 1) | (2 * top as u64 + 1) << fraction | payload).to_le_bytes()
}

impl Scalar {
    /// A real number.
    pub fn float(value: f64) -> Scalar {
        Float(value.into())
    }

    /// The element in the first bytes of `bytes`.
    pub fn decode(dtype: DType, bytes: &[u8]) -> Scalar {
        let bytes = &bytes[..dtype.bytes()];
        let part = |bytes: &[u8]| {
            let real = dtype.info().real;
            let value = match real {
                DType::F16 => pod_read_unaligned::<f16>(bytes).to_f64(),
                DType::BF16 => pod_read_unaligned::<bf16>(bytes).to_f64(),
                DType::F32 => pod_read_unaligned::<f32>(bytes) as f64,
                _ => pod_read_unaligned(bytes),
            };
            Double::from(if value.is_nan() { nan(real, bytes).unwrap_or(value) } else { value })
        };
        match dtype.kind() {
            Kind::Bool => Bool(bytes[0] != 0),
            Kind::Float => Float(part(bytes)),
            Kind::Complex => {
                let (re, im) = bytes.split_at(dtype.bytes() / 2);
                Complex(part(re), part(im))
            }
            Kind::Signed | Kind::Unsigned => {
                Int(match_dtype!(dtype, integers T => pod_read_unaligned::<T>(bytes) as i128, else 0))
            }
        }
    }

    /// The element's bytes (the first `dtype.bytes()` count), converted as [`Scalar::fit`] says.
    pub fn encode(self, dtype: DType) -> [u8; 16] {
        let mut out = [0u8; 16];
        let part = |value: Double, to: &mut [u8]| match dtype.info().real {
            narrow if value.hi.is_nan() => to.copy_from_slice(&nan_bits(narrow, value.hi)[..to.len()]),
            DType::F16 => to.copy_from_slice(bytes_of(&f16::from_f32(odd_f32(value.to_odd())))),
            DType::BF16 => to.copy_from_slice(bytes_of(&bf16::from_f32(odd_f32(value.to_odd())))),
            DType::F32 => to.copy_from_slice(bytes_of(&(value.to_odd() as f32))),
            _ => to.copy_from_slice(bytes_of(&value.hi)),
        };
        match (self.cast_exact(dtype), dtype.bytes()) {
            (Bool(value), _) => out[0] = value as u8,
            // Two's complement, low bytes first: the first bytes are the value wrapped to any width.
            (Int(value), _) => out = value.to_le_bytes(),
            (Float(value), size) => part(value, &mut out[..size]),
            (Complex(re, im), size) => {
                let (first, second) = out[..size].split_at_mut(size / 2);
                part(re, first);
                part(im, second);
            }
        }
        out
    }

    /// The value as `dtype` holds it: the conversion of [`crate::scalar::Op::Cast`], and the one rounding (or wrapping)
    /// that ends every computation.
    pub fn fit(self, dtype: DType) -> Scalar {
        match (self, dtype) {
            // What most instructions of long programs make, without the way through bytes.
            (Float(value), DType::F64) => Scalar::float(value.hi),
            (Float(value), DType::F32) if !value.hi.is_nan() => Scalar::float(f64::from(value.to_odd() as f32)),
            (Bool(_), DType::Bool) => self,
            (Int(value), _) if dtype.is_integer() => Int(match_dtype!(dtype, integers T => value as T as i128, else value)),
            (Complex(re, im), DType::C128) => Complex(re.hi.into(), im.hi.into()),
            (Complex(re, im), DType::C64) if !re.hi.is_nan() && !im.hi.is_nan() => {
                let part = |value: Double| Double::from(f64::from(value.to_odd() as f32));
                Complex(part(re), part(im))
            }
            _ => Scalar::decode(dtype, &self.encode(dtype)),
        }
    }

    /// The value in the kind of `dtype`, before rounding and wrapping.
    fn cast_exact(self, dtype: DType) -> Scalar {
        let re = self.real();
        match (dtype.kind(), self) {
            (Kind::Bool, _) => Bool(self.truth()),
            (Kind::Signed | Kind::Unsigned, Bool(value)) => Int(value as i128),
            (Kind::Signed | Kind::Unsigned, Int(value)) => Int(value),
            (Kind::Signed | Kind::Unsigned, _) => {
                let (low, high) = integer_range(dtype);
                // `as` truncates towards zero, saturates, and takes NaN to 0.
                Int((re.hi as i128).clamp(low, high))
            }
            (Kind::Float, _) => Float(re),
            (Kind::Complex, Complex(..)) => self,
            (Kind::Complex, _) => Complex(re, 0.0.into()),
        }
    }

    /// `x != 0`.
    pub fn truth(self) -> bool {
        match self {
            Bool(value) => value,
            Int(value) => value != 0,
            Float(value) => value.hi != 0.0,
            Complex(re, im) => re.hi != 0.0 || im.hi != 0.0,
        }
    }

    /// The value, or its real part.
    pub fn real(self) -> Double {
        match self {
            Bool(value) => Double::from(value as u8 as f64),
            Int(value) => value.into(),
            Float(re) | Complex(re, _) => re,
        }
    }

    /// The imaginary part.
    pub fn imaginary(self) -> Double {
        match self {
            Complex(_, im) => im,
            _ => 0.0.into(),
        }
    }

    /// The value of an integer or bool (of a float: truncated).
    pub fn int(self) -> i128 {
        match self {
            Bool(value) => value as i128,
            Int(value) => value,
            Float(re) | Complex(re, _) => re.hi as i128,
        }
    }

    /// The modulus.
    pub fn magnitude(self) -> Double {
        match self {
            Complex(re, im) => Double::from(libm::hypot(re.hi, im.hi)),
            value => value.real().abs(),
        }
    }

    /// Whether it is NaN (for complex: in either part).
    pub fn is_nan(self) -> bool {
        match self {
            Float(value) => value.hi.is_nan(),
            Complex(re, im) => re.hi.is_nan() || im.hi.is_nan(),
            _ => false,
        }
    }

    /// IEEE order of two real numbers: none with NaN, `-0 == +0`.
    pub fn compare(self, other: Scalar) -> Option<Ordering> {
        match (self, other) {
            (Bool(x), Bool(y)) => Some(x.cmp(&y)),
            (Int(x), Int(y)) => Some(x.cmp(&y)),
            (Float(x), Float(y)) => (x.hi, x.lo).partial_cmp(&(y.hi, y.lo)),
            _ => None,
        }
    }

    /// `x == y` (complex: in both parts).
    pub fn equals(self, other: Scalar) -> bool {
        match (self, other) {
            (Complex(a, b), Complex(c, d)) => a.hi == c.hi && b.hi == d.hi,
            (x, y) => x.compare(y) == Some(Ordering::Equal),
        }
    }

    /// The smaller (`Ordering::Less`) or larger of two real numbers; NaN wins, `-0 < +0`.
    pub fn extreme(self, other: Scalar, wanted: Ordering) -> Scalar {
        if self.is_nan() || other.is_nan() {
            return Scalar::float(f64::NAN);
        }
        let order = match self.compare(other) {
            Some(Ordering::Equal) => self.is_negative().cmp(&other.is_negative()).reverse(),
            order => order.unwrap_or(Ordering::Equal),
        };
        if order == wanted { self } else { other }
    }

    /// Sign bit of a real number.
    fn is_negative(self) -> bool {
        match self {
            Int(value) => value < 0,
            Float(value) => value.hi.is_sign_negative(),
            _ => false,
        }
    }
}

/// `-x`.
impl Neg for Scalar {
    type Output = Scalar;
    fn neg(self) -> Scalar {
        match self {
            Bool(value) => Bool(value),
            Int(value) => Int(value.wrapping_neg()),
            Float(value) => Float(-value),
            Complex(re, im) => Complex(-re, -im),
        }
    }
}

/// `x + y`; bool is or. Both of one kind.
impl Add for Scalar {
    type Output = Scalar;
    fn add(self, other: Scalar) -> Scalar {
        match (self, other) {
            (Bool(x), Bool(y)) => Bool(x | y),
            (Int(x), Int(y)) => Int(x.wrapping_add(y)),
            (Complex(a, b), Complex(c, d)) => Complex(a + c, b + d),
            (x, y) => Float(x.real() + y.real()),
        }
    }
}

/// `x * y`; bool is and; complex by the plain formula `(ac - bd) + (ad + bc)i`. Both of one kind.
impl Mul for Scalar {
    type Output = Scalar;
    fn mul(self, other: Scalar) -> Scalar {
        match (self, other) {
            (Bool(x), Bool(y)) => Bool(x & y),
            (Int(x), Int(y)) => Int(x.wrapping_mul(y)),
            (Complex(a, b), Complex(c, d)) => Complex(a * c - b * d, a * d + b * c),
            (x, y) => Float(x.real() * y.real()),
        }
    }
}

/// `x / y`; integers truncate, by zero is 0; complex by `x * conj(y) / |y|^2` on scaled operands, [`at_the_ends`] where it has a value. Both of
/// one kind.
impl Div for Scalar {
    type Output = Scalar;
    fn div(self, other: Scalar) -> Scalar {
        match (self, other) {
            (Int(x), Int(y)) => Int(x.checked_div(y).unwrap_or(0)),
            (Complex(a, b), Complex(c, d)) if let Some((x, y)) = at_the_ends([a.hi, b.hi, c.hi, d.hi]) => {
                Complex(x.into(), y.into())
            }
            (Complex(a, b), Complex(c, d)) => {
                // Neither |y|^2 nor a product leaves the normal numbers once both are scaled to about 1; by powers of two that is exact.
                let exponent = |re: Double, im: Double| {
                    let size = re.hi.abs().max(im.hi.abs());
                    if size > 0.0 && size.is_finite() { -libm::ilogb(size) } else { 0 }
                };
                let scale = |v: Double, by: i32| Double { hi: libm::scalbn(v.hi, by), lo: libm::scalbn(v.lo, by) };
                let (of_x, of_y) = (exponent(a, b), exponent(c, d));
                let (a, b, c, d) = (scale(a, of_x), scale(b, of_x), scale(c, of_y), scale(d, of_y));
                let norm = c * c + d * d;
                let over = |v: Double| scale(v / norm, of_y - of_x);
                Complex(over(a * c + b * d), over(b * c - a * d))
            }
            (x, y) => Float(x.real() / y.real()),
        }
    }
}

/// The quotient `(a + bi) / (c + di)` by zero, as NumPy has it, and of or by an infinite number, as the code of C99 (annex G.5.1) has it after
/// the plain formula.
fn at_the_ends([a, b, c, d]: [f64; 4]) -> Option<(f64, f64)> {
    if c == 0.0 && d == 0.0 {
        return Some((a / 0.0, b / 0.0));
    }
    let direction = |v: f64| if v.is_infinite() { 1f64.copysign(v) } else { 0f64.copysign(v) };
    let infinite = |x: f64, y: f64| x.is_infinite() || y.is_infinite();
    match (infinite(a, b), infinite(c, d)) {
        (true, false) => {
            let size = c.abs().max(d.abs());
            let (c, d) = (c / size, d / size);
            let (x, y) = (a * c + b * d, b * c - a * d);
            let (p, q) = (direction(a), direction(b));
            Some(if x.is_nan() && y.is_nan() {
                (f64::INFINITY * (p * c + q * d), f64::INFINITY * (q * c - p * d))
            } else {
                (x, y)
            })
        }
        (false, true) => {
            let (r, s) = (direction(c), direction(d));
            Some((0.0 * (a * r + b * s), 0.0 * (b * r - a * s)))
        }
        (true, true) => Some((f64::NAN, f64::NAN)),
        (false, false) => None,
    }
}

/// Smallest and largest value of an integer dtype.
pub fn integer_range(dtype: DType) -> (i128, i128) {
    match_dtype!(dtype, integers T => (T::MIN as i128, T::MAX as i128), else (0, 0))
}

/// Float64 to float32, rounded to odd: rounding the result to 22 bits or fewer is then correct. (`f16::from_f64` of `half`
/// drops 32 bits first, which turns a value just above a tie into the tie.)
fn odd_f32(value: f64) -> f32 {
    let near = value as f32;
    match value.partial_cmp(&(near as f64)) {
        Some(Ordering::Greater) if near.to_bits() & 1 == 0 => near.next_up(),
        Some(Ordering::Less) if near.to_bits() & 1 == 0 => near.next_down(),
        _ => near,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complex_quotients_of_the_smallest_numbers_keep_their_digits() {
        let (tiny, y) = (f64::from_bits(1), 0.7 * 2f64.powi(-28));
        let Complex(re, im) = Complex(0.0.into(), tiny.into()) / Complex(y.into(), 0.0.into()) else {
            panic!("not complex")
        };
        assert_eq!((re.hi, im.hi), (0.0, tiny / y));
    }

    /// Every float16 and bfloat16, and the ties between neighbours with what lies just beside them.
    #[test]
    fn narrow_floats_round_to_nearest_even_everywhere() {
        for dtype in [DType::F16, DType::BF16] {
            let value = |bits: u16| Scalar::decode(dtype, &bits.to_le_bytes()).real().hi;
            let rounded =
                |x: f64| u16::from_le_bytes([Scalar::float(x).encode(dtype)[0], Scalar::float(x).encode(dtype)[1]]);
            for bits in (0..0x7fff).take_while(|&bits| value(bits + 1).is_finite()) {
                assert_eq!(rounded(value(bits)), bits);
                let tie = (value(bits) + value(bits + 1)) / 2.0;
                assert_eq!(rounded(tie), bits + (bits & 1), "{dtype} {bits:x}");
                assert_eq!((rounded(tie.next_down()), rounded(tie.next_up())), (bits, bits + 1), "{dtype} {bits:x}");
                assert_eq!(rounded(-tie.next_up()), 0x8000 | (bits + 1));
            }
        }
    }
}
