//! The columns of a table that a caller asks for, by name or by place.

use ferrotensor_core::{Error, Result};
use std::collections::HashMap;

/// Which columns are read.
#[derive(Clone, Debug, Default)]
pub enum Columns {
    /// All of them, in their order.
    #[default]
    All,
    /// Those of these names, in this order.
    Named(Vec<String>),
    /// Those at these places, in this order; negative ones count from the end.
    At(Vec<i64>),
}

/// Names that an error lists.
const LISTED: usize = 8;

/// How many names are compared with one that is not there, and the longest that is: the work grows with the product of the lengths.
const COMPARED: usize = 1000;
const LONGEST_COMPARED: usize = 64;

impl Columns {
    /// Places in the file, of so many columns.
    ///
    /// # Errors
    /// `Code::Argument` for a name that is not there, `Code::Index` for such a place.
    pub fn places(&self, names: Option<&[String]>, count: u64) -> Result<Vec<usize>> {
        match self {
            Columns::All => Ok((0..count as usize).collect()),
            Columns::Named(wanted) => {
                let names = names.ok_or_else(|| Error::argument("names of columns need a row of names"))?;
                let found = Found::of(names);
                wanted.iter().map(|name| found.place(name)).collect()
            }
            Columns::At(places) => places.iter().map(|&place| at(place, count)).collect(),
        }
    }
}

fn at(place: i64, count: u64) -> Result<usize> {
    let counted = if place < 0 { place.checked_add_unsigned(count) } else { Some(place) };
    let found = counted.and_then(|place| u64::try_from(place).ok()).filter(|&place| place < count);
    let outside = || Error::index(format!("'columns' has {place}, the table has {count} columns, counted from 0"));
    usize::try_from(found.ok_or_else(outside)?).map_err(|_| outside())
}

/// Names with their places.
pub struct Found<'a> {
    names: &'a [String],
    places: HashMap<&'a str, usize>,
}

impl<'a> Found<'a> {
    /// The names of a header, all different.
    pub fn of(names: &'a [String]) -> Found<'a> {
        Found { names, places: names.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect() }
    }

    /// Where a name is.
    ///
    /// # Errors
    /// `Code::Argument` for one that is not there, which names the nearest and the first of those that are.
    pub fn place(&self, name: &str) -> Result<usize> {
        if let Some(&place) = self.places.get(name) {
            return Ok(place);
        }
        let meant = self.nearest(name).map_or(String::new(), |near| format!("; did you mean {}?", quoted(near)));
        let listed: Vec<String> = self.names.iter().take(LISTED).map(|name| quoted(name)).collect();
        let more = match self.names.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Err(Error::argument(format!("there is no column {}{meant}; there are {}{more}", quoted(name), listed.join(", "))))
    }

    /// The name that was probably meant: nearer than every other, and wrong in a third of its letters at most.
    fn nearest(&self, name: &str) -> Option<&str> {
        let short = |text: &str| text.len() <= LONGEST_COMPARED;
        let wanted: Vec<char> = name.trim().to_lowercase().chars().collect();
        if !short(name) {
            return None;
        }
        let near = self.names.iter().take(COMPARED).filter(|other| short(other));
        let far = near.map(|other| (distance(&wanted, &other.trim().to_lowercase().chars().collect::<Vec<_>>()), other));
        let (far, other) = far.min_by_key(|(far, _)| *far)?;
        (far <= wanted.len() / 3).then_some(other)
    }
}

/// A name as errors show it.
fn quoted(name: &str) -> String {
    let short: String = name.chars().take(40).collect();
    let dots = if short.len() < name.len() { "..." } else { "" };
    format!("'{}{dots}'", short.escape_debug())
}

/// Letters to insert, to remove or to replace (Levenshtein's distance).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = replaced.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrotensor_core::error::Code;

    fn names(count: usize) -> Vec<String> {
        ["height", "width", "depth", "Müller"]
            .into_iter()
            .map(String::from)
            .chain((4..count).map(|i| format!("c{i}")))
            .collect()
    }

    #[test]
    fn names_and_places_become_places() {
        let (names, named) = (names(4), |wanted: &[&str]| Columns::Named(wanted.iter().map(|&w| w.into()).collect()));
        assert_eq!(named(&["depth", "height"]).places(Some(&names), 4), Ok(vec![2, 0]));
        assert_eq!(Columns::At(vec![-1, 0, -4, 3]).places(None, 4), Ok(vec![3, 0, 0, 3]));
        assert_eq!(Columns::All.places(None, 3), Ok(vec![0, 1, 2]));
        for place in [4, -5, i64::MIN, i64::MAX] {
            assert!(Columns::At(vec![place]).places(None, 4).is_err_and(|e| e.code == Code::Index), "{place}");
        }
        assert!(Columns::At(vec![0]).places(None, 0).is_err_and(|e| e.message.contains("0 columns")));
    }

    #[test]
    fn a_name_that_is_not_there_is_told_the_nearest() {
        let names = names(12);
        let refusal = |name: &str| Found::of(&names).place(name).expect_err(name);
        assert_eq!(refusal("hoight").code, Code::Argument);
        assert_eq!(
            refusal("Wxdxh").message,
            "there is no column 'Wxdxh'; there are 'height', 'width', 'depth', 'Müller', 'c4', 'c5', 'c6', 'c7' and 4 more"
        );
        assert!(refusal("with").message.contains("did you mean 'width'?"));
        assert!(refusal(" WIDTH").message.contains("did you mean 'width'?"));
        assert!(refusal("Muller").message.contains("did you mean 'Müller'?"));
        assert!(!refusal("price").message.contains("mean"));
        assert!(refusal(&"x".repeat(5000)).message.len() < 200);
    }
}
