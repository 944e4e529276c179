#!/usr/bin/env python3
"""Writes golden/math_f64.csv: inputs and results of the scalar functions in float64, computed with at least 200 bits.

A row is `function,x,y,hi,rest`: y is empty for functions of one argument, hi is the result correctly rounded, and rest
is what is left, in units in the last place of hi. Numbers are C99 hex floats. Special values (infinities, NaN, signed
zeros) are tested separately.

Usage: python3 crates/core/golden/math_f64.py > crates/core/golden/math_f64.csv   (needs mpmath)
"""

import math
import random
from mpmath import mp, mpf

MIN, MAX = 2.0**-1074, float.fromhex("0x1.fffffffffffffp+1023")
random.seed(1)


def rounded(x):
    """x as a float64, rounded once also where it is subnormal."""
    return float(x) if abs(x) >= mpf(2) ** -1022 else math.ldexp(int(mp.nint(x * mpf(2) ** 1074)), -1074)


def row(name, f, x, y=None):
    # 1024 binary digits before the point of a huge argument of sin, 120 for the closest approach to a multiple of pi/2.
    mp.prec = 1400
    exact = f(mpf(x)) if y is None else f(mpf(x), mpf(y))
    if abs(exact) > mpf(MAX):
        return
    hi = rounded(exact)
    rest = float((exact - mpf(hi)) / mpf(math.ulp(hi)))
    print(",".join([name, x.hex(), "" if y is None else y.hex(), hi.hex(), rest.hex()]))


def exponents(low, high, count):
    """Both signs, exponents spread over [low, high]."""
    for _ in range(count):
        yield random.choice((-1, 1)) * random.uniform(1, 2) * 2.0 ** random.randint(low, high)


def uniform(low, high, count):
    return (random.uniform(low, high) for _ in range(count))


def around(*centres):
    """Each centre and its neighbours."""
    for c in centres:
        yield from (math.nextafter(c, -math.inf), c, math.nextafter(c, math.inf))


TINY = [MIN, 3 * MIN, 2.0**-1022, 2.0**-1022 - MIN, 1e-300, 2.0**-54, 2.0**-27, 1e-8, 1e-4]
SIGNED_TINY = TINY + [-x for x in TINY]


def table():
    mp.prec = 200
    half_ln2 = [float(k * mp.log(2) / 2) for k in (-3, -1, 1, 3, 5)]
    for x in [*SIGNED_TINY, *around(*half_ln2, 1.0, -1.0, 709.78, -708.39, -744.0), *uniform(-745, 709, 120),
              *uniform(-1, 1, 80)]:
        row("exp", mp.exp, x)
    for x in [*TINY, MAX, *around(1.0, math.sqrt(0.5), math.sqrt(2), 2.0, 0.5, math.e), *uniform(0.7, 1.42, 100),
              *(abs(x) for x in exponents(-1074, 1022, 120))]:
        row("log", mp.log, x)
    for x in [*SIGNED_TINY, *around(*half_ln2, 1.0, -0.5, 19.06, 18.7), *uniform(-1, 1, 120),
              *uniform(-19.2, 19.2, 120), *exponents(-30, 0, 60)]:
        row("tanh", mp.tanh, x)
    for x in [*SIGNED_TINY, *around(*half_ln2, -708.0, -744.0, 36.7), *uniform(-745, 0, 120), *uniform(-5, 40, 120)]:
        row("sigmoid", lambda x: 1 / (1 + mp.exp(-x)), x)
    # 6381956970095103 * 2^797 is the float64 closest to a multiple of pi / 2 (Muller, Elementary Functions, 11.3.2).
    worst = math.ldexp(6381956970095103, 797)
    quarters = (1, 2, 3, 4, 5, 7, 11, 100, 355, 41721, 41722, 10**6, 10**9, 2**40, 10**22)
    multiples = [float(mpf(k) * mp.pi / 2) for k in quarters]
    for name, f in (("sin", mp.sin), ("cos", mp.cos)):
        for x in [*SIGNED_TINY, *around(worst, -worst, 65536.0, *multiples, *(m / 2 for m in multiples[:8])), MAX, -MAX,
                  *uniform(-10, 10, 120), *uniform(-70000, 70000, 60), *exponents(-20, 1022, 160)]:
            row(name, f, x)
    for x in [*SIGNED_TINY, *around(0.5, 1.0, -1.0, 2.0, 4.0, 5.9), *uniform(-1, 1, 100), *uniform(-6.1, 6.1, 140),
              *exponents(-30, 2, 40)]:
        row("erf", mp.erf, x)
    power = lambda x, y: mp.power(x, y).real
    for x in [*(abs(x) for x in exponents(-1074, 1022, 200)), *TINY, MAX,
              *around(1.0, math.sqrt(0.5), math.sqrt(2), 0.5, 2.0)]:
        log2 = mp.log(mpf(x), 2)
        for y in (random.uniform(-2, 2), float(random.uniform(-1074, 1023.9) / log2) if log2 != 0 else 1e300):
            row("pow", power, x, y)
    for x in uniform(0.99, 1.01, 60):
        row("pow", power, x, float(random.choice((-1, 1)) * random.uniform(600, 709) / mp.log(mpf(x))))
    for _ in range(60):
        row("pow", power, -random.uniform(0.1, 30), float(random.randint(-40, 40)))

    more()


