"""Rows of whole arrays: statistics over axes, running combinations, elements moved, looked up, transformed."""

import numpy as np
import scipy.special

from records import FLOATS, INTS, case, exactly, floats, inf, ints, nan, rng, to_float

AXES = [(None, False), ((0,), True), ((-1,), False), ((0, 2), False), ((), False)]
SUMS = {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}
CLOSE = {"float32": 2e-5, "float64": 1e-12}
ALL = ["bool"] + INTS + FLOATS


def words(axis, keepdims=None):
    return [*([-1] if axis is None else [len(axis), *axis]), *([] if keepdims is None else [keepdims])]


def near(d, size=1.0):
    """The tolerance for numbers of this size in what a dtype computes in; half floats are computed in float32 and rounded once."""
    f = {"complex64": "float32", "complex128": "float64"}.get(d, to_float(d))
    return "1~" if f == "float16" else "abs:" + repr(float(CLOSE[f] * size))


def some(d, shape):
    """Small numbers of a dtype, of which some are equal, and some zero."""
    if d == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if d.startswith("complex"):
        return (rng.integers(-3, 4, shape) + 1j * rng.integers(-3, 4, shape)).astype(d)
    if d in FLOATS:
        return (rng.integers(-8, 9, shape) / 2).astype(d)
    # Some with more digits than half floats have.
    x = ints(d, shape)
    return np.where(rng.random(shape) < 0.2, (x.astype("int64") * 37).astype(d), x) if np.iinfo(d).bits > 8 else x


def beside_large_means():
    """Of whole numbers that are exact, whose mean is not: deviations from a rounded mean have lost digits, most of them in wide dtypes."""
    small = np.array([[0, 1, 3, 1, 2], [3, 0, 1, 2, 2], [0, 0, 5, 1, 0], [2, 7, 1, 0, 4]], "float64")
    wide = [("float64", 2**52), *[(d, 2**23) for d in ["int32", "uint32", "int64", "uint64", "float32"]]]
    for d, mean in wide:
        spreads((small + mean).astype(d), small, to_float(d))
    for d, big in [("float32", 1e38), ("float64", 1e308)]:
        # Squares overflow, and so does that of what rounding the mean left.
        x = (np.array([[1, 0.7, 0.3]]) * big).astype(d)
        case("var", [x], np.array([inf], d), words((1,), 0), [0.0])
        case("nanvar", [x], np.array([inf], d), words((1,), 0), [0.0])
    for d, _ in wide:
        # Equal numbers whose mean is none of them: what it left has all of the squares.
        x = np.full((1, 3), 8660305758634026 if d == "float64" else 13696510, d)
        for name, fn in [("var", np.var), ("nanvar", np.var), ("std", np.std), ("nanstd", np.std)]:
            case(name, [x], fn(x.astype(to_float(d)), axis=1), words((1,), 0), [0.0], tol="4")


def spreads(x, like, out):
    for name, fn in [("var", np.var), ("nanvar", np.var), ("std", np.std), ("nanstd", np.std)]:
        case(name, [x], fn(like, axis=1).astype(out), words((1,), 0), [0.0], tol="4")
        y = fn(like.reshape(2, 2, 5), axis=2, keepdims=True)
        case(name, [x.reshape(2, 2, 5)], y.astype(out), words((2,), 1), [0.0], tol="4")
    case("cov", [x], np.cov(like).astype(out), [1], [1.0], tol="16~")
    case("corrcoef", [x], np.corrcoef(like).astype(out), [1], tol="16~")


