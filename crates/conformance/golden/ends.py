"""At the ends of what floats hold: where the way to an answer overflows and the answer does not, and where parts are infinite. Answers are
exact (Python's fractions), rounded once, or NumPy's; where NumPy has NaN, those of C99's annex G."""

import itertools
from fractions import Fraction

import mpmath
import numpy as np

from random_numbers import KEYS, units, words32, words64
from records import FLOATS, NUMBER, case, inf, nan


def rounded(values, d):
    """Fractions as floats: float64 holds what the others do to a double rounding's tie, which none of these meets."""
    return np.array([float(v) for v in values]).astype(d)


def between(x, y, t):
    return Fraction(float(x)) + (Fraction(float(y)) - Fraction(float(x))) * Fraction(float(t))


def midpoints():
    for d in FLOATS:
        most = np.finfo(d).max
        large, other = np.array([most, most * np.array(0.75, d)], d), np.array([-most, most], d)
        middle = rounded([between(large[0], large[1], 0.5)], d)[0]
        for name in ["median", "nanmedian"]:
            case(name, [large], middle, [-1, 0], tol="1")
        for name, whole in [("quantile", 1), ("nanquantile", 1), ("percentile", 100), ("nanpercentile", 100)]:
            for share in [0.25, 0.5, 0.75]:
                q = np.array(share * whole, "float64" if d == "float64" else "float32")
                case(name, [other.copy(), q.astype(d)], rounded([between(-most, most, share)], d)[0], [-1, 0, 0], tol="1~")
            # Methods that count from the start: q n + alpha + q (1 - alpha - beta) - 1 of two elements.
            for m, (alpha, beta) in [(9, (0.5, 0.5)), (10, (0, 0)), (12, (0.375, 0.375))]:
                for share in [0.375, 0.625]:
                    t = Fraction(share) * 2 + Fraction(alpha) + Fraction(share) * (1 - Fraction(alpha) - Fraction(beta)) - 1
                    if d != "float16":
                        case(name, [other.copy(), np.array(share * whole, d)], rounded([between(-most, most, t)], d)[0], [-1, 0, m], tol="8")
            case(name, [large, np.array(0.5 * whole, d)], middle, [-1, 0, 3], tol="1")
        weights = np.array([0, 0.25, 0.5, 0.625, 1], d)
        low, high = np.full(5, -most, d), np.full(5, most, d)
        case("lerp", [low, high, weights], rounded([between(-most, most, w) for w in weights], d), tol="1~")
        case("trapezoid", [large, None], middle, [-1], [1.0], tol="1")
        xp, fp = np.array([-most, most], d), np.array([most, -most], d)
        x = np.array([-most, -most / 2, most / 4, most], d)
        exact = [Fraction(float(-v)) for v in x]
        case("interp", [x, xp, fp, None, None], rounded(exact, d), tol="2")
        # The slope overflows alone.
        close = np.array([0, np.finfo(d).tiny], d)
        case("interp", [close[1:] / 2, close, np.array([1, most], d), None, None], rounded([between(1, most, 0.5)], d), tol="2")


