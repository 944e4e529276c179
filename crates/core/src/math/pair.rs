//! Unevaluated sums of two floats, for the few places where one float's rounding would cost a unit of the result
//! (Dekker, "A floating-point technique for extending the available precision", 1971, with fused products).
//!
//! `hi` is the value to half a unit or so, `lo` what it lacks; `lo` itself is rounded, so a chain of operations keeps a
//! dozen bits more than the float has, not its whole length again.

use super::real::Real;

/// The number `hi + lo`.
#[derive(Clone, Copy)]
pub(super) struct Pair<V> {
    pub(super) hi: V,
    pub(super) lo: V,
}

impl<V: Real> Pair<V> {
    /// The float alone.
    #[inline(always)]
    pub(super) fn of(hi: V) -> Self {
        Pair { hi, lo: hi.lit(0.0) }
    }

    /// a + b exactly, for |a| >= |b| or a = 0.
    #[inline(always)]
    pub(super) fn fast_sum(a: V, b: V) -> Self {
        let hi = a + b;
        Pair { hi, lo: (a - hi) + b }
    }

    /// a + b exactly (Knuth).
    #[inline(always)]
    pub(super) fn sum(a: V, b: V) -> Self {
        let hi = a + b;
        let back = hi - a;
        Pair { hi, lo: (a - (hi - back)) + (b - back) }
    }

    /// a * b exactly, above the subnormal range.
    #[inline(always)]
    pub(super) fn product(a: V, b: V) -> Self {
        let hi = a * b;
        Pair { hi, lo: a.fma(b, -hi) }
    }

    /// The parts of a constant.
    #[inline(always)]
    pub(super) fn constant(like: V, table: &super::real::Table) -> Self {
        Pair { hi: like.part(table, 0), lo: like.part(table, 1) }
    }

    /// The sum, for parts that overlap by a few bits only.
    #[inline(always)]
    pub(super) fn normal(self) -> Self {
        Pair::fast_sum(self.hi, self.lo)
    }

    /// The float nearest to the sum.
    #[inline(always)]
    pub(super) fn value(self) -> V {
        self.hi + self.lo
    }

    #[inline(always)]
    pub(super) fn neg(self) -> Self {
        Pair { hi: -self.hi, lo: -self.lo }
    }

    /// `self + other`; either may be larger.
    #[inline(always)]
    pub(super) fn plus(self, other: Self) -> Self {
        let sum = Pair::sum(self.hi, other.hi);
        Pair { hi: sum.hi, lo: sum.lo + (self.lo + other.lo) }
    }

    /// `self * factor`.
    #[inline(always)]
    pub(super) fn scaled(self, factor: V) -> Self {
        let product = Pair::product(self.hi, factor);
        Pair { hi: product.hi, lo: self.lo.fma(factor, product.lo) }
    }

    /// `self * other`.
    #[inline(always)]
    pub(super) fn times(self, other: Self) -> Self {
        let product = self.scaled(other.hi);
        Pair { hi: product.hi, lo: self.hi.fma(other.lo, product.lo) }
    }

    /// `self / other` before the correction: (quotient, rest, 1 / other).
    #[inline(always)]
    fn division(self, other: Self) -> (V, V, V) {
        let reciprocal = self.hi.lit(1.0) / other.hi;
        let q = self.hi * reciprocal;
        (q, (-q).fma(other.lo, (-q).fma(other.hi, self.hi) + self.lo), reciprocal)
    }

    /// `self / other`: one division, one Newton correction.
    #[inline(always)]
    pub(super) fn over(self, other: Self) -> Self {
        let (q, rest, reciprocal) = self.division(other);
        Pair { hi: q, lo: rest * reciprocal }
    }

    /// `self / other` with about half a unit of error.
    #[inline(always)]
    pub(super) fn quotient(self, other: Self) -> V {
        let (q, rest, reciprocal) = self.division(other);
        rest.fma(reciprocal, q)
    }

    /// The square root; of 0 too.
    #[inline(always)]
    pub(super) fn sqrt(self) -> Self {
        let hi = self.hi.sqrt();
        let rest = (-hi).fma(hi, self.hi) + self.lo;
        // 2^-100 is nothing beside the root of anything but 0 or a subnormal, and there it stands in for a division by 0.
        Pair { hi, lo: rest / (hi + hi + hi.lit(2f64.powi(-100))) }
    }

    /// `mask ? yes : no`.
    #[inline(always)]
    pub(super) fn select(mask: V::Mask, yes: Self, no: Self) -> Self {
        Pair { hi: V::select(mask, yes.hi, no.hi), lo: V::select(mask, yes.lo, no.lo) }
    }
}

/// Both numbers times a power of two that keeps their squares, quotients and sum in range, and the factor that undoes
/// it. Infinities and NaN stay what they are.
#[inline(always)]
pub(super) fn scaled_together<V: Real>(x: V, y: V) -> (V, V, V) {
    let larger = V::select(x.lt(y), y, x);
    let (up, down) = (V::choose(100, 700), V::choose(-66, -600));
    let small = larger.lt(x.lit(V::choose(2f64.powi(-50), 2f64.powi(-400))));
    let large = x.lit(V::choose(2f64.powi(60), 2f64.powi(500))).lt(larger);
    let factor = |up: i32, down: i32| {
        let power = |n: i32| x.lit(2f64.powi(n));
        V::select(small, power(up), V::select(large, power(down), power(0)))
    };
    let scale = factor(up, down);
    (x * scale, y * scale, factor(-up, -down))
}
