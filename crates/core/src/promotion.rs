//! Dtype promotion: the array API table inside a kind, "the higher kind wins with its own width" across kinds.

use crate::dtype::{DType, Kind};
use crate::error::{Error, Result};
use crate::planted;

/// The dtype two tensors of these dtypes are combined in.
///
/// Source: array API standard 2025.12, "Type promotion rules", extended across kinds: an integer with a float takes the
/// float's dtype, a float with a complex takes the complex kind at the wider of the two precisions.
///
/// # Errors
/// `Code::DType` for uint64 with a signed integer: no integer dtype holds both.
pub fn promote(a: DType, b: DType) -> Result<DType> {
    if a == b {
        return Ok(a);
    }
    let (low, high) = if (a.kind(), a.bytes()) <= (b.kind(), b.bytes()) { (a, b) } else { (b, a) };
    Ok(match (low.kind(), high.kind()) {
        (Kind::Bool, _) => high,
        (Kind::Unsigned, Kind::Unsigned) | (Kind::Signed, Kind::Signed) => high,
        (Kind::Unsigned, Kind::Signed) => return mixed_sign(low, high),
        (Kind::Float, Kind::Float)
            if low.bytes() == 2 && high.bytes() == 2 && !planted::is("halves-promote-to-one-of-them") =>
        {
            DType::F32
        }
        (Kind::Float, Kind::Float) | (Kind::Complex, Kind::Complex) => high,
        (Kind::Float, Kind::Complex) if low == DType::F64 => DType::C128,
        (_, Kind::Float | Kind::Complex) => high,
        _ => high,
    })
}

fn mixed_sign(unsigned: DType, signed: DType) -> Result<DType> {
    let wide = match unsigned.bytes() {
        1 => DType::I16,
        2 => DType::I32,
        4 => DType::I64,
        _ => {
            return Err(Error::dtype(format!(
                "{unsigned} and {signed} have no common integer dtype; cast one of them with astype()"
            )));
        }
    };
    Ok(if signed.bytes() > unsigned.bytes() { signed } else { wide })
}

/// What a function that needs floating point computes in: integers and bool become float32.
pub fn to_float(dtype: DType) -> DType {
    match dtype.kind() {
        Kind::Float | Kind::Complex => dtype,
        _ => DType::F32,
    }
}

/// The complex dtype whose parts hold it: complex128 of float64, else complex64.
pub fn to_complex(dtype: DType) -> DType {
    if matches!(dtype, DType::F64 | DType::C128) { DType::C128 } else { DType::C64 }
}

/// The default accumulator and result dtype of `sum` and `prod`: small integers widen to 32 bits, bool counts in int32.
pub fn to_sum(dtype: DType) -> DType {
    match dtype {
        DType::Bool | DType::I8 | DType::I16 => DType::I32,
        DType::U8 | DType::U16 => DType::U32,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotion_is_commutative_and_keeps_the_standard_table() {
        for a in DType::all() {
            for b in DType::all() {
                assert_eq!(promote(a, b).ok(), promote(b, a).ok(), "{a} {b}");
            }
            assert_eq!(promote(a, a), Ok(a));
        }
        for (a, b, c) in [
            (DType::I8, DType::U8, DType::I16),
            (DType::I32, DType::U8, DType::I32),
            (DType::U32, DType::I8, DType::I64),
            (DType::U16, DType::I16, DType::I32),
            (DType::I64, DType::F32, DType::F32),
            (DType::I64, DType::F16, DType::F16),
            (DType::F16, DType::BF16, DType::F32),
            (DType::F16, DType::F64, DType::F64),
            (DType::F64, DType::C64, DType::C128),
            (DType::F32, DType::C64, DType::C64),
            (DType::I64, DType::C64, DType::C64),
            (DType::Bool, DType::U8, DType::U8),
        ] {
            assert_eq!(promote(a, b), Ok(c), "{a} {b}");
        }
        for signed in [DType::I8, DType::I16, DType::I32, DType::I64] {
            assert!(promote(DType::U64, signed).is_err());
        }
    }
}
