//! What launches with index operands share: the axes they select along, and what a report of theirs says.

use crate::emit::index;
use crate::report::Tell;
use ferrotensor_core::backend::Operand;
use ferrotensor_core::layout::Layout;
use ferrotensor_core::{Error, Result};
use smallvec::SmallVec;
use std::sync::Arc;

/// The axes of a layout that index operands select along.
pub struct Axes {
    sizes: SmallVec<[usize; 2]>,
    /// Says what is out of range.
    pub tell: Tell,
}

impl Axes {
    /// The first axes of `data`, one for each operand, all of one shape.
    ///
    /// # Errors
    /// `Code::Internal` for operands that do not fit, `Code::Unsupported` for an axis of 2^31 places and more.
    pub fn new(data: &Layout, indices: &[Operand]) -> Result<Axes> {
        let (Some(first), Some(dims)) = (indices.first(), data.dims().get(..indices.len())) else {
            return Err(Error::internal("index operands do not fit the data"));
        };
        if indices.iter().any(|i| i.layout.dims() != first.layout.dims()) {
            return Err(Error::internal("index operands differ in shape"));
        }
        if let Some(dim) = dims.iter().find(|&&dim| dim >= 1 << 31) {
            return Err(Error::unsupported(format!("indices along an axis of {dim} places, of 2^31 and more")));
        }
        let sizes: SmallVec<[usize; 2]> = dims.iter().copied().collect();
        let known = sizes.clone();
        Ok(Axes { sizes, tell: Arc::new(move |words: &[u32]| index::reported(words, &known)) })
    }

    /// How many places each of them has.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The arguments of the index operands, of places that are `steps` apart.
    pub fn words<'a>(&'a self, steps: &'a [isize]) -> impl Iterator<Item = u32> + 'a {
        self.sizes.iter().zip(steps).flat_map(|(&size, &step)| [size as u32, step as u32])
    }
}

/// A layout with more axes behind its own, along which nothing changes.
///
/// # Errors
/// `Code::Internal` for more axes than there may be.
pub fn repeated(layout: &Layout, more: &[usize]) -> Result<Layout> {
    let dims: SmallVec<[usize; 6]> = layout.dims().iter().chain(more).copied().collect();
    let strides: SmallVec<[isize; 6]> = layout.strides().iter().copied().chain(more.iter().map(|_| 0)).collect();
    Layout::new(&dims, &strides, layout.offset(), usize::MAX >> 1)
}
