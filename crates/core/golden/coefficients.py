#!/usr/bin/env python3
"""Writes src/math/coefficients.rs: every constant and polynomial of the scalar functions, from 1400-bit arithmetic
(2 / pi for float64 takes 1216 bits).

Polynomials are near-minimax (mpmath's Chebyshev fit, absolute error of the fitted tail on its interval), with as few
terms as bring the error of the whole function below 2^-26 (float32) and 2^-56 (float64). Some of float32 are minimax in the
error of the function itself (Remez), which takes a term less.

Usage: python3 crates/core/golden/coefficients.py > crates/core/src/math/coefficients.rs   (needs mpmath)
"""

from itertools import groupby

from mpmath import (asin, atan, besseli, chebyfit, cos, erf, erfc, erfinv, exp, expm1, fac2, factorial, findroot, floor, log, log1p, loggamma,
                    lu_solve, matrix, mp, mpf, pi, polyval, psi, qr_solve, sqrt, tanh)

mp.prec = 1400
BITS = {"single": 24, "double": 53}


def rounded(value, bits):
    """`value` rounded to `bits` significant bits (none of the constants is subnormal)."""
    with mp.workprec(bits):
        return +value


def literal(value, bits):
    return repr(float(rounded(value, bits)))


def parts(value, bits, count):
    """`value` as an unevaluated sum of `count` floats, each the rounded rest."""
    out = []
    for _ in range(count):
        out.append(rounded(value, bits))
        value -= out[-1]
    return out


def table(name, doc, single, double):
    print(f"\n/// {doc}\npub(super) const {name}: Table = Table {{")
    for precision, values in (("single", single), ("double", double)):
        if not values:
            print(f"    {precision}: &[],")
            continue
        print(f"    {precision}: &[")
        for v in values:
            print(f"        {literal(v, BITS[precision])},")
        print("    ],")
    print("};")


def split(name, doc, value, count):
    table(name, doc, parts(value, 24, count), parts(value, 53, count))


def fits_of(f, interval, terms):
    fits = {"single": [], "double": []}
    with mp.workprec(300):
        for precision, n in terms.items():
            a, b = interval if isinstance(interval, tuple) else interval[precision]
            fits[precision] = list(reversed(chebyfit(f, [a, b], n)))
    return fits


