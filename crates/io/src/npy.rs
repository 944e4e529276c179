//! NumPy's npy format: the header read and written. The specification is `numpy/lib/format.py` (NEP 1); versions 1.0 to 3.0.

use crate::literal::{self, Value};
use ferrotensor_core::dtype::DTYPES;
use ferrotensor_core::planted;
use ferrotensor_core::{DType, Error, Result};

/// What every npy file begins with.
pub const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// NumPy's own bound (`_MAX_HEADER_SIZE`): longer headers belong to structured arrays, which are refused anyway.
const MAX_HEADER: usize = 10_000;
/// Magic, version and the longer one of the two forms of the header's length.
pub const LONGEST_START: usize = 12;
/// The longest start of a file that [`header`] needs.
pub const LONGEST_PREFIX: usize = LONGEST_START + MAX_HEADER;
/// Array data starts at a multiple of this, as NumPy writes it.
const ALIGNMENT: usize = 64;

/// What a header says.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The element type.
    pub dtype: DType,
    /// Whether elements are stored with their most significant byte first.
    pub big_endian: bool,
    /// Whether the first axis runs fastest.
    pub fortran: bool,
    /// Axis sizes.
    pub shape: Vec<u64>,
    /// Where the data start.
    pub start: usize,
}

/// Reads the header at the start of a file. `bytes` is the whole file, or at least its first [`LONGEST_PREFIX`] bytes.
///
/// # Errors
/// `Code::Format`: no npy file, one that ends too early, or an array of a kind that tensors have no dtype for.
pub fn header(bytes: &[u8]) -> Result<Header> {
    if !bytes.starts_with(MAGIC) {
        return Err(Error::format("it is no npy file: it does not begin with \\x93NUMPY"));
    }
    let ends = |needed: usize| Error::format(format!("the header ends after {} of {needed} bytes", bytes.len()));
    let &[major, minor] = bytes.get(6..8).ok_or_else(|| ends(LONGEST_START))? else { return Err(ends(LONGEST_START)) };
    let (length, start) = match (major, minor) {
        (1, 0) => {
            let field = bytes.get(8..10).and_then(|b| b.first_chunk()).ok_or_else(|| ends(10))?;
            (u16::from_le_bytes(*field) as usize, 10)
        }
        (2 | 3, 0) => {
            let field = bytes.get(8..12).and_then(|b| b.first_chunk()).ok_or_else(|| ends(12))?;
            (u32::from_le_bytes(*field) as usize, 12)
        }
        _ => return Err(Error::format(format!("npy version {major}.{minor} is unknown; 1.0, 2.0 and 3.0 are read"))),
    };
    if length > MAX_HEADER {
        return Err(Error::format(format!(
            "a header of {length} bytes; those of plain arrays have fewer than {MAX_HEADER}"
        )));
    }
    let text = bytes.get(start..start + length).ok_or_else(|| ends(start + length))?;
    let text = if major == 3 {
        String::from_utf8(text.to_vec())
            .map_err(|_| Error::format("the header of an npy file of version 3.0 must be UTF-8"))?
    } else {
        // Latin-1: each byte is the character of its number.
        text.iter().map(|&b| char::from(b)).collect()
    };
    describe(&text, start + length)
}

fn describe(text: &str, start: usize) -> Result<Header> {
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    for (key, value) in literal::dictionary(text)? {
        match (key.as_str(), value) {
            ("descr", value) => descr = Some(value),
            ("fortran_order", Value::Flag(flag)) => fortran = Some(flag),
            ("fortran_order", _) => return Err(Error::format("'fortran_order' of the header must be True or False")),
            ("shape", Value::Tuple(items)) => shape = Some(items.into_iter().map(axis).collect::<Result<Vec<u64>>>()?),
            ("shape", _) => return Err(Error::format("'shape' of the header must be a tuple")),
            (other, _) => return Err(Error::format(format!("the header has an unknown key '{}'", shortened(other)))),
        }
    }
    let missing = |key: &str| Error::format(format!("the header has no '{key}'"));
    let (dtype, big_endian) = element_type(&descr.ok_or_else(|| missing("descr"))?)?;
    let fortran = fortran.ok_or_else(|| missing("fortran_order"))? && !planted::is("columns-are-read-as-rows");
    Ok(Header { dtype, big_endian, fortran, shape: shape.ok_or_else(|| missing("shape"))?, start })
}

