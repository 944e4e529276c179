//! Tables whose columns have dtypes of their own, or are text. The text is walked once: fields become numbers and text as they are met. A
//! column whose dtype nobody chose is taken for float32 until a field says otherwise; from there on it is only looked at, and what became of
//! it is read in a second walk, together with all others of this kind.

use crate::columns::{Columns, Found};
use crate::fields::line;
use crate::inferred::{Trial, is_number, room};
use crate::number::{Wrong, element, wrong_field};
use crate::rows::{At, Layout, Rows, bare, content};
use crate::text::is_absent;
use crate::texts::{LONGEST_TEXT, Texts};
use ferrotensor_core::{DType, Error, Result};

/// The most columns of one table: each becomes an object of its own.
pub const MOST_COLUMNS: u64 = 1 << 16;

/// No column of the file is read here.
const SKIPPED: u32 = u32::MAX;

/// What the fields of a column become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What they look like.
    Inferred,
    /// Text.
    Text,
    /// Numbers.
    Number(DType),
}

/// How a table is written, and what is read of it.
#[derive(Clone, Debug)]
pub struct Options {
    /// How it is written.
    pub layout: Layout,
    /// What columns become that have no kind of their own.
    pub kind: Kind,
    /// What columns of these names become.
    pub kinds: Vec<(String, Kind)>,
    /// What stands for a number that is missing; NaN where none is given.
    pub filling: Option<String>,
    /// Texts that are taken for empty fields.
    pub missing: Vec<String>,
    /// The columns that are read.
    pub columns: Columns,
}

/// A column that was read.
#[derive(Debug)]
pub struct Column {
    /// Its name: that of the header, or its place.
    pub name: String,
    /// Its fields.
    pub data: Data,
}

/// The fields of a column.
#[derive(Debug)]
pub enum Data {
    /// Elements, little-endian.
    Numbers(DType, Vec<u8>),
    /// Texts.
    Texts(Texts),
}

/// A column on its way.
enum Reading {
    Numbers(DType, Vec<u8>),
    Texts(Texts),
    Trial(Trial),
}

impl Reading {
    fn of(kind: Kind) -> Result<Reading> {
        match kind {
            Kind::Inferred => Ok(Reading::Trial(Trial::default())),
            Kind::Text => Ok(Reading::Texts(Texts::default())),
            Kind::Number(dtype) if dtype.is_complex() => Err(Error::dtype(format!("text holds real numbers, not {dtype}"))),
            Kind::Number(dtype) => Ok(Reading::Numbers(dtype, Vec::new())),
        }
    }

    fn data(self) -> Data {
        match self {
            Reading::Numbers(dtype, elements) => Data::Numbers(dtype, elements),
            Reading::Texts(texts) => Data::Texts(texts),
            Reading::Trial(trial) => Data::Numbers(DType::F32, trial.elements),
        }
    }

    fn meet(&mut self, bytes: &[u8], options: &Options, field: &[u8], at: At) -> Result<()> {
        let written = bare(field);
        let absent = is_absent(written, &options.missing);
        if let Reading::Trial(trial) = self
            && trial.is_new()
            && !absent
            && !is_number(written)
        {
            // Most columns of text show it in their first field, and need no second walk.
            *self = Reading::Texts(Texts::default());
        }
        match self {
            Reading::Texts(texts) => {
                let text = content(bytes, field, at)?;
                if text.len() > LONGEST_TEXT {
                    let (line, column) = (line(bytes, at.start), at.column);
                    return Err(Error::format(format!(
                        "line {line}, column {column}: a text of more than {LONGEST_TEXT} bytes"
                    )));
                }
                texts.push(&text)
            }
            Reading::Trial(trial) => {
                let written = if absent { options.filling.as_deref().unwrap_or("NaN").as_bytes() } else { written };
                let before = trial.text;
                trial.meet(written, absent, at)?;
                if absent && trial.text != before { Err(unfilled(bytes, options, DType::F32, at)) } else { Ok(()) }
            }
            Reading::Numbers(dtype, elements) => {
                room(elements)?;
                let nan = || dtype.is_float().then_some("NaN");
                match options.filling.as_deref().or_else(nan).filter(|_| absent) {
                    Some(filling) => {
                        let filled = element(filling.as_bytes(), *dtype, false, elements);
                        filled.map_err(|_| unfilled(bytes, options, *dtype, at))
                    }
                    None => {
                        element(written, *dtype, false, elements).map_err(|why| wrong_field(bytes, field, *dtype, at, why))
                    }
                }
            }
        }
    }
}

