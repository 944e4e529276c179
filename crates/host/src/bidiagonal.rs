//! Singular values and vectors of a real upper bidiagonal matrix by implicit QR, with and without shifts.
//!
//! Source: Demmel and Kahan, "Accurate singular values of bidiagonal matrices" (1990), as LAPACK's `bdsqr`: values are accurate
//! relative to their own size. `faer` has divide and conquer instead, under another licence (docs/decisions/026).

use crate::rotations::{Basis, Real, Turns, Way, plane, rotate};
use faer::Par;
use ferrotensor_core::Result;
use num_traits::{Float, NumCast};

/// Sweeps for each value before it is given up, on average; two are usual.
const MOST_SWEEPS: usize = 60;

/// Of the matrix with this diagonal and `above[i]` at (i, i + 1), whose last element is not read: the singular values, in no
/// order and of any sign, take the diagonal's place, and the columns of the left and the right basis, if there are some, are
/// rotated along.
///
/// Gives up (`None`) where they do not converge.
pub fn diagonalise<R: Real>(
    diagonal: &mut [R],
    above: &mut [R],
    bases: [Option<&mut Basis<R>>; 2],
    par: Par,
) -> Result<Option<()>> {
    let n = diagonal.len();
    let Some(mut state) = Bidiagonal::new(diagonal, above) else { return Ok(Some(())) };
    rotate(n, bases, par, |[left, right]| state.step(left, right))
}

/// The matrix on its way: the values behind `last` are found.
struct Bidiagonal<'a, R> {
    d: &'a mut [R],
    e: &'a mut [R],
    /// What counts as zero beside a neighbour of size 1.
    tolerance: R,
    /// What counts as zero in this matrix.
    negligible: R,
    last: usize,
    /// The block of the sweep before and its direction, which only another block may change.
    block: Option<(usize, usize, Way)>,
    sweeps_left: usize,
}

impl<'a, R: Real> Bidiagonal<'a, R> {
    /// `None` for a matrix without elements or with numbers that the type cannot hold.
    fn new(d: &'a mut [R], e: &'a mut [R]) -> Option<Self> {
        let n = d.len();
        let eps = <R as Float>::epsilon();
        let tolerance = eps * <R as NumCast>::from(10)?;
        // A lower bound of the least singular value, times the square root of n.
        let mut mu = Float::abs(*d.first()?);
        let mut least = mu;
        for i in 1..n {
            if least.is_zero() {
                break;
            }
            mu = Float::abs(d[i]) * (mu / (mu + Float::abs(e[i - 1])));
            least = Float::min(least, mu);
        }
        let size = <R as NumCast>::from(n)?;
        let underflow = <R as Float>::min_positive_value() * size * size * <R as NumCast>::from(MOST_SWEEPS)?;
        let negligible = Float::max(tolerance * least / Float::sqrt(size), underflow);
        Some(Self { d, e, tolerance, negligible, last: n - 1, block: None, sweeps_left: MOST_SWEEPS * n })
    }

    /// One sweep, or `Some(false)` where none is left; `None` where too many were needed.
    fn step(&mut self, left: &mut Turns<R>, right: &mut Turns<R>) -> Option<bool> {
        let (first, last, way, least) = loop {
            while self.last > 0 && Float::abs(self.e[self.last - 1]) <= self.negligible {
                self.e[self.last - 1] = num_traits::Zero::zero();
                self.last -= 1;
            }
            if self.last == 0 {
                return Some(false);
            }
            let last = self.last;
            let first = (0..last).rev().find(|&i| Float::abs(self.e[i]) <= self.negligible).map_or(0, |i| i + 1);
            let way = match self.block {
                Some((f, l, way)) if first <= l && f <= last => way,
                _ if Float::abs(self.d[first]) >= Float::abs(self.d[last]) => Way::Down,
                _ => Way::Up,
            };
            self.block = Some((first, last, way));
            if let Some(least) = self.split(first, last, way) {
                break (first, last, way, least);
            }
        };
        self.sweeps_left = self.sweeps_left.checked_sub(1)?;
        let shift = self.shift(first, last, way, least)?;
        left.sweep(way, first, last);
        right.sweep(way, first, last);
        match (way, shift.is_zero()) {
            (Way::Down, true) => self.down(first, last, left, right),
            (Way::Up, true) => self.up(first, last, left, right),
            (Way::Down, false) => self.shifted_down(shift, first, last, left, right),
            (Way::Up, false) => self.shifted_up(shift, first, last, left, right),
        }
        let end = if way == Way::Down { last - 1 } else { first };
        if Float::abs(self.e[end]) <= self.negligible {
            self.e[end] = num_traits::Zero::zero();
        }
        Some(true)
    }

