//! Singular values and vectors by reduction to bidiagonal form (`faer`, blocked reflections), then [`crate::bidiagonal`].

use crate::matrix::{Element, order, phase, stack};
use crate::reflections::reflect;
use crate::rotations::Basis;
use crate::svd::Decomposed;
use crate::{bidiagonal, scratch};
use faer::dyn_stack::MemStack;
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch as apply_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj as apply,
};
use faer::linalg::qr::no_pivoting::factor::{self, recommended_block_size};
use faer::linalg::svd::bidiag;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::traits::math_utils::{abs, conj, one};
use faer::{Conj, MatMut, Par, Spec};
use ferrotensor_core::Result;
use num_traits::{Float, One};

/// Of a tall column-major matrix; `wanted` columns of the left basis.
pub fn decompose<T: Element>(
    tall: &mut [T],
    m: usize,
    n: usize,
    wanted: Option<usize>,
    par: Par,
) -> Result<Option<Decomposed<T>>> {
    // A triangle is reduced in fewer operations than a matrix that is much taller than wide.
    if 5 * m <= 8 * n {
        return reduce(MatMut::from_column_major_slice_mut(tall, m, n), wanted, par);
    }
    let block = recommended_block_size::<T>(m, n);
    let mut reflections = scratch::<T>(block * n)?;
    let mut reflections = MatMut::from_column_major_slice_mut(&mut reflections, block, n);
    let needed = factor::qr_in_place_scratch::<T>(m, n, block, par, Spec::default());
    let mut memory = stack(needed.or(apply_scratch::<T>(m, block, wanted.unwrap_or(0))))?;
    let stack = MemStack::new(&mut memory);
    let mut work = MatMut::from_column_major_slice_mut(tall, m, n);
    factor::qr_in_place(work.rb_mut(), reflections.rb_mut(), par, stack, Spec::default());
    let mut triangle = scratch::<T>(n * n)?;
    for (j, column) in triangle.chunks_exact_mut(n).enumerate() {
        column[..=j].iter_mut().enumerate().for_each(|(i, x)| *x = work[(i, j)]);
    }
    let thin = wanted.map(|_| n);
    let Some(mut found) = reduce(MatMut::from_column_major_slice_mut(&mut triangle, n, n), thin, par)? else {
        return Ok(None);
    };
    if let Some(wanted) = wanted {
        let mut left = scratch::<T>(m * wanted)?;
        for (to, from) in left.chunks_exact_mut(m).zip(found.left.chunks_exact(n)) {
            to[..n].copy_from_slice(from);
        }
        (n..wanted).for_each(|j| left[j * m + j] = one());
        let basis = MatMut::from_column_major_slice_mut(&mut left, m, wanted);
        apply(work.rb(), reflections.rb(), Conj::No, basis, par, stack);
        found.left = left;
    }
    Ok(Some(found))
}

/// The same for one that is not much taller than wide, without QR first.
fn reduce<T: Element>(mut a: MatMut<T>, wanted: Option<usize>, par: Par) -> Result<Option<Decomposed<T>>> {
    let (m, n) = (a.nrows(), a.ncols());
    let block = recommended_block_size::<T>(m, n);
    let (mut left_factors, mut right_factors) = (scratch::<T>(block * n)?, scratch::<T>(block * (n - 1))?);
    let mut left_factors = MatMut::from_column_major_slice_mut(&mut left_factors, block, n);
    let mut right_factors = MatMut::from_column_major_slice_mut(&mut right_factors, block, n - 1);
    let back = apply_scratch::<T>(m, block, wanted.unwrap_or(0).max(n));
    let mut memory = stack(bidiag::bidiag_in_place_scratch::<T>(m, n, par, Spec::default()).or(back))?;
    let stack = MemStack::new(&mut memory);
    let (to_left, to_right) = (left_factors.rb_mut(), right_factors.rb_mut());
    bidiag::bidiag_in_place(a.rb_mut(), to_left, to_right, par, stack, Spec::default());
    // The bidiagonal matrix is one of non-negative numbers between factors of modulus 1.
    let (mut values, mut above) = (scratch::<T::Real>(n)?, scratch::<T::Real>(n)?);
    let (mut left_phases, mut right_phases) = (scratch::<T>(n)?, scratch::<T>(n)?);
    right_phases[0] = one();
    for i in 0..n {
        let x = a[(i, i)] * right_phases[i];
        (values[i], left_phases[i]) = (abs(&x), phase(&x));
        if i + 1 < n {
            let x = conj(&left_phases[i]) * a[(i, i + 1)];
            (above[i], right_phases[i + 1]) = (abs(&x), conj(&phase(&x)));
        }
    }
    let mut found = Decomposed { values: scratch(n)?, left: Vec::new(), right: Vec::new() };
    let mut bases = None;
    if let Some(wanted) = wanted {
        found.left = scratch(m * wanted)?;
        found.right = scratch(n * n)?;
        (0..wanted).for_each(|j| found.left[j * m + j] = if j < n { left_phases[j] } else { one() });
        (0..n).for_each(|j| found.right[j * n + j] = right_phases[j]);
        let basis = MatMut::from_column_major_slice_mut(&mut found.left, m, wanted);
        reflect(a.rb(), left_factors.rb(), Conj::No, basis, par, stack);
        // The right reflections lie in rows; `faer` applies those that lie in columns.
        for first in (0..n).step_by(8) {
            for j in first + 1..n {
                for i in first..j.min(first + 8) {
                    a[(j, i)] = a[(i, j)];
                }
            }
        }
        let basis = MatMut::from_column_major_slice_mut(&mut found.right, n, n);
        let rows = a.rb().submatrix(1, 0, n - 1, n - 1);
        reflect(rows, right_factors.rb(), Conj::Yes, basis.submatrix_mut(1, 1, n - 1, n - 1), par, stack);
        bases = Some((Basis::of(&found.left[..m * n], n)?, Basis::of(&found.right, n)?));
    }
    let sides = bases.as_mut().map_or([None, None], |(left, right)| [Some(left), Some(right)]);
    if bidiagonal::diagonalise(&mut values, &mut above, sides, par)?.is_none() {
        return Ok(None);
    }
    let mut sizes = scratch::<T::Real>(n)?;
    sizes.iter_mut().zip(&values).for_each(|(size, x)| *size = Float::abs(*x));
    let order = order(&sizes, |a, b| b.partial_cmp(a))?;
    found.values.iter_mut().zip(&order).for_each(|(to, &from)| *to = sizes[from]);
    if let Some((left, right)) = &mut bases {
        for (column, &from) in found.left.chunks_exact_mut(m).zip(&order) {
            left.column(from, One::one(), column);
        }
        for (column, &from) in found.right.chunks_exact_mut(n).zip(&order) {
            right.column(from, Float::copysign(One::one(), values[from]), column);
        }
    }
    Ok(Some(found))
}
