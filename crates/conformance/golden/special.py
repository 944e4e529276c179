"""Special functions and predicates that NumPy and SciPy have: answers are mpmath's, rounded once, or NumPy's. And arithmetic of bools."""

import mpmath
import numpy as np

from records import FLOATS, INTS, case, data, edges, grid, inf, nan, to_float

ULPS = {"float16": "1", "float32": "1", "float64": "2"}


def by_mpmath(fn):
    def one(x):
        with mpmath.workprec(300):
            return float(fn(x))

    return np.vectorize(one, otypes=["float64"])


def entropy(x):
    if np.isnan(x) or x == inf:
        return -x
    return -inf if x < 0 else 0.0 if x == 0 else -0.0 if x == 1 else -mpmath.mpf(x) * mpmath.log(x)


def normal(x):
    return x if np.isnan(x) else 0.0 if x < -60 else 1.0 if x > 60 else mpmath.ncdf(mpmath.mpf(x))


def cases():
    for d in FLOATS + ["int32", "uint8", "bool"]:
        f = to_float(d)
        x = np.concatenate([edges(d), np.linspace(-9, 9, 37).astype(d), np.linspace(0.02, 0.98, 25).astype(d)]) if d in FLOATS else data(d)
        wide = x.astype(f).astype("float64")
        case("entr", [x], by_mpmath(entropy)(wide).astype(f), tol=ULPS[f])
        case("ndtr", [x], by_mpmath(normal)(wide).astype(f), tol=ULPS[f])
        case("frac", [x], (wide - np.trunc(wide)).astype(f))
    for d in FLOATS + INTS + ["bool"]:
        x = data(d)
        case("isposinf", [x], np.isposinf(x) if d in FLOATS else np.zeros(x.shape, bool))
        case("isneginf", [x], np.isneginf(x) if d in FLOATS else np.zeros(x.shape, bool))
    p, q = grid(np.array([False, True]))
    case("add", [p, q], p + q)
    case("multiply", [p, q], p * q)
    # A number brings its own dtype.
    case("add", [p, 2.0], p.astype("float32") + 2)
    case("multiply", [p, 0.5], p.astype("float32") * 0.5)
    case("greater", [p, 0.5], p.astype("float32") > 0.5)
    for name in ["fmin", "fmax"]:
        case(name, [p, nan], p.astype("float32"))
        case(name, [nan, p], p.astype("float32"))
        case(name, [p, 0.5], (np.fmin if name == "fmin" else np.fmax)(p.astype("float32"), np.float32(0.5)))
    for size in [1, 2, 3, 5, 8, 9]:
        for falses in range(size + 1):
            x = np.arange(size) >= falses
            for value in [nan, 0.5, -1.0, 2.0]:
                for side, name in enumerate(["left", "right"]):
                    y = np.searchsorted(x.astype("float32"), np.float32(value), name)
                    case("searchsorted", [x, value, None], np.asarray(y).astype("int32"), [side])
    # What lies on elements has no part of infinite neighbours, along whichever axis they are.
    for rank in [1, 2, 3]:
        x = np.full([1, 1] + [3] * rank, inf, "float32")
        even = (slice(None), slice(None)) + (slice(None, None, 2),) * rank
        x[even] = np.arange(1, 2**rank + 1).reshape([1, 1] + [2] * rank)
        case("nn.interpolate", [x], x[even].copy(), [rank, *[2] * rank, 1, 1])
