//! The rows of a table of text: which lines are looked at, the names of its columns, and as many fields in each row as in the others.

use crate::fields::{self, Delimiter, Field, Fields};
use ferrotensor_core::{Error, Result};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// How a table is written.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Between fields.
    pub delimiter: Delimiter,
    /// What follows it in a line is no part of the table.
    pub comment: Option<u8>,
    /// Lines to skip first, whatever they hold.
    pub skip_rows: u64,
    /// Whether a row of names stands before the others.
    pub header: bool,
}

/// Where a field is: its first byte, its number in the row from 1 on, and whether the row ends with it.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// The first byte.
    pub start: usize,
    /// The number of the field in its row; the first is 1.
    pub column: u64,
    /// Whether the row ends with it.
    pub last: bool,
}

/// The most names of a header: each takes a hundred times the memory of the comma that may be all of it.
const MOST_NAMES: usize = 1 << 20;

/// How many fields a row has to have, and what said so.
#[derive(Clone, Copy)]
struct Wanted {
    count: u64,
    by: &'static str,
}

/// A walk through the rows.
#[derive(Clone)]
pub struct Rows<'a> {
    bytes: &'a [u8],
    fields: Fields<'a>,
    /// Whether the row of names is still to come.
    header: bool,
    wanted: Option<Wanted>,
}

