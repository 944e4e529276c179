//! Modified Bessel functions of the first kind, of orders 0 and 1, plain and times e^-|x|.
//!
//! Method: up to 12 the series in a = x^2 / 4, whose terms are all positive (Abramowitz and Stegun, 9.6.10); the first ten, which
//! are the larger ones, in sums of two floats. Above, I(x) = e^x (1 + F(1 / x) / x) / sqrt(2 pi x), where F / x is below 0.04, so that
//! plain floats do for it. What a function lacks or has too much of e^x is a sum of two floats as well: errors are little more than
//! the last rounding.

use super::coefficients::{I0_FAR, I0_HEAD, I0_TAIL, I1_FAR, I1_HEAD, I1_TAIL, TWO_PI};
use super::exp::Reduced;
use super::pair::Pair;
use super::real::{Real, Table};

/// Where the series ends.
const SEAM: f64 = 12.0;

/// The series of `head` and `tail` in a = x^2 / 4, for x from 0 to [`SEAM`].
#[inline(always)]
fn series<V: Real>(x: V, head: &Table, tail: &Table) -> Pair<V> {
    let square = Pair::product(x, x);
    let quarter = x.lit(0.25);
    let a = Pair { hi: square.hi * quarter, lo: square.lo * quarter };
    let mut sum = Pair::of(a.hi.poly(tail));
    // Written out, as the polynomials are (`Real::poly`).
    macro_rules! steps {
        ($($n:literal)*) => {$(
            sum = Pair { hi: x.part(head, 2 * $n), lo: x.part(head, 2 * $n + 1) }.plus(sum.times(a));
        )*};
    }
    steps!(9 8 7 6 5 4 3 2 1 0);
    sum
}

/// e^-x I(x) from [`SEAM`] on, by `far`.
#[inline(always)]
fn scaled_far<V: Real>(x: V, far: &Table) -> Pair<V> {
    let inverse = x.lit(1.0) / x;
    // A sixteenth, so that 2 pi x stays finite: the root is a quarter of what it should be.
    let root = Pair::constant(x, &TWO_PI).scaled(x * x.lit(0.0625)).sqrt();
    let flat = Pair::of(x.lit(0.25)).over(root);
    Pair { hi: flat.hi, lo: flat.hi.fma(inverse * inverse.poly(far), flat.lo) }
}

/// I(|x|) from its two parts; `odd` has the series in x / 2 as a factor.
#[inline(always)]
fn plain<V: Real>(x: V, head: &Table, tail: &Table, far: &Table, odd: bool) -> V {
    let a = x.abs();
    let seam = a.lt(x.lit(SEAM));
    let near = a.at_most(SEAM);
    let near = factored(series(near, head, tail), near, odd).value();
    // From 92 (float32), 714 on it is infinite.
    let large = a.at_least(SEAM).at_most(V::choose(95.0, 716.0));
    let reduced = Reduced::new(large);
    let e = reduced.exp_pair(x.lit(0.0));
    let far = e.times(scaled_far(large, far)).value().times_power(reduced.n, reduced.half_powers());
    V::select(seam, near, far)
}

/// e^-|x| I(|x|), likewise.
#[inline(always)]
fn scaled<V: Real>(x: V, head: &Table, tail: &Table, far: &Table, odd: bool) -> V {
    let a = x.abs();
    let seam = a.lt(x.lit(SEAM));
    let near = a.at_most(SEAM);
    let reduced = Reduced::new(-near);
    let e = reduced.exp_pair(x.lit(0.0)).times(series(near, head, tail));
    // The power first: x / 2 may be subnormal, where it rounds once.
    let power = reduced.power(0);
    let e = factored(Pair { hi: e.hi * power, lo: e.lo * power }, near, odd).value();
    let far = scaled_far(a.at_least(SEAM).at_most(V::choose(f32::MAX as f64, f64::MAX)), far).value();
    let far = V::select(a.eq(x.lit(f64::INFINITY)), x.lit(0.0), far);
    V::select(seam, e, far)
}

/// `sum`, or x / 2 times it.
#[inline(always)]
fn factored<V: Real>(sum: Pair<V>, x: V, odd: bool) -> Pair<V> {
    if odd { sum.scaled(x * x.lit(0.5)) } else { sum }
}

/// I0(x). i0(+-inf) = inf.
#[inline(always)]
pub fn i0<V: Real>(x: V) -> V {
    plain(x, &I0_HEAD, &I0_TAIL, &I0_FAR, false)
}

/// e^-|x| I0(x). i0e(+-inf) = 0.
#[inline(always)]
pub fn i0e<V: Real>(x: V) -> V {
    scaled(x, &I0_HEAD, &I0_TAIL, &I0_FAR, false)
}

/// I1(x). i1(+-0) = +-0, i1(+-inf) = +-inf.
#[inline(always)]
pub fn i1<V: Real>(x: V) -> V {
    plain(x, &I1_HEAD, &I1_TAIL, &I1_FAR, true).flip(x.sign())
}

/// e^-|x| I1(x). i1e(+-0) = +-0, i1e(+-inf) = +-0.
#[inline(always)]
pub fn i1e<V: Real>(x: V) -> V {
    scaled(x, &I1_HEAD, &I1_TAIL, &I1_FAR, true).flip(x.sign())
}
