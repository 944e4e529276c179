#!/usr/bin/env python3
"""Writes src/math/coefficients.rs: every constant and polynomial of the scalar functions, from 1400-bit arithmetic
(2 / pi for float64 takes 1216 bits).

Polynomials are near-minimax (mpmath's Chebyshev fit, absolute error of the fitted tail on its interval), with as few
terms as bring the error of the whole function below 2^-26 (float32) and 2^-56 (float64).

Usage: python3 crates/core/golden/coefficients.py > crates/core/src/math/coefficients.rs   (needs mpmath)
"""

from mpmath import chebyfit, erfc, exp, factorial, floor, log, mp, mpf, pi, sqrt

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


def fitted(name, doc, f, interval, terms):
    fits = {}
    for precision, n in terms.items():
        a, b = interval if isinstance(interval, tuple) else interval[precision]
        fits[precision] = list(reversed(chebyfit(f, [a, b], n)))
    table(name, doc, fits.get("single", []), fits.get("double", []))


def series(term):
    """The function sum(term(k) * x^k); 70 terms leave less than 2^-200 on the intervals used here."""
    coefficients = [term(k) for k in range(70)]
    return lambda x: sum(c * x**k for k, c in enumerate(coefficients))


def words(width, mantissa, count):
    """2/pi / 2^(mantissa + 1), truncated to `count` words of `width` bits, most significant first."""
    fixed = int(floor(2 / pi * mpf(2) ** (count * width - mantissa - 1)))
    return [(fixed >> (width * (count - 1 - i))) & ((1 << width) - 1) for i in range(count)]


print("""//! Constants and polynomials of the scalar functions. Written by golden/coefficients.py; do not edit.
//!
//! Polynomials list the constant term first.

use super::real::Table;""")

split("LN_2", "ln 2 as hi + lo.", log(mpf(2)), 2)
split("LOG2_E", "1 / ln 2.", 1 / log(mpf(2)), 1)
split("HALF_PI", "pi / 2 as hi + mid + lo.", pi / 2, 3)
split("TWO_OVER_PI", "2 / pi.", 2 / pi, 1)
split("TWO_PI", "2 pi as hi + lo.", 2 * pi, 2)
split("TWO_THIRDS", "2 / 3 as hi + lo.", mpf(2) / 3, 2)
half_ln2 = log(mpf(2)) / 2
fitted("EXP", "Q of e^r = 1 + r + r^2 Q(r), |r| <= ln 2 / 2.",
       series(lambda k: 1 / factorial(k + 2)), (-half_ln2, half_ln2), {"single": 6, "double": 11})
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


def scaled_erfc(t):
    x = 2 * (1 + t) / (1 - t)
    return exp(x * x) * erfc(x)


def to_t(x):
    return (mpf(x) - 2) / (mpf(x) + 2)


fitted("ERFC", "G of erfc x = exp(-x^2) G((x - 2) / (x + 2)), from 1 to where erf x rounds to 1.",
       scaled_erfc, {"single": (to_t(1), to_t(4)), "double": (to_t(1), to_t(6))}, {"single": 8, "double": 16})

for name, width, mantissa, count in (("TWO_OVER_PI_32", 32, 23, 7), ("TWO_OVER_PI_64", 64, 52, 19)):
    print(f"\n/// 2 / pi / 2^{mantissa + 1} in words of {width} bits, most significant first.")
    print(f"pub(super) const {name}: [u64; {count}] = [")
    for w in words(width, mantissa, count):
        print(f"    0x{w:0{width // 4}x},")
    print("];")