    /// Drops an element above the diagonal that changes no value by more than rounding does; without one, a lower bound of the
    /// block's least value.
    fn split(&mut self, first: usize, last: usize, way: Way) -> Option<R> {
        let (d, e, zero) = (&*self.d, &mut *self.e, num_traits::Zero::zero());
        let (end, corner) = if way == Way::Down { (last - 1, last) } else { (first, first) };
        if Float::abs(e[end]) <= self.tolerance * Float::abs(d[corner]) {
            e[end] = zero;
            return None;
        }
        let mut mu = Float::abs(d[if way == Way::Down { first } else { last }]);
        let mut least = mu;
        for step in first..last {
            let (i, next) =
                if way == Way::Down { (step, step + 1) } else { (first + last - 1 - step, first + last - 1 - step) };
            let size = Float::abs(e[i]);
            if size <= self.tolerance * mu {
                e[i] = zero;
                return None;
            }
            mu = Float::abs(d[next]) * (mu / (mu + size));
            least = Float::min(least, mu);
        }
        Some(least)
    }

    /// The least singular value of the 2 x 2 where the sweep ends; zero where a shift would cost small values their digits.
    fn shift(&self, first: usize, last: usize, way: Way, least: R) -> Option<R> {
        let (d, e, eps) = (&*self.d, &*self.e, <R as Float>::epsilon());
        let zero = num_traits::Zero::zero();
        let largest =
            (first..last).fold(Float::abs(d[last]), |x, i| Float::max(x, Float::max(Float::abs(d[i]), Float::abs(e[i]))));
        let n = <R as NumCast>::from(d.len())?;
        let hundredth = self.tolerance / <R as NumCast>::from(100)?;
        if n * self.tolerance * (least / largest) <= Float::max(eps, hundredth) {
            return Some(zero);
        }
        let (start, shift) = match way {
            Way::Down => (first, least_of_two(d[last - 1], e[last - 1], d[last])?),
            Way::Up => (last, least_of_two(d[first], e[first], d[first + 1])?),
        };
        let ratio = shift / Float::abs(d[start]);
        Some(if ratio * ratio < eps { zero } else { shift })
    }

    fn down(&mut self, first: usize, last: usize, left: &mut Turns<R>, right: &mut Turns<R>) {
        let (d, e) = (&mut *self.d, &mut *self.e);
        let (mut c, mut old_c, mut old_s) = (num_traits::one::<R>(), num_traits::one::<R>(), num_traits::zero::<R>());
        for i in first..last {
            let (s, r);
            (c, s, r) = plane(d[i] * c, e[i]);
            if i > first {
                e[i - 1] = old_s * r;
            }
            (old_c, old_s, d[i]) = plane(old_c * r, d[i + 1] * s);
            right.turn(c, s);
            left.turn(old_c, old_s);
        }
        let h = d[last] * c;
        (d[last], e[last - 1]) = (h * old_c, h * old_s);
    }

