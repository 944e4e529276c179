"""Gradients of special functions by mpmath, which differentiates the functions themselves to 60 digits: of some PyTorch has no gradient, of one
no function.

This module draws nothing, and needs no PyTorch: its records are the same by themselves.
"""

import mpmath
import numpy as np

from records import array, call, put

DIGITS = 60


def by_mpmath(fn, xs, n):
    """The partial derivative by the n-th operand, element by element, rounded once."""

    def one(*at):
        with mpmath.workdps(DIGITS):
            at = [mpmath.mpf(x) for x in at]
            return float(mpmath.diff(lambda x: fn(*at[:n], x, *at[n + 1 :]), at[n]))

    return np.vectorize(one, otypes=["float64"])(*xs)


def gradient(name, fn, *xs):
    xs = [np.array(x) for x in xs]
    # Of few digits, and never zero.
    cot = np.resize([1.25, -0.5, 2.0, -1.75, 0.25], xs[0].shape)
    grads = [cot * by_mpmath(fn, xs, n) for n in range(len(xs))]
    for a in [*xs, cot, *grads]:
        array(a)
    call(name, xs, (), ())
    put("cot", array(cot))
    for g in grads:
        put("grad", array(g))


def cases():
    bessel = lambda order: lambda x: mpmath.besseli(order, x)
    decayed = lambda order: lambda x: mpmath.besseli(order, x) * mpmath.exp(-abs(x))
    signed = [-60.0, -8.5, -3.0, -1.0, -0.25, 0.125, 0.5, 1.5, 2.75, 7.75, 9.0, 40.0]
    for order in [0, 1]:
        gradient(f"i{order}", bessel(order), signed)
        gradient(f"i{order}e", decayed(order), signed)
    erfcx = lambda x: mpmath.exp(x * x) * mpmath.erfc(x)
    gradient("erfcx", erfcx, [-5.0, -1.5, -0.25, 0.0, 0.5, 1.0, 3.0, 25.0, 1000.0])
    # Where terms of textbook slopes cancel, or are both infinite in a narrower dtype.
    far = [-5000.0, -600.0, -35.0, -28.0, 29.0, 31.0, 300.0, 2000.0]
    gradient("i1", bessel(1), far[1:-1])
    gradient("i0e", decayed(0), far)
    gradient("i1e", decayed(1), far)
    gradient("erfcx", erfcx, [4.5, 5.5, 9.5, 10.5, 300.0, 12345.0])
    gradient("logNdtr", lambda x: mpmath.log(mpmath.erfc(-x / mpmath.sqrt(2)) / 2), [-30.0, -8.0, -3.0, -1.0, -0.25, 0.0, 0.5, 2.5, 6.0])
    gradient("ndtri", lambda p: mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1), [1e-3, 0.0625, 0.25, 0.5, 0.625, 0.875, 0.9990234375])
    gradient("gamma", mpmath.gamma, [-4.5, -2.25, -0.5, 0.125, 0.5, 1.0, 1.5, 2.0, 3.25, 10.0, 30.5])
    log2 = lambda x: mpmath.log(x) / mpmath.log(2)
    some, other = np.meshgrid([-3.0, -0.5, 0.0, 1.25, 8.0], [-2.0, 0.25, 1.0, 6.5])
    gradient("logaddexp2", lambda a, b: log2(mpmath.mpf(2) ** a + mpmath.mpf(2) ** b), some.ravel(), other.ravel())