def statistics():
    for d in ALL + ["complex64", "complex128"]:
        f = {"complex64": "float32", "complex128": "float64"}.get(d, to_float(d))
        close = near(d, 1 if d in FLOATS else 40)
        for axis, keep in AXES:
            x, aw = some(d, (3, 4, 5)), words(axis, keep)
            wide = x.astype("complex128" if d.startswith("complex") else "float64")
            for correction in [0.0, 1.0, 2.5]:
                n = x.size if axis is None else int(np.prod([x.shape[a] for a in axis]))
                gaps = np.abs(wide - wide.mean(axis=axis, keepdims=True)) ** 2
                with np.errstate(all="ignore"):
                    var = np.asarray(gaps.sum(axis=axis, keepdims=keep) / np.float64(max(n - correction, 0)))
                size = max(1, np.max(var, initial=0, where=np.isfinite(var)))
                case("var", [x], var.astype(f), aw, [correction], tol=near(d, size))
                case("std", [x], np.sqrt(var).astype(f), aw, [correction], tol=near(d, np.sqrt(size)))
            case("countNonzero", [x], np.asarray(np.count_nonzero(x, axis=axis, keepdims=keep)).astype("int32"), aw)
            if d.startswith("complex"):
                continue
            if d != "bool":
                case("ptp", [x], np.max(x, axis=axis, keepdims=keep) - np.min(x, axis=axis, keepdims=keep), aw)
            for values in [wide, wide[:, :3]]:
                part = values.astype(d)
                middle = np.median(values, axis=axis, keepdims=keep) if axis != () else values
                case("median", [part], np.asarray(middle).astype(f), aw, tol="1")
            case("logsumexp", [x], np.asarray(scipy.special.logsumexp(wide, axis=axis, keepdims=keep) if axis != () else wide).astype(f), aw, tol=close)
    for d in FLOATS:
        close = near(d)
        x = np.array([[1, nan, 3], [nan, 2, nan], [4, 5, -0.0], [nan, nan, nan], [inf, 1, 2], [-inf, nan, -2]], d)
        for axis, keep in [((0,), 0), ((1,), 1)]:
            for name in ["median", "logsumexp"]:
                fn = np.median if name == "median" else scipy.special.logsumexp
                y = np.asarray(fn(x.astype("float64"), axis=axis, keepdims=bool(keep))).astype(d)
                case(name, [x], y, words(axis, keep), tol=close)
        case("median", [np.zeros((0, 2), d)], np.full(2, nan, d), words((0,), 0))
        case("var", [np.zeros((0, 2), d)], np.full(2, nan, d), words((0,), 0), [0.0])
        # As large as they come: exponentials overflow, squares of deviations do not.
        big = floats(d, (4, 3), 3000.0 if d != "float16" else 100.0)
        case("logsumexp", [big], scipy.special.logsumexp(big.astype("float64"), axis=1).astype(d), words((1,), 0), tol="4")
        case("logsumexp", [np.array([[inf, 1], [-inf, -inf], [inf, -inf]], d)], np.array([inf, -inf, inf], d), words((1,), 0))
        # A large mean beside a small spread.
        offset = (floats(d, (6, 7), 1.0).astype("float64") + (64 if d == "float16" else 4096)).astype(d)
        exact = offset.astype("float64")
        case("var", [offset], exact.var(axis=1).astype(d), words((1,), 0), [0.0], tol={"float16": "2", "float32": "64", "float64": "8"}[d])
        case("nanvar", [offset], exact.var(axis=1).astype(d), words((1,), 0), [0.0], tol={"float16": "2", "float32": "64", "float64": "8"}[d])
    beside_large_means()
    for d in ALL:
        f, s = to_float(d), SUMS.get(d, d)
        close = near(d, 4 if d in FLOATS else 40)
        for axis, keep in AXES:
            x, aw = some(d, (3, 4, 5)), words(axis, keep)
            if d in FLOATS:
                x[rng.random(x.shape) < 0.3] = nan
                x[0, 0] = nan
                x[1] = nan
            kw = dict(axis=axis, keepdims=keep)
            if axis == ():
                means, sums, products, spreads = x, np.nan_to_num(x), np.where(np.isnan(x), np.array(1, x.dtype), x), np.where(np.isnan(x), nan, 0.0)
                highs, lows = x, x
            else:
                wide = x.astype("float64")
                means, spreads = np.nanmean(wide, **kw), np.nanvar(wide, **kw)
                sums = np.nansum(wide if d in FLOATS else x, **kw)
                products = np.nanprod(np.sign(wide) * 1.5 if d in FLOATS else x, **kw)
                highs, lows = (np.nanmax(x, **kw), np.nanmin(x, **kw))
            case("nanmean", [x], np.asarray(means).astype(f), aw, tol=close)
            case("nansum", [x], np.asarray(sums).astype(s), [*aw, nan], tol=close if d in FLOATS else "0")
            if axis != () and d in FLOATS:
                case("nanprod", [(np.sign(x) * np.array(1.5, d)).astype(d)], np.asarray(products).astype(d), [*aw, nan], tol="64")
            elif d in INTS:
                exactly("nanprod", [x], x if axis == () else np.prod(x.astype(object), **kw), s, [*aw, nan])
            else:
                case("nanprod", [x], np.asarray(products).astype(s), [*aw, nan])
            case("nanmax", [x], np.asarray(highs).astype(d), aw)
            case("nanmin", [x], np.asarray(lows).astype(d), aw)
            size = max(1, np.nanmax(spreads))
            case("nanvar", [x], np.asarray(spreads).astype(f), aw, [0.0], tol=near(d, size))
            case("nanstd", [x], np.sqrt(np.asarray(spreads)).astype(f), aw, [0.0], tol=near(d, np.sqrt(size)))
        if d in FLOATS:
            x = np.array([[1, nan, 4, 2], [nan, nan, 5, 7], [8, 1, 0.5, 3]], d)
            for correction in [1.0, 0.5]:
                y = np.nanvar(x.astype("float64"), axis=1, ddof=correction)
                case("nanvar", [x], y.astype(d), words((1,), 0), [correction], tol=close)
                case("nanstd", [x], np.sqrt(y).astype(d), words((1,), 0), [correction], tol=close)
            x = np.array([[nan, -inf, nan], [inf, nan, 1], [-0.0, nan, nan], [nan, nan, nan]], d)
            for name, fn in [("nanmax", np.nanmax), ("nanmin", np.nanmin)]:
                case(name, [x], fn(x, axis=1), words((1,), 0))
    for c in ["complex64", "complex128"]:
        x = some(c, (3, 4))
        x[0, 1], x[2, 2], x[1, 0] = complex(nan, 1), complex(2, nan), complex(nan, nan)
        case("nansum", [x], np.nansum(x, axis=1), [1, 1, 0, nan])
        case("nanprod", [x], np.nanprod(x, axis=1), [1, 1, 0, nan])
    x = np.array([601, -2, 3], "int16")
    case("nansum", [x], np.array(602, "float64"), [-1, 0, 12])
    case("nanprod", [x], np.array(-3606, "float64"), [-1, 0, 12])
    # Fewer elements than the correction.
    for name in ["var", "nanvar"]:
        case(name, [np.array([1, 3], "float32")], np.array(inf, "float32"), [-1, 0], [3.0])
    for name in ["std", "nanstd"]:
        case(name, [np.array([1, 3], "float32")], np.array(inf, "float32"), [-1, 0], [3.0])