    fn up(&mut self, first: usize, last: usize, left: &mut Turns<R>, right: &mut Turns<R>) {
        let (d, e) = (&mut *self.d, &mut *self.e);
        let (mut c, mut old_c, mut old_s) = (num_traits::one::<R>(), num_traits::one::<R>(), num_traits::zero::<R>());
        for i in (first + 1..=last).rev() {
            let (s, r);
            (c, s, r) = plane(d[i] * c, e[i - 1]);
            if i < last {
                e[i] = old_s * r;
            }
            (old_c, old_s, d[i]) = plane(old_c * r, d[i - 1] * s);
            left.turn(c, s);
            right.turn(old_c, old_s);
        }
        let h = d[first] * c;
        (d[first], e[first]) = (h * old_c, h * old_s);
    }

    fn shifted_down(&mut self, shift: R, first: usize, last: usize, left: &mut Turns<R>, right: &mut Turns<R>) {
        let (d, e) = (&mut *self.d, &mut *self.e);
        let mut f = bulge(d[first], shift);
        let mut g = e[first];
        for i in first..last {
            let (c, s, r) = plane(f, g);
            if i > first {
                e[i - 1] = r;
            }
            f = c * d[i] + s * e[i];
            e[i] = c * e[i] - s * d[i];
            g = s * d[i + 1];
            d[i + 1] = c * d[i + 1];
            right.turn(c, s);
            let (c, s, r) = plane(f, g);
            d[i] = r;
            f = c * e[i] + s * d[i + 1];
            d[i + 1] = c * d[i + 1] - s * e[i];
            if i + 1 < last {
                g = s * e[i + 1];
                e[i + 1] = c * e[i + 1];
            }
            left.turn(c, s);
        }
        e[last - 1] = f;
    }

    fn shifted_up(&mut self, shift: R, first: usize, last: usize, left: &mut Turns<R>, right: &mut Turns<R>) {
        let (d, e) = (&mut *self.d, &mut *self.e);
        let mut f = bulge(d[last], shift);
        let mut g = e[last - 1];
        for i in (first + 1..=last).rev() {
            let (c, s, r) = plane(f, g);
            if i < last {
                e[i] = r;
            }
            f = c * d[i] + s * e[i - 1];
            e[i - 1] = c * e[i - 1] - s * d[i];
            g = s * d[i - 1];
            d[i - 1] = c * d[i - 1];
            left.turn(c, s);
            let (c, s, r) = plane(f, g);
            d[i] = r;
            f = c * e[i - 1] + s * d[i - 1];
            d[i - 1] = c * d[i - 1] - s * e[i - 1];
            if i > first + 1 {
                g = s * e[i - 2];
                e[i - 2] = c * e[i - 2];
            }
            right.turn(c, s);
        }
        e[first] = f;
    }
}

/// (d^2 - shift^2) / d without squares: what the first rotation of a sweep turns against the element beside d.
fn bulge<R: Real>(d: R, shift: R) -> R {
    (Float::abs(d) - shift) * (Float::copysign(num_traits::one::<R>(), d) + shift / d)
}

/// The least singular value of ((f, g), (0, h)), to the last digits.
fn least_of_two<R: Real>(f: R, g: R, h: R) -> Option<R> {
    let (f, g, h) = (Float::abs(f), Float::abs(g), Float::abs(h));
    let (one, two) = (num_traits::one::<R>(), <R as NumCast>::from(2)?);
    let (small, large) = (Float::min(f, h), Float::max(f, h));
    if small.is_zero() {
        return Some(small);
    }
    let (sum, gap) = (one + small / large, (large - small) / large);
    let root = |x: R, a: R| Float::sqrt(x * x + a);
    if g < large {
        let au = (g / large) * (g / large);
        return Some(small * (two / (root(sum, au) + root(gap, au))));
    }
    let au = large / g;
    if au.is_zero() {
        return Some(small * large / g);
    }
    let c = one / (root(sum * au, one) + root(gap * au, one));
    Some(two * (small * c) * au)
}
