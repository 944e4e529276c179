//! Singular values and vectors by one-sided Jacobi rotations, after QR with column pivoting (`faer`).
//!
//! Source: Drmac and Veselic, "New fast and accurate Jacobi SVD algorithm" (2008): of `a p = q r` the rows of r are far from
//! parallel, so that rotating the columns of `r^H` takes few sweeps. `r^H j = w` with orthogonal columns `w_i = s_i y_i` gives
//! `a = (q j) s (p y)^H`. `faer`'s own decomposition is under another licence (docs/decisions/021).

use crate::matrix::{Element, no_convergence, scale, settle, stack, towards_real, with_threads};
use crate::{elements, misfit, scratch, write};
use faer::dyn_stack::MemStack;
use faer::linalg::qr::col_pivoting::factor as pivoted;
use faer::linalg::{householder, qr::no_pivoting::factor};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::traits::math_utils::{abs, abs2, conj, from_real, mul_real, nan, one, zero};
use faer::{Conj, MatMut, Par, Spec};
use ferrotensor_core::Result;
use num_traits::{Float, NumCast, One, Zero};

type Bytes<'a, 'b> = (&'a mut [u8], &'b [usize]);

/// Sweeps over all pairs of columns before they are given up; six to ten are usual.
const MOST_SWEEPS: usize = 60;

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
    // Of a wide matrix the adjoint is taken apart: its left basis is the right one.
    let (rows, columns) = (m.max(n), m.min(n));
    let mut tall = scratch::<T>(m * n)?;
    for (at, x) in a.iter().enumerate() {
        let (i, j) = (at / n, at % n);
        let x = mul_real(x, &factor);
        if m >= n { tall[j * m + i] = x } else { tall[i * n + j] = conj(&x) }
    }
    let wanted = bases.as_ref().map(|(u, vh)| if m >= n { u.len() / m.max(1) } else { vh.len() / n.max(1) });
    let Some(found) = with_threads(rows, columns, |par| decompose(&mut tall, rows, columns, wanted, par))? else {
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
        for (j, column) in of_u.chunks_exact(other.max(1)).enumerate() {
            column.iter().enumerate().for_each(|(i, &x)| u[i * c + j] = x);
        }
        vh.iter_mut().zip(of_vh.iter()).for_each(|(to, x)| *to = conj(x));
    }
    Ok(Some(()))
}

/// Values, descending, and bases by columns; without them where they are not wanted.
struct Decomposed<T: Element> {
    values: Vec<T::Real>,
    left: Vec<T>,
    right: Vec<T>,
}

/// Of a tall column-major matrix; `wanted` columns of the left basis.
fn decompose<T: Element>(
    tall: &mut [T],
    m: usize,
    n: usize,
    wanted: Option<usize>,
    par: Par,
) -> Result<Option<Decomposed<T>>> {
    let mut left = scratch::<T>(m * wanted.unwrap_or(0))?;
    if n == 0 {
        left.iter_mut().step_by(m + 1).for_each(|x| *x = one());
        return Ok(Some(Decomposed { values: Vec::new(), left, right: Vec::new() }));
    }
    // `faer` divides by the largest norm of a column.
    if tall.iter().all(|x| *x == zero()) {
        let mut right = scratch::<T>(if wanted.is_some() { n * n } else { 0 })?;
        left.iter_mut().step_by(m + 1).for_each(|x| *x = one());
        right.iter_mut().step_by(n + 1).for_each(|x| *x = one());
        return Ok(Some(Decomposed { values: scratch(n)?, left, right }));
    }
    let block = factor::recommended_block_size::<T>(m, n);
    let mut reflections = scratch::<T>(block * n)?;
    let mut reflections = MatMut::from_column_major_slice_mut(&mut reflections, block, n);
    let (mut order, mut inverse) = (scratch::<usize>(n)?, scratch::<usize>(n)?);
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
    pivoted::qr_in_place(work.rb_mut(), reflections.rb_mut(), &mut order, &mut inverse, par, stack, Spec::default());
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
    let mut by_size = scratch::<usize>(n)?;
    by_size.iter_mut().enumerate().for_each(|(i, at)| *at = i);
    by_size.sort_unstable_by(|&i, &j| sizes[j].partial_cmp(&sizes[i]).unwrap_or(std::cmp::Ordering::Equal).then(i.cmp(&j)));
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
                right[j * n + order[i]] = mul_real(&rotated[from * n + i], &reciprocal);
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
