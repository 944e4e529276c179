"""Special functions that came after the others: Bessel functions, scaled and inverse functions of the normal distribution, gamma, sums of powers
of two. Answers are mpmath's, rounded once, where SciPy loses digits; at special values the limits.

This module draws nothing: its records are the same by themselves.
"""

import math

import mpmath
import numpy as np

from records import FLOATS, case, edges, grid, inf, nan, to_float

ULPS = {"float16": "1", "float32": "1", "float64": "2"}


def rounded(y):
    return float(y) if abs(y) < mpmath.mpf(2) ** 1024 else inf if y > 0 else -inf


def by_mpmath(formula, limit):
    """A formula to 300 bits, or what `limit` says of a number."""

    def one(x):
        known = x if math.isnan(x) else limit(x)
        if known is not None:
            return known
        with mpmath.workprec(300):
            return rounded(formula(mpmath.mpf(x)))

    return np.vectorize(one, otypes=["float64"])


def bessel(order, scaled):
    def formula(x):
        return mpmath.besseli(order, x) * (mpmath.exp(-abs(x)) if scaled else 1)

    def limit(x):
        if order and x == 0:
            return x
        if math.isinf(x):
            return math.copysign(0.0 if scaled else inf, x if order else 1)
        # Beyond, mpmath would add up as many terms.
        if not scaled and abs(x) > 1e4:
            return math.copysign(inf, x if order else 1)
        if scaled and abs(x) > 1e6:
            with mpmath.workprec(300):
                a = mpmath.mpf(abs(x))
                four = 4 * order
                y = (1 - (four - 1) / (8 * a) + (four - 1) * (four - 9) / (128 * a * a)) / mpmath.sqrt(2 * mpmath.pi * a)
                return math.copysign(float(y), x if order else 1)
        return None

    return by_mpmath(formula, limit)


def scaled_error(x):
    if x < 100:
        return mpmath.exp(x * x) * mpmath.erfc(x)
    w = 1 / (x * x)
    return (1 + sum(mpmath.fac2(2 * k - 1) * (-w / 2) ** k for k in range(1, 20))) / (x * mpmath.sqrt(mpmath.pi))


def log_normal(x):
    b = -x / mpmath.sqrt(2)
    if x > 0:
        return mpmath.log1p(-mpmath.erfc(-b) / 2)
    return mpmath.log(mpmath.erfc(b) / 2) if x > -100 else mpmath.log(scaled_error(b) / 2) - b * b


def quantile(p):
    with mpmath.workprec(600):
        q = min(p, 1 - p)
        log = mpmath.log(2 * q)
        b = mpmath.sqrt(-log)
        for _ in range(14):
            e = mpmath.erfc(b)
            b += (mpmath.log(e) - log) * e * mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(b * b)
        return -b * mpmath.sqrt(2) if p < 0.5 else b * mpmath.sqrt(2)


def gamma_limit(x):
    if x == 0:
        return math.copysign(inf, x)
    if math.isinf(x):
        return inf if x > 0 else nan
    if x > 200:
        return inf
    if x < 0 and x == math.floor(x):
        return nan
    return (0.0 if math.floor(x) % 2 == 0 else -0.0) if x < -200 else None


ONE = {
    "gamma": by_mpmath(mpmath.gamma, gamma_limit),
    "i0": bessel(0, False),
    "i0e": bessel(0, True),
    "i1": bessel(1, False),
    "i1e": bessel(1, True),
    "erfcx": by_mpmath(scaled_error, lambda x: inf if x < -30 else 0.0 if x == inf else None),
    "logNdtr": by_mpmath(log_normal, lambda x: -0.0 if x > 60 else -inf if x < -1e160 else None),
    "ndtri": by_mpmath(quantile, lambda p: -inf if p == 0 else inf if p == 1 else 0.0 if p == 0.5 else nan if not 0 < p < 1 else None),
}
WHOLE = {"int32": [-(2**31), -7, -2, -1, 0, 1, 2, 3, 7, 34, 2**31 - 1], "uint8": [0, 1, 2, 3, 7, 34, 200, 255], "bool": [True, False, True]}
# Units of float64: those of the oracle beside the function's.
DOUBLE = {"gamma": "8", "erfcx": "5", "ndtri": "5"}


def added(x, y):
    """log2(2^x + 2^y)."""
    if math.isnan(x) or math.isnan(y):
        return nan
    if math.isinf(x) or math.isinf(y):
        # Of -0 and nothing it is the logarithm of 1.
        return max(x, y) + 0.0
    with mpmath.workprec(300):
        larger, gap = mpmath.mpf(max(x, y)), mpmath.mpf(min(x, y)) - mpmath.mpf(max(x, y))
        return rounded(larger + (mpmath.log1p(mpmath.power(2, gap)) / mpmath.log(2) if gap > -3000 else 0))


# Integers of nine bits and more: on the way through a narrower dtype they lose something.
ODD = [257, -771, 1001, 333, -601, 1643, -12345]


def cases():
    for d in ["int16", "int32"]:
        x = np.array(ODD, d)
        for name in ["i0e", "i1e", "erfcx", "logNdtr"]:
            case(name, [x], ONE[name](x.astype("float64")).astype("float32"), tol="1")
    for d in FLOATS + ["int32", "uint8", "bool"]:
        f = to_float(d)
        x = np.array(WHOLE.get(d, []), d)
        if d in FLOATS:
            x = np.concatenate([edges(d), np.linspace(-1, 1, 23).astype(d), np.linspace(-14, 40, 28).astype(d), np.linspace(0.02, 0.98, 25).astype(d)])
        wide = x.astype(f).astype("float64")
        for name, fn in ONE.items():
            case(name, [x], fn(wide).astype(f), tol=DOUBLE.get(name, ULPS[f]) if f == "float64" else ULPS[f])
    for d in FLOATS:
        a, b = grid(np.concatenate([edges(d)[:-3], np.array([0.25, -1.0, -1.25, 10], d)]))
        # At -1 the logarithm is 0, and terms of 1 cancel near it.
        case("logaddexp2", [a, b], np.vectorize(added)(a.astype("float64"), b.astype("float64")).astype(d), tol="4" if d == "float64" else "1")
