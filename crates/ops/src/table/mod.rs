//! The rows, one file for each family, and their concatenation.

mod activation;
mod arrange;
mod attention;
mod binary;
mod bits;
mod calculus;
mod close;
mod compare;
mod contract;
mod convolution;
mod covariance;
mod create;
mod cumulative;
mod diagonals;
mod eigen;
mod einsum;
mod exact;
mod expect;
mod factor;
mod fft;
mod index;
mod join;
mod linalg;
mod lookup;
mod loss;
mod nan;
mod nn;
mod normalisation;
mod norms;
mod pad;
mod parts;
pub mod philox;
mod pooling;
mod products;
mod quantile;
mod random;
mod reduce;
mod resize;
pub(crate) mod rows;
mod scatter;
mod select;
mod shape;
mod signal;
mod singular;
mod sliding;
mod sort;
mod stacking;
mod statistics;
mod transposed;
mod unary;
mod windows;

pub(crate) use nn::above_nothing;
pub(crate) use unary::size;

use crate::def::OpDef;

/// Families with the page of the documentation they are on.
const FAMILIES: &[(&str, &[OpDef])] = &[
    ("elementwise", unary::ROWS),
    ("elementwise", binary::ROWS),
    ("elementwise", bits::ROWS),
    ("elementwise", parts::ROWS),
    ("comparisons", compare::ROWS),
    ("comparisons", close::ROWS),
    ("comparisons", select::ROWS),
    ("statistics", reduce::ROWS),
    ("statistics", statistics::ROWS),
    ("statistics", quantile::ROWS),
    ("statistics", covariance::ROWS),
    ("sequences", cumulative::ROWS),
    ("sequences", calculus::ROWS),
    ("sequences", signal::ROWS),
    ("products", contract::ROWS),
    ("products", einsum::ROWS),
    ("products", products::ROWS),
    ("products", diagonals::ROWS),
    ("networks", nn::ROWS),
    ("networks", activation::ROWS),
    ("networks", normalisation::ROWS),
    ("networks", attention::ROWS),
    ("networks", loss::ROWS),
    ("networks", convolution::ROWS),
    ("networks", pooling::ROWS),
    ("shapes", shape::ROWS),
    ("shapes", arrange::ROWS),
    ("shapes", join::ROWS),
    ("shapes", pad::ROWS),
    ("places", index::ROWS),
    ("places", scatter::ROWS),
    ("places", lookup::ROWS),
    ("places", sort::ROWS),
    ("linalg", linalg::ROWS),
    ("linalg", factor::ROWS),
    ("linalg", eigen::ROWS),
    ("linalg", singular::ROWS),
    ("linalg", norms::ROWS),
    ("fft", fft::ROWS),
    ("creation", create::ROWS),
    ("random", random::ROWS),
    ("networks", transposed::ROWS),
    ("networks", resize::ROWS),
    ("sequences", sliding::ROWS),
    ("shapes", stacking::ROWS),
    ("statistics", nan::ROWS),
    ("places", expect::ROWS),
];

/// Pages of the documentation: name and title, in reading order.
pub const PAGES: &[(&str, &str)] = &[
    ("creation", "Creation"),
    ("elementwise", "Elementwise functions"),
    ("comparisons", "Comparisons and choices"),
    ("statistics", "Reductions and statistics"),
    ("sequences", "Running combinations, derivatives, signals"),
    ("shapes", "Shapes, joining, padding"),
    ("places", "Look-up, updates, sorting"),
    ("products", "Products"),
    ("linalg", "Linear algebra"),
    ("fft", "Fourier transforms"),
    ("random", "Random numbers"),
    ("networks", "Neural networks"),
];

/// The page a row is on.
pub fn page(op: &OpDef) -> &'static str {
    let has = |rows: &[OpDef]| rows.iter().any(|row| row.path() == op.path());
    FAMILIES.iter().find(|(_, rows)| has(rows)).map_or("", |(page, _)| page)
}

const COUNT: usize = {
    let (mut n, mut i) = (0, 0);
    while i < FAMILIES.len() {
        n += FAMILIES[i].1.len();
        i += 1;
    }
    n
};

/// The table of operations.
pub static OPS: [OpDef; COUNT] = {
    let mut out = [FAMILIES[0].1[0]; COUNT];
    let (mut n, mut i) = (0, 0);
    while i < FAMILIES.len() {
        let mut j = 0;
        while j < FAMILIES[i].1.len() {
            out[n] = FAMILIES[i].1[j];
            n += 1;
            j += 1;
        }
        i += 1;
    }
    out
};

/// The row with this name (`linalg.solve` for one in a namespace).
pub fn find(name: &str) -> Option<&'static OpDef> {
    OPS.iter().find(|op| op.is_at(name))
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
    fn every_row_is_on_a_page() {
        for op in &OPS {
            assert!(PAGES.iter().any(|(name, _)| *name == page(op)), "{}", op.path());
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
