//! The gamma function, its logarithm and the derivative of that.
//!
//! Method: below a threshold T the argument is a = j + 1 + d with 0 <= d < 1, and the recurrence gamma(a + 1) = a gamma(a)
//! leads to polynomials of gamma(1 + d); from T on Stirling's series; for negative arguments the reflections gamma(-a)
//! gamma(1 + a) = -pi / sin(pi a) and digamma(-a) = digamma(1 + a) + pi / tan(pi a). Zeros of the polynomials (d = 0 and
//! 1, digamma's root) are factors, logarithms and sums are pairs of floats, so results near the zeros at 1, 2 and 1.46 are
//! as good as elsewhere. The zeros between negative integers have no such factors: there the absolute error is that of
//! the terms, which are larger. gamma itself is the exponential of that logarithm without the logarithms of the recurrence's
//! product and of the reflection's sine, which are factors: whole numbers below T have no error, and factorials that are floats
//! are exact.

use super::coefficients::{
    DIGAMMA, DIGAMMA_0, DIGAMMA_1, DIGAMMA_FAR, DIGAMMA_ROOT, HALF_LN_TWO_PI, HALF_PI, LGAMMA, LGAMMA_0, LGAMMA_1, LN_PI,
    STIRLING,
};
use super::exp::Reduced;
use super::log::log_extended;
use super::pair::Pair;
use super::real::{Real, Table};
use super::trig::Angle;

/// From here on Stirling's series is used.
#[inline(always)]
fn threshold<V: Real>() -> usize {
    V::choose(4, 6)
}

/// Down from a: d, the product of a - i and the sum of 1 / (a - i) times that product, for all integers i with `first` <= i
/// <= a - 1.
#[inline(always)]
fn descend<V: Real>(a: V, first: V) -> (V, Pair<V>, Pair<V>) {
    let (zero, one) = (a.lit(0.0), a.lit(1.0));
    let (mut d, mut product, mut sum) = (a, Pair::of(one), Pair::of(zero));
    for i in 0..threshold::<V>() - 1 {
        let index = a.lit(i as f64);
        let factor = a - index;
        let below = !factor.lt(one);
        d = V::select(below, factor - one, d);
        let taken = below & !index.lt(first);
        let more = sum.scaled(factor).plus(product);
        sum = Pair::select(taken, more, sum);
        product = Pair::select(taken, product.scaled(factor), product);
    }
    (d, product, sum)
}

/// `zeroth` + v `first` + v^2 P(v).
#[inline(always)]
pub(super) fn about_middle<V: Real>(v: V, zeroth: &Table, first: &Table, rest: &Table) -> Pair<V> {
    let (zeroth, first) = (Pair::constant(v, zeroth), Pair::constant(v, first));
    let slope = Pair::fast_sum(first.hi, v * v.poly(rest));
    let bend = Pair { hi: slope.hi, lo: slope.lo + first.lo }.scaled(v);
    let sum = Pair::fast_sum(zeroth.hi, bend.hi);
    Pair { hi: sum.hi, lo: sum.lo + (bend.lo + zeroth.lo) }
}

/// Sine and cosine of pi a, up to one common sign, and whether a is an integer.
#[inline(always)]
fn half_turns<V: Real>(a: V) -> (Pair<V>, Pair<V>, V::Mask) {
    // Larger numbers have no fraction.
    let magic = a.lit((1u64 << V::MANTISSA) as f64);
    let fraction = V::select(a.lt(magic), a - ((a + magic) - magic), a.lit(0.0));
    let (sin, cos) = Angle::half_turns(fraction.abs()).up_to_sign();
    let sign = fraction.sign();
    (Pair { hi: sin.hi.flip(sign), lo: sin.lo.flip(sign) }, cos, fraction.eq(a.lit(0.0)))
}