def more():
    """The functions of a few hundred rows each: dense where results are near zero, at seams of the methods, at both ends."""
    wide = lambda low, high: [*SIGNED_TINY, *exponents(low, high, 60)]
    inside = [*SIGNED_TINY, *around(0.5, -0.5, 0.75), *uniform(-1, 1, 120),
              *(s * (1 - 2.0**-k) for k in range(2, 54, 3) for s in (1, -1))]
    ln2 = float(mp.log(2))
    for x in [*SIGNED_TINY, *around(0.5, -0.5, 1.5, 1023.5, -1022.5, -1074.0), *uniform(-1074, 1023, 100), *uniform(-2, 2, 60)]:
        row("exp2", lambda x: mp.power(2, x), x)
    for x in [*wide(-60, 8), *around(ln2 / 2, -ln2 / 2, 1.5 * ln2, -36.7, 709.7), *uniform(-40, 709, 60), *uniform(-2, 2, 100)]:
        row("expm1", mp.expm1, x)
    near_minus_one = [-1 + 2.0**-k for k in range(1, 54, 4)] + [-1 + 3 * 2.0**-k for k in range(3, 54, 4)]
    for x in [*wide(-60, -1), MAX, *around(math.sqrt(0.5) - 1, math.sqrt(2) - 1, 1.0), *near_minus_one,
              *(abs(x) for x in exponents(-2, 1022, 60)), *uniform(-0.9, 3, 100)]:
        if x > -1:
            row("log1p", mp.log1p, x)
    for name, f, powers in (("log2", lambda x: mp.log(x, 2), (2.0, 2.0**-1074, 2.0**1023)),
                            ("log10", mp.log10, (10.0, 1000.0, 1e22))):
        for x in [*TINY, MAX, *around(1.0, *powers, math.sqrt(0.5), math.sqrt(2)), *uniform(0.7, 1.42, 80),
                  *(abs(x) for x in exponents(-1074, 1022, 80))]:
            row(name, f, x)
    worst = math.ldexp(6381956970095103, 797)
    multiples = [float(mpf(k) * mp.pi / 2) for k in (1, 2, 3, 4, 5, 7, 11, 355, 41721, 41722, 10**9, 10**22)]
    for x in [*SIGNED_TINY, *around(worst, 65536.0, *multiples, *(m / 2 for m in multiples[:8])), MAX, *uniform(-10, 10, 100),
              *uniform(-70000, 70000, 40), *exponents(-20, 1022, 120)]:
        row("tan", mp.tan, x)
    for name, f in (("asin", mp.asin), ("acos", mp.acos), ("atanh", mp.atanh)):
        for x in inside:
            row(name, f, x)
    for x in [*wide(-60, 60), MAX, *around(0.5, 1.0, 2.0, -2.0), *uniform(-3, 3, 150)]:
        row("atan", mp.atan, x)
    for name, f in (("sinh", mp.sinh), ("cosh", mp.cosh)):
        for x in [*wide(-30, 5), *around(ln2 / 2, 1.5 * ln2, 710.47), *uniform(-3, 3, 120), *uniform(-710, 710, 60)]:
            row(name, f, x)
    for x in [*wide(-60, 60), MAX, *around(2.0**54), *uniform(-3, 3, 120), *exponents(-5, 1022, 60)]:
        row("asinh", mp.asinh, x)
    for x in [*(1 + 2.0**-k for k in range(1, 53, 2)), MAX, *around(2.0**54), *uniform(1, 4, 120),
              *(abs(x) for x in exponents(1, 1022, 80))]:
        row("acosh", mp.acosh, x)
    for x in [*SIGNED_TINY, MAX, *around(8.0, -27.0, 0.001), *exponents(-1074, 1022, 160)]:
        row("cbrt", lambda x: mp.sign(x) * mp.cbrt(abs(x)), x)
    for x in [*wide(-60, 3), *around(0.75, -0.75, 1.0, 6.0, 26.5), *uniform(-1, 1, 60), *uniform(-6, 27, 120)]:
        row("erfc", mp.erfc, x)
    for x in inside:
        row("erfinv", inverse_error, x)
    zeros = [-2.4570247382208006, -2.7476826467274127, -3.143580888349980, -3.955294284858598, -4.039361839740537]
    for x in [*wide(-60, 60), *around(1.0, 1.5, 2.0, 2.5, 3.0, 6.0, 2.5e305), *around(*zeros), *uniform(0.5, 3, 80),
              *uniform(0, 30, 60), *uniform(-6, 0, 80), *uniform(-200, 0, 30), *(n + 2.0**-k for n in (-1, -3, -40) for k in (5, 20, 40))]:
        if x != math.floor(x) or x > 0:
            row("lgamma", lambda x: mp.log(abs(mp.gamma(x))) if abs(x) < 1000 else mp.loggamma(x).real, x)
    zeros = [1.4616321449683623, -0.5040830082644554, -1.5734984731623904, -2.6107208684441446, -3.635293366436901]
    for x in [*wide(-55, 60), *around(1.0, 2.0, 6.0, 1.46, 1.463), *around(*zeros), *uniform(1.3, 1.6, 40), *uniform(0.1, 30, 80),
              *uniform(-6, 0, 80), *uniform(-200, 0, 30)]:
        if x != math.floor(x) or x > 0:
            row("digamma", lambda x: mp.psi(0, x), x)
    scales = [(a, b) for a in (0, -1074, -1000, -500, 500, 1000) for b in (-60, -25, 0, 1, 30)]
    for e, gap in scales:
        for _ in range(8):
            x = random.choice((-1, 1)) * math.ldexp(random.uniform(1, 2), e)
            y = random.choice((-1, 1)) * math.ldexp(random.uniform(1, 2), max(-1074, min(1022, e + gap)))
            row("atan2", mp.atan2, x, y)
            row("hypot", mp.hypot, x, y)
    for x in [*uniform(-2, 2, 60), *uniform(-800, 700, 60)]:
        for y in (x, x + random.uniform(-40, 40), x - random.uniform(0, 1)):
            row("logaddexp", lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), x, y)
            row("logaddexp2", lambda x, y: mp.log(mp.power(2, x) + mp.power(2, y), 2), x, y)
    for x in [*wide(-60, 3), *around(0.707, -0.707, -1.0, 1.0, -37.5, 8.0), *uniform(-1, 1, 60), *uniform(-38.4, 8, 160)]:
        row("ndtr", lambda x: mp.erfc(-x / mp.sqrt(2)) / 2, x)
        row("gelu", lambda x: x * mp.erfc(-x / mp.sqrt(2)) / 2, x)
    special()


