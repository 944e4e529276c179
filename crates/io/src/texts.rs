//! A column of text: its bytes, one text behind the other, and parts of them for JavaScript, which makes strings of many texts at once.

use ferrotensor_core::{Error, Result};

/// The most bytes of a text: half of what a string of JavaScript can have.
pub const LONGEST_TEXT: usize = 1 << 28;

/// Texts, one behind the other.
#[derive(Debug, Default)]
pub struct Texts {
    bytes: Vec<u8>,
    lengths: Vec<u32>,
}

impl Texts {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// How many bytes they take.
    pub fn bytes(&self) -> usize {
        self.bytes.len() + self.lengths.len() * size_of::<u32>()
    }

    /// Appends a text.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn push(&mut self, text: &str) -> Result<()> {
        let full = |_| Error::out_of_memory("no memory for the text of a column");
        self.bytes.try_reserve(text.len()).map_err(full)?;
        self.lengths.try_reserve(1).map_err(full)?;
        self.bytes.extend_from_slice(text.as_bytes());
        // Tables let none through that is longer than `LONGEST_TEXT`.
        self.lengths.push(text.len() as u32);
        Ok(())
    }

    /// Copies texts from one on, whose bytes begin at a place, as many as there is room for: their bytes to `into`, and to `ends` how many
    /// there are, how many bytes they take, and where each ends in UTF-16 units. Where there is no room for one, how many bytes it takes.
    ///
    /// # Errors
    /// `Code::Internal` for places outside.
    pub fn copy(&self, first: usize, start: usize, into: &mut [u8], ends: &mut [u32]) -> Result<()> {
        let outside = || Error::internal("texts outside of their column");
        let (lengths, bytes) =
            (self.lengths.get(first..).ok_or_else(outside)?, self.bytes.get(start..).ok_or_else(outside)?);
        let [count, taken, ends @ ..] = ends else { return Err(outside()) };
        let (mut at, mut units) = (0, 0);
        *count = 0;
        for (&length, end) in lengths.iter().zip(ends) {
            let next = at + length as usize;
            let (Some(text), Some(to)) = (bytes.get(at..next), into.get_mut(at..next)) else {
                if *count == 0 {
                    at = length as usize;
                }
                break;
            };
            to.copy_from_slice(text);
            units += utf16(text);
            *end = units as u32;
            *count += 1;
            at = next;
        }
        *taken = at as u32;
        Ok(())
    }
}

/// How many UTF-16 units a text in UTF-8 has: one for each character, two for those of four bytes.
fn utf16(text: &[u8]) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.iter().map(|&byte| usize::from(byte & 0xC0 != 0x80) + usize::from(byte >= 0xF0)).sum()
    }
}
