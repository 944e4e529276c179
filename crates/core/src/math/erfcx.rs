//! The scaled complementary error function, the logarithm of the normal distribution function, and that function's inverse.
//!
//! Method: erfcx x is erfc's own factor of e^(-x^2) from 0.55 (float32), 0.5 (float64) on, the asymptotic series where erfc is 0, and
//! e^(x^2) erfc x below.
//! log_ndtr x = log erfcx(b) - b^2 - log 2 with b = -x / sqrt 2 in the lower tail, the logarithm of
//! half of erfc in the middle, and log(1 - erfc(-b) / 2) in the upper tail. ndtri is an odd
//! polynomial about 1/2, and in the tails one step of Halley's method for b^2 - log erfcx b + log 2 p = 0, which is nearly
//! straight in b, from a start of 11 bits (float32), 20 (float64). All sums and products that count are of pairs of floats.

use super::coefficients::{
    ERF, ERFCX_FAR, HALF_SQRT_PI, INV_SQRT_PI, LN_2, LOG_NDTR, LOG_NDTR_0, LOG_NDTR_1, NDTRI, NDTRI_START, SQRT_HALF,
    SQRT_TWO_PI,
};
use super::erf::{scaled, tail};
use super::exp::Reduced;
use super::gamma::about_middle;
use super::log::{log_extended, log1p_pair};
use super::ndtr::{Halves, halves};
use super::pair::Pair;
use super::real::Real;

/// From here on erfc's kernel for its tail holds; erfcx itself starts with it a little later, where it is better.
const NEAR: f64 = 0.45;

/// erfcx b for b from 0.45 to the largest number, in two parts: up to some end, and from there on 256 times as much.
struct Ends<V: Real> {
    near: Pair<V>,
    far: Pair<V>,
    is_near: V::Mask,
}

/// What undoes the factor of [`Ends`].
const SMALL: f64 = 1.0 / 256.0;

#[inline(always)]
fn scaled_ends<V: Real>(b: V) -> Ends<V> {
    let (one, three) = (b.lit(1.0), b.lit(3.0));
    let end = V::choose(10.0, 27.0);
    let near = scaled(b.at_most(end), one, three);
    let w = one / (b * b);
    // The reciprocal of a 256th of b is a normal number.
    let first = Pair::constant(b, &INV_SQRT_PI).over(Pair::of(b * b.lit(SMALL)));
    let lo = first.hi.fma(w * w.poly(&ERFCX_FAR), first.lo);
    Ends { near, far: Pair::fast_sum(first.hi, lo), is_near: b.lt(b.lit(end)) }
}

/// e^(x^2) erfc x. erfcx(-inf) = inf, erfcx(inf) = 0.
#[inline(always)]
pub fn erfcx<V: Real>(x: V) -> V {
    let (one, two, seam) = (x.lit(1.0), x.lit(2.0), x.lit(V::choose(0.55, 0.5)));
    let a = x.abs();
    // From 9.4 (float32), 26.7 below zero it is infinite.
    let b = a.at_most(V::choose(10.2, 27.2));
    let square = b * b;
    let up = Reduced::new(square);
    let e = up.exp_pair(b.fma(b, -square));
    let rest = Pair::fast_sum(one, -x);
    let near = Pair { hi: rest.hi, lo: (-x).fma(square.poly(&ERF), rest.lo) };
    let (down, bell, ratio) = tail(b.at_least(NEAR));
    let (p, q) = down.half_powers();
    let other = bell.times(ratio);
    let sum = Pair::fast_sum(two, -(other.hi * p * q));
    let far = Pair { hi: sum.hi, lo: (-other.lo).fma(p * q, sum.lo) };
    let share = Pair::select(a.lt(seam), near, far).normal();
    let below = e.times(share).value().times_power(up.n, up.half_powers());
    let Ends { near, far, is_near } = scaled_ends(a.at_least(NEAR).at_most(V::choose(f32::MAX as f64, f64::MAX)));
    // Below the normal numbers it rounds once.
    let above = V::select(is_near, near.value(), far.value() * x.lit(SMALL));
    let above = V::select(x.eq(x.lit(f64::INFINITY)), x.lit(0.0), above);
    V::select(x.lt(seam), below, above)
}