def smallest():
    """Halves of the smallest numbers are not floats: what goes by halves is only what would overflow."""
    for d in FLOATS:
        least, most = np.finfo(d).smallest_subnormal, np.finfo(d).max
        odd, none = np.array([least, 3 * least], d), np.array(0, d)
        for name in ["median", "nanmedian"]:
            case(name, [odd[:1].repeat(2)], odd[0], [-1, 0])
            case(name, [np.array([-most, -most], d)], np.array(-most, d), [-1, 0])
        case("trapezoid", [odd[:1].repeat(2), None], odd[0], [-1], [1.0])
        case("lerp", [odd[:1], odd[1:], np.ones(1, d)], odd[1:])
        case("lerp", [none, np.array([-1, 0.5], d), np.array([-most, most], d)], np.array([most, most / 2], d))
        between_both = np.array([least, 2 * least, 3 * least], d)
        case("interp", [np.array([0, 0.5, 1], d), np.array([0, 1], d), odd, None, None], between_both)
        if d == "float16":
            continue
        for name, whole in [("quantile", 1), ("nanquantile", 1), ("percentile", 100), ("nanpercentile", 100)]:
            for m in [0, 9]:
                case(name, [odd, np.array(0.5 * whole, d)], between_both[1], [-1, 0, m])
        # Of more samples, from the nearer one.
        for n in [3, 5]:
            xp = np.array([-most, *(most / 2 * (1 + i / n) for i in range(n - 1))], d)
            fp = np.array([most, -most / 2, *np.arange(n - 2)], d)
            x = np.array([-most / 2, most / 4], d)
            exact = [between(most, -most / 2, (Fraction(float(v)) + Fraction(float(most))) / (Fraction(float(xp[1])) + Fraction(float(most)))) for v in x]
            case("interp", [x, xp, fp, None, None], rounded(exact, d), tol="2")
    # From the nearer end: the other way loses the small one.
    x = np.array([2.5, 2**24], "float32")
    for name, whole in [("quantile", 1), ("nanquantile", 1), ("percentile", 100), ("nanpercentile", 100)]:
        case(name, [np.array([1, 16777209], "int32"), np.array(0.5625 * whole, "float32")], np.array(9437180, "float32"), [-1, 0, 0])
        for m in [0, 9]:
            case(name, [x, np.array((0.625 if m == 0 else 0.5625) * whole, "float32")], np.array(10485761, "float32"), [-1, 0, m])
    for c in ["complex64", "complex128"]:
        case("lerp", [np.array([1], c), np.array([1e-20], c), np.ones(1, c)], np.array([1e-20], c))
    for d, words, bits in [("float32", words32, 24), ("float64", words64, 53)]:
        least = float(np.finfo(d).smallest_subnormal)
        u = np.array(units(words(KEYS[0], 9), bits), d)
        case("random.uniform", [KEYS[0]], u * np.array(7 * least, d), [1, 9, NUMBER[d]], [0, 7 * least])
    case("linspace", [], np.array([1, 2, 3]) * 5e-324, [3, NUMBER["float64"], 0, 1], [5e-324, 15e-324])


def lines():
    ends = [-1.5e308, 1.5e308]
    for n in [3, 5]:
        y = [between(*ends, Fraction(i, n - 1)) for i in range(n)]
        case("linspace", [], rounded(y, "float64"), [n, NUMBER["float64"], 0, 1], ends, tol="1~")
    case("logspace", [], np.array([0, 1, np.inf]), [3, NUMBER["float64"], 0, 1], [*ends, 10.0])
    case("linspace", [], rounded([between(*ends, Fraction(i, 4)) for i in range(4)], "float64"), [4, NUMBER["float64"], 0, 0], ends, tol="1~")


def draws():
    for d, words, bits, most in [("float32", words32, 24, 3e38), ("float64", words64, 53, 1.5e308)]:
        for key in KEYS[:2]:
            # By halves, whose difference does not overflow.
            u, (low, high) = np.array(units(words(key, 9), bits), d), np.array([-most / 2, most / 2], d)
            case("random.uniform", [key], (low + u * (high - low)) * np.array(2, d), [1, 9, NUMBER[d]], [-most, most])


def parts(*values):
    return [complex(a, b) for a in values for b in values]


def by_annex_g(z, w):
    """The quotient as in C99, annex G.5.1, without its scaling: by an infinite number, or of one."""
    a, b, c, d = z.real, z.imag, w.real, w.imag
    norm = c * c + d * d
    x, y = (a * c + b * d) / norm, (b * c - a * d) / norm
    if np.isnan(x) and np.isnan(y):
        side = lambda v: np.copysign(1.0 if np.isinf(v) else 0.0, v)
        if (np.isinf(a) or np.isinf(b)) and np.isfinite(c) and np.isfinite(d):
            a, b = side(a), side(b)
            x, y = inf * (a * c + b * d), inf * (b * c - a * d)
        elif (np.isinf(c) or np.isinf(d)) and np.isfinite(a) and np.isfinite(b):
            c, d = side(c), side(d)
            x, y = 0.0 * (a * c + b * d), 0.0 * (b * c - a * d)
    return complex(x, y)