fn axis(value: Value) -> Result<u64> {
    match value {
        Value::Number(size) => Ok(size),
        _ => Err(Error::format("'shape' of the header must hold whole numbers")),
    }
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= 80 { text.to_string() } else { format!("{}...", text.chars().take(77).collect::<String>()) }
}

/// The dtype behind a `descr`, and whether it is big-endian.
fn element_type(descr: &Value) -> Result<(DType, bool)> {
    let code = match descr {
        Value::Text(code) => code,
        Value::Other(fields) if fields.starts_with('[') => {
            return Err(Error::format(format!(
                "a structured array, of fields {}; save each field as an array",
                shortened(fields)
            )));
        }
        _ => return Err(Error::format("'descr' of the header must be the code of a dtype")),
    };
    let split = code.char_indices().nth(1).map_or(code.len(), |(i, _)| i);
    let (order, kind) = code.split_at(split);
    let row = DTYPES.iter().find(|row| has_code(row.dtype) && row.numpy[1..] == *kind);
    match (row, order) {
        (Some(row), "|") if row.bytes == 1 => Ok((row.dtype, false)),
        (Some(row), "<" | ">") => Ok((row.dtype, order == ">" && row.bytes > 1)),
        (Some(_), _) => Err(Error::format(format!("the dtype '{}' does not say its byte order", shortened(code)))),
        (None, _) => Err(Error::format(foreign(code, kind))),
    }
}

/// Why there is no tensor of a NumPy dtype.
fn foreign(code: &str, kind: &str) -> String {
    let what = match (code, kind.chars().next()) {
        ("|O", _) | (_, Some('O')) => "an array of Python objects, which would have to be unpickled",
        (_, Some('S' | 'a')) => "an array of byte strings",
        (_, Some('U')) => "an array of text",
        (_, Some('M')) => "an array of dates; save x.astype('int64')",
        (_, Some('m')) => "an array of durations; save x.astype('int64')",
        (_, Some('V')) => "an array of raw bytes; bfloat16 belongs into safetensors",
        (_, Some('f' | 'c')) => "an array of extended precision; save x.astype('float64') or x.astype('complex128')",
        _ => "an array of a dtype that NumPy does not have",
    };
    format!("{what} (dtype '{}')", shortened(code))
}

/// Whether NumPy itself has the dtype: bfloat16 is an extension's, which NumPy stores as raw bytes and cannot read back.
pub fn has_code(dtype: DType) -> bool {
    dtype != DType::BF16
}