/// log |gamma(x)|. Infinite at 0, at negative integers and at both infinities; lgamma(1) = lgamma(2) = 0.
#[inline(always)]
pub fn lgamma<V: Real>(x: V) -> V {
    let (zero, half, one, infinity) = (x.lit(0.0), x.lit(0.5), x.lit(1.0), x.lit(f64::INFINITY));
    let a = x.abs();
    // For negative x everything is about 1 + a: one factor more, one half more.
    // Next to 0 the sine would be subnormal, and |gamma| is 1 / |x| on both sides.
    let reflected = x.lt(x.lit(-V::choose(2f64.powi(-30), 2f64.powi(-60))));
    let large = !a.lt(x.lit(threshold::<V>() as f64));
    let (d, product, _) = descend(a, V::select(reflected, zero, one));
    let small = a.lt(one) & !reflected;
    let product = Pair::select(large | small, Pair::of(a), product);
    let log = log_extended(product.hi);
    let log = Pair { hi: log.hi, lo: log.lo + product.lo / product.hi };

    // large: a (log a - 1) -+ log(a) / 2 + log(2 pi) / 2 + S / a, else +-log(product) + d (d - 1) G.
    let factor = V::select(large, a, V::select(small, -one, one));
    let less = Pair::fast_sum(log.hi, -one);
    let main = Pair::select(large, Pair { hi: less.hi, lo: less.lo + log.lo }, log).scaled(factor);
    let near = Pair::fast_sum(-one, d).scaled(d).times(about_middle(d - d.lit(0.5), &LGAMMA_0, &LGAMMA_1, &LGAMMA));
    let inverse = one / a;
    let constant = Pair::constant(x, &HALF_LN_TWO_PI);
    let series = (inverse * inverse).poly(&STIRLING).fma(inverse, constant.lo);
    let far = log.scaled(V::select(reflected, half, -half)).plus(Pair { hi: constant.hi, lo: series });
    let positive = main.plus(Pair::select(large, far, near));

    let (sin, _, integer) = half_turns(a);
    let sin_log = log_extended(sin.hi.abs());
    let turned = Pair::constant(x, &LN_PI).plus(Pair { hi: -sin_log.hi, lo: -(sin_log.lo + sin.lo / sin.hi) });
    let y = Pair::select(reflected, turned.plus(positive.neg()), positive).value();
    // The largest argument whose result is finite lies a little above.
    let overflows = x.lit(V::choose(4.08e36, 2.55e305)).lt(a) & !y.abs().lt(infinity);
    let pole = x.eq(zero) | (reflected & integer);
    let y = V::select(overflows | pole | a.eq(infinity), infinity, y);
    V::select(x.eq(x), y, x)
}

/// The derivative of log gamma(x). digamma(+-0) = -+inf, digamma(inf) = inf, NaN at negative integers and -inf.
#[inline(always)]
pub fn digamma<V: Real>(x: V) -> V {
    let (zero, half, one) = (x.lit(0.0), x.lit(0.5), x.lit(1.0));
    let a = x.abs();
    let reflected = x.lt(zero);
    let large = !a.lt(x.lit(threshold::<V>() as f64));
    let (d, product, sum) = descend(a, V::select(reflected, zero, one));
    let small = a.lt(one) & !reflected;

    // large: log a -+ 1 / (2 a) - S / a^2, else (d - root) G + the recurrence's sum (-1 / a below 1).
    let root = Pair::constant(x, &DIGAMMA_ROOT);
    let factor = Pair::sum(d, -root.hi);
    let factor = Pair { hi: factor.hi, lo: factor.lo - root.lo - x.part(&DIGAMMA_ROOT, 2) };
    let near = factor.normal().times(about_middle(d - d.lit(0.5), &DIGAMMA_0, &DIGAMMA_1, &DIGAMMA));
    let main = Pair::select(large, log_extended(a), near);
    let num = Pair::select(large, Pair::of(V::select(reflected, half, -half)), Pair::select(small, Pair::of(-one), sum));
    let fraction = num.over(Pair::select(large | small, Pair::of(a), product));
    let inverse = one / a;
    let square = inverse * inverse;
    let series = V::select(large, square * square.poly(&DIGAMMA_FAR), zero);
    let positive = main.plus(Pair { hi: fraction.hi, lo: fraction.lo - series });

    let (sin, cos, integer) = half_turns(a);
    let pi = Pair { hi: x.part(&HALF_PI, 0) + x.part(&HALF_PI, 0), lo: x.part(&HALF_PI, 1) + x.part(&HALF_PI, 1) };
    let y = Pair::select(reflected, cos.over(sin).times(pi).plus(positive), positive).value();
    let y = V::select(reflected & integer, x.lit(f64::NAN), y);
    // -1 / x is all there is left, and more than the product can hold.
    let y = V::select(a.lt(x.lit(V::choose(2f64.powi(-30), 2f64.powi(-60)))), -one / x, y);
    let y = V::select(x.eq(x.lit(f64::INFINITY)), x, y);
    V::select(x.eq(x), y, x)
}