def quotients():
    """By zero as NumPy has them, and of or by infinite numbers."""
    values = parts(0.0, -0.0, 1.0, -2.5, inf, -inf, nan)
    for d in ["complex64", "complex128"]:
        pairs, answers = [], []
        for z, w in itertools.product(values, values):
            at_end = w == 0 or np.isinf(z) or np.isinf(w)
            if not at_end:
                continue
            answer, other = complex(np.complex128(z) / np.complex128(w)), by_annex_g(*np.array([z, w], "complex128"))
            # Zeros have the signs of C99.
            if w != 0 and (np.isnan(answer) or answer == 0):
                answer = other
            pairs.append((z, w))
            answers.append(answer)
        z, w = (np.array(side, d) for side in zip(*pairs))
        case("divide", [z, w], np.array(answers, d))
        of_one = [(w, y) for (z, w), y in zip(pairs, answers) if str(z) == str(complex(1, 0))]
        case("reciprocal", [np.array([w for w, _ in of_one], d)], np.array([y for _, y in of_one], d))


def directions():
    for d, large in [("complex64", 3.3e38), ("complex128", 1.75e308)]:
        z = np.array(parts(0.0, 1.0, -2.0, inf, -inf, nan), d)
        case("sign", [z], np.where(np.isnan(z), complex(nan, nan), np.sign(z)).astype(d), tol="1")
        for z in [complex(large, large), complex(-large, large * 0.46), complex(large * 0.46, -large)]:
            with mpmath.workprec(200):
                w = mpmath.mpc(*np.array([z], d).view(np.array([z], d).real.dtype).astype("float64"))
                y = complex(w / abs(w))
            case("sign", [np.array([z], d)], np.array([y], d), tol="2")


def halfway_to_infinity():
    """From the nearer end, as PyTorch goes: of an infinite one there is no way back."""
    for c, d in [("complex64", "float32"), ("complex128", "float64")]:
        half = np.array(0.5, d)
        weights = np.array([np.nextafter(half, np.array(0, d)), half])
        x, answers = np.full(2, 7 + 4j, c), np.array([complex(inf, nan), complex(nan, nan)], c)
        case("lerp", [x, np.full(2, inf, c), weights], answers)
        case("lerp", [x, np.full(2, inf, d), weights], answers)
        case("lerp", [np.full(2, -inf, c), np.full(2, 1.5, d), weights], np.array([complex(nan, nan), complex(-inf, nan)], c))


def samples_without_end():
    """NumPy's lines beside infinite samples and points: from the second sample where there is none from the first."""
    at = np.array([-inf, -1.0, 0.0, 0.25, 1.0, 1.5, 2.0, 3.0, inf, nan])
    for d in ["float32", "float64"]:
        for xp in [[0.0, 1.0], [-inf, inf], [0.0, 1.0, 2.0], [-inf, 0.0, 1.0], [0.0, 1.0, inf]]:
            every = list(itertools.product([-inf, -1.0, 0.0, 2.0, inf, nan], repeat=len(xp)))
            for fp in every[:: 1 if len(xp) == 2 or xp[-1] == inf else 7]:
                case("interp", [at.astype(d), np.array(xp, d), np.array(fp, d), None, None], np.interp(at, xp, fp).astype(d), tol="1")


def lines_between():
    """Bits of what nothing overflows in."""
    rng = np.random.default_rng(5)
    xp, fp, x = np.sort(rng.normal(size=9)), rng.normal(size=9), rng.normal(size=40)
    case("interp", [x, xp, fp, None, None], np.interp(x, xp, fp))


def cases():
    lines_between()
    midpoints()
    smallest()
    lines()
    draws()
    quotients()
    directions()
    halfway_to_infinity()
    samples_without_end()