def weighted_of(f, weight, low, high, terms):
    """The polynomial of `terms` terms whose largest error times `weight` is smallest (Remez), 300 points between the ends."""
    with mp.workprec(200):
        points = [(low + high) / 2 - (high - low) / 2 * cos(pi * mpf(k) / 300) for k in range(301)]
        values = [(f(x), weight(x)) for x in points]
        chosen = [k * 300 // terms for k in range(terms + 1)]
        for _ in range(12):
            rows = [[points[k] ** j * values[k][1] for j in range(terms)] + [(-1) ** i] for i, k in enumerate(chosen)]
            *fit, level = lu_solve(matrix(rows), matrix([values[k][0] * values[k][1] for k in chosen]))
            errors = [w * (v - polyval(fit[::-1], x)) for x, (v, w) in zip(points, values)]
            # The largest error between each two changes of sign.
            peaks = [max(run, key=lambda k: abs(errors[k])) for _, run in groupby(range(301), lambda k: errors[k] >= 0)]
            while len(peaks) > terms + 1:
                peaks.remove(min(peaks[0], peaks[-1], key=lambda k: abs(errors[k])))
            if len(peaks) <= terms or max(map(abs, errors)) < abs(level) * mpf("1.0005"):
                break
            chosen = peaks
        return fit


def weighted(name, doc, f, weight, interval, terms):
    """For float32 alone, where the error of the whole function counts instead of the polynomial's."""
    table(name, doc, weighted_of(f, weight, *interval, terms), [])


def fitted(name, doc, f, interval, terms):
    fits = fits_of(f, interval, terms)
    table(name, doc, fits["single"], fits["double"])


def fitted_after(count, name, doc, f, interval, terms):
    """Tables NAME_0, NAME_1, ...: the first `count` terms as hi + lo; and NAME: the rest as a polynomial of its own."""
    fits = fits_of(f, interval, terms)
    for n in range(count):
        term = {precision: parts(fit[n], BITS[precision], 2) if fit else [] for precision, fit in fits.items()}
        table(f"{name}_{n}", f"Term {n} of the polynomial that [`{name}`] continues, as hi + lo.", term["single"], term["double"])
    table(name, doc, fits["single"][count:], fits["double"][count:])


def inside(f, low, high):
    """f, whose removable singularities are at the ends of [low, high]: an end is moved inwards by 1e-25 of the length."""
    shift = (high - low) * mpf(10) ** -25
    return lambda x: f(min(max(x, low + shift), high - shift))


def series(term):
    """The function sum(term(k) * x^k); 70 terms leave less than 2^-200 on the intervals used here."""
    coefficients = [term(k) for k in range(70)]
    return lambda x: sum(c * x**k for k, c in enumerate(coefficients))


def words(width, mantissa, count):
    """2/pi / 2^(mantissa + 1), truncated to `count` words of `width` bits, most significant first."""
    fixed = int(floor(2 / pi * mpf(2) ** (count * width - mantissa - 1)))
    return [(fixed >> (width * (count - 1 - i))) & ((1 << width) - 1) for i in range(count)]


print("""//! Constants and polynomials of the scalar functions. Generated by golden/coefficients.py; do not edit.
//!
//! Polynomials list the constant term first.

use super::real::Table;""")

split("LN_2", "ln 2 as hi + lo.", log(mpf(2)), 2)
split("LOG2_E", "1 / ln 2 as hi + lo.", 1 / log(mpf(2)), 2)
split("LOG10_E", "1 / ln 10 as hi + lo.", 1 / log(mpf(10)), 2)
split("LN_PI", "ln pi as hi + lo.", log(pi), 2)
split("HALF_PI", "pi / 2 as hi + mid + lo.", pi / 2, 3)
split("TWO_OVER_PI", "2 / pi.", 2 / pi, 1)
split("TWO_PI", "2 pi as hi + lo.", 2 * pi, 2)
split("TWO_THIRDS", "2 / 3 as hi + lo.", mpf(2) / 3, 2)
half_ln2 = log(mpf(2)) / 2
fitted("EXP", "Q of e^r = 1 + r + r^2 Q(r), |r| <= ln 2 / 2.",
       series(lambda k: 1 / factorial(k + 2)), (-half_ln2, half_ln2), {"single": 6, "double": 11})
# A little beside 0 in each weight: no equation of the fit may vanish.
short_exp = weighted_of(lambda r: (exp(r) - 1 - r) / (r * r) if abs(r) > mpf(10) ** -20 else mpf(0.5),
                        lambda r: (r * r + mpf("1e-3")) / exp(r), -half_ln2, half_ln2, 5)
table("EXP_SHORT", "Q of e^r = 1 + r + r^2 Q(r), |r| <= ln 2 / 2, as good as e^r needs; float32 only.", short_exp, [])
table("EXP_HALVED", "[`EXP_SHORT`] for e^(-w / 2) = 1 - w / 2 + w^2 Q(w), |w| <= ln 2; float32 only.",
      [q * mpf(-0.5) ** k / 4 for k, q in enumerate(short_exp)], [])
weighted("LOG_SHORT", "R of log(1 + f) = f + f^2 R(f), sqrt(1/2) <= 1 + f <= sqrt(2), as good as a logarithm needs; float32 only.",
         lambda f: (log1p(f) - f) / (f * f) if abs(f) > mpf(10) ** -20 else mpf(-0.5),
         lambda f: (f * f + mpf("3e-3")) / (abs(log1p(f)) + mpf("0.01")), (sqrt(mpf(0.5)) - 1, sqrt(mpf(2)) - 1), 9)
fitted("LOG",
       "P of log(1 + f) = f - f^2 / 2 + f^3 P(f), sqrt(1/2) <= 1 + f <= sqrt(2); float32 only (float64 uses ATANH).",
       series(lambda k: mpf((-1) ** k) / (k + 3)), (sqrt(mpf(0.5)) - 1, sqrt(mpf(2)) - 1), {"single": 9})
widest = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2
fitted("ATANH",
       "T of log((1 + s) / (1 - s)) = 2 s + s z (2/3 + z T(z)), z = s^2, |s| <= (sqrt(2) - 1) / (sqrt(2) + 1).",
       series(lambda k: mpf(2) / (2 * k + 5)), (mpf(0), widest), {"single": 3, "double": 8})
octant = (mpf(0), (pi / 4) ** 2)
fitted("SIN", "S of sin r = r + r^3 S(r^2), |r| <= pi / 4.",
       series(lambda k: (-1) ** (k + 1) / factorial(2 * k + 3)), octant, {"single": 4, "double": 7})
fitted("COS", "C of cos r = 1 - r^2 / 2 + r^4 C(r^2), |r| <= pi / 4.",
       series(lambda k: (-1) ** k / factorial(2 * k + 4)), octant, {"single": 4, "double": 6})
fitted("ERF", "E of erf x = x + x E(x^2), |x| <= 1.",
       series(lambda k: (-1) ** k * 2 / sqrt(pi) / factorial(k) / (2 * k + 1) - (1 if k == 0 else 0)),
       (mpf(0), mpf(1)), {"single": 7, "double": 13})

near_erf = mpf("0.85")
weighted("ERF_NEAR", "E of erf x = x + x E(x^2), |x| <= 0.85; float32 only.",
         lambda z: erf(sqrt(z)) / sqrt(z) - 1 if z > mpf(10) ** -24 else 2 / sqrt(pi) - 1,
         lambda z: sqrt(z) / erf(sqrt(z)) if z else sqrt(pi) / 2, (mpf(0), near_erf**2), 6)
weighted("ERF_LOG", "L of erfc x = e^(-x - x L(x)), from 0.85 to where erf x rounds to 1; float32 only.",
         lambda x: -log(erfc(x)) / x - 1, lambda x: erfc(x) * x, (near_erf, mpf(4)), 6)
weighted("TANH", "T of tanh x = x + x^3 T(x^2), |x| <= 0.9; float32 only.",
         lambda z: (tanh(sqrt(z)) / sqrt(z) - 1) / z if z > mpf(10) ** -20 else -mpf(1) / 3,
         lambda z: (z + mpf("1e-3")) * (sqrt(z) / tanh(sqrt(z)) if z else 1), (mpf(0), mpf("0.81")), 7)


def scaled_erfc(t):
    x = 2 * (1 + t) / (1 - t)
    return exp(x * x) * erfc(x)


def to_t2(x):
    return (mpf(x) - 2) / (mpf(x) + 2)


fitted("ERF_FAR", "G of 1 - erf x = exp(-x^2) G((x - 2) / (x + 2)), from 1 to where erf x rounds to 1; float64 only.",
       scaled_erfc, (to_t2(1), to_t2(6)), {"double": 16})


def bounded_erfc(t):
    x = 3 * (1 + t) / (1 - t)
    return (1 + 2 * x) * exp(x * x) * erfc(x)


def to_t(x):
    return (mpf(x) - 3) / (mpf(x) + 3)


fitted_after(1, "ERFC",
             "K of erfc x = exp(-x^2) / (1 + 2 x) (ERFC_0 + t K(t)), t = (x - 3) / (x + 3), from 0.45 to where erfc x is 0.",
             bounded_erfc, {"single": (to_t(0.45), to_t(10.3)), "double": (to_t(0.45), to_t(27.3))},
             {"single": 10, "double": 22})
split("SQRT_HALF", "sqrt(1/2) as hi + lo.", sqrt(mpf(0.5)), 2)
split("HALF_SQRT_PI", "sqrt(pi) / 2 as hi + lo.", sqrt(pi) / 2, 2)


def rounded_of(f, weight, points, terms):
    """The terms x, x^2, ... of a polynomial for float32, by least squares: each coefficient is rounded before those behind it are
    fitted, which make up for its rounding."""
    fit = []
    for first in range(1, terms + 1):
        rows = [[weight(x) * x**k for k in range(first, terms + 1)] for x in points]
        rest = [weight(x) * (f(x) - sum(c * x ** (k + 1) for k, c in enumerate(fit))) for x in points]
        fit.append(rounded(qr_solve(matrix(rows), matrix(rest))[0][0], 24))
    return fit


def ndtr_tables():
    """(a + c) ndtr(-a) e^(a^2 / 2) = h (1 + v K(v)) with v = (a - k) / (a + d). k and d have few bits, so that a - k is exact from 1
    on; c is the one near 1.03 with which h, the value at k, is a float to 2^-30, in steps of 2^-20, so that a + c - c is exact."""
    k, d, end = mpf("1.9375"), mpf("3.25"), mpf("14.3")
    level = lambda a: exp(a * a / 2) * erfc(a / sqrt(mpf(2))) / 2
    error = lambda c: abs(level(k) * (k + c) / rounded(level(k) * (k + c), 24) - 1)
    c = min((mpf("1.03125") + mpf(j) / 2**20 for j in range(-80, 81)), key=error)
    h = rounded(level(k) * (k + c), 24)
    values, count = {}, 40
    for n in range(count):
        middle, half = (-k / d + (end - k) / (end + d)) / 2, (k / d + (end - k) / (end + d)) / 2
        v = middle - half * cos(pi * (n + mpf(0.5)) / count)
        a = (k + d * v) / (1 - v)
        value = level(a) * (a + c) / h
        # Results below the normal range, from 13.05 on, have fewer digits.
        values[v] = (value - 1, 1 / value / (1 + 20 * max(0, a - mpf("13.05"))))
    table("NDTR_SHAPE", "c, k, d and h of ndtr(-a) = e^(-a^2 / 2) h / (a + c) (1 + v K(v)), v = (a - k) / (a + d); float32 only.",
          [c, k, d, h], [])
    table("NDTR", "K of [`NDTR_SHAPE`], from 0 to where ndtr(-a) is 0; float32 only.",
          rounded_of(lambda v: values[v][0], lambda v: values[v][1], list(values), 10), [])


with mp.workprec(200):
    ndtr_tables()
    share = lambda z: (1 - erfc(sqrt(z / 2))) / 2 / sqrt(z)
    # Up to 0.25^2: four terms err by less than 2^-32 there.
    table("GELU", "(ndtr(x) - 1/2) / x in x^2, for |x| <= 0.25; float32 only.", chebyfit(share, [mpf("1e-30"), mpf("0.0625")], 4)[::-1], [])


def erfinv_over_x(w):
    x = sqrt(-expm1(-w))
    return erfinv(x) / x


def erfinv_over_x_far(s):
    # 1 - x, which x itself would round away.
    rest = exp(-s * s) / (1 + sqrt(-expm1(-s * s)))
    return findroot(lambda y: log(erfc(y)) - log(rest), mpf("0.95") * s) / (1 - rest)


near_end = sqrt(mpf(5))
fitted("ERFINV_NEAR", "I of erfinv x ~ x I(-log(1 - x^2)), to 2^-14 (float32) and 2^-20 (float64), -log(1 - x^2) <= 5.",
       inside(erfinv_over_x, mpf(0), mpf(5)), (mpf(0), mpf(5)), {"single": 5, "double": 8})
fitted("ERFINV_FAR",
       "I of erfinv x ~ x I(sqrt(-log(1 - x^2))) as far as x < 1, to 2^-12 (float32) and 2^-17 (float64).",
       erfinv_over_x_far, {"single": (near_end, mpf("4.1")), "double": (near_end, mpf("6.1"))}, {"single": 5, "double": 10})

fitted("ATAN", "A of atan t = t + t^3 A(t^2), |t| <= 1/2.",
       inside(lambda z: (atan(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3, mpf(0), mpf(0.25)), (mpf(0), mpf(0.25)),
       {"single": 6, "double": 13})
fitted("ASIN", "A of asin t = t + t^3 A(t^2), |t| <= 1/2.",
       inside(lambda z: (asin(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3, mpf(0), mpf(0.25)), (mpf(0), mpf(0.25)),
       {"single": 6, "double": 14})
fitted("CBRT", "R of 1 / cbrt m ~ R(m), sqrt(1/2) <= m <= sqrt(2), to 2^-9 (float32) and 2^-17 (float64).",
       lambda m: m ** (mpf(-1) / 3), (sqrt(mpf(0.5)), sqrt(mpf(2))), {"single": 3, "double": 6})

HALF = mpf(0.5)
fitted_after(2, "LGAMMA", "G of log gamma(1 + d) = d (d - 1) (LGAMMA_0 + v LGAMMA_1 + v^2 G(v)), v = d - 1/2, |v| <= 1/2.",
             inside(lambda v: loggamma(v + 3 * HALF) / ((v + HALF) * (v - HALF)), -HALF, HALF), (-HALF, HALF),
             {"single": 11, "double": 22})
with mp.workprec(400):
    root = findroot(lambda x: psi(0, x), mpf("1.4616"))
split("DIGAMMA_ROOT", "The zero of digamma(1 + d), 0 <= d <= 1, as hi + mid + lo.", root - 1, 3)
fitted_after(2, "DIGAMMA", "G of digamma(1 + d) = (d - root) (DIGAMMA_0 + v DIGAMMA_1 + v^2 G(v)), v = d - 1/2, |v| <= 1/2.",
             lambda v: psi(0, v + 3 * HALF) / (v + 3 * HALF - root), (-HALF, HALF), {"single": 12, "double": 24})


def stirling(z):
    x = 1 / sqrt(z)
    return x * (loggamma(x) - (x - HALF) * log(x) + x - log(2 * pi) / 2)


def digamma_rest(z):
    x = 1 / sqrt(z)
    return x * x * (log(x) - 1 / (2 * x) - psi(0, x))


split("HALF_LN_TWO_PI", "ln(2 pi) / 2 as hi + lo.", log(2 * pi) / 2, 2)
# The functions are not analytic at z = 0; from 1e-20 on they are what is needed.
far = {"single": (mpf("1e-20"), mpf(1) / 16), "double": (mpf("1e-20"), mpf(1) / 36)}
fitted("STIRLING", "S of log gamma(x) = (x - 1/2) log x - x + log(2 pi) / 2 + S(1 / x^2) / x from 4 (float32), 6 (float64) on.",
       stirling, far, {"single": 3, "double": 8})
fitted("DIGAMMA_FAR", "S of digamma(x) = log x - 1 / (2 x) - S(1 / x^2) / x^2 from 4 (float32), 6 (float64) on.",
       digamma_rest, far, {"single": 4, "double": 8})

def bessel_tables(order):
    """In a = (x / 2)^2 I0 and 2 I1 / x are series of positive terms up to 12, of which the first ten are kept to twice the digits;
    above, sqrt(2 pi x) e^-x I is 1 and a little."""
    term = lambda k: mpf(factorial(order)) / (factorial(k) * factorial(k + order))
    first = 10
    head = {bits: [part for k in range(first) for part in parts(term(k), bits, 2)] for bits in (24, 53)}
    table(f"I{order}_HEAD", f"The first terms of {'I0' if order == 0 else '2 I1 / x'} in x^2 / 4, each as hi + lo.", head[24], head[53])
    tail = series(lambda k: term(k + first))
    fitted(f"I{order}_TAIL", f"T of {'I0' if order == 0 else '2 I1 / x'} = the terms of [`I{order}_HEAD`] + a^10 T(a), a = x^2 / 4 <= 36.",
           tail, (mpf(0), mpf(36)), {"single": 6, "double": 12})
    far = lambda u: (sqrt(2 * pi / u) * exp(-1 / u) * besseli(order, 1 / u) - 1) / u
    fitted(f"I{order}_FAR", f"F of sqrt(2 pi x) e^-x I{order}(x) = 1 + F(1 / x) / x from 12 on.",
           far, (mpf("1e-6"), mpf(1) / 12), {"single": 6, "double": 20})


bessel_tables(0)
bessel_tables(1)

split("INV_SQRT_PI", "1 / sqrt(pi) as hi + lo.", 1 / sqrt(pi), 2)
asymptotic = [(-1) ** k * fac2(2 * k - 1) / mpf(2) ** k for k in range(1, 8)]
table("ERFCX_FAR", "S of e^(x^2) erfc x = (1 + w S(w)) / (x sqrt(pi)), w = 1 / x^2, from 10 (float32), 27 (float64) on.",
      asymptotic[:5], asymptotic)


def erfc_inverse_over(t):
    """b / s with erfc b = e^(-s^2), for s = 2 (1 + t) / (1 - t)."""
    s = 2 * (1 + t) / (1 - t)
    start = mpf("0.9") * s if s < 3 else sqrt(s * s - log(s * mpf("1.77")))
    return findroot(lambda b: log(erfc(b)) + s * s, start) / s


fitted_after(2, "LOG_NDTR", "L of log ndtr(x) = LOG_NDTR_0 + v LOG_NDTR_1 + v^2 L(v), v = x - 0.9375, from 0.625 to 1.3125; float32 only.",
             lambda v: log1p(-erfc((v + mpf("0.9375")) / sqrt(mpf(2))) / 2), (mpf("-0.3125"), mpf("0.375")), {"single": 9})
split("SQRT_TWO_PI", "sqrt(2 pi) as hi + lo.", sqrt(2 * pi), 2)
fitted("NDTRI", "N of ndtri(1/2 + y) = sqrt(2 pi) y + y^3 N(y^2), |y| <= 0.3.",
       lambda z: (sqrt(mpf(2)) * erfinv(2 * sqrt(z)) / sqrt(z) - sqrt(2 * pi)) / z, (mpf("1e-20"), mpf("0.09")),
       {"single": 8, "double": 18})
fitted("NDTRI_START",
       "I of b ~ s I((s - 2) / (s + 2)) where erfc b = e^(-s^2), from 0.83 to where that is subnormal, to 2^-11 (float32) and 2^-20.",
       erfc_inverse_over, {"single": (to_t2(0.83), to_t2(10.2)), "double": (to_t2(0.83), to_t2(27.35))}, {"single": 5, "double": 10})

for name, width, mantissa, count in (("TWO_OVER_PI_32", 32, 23, 7), ("TWO_OVER_PI_64", 64, 52, 19)):
    print(f"\n/// 2 / pi / 2^{mantissa + 1} in words of {width} bits, most significant first.")
    print(f"pub(super) const {name}: [u64; {count}] = [")
    for w in words(width, mantissa, count):
        print(f"    0x{w:0{width // 4}x},")
    print("];")
