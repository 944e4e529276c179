//! Tables of numbers as text: fields with a delimiter between them, one row a line. Fields are read where they lie, one at a time, so that a
//! table needs no memory beside its text and its elements: it is walked once for its shape, once for its numbers.

use crate::CHUNK;
use crate::columns::Columns;
use crate::fields::Delimiter;
use crate::number::{element, wrong_field};
use crate::rows::{At, Layout, Rows, bare};
use ferrotensor_core::{DType, Error, Result};
use half::{bf16, f16};
use std::io::{self, Write};

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
    /// The columns that are read; what the others hold does not matter.
    pub columns: Columns,
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
            columns: Columns::All,
        }
    }

    /// The rows, and the places of the columns that are read where not all are.
    fn rows<'a>(&self, bytes: &'a [u8]) -> Result<(Rows<'a>, Option<Vec<usize>>)> {
        let &Options { delimiter, comment, skip_rows, header, .. } = self;
        let mut rows = Rows::new(bytes, Layout { delimiter, comment, skip_rows, header });
        if matches!(self.columns, Columns::All) {
            return Ok((rows, None));
        }
        let names = if header { Some(rows.names()?) } else { None };
        let count = rows.width()?;
        let places = self.columns.places(names.as_deref(), count)?;
        Ok((rows, Some(places)))
    }

    /// Appends the number of a field.
    fn number(&self, bytes: &[u8], field: &[u8], at: At, out: &mut Vec<u8>) -> Result<()> {
        let text = bare(field);
        let absent = is_absent(text, &self.missing);
        let text = self.filling.as_ref().filter(|_| absent).map_or(text, |filling| filling.as_bytes());
        element(text, self.dtype, self.exact, out).map_err(|why| wrong_field(bytes, field, self.dtype, at, why))
    }
}

/// Whether a field is empty, or one of the texts that are taken for it.
pub fn is_absent(text: &[u8], missing: &[String]) -> bool {
    text.is_empty() || missing.iter().any(|word| word.as_bytes() == text)
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
        let held = element(filling.as_bytes(), options.dtype, options.exact, &mut Vec::new());
        held.map_err(|why| Error::dtype(format!("'fillingValue' {filling} {}", why.shown(options.dtype))))?;
    }
    let (rows, places) = options.rows(bytes)?;
    let [rows, columns] = rows.each(|_, _| Ok(()))?;
    Ok([rows, places.map_or(columns, |places| places.len() as u64)])
}

/// The numbers of a table as elements, in chunks of the given place and bytes.
///
/// # Errors
/// `Code::Format`, with line and column, for a field that is no number, or none that the dtype holds.
pub fn decode(bytes: &[u8], options: &Options, sink: &mut dyn FnMut(usize, &[u8]) -> Result<()>) -> Result<()> {
    let (rows, places) = options.rows(bytes)?;
    if let Some(places) = places {
        return selected(bytes, options, rows, &places, sink);
    }
    let (mut chunk, mut done) = (Vec::with_capacity(CHUNK), 0);
    rows.each(|field, at| {
        options.number(bytes, field, at, &mut chunk)?;
        if chunk.len() + 16 > CHUNK {
            sink(done, &chunk)?;
            done += chunk.len();
            chunk.clear();
        }
        Ok(())
    })?;
    if chunk.is_empty() { Ok(()) } else { sink(done, &chunk) }
}

/// As `decode`, of the columns at these places: they are put in order row by row.
fn selected(
    bytes: &[u8],
    options: &Options,
    rows: Rows<'_>,
    places: &[usize],
    sink: &mut dyn FnMut(usize, &[u8]) -> Result<()>,
) -> Result<()> {
    let size = options.dtype.bytes();
    // Columns of the file in its order, each with where it goes in a row of the result.
    let mut order: Vec<(usize, usize)> = places.iter().enumerate().map(|(to, &from)| (from, to)).collect();
    order.sort_unstable();
    let (mut chunk, mut done) = (Vec::with_capacity(CHUNK.max(places.len() * size)), 0);
    let (mut one, mut row, mut next) = (Vec::new(), vec![0; places.len() * size], 0);
    rows.each(|field, at| {
        let column = (at.column - 1) as usize;
        if order.get(next).is_some_and(|&(from, _)| from == column) {
            one.clear();
            options.number(bytes, field, at, &mut one)?;
            while let Some(&(_, to)) = order.get(next).filter(|(from, _)| *from == column) {
                row[to * size..][..size].copy_from_slice(&one);
                next += 1;
            }
        }
        if at.last {
            next = 0;
            if chunk.len() + row.len() > CHUNK && !chunk.is_empty() {
                sink(done, &chunk)?;
                done += chunk.len();
                chunk.clear();
            }
            chunk.extend_from_slice(&row);
        }
        Ok(())
    })?;
    if chunk.is_empty() { Ok(()) } else { sink(done, &chunk) }
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
    fn columns_are_chosen() {
        let at = |places: &[i64]| Options { columns: Columns::At(places.to_vec()), ..plain() };
        assert_eq!(floats("1,x,3\n4,,6\n", &at(&[-1, 0])), ([2, 2], vec![3.0, 1.0, 6.0, 4.0]));
        assert_eq!(floats("1,2\n3,4\n", &at(&[1, 0, 1])), ([2, 3], vec![2.0, 1.0, 2.0, 4.0, 3.0, 4.0]));
        let named = Options { columns: Columns::Named(vec!["c".into(), "a".into()]), header: true, ..plain() };
        assert_eq!(floats("a,b,c\n1,x,3\n", &named), ([1, 2], vec![3.0, 1.0]));
        assert_eq!(floats("a,b,c\n", &named), ([0, 2], vec![]));
        assert!(refused("a,d,c\n1,2\n", &named).contains("line 2: 2 fields, column 2; the header has 3"));
        assert!(refused("a,b\n1,2\n", &named).contains("there is no column 'c'; there are 'a', 'b'"));
        assert!(refused("1,2\n", &at(&[2])).contains("'columns' has 2, the table has 2 columns"));
        assert!(refused("1,2\n3,x\n", &at(&[1])).contains("line 2, column 2: 'x'"));
        assert!(refused("1,2\n3\n", &at(&[0])).contains("line 2: 1 fields"));
        // More than a chunk, and rows that are longer than one.
        let many = (0..200_000).map(|i| format!("{i},x\n")).collect::<String>();
        assert_eq!(floats(&many, &at(&[0])).1[199_999], 199_999.0);
        let wide = floats("7,8\n9,10\n", &at(&[1; 200_000]));
        assert_eq!((wide.0, wide.1[0], wide.1[399_999]), ([2, 200_000], 8.0, 10.0));
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