def special():
    """Modified Bessel functions, scaled and inverse functions of the normal distribution, gamma."""
    wide = [*SIGNED_TINY, *exponents(-60, 3, 60)]
    for order, plain, scaled in ((0, "i0", "i0e"), (1, "i1", "i1e")):
        value = lambda x: mp.besseli(order, x)
        for x in [*wide, *around(12.0, -12.0, 1.0, 713.0, 713.98), *uniform(-13, 13, 160), *uniform(-713.9, 713.9, 80)]:
            row(plain, value, x)
            row(scaled, lambda x: mp.exp(-abs(x)) * value(x), x)
        for x in exponents(10, 60, 60):
            row(scaled, lambda x: mp.exp(-abs(x)) * value(x), x)
    for x in [*wide, *around(0.45, -0.45, 1.0, 10.0, 27.0, -26.6), *uniform(-1, 1, 80), *uniform(-26.6, 30, 160), *(2.0**k for k in range(5, 60, 3))]:
        row("erfcx", scaled_error, x)
    for x in [*wide, *around(0.64, -0.64, 1.0, -38.5, 8.0), *uniform(-1, 1, 80), *uniform(-60, 9, 160), *uniform(9, 38, 30),
              *(-(2.0**k) * 1.1 for k in range(5, 60, 3))]:
        row("log_ndtr", log_normal, x)
    inside = [*TINY, *around(0.25, 0.5, 0.75), *uniform(0, 1, 120), *(1 - 2.0**-k for k in range(2, 54, 3)),
              *(abs(x) for x in exponents(-1070, -1, 120))]
    for x in inside:
        row("ndtri", inverse_normal, x)
    for x in [*(s * x for x in (2.0**-1022, 1e-300, 2.0**-61, 2.0**-59, 1e-8) for s in (1, -1)), *range_of(1, 171), *uniform(-6, 7, 160), *uniform(-184, 171.6, 160),
              *around(171.62, -170.5, 6.0, 1.0), *(-n + s * 2.0**-k for n in (1, 3, 40, 170) for k in (5, 20, 40) for s in (1, -1))]:
        row("gamma", mp.gamma, x)


