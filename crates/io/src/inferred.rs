//! What a column of a table becomes whose dtype nobody chose.

use crate::number::{LONGEST_FIELD, Wrong, element, keeps};
use crate::rows::At;
use crate::table::Kind;
use ferrotensor_core::{DType, Error, Result};

/// What a column whose dtype nobody chose has been so far.
#[derive(Default)]
pub struct Trial {
    /// Its float32 elements, until one is not.
    pub elements: Vec<u8>,
    /// Whether float32 does not hold it.
    pub failed: bool,
    /// A field that is no number.
    pub text: bool,
    /// A number that is not written as an integer.
    fraction: bool,
    /// A field that is missing.
    absent: bool,
    /// An integer that int32 does not hold, or int64.
    beyond: [bool; 2],
    /// The first number that float64 does not hold.
    wrong: Option<(At, Wrong)>,
}

impl Trial {
    /// Meets the next field, without blanks and quotes; of one that is `absent` what stands for it.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn meet(&mut self, written: &[u8], absent: bool, at: At) -> Result<()> {
        if self.text {
            return Ok(());
        }
        self.absent |= absent;
        if !self.failed {
            room(&mut self.elements)?;
            let before = self.elements.len();
            match element(written, DType::F32, true, &mut self.elements) {
                Ok(()) => {}
                Err(why) => {
                    self.elements.truncate(before);
                    self.failed = true;
                    self.text = why == Wrong::Number;
                }
            }
        }
        if self.failed && !self.text {
            self.look(written, at);
        }
        if self.failed {
            self.elements = Vec::new();
        }
        if !self.text && !absent {
            self.look_for_integers(written);
        }
        Ok(())
    }

    /// Whether no field was met.
    pub fn is_new(&self) -> bool {
        self.elements.is_empty() && !self.failed
    }

    /// Whether it is a number, and what float64 does to it.
    fn look(&mut self, written: &[u8], at: At) {
        let number = str::from_utf8(written).ok().filter(|_| is_number(written));
        match number.map(|text| keeps(text, DType::F64)) {
            None => self.text = true,
            Some(Err(why)) => {
                self.wrong.get_or_insert((at, why));
            }
            Some(Ok(())) => {}
        }
    }

    fn look_for_integers(&mut self, written: &[u8]) {
        let digits = written.strip_prefix(b"-").or_else(|| written.strip_prefix(b"+")).unwrap_or(written);
        if !digits.iter().all(u8::is_ascii_digit) {
            self.fraction = true;
        } else if digits.len() > 9 && !self.beyond[1] {
            let wide = str::from_utf8(written).ok().and_then(|text| text.parse::<i64>().ok());
            self.beyond[0] |= wide.is_none_or(|wide| i32::try_from(wide).is_err());
            self.beyond[1] |= wide.is_none();
        }
    }

    /// What it is: float32 where that loses no digits, then the first of int32, int64 and float64 that does not; text where a field is no number.
    ///
    /// # Errors
    /// The first number that float64 does not hold, where no other dtype does.
    pub fn kind(&self) -> Result<Kind, (At, Wrong)> {
        if self.text {
            return Ok(Kind::Text);
        }
        let integers = !self.fraction && !self.absent;
        Ok(Kind::Number(match (self.failed, self.beyond) {
            (false, _) => DType::F32,
            (true, [false, _]) if integers => DType::I32,
            (true, [true, false]) if integers => DType::I64,
            _ => self.wrong.map_or(Ok(DType::F64), Err)?,
        }))
    }
}

/// Whether a field is a number as floats are written.
pub fn is_number(written: &[u8]) -> bool {
    let text = str::from_utf8(written).ok().filter(|text| text.len() <= LONGEST_FIELD);
    text.is_some_and(|text| text.parse::<f64>().is_ok())
}

/// Makes room for an element, where there is memory.
///
/// # Errors
/// `Code::OutOfMemory`.
pub fn room(elements: &mut Vec<u8>) -> Result<()> {
    elements.try_reserve(16).map_err(|_| Error::out_of_memory("no memory for the numbers of a column"))
}
