"""Calls whose answers change with every bit of their operands: numbers of all digits, exponents of all bits, positions all apart.
Of small whole numbers a conversion to a narrower dtype on the way loses nothing."""

import numpy as np
import scipy.special

from records import FLOATS, INTS, case, floats, inf, nan, out_of_range
from samples import METHODS

# Odd, of nine bits and more: not numbers of bfloat16, nor of int8.
ODD = np.array([257, -771, 1001, -12345, 333], "int64")


def few_complex(d):
    """Fewer observations than the correction."""
    z = np.array([[1 + 1j, 3], [2, 5j]], d)
    case("cov", [z], np.cov(z, ddof=3).astype(d), [1], [3.0])


def powers():
    """Of integers, which wrap: an odd base keeps every bit of the exponent."""
    for d in INTS:
        i = np.iinfo(d)
        single = [1 << k for k in range(i.bits - (i.min < 0))]
        exponents = np.array(single + [i.max, i.max - 1, i.max // 3], d)
        bases = np.array([3, 5, i.max, i.max - 2, i.max // 3 * 2 + 1, 6, *([i.min + 1, -3, -2] if i.min < 0 else [])], d)
        a, b = np.meshgrid(bases, exponents)
        case("pow", [a, b], np.power(a, b))
        if i.min < 0:
            # Reciprocals, truncated: only those of 1 and -1 are not 0.
            x, n = np.meshgrid(np.array([-5, -2, -1, 0, 1, 2, 7, i.min, i.max], d), np.array([-1, -2, -3, -4, i.min, i.min + 1], d))
            case("pow", [x, n], np.where(x == 1, 1, np.where(x == -1, 1 - 2 * (n % 2), 0)).astype(d))
        most = min(i.max, 2**63 - 1)
        case("pow", [bases, int(most)], np.power(bases, np.array(most, d)))


def conversions(number, total):
    """Conversions before, inside and after what a row does."""
    thirds = np.array([257, -771, 1001, -2047, 333]) / 3
    for d in ["int16", "int32", "int64"]:
        x = np.stack([ODD, ODD[::-1]]).astype(d)
        case("sum", [x], np.sum(x, 1, dtype=total(d)), [1, 1, 0, nan])
        case("sum", [x], np.sum(x, 1, dtype="float64"), [1, 1, 0, number["float64"]])
        case("prod", [x[:, :2]], np.prod(x[:, :2], 1, dtype=total(d)), [1, 1, 0, nan])
        case("prod", [x[:, :2]], np.prod(x[:, :2], 1, dtype="float64"), [1, 1, 0, number["float64"]])
        case("cumulativeSum", [x], np.cumsum(x, 1, dtype=total(d)), [1, nan, 0])
        case("cumulativeSum", [x], np.cumsum(x, 1, dtype="float64"), [1, number["float64"], 0])
        case("full", [301], np.full(2, 301, d), [1, 2, number[d], 0])
        case("arange", [], np.arange(300, 1503, 301).astype(d), [4, number[d], 0], [300, 301])
        case("linspace", [], np.linspace(-301, 1203, 5).astype(d), [5, number[d], 0, 1], [-301, 1203])
        case("logspace", [], np.logspace(0, 8, 9, base=3).astype(d), [9, number[d], 0, 1], [0, 8, 3])
        case("nn.maxPool", [x[None]], np.max(np.stack([x[:, :-1], x[:, 1:]]), 0)[None], [1, 2, 1, 1, 1, 0, 1, 0, 1, 1])
        case("nn.avgPool", [x[None]], ((x[:, :-1].astype("int64") + x[:, 1:]) / 2)[None].astype("float32"), [1, 2, 1, 1, 1, 0, 1, 0, 1, 1])
    for d in FLOATS:
        x = np.stack([thirds, thirds[::-1]]).astype(d)
        # Of two terms the sum is rounded once, and so is their product.
        case("sum", [x[:, :2]], np.sum(x[:, :2], 1, dtype="float64").astype(d), [1, 1, 0, nan])
        case("sum", [x[:, :2]], np.sum(x[:, :2], 1, dtype="float64"), [1, 1, 0, number["float64"]])
        case("prod", [x[:, :2] / 64], np.prod((x[:, :2] / np.array(64, d)).astype("float64"), 1).astype(d), [1, 1, 0, nan])
        case("cumulativeSum", [x[:, :2]], np.cumsum(x[:, :2].astype("float64"), 1).astype(d), [1, nan, 0])
        case("cumulativeSum", [x[:, :2]], np.cumsum(x[:, :2].astype("float64"), 1), [1, number["float64"], 0])
        case("full", [1 / 3], np.full(2, 1 / 3, d), [1, 2, number[d], 0])
        case("full", [np.array(1 / 3, d)], np.full(2, np.array(1 / 3, d), "float64"), [1, 2, number["float64"], 0])
        # Quotients around where half of one is the last digit.
        a, b = np.meshgrid(floats(d, 40) / np.finfo(d).eps / 2, floats(d, 12))
        case("floorDivide", [a, b], np.floor_divide(a, b))
        case("remainder", [a, b], np.remainder(a, b))
        case("arange", [], (0.1 + 0.3 * np.arange(4)).astype(d), [4, number[d], 0], [0.1, 0.3])
        case("linspace", [], np.linspace(0.1, 100.7, 300).astype(d), [300, number[d], 0, 1], [0.1, 100.7])
        case("logspace", [], np.logspace(-1, 1, 300).astype(d), [300, number[d], 0, 1], [-1, 1, 10], tol="2")
        case("linspace", [], np.linspace(0.1, 100.7, 7).astype(d), [7, number[d], 0, 1], [0.1, 100.7])
        case("nn.maxPool", [x[None]], np.max(np.stack([x[:, :-1], x[:, 1:]]), 0)[None], [1, 2, 1, 1, 1, 0, 1, 0, 1, 1])
    a, b = np.outer(ODD[:3], ODD[:4]).astype("float32"), np.array([[1], [-1], [2], [1]], "float64")
    case("tensordot", [a, b], a.astype("float64") @ b, [1, -1, 1, 0])
    case("tensordot", [b.T.copy(), a.T.copy()], b.T @ a.T.astype("float64"), [1, -1, 1, 0])
    far = np.array([200, 130], "int32")
    case("oneHot", [far], np.eye(300, dtype="float32")[far], [300, nan])
    for name, fn in [("digamma", scipy.special.digamma), ("lgamma", scipy.special.gammaln), ("reciprocal", np.reciprocal), ("cbrt", np.cbrt), ("sqrt", np.sqrt), ("log", np.log), ("exp2", np.exp2)]:
        for d in ["int16", "int32"]:
            x = np.abs(ODD[:3]).astype(d)
            case(name, [x], fn(x.astype("float64")).astype("float32"), tol="1")
    # Infinite in float32.
    case("isfinite", [np.array([1e300, -1e300, inf])], np.array([True, True, False]))


def complex_numbers():
    for d, real in [("complex64", "float32"), ("complex128", "float64")]:
        z = np.array([771 + 1028j, -771 + 1028j, 1285 - 3084j, -257j, 333], d)
        case("abs", [z], np.abs(z), tol="1")
        unit = np.array([complex(0.6, 0.8), complex(-0.6, 0.8), complex(5 / 13, -12 / 13), -1j, 1], d)
        case("sign", [z], unit, tol="1~")
        case("reciprocal", [z], (1 / z.astype("complex128")).astype(d), tol="2~")
        case("multiply", [z, ODD[:5].astype(real)], z * ODD[:5].astype(real))
        case("multiply", [z, ODD[:5].astype("int16")], z * ODD[:5].astype(real))
        # A part that is none alone.
        odd = np.array([complex(1, -inf), complex(1, inf), complex(-inf, 1), complex(2, nan), complex(np.finfo(d).max, 1)], d)
        case("isfinite", [odd], np.isfinite(odd))


def masks():
    x = np.array([[False, True, False], [True, False, True], [False, False, True]])
    for k in [-1, 0, 1]:
        case("tril", [x], np.tril(x, k), numbers=[k])
        case("triu", [x], np.triu(x, k), numbers=[k])


def positions():
    """Every element is another number, and axes are as long as each other."""
    x = np.arange(256, dtype="int32").reshape(4, 4, 4, 4)
    sliced = lambda parts: [len(parts), *(w for part in parts for w in (2, len(range(4)[part])))]
    starts = lambda parts: [n for part in parts for n in (part.indices(4)[0], part.step)]
    for parts in [(slice(1, 4, 2), slice(3, 0, -1), slice(1, 3, 1), slice(3, None, -3)), (slice(2, None, 1), slice(0, 4, 3), slice(3, None, -2), slice(1, None, 2))]:
        case("at", [x], x[parts], sliced(parts), starts(parts))
        y = x.copy()
        z = -np.arange(1, x[parts].size + 1, dtype="int32").reshape(x[parts].shape)
        y[parts] = z
        case("withAt", [x, z], y, sliced(parts), starts(parts))
    column, row = np.array([[3], [-3], [0], [-2]], "int32"), np.array([1, -1, 2, -4], "int64")
    block = np.array([[0, -1, 2, 1], [1, 3, -2, 0], [-4, 2, 2, 3], [3, 0, 1, -3]], "int32")
    # Kinds and lengths as Attrs::decode knows them: indices into an axis, a picked position, a whole axis.
    index, pick, whole = (4, 1), (1, 0), (3, 1)
    for kinds, key, numbers, operands in [
        ((index, index, whole, whole), (column, row), [], [column, row]),
        ((index, index, index, whole), (row, column, block), [], [row, column, block]),
        ((pick, index, index, whole), (2, row, column), [2], [row, column]),
        ((whole, pick, index, (2, 2)), (slice(None), 3, block, slice(1, 4, 2)), [3, 1, 2], [block]),
    ]:
        attrs = [len(kinds), *(w for kind in kinds for w in kind)]
        case("at", [x, *operands], x[key], attrs, numbers)
        y = x.copy()
        z = -np.arange(1, x[key].size + 1, dtype="int32").reshape(x[key].shape)
        y[key] = z
        case("withAt", [x, z, *operands], y, attrs, numbers)
    # What is left of the picked part is its own.
    some, z = np.array([1, -1], "int32"), np.array(-1, "int32")
    for kinds, key, numbers in [((pick, index, whole, whole), (3, some), [3]), ((index, pick, whole, whole), (some, 2), [2])]:
        y = x.copy()
        y[key] = z
        case("withAt", [x, np.broadcast_to(z, x[key].shape).copy(), some], y, [4, *(w for kind in kinds for w in kind)], numbers)


def sampled():
    """Rows about samples, in half floats whose digits bfloat16 lacks, with answers of fractions; and in complex numbers."""
    x = (np.outer([257, -771, 1001, -2047, 333], [1, 0.5, -0.25, 1.5]) / 64).astype("float16")
    wide, at = x.astype("float64"), (np.array([1, 258, 771, 1001, 2047]) / 128).astype("float16")
    case("gradient", [x, None], np.gradient(wide, axis=0).astype("float16"), [0, 0], [1.0], tol="1~")
    case("gradient", [x, at], np.gradient(wide, at.astype("float64"), axis=0).astype("float16"), [0, 0], [1.0], tol="1~")
    case("trapezoid", [x, at], np.trapezoid(wide, at.astype("float64"), axis=0).astype("float16"), [0], [1.0], tol="1~")
    x, y, z = x[:3], x[1:].T.copy(), x[1:5, 1:3].copy()
    for equation, ins in [("ij->i", [x]), ("ij,jk->ik", [x, y]), ("ij,jk,kl->il", [x, y / np.array(64, "float16"), z / np.array(64, "float16")])]:
        out = np.einsum(equation, *(v.astype("float64") for v in ins))
        case("einsum", ins, out.astype("float16"), [len(equation), *map(ord, equation)], tol="1")
    case("lerp", [x, -x, np.array(1 / 3, "float16")], (x.astype("float32") * (1 - 2 * np.array(1 / 3, "float16").astype("float32"))).astype("float16"), tol="1")
    for d, tol in [("complex64", "abs:0.05"), ("complex128", "abs:1e-9")]:
        z = (ODD[:4] / 3 + 1j * ODD[1:] / 3).astype(d)
        case("correlate", [z, (z[:2] / 64).astype(d)], np.correlate(z.astype("complex128"), z[:2].astype("complex128") / 64).astype(d), [0], tol=tol)
        # Divided by a number of all digits.
        case("cov", [z], np.array(np.cov(z.astype("complex128"), ddof=0) * 4 / 3.7).astype(d), [1], [0.3], tol="8~")
        few_complex(d)
    for d in FLOATS:
        # Fewer observations than the correction.
        case("cov", [np.array([[1, 3], [2, 5], [4, 1]], d)], (np.array([[1, 1, -1], [1, 1, -1], [-1, -1, 1]]) * inf).astype(d), [1], [3.0])
    for d, tol in [("float32", "1"), ("float64", "1")]:
        case("fft.fftfreq", [], np.fft.fftfreq(515).astype(d), [515, {"float32": 11, "float64": 12}[d], 0], [1.0], tol=tol)
        case("fft.rfftfreq", [], np.fft.rfftfreq(515).astype(d), [515, {"float32": 11, "float64": 12}[d], 0], [1.0], tol=tol)


def correlated():
    """Coefficients that roundings carry beyond 1."""
    for d in ["float32", "float64", "complex64", "complex128"]:
        part = np.dtype(d).type(0).real.dtype.type
        over = lambda t: part(t) / np.sqrt(part(t)) / np.sqrt(part(t)) > 1
        # Deviations n and -n.
        n = next(n for n in range(1, 100) if over(2 * n * n))
        x = np.array([n, -n], d)
        rows, signs = ([x, -x, x], [1, -1, 1]) if d.startswith("f") else ([x, -x, 1j * x], [1, -1, 1j])
        case("corrcoef", [np.stack(rows).astype(d)], np.outer(signs, np.conj(signs)).astype(d), [1], tol="0~")


QUANTILES = [("quantile", 1, np.quantile), ("percentile", 100, np.percentile), ("nanquantile", 1, np.nanquantile), ("nanpercentile", 100, np.nanpercentile)]


def fractions():
    """Order statistics: numbers and fractions of all digits, long lines, infinities, NaN in some lines, ends and what is beyond them."""
    shares = np.array([0, 0.1, 0.3, 0.5, 0.77, 0.999, 1])
    for row, whole, fn in QUANTILES:
        for d, q_of, tol in [("float16", "float16", "1"), ("float16", "float32", "abs:1e-3"), ("float32", "float16", "abs:1e-3"), ("float32", "float32", "abs:1e-3"), ("float64", "float64", "abs:1e-9"), ("int32", "float32", "abs:1e-3")]:
            x = (ODD[::-1] if d == "int32" else ODD / (64 if d == "float16" else 3)).astype(d)
            q = (shares * whole).astype(q_of)
            for m, method in enumerate(METHODS):
                # A place near a half way is anybody's in the row's own precision.
                if q_of == "float16" and method == "nearest":
                    continue
                out = "float16" if (d, q_of) == ("float16", "float16") else "float64" if d == "float64" else "float32"
                y = fn(x.astype("float64"), q.astype("float64"), method=method)
                # Methods that count from the start round the place once more.
                case(row, [x, q], y.astype(out), [-1, 0, m], tol="abs:2e-3" if tol == "abs:1e-3" and m > 4 else tol)
        lines = np.stack([np.arange(301), np.arange(301)[::-1] * 3 + 1]).astype("float32")
        if row.startswith("nan"):
            lines[0, 5:40], lines[1, :3] = nan, nan
        q = (np.array([0, 0.111, 0.303, 0.507, 0.771, 0.999, 1]) * whole).astype("float32")
        for m, method in enumerate(METHODS):
            if method != "nearest":
                half, p = lines.astype("float16"), q.astype("float16")
                case(row, [half, p], fn(half.astype("float64"), p.astype("float64"), axis=1, method=method).astype("float16"), [1, 1, 0, m], tol="1")
            case(row, [lines, q], fn(lines.astype("float64"), q.astype("float64"), axis=1, method=method).astype("float32"), [1, 1, 0, m], tol="abs:3e-4")
        # Places between the second and the third element: which of them is nearer, and a way between infinities.
        x = np.array([[7, 1, 3, 12], [nan, 2, 9, 4], [8, -1, nan, 20], [inf, inf, inf, inf], [5, 6, 11, 13]], "float32")
        kept = np.sort(x, 1) if row.startswith("nan") else np.where(np.isnan(x).any(1, keepdims=True), nan, np.sort(x, 1))
        last = np.isfinite(kept).sum(1) - 1
        last[3] = 3
        answers, shares_of_lines = [], [0.5625, 0.375, 0.75]
        for share in shares_of_lines:
            place = np.maximum(share * last, 0)
            low, high = (np.take_along_axis(kept, at.astype(int)[:, None], 1)[:, 0] for at in (np.floor(place), np.ceil(place)))
            with np.errstate(invalid="ignore"):
                t = place - np.floor(place)
                linear = np.where(low == high, low, low + (high - low) * t)
                midpoint = np.where(low == high, low, (low + high) / 2)
            nearest = np.take_along_axis(kept, np.rint(place).astype(int)[:, None], 1)[:, 0]
            answers.append([linear, low, high, midpoint, nearest])
        q = (np.array(shares_of_lines) * whole).astype("float32")
        for m in range(5):
            case(row, [x, q], np.stack([y[m] for y in answers]).astype("float32"), [1, 1, 0, m], tol="4")
        for m in range(5):
            ends = np.array([0, whole], "float32")
            case(row, [np.array([3, 1, 2], "float32"), ends], np.array([1, 3], "float32"), [-1, 0, m])
            for outside in [-0.25, -0.005 * whole, whole * 1.01, nan, inf]:
                out_of_range(row, [np.array([3, 1, 2], "float32"), np.array([outside], "float32")], [-1, 0, m])
        # Near an end the way from the other one has lost the digits: an eighth of the last place of the way between them.
        step = np.float32(2.0**-24)
        case(row, [np.array([0, 3], "float32"), np.array([whole * step], "float32")], np.array([3 * step], "float32"), [-1, 0, 0], tol="1")
        near = np.nextafter(np.float32(whole), np.float32(0))
        y = np.array([-1.02 * (1 - float(near) / whole)])
        case(row, [np.array([-1.02, 0], "float32"), np.array([near])], y.astype("float32"), [-1, 0, 0], tol="abs:3e-8")


def samples_between():
    """Interpolation among so many samples that a bisection meets places beyond them; infinite samples, which are met exactly."""
    for n in range(1, 10):
        xp = (np.arange(n) * 2.5 + 0.25).astype("float32")
        fp = (ODD[np.arange(n) % 5] * (np.arange(n) + 1) / 4).astype("float32")
        x = np.concatenate([xp, xp + 0.5, [xp[0] - 1, xp[-1] + 1, inf, -inf, *[nan][: n - 1]]]).astype("float32")
        wide = x.astype("float64"), xp.astype("float64"), fp.astype("float64")
        case("interp", [x, xp, fp, None, None], np.interp(*wide).astype("float32"), tol="abs:0.01")
        case("interp", [x, xp, fp, -3.0, 0.5], np.interp(*wide, left=-3, right=0.5).astype("float32"), tol="abs:0.01")
        for turn in [0, 1]:
            odd = np.where(np.arange(n) % 2 == turn, [inf, -inf, nan, inf, inf, -inf, nan, inf, inf][:n], fp).astype("float32")
            case("interp", [xp, xp, odd, None, None], odd)
        # NaN stands between the last sample and the first: no line of theirs is taken for it, not even a level one.
        case("interp", [np.array([nan], "float32"), xp, np.append(fp[:-1], fp[0]), None, None], np.array([nan], "float32"))
    for level in [3.0, inf]:
        x, xp, fp = np.array([nan, 0.5], "float32"), np.array([0, 1], "float32"), np.full(2, level, "float32")
        case("interp", [x, xp, fp, None, None], np.array([nan, level], "float32"))
    x, xp, fp = np.array([-9, 2.5, 9], "float16"), np.array([1, 2, 3], "float16"), (ODD[:3] / 8).astype("float16")
    sides = [np.array(257 / 8, "float16"), np.array(-771 / 8, "float16")]
    case("interp", [x, xp, fp, *sides], np.array([sides[0], (fp[1].astype("float32") + fp[2].astype("float32")) / 2, sides[1]], "float16"), tol="1")
    for d in ["int16", "float16"]:
        sides = [np.array(257, d), np.array(-771, d)]
        case("interp", [x.astype("float32"), xp.astype("float32"), fp.astype("float32"), *sides], np.array([257, (float(fp[1]) + float(fp[2])) / 2, -771], "float32"), tol="1")


def searches():
    """Equal elements and NaN at every look of a bisection."""
    for d, line in [("bool", [False] * 3 + [True] * 5), *((d, [0, 1, 2] + [nan] * 5) for d in FLOATS)]:
        x1 = np.array(line, d)
        for size in [8, 7, 6, 5]:
            x2 = np.array(sorted(set(line), key=str), d) if d == "bool" else np.array([nan, 1, -1, 3], d)
            for side in [0, 1]:
                case("searchsorted", [x1[:size].copy(), x2, None], np.searchsorted(x1[:size], x2, ["left", "right"][side]).astype("int32"), [side])


def closeness():
    """Where the size of the second operand, its sign, its imaginary part or the last digit decides."""
    for d in FLOATS + ["complex64", "complex128"]:
        pairs = [([-1.0, -100], [-1.01, -101], 0.0625, 0.0, True), ([100, 3], [100.5, 3], 0.01, 0.0, True), ([inf, 1], [inf, 1], 0.0, 0.0, True),
                 ([1, -inf], [1, inf], 0.5, 0.5, False), ([1, 2], [1, 4], 0.5, 0.0, True), ([1, 4], [1, 2], 0.5, 0.0, False)]
        if d.startswith("complex"):
            pairs += [([3 + 4j, 1j], [3 + 4j, 4 + 3j], 0.99, 0.0, True), ([4 + 3j, 1], [1j, 1], 0.99, 0.0, False), ([0.125 + 5j], [0.125 + 6j], 0.25, 0.0, True),
                      ([6 + 0.125j], [5 + 0.125j], 0.25, 0.0, True), ([3 + 3j], [0], 0.0, 4.0, False), ([3], [0], 0.0, 3.0, True), ([3j], [0], 0.0, 3.0, True)]
        for x, y, rtol, atol, near in pairs:
            x, y = np.array(x, d), np.array(y, d)
            case("allclose", [x, y], np.asarray(near), [0], [rtol, atol])
            case("isclose", [x, y], np.isclose(x, y, rtol=rtol, atol=atol), [0], [rtol, atol])
        for x, y, equal_nan, near in [([nan, 1], [nan, 1], 1, True), ([nan, 1], [nan, 1], 0, False), ([nan, 1], [1, 1], 1, False), ([1, 1], [nan, 1], 1, False), ([-1, 2], [1, 2], 1, False)]:
            case("allclose", [np.array(x, d), np.array(y, d)], np.asarray(near), [equal_nan], [0.0625, 0])
        # Nearly infinite.
        most = np.finfo(d).max
        y = np.array([most + 1j if d.startswith("complex") else most], d)
        for x in [y, y.real.copy()]:
            case("allclose", [x, y], np.asarray(True), [0], [0.0625, 2.0])
            case("isclose", [x, y], np.array([True]), [0], [0.0625, 2.0])
        # Of digits that a narrower dtype lacks.
        x = (ODD / 256).astype(d)
        case("allclose", [x, x], np.asarray(True), [0], [0.0, 0.0])
        case("isclose", [x, x], np.ones(5, bool), [0], [0.0, 0.0])
    for a, b in [("float16", "float32"), ("int16", "float32"), ("float32", "float64"), ("int32", "float64"), ("float32", "complex64"), ("complex64", "complex128")]:
        x = ODD.astype(a)
        y = x.astype(b)
        for pair in [[x, y], [y, x]]:
            case("allclose", pair, np.asarray(True), [0], [0.0, 0.0])
            case("isclose", pair, np.ones(5, bool), [0], [0.0, 0.0])


def whole_numbers():
    """Of eleven bits, whose products float32 holds, and cross products; replacements; sums of windows; rounding of complex numbers."""
    u, v = (np.array([1025, -771, 1001]) / 64).astype("float16"), (np.array([333, -1283, 2047]) / 1024).astype("float16")
    for x, y in [(u, v), (v, u), (u[[1, 2, 0]], v), (u[[2, 0, 1]], v), (v, u[[1, 2, 0]])]:
        case("cross", [x.copy(), y.copy()], np.cross(x.astype("float64"), y.astype("float64")).astype("float16"), [-1])
    for d in FLOATS + ["complex64", "complex128"]:
        x = (ODD / 3).astype(d) if d in FLOATS else (ODD / 3 - 1j * ODD[::-1] / 3).astype(d)
        x[3] = nan
        part = np.dtype(d).type(0).real.dtype.type
        values = [part(257.25), part(-771.5), part(1001.5)]
        y = np.nan_to_num(x, nan=values[0], posinf=values[1], neginf=values[2])
        case("nanToNum", [x, *(np.array(v) for v in values)], y)
        odd = np.array([inf, -inf, nan, 1] if d in FLOATS else [complex(inf, -inf), complex(-inf, nan), complex(nan, inf), 1], d)
        case("nanToNum", [odd, *(np.array(v) for v in values)], np.nan_to_num(odd, nan=values[0], posinf=values[1], neginf=values[2]))
    for d in ["complex64", "complex128"]:
        z = (ODD + 0.3 - 1j * (ODD[::-1] + 0.6)).astype(d)
        case("round", [z], np.round(z))
