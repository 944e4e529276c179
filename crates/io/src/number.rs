//! The numbers that fields of a table write, as elements of a dtype, and what of a number a dtype does not hold.

use crate::fields;
use crate::rows::{At, bare};
use ferrotensor_core::{DType, Error};
use half::{bf16, f16};

/// No number is longer: the smallest float64 has 1,075 digits behind the point, and nobody writes those.
pub const LONGEST_FIELD: usize = 2048;

/// Why a field is no element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It is no number that the dtype has.
    Number,
    /// An integer that a float dtype would round, where nobody chose it.
    Rounded,
    /// Finite, and infinite in the dtype, where nobody chose it.
    Beyond,
}

impl Wrong {
    /// What an error says of the text.
    pub fn shown(self, dtype: DType) -> String {
        match self {
            Wrong::Number => format!("is no number of {dtype}"),
            Wrong::Rounded => format!("is not exact in {dtype}, the default; name a dtype, '{dtype}' to round"),
            Wrong::Beyond => format!("is beyond {dtype}, the default; name a dtype"),
        }
    }
}

/// The error of a field that is no number, with its line and column.
pub fn wrong_field(bytes: &[u8], field: &[u8], dtype: DType, at: At, why: Wrong) -> Error {
    let shown = match bare(field) {
        text if text.len() > LONGEST_FIELD => format!("a field of more than {LONGEST_FIELD} bytes"),
        [] => "an empty field".to_string(),
        _ => {
            let text = String::from_utf8_lossy(field.trim_ascii());
            let short: String = text.chars().take(40).collect();
            if short.len() < text.len() { format!("'{short}...'") } else { format!("'{text}'") }
        }
    };
    let hint = if bare(field).is_empty() { "; 'fillingValue' says what stands for one" } else { "" };
    let (line, column, what) = (fields::line(bytes, at.start), at.column, why.shown(dtype));
    Error::format(format!("line {line}, column {column}: {shown} {what}{hint}"))
}

/// Appends the element that a text writes; where the number must be `exact`, one that loses digits of an integer or overflows is refused.
///
/// # Errors
/// Why it is none; what was appended then is no element.
pub fn element(text: &[u8], dtype: DType, exact: bool, out: &mut Vec<u8>) -> Result<(), Wrong> {
    if text.len() > LONGEST_FIELD {
        return Err(Wrong::Number);
    }
    let text = std::str::from_utf8(text).map_err(|_| Wrong::Number)?;
    parsed(text, dtype, out).ok_or(Wrong::Number)?;
    if exact { keeps(text, dtype) } else { Ok(()) }
}

/// Whether a float dtype has all digits of an integer, and the magnitude of a number. An integer is a magnitude itself, and rounded as
/// fractions are, where it has no more significant digits than the dtype is sure of.
///
/// # Errors
/// What is lost.
pub fn keeps(text: &str, dtype: DType) -> Result<(), Wrong> {
    let digits = text.trim_start_matches(['+', '-']);
    let integer = digits.bytes().all(|byte| byte.is_ascii_digit());
    // 10^7 is below 2^24, and what has neither an exponent nor 39 digits is no more than float32 reaches.
    let short = if integer { digits.len() <= 7 } else { digits.len() < 39 && !digits.contains(['e', 'E']) };
    if short {
        return Ok(());
    }
    let Ok(wide) = digits.parse::<f64>() else { return Ok(()) };
    let (narrow, sure) = match dtype {
        DType::F32 => (f64::from(wide as f32), f32::DIGITS),
        DType::F64 => (wide, f64::DIGITS),
        _ => return Ok(()),
    };
    let significant = digits.trim_matches('0').len();
    // An integer of more than 38 digits that is no magnitude has more than any float.
    if integer && significant > sure as usize && digits.parse::<u128>() != Ok(narrow as u128) {
        return Err(Wrong::Rounded);
    }
    if narrow.is_infinite() { Err(Wrong::Beyond) } else { Ok(()) }
}

/// Appends the number that a text is, where the dtype has it.
fn parsed(text: &str, dtype: DType, out: &mut Vec<u8>) -> Option<()> {
    macro_rules! parse {
        ($type:ty) => {
            out.extend_from_slice(&text.parse::<$type>().ok()?.to_le_bytes())
        };
    }
    match dtype {
        DType::Bool => out.push(match text {
            "0" | "false" | "False" => 0,
            "1" | "true" | "True" => 1,
            _ => return None,
        }),
        DType::I8 => parse!(i8),
        DType::U8 => parse!(u8),
        DType::I16 => parse!(i16),
        DType::U16 => parse!(u16),
        DType::I32 => parse!(i32),
        DType::U32 => parse!(u32),
        DType::I64 => parse!(i64),
        DType::U64 => parse!(u64),
        DType::F32 => parse!(f32),
        DType::F64 => parse!(f64),
        // By way of float64, whose own rounding is far below half a unit of these.
        DType::F16 => out.extend_from_slice(&f16::from_f64(text.parse().ok()?).to_le_bytes()),
        DType::BF16 => out.extend_from_slice(&bf16::from_f64(text.parse().ok()?).to_le_bytes()),
        DType::C64 | DType::C128 => return None,
    }
    Some(())
}