def running():
    for d in ALL + ["complex64", "complex128"]:
        s = SUMS.get(d, d)
        for axis, initial in [(0, 0), (1, 1), (-2, 1)]:
            x = rng.integers(0, 3, (3, 4)).astype(d)
            for name, fn in [("cumulativeSum", np.cumulative_sum), ("cumulativeProd", np.cumulative_prod)]:
                case(name, [x], fn(x, axis=axis, dtype=s, include_initial=bool(initial)), [axis, nan, initial])
            x = some(d, (3, 5))
            if d in FLOATS:
                case("cumulativeProd", [x], np.cumulative_prod(x, axis=axis), [axis, nan, 0])
                x[1, 2] = nan
            if not d.startswith("complex"):
                case("cumulativeMax", [x], np.maximum.accumulate(x, axis=axis), [axis])
                case("cumulativeMin", [x], np.minimum.accumulate(x, axis=axis), [axis])
        if d == "bool":
            continue
        x, before, behind = some(d, (3, 7)), some(d, (3, 2)), some(d, (3, 1))
        for n in [0, 1, 2, 3, 6, 9]:
            case("diff", [x, None, None], np.diff(x, n=n, axis=-1), [-1, n])
            case("diff", [x, None, None], np.diff(x, n=n, axis=0), [0, n])
        case("diff", [x, before, behind], np.diff(x, axis=1, prepend=before, append=behind), [1, 1])
        case("diff", [x, before, None], np.diff(x, n=2, axis=-1, prepend=before), [-1, 2])
        case("diff", [x, None, x[:2].copy()], np.diff(x, axis=0, append=x[:2]), [0, 1])
    x = np.array([601, -2, 3, 1, 5], "int16")
    for name, fn in [("cumulativeSum", np.cumulative_sum), ("cumulativeProd", np.cumulative_prod)]:
        case(name, [x], fn(x, dtype="float64"), [nan, 12, 0])
    case("cumulativeMax", [x], np.maximum.accumulate(x), [nan])
    case("cumulativeMin", [x], np.minimum.accumulate(x), [nan])
    a, b = some("int8", (2, 3)), some("float32", (2, 2))
    case("diff", [a, b, None], np.diff(a.astype("float32"), prepend=b), [-1, 1])