/// The header of a row-major, little-endian array, version 1.0; the data follow it.
///
/// # Errors
/// `Code::DType` for bfloat16.
pub fn write_header(dtype: DType, shape: &[usize]) -> Result<Vec<u8>> {
    if !has_code(dtype) {
        let advice = "write it with saveSafetensors, or convert it with x.astype('float32')";
        return Err(Error::dtype(format!("NumPy has no {dtype}, so npy and npz cannot hold it; {advice}")));
    }
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if sizes.len() == 1 { "," } else { "" };
    let code = dtype.info().numpy;
    let mut text = format!("{{'descr': '{code}', 'fortran_order': False, 'shape': ({}{comma}), }}", sizes.join(", "));
    let whole = (MAGIC.len() + 4 + text.len() + 1).next_multiple_of(ALIGNMENT);
    text.extend(std::iter::repeat_n(' ', whole - MAGIC.len() - 4 - text.len() - 1));
    text.push('\n');
    let length = u16::try_from(text.len()).map_err(|_| Error::internal("an npy header beyond 64 KiB"))?;
    Ok([MAGIC.as_slice(), &[1, 0], &length.to_le_bytes(), text.as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: [u8; 2], text: &str) -> Vec<u8> {
        let length = text.len() as u32;
        let length = if version[0] == 1 { length.to_le_bytes()[..2].to_vec() } else { length.to_le_bytes().to_vec() };
        [MAGIC.as_slice(), &version, &length, text.as_bytes()].concat()
    }

    fn of(descr: &str) -> Result<Header> {
        header(&file([1, 0], &format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (2,), }}\n")))
    }

    fn refused(descr: &str) -> String {
        of(descr).expect_err(descr).message
    }

    #[test]
    fn what_is_written_is_read() {
        for dtype in DType::all().filter(|&d| has_code(d)) {
            for shape in [&[][..], &[0], &[3], &[2, 3], &[1; 32], &[usize::MAX >> 12, 0]] {
                let bytes = write_header(dtype, shape).expect("written");
                assert_eq!(bytes.len() % ALIGNMENT, 0);
                let read = header(&bytes).expect("read");
                let shape: Vec<u64> = shape.iter().map(|&n| n as u64).collect();
                assert_eq!(read, Header { dtype, big_endian: false, fortran: false, shape, start: bytes.len() });
            }
        }
        assert!(write_header(DType::BF16, &[1]).expect_err("refused").message.contains("saveSafetensors"));
    }

    #[test]
    fn the_three_versions_differ_in_length_and_encoding() {
        let text = "{'descr': '>i2', 'fortran_order': True, 'shape': ()}";
        for version in [[1, 0], [2, 0], [3, 0]] {
            let read = header(&file(version, text)).expect("read");
            assert!(read.big_endian && read.fortran && read.shape.is_empty());
        }
        for version in [[0, 0], [1, 1], [4, 0], [255, 255]] {
            assert!(header(&file(version, text)).is_err());
        }
        // The same bytes are Latin-1, but no UTF-8.
        let named = |version| {
            let mut bytes = file(version, "{'descr': [('?', '<f8')], 'fortran_order': False, 'shape': ()}");
            let at = bytes.iter().position(|&b| b == b'?').expect("there");
            bytes[at] = 0xe9;
            header(&bytes).expect_err("structured").message
        };
        assert!(named([1, 0]).contains("[('é', '<f8')]"));
        assert!(named([3, 0]).contains("UTF-8"));
    }

    #[test]
    fn kinds_without_a_dtype_say_what_they_are() {
        assert!(refused("'|O'").contains("Python objects"));
        assert!(refused("[('a', '<f8'), ('b', '<i4')]").contains("structured array, of fields [('a', '<f8')"));
        assert!(refused("'|S5'").contains("byte strings (dtype '|S5')"));
        assert!(refused("'<U3'").contains("text"));
        assert!(refused("'<M8[ns]'").contains("dates"));
        assert!(refused("'<V2'").contains("bfloat16 belongs into safetensors"));
        assert!(refused("'<f16'").contains("extended precision"));
        assert!(refused("'|i4'").contains("byte order"));
        assert!(refused("''").contains("does not have"));
        assert!(refused("'é'").contains("does not have"));
        assert!(refused("('<f8', (2,))").contains("code of a dtype"));
    }

    #[test]
    fn a_header_cut_anywhere_is_refused() {
        let whole = write_header(DType::F64, &[2, 3]).expect("written");
        for end in 0..whole.len() {
            assert!(header(&whole[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn keys_must_be_numpy_s() {
        for text in [
            "{'descr': '<f8', 'shape': ()}",
            "{'descr': '<f8', 'fortran_order': 1, 'shape': ()}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': 3}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': ('a',)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (), 'x': 1}",
        ] {
            assert!(header(&file([1, 0], text)).is_err(), "{text}");
        }
    }
}
