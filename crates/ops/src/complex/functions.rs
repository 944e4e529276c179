//! The functions of one complex number. Where C99 leaves the sign of a part open, so do they.
//!
//! Slopes of other functions are made of some of them, and differentiated again: on an axis too the parts that are chosen move as the
//! function does, and what is chosen by itself is so only where nothing else is a number.

use super::parts::{Complex, Mask, Real};
use ferrotensor_core::scalar::MathFn;
use std::f64::consts::{FRAC_PI_2, LN_2, LOG2_E, LOG10_E};

/// A function that has a complex form.
pub fn of(f: MathFn, z: Complex) -> Complex {
    match f {
        MathFn::Exp => exp(z),
        MathFn::Expm1 => expm1(z),
        MathFn::Log => log(z),
        MathFn::Log1p => log1p(z),
        MathFn::Log2 => log(z).times(z.re.lit(LOG2_E)),
        MathFn::Log10 => log(z).times(z.re.lit(LOG10_E)),
        MathFn::Sinh => sinh(z),
        MathFn::Cosh => cosh(z),
        MathFn::Tanh => tanh(z),
        MathFn::Sin => sinh(z.turned()).turned_back(),
        MathFn::Cos => cosh(z.turned()),
        MathFn::Tan => tanh(z.turned()).turned_back(),
        MathFn::Asin => asin(z),
        MathFn::Acos => acos(z),
        MathFn::Acosh => acosh(z),
        MathFn::Atanh => atanh(z),
        MathFn::Asinh => asin(z.turned()).turned_back(),
        MathFn::Atan => atanh(z.turned()).turned_back(),
        // Their rows take real numbers only.
        _ => unreachable!("{f:?} of a complex number"),
    }
}

/// The number times a power of two, so that `|z| + |x|` does not overflow and a root keeps its bits (squares are the business of
/// hypot); the exponent, an even number and 0 for most; and the square root of what undoes it.
fn scaled<'a>(z: Complex<'a>) -> (Complex<'a>, Real<'a>, Real<'a>) {
    let (top, bottom, up) = z.re.pick((1020, -800, 600), (124, -80, 80));
    let (large, small) = (z.larger().above(2f64.powi(top)), z.larger().below(2f64.powi(bottom)));
    let choose = |down: f64, up: f64, no: f64| large.select(z.re.lit(down), small.select(z.re.lit(up), z.re.lit(no)));
    let by = choose(2f64.powi(-4), 2f64.powi(up), 1.0);
    (z.times(by), choose(-4.0, f64::from(up), 0.0), choose(4.0, 2f64.powi(-up / 2), 1.0))
}

/// Whether squares of the parts would overflow.
fn is_far(z: Complex) -> Mask {
    let limit = 2f64.powi(z.re.pick(500, 60));
    z.re.abs().above(limit) | z.im.abs().above(limit)
}

/// Infinite size at an angle that is none: the size alone decides.
fn is_lost<'a>(size: Real<'a>, angle: Real<'a>) -> Mask<'a> {
    size.is_infinite() & !angle.is_finite()
}

/// The exponent from which `e^x` is taken as `e^(x - limit) e^limit`, which overflows only with the product of both and a sine.
fn limit(x: Real) -> f64 {
    x.pick(512.0, 64.0)
}

/// `e^x` as two factors.
fn growth(x: Real) -> (Real, Real) {
    let (limit, far) = (limit(x), x.above(limit(x)));
    let size = (x - far.select(x.lit(limit), x.lit(0.0))).call(MathFn::Exp);
    (size, far.select(x.lit(limit.exp()), x.lit(1.0)))
}

/// `e^z`.
pub fn exp(z: Complex) -> Complex {
    let (x, y) = (z.re, z.im);
    let ((size, factor), lost) = (growth(x), is_lost(x, y));
    let im = (lost & x.below(0.0)).select(size, size * y.call(MathFn::Sin) * factor);
    let re = lost.select(size, size * y.call(MathFn::Cos) * factor);
    Complex { re, im: (y.is(0.0) & im.is_nan()).select(y, im) }
}

