//! Singular values and vectors of small matrices by one-sided Jacobi rotations, after QR with column pivoting (`faer`).
//!
//! Source: Drmac and Veselic, "New fast and accurate Jacobi SVD algorithm" (2008): of `a p = q r` the rows of r are far from
//! parallel, so that rotating the columns of `r^H` takes few sweeps. `r^H j = w` with orthogonal columns `w_i = s_i y_i` gives
//! `a = (q j) s (p y)^H`.

use crate::matrix::{Element, order, stack};
use crate::scratch;
use crate::svd::Decomposed;
use faer::dyn_stack::MemStack;
use faer::linalg::qr::col_pivoting::factor as pivoted;
use faer::linalg::{householder, qr::no_pivoting::factor};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::traits::math_utils::{abs, abs2, conj, from_real, mul_real, one, zero};
use faer::{Conj, MatMut, Par, Spec};
use ferrotensor_core::Result;
use num_traits::{Float, NumCast, One, Zero};

/// Sweeps over all pairs of columns before they are given up; six to ten are usual.
const MOST_SWEEPS: usize = 60;

/// Of a tall column-major matrix that is not zero; `wanted` columns of the left basis.
pub fn decompose<T: Element>(
    tall: &mut [T],
    m: usize,
    n: usize,
    wanted: Option<usize>,
    par: Par,
) -> Result<Option<Decomposed<T>>> {
    let mut left = scratch::<T>(m * wanted.unwrap_or(0))?;
    let block = factor::recommended_block_size::<T>(m, n);
    let mut reflections = scratch::<T>(block * n)?;
    let mut reflections = MatMut::from_column_major_slice_mut(&mut reflections, block, n);
    let (mut pivots, mut inverse) = (scratch::<usize>(n)?, scratch::<usize>(n)?);
    let needed = pivoted::qr_in_place_scratch::<usize, T>(m, n, block, par, Spec::default()).or(
        householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(
            m,
            block,
            wanted.unwrap_or(0).max(n),
        ),
    );
    let mut memory = stack(needed)?;
    let stack = MemStack::new(&mut memory);
    let mut work = MatMut::from_column_major_slice_mut(tall, m, n);
    pivoted::qr_in_place(work.rb_mut(), reflections.rb_mut(), &mut pivots, &mut inverse, par, stack, Spec::default());
    // The columns of r^H.
    let mut rotated = scratch::<T>(n * n)?;
    for j in 0..n {
        for i in j..n {
            rotated[j * n + i] = conj(&work[(j, i)]);
        }
    }
    let mut turns = scratch::<T>(if wanted.is_some() { n * n } else { 0 })?;
    turns.iter_mut().step_by(n + 1).for_each(|x| *x = one());
    if rotate_all(&mut rotated, &mut turns, n).is_none() {
        return Ok(None);
    }
    let mut sizes = scratch::<T::Real>(n)?;
    for (size, column) in sizes.iter_mut().zip(rotated.chunks_exact(n)) {
        *size = Float::sqrt(square(column));
    }
    let by_size = order(&sizes, |a, b| b.partial_cmp(a))?;
    let mut values = scratch::<T::Real>(n)?;
    values.iter_mut().zip(&by_size).for_each(|(v, &i)| *v = sizes[i]);
    let mut right = scratch::<T>(turns.len())?;
    if let Some(wanted) = wanted {
        for (j, &from) in by_size.iter().enumerate() {
            left[j * m..][..n].copy_from_slice(&turns[from * n..(from + 1) * n]);
            if values[j].is_zero() {
                continue;
            }
            let reciprocal = Float::recip(values[j]);
            for i in 0..n {
                right[j * n + pivots[i]] = mul_real(&rotated[from * n + i], &reciprocal);
            }
        }
        (n..wanted).for_each(|j| left[j * m + j] = one());
        let rank = values.iter().take_while(|v| !v.is_zero()).count();
        complete(&mut right, n, rank)?;
        householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
            work.rb(),
            reflections.rb(),
            Conj::No,
            MatMut::from_column_major_slice_mut(&mut left, m, wanted),
            par,
            stack,
        );
    }
    Ok(Some(Decomposed { values, left, right }))
}

