//! The comparisons compared: of every row, whatever becomes of one cotangent or tangent on its way out of a rule (a factor, a sign,
//! another place, nothing at all, its conjugate) must be noticed.

use super::arrays::{array, numbers};
use super::comparison::{Comparison, Term};
use ferrotensor_core::reference::Array;
use std::collections::BTreeMap;

/// What is found of a term, changed.
type Change = (&'static str, fn(&Term) -> Vec<f64>);

/// One that changes whatever is found.
const ALWAYS: Change = ("more of the largest", |t| at_largest(t, |v| v + v.abs() + 1.0));

const CHANGES: [Change; 6] = [
    ("a hundredth more", |t| found(t).iter().map(|v| 1.01 * v).collect()),
    ("a hundredth more in one place", |t| at_largest(t, |v| 1.01 * v)),
    ALWAYS,
    ("of the other sign", |t| found(t).iter().map(|v| -v).collect()),
    ("one place further", |t| {
        let (mut x, parts) = (found(t), parts(t));
        if x.len() > parts {
            x.rotate_right(parts);
        }
        x
    }),
    ("its conjugate", |t| {
        let sign = |(n, v): (usize, f64)| if parts(t) == 2 && n % 2 == 1 { -v } else { v };
        found(t).into_iter().enumerate().map(sign).collect()
    }),
];

/// What was tried of a row, and whether anything noticed.
#[derive(Clone, Debug, Default)]
pub struct Spoiled(BTreeMap<String, bool>);

impl Spoiled {
    /// A result of which there must be comparisons.
    pub fn expect(&mut self, what: &str, of: usize) {
        self.0.entry(named(what, of, ALWAYS.0)).or_default();
    }

    /// Tries all changes on what was found right.
    pub fn meet(&mut self, right: &Comparison) {
        for (n, term) in right.terms.iter().enumerate() {
            for (name, change) in CHANGES {
                let name = named(right.what, term.of, name);
                if self.0.get(&name) == Some(&true) {
                    continue;
                }
                let (before, after) = (found(term), change(term));
                // NaN would be noticed for another reason.
                let same = before.iter().zip(&after).all(|(x, y)| x == y) || after.iter().any(|v| !v.is_finite());
                let Ok(other) = array(term.found.dtype(), term.found.dims(), &after) else { continue };
                if !same {
                    *self.0.entry(name).or_default() |= right.judged_with(Some((n, &other))).is_err();
                }
            }
        }
    }

    /// How many there are, and those that nobody notices.
    pub fn counts(&self) -> (usize, Vec<&str>) {
        (self.0.len(), self.0.iter().filter(|(_, caught)| !**caught).map(|(name, _)| name.as_str()).collect())
    }
}

fn named(what: &str, of: usize, change: &str) -> String {
    format!("{what} {of}, {change}")
}

fn found(term: &Term) -> Vec<f64> {
    numbers(&term.found).unwrap_or_default()
}

/// Numbers of an element.
fn parts(term: &Term) -> usize {
    let bytes = |a: &Array| a.dtype().bytes() / 8;
    bytes(&term.found)
}

/// A change of the number that has most to say: of the largest product, or of what is multiplied by most where all are zero.
fn at_largest(term: &Term, f: impl Fn(f64) -> f64) -> Vec<f64> {
    let (mut x, along) = (found(term), numbers(&term.along).unwrap_or_default());
    let zero = x.iter().all(|&v| v == 0.0);
    let says = |n: &usize| if zero { along[*n].abs() } else { (x[*n] * along[*n]).abs() };
    if let Some(at) = (0..x.len()).max_by(|m, n| says(m).total_cmp(&says(n))) {
        x[at] = f(x[at]);
    }
    x
}
