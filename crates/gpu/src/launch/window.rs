//! The part of a buffer that an operand of a piece needs, as a descriptor shows it.

use super::pieces::{FARTHEST, Piece};
use crate::Binding;
use crate::Can;
use ferrotensor_core::backend::Operand;
use ferrotensor_core::layout::Layout;
use ferrotensor_core::{Error, Result};

/// The binding of the `n`-th operand walked over, of elements of `size` bytes, and the position of its first element in it.
///
/// # Errors
/// `Code::Internal` for a buffer of another backend.
pub fn window<'a>(
    operand: &'a Operand,
    size: usize,
    piece: &Piece,
    n: usize,
    alignment: u64,
    write: bool,
) -> Result<(Binding<'a>, usize)> {
    let (first, low, high) = piece.at[n];
    let bytes = |at: i64| at as u64 * size as u64;
    // Both are powers of two, so the window begins at an element, or is no larger than one and begins at the lowest.
    let offset = bytes(low) / alignment * alignment;
    let binding = Binding { buffer: &operand.buffer, offset, bytes: bytes(high + 1) - offset, write };
    // The first element may lie before the window where it does not exist: positions wrap.
    Ok((binding, ((first * size as i64 - offset as i64) / size as i64) as usize))
}

/// The binding of all that a layout of an operand shows, and the element of the buffer that it begins with.
///
/// # Errors
/// `Code::Internal` for a buffer of another backend.
pub fn whole<'a>(
    operand: &'a Operand,
    layout: &Layout,
    size: usize,
    alignment: u64,
    write: bool,
) -> Result<(Binding<'a>, usize)> {
    let range = layout.range();
    let first = range.start as i64;
    let (binding, start) = window(operand, size, &Piece::of(&[(first, first, range.end as i64 - 1)]), 0, alignment, write)?;
    Ok((binding, range.start - start))
}

/// A part of an operand that one descriptor shows.
pub struct Seen<'a> {
    pub binding: Binding<'a>,
    /// Element of the buffer that it begins with.
    pub first: usize,
    pub elements: usize,
}

/// An operand of elements of `size` bytes in as many parts as descriptors need to show all of it; where nothing of it is met, or
/// there is nothing, one that shows no element.
///
/// # Errors
/// `Code::Internal` for a buffer of another backend, `Code::Unsupported` for elements that lie 2^32 places and more apart: positions
/// are 32 bits.
pub fn windows<'a>(operand: &'a Operand, size: usize, met: bool, write: bool, can: &Can) -> Result<Vec<Seen<'a>>> {
    let buffer = &operand.buffer;
    let range = operand.layout.range();
    if !met || range.is_empty() {
        let binding = Binding { buffer, offset: 0, bytes: can.alignment.max(size as u64).min(buffer.bytes() as u64), write };
        return Ok(vec![Seen { binding, first: 0, elements: 0 }]);
    }
    if range.len() >= 1 << 32 {
        return Err(Error::unsupported(format!("elements picked from {} places, of 2^32 and more", range.len())));
    }
    // Of whole alignments, which are whole elements: both are powers of two.
    let unit = (can.alignment as usize).max(size);
    let most = ((can.max_range as usize).min(size * FARTHEST as usize) / unit * unit).max(unit);
    let start = range.start * size / unit * unit;
    let starts = (start..range.end * size).step_by(most);
    let seen = starts.map(|offset| {
        let bytes = most.min(range.end * size - offset);
        let binding = Binding { buffer, offset: offset as u64, bytes: bytes as u64, write };
        Seen { binding, first: offset / size, elements: bytes / size }
    });
    Ok(seen.collect())
}
