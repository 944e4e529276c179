//! Tables of numbers as text: fields with a delimiter between them, one row a line. Fields are read where they lie, one at a time, so that a
//! table needs no memory beside its text and its elements: it is walked once for its shape, once for its numbers.

use crate::CHUNK;
use crate::fields::{self, Delimiter, Fields};
use ferrotensor_core::{DType, Error, Result};
use half::{bf16, f16};
use std::io::{self, Write};

/// No number is longer: the smallest float64 has 1,075 digits behind the point, and nobody writes those.
const LONGEST_FIELD: usize = 2048;

/// How a table is written.
#[derive(Clone, Debug)]
pub struct Options {
    /// Between fields.
    pub delimiter: Delimiter,
    /// What follows it in a line is no part of the table.
    pub comment: Option<u8>,
    /// Lines to skip first, whatever they hold.
    pub skip_rows: u64,
    /// Whether a row of names stands before the numbers.
    pub header: bool,
    /// What the numbers become.
    pub dtype: DType,
    /// Whether a number without a point or an exponent must be exact in a float dtype, and none may overflow: nobody chose the dtype.
    pub exact: bool,
    /// What stands for an empty field; none where that is an error.
    pub filling: Option<String>,
    /// Texts that are taken for empty fields.
    pub missing: Vec<String>,
}

impl Options {
    /// Numbers of a dtype with commas between them.
    pub fn new(dtype: DType) -> Options {
        Options {
            delimiter: Delimiter::One(b','),
            comment: Some(b'#'),
            skip_rows: 0,
            header: false,
            dtype,
            exact: false,
            filling: None,
            missing: Vec::new(),
        }
    }
}

/// Rows and columns of a table.
///
/// # Errors
/// `Code::Format`, with line and column, where a row has not as many fields as the first; `Code::DType` for complex dtypes, and
/// where a dtype does not hold what stands for empty fields.
pub fn shape(bytes: &[u8], options: &Options) -> Result<[u64; 2]> {
    if options.dtype.is_complex() {
        return Err(Error::dtype(format!("text holds real numbers, not {}", options.dtype)));
    }
    if let Some(filling) = &options.filling {
        let held = element(filling.as_bytes(), options, &mut Vec::new());
        held.map_err(|why| Error::dtype(format!("'fillingValue' {filling} {}", why.shown(options.dtype))))?;
    }
    walk(bytes, options, &mut |_, _| Ok(()))
}

/// The numbers of a table as elements, in chunks of the given place and bytes.
///
/// # Errors
/// `Code::Format`, with line and column, for a field that is no number, or none that the dtype holds.
pub fn decode(bytes: &[u8], options: &Options, sink: &mut dyn FnMut(usize, &[u8]) -> Result<()>) -> Result<()> {
    let (mut chunk, mut done) = (Vec::with_capacity(CHUNK), 0);
    let dtype = options.dtype;
    walk(bytes, options, &mut |field, at| {
        let text = bare(field);
        let absent = text.is_empty() || options.missing.iter().any(|word| word.as_bytes() == text);
        let text = options.filling.as_ref().filter(|_| absent).map_or(text, |filling| filling.as_bytes());
        element(text, options, &mut chunk).map_err(|why| wrong_field(bytes, field, dtype, at, why))?;
        if chunk.len() + 16 > CHUNK {
            sink(done, &chunk)?;
            done += chunk.len();
            chunk.clear();
        }
        Ok(())
    })?;
    if chunk.is_empty() { Ok(()) } else { sink(done, &chunk) }
}

/// Where a field is: its first byte, and its number in the row.
#[derive(Clone, Copy)]
struct At {
    start: usize,
    column: u64,
}