/// The error of a missing number whose value its column does not hold.
fn unfilled(bytes: &[u8], options: &Options, dtype: DType, at: At) -> Error {
    let (line, column) = (line(bytes, at.start), at.column);
    let filling = options.filling.as_deref().unwrap_or("NaN");
    Error::dtype(format!(
        "line {line}, column {column}: the field is missing, and 'fillingValue' {filling} is no number of {dtype}"
    ))
}

/// Reads a table.
///
/// # Errors
/// `Code::Format`, with line and column, where a row has another number of fields than those before it, for a field that is none of its
/// column's dtype, or is not UTF-8; where there is no row of names, and for more than [`MOST_COLUMNS`]. `Code::DType` for a complex dtype, and
/// where a missing number's value is none of its dtype. `Code::Argument` for a name that no column has, and a column that is asked for twice;
/// `Code::Index` for such a place; `Code::OutOfMemory`.
pub fn read(bytes: &[u8], options: &Options) -> Result<Vec<Column>> {
    let mut rows = Rows::new(bytes, options.layout);
    let names = if options.layout.header { Some(rows.names()?) } else { None };
    let count = rows.width()?;
    let asked = match &options.columns {
        Columns::All => count,
        Columns::Named(names) => names.len() as u64,
        Columns::At(places) => places.len() as u64,
    };
    // Before anything of that size is made: a file of commas has as many columns as bytes.
    if asked > MOST_COLUMNS {
        return Err(Error::format(format!(
            "{asked} columns, a table has at most {MOST_COLUMNS}; loadText reads a matrix of them, 'columns' selects some"
        )));
    }
    let places = options.columns.places(names.as_deref(), count)?;
    let name = |place: usize| names.as_ref().map_or_else(|| place.to_string(), |names| names[place].clone());
    let mut slots = vec![SKIPPED; count as usize];
    for (slot, &place) in places.iter().enumerate() {
        if slots[place] != SKIPPED {
            return Err(Error::argument(format!("'columns' has column '{}' twice", name(place))));
        }
        slots[place] = slot as u32;
    }
    let mut kinds: Vec<Kind> = vec![options.kind; places.len()];
    let found = names.as_deref().map(Found::of);
    for (wanted, kind) in &options.kinds {
        let place = found.as_ref().map_or_else(|| numbered(wanted, count), |found| found.place(wanted))?;
        if slots[place] != SKIPPED {
            kinds[slots[place] as usize] = *kind;
        }
    }
    let mut readings = kinds.into_iter().map(Reading::of).collect::<Result<Vec<_>>>()?;
    walk(bytes, options, rows.clone(), &slots, &mut readings)?;
    if settle(bytes, &mut readings, &mut slots)? {
        walk(bytes, options, rows, &slots, &mut readings)?;
    }
    Ok(places.iter().zip(readings).map(|(&place, reading)| Column { name: name(place), data: reading.data() }).collect())
}

/// Where the column of a name is in a table without a header.
fn numbered(name: &str, count: u64) -> Result<usize> {
    let place = name.parse::<usize>().ok().filter(|place| (*place as u64) < count && place.to_string() == name);
    let none = || {
        Error::argument(format!("there is no column '{name}'; the {count} columns have their places as names, from '0' on"))
    };
    place.ok_or_else(none)
}

