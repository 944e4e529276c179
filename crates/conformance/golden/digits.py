"""Calls whose answers change with every bit of their operands: numbers of all digits, exponents of all bits, positions all apart.
Of small whole numbers a conversion to a narrower dtype on the way loses nothing."""

import numpy as np
import scipy.special

from records import FLOATS, INTS, case, floats, inf, nan

# Odd, of nine bits and more: not numbers of bfloat16, nor of int8.
ODD = np.array([257, -771, 1001, -12345, 333], "int64")


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
