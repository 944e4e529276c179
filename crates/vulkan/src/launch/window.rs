//! The part of a buffer that an operand of a piece needs, as a descriptor shows it.

use super::pieces::Piece;
use crate::memory::VulkanBuffer;
use crate::stream::Binding;
use ferrotensor_core::backend::Operand;
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
    let buffer = VulkanBuffer::of(&operand.buffer).ok_or_else(|| Error::internal("a buffer of another backend"))?;
    let (first, low, high) = piece.at[n];
    let bytes = |at: i64| at as u64 * size as u64;
    // Both are powers of two, so the window begins at an element, or is no larger than one and begins at the lowest.
    let offset = bytes(low) / alignment * alignment;
    let binding = Binding { buffer, offset, bytes: bytes(high + 1) - offset, write };
    Ok((binding, ((bytes(first) - offset) / size as u64) as usize))
}
