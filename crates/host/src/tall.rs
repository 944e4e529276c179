//! Singular values and vectors of matrices of few columns and many rows: blocks of rows are factored one by one, each in the cache, and
//! what their triangles make together is small.
//!
//! Source: Demmel, Grigori, Hoemmen and Langou, "Communication-optimal parallel and sequential QR and LU" (2012).

use crate::matrix::{Element, stack, towards_real, transpose};
use crate::scratch;
use crate::svd;
use faer::dyn_stack::MemStack;
use faer::linalg::{householder, qr::no_pivoting::factor};
use faer::prelude::ReborrowMut;
use faer::traits::math_utils::{conj, zero};
use faer::{Conj, MatMut, MatRef, Par, Spec};
use ferrotensor_core::Result;
use num_traits::{Float, One};

/// Bytes of a block: it stays in the first-level cache while it is factored.
const BLOCK_BYTES: usize = 16 << 10;
/// Blocks from which on their triangles are little work beside them: the whole matrix is then beyond the second-level cache of many machines.
const FEWEST_BLOCKS: usize = 16;
/// Rows of a block for each column, at least.
const LEAST_ROWS: usize = 16;

/// Rows of a block.
fn block_rows<T>(n: usize) -> usize {
    BLOCK_BYTES / size_of::<T>() / n.max(1)
}

/// Whether a matrix is worth being cut.
pub fn is_tall<T>(m: usize, n: usize) -> bool {
    let rows = block_rows::<T>(n);
    n > 0 && rows >= LEAST_ROWS * n && m / rows >= FEWEST_BLOCKS
}

/// One matrix [`is_tall`] of a power of two times `a [m, n]`, finite: its values and, where they are wanted, the thin bases `u [m, n]`, `vh [n, n]`.
/// `None` where the rotations do not converge.
pub fn decompose<T: Element>(
    a: &[T],
    (m, n): (usize, usize),
    power: T::Real,
    s: &mut [T::Real],
    mut bases: Option<(&mut [T], &mut [T])>,
) -> Result<Option<()>> {
    let rows = block_rows::<T>(n);
    let count = m / rows;
    // The last block has the rows that are left over too.
    let len = |i: usize| if i + 1 == count { m - i * rows } else { rows };
    let width = factor::recommended_block_size::<T>(rows, n);
    let (mut reflections, mut triangles) = (scratch::<T>(width * n * count)?, scratch::<T>(count * n * n)?);
    let (longest, par) = (2 * rows, Par::Seq);
    let mut block = scratch::<T>(longest * n)?;
    let needed = factor::qr_in_place_scratch::<T>(longest, n, width, par, Spec::default())
        .or(householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(longest, width, n));
    let mut memory = stack(needed)?;
    let stack = MemStack::new(&mut memory);
    for (i, reflections) in reflections.chunks_exact_mut(width * n).enumerate() {
        let range = i * rows * n..(i * rows + len(i)) * n;
        // What is left of a block is needed for its part of u, and lies there meanwhile.
        let part = bases.as_mut().map_or(&mut block[..len(i) * n], |(u, _)| &mut u[range.clone()]);
        transpose(&a[range], len(i), n, power, part);
        let mut work = MatMut::from_column_major_slice_mut(part, len(i), n);
        let reflections = MatMut::from_column_major_slice_mut(reflections, width, n);
        factor::qr_in_place(work.rb_mut(), reflections, par, stack, Spec::default());
        for j in 0..n {
            (0..=j).for_each(|k| triangles[(j * count + i) * n + k] = work[(k, j)]);
        }
    }
    let wanted = bases.as_ref().map(|_| n);
    let Some(found) = svd::decompose(&mut triangles, count * n, n, wanted, par)? else { return Ok(None) };
    let back = Float::recip(power);
    s.iter_mut().zip(&found.values).for_each(|(s, v)| *s = *v * back);
    let Some((u, vh)) = bases else { return Ok(Some(())) };
    let svd::Decomposed { mut left, mut right, .. } = found;
    for (right, left) in right.chunks_exact_mut(n).zip(left.chunks_exact_mut(count * n)) {
        let by = towards_real(right);
        right.iter_mut().chain(left).for_each(|x| *x *= by);
    }
    vh.iter_mut().zip(&right).for_each(|(to, x)| *to = conj(x));
    for (i, reflections) in reflections.chunks_exact(width * n).enumerate() {
        let range = i * rows * n..(i * rows + len(i)) * n;
        let basis = &mut block[..len(i) * n];
        basis.fill(zero());
        for (column, left) in basis.chunks_exact_mut(len(i)).zip(left.chunks_exact(count * n)) {
            column[..n].copy_from_slice(&left[i * n..(i + 1) * n]);
        }
        householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
            MatRef::from_column_major_slice(&u[range.clone()], len(i), n),
            MatRef::from_column_major_slice(reflections, width, n),
            Conj::No,
            MatMut::from_column_major_slice_mut(basis, len(i), n),
            par,
            stack,
        );
        transpose(basis, n, len(i), One::one(), &mut u[range]);
    }
    Ok(Some(()))
}
