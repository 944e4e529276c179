//! Matrix exponentials by the [13/13] Pade approximant with scaling and squaring.
//!
//! Sources: Higham, "The scaling and squaring method for the matrix exponential revisited" (2005), algorithm 2.3; how often a matrix is
//! halved whose powers are smaller than powers of its norm: Al-Mohy and Higham, "A new scaling and squaring algorithm for the matrix
//! exponential" (2009), as SciPy. One large element beside small ones would have every squaring round what it halved away.

use crate::matrix::{Element, FACTORS_SHARED_FROM, column_major, stack, transpose, with_threads};
use crate::{elements, misfit, scratch, write};
use faer::dyn_stack::MemStack;
use faer::linalg::lu::partial_pivoting::{factor, solve};
use faer::linalg::matmul::matmul;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::traits::math_utils::{abs, from_f64, is_finite, mul_real, nan, one};
use faer::{Accum, MatMut, MatRef, Par, Spec};
use ferrotensor_core::Result;
use num_traits::{NumCast, One, ToPrimitive, Zero};

/// Norm up to which the approximant is accurate to float64's last place.
const LARGEST: f64 = 5.371920351148152;

/// The reciprocal of the coefficient of x^27 in the backward error of the approximant.
const BACKWARD: f64 = 1.132_507_756_060_211_2e35;

/// The approximant's coefficients, divided by the last: 1, x^1, ..., x^13.
const COEFFICIENTS: [f64; 14] = [
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
];

/// `a [batch..., n, n]` -> `e [batch..., n, n]`.
pub fn run<T: Element>(a: (&[u8], &[usize]), e: &mut (&mut [u8], &[usize])) -> Result<()> {
    let [batch @ .., n, n2] = a.1 else { return Err(misfit("expm", &[a.1])) };
    if n != n2 || a.1 != e.1 {
        return Err(misfit("expm", &[a.1, e.1]));
    }
    let (a, n) = (elements::<T>(a.0)?, *n);
    write::<T>(e.0, |e| {
        for i in 0..batch.iter().product() {
            let at = i * n * n..(i + 1) * n * n;
            expm_one(&a[at.clone()], n, &mut e[at])?;
        }
        Ok(())
    })
}

fn expm_one<T: Element>(a: &[T], n: usize, e: &mut [T]) -> Result<()> {
    if n == 0 {
        return Ok(());
    }
    if !a.iter().all(is_finite) {
        e.fill(nan());
        return Ok(());
    }
    // Halved until the largest sum of a row's sizes is small enough; those sums may overflow, their halves do not.
    let row = |row: &[T]| row.iter().fold(0.0f64, |sum, x| sum + abs(x).to_f64().unwrap_or(f64::INFINITY) / 4.0);
    let norm = a.chunks_exact(n).map(row).fold(0.0, f64::max);
    let halvings = ((norm / LARGEST).log2().ceil() + 2.0).clamp(0.0, 2100.0) as i32;
    let half = |by: i32| <T::Real as NumCast>::from(0.5f64.powi(by)).unwrap_or_else(Zero::zero);
    let scaled = |halvings: i32| -> Result<Vec<T>> {
        let mut x = column_major(a, n, n, One::one())?;
        // In three steps: the whole factor may lie below the smallest number.
        for by in [halvings / 3, halvings / 3, halvings - 2 * (halvings / 3)] {
            x.iter_mut().for_each(|x| *x = mul_real(x, &half(by)));
        }
        Ok(x)
    };
    let squared = |halvings: i32, par: Par| -> Result<Vec<T>> {
        let x = scaled(halvings)?;
        let mut power = approximant(&x, n, par)?;
        let mut next = scratch::<T>(n * n)?;
        for _ in 0..halvings {
            product(&mut next, &power, &power, n, par);
            std::mem::swap(&mut next, &mut power);
        }
        Ok(power)
    };
    let out = with_threads(FACTORS_SHARED_FROM, n, n, |par| -> Result<Vec<T>> {
        let fewer = if halvings == 0 { 0 } else { needed(&scaled(halvings)?, n, halvings, par)? };
        let out = squared(fewer, par)?;
        // Terms that overflow and cancel need the norm's number.
        if fewer < halvings && !out.iter().all(is_finite) { squared(halvings, par) } else { Ok(out) }
    })?;
    transpose(&out, n, n, One::one(), e);
    Ok(())
}

/// A root of the largest sum of a column's sizes.
fn size<T: Element>(x: &[T], n: usize, root: i32) -> f64 {
    let column = |column: &[T]| column.iter().map(|x| abs(x).to_f64().unwrap_or(f64::INFINITY)).sum::<f64>();
    x.chunks_exact(n).map(column).fold(0.0, f64::max).powf(1.0 / root as f64)
}

