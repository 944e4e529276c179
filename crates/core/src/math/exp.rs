//! The exponential, and its parts for the functions built on it.
//!
//! Method: x = n ln 2 + r with |r| <= ln 2 / 2 (Cody and Waite, two fused steps), e^r - 1 = r + r^2 Q(r), scaling by
//! 2^n in two steps so that results round once into the subnormal range. Where a float32 result may err by a little less than a
//! unit, e^r = 1 + r (1 + r Q(r)) does, with one term less ([`short_exp`]).

use super::coefficients::{EXP, EXP_HALVED, EXP_SHORT, LN_2, LOG2_E};
use super::pair::Pair;
use super::real::{Bits, Real};

/// x = n ln 2 + r.
pub(super) struct Reduced<V: Real> {
    /// n as a float.
    pub(super) n: V,
    /// Bits whose low part is n + 2 BIAS.
    bits: V::Bits,
    /// x - n * hi(ln 2), exact.
    rest: V,
}

/// `x`, raised to a number (see [`Real::not_below_lost`]) whose exponential rounds to 0 (e^-104 < 2^-150, e^-746 < 2^-1075); NaN stays.
#[inline(always)]
pub(super) fn not_below_underflow<V: Real>(x: V) -> V {
    x.not_below_lost(V::choose(-104.0, -746.0))
}

/// `x` between bounds outside of which e^x is 0 or infinite (e^89 > 2^128, e^710 > 2^1024); NaN stays.
#[inline(always)]
pub(super) fn clamp<V: Real>(x: V) -> V {
    not_below_underflow(x.at_most(V::choose(89.0, 710.0)))
}

impl<V: Real> Reduced<V> {
    /// For |x| below 1000 or so; NaN gives NaN parts.
    #[inline(always)]
    pub(super) fn new(x: V) -> Self {
        let (n, bits) = x.nearest(x.part(&LOG2_E, 0), 2 * V::BIAS);
        Reduced { n, bits, rest: (-n).fma(x.part(&LN_2, 0), x) }
    }

    /// r.
    #[inline(always)]
    pub(super) fn remainder_alone(&self) -> V {
        (-self.n).fma(self.n.part(&LN_2, 1), self.rest)
    }

    /// r and its rounding error, for an argument x + lo.
    #[inline(always)]
    fn remainder(&self, lo: V) -> (V, V) {
        let r = self.rest + lo;
        (r, (self.rest - r) + lo)
    }

    /// e^r - 1.
    #[inline(always)]
    pub(super) fn expm1(&self) -> Pair<V> {
        // Without r's own error tanh would err by 1.04 units just above ln 2 / 4, where 1 + 2 m cancels.
        self.expm1_of(self.remainder(-self.n * self.n.part(&LN_2, 1)))
    }

    #[inline(always)]
    fn expm1_of(&self, (r, r_lo): (V, V)) -> Pair<V> {
        let (square, tail) = (r * r, r.poly(&EXP));
        let hi = square.fma(tail, r);
        Pair { hi, lo: square.fma(tail, r - hi) + r_lo }
    }

    /// e^r for an argument x + lo.
    #[inline(always)]
    pub(super) fn exp_pair(&self, lo: V) -> Pair<V> {
        let m = self.expm1_of(self.remainder((-self.n).fma(self.n.part(&LN_2, 1), lo)));
        let sum = Pair::fast_sum(m.hi.lit(1.0), m.hi);
        Pair { hi: sum.hi, lo: sum.lo + m.lo }
    }

    /// (e^x - 1) / 4, for e^x from 2^-100 to 2^(BIAS + 2).
    #[inline(always)]
    pub(super) fn quarter_expm1(&self) -> Pair<V> {
        self.expm1().times_power_plus(self.power(2), self.n.lit(-0.25))
    }

    /// 2^(n - down), which must be a normal number.
    #[inline(always)]
    pub(super) fn power(&self, down: u32) -> V {
        let b = self.bits;
        self.n.with_bits(b.wrapping_sub(b.lit((V::BIAS + down) as u64)).shl(b.lit(V::MANTISSA as u64)))
    }

    /// Two factors of 2^n.
    #[inline(always)]
    pub(super) fn half_powers(&self) -> (V, V) {
        half_powers(self.n, self.bits)
    }

    /// e^x: the rounding of r, at most a quarter unit, is the largest error beside the last rounding.
    #[inline(always)]
    pub(super) fn exp(&self) -> V {
        self.scaled(self.remainder_alone(), |lo| lo)
    }

    /// The same with a quarter unit more of error, float32 only.
    #[inline(always)]
    fn exp_short(&self) -> V {
        short_exp(self.remainder_alone()).times_power(self.n, self.half_powers())
    }

    /// e^(x + lo) for an argument with a low part: little more than half a unit of error.
    #[inline(always)]
    pub(super) fn exp_with(&self, lo: V) -> V {
        let (r, r_lo) = self.remainder((-self.n).fma(self.n.part(&LN_2, 1), lo));
        self.scaled(r, |lo| lo + r_lo)
    }

    /// 2^n e^r, where `correct` adds what r lacks to the low part of 1 + r.
    #[inline(always)]
    fn scaled(&self, r: V, correct: impl Fn(V) -> V) -> V {
        let one = r.lit(1.0);
        let sum = one + r;
        let lo = correct((one - sum) + r);
        let halves = self.half_powers();
        (sum + (r * r).fma(r.poly(&EXP), lo)).times_power(self.n, halves)
    }
}

