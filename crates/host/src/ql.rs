//! Eigenvalues and eigenvectors of a real symmetric tridiagonal matrix by implicit QL with Wilkinson's shifts.
//!
//! Source: Bowdler, Martin, Reinsch, Wilkinson, "The QR and QL algorithms for symmetric matrices" (1968), as LAPACK's `steqr`.
//! `faer` has divide and conquer instead, whose root finder is under another licence (docs/decisions/026).

use crate::rotations::{Basis, Real, Turns, Way, plane, rotate};
use faer::Par;
use ferrotensor_core::Result;
use num_traits::Float;

/// Steps for each eigenvalue before it is given up; two or three are usual.
const MOST_STEPS: usize = 60;

/// Of the matrix with this diagonal and `off[i]` at (i + 1, i), whose last element is not read: the eigenvalues take the
/// diagonal's place, in no order, and the columns of the basis, if there is one, are rotated along.
///
/// Gives up (`None`) where they do not converge.
pub fn diagonalise<R: Real>(
    diagonal: &mut [R],
    off: &mut [R],
    basis: Option<&mut Basis<R>>,
    par: Par,
) -> Result<Option<()>> {
    let n = diagonal.len();
    if let Some(last) = off.last_mut() {
        *last = num_traits::Zero::zero();
    }
    let parts = diagonal.iter().chain(off.iter()).map(|x| Float::abs(*x));
    let norm = parts.fold(<R as num_traits::Zero>::zero(), Float::max);
    let eight = <R as num_traits::NumCast>::from(8).unwrap_or_else(num_traits::One::one);
    // An eighth of what rounding does to the norm: beside zero eigenvalues nothing is small next to its neighbours.
    let negligible = norm * <R as Float>::epsilon() / eight;
    let mut state = Ql { diagonal, off, negligible, first: 0, steps: 0 };
    rotate(n, [basis], par, |[turns]| state.step(turns))
}

/// The matrix on its way: eigenvalues before `first` are found.
struct Ql<'a, R> {
    diagonal: &'a mut [R],
    off: &'a mut [R],
    negligible: R,
    first: usize,
    steps: usize,
}

impl<R: Real> Ql<'_, R> {
    /// One sweep, or `Some(false)` where none is left; `None` where too many were needed.
    fn step(&mut self, turns: &mut Turns<R>) -> Option<bool> {
        let Ql { diagonal, off, negligible, first, steps } = self;
        let (n, (zero, one)) = (diagonal.len(), (<R as num_traits::Zero>::zero(), <R as num_traits::One>::one()));
        let two = one + one;
        let end = loop {
            if *first >= n {
                return Some(false);
            }
            // The block from `first` that no negligible element ends.
            let small = |i: &usize| {
                let size = Float::sqrt(Float::abs(diagonal[*i])) * Float::sqrt(Float::abs(diagonal[*i + 1]));
                Float::abs(off[*i]) <= Float::max(*negligible, <R as Float>::epsilon() * size)
            };
            let end = (*first..n - 1).find(small).unwrap_or(n - 1);
            if end != *first {
                break end;
            }
            (*first, *steps) = (*first + 1, 0);
        };
        let first = *first;
        *steps += 1;
        if *steps > MOST_STEPS {
            return None;
        }
        // The shift: that eigenvalue of the leading 2 x 2 which is nearer to its first element.
        let half = (diagonal[first + 1] - diagonal[first]) / (two * off[first]);
        let root = Float::hypot(half, one);
        let toward = if half < zero { half - root } else { half + root };
        let mut g = diagonal[end] - diagonal[first] + off[first] / toward;
        let (mut s, mut c, mut p) = (one, one, zero);
        turns.sweep(Way::Up, first, end);
        for i in (first..end).rev() {
            let (f, b) = (s * off[i], c * off[i]);
            let r;
            (c, s, r) = plane(g, f);
            off[i + 1] = r;
            if r == zero {
                // The rotation underflowed: the matrix has come apart here.
                diagonal[i + 1] -= p;
                off[end] = zero;
                turns.end();
                return Some(true);
            }
            g = diagonal[i + 1] - p;
            let t = (diagonal[i] - g) * s + two * c * b;
            p = s * t;
            diagonal[i + 1] = g + p;
            g = c * t - b;
            turns.turn(c, s);
        }
        diagonal[first] -= p;
        off[first] = g;
        off[end] = zero;
        Some(true)
    }
}
