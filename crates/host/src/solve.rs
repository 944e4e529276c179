//! Linear systems: LU with partial pivoting (`faer`), then two triangular solves.

use crate::matrix::{Element, FACTORS_SHARED_FROM, column_major, scale, stack, transpose, with_threads};
use crate::{elements, misfit, scratch, write};
use faer::dyn_stack::MemStack;
use faer::linalg::lu::partial_pivoting::{factor, solve};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::traits::math_utils::{is_finite, nan, zero};
use faer::{MatMut, Spec};
use ferrotensor_core::{Error, Result};
use num_traits::One;

/// `a [batch..., n, n]`, `b [batch..., n, k]` -> `x [batch..., n, k]`.
pub fn run<T: Element>(a: (&[u8], &[usize]), b: (&[u8], &[usize]), x: &mut (&mut [u8], &[usize])) -> Result<()> {
    let ([batch @ .., n, n2], [b_batch @ .., n3, k]) = (a.1, b.1) else { return Err(misfit("solve", &[a.1, b.1])) };
    if (batch, n, n, b.1) != (b_batch, n2, n3, x.1) {
        return Err(misfit("solve", &[a.1, b.1, x.1]));
    }
    let (a, b, count) = (elements::<T>(a.0)?, elements::<T>(b.0)?, batch.iter().product::<usize>());
    write::<T>(x.0, |x| {
        for i in 0..count {
            let (matrix, sides) = (i * n * n..(i + 1) * n * n, i * n * k..(i + 1) * n * k);
            solve_one(&a[matrix], *n, &b[sides.clone()], *k, &mut x[sides])?.map_err(|reason| {
                let which = if count == 1 { "the matrix".into() } else { format!("matrix {i} of the batch") };
                Error::linalg(format!("{which} is singular: {reason}"))
            })?;
        }
        Ok(())
    })
}

/// One system. The inner error says why the matrix counts as singular.
fn solve_one<T: Element>(a: &[T], n: usize, b: &[T], k: usize, x: &mut [T]) -> Result<Result<(), String>> {
    if n == 0 {
        return Ok(Ok(()));
    }
    let Some(factor) = scale(a) else {
        x.fill(nan());
        return Ok(Ok(()));
    };
    let (mut lu, mut columns) = (column_major(a, n, n, factor)?, column_major(b, n, k, One::one())?);
    let zero_pivot = with_threads(FACTORS_SHARED_FROM, n, n, |par| -> Result<Option<usize>> {
        let mut lu = MatMut::from_column_major_slice_mut(&mut lu, n, n);
        let (mut forward, mut inverse) = (scratch::<usize>(n)?, scratch::<usize>(n)?);
        let needed = factor::lu_in_place_scratch::<usize, T>(n, n, par, Spec::default())
            .or(solve::solve_in_place_scratch::<usize, T>(n, k, par));
        let mut memory = stack(needed)?;
        let stack = MemStack::new(&mut memory);
        let (_, rows) = factor::lu_in_place(lu.rb_mut(), &mut forward, &mut inverse, par, stack, Spec::default());
        if let Some(zero) = (0..n).find(|&i| lu[(i, i)] == zero()) {
            return Ok(Some(zero));
        }
        let rhs = MatMut::from_column_major_slice_mut(&mut columns, n, k);
        solve::solve_in_place(lu.rb(), lu.rb(), rows, rhs, par, stack);
        Ok(None)
    })?;
    if let Some(column) = zero_pivot {
        return Ok(Err(format!("elimination leaves a zero pivot in column {column}")));
    }
    // (s a) y = b, hence x = s y.
    transpose(&columns, k, n, factor, x);
    if b.iter().all(is_finite) && !x.iter().all(is_finite) {
        return Ok(Err("the solution is not finite".into()));
    }
    Ok(Ok(()))
}
