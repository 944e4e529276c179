"""Rows about samples: quantiles, covariances, derivatives, integrals, interpolation, convolution, and einsum."""

import numpy as np

from arrays import ALL, AXES, SUMS, near, some, words
from records import FLOATS, INTS, case, floats, inf, nan, out_of_range, rng, to_float, total

OLDER = ["linear", "lower", "higher", "midpoint", "nearest"]
METHODS = [
    *OLDER, "inverted_cdf", "averaged_inverted_cdf", "closest_observation",
    "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased",
]
COMPLEX = ["complex64", "complex128"]


def quantiles():
    for d in ALL:
        f = to_float(d)
        for axis, keep in AXES:
            x = some(d, (3, 4, 5))
            wide = x.astype("float64")
            for m, method in enumerate(METHODS):
                # Where a method steps, the place is rounded in the dtype, as NumPy does of arrays of it.
                own = x.astype(f) if m >= len(OLDER) else wide
                q = np.array([0, 1, 0.5, 0.25, 0.3], f)
                y = np.quantile(own, q.astype(own.dtype), axis=axis, keepdims=keep, method=method)
                # In float16 the place of a quantile itself is rounded.
                if d == "float16" and method != "midpoint":
                    continue
                # Integers are larger, and NumPy's way between them is rounded in float32.
                size = 40 if m < len(OLDER) or d in FLOATS else 4000
                case("quantile", [x, q], np.asarray(y).astype(f), [*words(axis, keep), m], tol=near(d, size))
                q = [75.0, 0.0, 100.0][m % 3]
                y = np.percentile(own, q, axis=axis, keepdims=keep, method=method)
                case("percentile", [x, q], np.asarray(y).astype(f), [*words(axis, keep), m], tol=near(d, size))
    # Each method at places that are no steps, and out of range.
    x = np.array([-8, 0.25, 1, 2.5, 3, 7, 11.75])
    for m, method in enumerate(METHODS):
        for name, whole in [("quantile", 1), ("nanquantile", 1), ("percentile", 100), ("nanpercentile", 100)]:
            q = np.array([0.03, 0.1, 0.375, 0.5, 0.625, 0.8, 0.97]) * whole
            with_nan = np.insert(x, 3, nan) if name.startswith("nan") else x
            case(name, [with_nan, q], getattr(np, name)(with_nan, q, method=method), [*words(None, 0), m], tol=near("float64", 40))
            for outside in [-0.5, 1.5]:
                out_of_range(name, [x, np.array([0.5, outside]) * whole], [*words(None, 0), m])
    # On each step and between them, of few elements and more.
    for d in ["float32", "float64"]:
        for n in [1, 2, 3, 4, 5, 8, 10, 16, 20]:
            x = some(d, (n,))
            for m, method in enumerate(METHODS):
                q = np.unique(np.concatenate([np.arange(n + 1) / n, np.arange(17) / 16])).astype(d)
                case("quantile", [x, q], np.quantile(x, q, method=method), [*words(None, 0), m], tol=near(d, 40))
    for d in FLOATS:
        x = np.array([[1, nan, 3, 4], [1, 2, 3, 4], [-inf, 1, 2, inf], [inf, inf, inf, inf]], d)
        for m, y in enumerate([[nan, 2.5, 1.5, inf], [nan, 2, 1, inf], [nan, 3, 2, inf], [nan, 2.5, 1.5, inf], [nan, 3, 2, inf]]):
            case("quantile", [x, 0.5], np.array(y, d), [1, 1, 0, m])
        case("quantile", [x, 0.0], np.array([nan, 1, -inf, inf], d), [1, 1, 0, 0])
        case("quantile", [x, 1.0], np.array([nan, 4, inf, inf], d), [1, 1, 0, 0])
        case("quantile", [np.zeros((2, 0), d), 0.5], np.full(2, nan, d), [1, 1, 0, 0])
    for d in ALL:
        x = some(d, (4, 5))
        order = np.argsort(x, 1, kind="stable")
        for k in [1, 3, 5]:
            at = order[:, k - 1 : k]
            outs = [np.take_along_axis(x, at, 1), at.astype("int32")]
            case("kthvalue", [x], outs, [k, 1, 1])
            case("kthvalue", [x], [o[:, 0] for o in outs], [k, -1, 0])


def matrix(y, x):
    """Of a matrix of one variable NumPy gives a number, this library a matrix, as of any."""
    return np.reshape(y, (1, 1)) if x.ndim == 2 and np.ndim(y) == 0 else np.asarray(y)