/// gamma(x). gamma(+-0) = +-inf, gamma(inf) = inf, NaN at negative integers and -inf.
#[inline(always)]
pub fn gamma<V: Real>(x: V) -> V {
    let (zero, half, one, infinity) = (x.lit(0.0), x.lit(0.5), x.lit(1.0), x.lit(f64::INFINITY));
    // From 35.1 (float32), 171.7 on it is infinite, and from -42.1, -184.1 on it rounds to 0.
    let size = x.abs();
    let a = size.at_most(V::choose(45.0, 190.0));
    let tiny = size.lt(x.lit(V::choose(2f64.powi(-30), 2f64.powi(-60))));
    let reflected = x.lt(zero);
    let large = !a.lt(x.lit(threshold::<V>() as f64));
    let (d, product, _) = descend(a, V::select(reflected, zero, one));
    let small = a.lt(one) & !reflected;

    // The exponent: large: a (log a - 1) -+ log(a) / 2 + log(2 pi) / 2 + S / a, else d (d - 1) G.
    let log = log_extended(a);
    let less = Pair::fast_sum(log.hi, -one);
    let main = Pair { hi: less.hi, lo: less.lo + log.lo }.scaled(a);
    let inverse = one / a;
    let constant = Pair::constant(x, &HALF_LN_TWO_PI);
    let series = (inverse * inverse).poly(&STIRLING).fma(inverse, constant.lo);
    let far = log.scaled(V::select(reflected, half, -half)).plus(Pair { hi: constant.hi, lo: series });
    let near = Pair::fast_sum(-one, d).scaled(d).times(about_middle(d - d.lit(0.5), &LGAMMA_0, &LGAMMA_1, &LGAMMA));
    let exponent = Pair::select(large, main.plus(far), near).normal();
    let exponent = Pair::select(reflected, exponent.neg(), exponent);
    let reduced = Reduced::new(exponent.hi);
    let e = reduced.exp_pair(exponent.lo);

    // Its factor: the recurrence's product, 1 / a, or pi / (sin(pi a) product).
    let (sin, _, integer) = half_turns(size);
    let product = Pair::select(large, Pair::of(one), product);
    let pi = Pair { hi: x.part(&HALF_PI, 0) + x.part(&HALF_PI, 0), lo: x.part(&HALF_PI, 1) + x.part(&HALF_PI, 1) };
    let over = Pair { hi: sin.hi.abs(), lo: sin.lo.flip(sin.hi.sign()) }.times(product);
    let over = Pair::select(reflected, over, Pair::select(small, Pair::of(a), Pair::of(one)));
    let over = Pair::select(reflected & integer, Pair::of(one), over);
    let top = Pair::select(reflected, pi, Pair::select(small, Pair::of(one), product));
    let y = e.times(top.over(over)).value().times_power(reduced.n, reduced.half_powers());

    // gamma is negative where the next integer below is odd.
    let magic = x.lit((1u64 << V::MANTISSA) as f64);
    let nearest = (size + magic) - magic;
    let whole = V::select(size.lt(nearest), nearest - one, nearest);
    let halved = whole * half;
    let even = halved.eq((halved + magic) - magic);
    let y = V::select(reflected & even, -y, y);
    let y = V::select(reflected & integer, x.lit(f64::NAN), y);
    let y = V::select(tiny, one / x, y);
    let y = V::select(x.eq(infinity), x, y);
    V::select(x.eq(x), y, x)
}
