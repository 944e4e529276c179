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


table()
