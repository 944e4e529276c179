//! The fields of a table of text, one after the other, as ranges of its bytes: nothing is copied. What ends a field (a delimiter, a comment,
//! the end of a line) does so outside of double quotes only; lines without a field are skipped.

use ferrotensor_core::{Error, Result};
use std::ops::Range;

/// What stands between fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delimiter {
    /// One character: between two of them is a field, which may be empty.
    One(u8),
    /// Any number of spaces and tabs.
    Blanks,
}

/// A walk through the fields.
#[derive(Clone)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
    delimiter: Delimiter,
    comment: Option<u8>,
    /// Whether a row has begun.
    inside: bool,
    /// Where the run of blanks ends that was last looked through: each of its fields asks what is behind them.
    blanks_end: usize,
    /// How many bytes were looked at for that.
    #[cfg(test)]
    looked: usize,
    /// Whether a byte ends a field.
    stops: [bool; 256],
}

/// A field: where it is, and whether it is the last one of its row.
pub struct Field {
    /// Its bytes, blanks around it and quotes included.
    pub range: Range<usize>,
    /// Whether the row ends with it.
    pub last: bool,
}

impl<'a> Fields<'a> {
    /// The fields from a place on, the start of a line.
    pub fn new(bytes: &'a [u8], at: usize, delimiter: Delimiter, comment: Option<u8>) -> Fields<'a> {
        let mut stops = [false; 256];
        for byte in [b'\n', b'\r'].into_iter().chain(comment) {
            stops[byte as usize] = true;
        }
        match delimiter {
            Delimiter::One(byte) => stops[byte as usize] = true,
            Delimiter::Blanks => [b' ', b'\t'].iter().for_each(|&byte| stops[byte as usize] = true),
        }
        Fields {
            bytes,
            at,
            delimiter,
            comment,
            inside: false,
            blanks_end: at,
            #[cfg(test)]
            looked: 0,
            stops,
        }
    }

    /// The next field.
    ///
    /// # Errors
    /// `Code::Format` for a quote that does not end.
    pub fn next_field(&mut self) -> Result<Option<Field>> {
        while !self.inside {
            let start = self.at;
            self.blanks();
            match self.bytes.get(self.at) {
                None => return Ok(None),
                Some(_) if self.ends() => self.end_line(),
                Some(_) => self.inside = true,
            }
            // Blanks before the first field belong to it, as they do to the others, where none separates fields.
            if self.inside && !self.separated_by_blanks() {
                self.at = start;
            }
        }
        let start = self.at;
        self.skip_field()?;
        let range = start..self.at;
        let mut last = self.ends();
        // Spaces at the end of a line are no further fields.
        let done = self.delimiter == Delimiter::One(b' ') && self.only_blanks_follow();
        match self.delimiter {
            Delimiter::Blanks => {
                self.blanks();
                last = self.ends();
            }
            Delimiter::One(_) if done => last = true,
            Delimiter::One(_) if !last => self.at += 1,
            Delimiter::One(_) => {}
        }
        if last {
            self.end_line();
            self.inside = false;
        }
        Ok(Some(Field { range, last }))
    }

    fn separated_by_blanks(&self) -> bool {
        matches!(self.delimiter, Delimiter::One(b' ') | Delimiter::Blanks)
    }

    /// Whether a byte is a blank that separates nothing.
    fn is_blank(&self, byte: u8) -> bool {
        byte == b' ' || byte == b'\t' && self.delimiter != Delimiter::One(b'\t')
    }

    fn blanks(&mut self) {
        while self.bytes.get(self.at).is_some_and(|&byte| self.is_blank(byte)) {
            self.at += 1;
        }
    }

    fn only_blanks_follow(&mut self) -> bool {
        if self.blanks_end <= self.at {
            let rest = &self.bytes[self.at..];
            let blanks = rest.iter().position(|&byte| !self.is_blank(byte)).unwrap_or(rest.len());
            self.blanks_end = self.at + blanks;
            #[cfg(test)]
            {
                self.looked += blanks + 1;
            }
        }
        self.ends_at(self.blanks_end)
    }

    /// Whether the row ends here.
    fn ends(&self) -> bool {
        self.ends_at(self.at)
    }

    fn ends_at(&self, at: usize) -> bool {
        self.bytes.get(at).is_none_or(|&byte| matches!(byte, b'\n' | b'\r') || self.comment == Some(byte))
    }

    /// Goes behind a field: to what ends it.
    fn skip_field(&mut self) -> Result<()> {
        // Before a quote; where blanks stand between fields there are none.
        if !self.separated_by_blanks() {
            self.blanks();
        }
        if self.bytes.get(self.at) == Some(&b'"') {
            self.skip_quoted()?;
        }
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|&byte| self.stops[byte as usize]).unwrap_or(rest.len());
        Ok(())
    }

    /// Goes behind the closing quote; two quotes stand for one.
    fn skip_quoted(&mut self) -> Result<()> {
        let start = self.at;
        self.at += 1;
        loop {
            let rest = &self.bytes[self.at..];
            let Some(end) = rest.iter().position(|&byte| byte == b'"') else {
                let line = line(self.bytes, start);
                return Err(Error::format(format!("line {line}: a quote that does not end")));
            };
            self.at += end + 1;
            if self.bytes.get(self.at) != Some(&b'"') {
                return Ok(());
            }
            self.at += 1;
        }
    }

    /// Goes to the start of the next line.
    fn end_line(&mut self) {
        self.at = next_line(self.bytes, self.at);
    }
}

/// Where the line after this place begins; lines end with LF, CR, or both.
pub fn next_line(bytes: &[u8], at: usize) -> usize {
    let Some(end) = bytes[at..].iter().position(|&byte| matches!(byte, b'\n' | b'\r')) else { return bytes.len() };
    let end = at + end;
    end + if bytes[end..].starts_with(b"\r\n") { 2 } else { 1 }
}

/// The number of the line that a place is in.
pub fn line(bytes: &[u8], at: usize) -> usize {
    let (mut number, mut start) = (1, 0);
    loop {
        start = next_line(bytes, start);
        // The end of the text is in its last line.
        if start > at || start == bytes.len() {
            return number;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fields and bytes looked at behind them.
    fn walked(text: &str) -> (usize, usize) {
        let mut fields = Fields::new(text.as_bytes(), 0, Delimiter::One(b' '), None);
        let mut count = 0;
        while fields.next_field().expect("no quotes").is_some() {
            count += 1;
        }
        (count, fields.looked)
    }

    #[test]
    fn a_megabyte_of_blanks_is_looked_at_once() {
        let blanks = " ".repeat(1 << 20);
        let (count, looked) = walked(&format!("1{blanks}2 3"));
        assert_eq!(count, (1 << 20) + 2);
        assert!(looked <= (1 << 20) + 4, "{looked}");
        // At the end of a line they are no fields.
        assert_eq!(walked(&format!("1{blanks}\n2{blanks}")).0, 2);
    }
}