/// Gives each field to `each`; returns rows and columns.
fn walk(bytes: &[u8], options: &Options, each: &mut dyn FnMut(&[u8], At) -> Result<()>) -> Result<[u64; 2]> {
    let start = first_line(bytes, options.skip_rows);
    let mut fields = Fields::new(bytes, start, options.delimiter, options.comment);
    let (mut rows, mut columns, mut column) = (0u64, None, 0u64);
    let mut names = options.header;
    while let Some(fields::Field { range, last }) = fields.next_field()? {
        column += 1;
        if !names {
            let place = At { start: range.start, column };
            if let Some(wanted) = columns.filter(|&wanted| column > wanted || (last && column < wanted)) {
                let more = if column > wanted { "more than " } else { "" };
                let found = if column > wanted { wanted } else { column };
                let line = fields::line(bytes, place.start);
                return Err(Error::format(format!(
                    "line {line}: {more}{found} fields, column {column}; the rows before have {wanted}"
                )));
            }
            each(&bytes[range], place)?;
        }
        if last {
            if names {
                names = false;
            } else {
                rows += 1;
                columns = Some(column);
            }
            column = 0;
        }
    }
    Ok([rows, columns.unwrap_or(0)])
}

/// What a field says: without blanks around it, and without quotes.
fn bare(field: &[u8]) -> &[u8] {
    let text = field.trim_ascii();
    match text {
        [b'"', inner @ .., b'"'] => inner.trim_ascii(),
        _ => text,
    }
}

/// The first line that is looked at; a mark of UTF-8 before it is none of its characters.
fn first_line(bytes: &[u8], skip: u64) -> usize {
    let mut at = if bytes.starts_with("\u{feff}".as_bytes()) { 3 } else { 0 };
    for _ in 0..skip {
        if at == bytes.len() {
            break;
        }
        at = fields::next_line(bytes, at);
    }
    at
}

/// Why a field is no element.
enum Wrong {
    Number,
    /// An integer that a float dtype would round, where nobody chose it.
    Rounded,
    /// Finite, and infinite in the dtype, where nobody chose it.
    Beyond,
}

impl Wrong {
    fn shown(&self, dtype: DType) -> String {
        match self {
            Wrong::Number => format!("is no number of {dtype}"),
            Wrong::Rounded => format!("is not exact in {dtype}, the default; name a dtype, '{dtype}' to round"),
            Wrong::Beyond => format!("is beyond {dtype}, the default; name a dtype"),
        }
    }
}

