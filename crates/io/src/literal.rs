//! The Python literal in the header of an npy file, read by a small strict parser: a dictionary of strings, booleans, whole
//! numbers, tuples and lists. Nothing is evaluated.

use ferrotensor_core::{Error, Result};

/// Tuples and lists inside one another: a structured dtype nests a few levels, a hostile header would nest until the stack ends.
const MAX_DEPTH: usize = 16;

/// A value of the literal, with the text it was read from where that is worth showing.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A string, its escapes left as they are.
    Text(String),
    /// `True` or `False`.
    Flag(bool),
    /// A whole number that is not negative.
    Number(u64),
    /// A tuple.
    Tuple(Vec<Value>),
    /// Anything else that is well formed (a list, `None`, a dictionary), as it stands in the header.
    Other(String),
}

/// The entries of a dictionary literal, in order.
///
/// # Errors
/// `Code::Format` for anything but one dictionary with text keys, each there once.
pub fn dictionary(text: &str) -> Result<Vec<(String, Value)>> {
    let mut reader = Reader { text, at: 0 };
    let entries = reader.entries(0)?;
    reader.space();
    match reader.peek() {
        None => Ok(entries),
        Some(found) => Err(reader.wrong(&format!("nothing was expected after the dictionary, found {found:?}"))),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn wrong(&self, what: &str) -> Error {
        Error::format(format!("the header is no npy header: at character {}, {what}", self.at))
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\n', '\t', '\r']).len();
    }

    /// Takes a word if it is next.
    fn take(&mut self, word: &str) -> bool {
        self.space();
        let there = self.rest().starts_with(word);
        self.at += if there { word.len() } else { 0 };
        there
    }

    fn expect(&mut self, word: &str) -> Result<()> {
        if self.take(word) { Ok(()) } else { Err(self.wrong(&format!("'{word}' is missing"))) }
    }

    fn entries(&mut self, depth: usize) -> Result<Vec<(String, Value)>> {
        self.expect("{")?;
        let mut entries: Vec<(String, Value)> = Vec::new();
        while !self.take("}") {
            let Value::Text(key) = self.value(depth + 1)? else { return Err(self.wrong("a key that is no text")) };
            if entries.iter().any(|(known, _)| *known == key) {
                return Err(self.wrong(&format!("the key '{key}' is there twice")));
            }
            self.expect(":")?;
            entries.push((key, self.value(depth + 1)?));
            if !self.take(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(entries)
    }

    fn value(&mut self, depth: usize) -> Result<Value> {
        if depth > MAX_DEPTH {
            return Err(self.wrong("it nests too deep"));
        }
        self.space();
        let start = self.at;
        match self.peek() {
            Some('\'' | '"') => self.quoted(),
            // Python 2 marked text so that was no string of bytes.
            Some('u' | 'U') if self.rest()[1..].starts_with(['\'', '"']) => {
                self.at += 1;
                self.quoted()
            }
            Some('0'..='9') => self.number(),
            Some('-') => Err(self.wrong("a negative number")),
            Some('(') => Ok(self.tuple(depth)?),
            Some('[') => {
                self.items("[", "]", depth)?;
                Ok(Value::Other(self.text[start..self.at].to_string()))
            }
            Some('{') => {
                self.entries(depth)?;
                Ok(Value::Other(self.text[start..self.at].to_string()))
            }
            _ if self.take("True") => Ok(Value::Flag(true)),
            _ if self.take("False") => Ok(Value::Flag(false)),
            _ if self.take("None") => Ok(Value::Other("None".into())),
            Some(found) => Err(self.wrong(&format!("no value begins with {found:?}"))),
            None => Err(self.wrong("the header ends where a value should be")),
        }
    }

    /// Items up to the closing bracket, and whether a comma followed the last one.
    fn items(&mut self, open: &str, close: &str, depth: usize) -> Result<(Vec<Value>, bool)> {
        self.expect(open)?;
        let (mut items, mut comma) = (Vec::new(), false);
        while !self.take(close) {
            items.push(self.value(depth + 1)?);
            comma = self.take(",");
            if !comma {
                self.expect(close)?;
                break;
            }
        }
        Ok((items, comma))
    }

    fn tuple(&mut self, depth: usize) -> Result<Value> {
        let (mut items, comma) = self.items("(", ")", depth)?;
        // `(3)` is a number in brackets.
        match items.pop() {
            Some(only) if items.is_empty() && !comma => Ok(only),
            Some(last) => {
                items.push(last);
                Ok(Value::Tuple(items))
            }
            None => Ok(Value::Tuple(items)),
        }
    }

    fn number(&mut self) -> Result<Value> {
        let digits: &str = self.rest().split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        let number = digits.parse().map_err(|_| self.wrong("a number beyond 64 bits"))?;
        self.at += digits.len();
        // Python 2 wrote long integers with an L.
        self.at += usize::from(self.rest().starts_with('L'));
        Ok(Value::Number(number))
    }

    fn quoted(&mut self) -> Result<Value> {
        let quote = self.peek().unwrap_or_default();
        let mut escaped = false;
        let body = &self.text[self.at + 1..];
        for (i, c) in body.char_indices() {
            if c == quote && !escaped {
                self.at += i + 2;
                return Ok(Value::Text(body[..i].to_string()));
            }
            escaped = c == '\\' && !escaped;
        }
        Err(self.wrong("a string that does not end"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        dictionary(text).expect_err(text).message
    }

    #[test]
    fn numpy_s_own_headers_are_read() {
        let entries = dictionary("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   \n").expect("valid");
        let keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["descr", "fortran_order", "shape"]);
        assert_eq!(entries[0].1, Value::Text("<f8".into()));
        assert_eq!(entries[1].1, Value::Flag(false));
        assert_eq!(entries[2].1, Value::Tuple(vec![Value::Number(3), Value::Number(4)]));
    }

    #[test]
    fn tuples_numbers_in_brackets_and_long_integers_are_told_apart() {
        let value = |text: &str| dictionary(&format!("{{'x': {text}}}")).expect(text).remove(0).1;
        assert_eq!(value("()"), Value::Tuple(vec![]));
        assert_eq!(value("(3,)"), Value::Tuple(vec![Value::Number(3)]));
        assert_eq!(value("(3)"), Value::Number(3));
        assert_eq!(value("(3L, 4L)"), Value::Tuple(vec![Value::Number(3), Value::Number(4)]));
        assert_eq!(value("[('a', '<f8'), ('b', '|O')]"), Value::Other("[('a', '<f8'), ('b', '|O')]".into()));
        assert_eq!(value("'it\\'s'"), Value::Text("it\\'s".into()));
        assert_eq!(value("u'<f8'"), Value::Text("<f8".into()));
        assert_eq!(value("[(u'a', U\"<f8\")]"), Value::Other("[(u'a', U\"<f8\")]".into()));
        assert_eq!(dictionary("{u'descr': 1}").expect("text")[0].0, "descr");
    }

    #[test]
    fn code_and_everything_unfinished_is_refused() {
        for text in [
            "",
            "{",
            "{'a'",
            "{'a':",
            "{'a': ",
            "{'a': 'b",
            "{'a': (1",
            "{'a': 1}}",
            "{'a': 1} x",
            "{'a': __import__('os')}",
            "{1: 2}",
            "{'a': -1}",
            "{'a': 1.5}",
            "{'a': 99999999999999999999}",
            "{'a': 1, 'a': 1}",
            "{'a': +1}",
            "['a']",
            "{'a': 1 'b': 2}",
            "{u: 2}",
            "{u",
            "{b'a': 2}",
            "{'a': u}",
            "{'a': u'}",
        ] {
            assert!(!refused(text).is_empty());
        }
        assert!(refused(&format!("{{'a': {}", "(".repeat(10_000))).contains("too deep"));
    }
}
