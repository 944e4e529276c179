//! LU with partial pivoting (`faer`, blocked; a matrix that leaves a zero pivot by plain elimination, which steps over it).

use crate::matrix::{Element, FACTORS_SHARED_FROM, column_major, scale, stack, with_threads};
use crate::{elements, misfit, scratch, write};
use faer::dyn_stack::MemStack;
use faer::linalg::lu::partial_pivoting::factor::{lu_in_place, lu_in_place_scratch};
use faer::prelude::ReborrowMut;
use faer::traits::math_utils::{abs1, mul_real, nan, one, zero};
use faer::{MatMut, Spec};
use ferrotensor_core::Result;
use num_traits::{Float, Zero};

type Bytes<'a, 'b> = (&'a mut [u8], &'b [usize]);

/// `a [batch..., m, n]` -> `l [batch..., m, k]`, `u [batch..., k, n]`, `rows [batch..., m]`, `sign [batch...]`, k = min(m, n).
pub fn run<T: Element>(
    a: (&[u8], &[usize]),
    l: &mut Bytes,
    u: &mut Bytes,
    rows: &mut Bytes,
    sign: &mut Bytes,
) -> Result<()> {
    let [batch @ .., m, n] = a.1 else { return Err(misfit("lu", &[a.1])) };
    let (m, n, k) = (*m, *n, (*m).min(*n));
    let with = |tail: &[usize]| [batch, tail].concat();
    if (l.1, u.1, rows.1, sign.1) != (&with(&[m, k])[..], &with(&[k, n])[..], &with(&[m])[..], batch) {
        return Err(misfit("lu", &[a.1, l.1, u.1, rows.1, sign.1]));
    }
    let a = elements::<T>(a.0)?;
    write::<T>(l.0, |l| {
        write::<T>(u.0, |u| {
            write::<i32>(rows.0, |rows| {
                write::<T>(sign.0, |sign| {
                    for (i, sign) in sign.iter_mut().enumerate() {
                        let (l, u) = (&mut l[i * m * k..(i + 1) * m * k], &mut u[i * k * n..(i + 1) * k * n]);
                        *sign = lu_one(&a[i * m * n..(i + 1) * m * n], m, n, l, u, &mut rows[i * m..(i + 1) * m])?;
                    }
                    Ok(())
                })
            })
        })
    })
}

/// One matrix; the sign of its rows' order.
fn lu_one<T: Element>(a: &[T], m: usize, n: usize, l: &mut [T], u: &mut [T], rows: &mut [i32]) -> Result<T> {
    let k = m.min(n);
    rows.iter_mut().enumerate().for_each(|(i, row)| *row = i as i32);
    let Some(factor) = scale(a) else {
        l.fill(nan());
        u.fill(nan());
        return Ok(nan());
    };
    if k == 0 {
        return Ok(one());
    }
    let mut work = column_major(a, m, n, factor)?;
    with_threads(FACTORS_SHARED_FROM, m, n, |par| -> Result<()> {
        let (mut forward, mut inverse) = (scratch::<usize>(m)?, scratch::<usize>(m)?);
        let mut memory = stack(lu_in_place_scratch::<usize, T>(m, n, par, Spec::default()))?;
        let mut lu = MatMut::from_column_major_slice_mut(&mut work, m, n);
        let stack = MemStack::new(&mut memory);
        lu_in_place(lu.rb_mut(), &mut forward, &mut inverse, par, stack, Spec::default());
        rows.iter_mut().zip(&forward).for_each(|(row, &from)| *row = from as i32);
        Ok(())
    })?;
    // Beyond a zero pivot the blocked elimination has divided by it.
    if (0..k).any(|i| work[i * m + i] == zero()) {
        rows.iter_mut().enumerate().for_each(|(i, row)| *row = i as i32);
        work = column_major(a, m, n, factor)?;
        eliminate(&mut work, m, n, rows);
    }
    let back = Float::recip(factor);
    for i in 0..m {
        for j in 0..k {
            l[i * k + j] = if j == i {
                one()
            } else if j > i {
                zero()
            } else {
                work[j * m + i]
            };
        }
    }
    for i in 0..k {
        for j in 0..n {
            u[i * n + j] = if j < i { zero() } else { mul_real(&work[j * m + i], &back) };
        }
    }
    sign(rows)
}

/// Elimination column by column; one that has only zeros left is skipped.
fn eliminate<T: Element>(work: &mut [T], m: usize, n: usize, rows: &mut [i32]) {
    for p in 0..m.min(n) {
        let size = |i: usize| abs1(&work[p * m + i]);
        let pivot = (p..m).fold(p, |best, i| if size(i) > size(best) { i } else { best });
        if size(pivot).is_zero() {
            continue;
        }
        if pivot != p {
            rows.swap(p, pivot);
            (0..n).for_each(|j| work.swap(j * m + p, j * m + pivot));
        }
        let (left, right) = work.split_at_mut((p + 1) * m);
        let column = &mut left[p * m..];
        let by = column[p];
        column[p + 1..].iter_mut().for_each(|x| *x /= by);
        for other in right.chunks_exact_mut(m) {
            let top = other[p];
            other[p + 1..].iter_mut().zip(&column[p + 1..]).for_each(|(x, &l)| *x -= l * top);
        }
    }
}

/// 1 for an even order of rows, -1 for an odd one: each cycle of even length is an odd number of exchanges.
fn sign<T: Element>(rows: &[i32]) -> Result<T> {
    let mut seen = scratch::<u8>(rows.len())?;
    let mut odd = false;
    for start in 0..rows.len() {
        let (mut at, mut length) = (start, 0);
        while seen[at] == 0 {
            seen[at] = 1;
            at = rows[at] as usize;
            length += 1;
        }
        odd ^= length > 0 && length % 2 == 0;
    }
    Ok(if odd { -one::<T>() } else { one() })
}
