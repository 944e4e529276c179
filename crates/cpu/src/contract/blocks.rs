//! The blocks of places that products are added in (`ferrotensor_core::blocks`), as tiles see them.

use super::stored::Stored;
use ferrotensor_core::blocks::{BLOCKS, BYTES};
use std::ops::Range;

/// Floats of a block: a complex place has two.
pub const fn floats<T>() -> usize {
    BYTES / size_of::<T>()
}

/// Places of a block.
pub const fn places<S: Stored>() -> usize {
    floats::<S::Real>() / S::PARTS
}

/// Places of a running total.
pub const fn places_of_total<S: Stored>() -> usize {
    if S::IS_EXACT { usize::MAX } else { places::<S>() * BLOCKS }
}

/// Some places, so many at a time; of none one piece of nothing.
pub fn pieces(places: Range<usize>, step: usize) -> impl Iterator<Item = Range<usize>> {
    let end = places.end;
    (places.start..end.max(places.start + 1)).step_by(step.max(1)).map(move |p| p..end.min(p.saturating_add(step)))
}
