//! The rows, one file for each family, and their concatenation.

mod activation;
mod arrange;
mod binary;
mod bits;
mod close;
mod compare;
mod contract;
mod create;
mod cumulative;
mod fft;
mod index;
mod join;
mod linalg;
mod lookup;
mod nn;
mod parts;
pub mod philox;
mod random;
mod reduce;
mod rows;
mod select;
mod shape;
mod sort;
mod statistics;
mod unary;
mod window;

use crate::def::OpDef;

const FAMILIES: &[&[OpDef]] = &[
    unary::ROWS,
    binary::ROWS,
    bits::ROWS,
    parts::ROWS,
    compare::ROWS,
    close::ROWS,
    select::ROWS,
    reduce::ROWS,
    statistics::ROWS,
    cumulative::ROWS,
    contract::ROWS,
    nn::ROWS,
    activation::ROWS,
    window::ROWS,
    shape::ROWS,
    arrange::ROWS,
    join::ROWS,
    index::ROWS,
    lookup::ROWS,
    sort::ROWS,
    linalg::ROWS,
    fft::ROWS,
    create::ROWS,
    random::ROWS,
];

const COUNT: usize = {
    let (mut n, mut i) = (0, 0);
    while i < FAMILIES.len() {
        n += FAMILIES[i].len();
        i += 1;
    }
    n
};

/// The table of operations.
pub static OPS: [OpDef; COUNT] = {
    let mut out = [FAMILIES[0][0]; COUNT];
    let (mut n, mut i) = (0, 0);
    while i < FAMILIES.len() {
        let mut j = 0;
        while j < FAMILIES[i].len() {
            out[n] = FAMILIES[i][j];
            n += 1;
            j += 1;
        }
        i += 1;
    }
    out
};

/// The row with this name (`linalg.solve` for one in a namespace).
pub fn find(name: &str) -> Option<&'static OpDef> {
    OPS.iter().find(|op| op.path() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::def::{Form, by_id};

    #[test]
    fn names_are_unique_and_ids_lead_back() {
        for (i, op) in OPS.iter().enumerate() {
            assert_eq!(op.id() as usize, i + 1);
            assert_eq!(by_id(op.id()).map(|o| o.path()), Some(op.path()));
            assert_eq!(OPS.iter().filter(|o| o.path() == op.path()).count(), 1, "{}", op.path());
        }
    }

    #[test]
    fn every_public_row_is_documented_with_an_example() {
        for op in OPS.iter().filter(|op| op.form != Form::Internal) {
            assert!(!op.doc.summary.is_empty() && op.doc.summary.ends_with('.'), "{}: summary", op.name);
            assert!(op.doc.example.contains(" // "), "{}: example", op.name);
            assert!(!op.doc.formula.is_empty(), "{}: formula", op.name);
        }
    }
}
