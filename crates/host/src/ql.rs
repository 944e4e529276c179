//! Eigenvalues and eigenvectors of a real symmetric tridiagonal matrix by implicit QL with Wilkinson's shifts.
//!
//! Source: Bowdler, Martin, Reinsch, Wilkinson, "The QR and QL algorithms for symmetric matrices" (1968), as LAPACK's `steqr`.
//! `faer` has divide and conquer instead, whose root finder is under another licence (docs/decisions/021).

use faer::traits::RealField;
use num_traits::Float;

/// Steps for each eigenvalue before it is given up; two or three are usual.
const MOST_STEPS: usize = 60;

/// Of the matrix with this diagonal and `off[i]` at (i + 1, i), whose last element is not read: the eigenvalues take the
/// diagonal's place, in no order, and the columns of `vectors [n, n]` (column-major, or empty) are rotated along.
///
/// Gives up (`None`) where they do not converge.
pub fn diagonalise<R: Float + RealField>(diagonal: &mut [R], off: &mut [R], vectors: &mut [R]) -> Option<()> {
    let n = diagonal.len();
    let (zero, one) = (<R as num_traits::Zero>::zero(), <R as num_traits::One>::one());
    let two = one + one;
    if let Some(last) = off.last_mut() {
        *last = zero;
    }
    let parts = diagonal.iter().chain(off.iter()).map(|x| Float::abs(*x));
    let norm = parts.fold(zero, Float::max);
    // An eighth of what rounding does to the norm: beside zero eigenvalues nothing is small next to its neighbours.
    let negligible = norm * <R as Float>::epsilon() / (two * two * two);
    for first in 0..n {
        let mut steps = 0;
        loop {
            // The block from `first` that no negligible element ends.
            let small = |i: &usize| {
                let size = Float::sqrt(Float::abs(diagonal[*i])) * Float::sqrt(Float::abs(diagonal[*i + 1]));
                Float::abs(off[*i]) <= Float::max(negligible, <R as Float>::epsilon() * size)
            };
            let end = (first..n - 1).find(small).unwrap_or(n - 1);
            if end == first {
                break;
            }
            steps += 1;
            if steps > MOST_STEPS {
                return None;
            }
            // The shift: that eigenvalue of the leading 2 x 2 which is nearer to its first element.
            let half = (diagonal[first + 1] - diagonal[first]) / (two * off[first]);
            let root = Float::hypot(half, one);
            let toward = if half < zero { half - root } else { half + root };
            let mut g = diagonal[end] - diagonal[first] + off[first] / toward;
            let (mut s, mut c, mut p) = (one, one, zero);
            let mut split = false;
            for i in (first..end).rev() {
                let (f, b) = (s * off[i], c * off[i]);
                let r = Float::hypot(f, g);
                off[i + 1] = r;
                if r == zero {
                    // The rotation underflowed: the matrix has come apart here.
                    diagonal[i + 1] -= p;
                    off[end] = zero;
                    split = true;
                    break;
                }
                (s, c) = (f / r, g / r);
                g = diagonal[i + 1] - p;
                let t = (diagonal[i] - g) * s + two * c * b;
                p = s * t;
                diagonal[i + 1] = g + p;
                g = c * t - b;
                if !vectors.is_empty() {
                    let (left, right) = vectors.split_at_mut((i + 1) * n);
                    rotate(&mut left[i * n..], &mut right[..n], c, s);
                }
            }
            if !split {
                diagonal[first] -= p;
                off[first] = g;
                off[end] = zero;
            }
        }
    }
    Some(())
}

fn rotate<R: Float + RealField>(x: &mut [R], y: &mut [R], c: R, s: R) {
    for (x, y) in x.iter_mut().zip(y) {
        let (a, b) = (*x, *y);
        *y = s * a + c * b;
        *x = c * a - s * b;
    }
}