impl<'a> Rows<'a> {
    /// The rows of a text.
    pub fn new(bytes: &'a [u8], layout: Layout) -> Rows<'a> {
        let start = first_line(bytes, layout.skip_rows);
        let fields = Fields::new(bytes, start, layout.delimiter, layout.comment);
        Rows { bytes, fields, header: layout.header, wanted: None }
    }

    /// Reads the row of names, which then says how many fields a row has. They are told apart as pandas does it: an empty one becomes
    /// `Unnamed: 2` (counted from 0), and the second `a` is `a.1`.
    ///
    /// # Errors
    /// `Code::Format` where there is no such row, and for a name that is not UTF-8 or has text behind its quotes.
    pub fn names(&mut self) -> Result<Vec<String>> {
        let (mut names, mut last) = (Vec::new(), false);
        while !last {
            let Some(field) = self.fields.next_field()? else {
                return Err(Error::format("there is no row of names; without one { header: false } numbers the columns"));
            };
            if names.len() == MOST_NAMES {
                return Err(Error::format(format!("a row of more than {MOST_NAMES} names")));
            }
            let at = At { start: field.range.start, column: names.len() as u64 + 1, last: field.last };
            let written = &self.bytes[field.range];
            let name = content(self.bytes, written, at)?;
            let name = if is_quoted(written) { &name } else { name.trim_matches([' ', '\t']) };
            names.push(name.to_string());
            last = field.last;
        }
        self.header = false;
        self.wanted = Some(Wanted { count: names.len() as u64, by: "the header has" });
        Ok(told_apart(names))
    }

    /// How many fields a row has: as many as the names, or the first row; none where there is no row.
    ///
    /// # Errors
    /// `Code::Format` for a quote that does not end.
    pub fn width(&mut self) -> Result<u64> {
        self.skip_header()?;
        if let Some(Wanted { count, .. }) = self.wanted {
            return Ok(count);
        }
        let mut ahead = self.fields.clone();
        let mut count = 0;
        while let Some(Field { last, .. }) = ahead.next_field()? {
            count += 1;
            if last {
                break;
            }
        }
        Ok(count)
    }

    fn skip_header(&mut self) -> Result<()> {
        while self.header {
            self.header = self.fields.next_field()?.is_some_and(|field| !field.last);
        }
        Ok(())
    }

    /// Gives each field of the rows to `each`; returns rows and columns.
    ///
    /// # Errors
    /// `Code::Format`, with line and column, where a row has not as many fields as those before it; those of `each`.
    pub fn each(mut self, mut each: impl FnMut(&'a [u8], At) -> Result<()>) -> Result<[u64; 2]> {
        self.skip_header()?;
        let (mut rows, mut column) = (0u64, 0u64);
        while let Some(Field { range, last }) = self.fields.next_field()? {
            column += 1;
            let at = At { start: range.start, column, last };
            if let Some(wanted) = self.wanted
                && (column > wanted.count || (last && column < wanted.count))
            {
                return Err(ragged(self.bytes, at, wanted));
            }
            each(&self.bytes[range], at)?;
            if last {
                rows += 1;
                self.wanted.get_or_insert(Wanted { count: column, by: "the rows before have" });
                column = 0;
            }
        }
        Ok([rows, self.wanted.map_or(0, |wanted| wanted.count)])
    }
}

fn ragged(bytes: &[u8], At { start, column, .. }: At, Wanted { count, by }: Wanted) -> Error {
    let (more, found) = if column > count { ("more than ", count) } else { ("", column) };
    let line = fields::line(bytes, start);
    Error::format(format!("line {line}: {more}{found} fields, column {column}; {by} {count}"))
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

fn is_quoted(field: &[u8]) -> bool {
    field.iter().find(|&&byte| byte != b' ' && byte != b'\t') == Some(&b'"')
}

/// What a field says as a number: without blanks around it, and without quotes.
pub fn bare(field: &[u8]) -> &[u8] {
    let text = field.trim_ascii();
    match text {
        [b'"', inner @ .., b'"'] => inner.trim_ascii(),
        _ => text,
    }
}

/// What a field says as text (RFC 4180): all of it, or what is between its quotes, where two quotes stand for one.
///
/// # Errors
/// `Code::Format`, with line and column, for bytes that are not UTF-8, and for text behind the closing quote.
pub fn content<'a>(bytes: &[u8], field: &'a [u8], at: At) -> Result<Cow<'a, str>> {
    let wrong = |why: &str| Error::format(format!("line {}, column {}: {why}", fields::line(bytes, at.start), at.column));
    let text = str::from_utf8(field).map_err(|_| wrong("the field is not UTF-8"))?;
    if !is_quoted(field) {
        return Ok(Cow::Borrowed(text));
    }
    let behind = text.trim_matches([' ', '\t']).strip_prefix('"').unwrap_or_default();
    let Some(inner) = behind.strip_suffix('"') else { return Err(wrong("text behind the closing quote")) };
    if !inner.contains('"') {
        return Ok(Cow::Borrowed(inner));
    }
    // What two quotes stand for goes to the result, so each part that is left is without one, or empty.
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(quote) = rest.find('"') {
        out.push_str(&rest[..=quote]);
        rest = rest[quote + 1..].strip_prefix('"').ok_or_else(|| wrong("text behind the closing quote"))?;
    }
    out.push_str(rest);
    Ok(Cow::Owned(out))
}

/// Names that are all different. The originals stay as they are where they can: no made name takes the place of a later one.
fn told_apart(mut names: Vec<String>) -> Vec<String> {
    for (i, name) in names.iter_mut().enumerate().filter(|(_, name)| name.is_empty()) {
        *name = format!("Unnamed: {i}");
    }
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    if taken.len() == names.len() {
        return names;
    }
    let mut met: HashMap<String, u64> = HashMap::new();
    for name in &mut names {
        let Some(count) = met.get_mut(name.as_str()) else {
            met.insert(name.clone(), 0);
            continue;
        };
        loop {
            *count += 1;
            let made = format!("{name}.{count}");
            if taken.insert(made.clone()) {
                *name = made;
                break;
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(header: &str) -> Result<Vec<String>> {
        let layout = Layout { delimiter: Delimiter::One(b','), comment: None, skip_rows: 0, header: true };
        Rows::new(header.as_bytes(), layout).names()
    }

    fn text(field: &str) -> Result<String> {
        content(field.as_bytes(), field.as_bytes(), At { start: 0, column: 1, last: true }).map(Cow::into_owned)
    }

    #[test]
    fn names_are_told_apart() {
        assert_eq!(names("a,b,a,a\n").expect("names"), ["a", "b", "a.1", "a.2"]);
        assert_eq!(names("a,a,a.1,a").expect("names"), ["a", "a.2", "a.1", "a.3"]);
        assert_eq!(names(", b ,\" c \",\"\"").expect("names"), ["Unnamed: 0", "b", " c ", "Unnamed: 3"]);
        assert_eq!(names("\"a\nb\",\"c\"\"d\"\n1,2\n").expect("names"), ["a\nb", "c\"d"]);
        assert!(names("").expect_err("no row").message.contains("no row of names"));
        let many = vec!["x"; 100_000].join(",");
        assert_eq!(names(&many).expect("names").last().map(String::as_str), Some("x.99999"));
    }

    #[test]
    fn fields_are_text_by_rfc_4180() {
        for (field, meant) in [
            ("", ""),
            (" a b ", " a b "),
            ("5'10\"", "5'10\""),
            ("\"\"", ""),
            (" \"a,\n\" ", "a,\n"),
            ("\"\"\"\"", "\""),
            ("\"a\"\"\"\"b\"\"\"", "a\"\"b\""),
            ("\"é\"\"ü\"", "é\"ü"),
        ] {
            assert_eq!(text(field).as_deref(), Ok(meant), "{field}");
        }
        for field in ["\"a\"b", "\"a\"b\"", "\"a\" \"b\"", "\"\"\""] {
            assert!(
                text(field).is_err_and(|e| e.message.contains("line 1, column 1: text behind the closing quote")),
                "{field}"
            );
        }
        let at = At { start: 0, column: 2, last: true };
        assert!(content(b"\xff", b"\xff", at).is_err_and(|e| e.message == "line 1, column 2: the field is not UTF-8"));
    }
}