def numbers():
    """Order and running combinations with NaN left out."""
    for d in ALL:
        f, s = to_float(d), SUMS.get(d, d)
        for axis, keep in AXES:
            x = some(d, (3, 4, 5))
            if d in FLOATS:
                x[rng.random(x.shape) < 0.3] = nan
                x[1] = nan
                x[2, 1] = nan
            wide, kw = x.astype("float64"), dict(axis=axis, keepdims=keep)
            if axis == ():
                kw["axis"], wide = -1, wide[..., None]
            drop = (lambda y: np.asarray(y)[..., 0]) if axis == () and keep else np.asarray
            case("nanmedian", [x], drop(np.nanmedian(wide, **kw)).astype(f), words(axis, keep), tol=near(d, 4))
            for m, method in enumerate(METHODS):
                if d == "float16" and method != "midpoint":
                    continue
                own = wide.astype(f) if m >= len(OLDER) else wide
                q = np.array([0, 1, 0.5, 0.25, 0.3], f)
                y = drop(np.nanquantile(own, q.astype(own.dtype), method=method, **kw))
                size = 40 if m < len(OLDER) or d in FLOATS else 4000
                case("nanquantile", [x, q], y.astype(f), [*words(axis, keep), m], tol=near(d, size))
                q = [75.0, 0.0, 100.0][m % 3]
                y = drop(np.nanpercentile(own, q, method=method, **kw))
                case("nanpercentile", [x, q], y.astype(f), [*words(axis, keep), m], tol=near(d, size))
        for axis, initial in [(0, 0), (1, 1), (-2, 1)]:
            x = some(d, (3, 5))
            if d in FLOATS:
                x[0, 3], x[2, 0], x[2, 1] = nan, nan, nan
            for name, fn, instead in [("nancumulativeSum", np.cumulative_sum, 0), ("nancumulativeProd", np.cumulative_prod, 1)]:
                known = np.where(np.isnan(x), np.array(instead, d), x) if d in FLOATS else x
                case(name, [x], fn(known, axis=axis, dtype=s, include_initial=bool(initial)), [axis, nan, initial])
    for c in COMPLEX:
        x = some(c, (3, 4))
        x[0, 1], x[2, 2], x[1, 0] = complex(nan, 1), complex(2, nan), complex(nan, nan)
        case("nancumulativeSum", [x], np.nancumsum(x, axis=1), [1, nan, 0])
        case("nancumulativeProd", [x], np.nancumprod(x, axis=1), [1, nan, 0])
    x = np.array([601, -2, 3], "int16")
    case("nancumulativeSum", [x], np.cumsum(x, dtype="float64"), [nan, 12, 0])
    case("nancumulativeProd", [x], np.cumprod(x, dtype="float64"), [nan, 12, 0])
    for d in FLOATS:
        x = np.array([[1, nan, 3, 4], [nan, 2, nan, 5], [-inf, nan, 2, inf], [nan, nan, nan, nan]], d)
        case("nanmedian", [x], np.array([3, 3.5, 2, nan], d), [1, 1, 0])
        case("nanquantile", [x, 1.0], np.array([4, 5, inf, nan], d), [1, 1, 0, 0])
        case("nanquantile", [np.zeros((2, 0), d), 0.5], np.full(2, nan, d), [1, 1, 0, 0])
        # Twice the largest number is none.
        most = np.array([nan, np.finfo(d).max, nan], d)
        case("nanmedian", [most], np.array(most[1], d), [-1, 0])
        case("nanmedian", [np.zeros((2, 0), d)], np.full(2, nan, d), [1, 1, 0])


def covariances():
    for d in ALL + COMPLEX:
        f = d if d in COMPLEX else to_float(d)
        for shape in [(4, 7), (1, 5), (6,)]:
            x = some(d, shape)
            wide = x.astype("complex128" if d in COMPLEX else "float64")
            for rowvar in [1, 0]:
                with np.errstate(all="ignore"):
                    for correction in [1.0, 0.0, 2.0]:
                        y = np.cov(wide, rowvar=bool(rowvar), ddof=int(correction))
                        if np.isfinite(y).all():
                            case("cov", [x], matrix(y, x).astype(f), [rowvar], [correction], tol=near(d, 40 * max(1, np.abs(y).max())))
                    y = np.corrcoef(wide, rowvar=bool(rowvar))
                if np.isfinite(y).all():
                    case("corrcoef", [x], matrix(y, x).astype(f), [rowvar], tol=near(d, 20))
    case("corrcoef", [np.array([[1, 1, 1], [1, 2, 3]], "float32")], np.array([[nan, nan], [nan, 1]], "float32"), [1], tol="4")


