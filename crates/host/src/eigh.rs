//! Eigenvalues and eigenvectors of Hermitian matrices: tridiagonal by blocked reflections (`faer`), then [`crate::ql`].

use crate::matrix::{
    Element, ROTATIONS_SHARED_FROM, hermitian, no_convergence, order, phase, scale_lower, settle, stack, transpose,
    transpose_lower, with_threads,
};
use crate::reflections::reflect;
use crate::rotations::Basis;
use crate::{elements, misfit, ql, scratch, write};
use faer::dyn_stack::MemStack;
use faer::linalg::evd::tridiag;
use faer::linalg::{householder, qr::no_pivoting::factor::recommended_block_size};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::traits::math_utils::{abs, nan, one, real};
use faer::{Conj, MatMut, Spec};
use ferrotensor_core::Result;
use num_traits::Float;

type Bytes<'a, 'b> = (&'a mut [u8], &'b [usize]);

/// `a [batch..., n, n]` -> `w [batch..., n]`, real, and where wanted `v [batch..., n, n]`.
pub fn run<T: Element>(a: (&[u8], &[usize]), w: &mut Bytes, v: Option<&mut Bytes>) -> Result<()> {
    let [batch @ .., n, n2] = a.1 else { return Err(misfit("eigh", &[a.1])) };
    if n != n2 || w.1 != [batch, &[*n]].concat() || v.as_ref().is_some_and(|v| v.1 != a.1) {
        return Err(misfit("eigh", &[a.1, w.1]));
    }
    let (a, n, count) = (elements::<T>(a.0)?, *n, batch.iter().product::<usize>());
    let each = |w: &mut [T::Real], v: &mut [T]| {
        for i in 0..count {
            let (matrix, all) = (i * n * n..(i + 1) * n * n, v.len() == count * n * n);
            let v = if all { &mut v[matrix.clone()] } else { &mut [] };
            eigh_one(&a[matrix], n, &mut w[i * n..(i + 1) * n], v)?
                .ok_or_else(|| no_convergence("eigenvalues", i, count))?;
        }
        Ok(())
    };
    write::<T::Real>(w.0, |w| match v {
        Some(v) => write::<T>(v.0, |v| each(w, v)),
        None => each(w, &mut []),
    })
}

/// One matrix; `v` may be empty. `None` where the iteration does not converge.
fn eigh_one<T: Element>(a: &[T], n: usize, w: &mut [T::Real], v: &mut [T]) -> Result<Option<()>> {
    if n == 0 {
        return Ok(Some(()));
    }
    let a = hermitian(a, n)?;
    let Some(factor) = scale_lower(&a, n) else {
        w.fill(Float::nan());
        v.fill(nan());
        return Ok(Some(()));
    };
    let vectors = !v.is_empty();
    let mut work = scratch::<T>(n * n)?;
    transpose_lower(&a, n, factor, &mut work);
    let (mut off, mut columns) = (scratch::<T::Real>(n)?, scratch::<T>(v.len())?);
    let converged = with_threads(ROTATIONS_SHARED_FROM, n, n, |par| -> Result<Option<()>> {
        let block = recommended_block_size::<T>(n, n);
        let mut reflections = scratch::<T>(block * (n - 1))?;
        let mut reflections = MatMut::from_column_major_slice_mut(&mut reflections, block, n - 1);
        let back = householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(n - 1, block, n);
        let mut memory = stack(tridiag::tridiag_in_place_scratch::<T>(n, par, Spec::default()).or(back))?;
        let stack = MemStack::new(&mut memory);
        let mut matrix = MatMut::from_column_major_slice_mut(&mut work, n, n);
        tridiag::tridiag_in_place(matrix.rb_mut(), reflections.rb_mut(), par, stack, Spec::default());
        let below = |i: usize| matrix[(i + 1, i)];
        for i in 0..n {
            w[i] = real(&matrix[(i, i)]);
            if i + 1 < n {
                off[i] = if T::IS_REAL { real(&below(i)) } else { abs(&below(i)) };
            }
        }
        if !vectors {
            return ql::diagonalise(w, &mut off, None, par);
        }
        // The complex tridiagonal matrix is the real one between factors of modulus 1.
        columns[0] = one();
        for i in 1..n {
            let last = columns[(i - 1) * (n + 1)];
            columns[i * (n + 1)] = if T::IS_REAL { one() } else { phase(&(below(i - 1) * last)) };
        }
        let reflected = MatMut::from_column_major_slice_mut(&mut columns, n, n);
        let vectors = matrix.rb().submatrix(1, 0, n - 1, n - 1);
        reflect(vectors, reflections.rb(), Conj::No, reflected.submatrix_mut(1, 1, n - 1, n - 1), par, stack);
        let mut basis = Basis::of(&columns, n)?;
        if ql::diagonalise(w, &mut off, Some(&mut basis), par)?.is_none() {
            return Ok(None);
        }
        for (column, from) in columns.chunks_exact_mut(n).zip(order(w, T::Real::partial_cmp)?) {
            basis.column(from, num_traits::One::one(), column);
            settle(column);
        }
        Ok(Some(()))
    })?;
    if converged.is_none() {
        return Ok(None);
    }
    if vectors {
        transpose(&columns, n, n, num_traits::One::one(), v);
    }
    let back = Float::recip(factor);
    w.iter_mut().for_each(|w| *w *= back);
    w.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    Ok(Some(()))
}
