//! The Cholesky factor of a Hermitian positive definite matrix (`faer`, blocked).

use crate::matrix::{
    Element, FACTORS_SHARED_FROM, hermitian, scale_lower, stack, transpose_lower, transpose_upper, which, with_threads,
};
use crate::{elements, misfit, scratch, write};
use faer::dyn_stack::MemStack;
use faer::linalg::cholesky::llt::factor::{LltError, LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::traits::math_utils::{nan, zero};
use faer::{MatMut, Spec};
use ferrotensor_core::{Error, Result};
use num_traits::{Float, NumCast, ToPrimitive};

/// `a [batch..., n, n]` -> `l [batch..., n, n]`.
pub fn run<T: Element>(a: (&[u8], &[usize]), l: &mut (&mut [u8], &[usize])) -> Result<()> {
    let [batch @ .., n, n2] = a.1 else { return Err(misfit("cholesky", &[a.1])) };
    if n != n2 || a.1 != l.1 {
        return Err(misfit("cholesky", &[a.1, l.1]));
    }
    let (a, n, count) = (elements::<T>(a.0)?, *n, batch.iter().product::<usize>());
    write::<T>(l.0, |l| {
        for i in 0..count {
            let at = i * n * n..(i + 1) * n * n;
            cholesky_one(&a[at.clone()], n, &mut l[at])?.map_err(|column| {
                Error::linalg(format!("{} is not positive definite: pivot {column} is not positive", which(i, count)))
            })?;
        }
        Ok(())
    })
}

/// One matrix. The inner error is the column of a pivot that is not positive.
fn cholesky_one<T: Element>(a: &[T], n: usize, l: &mut [T]) -> Result<Result<(), usize>> {
    if n == 0 {
        return Ok(Ok(()));
    }
    let a = hermitian(a, n)?;
    let Some(factor) = scale_lower(&a, n) else {
        l.fill(nan());
        return Ok(Ok(()));
    };
    let (root, factor) = root::<T>(factor);
    let mut work = scratch::<T>(n * n)?;
    transpose_lower(&a, n, factor, &mut work);
    let done = with_threads(FACTORS_SHARED_FROM, n, n, |par| -> Result<Result<(), usize>> {
        let mut memory = stack(cholesky_in_place_scratch::<T>(n, par, Spec::default()))?;
        let matrix = MatMut::from_column_major_slice_mut(&mut work, n, n);
        let stack = MemStack::new(&mut memory);
        Ok(match cholesky_in_place(matrix, LltRegularization::default(), par, stack, Spec::default()) {
            Ok(_) => Ok(()),
            Err(LltError::NonPositivePivot { index }) => Err(index),
        })
    })?;
    if done.is_err() {
        return Ok(done);
    }
    let back = Float::recip(root);
    (0..n).for_each(|i| l[i * n + i + 1..(i + 1) * n].fill(zero()));
    // The columns of the factor are rows of its transpose.
    transpose_upper(&work, n, back, l);
    Ok(Ok(()))
}

/// A power of two near the root of a power of two, and its square.
fn root<T: Element>(factor: T::Real) -> (T::Real, T::Real) {
    let half = Float::log2(factor).to_i32().unwrap_or(0) / 2;
    let two = <T::Real as NumCast>::from(2).unwrap_or_else(num_traits::One::one);
    let root = Float::powi(two, half);
    (root, root * root)
}
