//! Tables of numbers as text: fields with a delimiter between them, one row a line. Fields are taken apart by `csv-core`, one at a
//! time, so that a table needs no memory beside its text and its elements: it is walked once for its shape, once for its numbers.

use crate::CHUNK;
use csv_core::{ReadFieldResult, ReaderBuilder, WriteResult, WriterBuilder};
use ferrotensor_core::{DType, Error, Result};
use half::{bf16, f16};
use std::io::{self, Write};

/// No number is longer: the smallest float64 has 1,075 digits behind the point, and nobody writes those.
const LONGEST_FIELD: usize = 2048;

/// How a table is written.
#[derive(Clone, Debug)]
pub struct Options {
    /// Between fields.
    pub delimiter: u8,
    /// Lines that begin with it are skipped.
    pub comment: Option<u8>,
    /// Lines to skip first, whatever they hold.
    pub skip_rows: u64,
    /// Whether a row of names stands before the numbers.
    pub header: bool,
    /// What the numbers become.
    pub dtype: DType,
}

/// Rows and columns of a table.
///
/// # Errors
/// `Code::Format`, with line and column, where a row has not as many fields as the first; `Code::DType` for complex dtypes.
pub fn shape(bytes: &[u8], options: &Options) -> Result<[u64; 2]> {
    if options.dtype.is_complex() {
        return Err(Error::dtype(format!("text holds real numbers, not {}", options.dtype)));
    }
    walk(bytes, options, &mut |_, _| Ok(()))
}

/// The numbers of a table as elements, in chunks of the given place and bytes.
///
/// # Errors
/// `Code::Format`, with line and column, for a field that is no number, or none that the dtype holds.
pub fn decode(bytes: &[u8], options: &Options, sink: &mut dyn FnMut(usize, &[u8]) -> Result<()>) -> Result<()> {
    let (mut chunk, mut done) = (Vec::with_capacity(CHUNK), 0);
    walk(bytes, options, &mut |field, at| {
        element(field, options.dtype, &mut chunk).ok_or_else(|| wrong_field(bytes, field, options.dtype, at))?;
        if chunk.len() + 16 > CHUNK {
            sink(done, &chunk)?;
            done += chunk.len();
            chunk.clear();
        }
        Ok(())
    })?;
    if chunk.is_empty() { Ok(()) } else { sink(done, &chunk) }
}

/// Where a field is: the byte behind it, and its number in the row.
#[derive(Clone, Copy)]
struct At {
    end: usize,
    column: u64,
}

