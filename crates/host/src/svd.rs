//! Singular values and vectors: small matrices by [`crate::jacobi`], others by [`crate::reduction`] to bidiagonal form, [`crate::tall`] ones in blocks.

use crate::matrix::{Element, ROTATIONS_SHARED_FROM, no_convergence, scale, settle, towards_real, transpose, with_threads};
use crate::{elements, jacobi, misfit, reduction, scratch, tall, write};
use faer::Par;
use faer::traits::math_utils::{conj, mul_real, nan, one, zero};
use ferrotensor_core::Result;
use num_traits::{Float, One};

type Bytes<'a, 'b> = (&'a mut [u8], &'b [usize]);

/// Columns from which on the bidiagonal form is used. Jacobi's method keeps small values of graded matrices to more digits, and
/// takes 2.6 times as long at 32 columns.
const REDUCED_FROM: usize = 16;

/// `a [batch..., m, n]` -> `s [batch..., k]`, k = min(m, n).
pub fn values<T: Element>(a: (&[u8], &[usize]), s: &mut Bytes) -> Result<()> {
    let [batch @ .., m, n] = a.1 else { return Err(misfit("svd", &[a.1])) };
    let (m, n, k, count) = (*m, *n, (*m).min(*n), batch.iter().product::<usize>());
    if s.1 != [batch, &[k]].concat() {
        return Err(misfit("svd", &[a.1, s.1]));
    }
    let a = elements::<T>(a.0)?;
    write::<T::Real>(s.0, |s| {
        for i in 0..count {
            let s = &mut s[i * k..(i + 1) * k];
            svd_one(&a[i * m * n..(i + 1) * m * n], m, n, s, None)?
                .ok_or_else(|| no_convergence("singular values", i, count))?;
        }
        Ok(())
    })
}

/// With `u [batch..., m, c]` and `vh [batch..., r, n]`: c = r = k, or c = m and r = n.
pub fn vectors<T: Element>(a: (&[u8], &[usize]), u: &mut Bytes, s: &mut Bytes, vh: &mut Bytes) -> Result<()> {
    let [batch @ .., m, n] = a.1 else { return Err(misfit("svd", &[a.1])) };
    let (m, n, k, count) = (*m, *n, (*m).min(*n), batch.iter().product::<usize>());
    let with = |tail: [usize; 2]| [batch, &tail].concat();
    let fits = |c: usize, r: usize| u.1 == with([m, c]) && vh.1 == with([r, n]);
    let full = !fits(k, k);
    if s.1 != [batch, &[k]].concat() || full && !fits(m, n) {
        return Err(misfit("svd", &[a.1, u.1, s.1, vh.1]));
    }
    let (c, r) = if full { (m, n) } else { (k, k) };
    let a = elements::<T>(a.0)?;
    write::<T>(u.0, |u| {
        write::<T::Real>(s.0, |s| {
            write::<T>(vh.0, |vh| {
                for i in 0..count {
                    let bases = (&mut u[i * m * c..(i + 1) * m * c], &mut vh[i * r * n..(i + 1) * r * n]);
                    svd_one(&a[i * m * n..(i + 1) * m * n], m, n, &mut s[i * k..(i + 1) * k], Some(bases))?
                        .ok_or_else(|| no_convergence("singular values", i, count))?;
                }
                Ok(())
            })
        })
    })
}

/// One matrix. `None` where the rotations do not converge.
fn svd_one<T: Element>(
    a: &[T],
    m: usize,
    n: usize,
    s: &mut [T::Real],
    bases: Option<(&mut [T], &mut [T])>,
) -> Result<Option<()>> {
    let Some(factor) = scale(a) else {
        s.fill(Float::nan());
        if let Some((u, vh)) = bases {
            u.fill(nan());
            vh.fill(nan());
        }
        return Ok(Some(()));
    };
    let is_thin = bases.as_ref().is_none_or(|(u, _)| u.len() == m * n);
    if is_thin && tall::is_tall::<T>(m, n) {
        return tall::decompose(a, (m, n), factor, s, bases);
    }
    // Of a wide matrix the adjoint is taken apart: its left basis is the right one.
    let (rows, columns) = (m.max(n), m.min(n));
    let mut work = scratch::<T>(m * n)?;
    if m >= n {
        transpose(a, m, n, factor, &mut work);
    } else {
        work.iter_mut().zip(a).for_each(|(to, x)| *to = conj(&mul_real(x, &factor)));
    }
    let wanted = bases.as_ref().map(|(u, vh)| if m >= n { u.len() / m.max(1) } else { vh.len() / n.max(1) });
    let Some(found) =
        with_threads(ROTATIONS_SHARED_FROM, rows, columns, |par| decompose(&mut work, rows, columns, wanted, par))?
    else {
        return Ok(None);
    };
    let back = Float::recip(factor);
    s.iter_mut().zip(&found.values).for_each(|(s, v)| *s = *v * back);
    if let Some((u, vh)) = bases {
        let Decomposed { mut left, mut right, .. } = found;
        // The rows of vh decide the phases of both bases.
        let (of_vh, of_u, length, other) =
            if m >= n { (&mut right, &mut left, n, m) } else { (&mut left, &mut right, n, m) };
        for i in 0..columns {
            let by = towards_real(&of_vh[i * length..(i + 1) * length]);
            of_vh[i * length..(i + 1) * length].iter_mut().for_each(|x| *x *= by);
            of_u[i * other..(i + 1) * other].iter_mut().for_each(|x| *x *= by);
        }
        of_vh.chunks_exact_mut(length.max(1)).skip(columns).for_each(settle);
        of_u.chunks_exact_mut(other.max(1)).skip(columns).for_each(settle);
        let c = of_u.len() / other.max(1);
        transpose(of_u, c, other, One::one(), u);
        vh.iter_mut().zip(of_vh.iter()).for_each(|(to, x)| *to = conj(x));
    }
    Ok(Some(()))
}

/// Values, descending, and bases by columns; without them where they are not wanted.
pub struct Decomposed<T: Element> {
    pub values: Vec<T::Real>,
    pub left: Vec<T>,
    pub right: Vec<T>,
}

/// Of a tall column-major matrix; `wanted` columns of the left basis.
pub fn decompose<T: Element>(
    tall: &mut [T],
    m: usize,
    n: usize,
    wanted: Option<usize>,
    par: Par,
) -> Result<Option<Decomposed<T>>> {
    if n == 0 {
        let mut left = scratch::<T>(m * wanted.unwrap_or(0))?;
        left.iter_mut().step_by(m + 1).for_each(|x| *x = one());
        return Ok(Some(Decomposed { values: Vec::new(), left, right: Vec::new() }));
    }
    // `faer` divides by the largest norm of a column.
    if tall.iter().all(|x| *x == zero()) {
        let mut left = scratch::<T>(m * wanted.unwrap_or(0))?;
        let mut right = scratch::<T>(if wanted.is_some() { n * n } else { 0 })?;
        left.iter_mut().step_by(m + 1).for_each(|x| *x = one());
        right.iter_mut().step_by(n + 1).for_each(|x| *x = one());
        return Ok(Some(Decomposed { values: scratch(n)?, left, right }));
    }
    if n < REDUCED_FROM { jacobi::decompose(tall, m, n, wanted, par) } else { reduction::decompose(tall, m, n, wanted, par) }
}
