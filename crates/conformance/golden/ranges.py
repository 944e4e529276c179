"""Where the way to an answer overflows and the answer does not, where a call has nothing to do, and what a draw must be made of. Answers
are exact (Python's fractions), rounded once."""

from fractions import Fraction

import mpmath
import numpy as np

from random_numbers import KEYS, units, words32, words64
from records import FLOATS, NUMBER, case, nan, out_of_range


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


def nothing_to_do():
    for d in ["float32", "int32"]:
        x, more = np.array([[1, 4], [9, 16]], d), np.array([[7], [8]], d)
        case("diff", [x, more, more], np.diff(x, n=0, prepend=more, append=more), [-1, 0])
        case("diff", [x, None, more], np.diff(x, n=0, append=more), [-1, 0])


def small_gelus():
    """The input that was two units off, and its neighbourhood down to where the share is 1/2."""
    bits = [0x3AEABF5B, 0xBAEABF5B, 0x3BF35B86, 0x3E7FFFFF, 0x3E800001, 0xBE7FFFFF, 0xBE800001, 0xBEAE3FFE, 0x00000001, 0xC14CBD07]
    x = np.array(bits, "uint32").view("float32")
    with mpmath.workprec(200):
        y = [float(mpmath.mpf(float(v)) * mpmath.ncdf(float(v))) for v in x]
    case("nn.gelu", [x], np.array(y).astype("float32"), [0], tol="1")


def expectations():
    yes, no = np.array(True), np.array([True, False])
    for name in ["digitizeBins", "histogramEdges", "choiceWeights", "choiceCount", "bernoulliChances", "categoricalLogits"]:
        for x in [np.array([1, -0.0, nan], "float32"), np.array([[1, 2], [3, 4]], "int32")]:
            case(name, [x, yes], x)
            out_of_range(name, [x, no])
        case(name, [np.zeros((0, 2), "float32"), yes], np.zeros((0, 2), "float32"))


def exponentials():
    """Matrices whose norm is much larger than what their powers grow by."""
    for rows in [[[1, 1e10], [1e-10, 1]], [[1, 1e6], [0, -1]], [[-1, 1e8], [1e-9, -3]], [[-0.25, 1e7, 3e13], [0, -2.5, 1e6], [0, 0, -2]]]:
        a = np.array(rows)
        with mpmath.workprec(600):
            y = np.array([[float(v) for v in row] for row in mpmath.expm(mpmath.matrix(a.tolist())).tolist()])
        case("linalg.expm", [a], y, tol="200")
        case("linalg.expm", [np.stack([a, a]).astype("complex128")], np.stack([y, y]).astype("complex128"), tol="200")


def cases():
    midpoints()
    smallest()
    lines()
    draws()
    nothing_to_do()
    small_gelus()
    expectations()
    exponentials()