fn expm1(z: Complex) -> Complex {
    let (x, y) = (z.re, z.im);
    let half = (y * 0.5).call(MathFn::Sin);
    let power = exp(z);
    let re = x.call(MathFn::Expm1) * y.call(MathFn::Cos) - half * half * 2.0;
    Complex { re: x.abs().below(1.0).select(re, power.re - 1.0), im: power.im }
}

/// `ln |z|`, where |z| is not about 1.
fn log_far(z: Complex) -> Real {
    let (scaled, power, _) = scaled(z);
    scaled.size().call(MathFn::Log) - power * LN_2
}

/// `ln |z|`.
fn log_size(z: Complex) -> Real {
    let (large, small) = (z.larger(), z.re.abs().min(z.im.abs()));
    // |z|^2 - 1, which may cancel, with what the squares lost.
    let (square, other) = (large * large, small * small);
    let lost = large.fma(large, -square) + small.fma(small, -other);
    let near = ((square - 1.0) + other + lost).call(MathFn::Log1p) * 0.5;
    (large.above(0.5) & large.below(2.0)).select(near, log_far(z))
}

/// The principal natural logarithm.
pub fn log(z: Complex) -> Complex {
    Complex { re: log_size(z), im: z.im.call2(MathFn::Atan2, z.re) }
}

fn log1p(z: Complex) -> Complex {
    let (x, y) = (z.re, z.im);
    let sum = z.plus_one();
    let near = (x * (x + 2.0) + y * y).call(MathFn::Log1p) * 0.5;
    Complex { re: z.larger().below(0.5).select(near, log_size(sum)), im: y.call2(MathFn::Atan2, sum.re) }
}

/// The root in the right half plane.
pub fn sqrt(z: Complex) -> Complex {
    let (scaled, _, back) = scaled(z);
    let (x, y) = (scaled.re, scaled.im);
    let negative = x.below(0.0);
    let long = ((scaled.size() + negative.select(-x, x)) * 0.5).sqrt();
    let short = long.is(0.0).select(y, y / (long + long));
    let re = negative.select(short.copysign(short.lit(1.0)), long);
    let root = Complex { re, im: negative.select(long, short).copysign(y) }.times(back);
    y.is_infinite().choose(Complex { re: y.abs(), im: y }, root)
}

/// Hyperbolic sine and cosine, to be multiplied by a third number.
fn steep<'a>(x: Real<'a>) -> (Real<'a>, Real<'a>, Real<'a>) {
    let (size, factor) = growth(x.abs());
    let (far, half) = (x.abs().above(limit(x)), size * 0.5);
    (far.select(half.copysign(x), x.call(MathFn::Sinh)), far.select(half, x.call(MathFn::Cosh)), factor)
}

fn sinh(z: Complex) -> Complex {
    let (x, y) = (z.re, z.im);
    let (sinh, cosh, factor) = steep(x);
    let re = is_lost(x, y).select(sinh, sinh * y.call(MathFn::Cos) * factor);
    let im = cosh * y.call(MathFn::Sin) * factor;
    // A zero times the cosine of no angle stays one.
    Complex { re: (x.is(0.0) & !y.is_finite()).select(x, re), im: (y.is(0.0) & im.is_nan()).select(y, im) }
}

fn cosh(z: Complex) -> Complex {
    let (x, y) = (z.re, z.im);
    let (sinh, cosh, factor) = steep(x);
    let zero = x.lit(0.0).copysign(x) * y.lit(1.0).copysign(y);
    let im = sinh * y.call(MathFn::Sin) * factor;
    Complex {
        re: is_lost(x, y).select(cosh, cosh * y.call(MathFn::Cos) * factor),
        im: ((y.is(0.0) | x.is(0.0)) & im.is_nan()).select(zero, im),
    }
}