fn square<T: Element>(x: &[T]) -> T::Real {
    x.iter().fold(<T::Real as Zero>::zero(), |sum, x| sum + abs2(x))
}

/// Rotates pairs of columns until all are orthogonal, and those of `turns`, which may be empty, along.
///
/// A column whose square vanishes beside the largest's counts as zero, and becomes it.
fn rotate_all<T: Element>(columns: &mut [T], turns: &mut [T], n: usize) -> Option<()> {
    let (one, two) = (<T::Real as One>::one(), <T::Real as NumCast>::from(2)?);
    let eps = <T::Real as Float>::epsilon();
    // A few times what rounding leaves of a product of orthogonal columns: below that, rotations only move it about.
    let small = eps * <T::Real as NumCast>::from(4.0 + 4.0 * (n as f64).sqrt())?;
    // Columns of a matrix scaled to about 1: sums of squares below this have lost their digits.
    let least = <T::Real as Float>::min_positive_value() / (eps * eps);
    for _ in 0..MOST_SWEEPS {
        let mut still = true;
        for p in 0..n {
            for q in p + 1..n {
                let (head, tail) = columns.split_at_mut(q * n);
                let (x, y) = (&mut head[p * n..(p + 1) * n], &mut tail[..n]);
                let (mut a, mut b) = (<T::Real as Zero>::zero(), <T::Real as Zero>::zero());
                let mut dot = zero::<T>();
                for (x, y) in x.iter().zip(y.iter()) {
                    a += abs2(x);
                    b += abs2(y);
                    dot += conj(x) * *y;
                }
                if a < least || b < least {
                    if a < least {
                        x.fill(zero());
                    }
                    if b < least {
                        y.fill(zero());
                    }
                    continue;
                }
                let size = abs(&dot);
                if size <= small * (Float::sqrt(a) * Float::sqrt(b)) {
                    continue;
                }
                still = false;
                let half = (b - a) / (two * size);
                let root = Float::abs(half) + Float::hypot(half, one);
                let tangent = Float::copysign(Float::recip(root), half);
                let cos = Float::recip(Float::hypot(tangent, one));
                let sin = tangent * cos;
                // Of y the part in the direction of x becomes real.
                let by = mul_real(&conj(&dot), &Float::recip(size));
                turn(x, y, by, cos, sin);
                if !turns.is_empty() {
                    let (head, tail) = turns.split_at_mut(q * n);
                    turn(&mut head[p * n..(p + 1) * n], &mut tail[..n], by, cos, sin);
                }
            }
        }
        if still {
            return Some(());
        }
    }
    None
}

fn turn<T: Element>(x: &mut [T], y: &mut [T], by: T, cos: T::Real, sin: T::Real) {
    for (x, y) in x.iter_mut().zip(y) {
        let (a, b) = (*x, *y * by);
        *x = mul_real(&a, &cos) - mul_real(&b, &sin);
        *y = mul_real(&a, &sin) + mul_real(&b, &cos);
    }
}

/// Gives columns from `rank` on the directions that those before leave, by the unit vector that is furthest from them, twice
/// made orthogonal (Kahan's "twice is enough").
fn complete<T: Element>(basis: &mut [T], n: usize, rank: usize) -> Result<()> {
    let mut covered = scratch::<T::Real>(n)?;
    for j in rank..n {
        let (known, new) = basis.split_at_mut(j * n);
        covered.fill(<T::Real as Zero>::zero());
        for column in known.chunks_exact(n) {
            column.iter().zip(&mut covered).for_each(|(x, c)| *c += abs2(x));
        }
        let least = (0..n).fold(0, |best, i| if covered[i] < covered[best] { i } else { best });
        let new = &mut new[..n];
        new.fill(zero());
        new[least] = one();
        for _ in 0..2 {
            for column in known.chunks_exact(n) {
                let dot = column.iter().zip(new.iter()).fold(zero::<T>(), |sum, (x, y)| sum + conj(x) * *y);
                new.iter_mut().zip(column).for_each(|(y, x)| *y -= *x * dot);
            }
            let size = Float::sqrt(square(new));
            new.iter_mut().for_each(|y| *y *= from_real::<T>(&Float::recip(size)));
        }
    }
    Ok(())
}