/// How many of the `halvings` that x has had its powers ask for: the larger of the roots of the norms of x^6 and x^8 says what norms of high
/// powers grow by, and what is lost to elements that cancel in them is bounded by the 27th power of the sizes.
fn needed<T: Element>(x: &[T], n: usize, halvings: i32, par: Par) -> Result<i32> {
    let times = |x: &[T], y: &[T]| -> Result<Vec<T>> {
        let mut to = scratch::<T>(n * n)?;
        product(&mut to, x, y, n, par);
        Ok(to)
    };
    let x2 = times(x, x)?;
    let x4 = times(&x2, &x2)?;
    let growth = size(&times(&x4, &x2)?, n, 6).max(size(&times(&x4, &x4)?, n, 8));
    let fewer = (halvings as f64 + (growth / LARGEST).log2()).ceil().clamp(0.0, halvings as f64) as i32;
    // Sums of columns of |2^(halvings - fewer) x|^27.
    let back = 2f64.powi(halvings - fewer);
    let mut sums = vec![1.0; n];
    for _ in 0..27 {
        let of =
            |column: &[T]| column.iter().zip(&sums).map(|(x, s)| abs(x).to_f64().unwrap_or(f64::INFINITY) * back * s).sum();
        sums = x.chunks_exact(n).map(of).collect::<Vec<f64>>();
    }
    let error = sums.into_iter().fold(0.0, f64::max) / (size(x, n, 1) * back) / BACKWARD / (f64::EPSILON / 2.0);
    let more = (error.log2() / 26.0).ceil().max(0.0);
    Ok((fewer as f64 + more).min(halvings as f64) as i32)
}

fn product<T: Element>(to: &mut [T], x: &[T], y: &[T], n: usize, par: Par) {
    let [x, y] = [x, y].map(|m| MatRef::from_column_major_slice(m, n, n));
    matmul(MatMut::from_column_major_slice_mut(to, n, n), Accum::Replace, x, y, one(), par);
}

/// `p(x) / p(-x)`: even powers and odd ones apart, the lower half and the upper half of each with x^6 between.
fn approximant<T: Element>(x: &[T], n: usize, par: Par) -> Result<Vec<T>> {
    let new = || scratch::<T>(n * n);
    let (mut x2, mut x4, mut x6) = (new()?, new()?, new()?);
    product(&mut x2, x, x, n, par);
    product(&mut x4, &x2, &x2, n, par);
    product(&mut x6, &x4, &x2, n, par);
    // Terms c0 + c2 x^2 + c4 x^4 + c6 x^6 of every second coefficient from `first` on.
    let sum = |first: usize, count: usize, to: &mut [T]| {
        for (k, power) in [None, Some(&x2), Some(&x4), Some(&x6)].into_iter().enumerate().take(count) {
            let c = from_f64::<T::Real>(COEFFICIENTS[first + 2 * k] / COEFFICIENTS[0]);
            match power {
                None => to.iter_mut().step_by(n + 1).for_each(|t| *t += mul_real(&one::<T>(), &c)),
                Some(power) => to.iter_mut().zip(power).for_each(|(t, p)| *t += mul_real(p, &c)),
            }
        }
    };
    let half = |first: usize| -> Result<Vec<T>> {
        let (mut high, mut out) = (new()?, new()?);
        // c8 x^2 + c10 x^4 + c12 x^6, times x^6.
        for (k, power) in [&x2, &x4, &x6].into_iter().enumerate() {
            let c = from_f64::<T::Real>(COEFFICIENTS[first + 8 + 2 * k] / COEFFICIENTS[0]);
            high.iter_mut().zip(power).for_each(|(t, p)| *t += mul_real(p, &c));
        }
        product(&mut out, &x6, &high, n, par);
        sum(first, 4, &mut out);
        Ok(out)
    };
    let (even, inner) = (half(0)?, half(1)?);
    let mut odd = new()?;
    product(&mut odd, x, &inner, n, par);
    let mut above = new()?;
    above.iter_mut().zip(even.iter().zip(&odd)).for_each(|(t, (v, u))| *t = *v + *u);
    let mut below = new()?;
    below.iter_mut().zip(even.iter().zip(&odd)).for_each(|(t, (v, u))| *t = *v - *u);
    let (mut forward, mut inverse) = (scratch::<usize>(n)?, scratch::<usize>(n)?);
    let needed = factor::lu_in_place_scratch::<usize, T>(n, n, par, Spec::default())
        .or(solve::solve_in_place_scratch::<usize, T>(n, n, par));
    let mut memory = stack(needed)?;
    let stack = MemStack::new(&mut memory);
    let mut lu = MatMut::from_column_major_slice_mut(&mut below, n, n);
    let (_, rows) = factor::lu_in_place(lu.rb_mut(), &mut forward, &mut inverse, par, stack, Spec::default());
    let sides = MatMut::from_column_major_slice_mut(&mut above, n, n);
    solve::solve_in_place(lu.rb(), lu.rb(), rows, sides, par, stack);
    Ok(above)
}