/// Gives each field to `each`; returns rows and columns.
fn walk(bytes: &[u8], options: &Options, each: &mut dyn FnMut(Field<'_>, At) -> Result<()>) -> Result<[u64; 2]> {
    let mut at = first_line(bytes, options.skip_rows);
    let mut reader = ReaderBuilder::new().delimiter(options.delimiter).comment(options.comment).build();
    let mut buffer = [0u8; LONGEST_FIELD];
    let (mut rows, mut columns, mut column) = (0u64, None, 0u64);
    let mut names = options.header;
    let (mut filled, mut overlong) = (0, false);
    loop {
        let (result, read, written) = reader.read_field(&bytes[at..], &mut buffer[filled..]);
        at += read;
        filled += written;
        let record_end = match result {
            // The end of the input: the next call, with nothing, finishes the last field.
            ReadFieldResult::InputEmpty => continue,
            ReadFieldResult::OutputFull => {
                (filled, overlong) = (0, true);
                continue;
            }
            ReadFieldResult::Field { record_end } => record_end,
            ReadFieldResult::End => return Ok([rows, columns.unwrap_or(0)]),
        };
        column += 1;
        if !names {
            let place = At { end: at, column };
            if let Some(wanted) = columns.filter(|&wanted| column > wanted || (record_end && column < wanted)) {
                let more = if column > wanted { "more than " } else { "" };
                let found = if column > wanted { wanted } else { column };
                let line = line(bytes, place);
                return Err(Error::format(format!(
                    "line {line}: {more}{found} fields, column {column}; the rows before have {wanted}"
                )));
            }
            each(if overlong { Field::Overlong } else { Field::Text(&buffer[..filled]) }, place)?;
        }
        (filled, overlong) = (0, false);
        if record_end {
            if names {
                names = false;
            } else {
                rows += 1;
                columns = Some(column);
            }
            column = 0;
        }
    }
}

/// What stands in a field.
#[derive(Clone, Copy)]
enum Field<'a> {
    Text(&'a [u8]),
    /// More than any number.
    Overlong,
}

fn first_line(bytes: &[u8], skip: u64) -> usize {
    let mut at = 0;
    for _ in 0..skip {
        match bytes[at..].iter().position(|&b| b == b'\n') {
            Some(end) => at += end + 1,
            None => return bytes.len(),
        }
    }
    at
}

/// The number of the line in which a field ends.
fn line(bytes: &[u8], at: At) -> usize {
    // The byte behind a field is its delimiter, or the first one of the end of its line.
    let before = &bytes[..at.end.saturating_sub(1)];
    let lone = before.windows(2).filter(|pair| pair[0] == b'\r' && pair[1] != b'\n').count();
    1 + before.iter().filter(|&&b| b == b'\n').count() + lone
}

fn wrong_field(bytes: &[u8], field: Field<'_>, dtype: DType, at: At) -> Error {
    let shown = match field {
        Field::Overlong => format!("a field of more than {LONGEST_FIELD} bytes"),
        Field::Text(text) if text.trim_ascii().is_empty() => "an empty field".to_string(),
        Field::Text(text) => {
            let text = String::from_utf8_lossy(text);
            let short: String = text.chars().take(40).collect();
            if short.len() < text.len() { format!("'{short}...'") } else { format!("'{text}'") }
        }
    };
    Error::format(format!("line {}, column {}: {shown} is no number of {dtype}", line(bytes, at), at.column))
}

/// Appends the element that a field writes.
fn element(field: Field<'_>, dtype: DType, out: &mut Vec<u8>) -> Option<()> {
    let Field::Text(field) = field else { return None };
    let text = std::str::from_utf8(field).ok()?.trim_ascii();
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

/// Writes a table; each number as the shortest text that reads back as itself.
///
/// # Errors
/// Those of `out`; as [`io::Error::other`] our own: `Code::Shape` for more than two axes, `Code::DType` for complex numbers,
/// `Code::Argument` where the header has another number of names than there are columns.
pub fn write(
    out: &mut dyn Write,
    dtype: DType,
    shape: &[usize],
    bytes: &[u8],
    delimiter: u8,
    header: &[String],
) -> io::Result<()> {
    let refused = |e: Error| Err(io::Error::other(e));
    if dtype.is_complex() {
        return refused(Error::dtype(format!("text holds real numbers, not {dtype}; write real and imaginary part")));
    }
    let columns = match *shape {
        [] | [_] => 1,
        [_, columns] => columns,
        _ => return refused(Error::shape(format!("text is a table of rows, shape {shape:?} has {} axes", shape.len()))),
    };
    if !header.is_empty() {
        if header.len() != columns {
            return refused(Error::argument(format!("'header' has {} names, the table {columns} columns", header.len())));
        }
        out.write_all(&names(header, delimiter))?;
    }
    let mut line = Vec::new();
    for row in bytes.chunks(columns.max(1) * dtype.bytes()) {
        line.clear();
        for (i, item) in row.chunks_exact(dtype.bytes()).enumerate() {
            if i > 0 {
                line.push(delimiter);
            }
            number(item, dtype, &mut line)?;
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

fn names(header: &[String], delimiter: u8) -> Vec<u8> {
    // Names that look like a comment are quoted, as are those with delimiters, quotes and line ends.
    let mut writer = WriterBuilder::new().delimiter(delimiter).comment(Some(b'#')).build();
    let (mut all, mut buffer) = (Vec::new(), vec![0u8; 64]);
    for (i, name) in header.iter().enumerate() {
        if i > 0 {
            let (_, written) = writer.delimiter(&mut buffer);
            all.extend_from_slice(&buffer[..written]);
        }
        let mut rest = name.as_bytes();
        loop {
            let (result, read, written) = writer.field(rest, &mut buffer);
            all.extend_from_slice(&buffer[..written]);
            rest = &rest[read..];
            if result == WriteResult::InputEmpty {
                break;
            }
        }
    }
    let (_, written) = writer.terminator(&mut buffer);
    all.extend_from_slice(&buffer[..written]);
    all
}

/// Appends one number.
fn number(item: &[u8], dtype: DType, line: &mut Vec<u8>) -> io::Result<()> {
    macro_rules! show {
        ($type:ty, $format:literal) => {
            if let Some(&bytes) = item.first_chunk() {
                write!(line, $format, <$type>::from_le_bytes(bytes))?;
            }
        };
    }
    match dtype {
        DType::Bool => line.push(if item == [0] { b'0' } else { b'1' }),
        DType::I8 => show!(i8, "{}"),
        DType::U8 => show!(u8, "{}"),
        DType::I16 => show!(i16, "{}"),
        DType::U16 => show!(u16, "{}"),
        DType::I32 => show!(i32, "{}"),
        DType::U32 => show!(u32, "{}"),
        DType::I64 => show!(i64, "{}"),
        DType::U64 => show!(u64, "{}"),
        DType::F16 => show!(f16, "{:?}"),
        DType::BF16 => show!(bf16, "{:?}"),
        // Debug, not Display: the latter writes 1e300 with 300 zeros.
        DType::F32 => show!(f32, "{:?}"),
        DType::F64 => show!(f64, "{:?}"),
        DType::C64 | DType::C128 => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Options = Options { delimiter: b',', comment: Some(b'#'), skip_rows: 0, header: false, dtype: DType::F64 };

    fn read(text: &str, options: &Options) -> Result<([u64; 2], Vec<u8>)> {
        let shape = shape(text.as_bytes(), options)?;
        let mut all = Vec::new();
        decode(text.as_bytes(), options, &mut |at, bytes| {
            assert_eq!(at, all.len());
            all.extend_from_slice(bytes);
            Ok(())
        })?;
        Ok((shape, all))
    }

    fn floats(text: &str, options: &Options) -> ([u64; 2], Vec<f64>) {
        let (shape, bytes) = read(text, options).expect(text);
        (shape, bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect())
    }

    fn refused(text: &str, options: &Options) -> String {
        read(text, options).expect_err(text).message
    }

    #[test]
    fn tables_are_read() {
        assert_eq!(floats("1,2\n3,4\n", &PLAIN), ([2, 2], vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!(floats("1,2\r\n3,4", &PLAIN), ([2, 2], vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!(floats("\u{feff}1\n\n# note, 7\n 2 \n\"3\"\n", &PLAIN), ([3, 1], vec![1.0, 2.0, 3.0]));
        assert_eq!(
            floats("-1e-3;+inf;.5", &Options { delimiter: b';', ..PLAIN }),
            ([1, 3], vec![-1e-3, f64::INFINITY, 0.5])
        );
        assert_eq!(
            floats("junk \"\na,b\n1,2\n", &Options { skip_rows: 1, header: true, ..PLAIN }),
            ([1, 2], vec![1.0, 2.0])
        );
        assert_eq!(floats("", &PLAIN), ([0, 0], vec![]));
        assert_eq!(floats("1\n", &Options { skip_rows: 5, ..PLAIN }), ([0, 0], vec![]));
    }

    #[test]
    fn errors_name_line_and_column() {
        assert_eq!(refused("1,2\n3,x\n", &PLAIN), "line 2, column 2: 'x' is no number of float64");
        assert_eq!(refused("1,2\r\n3,x\r\n", &PLAIN), "line 2, column 2: 'x' is no number of float64");
        assert_eq!(refused("1,2\r3,x", &PLAIN), "line 2, column 2: 'x' is no number of float64");
        assert_eq!(refused("# note\n\n1,\n", &PLAIN), "line 3, column 2: an empty field is no number of float64");
        assert_eq!(refused("1,2\n3\n", &PLAIN), "line 2: 1 fields, column 1; the rows before have 2");
        assert_eq!(refused("1,2\n3,4,5\n", &PLAIN), "line 2: more than 2 fields, column 3; the rows before have 2");
        assert_eq!(
            refused("a\n1\n300\n", &Options { dtype: DType::U8, header: true, ..PLAIN }),
            "line 3, column 1: '300' is no number of uint8"
        );
        assert!(refused(&"1".repeat(5000), &PLAIN).contains("more than 2048 bytes"));
        assert!(refused("1.5", &Options { dtype: DType::I32, ..PLAIN }).contains("'1.5'"));
        assert!(refused("#1", &Options { comment: None, ..PLAIN }).contains("'#1'"));
    }

    #[test]
    fn numbers_of_each_dtype_come_back() {
        let cases: [(DType, &str, usize); 12] = [
            (DType::Bool, "true\nFalse\n1\n0\n", 4),
            (DType::I8, "-128\n127\n", 2),
            (DType::U8, "0\n255\n", 2),
            (DType::I16, "-32768\n", 1),
            (DType::U16, "65535\n", 1),
            (DType::I32, "-2147483648\n", 1),
            (DType::U32, "4294967295\n", 1),
            (DType::I64, "-9223372036854775808\n", 1),
            (DType::U64, "18446744073709551615\n", 1),
            (DType::F16, "65504\n6e-8\nnan\n", 3),
            (DType::BF16, "3.3895314e38\n1.0039062\n", 2),
            (DType::F32, "3.4028235e38\n1e-45\n0.1\n-inf\n", 4),
        ];
        for (dtype, text, count) in cases {
            let (_, bytes) = read(text, &Options { dtype, ..PLAIN }).expect(text);
            assert_eq!(bytes.len(), count * dtype.bytes());
            let mut written = Vec::new();
            write(&mut written, dtype, &[count], &bytes, b',', &[]).expect("written");
            let again = read(std::str::from_utf8(&written).expect("text"), &Options { dtype, ..PLAIN }).expect("read").1;
            assert_eq!(again, bytes, "{dtype}: {}", String::from_utf8_lossy(&written));
        }
    }

    #[test]
    fn names_are_quoted_where_they_must_be() {
        let mut out = Vec::new();
        let header = ["#a".to_string(), "b,\"c\"".to_string()];
        write(&mut out, DType::U8, &[1, 2], &[1, 2], b',', &header).expect("written");
        assert_eq!(String::from_utf8_lossy(&out), "\"#a\",\"b,\"\"c\"\"\"\n1,2\n");
        let options = Options { header: true, dtype: DType::U8, ..PLAIN };
        assert_eq!(read(std::str::from_utf8(&out).expect("text"), &options).expect("read"), ([1, 2], vec![1, 2]));
        let mut none = Vec::new();
        assert!(write(&mut none, DType::U8, &[1, 1], &[1], b',', &header).is_err());
        assert!(write(&mut none, DType::U8, &[1, 1, 1], &[1], b',', &[]).is_err());
        assert!(write(&mut none, DType::C64, &[1], &[0; 8], b',', &[]).is_err());
    }
}