fn wrong_field(bytes: &[u8], field: &[u8], dtype: DType, at: At, why: Wrong) -> Error {
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

/// Appends the element that a text writes.
fn element(text: &[u8], options: &Options, out: &mut Vec<u8>) -> std::result::Result<(), Wrong> {
    if text.len() > LONGEST_FIELD {
        return Err(Wrong::Number);
    }
    let text = std::str::from_utf8(text).map_err(|_| Wrong::Number)?;
    parsed(text, options.dtype, out).ok_or(Wrong::Number)?;
    if options.exact { keeps(text, options.dtype) } else { Ok(()) }
}

/// Whether a float dtype has all digits of an integer, and the magnitude of a number. An integer is a magnitude itself, and rounded as
/// fractions are, where it has no more significant digits than the dtype is sure of.
fn keeps(text: &str, dtype: DType) -> std::result::Result<(), Wrong> {
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

/// A line of names. In quotes stand those that a reader would take apart or for a comment, and one that is blank.
fn names(header: &[String], delimiter: u8) -> Vec<u8> {
    let mut line = Vec::new();
    for (i, name) in header.iter().enumerate() {
        if i > 0 {
            line.push(delimiter);
        }
        let quoted = name.trim_ascii().len() < name.len().max(1)
            || name.bytes().any(|byte| byte == delimiter || matches!(byte, b'"' | b'#' | b'\n' | b'\r'));
        let text = if quoted { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.clone() };
        line.extend_from_slice(text.as_bytes());
    }
    line.push(b'\n');
    line
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

    fn plain() -> Options {
        Options::new(DType::F64)
    }

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
        assert_eq!(floats("1,2\n3,4\n", &plain()), ([2, 2], vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!(floats("1,2\r\n3,4", &plain()), ([2, 2], vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!(floats("\u{feff}1\n\n# note, 7\n 2 \n\"3\"\n", &plain()), ([3, 1], vec![1.0, 2.0, 3.0]));
        assert_eq!(
            floats("-1e-3;+inf;.5", &Options { delimiter: Delimiter::One(b';'), ..plain() }),
            ([1, 3], vec![-1e-3, f64::INFINITY, 0.5])
        );
        assert_eq!(
            floats("junk \"\na,b\n1,2\n", &Options { skip_rows: 1, header: true, ..plain() }),
            ([1, 2], vec![1.0, 2.0])
        );
        assert_eq!(floats("", &plain()), ([0, 0], vec![]));
        assert_eq!(floats("1\n", &Options { skip_rows: 5, ..plain() }), ([0, 0], vec![]));
    }

    /// Answers of `numpy.loadtxt` (`delimiter=None` and others) and `numpy.genfromtxt`, NumPy 2.4.
    #[test]
    fn tables_mean_what_numpy_reads() {
        let blanks = || Options { delimiter: Delimiter::Blanks, ..plain() };
        let four = ([2, 2], vec![1.0, 2.0, 3.0, 4.0]);
        for text in [
            "1 2\n3 4\n",
            "1   2\n3    4\n",
            "  1\t2  \n\t3 \t 4\t\n",
            "1 2 # note\n3 4#note\n",
            "# only\n1 2\n   # indented\n\n  \n3 4",
            "1 2\r\n3 4\r\n",
            "1 2\r3 4\r",
            "\"1\" \"2\"\n3 4\n",
        ] {
            assert_eq!(floats(text, &blanks()), four, "{text:?}");
        }
        for text in ["1,2#a,b\n3,4 # c\n", " 1 , 2 \n 3 ,4\n", "1,2\n \n  # x\n3,4\n", "\"1\", \"2\"\n3 , \"4\" # \"\n"] {
            assert_eq!(floats(text, &plain()), four, "{text:?}");
        }
        // Spaces at the ends of lines are no fields where they stand between fields, and in the middle they are.
        let spaces = || Options { delimiter: Delimiter::One(b' '), ..plain() };
        assert_eq!(floats(" 1 2 \n3 4   # x\n", &spaces()), four);
        assert!(refused("1  2\n", &spaces()).contains("column 2: an empty field"));
        assert!(
            refused("\t1\n", &Options { delimiter: Delimiter::One(b'\t'), ..plain() }).contains("column 1: an empty field")
        );
        // A name that holds what ends fields elsewhere.
        let named = Options { header: true, ..plain() };
        assert_eq!(floats("\"a,#\n\"\"b\",c\n1,2\n3,4\n", &named), four);
        assert!(refused("1,2\n\"3,4\n", &plain()).contains("line 2: a quote that does not end"));
    }

    #[test]
    fn empty_fields_are_filled() {
        let filled = |filling: &str| Options { filling: Some(filling.into()), ..plain() };
        let (shape, numbers) = floats("1,,3\n,5,\n", &filled("NaN"));
        assert_eq!(shape, [2, 3]);
        assert_eq!(numbers.iter().map(|x| x.is_nan()).collect::<Vec<_>>(), [false, true, false, true, false, true]);
        assert_eq!(floats("1,2,\n3,4,\n", &filled("-1")), ([2, 3], vec![1.0, 2.0, -1.0, 3.0, 4.0, -1.0]));
        let missing = Options { missing: vec!["NA".into(), "-".into()], ..filled("-999") };
        assert_eq!(floats("1,NA\n-,\"NA\"\n", &missing), ([2, 2], vec![1.0, -999.0, -999.0, -999.0]));
        assert!(refused("1,N/A\n", &missing).contains("'N/A' is no number"));
        let tabs = Options { delimiter: Delimiter::One(b'\t'), ..filled("0") };
        assert_eq!(floats("1\t\t3\n\t5\t\n", &tabs), ([2, 3], vec![1.0, 0.0, 3.0, 0.0, 5.0, 0.0]));
        let refusal = read("1\n", &Options { dtype: DType::I32, ..filled("NaN") }).expect_err("no integer");
        assert_eq!(
            (refusal.code, refusal.message.as_str()),
            (ferrotensor_core::error::Code::DType, "'fillingValue' NaN is no number of int32")
        );
        let default = Options { exact: true, dtype: DType::F32, ..filled("123456789") };
        assert_eq!(
            refused("1\n", &default),
            "'fillingValue' 123456789 is not exact in float32, the default; name a dtype, 'float32' to round"
        );
    }

    #[test]
    fn digits_are_lost_only_where_somebody_chose_the_dtype() {
        let (chosen, default) = (Options::new(DType::F32), Options { exact: true, ..Options::new(DType::F32) });
        for text in ["16777217", "-123456789", "+100000000000000000001", "9999999999999999999999999999999999999999999"] {
            assert!(read(text, &chosen).is_ok(), "{text}");
            assert!(refused(text, &default).contains("is not exact in float32, the default"), "{text}");
        }
        for text in ["16777216", "-33554432", "123456789.0", "1e11", "0.1", "inf", "-Infinity", "nan", "00000000001"] {
            assert!(read(text, &default).is_ok(), "{text}");
        }
        // Magnitudes: six digits, and zeros.
        for text in ["100000000000", "-123456000000", "0001000000000000000", "300000000000000000000000000000000000000"] {
            assert!(read(text, &default).is_ok(), "{text}");
        }
        assert!(refused("123456700000", &default).contains("is not exact in float32"));
        for text in ["1e39", "1000000000000000000000000000000000000000"] {
            assert!(refused(text, &default).contains("is beyond float32"), "{text}");
        }
        let wide = Options { exact: true, ..plain() };
        for text in ["9007199254740992", "123456789012345000000000000000"] {
            assert!(read(text, &wide).is_ok(), "{text}");
        }
        assert!(refused("9007199254740993", &wide).contains("is not exact in float64"));
    }

    #[test]
    fn errors_name_line_and_column() {
        assert_eq!(refused("1,2\n3,x\n", &plain()), "line 2, column 2: 'x' is no number of float64");
        assert_eq!(refused("1,2\r\n3,x\r\n", &plain()), "line 2, column 2: 'x' is no number of float64");
        assert_eq!(refused("1,2\r3,x", &plain()), "line 2, column 2: 'x' is no number of float64");
        assert_eq!(
            refused("# note\n\n1,\n", &plain()),
            "line 3, column 2: an empty field is no number of float64; 'fillingValue' says what stands for one"
        );
        assert_eq!(refused("1,2\n3\n", &plain()), "line 2: 1 fields, column 1; the rows before have 2");
        assert_eq!(refused("1,2\n3,4,5\n", &plain()), "line 2: more than 2 fields, column 3; the rows before have 2");
        assert_eq!(
            refused("a\n1\n300\n", &Options { dtype: DType::U8, header: true, ..plain() }),
            "line 3, column 1: '300' is no number of uint8"
        );
        assert!(refused(&"1".repeat(5000), &plain()).contains("more than 2048 bytes"));
        assert!(refused("1.5", &Options { dtype: DType::I32, ..plain() }).contains("'1.5'"));
        assert!(refused("#1", &Options { comment: None, ..plain() }).contains("'#1'"));
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
            let (_, bytes) = read(text, &Options { dtype, ..plain() }).expect(text);
            assert_eq!(bytes.len(), count * dtype.bytes());
            let mut written = Vec::new();
            write(&mut written, dtype, &[count], &bytes, b',', &[]).expect("written");
            let again = read(std::str::from_utf8(&written).expect("text"), &Options { dtype, ..plain() }).expect("read").1;
            assert_eq!(again, bytes, "{dtype}: {}", String::from_utf8_lossy(&written));
        }
    }

    #[test]
    fn names_are_quoted_where_they_must_be() {
        let mut out = Vec::new();
        let header = ["#a", "b,\"c\"", "", "d e", "f#", "g\n"].map(String::from);
        write(&mut out, DType::U8, &[1, 6], &[1, 2, 3, 4, 5, 6], b',', &header).expect("written");
        assert_eq!(String::from_utf8_lossy(&out), "\"#a\",\"b,\"\"c\"\"\",\"\",d e,\"f#\",\"g\n\"\n1,2,3,4,5,6\n");
        let named = Options { header: true, ..Options::new(DType::U8) };
        assert_eq!(shape(&out, &named).expect("read"), [1, 6]);
        assert_eq!(read(std::str::from_utf8(&out).expect("text"), &named).expect("read").1, [1, 2, 3, 4, 5, 6]);
        let mut none = Vec::new();
        assert!(write(&mut none, DType::U8, &[1, 1], &[1], b',', &header).is_err());
        assert!(write(&mut none, DType::U8, &[1, 1, 1], &[1], b',', &[]).is_err());
        assert!(write(&mut none, DType::C64, &[1], &[0; 8], b',', &[]).is_err());
    }
}