/// log(ndtr x) without cancellation. log_ndtr(-inf) = -inf, log_ndtr(inf) = -0.
#[inline(always)]
pub fn log_ndtr<V: Real>(x: V) -> V {
    // Between, erfc's own kernel errs by 1.01 units of the float32 logarithm.
    let (zero, half, one, seam) = (x.lit(0.0), x.lit(0.5), x.lit(1.0), x.lit(V::choose(0.6, NEAR)));
    // Further below zero the square is all there is.
    let far_below = V::choose(2f64.powi(16), 2f64.powi(36));
    let low = x.at_least(-far_below).at_most(39.0);
    let Pair { hi: b, lo } = Pair::constant(x, &SQRT_HALF).scaled(-low);
    let a = b.abs().at_least(NEAR);
    let Ends { near, far, is_near } = scaled_ends(a);
    let small = x.lit(SMALL);
    let ratio = Pair::select(is_near, near, Pair { hi: far.hi * small, lo: far.lo * small });
    let log = log_extended(ratio.hi);
    // erfcx' = 2 x erfcx - 2 / sqrt pi.
    let slope = (a + a).fma(ratio.hi, x.lit(-2.0 * INV_SQRT_PI.of::<V>()[0]));
    let log = Pair { hi: log.hi, lo: log.lo + slope.fma(lo, ratio.lo) / ratio.hi };
    let square = Pair::product(low, low);
    let ln_2 = Pair::constant(x, &LN_2);
    let below = Pair { hi: square.hi * half, lo: square.lo * half }.plus(ln_2).plus(log.neg()).value();

    let Halves { near, reduced, far, .. } = halves(x);
    let powers = reduced.half_powers();
    let part = |v: V| -((v * half).times_power(reduced.n, powers));
    let tail = Pair { hi: part(far.hi), lo: part(far.lo) };
    let sum = Pair::fast_sum(one, tail.hi);
    let upper = Pair { hi: sum.hi, lo: sum.lo + tail.lo };
    let near = near.normal();
    let share = Pair::select(b.abs().lt(seam), Pair { hi: near.hi * half, lo: near.lo * half }, upper);
    let log = log_extended(share.hi);
    let middle = Pair { hi: log.hi, lo: log.lo + share.lo / share.hi }.value();
    let middle = if V::WIDTH == 32 {
        // What half of erfc rounds off counts for 1.15 units of the logarithm here.
        let between = x.lit(0.625).lt(x) & x.lt(x.lit(1.3125));
        let fitted = about_middle(x - x.lit(0.9375), &LOG_NDTR_0, &LOG_NDTR_1, &LOG_NDTR).value();
        V::select(between, fitted, middle)
    } else {
        middle
    };
    // Where the second term of the logarithm's series no longer counts, the first may lie below the normal numbers.
    let above = V::select(x.lit(V::choose(6.5, 9.5)).lt(x), part(far.value()), log1p_pair(tail, zero));
    let above = V::select(x.lt(x.lit(2.0)), middle, above);
    let y = V::select(b.lt(seam), above, below);
    let y = V::select(x.lt(x.lit(-far_below)), x * half * x, y);
    V::select(x.eq(x), -(y.abs()), x)
}

/// The inverse of ndtr. ndtri(0) = -inf, ndtri(1) = inf, NaN outside of both.
#[inline(always)]
pub fn ndtri<V: Real>(p: V) -> V {
    let (zero, half, one, two) = (p.lit(0.0), p.lit(0.5), p.lit(1.0), p.lit(2.0));
    let upper = half.lt(p);
    let rest = V::select(upper, one - p, p);
    let from_half = Pair::fast_sum(-half, p);
    let y = from_half.hi;
    let z = y * y;
    let main = Pair::constant(p, &SQRT_TWO_PI).times(from_half);
    let middle = main.hi + (y * z).fma(z.poly(&NDTRI), main.lo);

    let log = log_extended(rest + rest);
    let s = (-log.hi).sqrt();
    let b = s * ((s - two) / (s + two)).poly(&NDTRI_START);
    let ratio = scaled(b, one, p.lit(3.0));
    let log_ratio = log_extended(ratio.hi);
    let log_ratio = Pair { hi: log_ratio.hi, lo: log_ratio.lo + ratio.lo / ratio.hi };
    let value = Pair::product(b, b).plus(log_ratio.neg()).plus(log).value();
    let slope = p.lit(1.0 / HALF_SQRT_PI.of::<V>()[0]) / ratio.hi;
    let step = value / slope;
    let step = step / (step * half).fma(b + b - slope, one);
    let root = Pair::constant(p, &SQRT_HALF);
    let size = root.scaled(b);
    let size = (size.hi + root.hi.fma(-step, size.lo)) * two;
    let size = V::select(rest.eq(zero), p.lit(f64::INFINITY), size);
    let outer = V::select(upper, size, -size);
    let y = V::select(rest.lt(p.lit(0.2)), outer, middle);
    V::select(rest.lt(zero), p.lit(f64::NAN), y)
}
