//! The orthonormal columns that the blocked reflections of a factorisation (`faer`) make of unit vectors.

use crate::matrix::Element;
use faer::dyn_stack::MemStack;
use faer::linalg::householder::apply_block_householder_on_the_left_in_place_with_conj as apply;
use faer::prelude::ReborrowMut;
use faer::{Conj, MatMut, MatRef, Par};

/// Applies reflections, as the factorisation leaves them, to a matrix which is zero but for its diagonal.
///
/// From the last block to the first: the columns before a block are still zero in its rows, and leaving them out saves a
/// third of the operations on a square matrix.
pub fn reflect<T: Element>(
    basis: MatRef<T>,
    factors: MatRef<T>,
    conj: Conj,
    mut diagonal: MatMut<T>,
    par: Par,
    stack: &mut MemStack,
) {
    let (count, block) = (factors.ncols(), factors.nrows());
    for first in (0..count).step_by(block).rev() {
        let end = count.min(first + block);
        let vectors = basis.get(first.., first..end);
        let factor = factors.get(..end - first, first..end);
        apply(vectors, factor, conj, diagonal.rb_mut().get_mut(first.., first..), par, stack);
    }
}
