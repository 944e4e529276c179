//! A derivative beside the one that it should be: what was found, times the directions it is asked in.

use super::arrays::{array, dot, numbers, size};
use super::differences::near;
use ferrotensor_core::Result;
use ferrotensor_core::reference::Array;

/// What was found of one operand or result.
pub struct Term {
    /// Its number.
    pub of: usize,
    /// A cotangent or a tangent.
    pub found: Array,
    /// What it is multiplied by.
    pub along: Array,
}

impl Term {
    /// Zeros, where nothing was found.
    pub fn new(of: usize, found: Option<Array>, along: Array) -> Result<Term> {
        let zeros = || array(along.dtype(), along.dims(), &vec![0.0; numbers(&along).map_or(0, |x| x.len())]);
        Ok(Term { of, found: found.map_or_else(zeros, Ok)?, along })
    }
}

/// The sum of the products, and what it is compared with.
pub struct Comparison {
    /// Which derivative it is.
    pub what: &'static str,
    pub terms: Vec<Term>,
    /// What other means say, where they say something.
    pub should: Option<f64>,
    /// The size of the terms that `should` was made of; nothing where those here tell.
    pub of: Option<f64>,
    /// That of the function's values.
    pub values: f64,
}

impl Comparison {
    /// The sum.
    pub fn sum(&self) -> f64 {
        self.with(None).0
    }

    /// What of it may cancel.
    pub fn size(&self) -> f64 {
        self.with(None).1
    }

    /// Whether it is the one that it should be; false where nobody knows.
    ///
    /// # Errors
    /// A sentence, where it is another one.
    pub fn judged(&self) -> Result<bool, String> {
        self.judged_with(None)
    }

    /// The same with something else found in the n-th term.
    ///
    /// # Errors
    /// As [`Comparison::judged`].
    pub fn judged_with(&self, other: Option<(usize, &Array)>) -> Result<bool, String> {
        let (is, size) = self.with(other);
        near(self.what, is, self.should, self.of.unwrap_or(size), self.values)
    }

    fn with(&self, other: Option<(usize, &Array)>) -> (f64, f64) {
        let found = |n: usize| other.filter(|(at, _)| *at == n).map_or(&self.terms[n].found, |(_, a)| a);
        let (found, along): (Vec<Array>, Vec<Array>) =
            (0..self.terms.len()).map(|n| (found(n).clone(), self.terms[n].along.clone())).unzip();
        (dot(&found, &along), size(&found, &along))
    }
}