fn tanh(z: Complex) -> Complex {
    let (x, y) = (z.re, z.im);
    let (t, s) = (y.call(MathFn::Tan), x.call(MathFn::Sinh));
    let square = t * t + 1.0;
    let below = square * s * s + 1.0;
    let near = Complex { re: square * x.call(MathFn::Cosh) * s / below, im: t / below };
    // From here on the real part is 1 to the last place, and the products above may overflow.
    let far = x.abs().above(x.pick(20.0, 10.0)) & (y.is_finite() | x.is_infinite());
    let fade = y.call(MathFn::Sin) * y.call(MathFn::Cos) * 4.0 * (x.abs() * -2.0).call(MathFn::Exp);
    let edge = Complex { re: x.lit(1.0).copysign(x), im: is_lost(x, y).select(x.lit(0.0).copysign(y), fade) };
    let w = far.choose(edge, near);
    Complex { re: x.is(0.0).select(x, w.re), im: y.is(0.0).select(y, w.im) }
}

fn asin(z: Complex) -> Complex {
    let (x, y) = (z.re, z.im);
    let (p, q) = (sqrt(z.one_minus()), sqrt(z.plus_one()));
    let near = Complex {
        re: x.call2(MathFn::Atan2, p.re * q.re - p.im * q.im),
        im: (p.re * q.im - p.im * q.re).call(MathFn::Asinh),
    };
    let edge = Complex { re: x.call2(MathFn::Atan2, y.abs()), im: (log_far(z) + LN_2).copysign(y) };
    let w = is_far(z).choose(edge, near);
    Complex { re: x.is(0.0).select(x, w.re), im: y.is(0.0).select(w.im.copysign(y), w.im) }
}

fn acos(z: Complex) -> Complex {
    let (x, y) = (z.re, z.im);
    let (p, q) = (sqrt(z.one_minus()), sqrt(z.plus_one()));
    let near = Complex { re: p.re.call2(MathFn::Atan2, q.re) * 2.0, im: (q.re * p.im - q.im * p.re).call(MathFn::Asinh) };
    let edge = Complex { re: y.abs().call2(MathFn::Atan2, x), im: -(log_far(z) + LN_2).copysign(y) };
    let w = is_far(z).choose(edge, near);
    Complex { re: x.is(0.0).select(x.lit(FRAC_PI_2), w.re), im: y.is(0.0).select(w.im.copysign(-y), w.im) }
}

fn acosh(z: Complex) -> Complex {
    let (x, y) = (z.re, z.im);
    let (p, q) = (sqrt(z.minus_one()), sqrt(z.plus_one()));
    let near = Complex { re: (p.re * q.re + p.im * q.im).call(MathFn::Asinh), im: p.im.call2(MathFn::Atan2, q.re) * 2.0 };
    let edge = Complex { re: log_far(z) + LN_2, im: y.call2(MathFn::Atan2, x) };
    let w = is_far(z).choose(edge, near);
    Complex { im: x.is(0.0).select(x.lit(FRAC_PI_2).copysign(y), w.im), ..w }
}

/// `1 / z`, of parts over the larger one, so that no square overflows.
pub fn reciprocal<'a>(z: Complex<'a>) -> Complex<'a> {
    let (large, infinite) = (z.larger(), z.re.is_infinite() | z.im.is_infinite());
    let (re, im) = (z.re / large, -z.im / large);
    let square = re * re + im * im;
    let over = |part: Real<'a>, sign: Real<'a>| infinite.select(part.lit(0.0).copysign(sign), part / square / large);
    Complex { re: over(re, z.re), im: over(im, -z.im) }
}

fn atanh(z: Complex) -> Complex {
    let (x, y) = (z.re.abs(), z.im);
    let gap = x.lit(1.0) - x;
    let ratio = x * 4.0 / (gap * gap + y * y);
    // Beside the pole the square of y vanishes.
    let pole = x.is(1.0) & y.abs().below(2f64.powi(x.pick(-27, -12)));
    let beside = (y.abs().call(MathFn::Log) - LN_2) * -0.5;
    let re = pole.select(beside, ratio.call(MathFn::Log1p) * 0.25);
    let im = (y + y).call2(MathFn::Atan2, gap * (x + 1.0) - y * y) * 0.5;
    let far = is_far(z);
    let re = x.is(0.0).select(x, far.select(reciprocal(z).re, re)).copysign(z.re);
    Complex { re, im: (far & !y.is_nan() & (!x.is_nan() | y.is_infinite())).select(x.lit(FRAC_PI_2).copysign(y), im) }
}