def places():
    for d in ALL + ["complex64", "complex128"]:
        x = some(d, (2, 3, 4)) if d != "bool" else some(d, (2, 3, 4))
        for source, destination in [([0], [-1]), ([-1], [0]), ([0, 2], [1, 0]), ([], []), ([2, 0, 1], [0, 1, 2])]:
            case("moveaxis", [x], np.ascontiguousarray(np.moveaxis(x, source, destination)), [len(source), *source, len(destination), *destination])
        for a, b in [(0, 1), (-1, 0), (1, 1), (1, 2)]:
            case("swapaxes", [x], np.ascontiguousarray(np.swapaxes(x, a, b)), [a, b])
        for k in range(-2, 5):
            case("rot90", [x], np.ascontiguousarray(np.rot90(x, k)), [k, -1])
            case("rot90", [x], np.ascontiguousarray(np.rot90(x, k, (2, 0))), [k, 2, 2, 0])
        case("flatten", [x], x.ravel(), [0, -1])
        case("flatten", [x], x.reshape(2, 12), [1, 2])
        case("flatten", [x], x.reshape(6, 4), [0, 1])
        case("flatten", [x], x, [1, 1])
        case("flatten", [np.array(x[0, 0, 0])], x[0, 0, :1].copy(), [0, -1])
        for shift in [1, -2, 0, 25]:
            case("roll", [x], np.roll(x, shift), [1, shift, -1])
            for axis in [0, 1, -1]:
                case("roll", [x], np.roll(x, shift, axis), [1, shift, 1, axis])
        case("roll", [x], np.roll(x, (1, -1), (0, 2)), [2, 1, -1, 2, 0, 2])
        case("roll", [x], np.roll(x, 2, (1, 2)), [1, 2, 2, 1, 2])
        case("roll", [x], np.roll(x, (3, -1), 2), [2, 3, -1, 1, 2])
        for times in [(2,), (1, 2, 1, 3), (2, 1, 0), (), (3, 1, 2)]:
            case("tile", [x], np.tile(x, times), [len(times), *times])
        for times in [0, 1, 3]:
            case("repeat", [x], np.repeat(x, times), [times, nan])
            for axis in [0, 1, -1]:
                case("repeat", [x], np.repeat(x, times, axis), [times, axis])
    empty = np.zeros((0, 2), "float32")
    case("roll", [empty], empty, [1, 1, -1])
    case("roll", [empty], empty, [1, 3, 1, 0])