/// Gives the fields of the columns that are read to their readings.
fn walk(bytes: &[u8], options: &Options, rows: Rows<'_>, slots: &[u32], readings: &mut [Reading]) -> Result<()> {
    rows.each(|field, at| {
        let slot = slots.get((at.column - 1) as usize).copied().unwrap_or(SKIPPED);
        match readings.get_mut(slot as usize) {
            Some(reading) => reading.meet(bytes, options, field, at),
            None => Ok(()),
        }
    })?;
    Ok(())
}

/// Ends the trials. Those that have to be read again are alone in `slots` then; returns whether there are any.
fn settle(bytes: &[u8], readings: &mut [Reading], slots: &mut [u32]) -> Result<bool> {
    let mut again = false;
    for slot in slots.iter_mut().filter(|slot| **slot != SKIPPED) {
        let reading = &mut readings[*slot as usize];
        match reading {
            Reading::Trial(trial) if trial.failed => {
                let kind = trial.kind().map_err(|(at, why)| lost(bytes, at, why))?;
                *reading = Reading::of(kind)?;
                again = true;
            }
            Reading::Trial(_) | Reading::Numbers(..) | Reading::Texts(_) => *slot = SKIPPED,
        }
    }
    Ok(again)
}

/// The error of a number that no dtype holds which a column can be inferred to have.
fn lost(bytes: &[u8], at: At, why: Wrong) -> Error {
    let what = match why {
        Wrong::Beyond => "is beyond",
        Wrong::Rounded | Wrong::Number => "is not exact in",
    };
    let place = format!("line {}, column {}", line(bytes, at.start), at.column);
    Error::format(format!(
        "{place}: a number {what} float64, the widest dtype that is inferred; name a dtype, 'float64' to round, 'string' for text"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Delimiter;
    use ferrotensor_core::error::Code;

    fn options() -> Options {
        let layout = Layout { delimiter: Delimiter::One(b','), comment: None, skip_rows: 0, header: true };
        Options { layout, kind: Kind::Inferred, kinds: vec![], filling: None, missing: vec![], columns: Columns::All }
    }

    fn texts(texts: &Texts) -> Vec<String> {
        let (mut all, mut start) = (Vec::new(), 0);
        let (mut bytes, mut ends) = (vec![0; 64], [0; 5]);
        while all.len() < texts.len() {
            texts.copy(all.len(), start, &mut bytes, &mut ends).expect("inside");
            let (count, taken) = (ends[0] as usize, ends[1] as usize);
            if count == 0 {
                bytes = vec![0; taken];
                continue;
            }
            let units: Vec<u16> = str::from_utf8(&bytes[..taken]).expect("UTF-8").encode_utf16().collect();
            let mut at = 0;
            for &end in &ends[2..2 + count] {
                all.push(String::from_utf16(&units[at..end as usize]).expect("whole characters"));
                at = end as usize;
            }
            start += taken;
        }
        assert_eq!(start, texts.bytes() - size_of::<u32>() * texts.len());
        all
    }

    /// Each column as a line: name, dtype, elements.
    fn shown(text: &str, options: &Options) -> Vec<String> {
        let columns = read(text.as_bytes(), options).expect(text);
        let line = |column: &Column| match &column.data {
            Data::Texts(t) => format!("{} text {:?}", column.name, texts(t)),
            Data::Numbers(DType::F32, e) => show(&column.name, DType::F32, e.as_chunks().0, f32::from_le_bytes),
            Data::Numbers(DType::F64, e) => show(&column.name, DType::F64, e.as_chunks().0, f64::from_le_bytes),
            Data::Numbers(DType::I32, e) => show(&column.name, DType::I32, e.as_chunks().0, i32::from_le_bytes),
            Data::Numbers(DType::I64, e) => show(&column.name, DType::I64, e.as_chunks().0, i64::from_le_bytes),
            Data::Numbers(dtype, e) => format!("{} {dtype} {e:?}", column.name),
        };
        columns.iter().map(line).collect()
    }

    fn show<const N: usize, T: std::fmt::Debug>(
        name: &str,
        dtype: DType,
        elements: &[[u8; N]],
        of: fn([u8; N]) -> T,
    ) -> String {
        format!("{name} {dtype} {:?}", elements.iter().map(|b| of(*b)).collect::<Vec<_>>())
    }

    fn refused(text: &str, options: &Options) -> String {
        read(text.as_bytes(), options).expect_err(text).message
    }

    /// One column below the name `a`.
    fn inferred(fields: &[&str]) -> String {
        shown(&format!("a,b\n{}", fields.iter().map(|field| format!("{field},0\n")).collect::<String>()), &options())[0]
            .clone()
    }

    #[test]
    fn dtypes_are_inferred() {
        assert_eq!(inferred(&["1", "-2"]), "a float32 [1.0, -2.0]");
        assert_eq!(inferred(&["1", " 2.5 ", "\"3\""]), "a float32 [1.0, 2.5, 3.0]");
        assert_eq!(inferred(&["1", "", "inf"]), "a float32 [1.0, NaN, inf]");
        assert_eq!(inferred(&["", ""]), "a float32 [NaN, NaN]");
        // Digits that float32 would lose, wherever they stand.
        assert_eq!(inferred(&["1", "16777217", "2"]), "a int32 [1, 16777217, 2]");
        assert_eq!(inferred(&["16777217", "-2147483648"]), "a int32 [16777217, -2147483648]");
        assert_eq!(inferred(&["16777217", "2147483648"]), "a int64 [16777217, 2147483648]");
        // Held by float32, but not by int32.
        assert_eq!(inferred(&["3000000000", "16777217"]), "a int64 [3000000000, 16777217]");
        assert_eq!(inferred(&["1.0", "16777217"]), "a float64 [1.0, 16777217.0]");
        assert_eq!(inferred(&["16777217", "1e0"]), "a float64 [16777217.0, 1.0]");
        assert_eq!(inferred(&["16777217", ""]), "a float64 [16777217.0, NaN]");
        assert_eq!(inferred(&["", "16777217"]), "a float64 [NaN, 16777217.0]");
        assert_eq!(inferred(&["1e39", "0.1"]), "a float64 [1e39, 0.1]");
        // Text, from wherever on.
        assert_eq!(inferred(&["x", "1"]), "a text [\"x\", \"1\"]");
        assert_eq!(inferred(&["", "x"]), "a text [\"\", \"x\"]");
        assert_eq!(
            inferred(&["007", "1.50", "", "16777217", " x "]),
            "a text [\"007\", \"1.50\", \"\", \"16777217\", \" x \"]"
        );
        assert_eq!(inferred(&["99999999999999999999", "x"]), "a text [\"99999999999999999999\", \"x\"]");
        assert_eq!(shown("a,b\n", &options()), ["a float32 []", "b float32 []"]);
        assert_eq!(
            refused("a,b\n1,1\n1,9007199254740993\n1,0.5\n", &options()),
            "line 3, column 2: a number is not exact in float64, the widest dtype that is inferred; name a dtype, 'float64' to round, \
             'string' for text"
        );
        assert!(refused("a\n1e39\n1e400\n", &options()).contains("line 3, column 1: a number is beyond float64"));
    }

    #[test]
    fn a_float32_column_has_the_bits_that_a_matrix_has() {
        // Beside the middle of two float32 by less than float64 shows: by way of it the number would be rounded down.
        assert_eq!(inferred(&["1.00000005960464477539062500000000001"]), "a float32 [1.0000001]");
    }

    #[test]
    fn kinds_are_chosen() {
        let text = "id,n,w\n01,2,x\n02,,y\n";
        let kinds = |pairs: &[(&str, Kind)]| Options {
            kinds: pairs.iter().map(|(n, k)| (n.to_string(), *k)).collect(),
            ..options()
        };
        assert_eq!(
            shown(text, &kinds(&[("id", Kind::Text), ("n", Kind::Number(DType::F64))])),
            ["id text [\"01\", \"02\"]", "n float64 [2.0, NaN]", "w text [\"x\", \"y\"]"]
        );
        let filled = Options { filling: Some("-1".into()), ..kinds(&[("n", Kind::Number(DType::I64))]) };
        assert_eq!(shown(text, &filled)[1], "n int64 [2, -1]");
        assert_eq!(
            refused(text, &kinds(&[("n", Kind::Number(DType::I64))])),
            "line 3, column 2: an empty field is no number of int64; 'fillingValue' says what stands for one"
        );
        let flag = Options { filling: Some("true".into()), ..options() };
        let refusal = read(text.as_bytes(), &flag).expect_err("no number");
        assert_eq!(refusal.code, Code::DType);
        assert_eq!(
            refusal.message,
            "line 3, column 2: the field is missing, and 'fillingValue' true is no number of float32"
        );
        assert!(
            refused(text, &kinds(&[("w", Kind::Number(DType::F32))]))
                .contains("line 2, column 3: 'x' is no number of float32")
        );
        assert!(refused(text, &kinds(&[("nn", Kind::Text)])).contains("there is no column 'nn'"));
        assert!(refused(text, &Options { kind: Kind::Number(DType::C64), ..options() }).contains("not complex64"));
        let texts = Options { kind: Kind::Text, ..options() };
        assert_eq!(shown(text, &texts)[1], "n text [\"2\", \"\"]");
    }

    #[test]
    fn columns_are_chosen() {
        let text = "a,b,c\n1,x,3\n4,y,6\n";
        let named =
            |names: &[&str]| Options { columns: Columns::Named(names.iter().map(|&n| n.into()).collect()), ..options() };
        assert_eq!(shown(text, &named(&["c", "a"])), ["c float32 [3.0, 6.0]", "a float32 [1.0, 4.0]"]);
        assert_eq!(shown(text, &Options { columns: Columns::At(vec![-2]), ..options() }), ["b text [\"x\", \"y\"]"]);
        assert!(
            refused(text, &Options { columns: Columns::At(vec![0, -3]), ..options() })
                .contains("'columns' has column 'a' twice")
        );
        let mut bare = options();
        bare.layout.header = false;
        bare.kinds = vec![("1".into(), Kind::Text)];
        assert_eq!(shown("1,2\n3,4\n", &bare), ["0 float32 [1.0, 3.0]", "1 text [\"2\", \"4\"]"]);
        assert!(refused("1\n", &bare).contains("there is no column '1'"));
        bare.kinds = vec![];
        assert!(read(b"", &bare).is_ok_and(|columns| columns.is_empty()));
    }

    #[test]
    fn rows_and_quotes_are_those_of_rfc_4180() {
        let text = "\u{feff}\"a\",b\r\n\"x, \"\"y\"\"\r\nz\",\"\"\r\n\r\n😀é,\"1\"";
        assert_eq!(shown(text, &options()), ["a text [\"x, \\\"y\\\"\\r\\nz\", \"😀é\"]", "b float32 [NaN, 1.0]"]);
        assert!(refused("a,b\n1\n", &options()).contains("line 2: 1 fields, column 1; the header has 2"));
        assert!(refused("a,b\n1,2\n1,2,3\n", &options()).contains("line 3: more than 2 fields, column 3; the header has 2"));
        assert!(refused("a\n\"x\"y\n", &options()).contains("line 2, column 1: text behind the closing quote"));
        assert!(refused("a\n\"x\n", &options()).contains("line 2: a quote that does not end"));
        assert!(refused("", &options()).contains("there is no row of names"));
        assert!(read(b"a\n\xff\n", &options()).is_err_and(|e| e.message == "line 2, column 1: the field is not UTF-8"));
        let long = "ab😀".repeat(100);
        assert_eq!(shown(&format!("a\n{long}\nb\n"), &options()), [format!("a text [{long:?}, \"b\"]")]);
    }

    #[test]
    fn many_columns_are_refused() {
        let text = vec!["1"; MOST_COLUMNS as usize + 1].join(",");
        let mut bare = options();
        bare.layout.header = false;
        assert!(refused(&text, &bare).contains("65537 columns, a table has at most 65536"));
        bare.columns = Columns::At(vec![-1]);
        assert_eq!(shown(&text, &bare), ["65536 float32 [1.0]"]);
    }
}
