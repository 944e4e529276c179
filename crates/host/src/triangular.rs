//! Systems with a triangular matrix, by substitution (`faer`, blocked).

use crate::matrix::{Element, FACTORS_SHARED_FROM, column_major, scale, transpose, triangle, which, with_threads};
use crate::{elements, misfit, write};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_unit_lower_triangular_in_place, solve_unit_upper_triangular_in_place,
    solve_upper_triangular_in_place,
};
use faer::traits::math_utils::{is_finite, nan, one, zero};
use faer::{MatMut, MatRef};
use ferrotensor_core::{Error, Result};
use num_traits::One;

/// `a [batch..., n, n]`, `b [batch..., n, k]` -> `x [batch..., n, k]`.
pub fn run<T: Element>(
    a: (&[u8], &[usize]),
    b: (&[u8], &[usize]),
    x: &mut (&mut [u8], &[usize]),
    upper: bool,
    unit: bool,
) -> Result<()> {
    let ([batch @ .., n, n2], [b_batch @ .., n3, k]) = (a.1, b.1) else { return Err(misfit("triangular", &[a.1, b.1])) };
    if (batch, n, n, b.1) != (b_batch, n2, n3, x.1) {
        return Err(misfit("triangular", &[a.1, b.1, x.1]));
    }
    let (a, b, n, k, count) = (elements::<T>(a.0)?, elements::<T>(b.0)?, *n, *k, batch.iter().product::<usize>());
    write::<T>(x.0, |x| {
        for i in 0..count {
            let sides = i * n * k..(i + 1) * n * k;
            let matrix = &a[i * n * n..(i + 1) * n * n];
            solve_one(matrix, n, &b[sides.clone()], k, &mut x[sides], upper, unit)?
                .map_err(|reason| Error::linalg(format!("{} is singular: {reason}", which(i, count))))?;
        }
        Ok(())
    })
}

/// One system. The inner error says why the matrix counts as singular.
fn solve_one<T: Element>(
    a: &[T],
    n: usize,
    b: &[T],
    k: usize,
    x: &mut [T],
    upper: bool,
    unit: bool,
) -> Result<Result<(), String>> {
    let mut a = triangle(a, n, upper)?;
    if unit {
        (0..n).for_each(|i| a[i * n + i] = one());
    }
    let Some(mut factor) = scale(&a) else {
        x.fill(nan());
        return Ok(Ok(()));
    };
    if unit {
        // The ones would be scaled too.
        factor = One::one();
    } else if let Some(i) = (0..n).find(|&i| a[i * n + i] == zero()) {
        return Ok(Err(format!("element {i} of its diagonal is zero")));
    }
    let (matrix, mut columns) = (column_major(&a, n, n, factor)?, column_major(b, n, k, One::one())?);
    with_threads(FACTORS_SHARED_FROM, n, k.min(n), |par| {
        let matrix = MatRef::from_column_major_slice(&matrix, n, n);
        let sides = MatMut::from_column_major_slice_mut(&mut columns, n, k);
        match (upper, unit) {
            (false, false) => solve_lower_triangular_in_place(matrix, sides, par),
            (false, true) => solve_unit_lower_triangular_in_place(matrix, sides, par),
            (true, false) => solve_upper_triangular_in_place(matrix, sides, par),
            (true, true) => solve_unit_upper_triangular_in_place(matrix, sides, par),
        }
    });
    // (s a) y = b, hence x = s y.
    transpose(&columns, k, n, factor, x);
    if b.iter().all(is_finite) && !x.iter().all(is_finite) {
        return Ok(Err("the solution is not finite".into()));
    }
    Ok(Ok(()))
}