def lookups():
    for n, d in enumerate(ALL + ["complex64", "complex128"]):
        i = INTS[n % 7]
        x = some(d, (3, 4, 5))
        for axis in [0, 1, -1]:
            shape = list(x.shape)
            shape[axis] = 6
            picks = rng.integers(0, x.shape[axis], shape).astype(i)
            case("takeAlongAxis", [x, picks], np.take_along_axis(x, picks.astype("int64"), axis), [axis])
        from_end = rng.integers(-4, 4, (3, 1, 1)).astype("int16")
        case("takeAlongAxis", [x, from_end], np.take_along_axis(np.broadcast_to(x, x.shape), np.broadcast_to(from_end, (3, 1, 5)).astype("int64"), 1), [1])
        one = x[:1].copy()
        picks = rng.integers(0, 4, (3, 2, 5)).astype("int32")
        case("takeAlongAxis", [one, picks], np.take_along_axis(np.broadcast_to(one, (3, 4, 5)), picks.astype("int64"), 1), [1])
        if d.startswith("complex"):
            continue
        for size in [0, 1, 5, 8, 9]:
            x1 = some(d, (size,))
            x2 = some(d, (3, 7))
            if d in FLOATS:
                x2[0, 0], x2[1, 1], x2[2, 2] = nan, inf, -inf
                x1[size // 2 :][rng.random(size - size // 2) < 0.2] = nan
            order = np.argsort(x1, kind="stable")
            for side in [0, 1]:
                y = np.searchsorted(x1[order], x2, ["left", "right"][side]).astype("int32")
                case("searchsorted", [x1[order], x2, None], y, [side])
                case("searchsorted", [x1, x2, order.astype(["int32", "int64"][side])], y, [side])
    x1 = np.sort(some("float32", (9,)))
    case("searchsorted", [x1, 0.5, None], np.asarray(np.searchsorted(x1, np.float32(0.5))).astype("int32"), [0])
    x2 = some("float64", (4,))
    x1, x2 = np.sort(some("int8", (6,))), some("float32", (4,))
    case("searchsorted", [x1, x2, None], np.searchsorted(x1.astype("float32"), x2).astype("int32"), [0])
    # Values behind all elements, as many as the sum of the two highest steps of a bisection.
    for size in [3, 6]:
        x1, x2 = np.arange(size, dtype="float32"), np.array([-1, 0, size - 1, size, inf], "float32")
        for side in [0, 1]:
            case("searchsorted", [x1, x2, None], np.searchsorted(x1, x2, ["left", "right"][side]).astype("int32"), [side])


NORMS = ["backward", "ortho", "forward"]


def transforms():
    def sizes(s):
        return [-1] if s is None else [len(s), *s]

    for d in ALL + ["complex64", "complex128"]:
        c = "complex128" if d in ["float64", "complex128"] else "complex64"
        f = "float64" if c == "complex128" else "float32"
        close = {"complex64": 2e-4, "complex128": 1e-12}[c] * (1 if d in FLOATS + ["bool"] or d == c else 60)
        close = "abs:" + repr(close)
        x = some(d, (3, 6, 5))
        if d in FLOATS:
            x = floats(d, (3, 6, 5))
        wide = x.astype("complex128")
        for norm, way in enumerate(NORMS):
            for n, axis in [(None, -1), (3, 1), (9, 0), (8, 2), (1, 2), (2, 1)]:
                aw = [nan if n is None else n, axis, norm]
                if not d.startswith("complex"):
                    case("fft.rfft", [x], np.fft.rfft(x.astype("float64"), n, axis, way).astype(c), aw, tol=close)
                    case("fft.ihfft", [x], np.fft.ihfft(x.astype("float64"), n, axis, way).astype(c), aw, tol=close)
                case("fft.irfft", [x], np.fft.irfft(wide, n, axis, way).astype(f), aw, tol=close)
                case("fft.hfft", [x], np.fft.hfft(wide, n, axis, way).astype(f), aw, tol=close)
            for s, axes in [(None, None), (None, (0, 1)), ((4, 7), (2, 0)), ((3, 4), None), ((7,), (-1,))]:
                aw = [*sizes(axes), *sizes(s), norm]
                named = tuple(range(3 - len(s), 3)) if axes is None and s is not None else axes
                case("fft.fftn", [x], np.fft.fftn(wide, s, named, way).astype(c), aw, tol=close)
                case("fft.ifftn", [x], np.fft.ifftn(wide, s, named, way).astype(c), aw, tol=close)
                if not d.startswith("complex"):
                    case("fft.rfftn", [x], np.fft.rfftn(x.astype("float64"), s, named, way).astype(c), aw, tol=close)
                case("fft.irfftn", [x], np.fft.irfftn(wide, s, named, way).astype(f), aw, tol=close)
        for axes in [None, (0,), (-1, 1), ()]:
            case("fft.fftshift", [x], np.fft.fftshift(x, axes), sizes(axes))
            case("fft.ifftshift", [x], np.fft.ifftshift(x, axes), sizes(axes))
    case("fft.fftn", [x], x, [0, -1, 0])
    case("fft.ifftn", [x], x, [0, -1, 0])
    for number, d in [(9, "float16"), (11, "float32"), (12, "float64"), (nan, "float32")]:
        for n in [1, 2, 7, 8]:
            for apart in [1.0, 0.5, -3.0]:
                case("fft.fftfreq", [], np.array([(k if k < n - n // 2 else k - n) / (n * apart) for k in range(n)], d), [n, number, 0], [apart])
                case("fft.rfftfreq", [], np.array([k / (n * apart) for k in range(n // 2 + 1)], d), [n, number, 0], [apart])
