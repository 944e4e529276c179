//! The thin QR factorisation by blocked Householder reflections (`faer`), unique by its sign: r's diagonal is real
//! and not negative.

use crate::matrix::{Element, FACTORS_SHARED_FROM, column_major, scale, stack, transpose, with_threads};
use crate::reflections::reflect;
use crate::{elements, misfit, scratch, write};
use faer::dyn_stack::MemStack;
use faer::linalg::{householder, qr::no_pivoting::factor};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::traits::math_utils::{abs, conj, from_real, mul_real, nan, one, zero};
use faer::{Conj, MatMut, Spec};
use ferrotensor_core::Result;
use num_traits::{Float, One};

/// `a [batch..., m, n]` -> `q [batch..., m, k]`, `r [batch..., k, n]`, k = min(m, n).
pub fn run<T: Element>(a: (&[u8], &[usize]), q: &mut (&mut [u8], &[usize]), r: &mut (&mut [u8], &[usize])) -> Result<()> {
    let [batch @ .., m, n] = a.1 else { return Err(misfit("qr", &[a.1])) };
    let (m, n, k) = (*m, *n, (*m).min(*n));
    if q.1 != [batch, &[m, k]].concat() || r.1 != [batch, &[k, n]].concat() {
        return Err(misfit("qr", &[a.1, q.1, r.1]));
    }
    let a = elements::<T>(a.0)?;
    write::<T>(q.0, |q| {
        write::<T>(r.0, |r| {
            for i in 0..batch.iter().product() {
                let (q, r) = (&mut q[i * m * k..(i + 1) * m * k], &mut r[i * k * n..(i + 1) * k * n]);
                qr_one(&a[i * m * n..(i + 1) * m * n], m, n, q, r)?;
            }
            Ok(())
        })
    })
}

fn qr_one<T: Element>(a: &[T], m: usize, n: usize, q: &mut [T], r: &mut [T]) -> Result<()> {
    let k = m.min(n);
    if k == 0 {
        return Ok(());
    }
    let Some(scale) = scale(a) else {
        q.fill(nan());
        r.fill(nan());
        return Ok(());
    };
    let (mut work, mut basis) = (column_major(a, m, n, scale)?, scratch::<T>(m * k)?);
    with_threads(FACTORS_SHARED_FROM, m, n, |par| -> Result<()> {
        let block = factor::recommended_block_size::<T>(m, n);
        let mut reflections = scratch::<T>(block * k)?;
        let mut reflections = MatMut::from_column_major_slice_mut(&mut reflections, block, k);
        let needed = factor::qr_in_place_scratch::<T>(m, n, block, par, Spec::default())
            .or(householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(m, block, k));
        let mut memory = stack(needed)?;
        let stack = MemStack::new(&mut memory);
        let mut work = MatMut::from_column_major_slice_mut(&mut work, m, n);
        factor::qr_in_place(work.rb_mut(), reflections.rb_mut(), par, stack, Spec::default());
        let mut q = MatMut::from_column_major_slice_mut(&mut basis, m, k);
        q.rb_mut().diagonal_mut().fill(one());
        reflect(work.rb().subcols(0, k), reflections.rb(), Conj::No, q, par, stack);
        Ok(())
    })?;
    let back = Float::recip(scale);
    let mut phases = scratch::<T>(k)?;
    for (i, (phase, column)) in phases.iter_mut().zip(basis.chunks_exact_mut(m)).enumerate() {
        *phase = crate::matrix::phase(&work[i * (m + 1)]);
        column.iter_mut().for_each(|x| *x *= *phase);
    }
    // 8 rows at a time, since `work` is column-major.
    for first in (0..k).step_by(8) {
        for (j, column) in work.chunks_exact(m).enumerate() {
            for i in first..k.min(first + 8) {
                r[i * n + j] = match j {
                    // Below the diagonal `work` holds the reflections.
                    _ if j < i => zero(),
                    _ if j == i => from_real(&(abs(&column[i]) * back)),
                    _ => mul_real(&(column[i] * conj(&phases[i])), &back),
                };
            }
        }
    }
    transpose(&basis, k, m, One::one(), q);
    Ok(())
}