def range_of(first, last):
    return (float(n) for n in range(first, last + 1))


def scaled_error(x):
    """erfcx: mpmath's erfc of a large number costs as many digits as its square has."""
    if x < 100:
        return mp.exp(x * x) * mp.erfc(x)
    w = 1 / (x * x)
    return (1 + mp.fsum(mp.fac2(2 * k - 1) * (-w / 2) ** k for k in range(1, 20))) / (x * mp.sqrt(mp.pi))


def log_normal(x):
    if x > -100:
        return mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2) if x > 0 else mp.log(mp.erfc(-x / mp.sqrt(2)) / 2)
    return mp.log(scaled_error(-x / mp.sqrt(2)) / 2) - x * x / 2


def inverse_normal(p):
    """Newton's method on the logarithm, each step twice the digits."""
    mp.prec = 1200 if p > 0.25 else 300
    if p > 0.5:
        return -inverse_normal(1 - p)
    log = mp.log(2 * p)
    if log == 0:
        return mpf(0)
    b = mp.sqrt(-log) * (mpf("0.9") if log > -1 else 1)
    for _ in range(14):
        e = mp.erfc(b)
        b += (mp.log(e) - log) * e * mp.sqrt(mp.pi) / 2 * mp.exp(b * b)
    return -b * mp.sqrt(2)



def inverse_error(x):
    """erfinv to 300 bits: mpmath's own stops at the working precision for small x and far from it near 1."""
    mp.prec = 300
    y = mpf(float(mp.erfinv(mpf(float(x)))))
    for _ in range(6):
        y -= (mp.erf(y) - x) / (2 / mp.sqrt(mp.pi) * mp.exp(-y * y))
    return y


table()