/// Two factors of 2^n, beside `like`, each of about half the exponent: 2^n itself may overflow or be subnormal. The low part of
/// `bits` is n + 2 BIAS.
#[inline(always)]
fn half_powers<V: Real>(like: V, bits: V::Bits) -> (V, V) {
    let half = bits.shr(bits.lit(1));
    let mantissa = half.lit(V::MANTISSA as u64);
    (like.with_bits(half.shl(mantissa)), like.with_bits(bits.wrapping_sub(half).shl(mantissa)))
}

/// e^(-a^2 / 2) = 2^n e^(-(w + lo) / 2), float32 only, for |a| below 20 or so.
pub(super) struct Bell<V: Real> {
    n: V,
    bits: V::Bits,
    /// Exact, at most ln 2 in size.
    w: V,
    /// What w lacks, below 2^-17.
    pub(super) lo: V,
}

impl<V: Real> Bell<V> {
    #[inline(always)]
    pub(super) fn new(a: V) -> Self {
        let square = a * a;
        let (n, bits) = square.nearest(a.lit(-0.5 * LOG2_E.of::<V>()[0]), 2 * V::BIAS);
        let (ln_hi, ln_lo) = (a.lit(2.0 * LN_2.of::<V>()[0]), a.lit(2.0 * LN_2.of::<V>()[1]));
        Bell { n, bits, w: n.fma(ln_hi, square), lo: n.fma(ln_lo, a.fma(a, -square)) }
    }

    /// e^(-(w + lo) / 2).
    #[inline(always)]
    pub(super) fn mantissa(&self) -> Pair<V> {
        let (w, minus_half) = (self.w, self.w.lit(-0.5));
        let hi = w.fma(minus_half, w.lit(1.0));
        let rest = self.lo.fma(minus_half, w.fma(minus_half, w.lit(1.0) - hi));
        let sum = w + self.lo;
        Pair { hi, lo: (sum * sum).fma(sum.horner(&EXP_HALVED), rest) }
    }

    /// `y` 2^n.
    #[inline(always)]
    pub(super) fn scale(&self, y: V) -> V {
        y.times_power(self.n, half_powers(self.n, self.bits))
    }
}

/// e^r for |r| <= ln 2 / 2, float32 only: a quarter unit of error beside the last rounding and what r brings along.
#[inline(always)]
pub(super) fn short_exp<V: Real>(r: V) -> V {
    r.fma(short_slope(r), r.lit(1.0))
}

/// (e^r - 1) / r, likewise.
#[inline(always)]
pub(super) fn short_slope<V: Real>(r: V) -> V {
    r.fma(r.horner(&EXP_SHORT), r.lit(1.0))
}

/// e^x for |x| <= 87 as p + r s with p a power of two: for sums with other numbers, which then round once. One step of reduction
/// brings a relative error of |x| 2^-28, little where the other number is the larger. float32 only.
#[inline(always)]
pub(super) fn rough_exp<V: Real>(x: V) -> (V, V, V) {
    let (n, bits) = x.nearest(x.part(&LOG2_E, 0), V::BIAS);
    let r = (-n).fma(x.part(&LN_2, 0), x);
    let power = x.with_bits(bits.shl(bits.lit(V::MANTISSA as u64)));
    (power, power * r, short_slope(r))
}

impl<V: Real> Pair<V> {
    /// `power * self + (power + c)` with what both sums round off: 2^n e^r - 1 and the like from e^r - 1.
    #[inline(always)]
    pub(super) fn times_power_plus(self, power: V, c: V) -> Self {
        let base = power + c;
        let hi = power.fma(self.hi, base);
        Pair { hi, lo: power.fma(self.lo, power.fma(self.hi, base - hi) + ((power - base) + c)) }
    }
}

/// e^x. exp(-inf) = 0, exp(inf) = inf; overflows to inf, underflows gradually to 0.
#[inline(always)]
pub fn exp<V: Real>(x: V) -> V {
    let reduced = Reduced::new(clamp(x));
    if V::WIDTH == 32 { reduced.exp_short() } else { reduced.exp() }
}

/// 2^x, exact for integers. exp2(-inf) = 0, exp2(inf) = inf; overflows to inf, underflows gradually to 0.
#[inline(always)]
pub fn exp2<V: Real>(x: V) -> V {
    let (low, high) = V::choose((-151.0, 129.0), (-1076.0, 1025.0));
    let x = x.at_most(high).not_below_lost(low);
    let (n, bits) = x.nearest(x.lit(1.0), 2 * V::BIAS);
    // x - n is exact; its product with ln 2 is not.
    let r = Pair::constant(x, &LN_2).scaled(x - n);
    Reduced { n, bits, rest: r.hi }.scaled(r.hi, |lo| lo + r.lo)
}

/// e^x - 1 without cancellation near 0. expm1(+-0) = +-0, expm1(-inf) = -1, expm1(inf) = inf.
#[inline(always)]
pub fn expm1<V: Real>(x: V) -> V {
    // Below, e^x is less than a quarter unit of 1.
    let clamped = x.at_least(V::choose(-18.0, -38.0)).at_most(V::choose(89.5, 710.6));
    let y = Reduced::new(clamped).quarter_expm1().value() * x.lit(4.0);
    V::select(x.abs().lt(x.lit(V::choose(2f64.powi(-26), 2f64.powi(-55)))), x, y)
}