def calculus():
    for d in ALL:
        f = to_float(d)
        y = some(d, (4, 6))
        wide = y.astype("float64")
        for axis in [0, 1, -1]:
            n = y.shape[axis]
            x = np.cumsum(rng.integers(1, 9, n)) / 4
            coordinates = x.astype(f)
            for order in [1, 2]:
                for spacing in [1.0, 0.5, -3.0]:
                    out = np.gradient(wide, spacing, axis=axis, edge_order=order).astype(f)
                    case("gradient", [y, None], out, [axis, order - 1], [spacing], tol=near(d, 80))
                out = np.gradient(wide, x, axis=axis, edge_order=order).astype(f)
                case("gradient", [y, coordinates], out, [axis, order - 1], [1.0], tol=near(d, 300))
            case("trapezoid", [y, None], np.trapezoid(wide, dx=0.5, axis=axis).astype(f), [axis], [0.5], tol=near(d, 40))
            case("trapezoid", [y, coordinates], np.trapezoid(wide, x, axis=axis).astype(f), [axis], [1.0], tol=near(d, 200))
        case("gradient", [y[:2], None], np.gradient(wide[:2], axis=0).astype(f), [0, 0], [1.0], tol=near(d, 80))
        case("trapezoid", [y[:1], None], np.zeros(6, f), [0], [1.0])
        xp = np.sort(some(d, (7,)))
        fp = some(d, (7,))
        x = some(d, (3, 5))
        if d in FLOATS:
            xp = (np.cumsum(rng.integers(1, 5, 7)) / 2 - 6).astype(d)
            x[0, 0], x[1, 1], x[2, 2] = nan, inf, -inf
        elif len(set(xp.tolist())) < 7:
            continue
        args = x.astype("float64"), xp.astype("float64"), fp.astype("float64")
        case("interp", [x, xp, fp, None, None], np.interp(*args).astype(f), tol=near(d, 100))
        case("interp", [x, xp, fp, -3.0, 0.5], np.interp(*args, left=-3, right=0.5).astype(f), tol=near(d, 100))
        case("interp", [xp, xp, fp, None, None], fp.astype(f))


def signals():
    for d in INTS + FLOATS + COMPLEX:
        for n, m in [(5, 3), (3, 5), (4, 4), (1, 1), (33, 4), (2, 9), (9, 2), (6, 1)]:
            x, y = some(d, (n,)), some(d, (m,))
            wide = "object" if d in INTS else "complex128" if d in COMPLEX else "float64"
            for k, mode in enumerate(["full", "same", "valid"]):
                for name, fn, word in [("convolve", np.convolve, k), ("correlate", np.correlate, 2 - k)]:
                    if d in INTS:
                        out = fn(x.astype("int64"), y.astype("int64"), mode).astype(total(d))
                    else:
                        out = fn(x.astype(wide), y.astype(wide), mode).astype(d)
                    case(name, [x, y], out, [word], tol="0" if d in INTS else near(d, 200))


EQUATIONS = [
    ("ij->ji", [(2, 3)]), ("ii->i", [(3, 3)]), ("ii", [(3, 3)]), ("ba", [(2, 3)]), ("ij->", [(2, 3)]), ("...i->i...", [(2, 3, 4)]),
    ("i...", [(2, 3, 4)]), ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("i,j->ij", [(3,), (4,)]),
    ("ij,ij->ij", [(2, 3), (2, 3)]), ("ij,ij->", [(2, 3), (2, 3)]), ("...ij,...jk->...ik", [(5, 2, 3), (3, 4)]),
    ("...ij,...jk", [(2, 1, 2, 3), (5, 3, 2)]), ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]), ("i,i,i->i", [(4,), (4,), (4,)]),
    ("ijk,jk->i", [(2, 3, 4), (3, 4)]), ("iij,j->i", [(3, 3, 2), (2,)]), ("ij,k->", [(2, 3), (4,)]), ("ji,ki->jk", [(2, 3), (4, 3)]),
    ("iijj->ij", [(2, 2, 3, 3)]), ("iii->i", [(3, 3, 3)]), ("ij,jk,ki", [(2, 3), (3, 4), (4, 2)]), ("i,j,k", [(2,), (3,), (4,)]),
    ("bij,bjk,bkl->bil", [(5, 2, 3), (5, 3, 4), (5, 4, 2)]), (",i->i", [(), (3,)]), ("->", [()]), (" i j , j -> i ", [(2, 3), (3,)]),
    ("ij,jk->ik", [(2, 0), (0, 3)]), ("ij,ij->i", [(2, 3), (1, 3)]), ("A,a->Aa", [(2,), (3,)]), ("bA", [(2, 3)]),
]


def einsums():
    for d in INTS + FLOATS + COMPLEX:
        for equation, shapes in EQUATIONS:
            ins = [np.asarray(some(d, s)) for s in shapes]
            wide = [x.astype("int64" if d in INTS else "complex128" if d in COMPLEX else "float64") for x in ins]
            plain = equation.replace(" ", "")
            out = np.einsum(plain, *wide)
            case("einsum", ins, np.asarray(out).astype(total(d)), [len(equation), *map(ord, equation)], tol="0" if d in INTS else near(d, 4000))
