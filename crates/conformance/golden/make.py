"""Writes golden.txt.gz: NumPy's and PyTorch's answers for every public row, by which the reference executor is checked.

Run in a virtual environment outside the repository with numpy 2.4, scipy, mpmath and torch 2.15:
    python golden/make.py golden/golden.txt.gz

Where this library differs from NumPy on purpose the script says so: integers take float32 in floating functions, positions
are int32, small integers sum in 32 bits, integer division by zero gives 0, and float to integer conversion saturates.
"""

import math
import sys

import mpmath
import numpy as np
import scipy.special

import arrays
import complex_numbers
import digits
import elementwise
import ends
import functions
import linear_algebra
import network_digits
import networks
import pytorch
import pytorch_arrays
import pytorch_networks
import pytorch_reductions
import random_numbers
import ranges
import samples
import scatters
import sliding
import special
import stacking
from records import FLOATS, INTS, NUMBER, added, case, data, edges, floats, grid, inf, int_edges, ints, nan, put, rng, to_float, total, write
from sliding import conv, counted, sides, windows

np.seterr(all="ignore")

# --- unary
for d in FLOATS + INTS:
    x = data(d)
    case("negative", [x], np.negative(x))
    case("abs", [x], np.abs(x))
    case("sign", [x], np.sign(x))
    case("square", [x], x * x)
    case("relu", [x], np.where((x > 0) | np.isnan(x), x, np.zeros(1, d)))
    for name in ["floor", "ceil"]:
        case(name, [x], getattr(np, name)(x) if d in FLOATS else x)
    case("round", [x], np.rint(x) if d in FLOATS else x)
for d in FLOATS + ["int32", "uint8", "bool"]:
    x = data(d)
    f = to_float(d)
    wide = x.astype(f).astype("float64")
    ulps = "2" if f == "float64" else "1"
    case("sqrt", [x], np.sqrt(x.astype(f)))
    case("reciprocal", [x], (np.array(1, f) / x.astype(f)))
    case("rsqrt", [x], (np.array(1, f) / np.sqrt(x.astype(f))))
    for name, fn in [("exp", np.exp), ("log", np.log), ("tanh", np.tanh), ("sigmoid", scipy.special.expit), ("sin", np.sin),
                     ("cos", np.cos), ("erf", scipy.special.erf)]:
        with np.errstate(all="ignore"):
            y = fn(wide)
        case(name, [x], y.astype(f), tol=ulps)
    case("isnan", [x], np.isnan(x.astype(f)))
    case("isfinite", [x], np.isfinite(x))
    case("logicalNot", [x], np.logical_not(x))

# --- binary
for d in FLOATS + INTS:
    a, b = both = grid(edges(d) if d in FLOATS else int_edges(d))
    case("add", [a, b], a + b)
    case("subtract", [a, b], a - b)
    case("multiply", [a, b], a * b)
    case("divide", [a, b], a.astype(to_float(d)) / b.astype(to_float(d)))
    if d in FLOATS:
        case("remainder", [a, b], np.remainder(a, b))
        q = np.floor_divide(a, b)
        case("floorDivide", [a, b], q)
        # Large quotients, which rounding leaves beside an integer.
        a, b = floats(d, 60, 1e4 if d == "float16" else 1e6), floats(d, 60, 0.5)
        case("remainder", [a, b], np.remainder(a, b))
        case("floorDivide", [a, b], np.floor_divide(a, b))
        a, b = both
    else:
        # By zero: 0. NumPy agrees (with a warning); min // -1 wraps.
        case("remainder", [a, b], np.remainder(a, b))
        zero = b == 0
        q = np.array([0 if int(y) == 0 else int(x) // int(y) for x, y in zip(a, b)], object)
        width = np.iinfo(d).bits
        q = np.array([int(v) & ((1 << width) - 1) for v in q], "uint64").astype("u" + d.lstrip("u")).astype(d)
        case("floorDivide", [a, b], q)
    case("minimum", [a, b], np.minimum(a, b) if d not in FLOATS else np.where(np.isnan(a) | np.isnan(b), np.array(nan, d), np.where((a < b) | ((a == b) & np.signbit(a)), a, b)))
    case("maximum", [a, b], np.maximum(a, b) if d not in FLOATS else np.where(np.isnan(a) | np.isnan(b), np.array(nan, d), np.where((a > b) | ((a == b) & ~np.signbit(a)), a, b)))
    for name, fn in [("equal", np.equal), ("notEqual", np.not_equal), ("less", np.less), ("lessEqual", np.less_equal),
                     ("greater", np.greater), ("greaterEqual", np.greater_equal), ("logicalAnd", np.logical_and), ("logicalOr", np.logical_or)]:
        case(name, [a, b], fn(a, b))
for d in FLOATS:
    a, b = grid(np.array([0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, inf, -inf, nan, 10, 0.1], d))
    case("pow", [a, b], np.power(a.astype("float64"), b.astype("float64")).astype(d), tol="1" if d != "float64" else "2")
for d in INTS:
    a, b = grid(np.array([0, 1, 2, 3, 5, 7], d))
    case("pow", [a, b], np.power(a, b))
case("pow", [np.array([2, 1, -1, -1, 0], "int32"), np.array([-1, -3, -3, -2, -1], "int32")], np.array([0, 1, -1, 1, 0], "int32"))
# Broadcasting and promotion of values
a, b = floats("float32", (3, 1, 4)), floats("float64", (2, 1))
case("add", [a, b], a + b)
a, b = ints("int8", (4,)), ints("uint8", (3, 1))
case("multiply", [a, b], a * b)
a = floats("float32", (3,))
case("add", [a, 0.1], a + np.float32(0.1))
case("subtract", [2.5, a], np.float32(2.5) - a)
x = ints("int64", (4,))
case("multiply", [x, 9007199254740993], x * np.int64(9007199254740993))
case("remainder", [np.array([5.0, -5.0, 5.5, -5.5], "float32"), -3.0], np.remainder(np.array([5.0, -5.0, 5.5, -5.5], "float32"), np.float32(-3)))

# --- select
for d in FLOATS + ["int32", "uint8"]:
    a, b = data(d), data(d)[::-1].copy()
    c = rng.integers(0, 2, a.shape).astype(bool)
    case("where", [c, a, b], np.where(c, a, b))
    case("clip", [a, 1.0, 5.0], np.clip(a, np.array(1, d), np.array(5, d)))
    case("clip", [a, None, 5.0], np.minimum(a, np.array(5, d)))
case("where", [np.array([[True], [False]]), np.arange(3, dtype="float32"), -1.0], np.where(np.array([[True], [False]]), np.arange(3, dtype="float32"), np.float32(-1)))
for d in ["bool"] + INTS + FLOATS:
    for e in ["bool"] + INTS + FLOATS + ["complex64", "complex128"]:
        x = data(d)
        if d in FLOATS and e in INTS:
            i = np.iinfo(e)
            y = np.array([0 if math.isnan(v) else i.max if v > i.max else i.min if v < i.min else int(v) for v in x.astype("float64").tolist()], e)
        else:
            y = x.astype(e)
        case("astype", [x], y, [NUMBER[e]])
for d in FLOATS + ["int16", "bool", "complex64"]:
    x = floats("float32", (2, 3)).astype(d)
    case("copy", [x], x)
case("oneHot", [np.array([[0, 2], [3, -1]], "int32")], np.array([[[1, 0, 0], [0, 0, 1]], [[0, 0, 0], [0, 0, 0]]], "float32"), [3, nan])

# --- reductions: axis words, keepdims, dtype
ALL = [-1]


def axes_words(axis):
    return ALL if axis is None else [len(axis), *axis]


for d in FLOATS + INTS + ["bool"]:
    for axis, keep in [(None, False), ((0,), True), ((-1,), False), ((0, 2), False), ((), False)]:
        x = (floats(d, (3, 4, 5)) if d in FLOATS else rng.integers(0, 4, (3, 4, 5)).astype(d))
        kw = dict(axis=axis, keepdims=keep)
        aw = axes_words(axis)
        wide = x.astype("longdouble") if d in FLOATS else x
        tol = "abs:" + repr({"float16": 0.2, "float32": 2e-4, "float64": 1e-12}.get(d, 0.0)) if d in FLOATS else "0"
        case("sum", [x], np.sum(wide, dtype=None if d in FLOATS else total(d), **kw).astype(total(d)), [*aw, keep, nan], tol=tol)
        small = (x * 0 + 1.25).astype(d) if d in FLOATS else x
        case("prod", [small], np.prod(small.astype("longdouble") if d in FLOATS else small, dtype=None if d in FLOATS else total(d), **kw).astype(total(d)), [*aw, keep, nan], tol="64" if d in FLOATS else "0")
        case("mean", [x], np.mean(wide, dtype="longdouble", **kw).astype(to_float(d)), [*aw, keep], tol="abs:" + repr({"float16": 0.01, "float64": 1e-13}.get(d, 1e-5)))
        case("max", [x], np.max(x, **kw), [*aw, keep])
        case("min", [x], np.min(x, **kw), [*aw, keep])
        case("all", [x], np.all(x, **kw), [*aw, keep])
        case("any", [x], np.any(x, **kw), [*aw, keep])
    for axis in [None, 0, -1]:
        x = (floats(d, (3, 4)) if d in FLOATS else rng.integers(0, 3, (3, 4)).astype(d))  # ties: the first wins
        for name, fn in [("argmax", np.argmax), ("argmin", np.argmin)]:
            case(name, [x], np.asarray(fn(x, axis=axis)).astype("int32"), [nan if axis is None else axis, 0])
for d in FLOATS:
    x = np.array([[1, nan, 3], [nan, 2, nan], [4, 5, -0.0]], d)
    case("max", [x], np.max(x, axis=1), [1, 1, 0])
    case("min", [x], np.min(x, axis=1), [1, 1, 0])
    case("argmax", [x], np.argmax(x, axis=1).astype("int32"), [1, 0])
    case("argmin", [x], np.argmin(x, axis=1).astype("int32"), [1, 0])
    case("sum", [np.zeros((0, 3), d)], np.zeros(3, d), [1, 0, 0, nan])
    case("mean", [np.zeros((0, 2), d)], np.full(2, nan, d), [1, 0, 0])
case("sum", [np.ones((3,), "int8")], np.array(3, "float64"), [-1, 0, NUMBER["float64"]])

# --- products
for d in FLOATS + INTS:
    a, b = (rng.integers(0, 5, s).astype(d) for s in [(3, 4), (4, 2)])
    u, v = added(a), added(b)
    case("matmul", [a, b], u @ v)
    case("matmul", [a[0], b], u[0] @ v)
    case("matmul", [a, b[:, 0].copy()], u @ v[:, 0])
    case("matmul", [a[0], b[:, 1].copy()], np.asarray(u[0] @ v[:, 1]))
a, b = rng.integers(-4, 5, (2, 1, 3, 4)).astype("float32"), rng.integers(-4, 5, (5, 4, 2)).astype("float32")
case("matmul", [a, b], a @ b)
a, b = rng.integers(-4, 5, (2, 3, 4)).astype("float64"), rng.integers(-4, 5, (3, 4, 5)).astype("float64")
case("tensordot", [a, b], np.tensordot(a, b, 2), [2, -2, -1, 2, 0, 1])
case("tensordot", [a, b], np.tensordot(a, b, ([1, 2], [0, 1])), [2, 1, 2, 2, 0, 1])
b = rng.integers(-4, 5, (4, 2, 3)).astype("float32")
case("tensordot", [a.astype("float32"), b], np.tensordot(a.astype("float32"), b, ([2, 1], [0, 2])), [2, 2, 1, 2, 0, 2])
case("tensordot", [a, b[0]], np.tensordot(a, b[0].astype("float64"), 0), [0, 0])

# --- nn: exponentials of the larger numbers overflow; an exponential's relative error is its argument's absolute one
for d in FLOATS:
    for scale in [4.0, 150.0]:
        x = floats(d, (3, 5), scale)
        w = x.astype("longdouble")
        for axis in [0, -1]:
            e = np.exp(w - w.max(axis, keepdims=True))
            case("softmax", [x], (e / e.sum(axis, keepdims=True)).astype(d), [axis], tol=repr(6 + 4 * scale))
            y = (w - w.max(axis, keepdims=True)) - np.log(e.sum(axis, keepdims=True))
            case("logSoftmax", [x], y.astype(d), [axis], tol="abs:" + repr({"float16": 0.002, "float32": 4e-7, "float64": 1e-15}[d] * scale))

# --- windows: convolution and pooling by their definition, place by place; float data is whole, so sums are exact
for d in FLOATS + INTS:
    for x, w, stride, pads, dilation, groups in [
        ((2, 3, 7), (4, 3, 3), [2], [(1, 0)], [1], 1),
        ((1, 4, 6, 5), (6, 2, 2, 3), [1, 2], [(0, 2), (1, 1)], [2, 1], 2),
        ((2, 2, 3, 4, 3), (2, 1, 2, 1, 2), [1, 1, 1], [(0, 0), (0, 0), (1, 1)], [1, 1, 1], 2),
    ]:
        x, w = (rng.integers(0, 5, s).astype(d) for s in (x, w))
        attrs = [*counted(stride), *sides(pads), *counted(dilation), groups, -1, 0]
        case("nn.conv", [x, w], conv(added(x), added(w), stride, pads, dilation, groups), attrs)
    for shape, size, stride, pads, dilation in [
        ((2, 3, 9), [3], [2], [(1, 1)], [1]),
        ((1, 2, 5, 7), [2, 3], [2, 3], [(0, 0), (0, 2)], [1, 1]),
        ((1, 2, 4, 4, 5), [2, 2, 2], [1, 2, 1], [(1, 0), (0, 0), (0, 0)], [2, 1, 3]),
    ]:
        x = rng.integers(0, 90, shape).astype(d) - np.array(45 if d in FLOATS else 0, d)
        attrs = [*counted(size), *counted(stride), *sides(pads), *counted(dilation)]
        axes = tuple(range(-len(size), 0))
        lowest = -inf if d in FLOATS else np.iinfo(d).min
        case("nn.maxPool", [x], windows(x, size, stride, dilation, pads, lowest).max(axes), attrs)
        f = to_float(d)
        mean = windows(x.astype("float64"), size, stride, dilation, pads, 0).mean(axes)
        # Sums are whole numbers: one rounding, of the quotient (half floats divide in float32 and round again).
        case("nn.avgPool", [x], mean.astype(f), attrs, tol="1" if f == "float16" else "0")
    if d in FLOATS:
        x = np.array([[[1, nan, 3, 4, -inf, inf]]], d)
        case("nn.maxPool", [x], np.array([[[nan, 4, inf]]], d), [1, 2, -1, 1, 0, 1, 0, -1])
# 'same', whose windows are ceil(size / stride): the odd place lies behind.
x, w = np.array([[[1, 2, 3, 4]]], "int32"), np.array([[[1, 10]]], "int32")
case("nn.conv", [x, w], np.array([[[21, 32, 43, 4]]], "int32"), [-1, -1, -1, 1, -1, 0])
case("nn.conv", [x, np.array([[[1, 10, 100]]], "int32")], np.array([[[321, 43]]], "int32"), [1, 2, -1, -1, 1, -1, 0])

# --- shape
for d in ["float32", "int16", "bool", "complex128"]:
    x = rng.integers(0, 3, (2, 3, 4)).astype(d)
    case("reshape", [x], x.reshape(4, 6), [2, -1, 6])
    case("permuteDims", [x], x.transpose(2, 0, 1), [3, 2, 0, 1])
    case("matrixTranspose", [x], x.swapaxes(-1, -2))
    case("expandDims", [x], np.expand_dims(x, -2), [-2])
    case("squeeze", [x[:, :1].copy()], x[:, 0], [1, 1])
    case("flip", [x], np.flip(x, (0, 2)), [2, 0, -1])
    case("flip", [x], np.flip(x), [-1])
    case("broadcastTo", [x[:, :1].copy()], np.broadcast_to(x[:, :1], (5, 2, 3, 4)), [4, 5, 2, 3, 4])
    y = rng.integers(0, 3, (2, 1, 4)).astype(d)
    case("concat", [x, y], np.concatenate([x, y], 1), [1])
    case("stack", [x, x[::-1].copy()], np.stack([x, x[::-1]], -1), [-1])
    case("at", [x], x[1, ::-2, 1:3], [3, 1, 0, 2, 2, 2, 2], [1, 2, -2, 1, 1])
    case("at", [x], x[None, :, 1], [4, 0, 0, 2, 2, 1, 0, 2, 4], [0, 1, 1, 0, 1])
    z = x.copy()
    z[1, :, 1:3] = y[0, 0, :2]
    case("withAt", [x, y[0, 0, :2].copy()], z, [3, 1, 0, 2, 3, 2, 2], [1, 0, 1, 1, 1])
case("concat", [np.array([1, 2], "int8"), np.array([3.5], "float32")], np.array([1, 2, 3.5], "float32"), [0])

# --- indexing
for d in ["float32", "int8", "complex64", "bool"]:
    x = rng.integers(0, 5, (3, 4)).astype(d)
    i = np.array([[0, -1], [2, 1]], "int32")
    case("take", [x, i], np.take(x, i, 0), [0])
    case("take", [x, i.astype("int64")], np.take(x, i, 1), [1])
for d in ["float32", "int8", "uint64"]:
    x = rng.integers(0, 5, (3, 4)).astype(d)
    i = np.array([1, 1, -1], "int32")
    u = rng.integers(0, 9, (3, 4)).astype(d)
    y = x.copy()
    np.add.at(y, i, u)
    case("scatterAdd", [x, i, u], y, [0])
    u = rng.integers(0, 9, (3, 3)).astype(d)
    y = x.copy()
    np.add.at(y.T, i, u.T)
    case("scatterAdd", [x, i, u], y, [1])

# Index items: kinds and lengths as Attrs::decode knows them.
NEW_AXIS, PICK, WHOLE, INDEX, MASK = (0, 0), (1, 0), (3, 1), (4, 1), (5, 2)
SLICE = lambda n: (2, n)
items = lambda *kinds: [len(kinds), *(word for kind in kinds for word in kind)]
for d in ["float32", "int64", "bool", "complex128"]:
    x = (np.arange(24) * 5 % 7 % 4).reshape(2, 3, 4).astype(d)
    i, j, k = np.array([1, 0], "int32"), np.array([[3], [-1]], "int64"), np.array([2, 2, -3], "int8")
    case("at", [x, i], x[i], items(INDEX, WHOLE, WHOLE))
    case("at", [x, i, j], x[i, :, j], items(INDEX, WHOLE, INDEX))
    case("at", [x, i, j], x[::-1, i, j], items(SLICE(2), INDEX, INDEX), [1, -1])
    case("at", [x, k], x[1, :, k], items(PICK, WHOLE, INDEX), [1])
    case("at", [x, k], x[:, 1, k], items(WHOLE, PICK, INDEX), [1])
    case("at", [x, i, k[:2].copy()], x[i, None, k[:2]], items(INDEX, NEW_AXIS, INDEX, WHOLE))
    case("at", [x, np.array(1, "uint8"), np.zeros((0, 1), "int32")], x[np.array(1), ..., np.zeros((0, 1), int)], items(INDEX, WHOLE, INDEX))
    case("at", [x, np.zeros(1, "int32"), i], x[True, ..., i], items((4, 0), (3, 2), INDEX))
    case("at", [x, k], x.reshape(6, 4)[k], items((4, 2), WHOLE))
    u = (np.arange(24) * 3 % 5).astype(d)
    for index, attrs, numbers, operands in [
        ((slice(None), k), items(WHOLE, INDEX, WHOLE), [], [k]),
        ((i, slice(None), j), items(INDEX, WHOLE, INDEX), [], [i, j]),
        ((slice(None, None, -1), k, slice(1, 3)), items(SLICE(2), INDEX, SLICE(2)), [1, -1, 1, 1], [k]),
        ((0, k), items(PICK, INDEX, WHOLE), [0], [k]),
    ]:
        y, z = x.copy(), u[: x[index].size].reshape(x[index].shape)
        y[index] = z
        case("withAt", [x, z, *operands], y, attrs, numbers)
    y, mask = x.copy(), np.array([[True, False, True], [False, False, True]])
    y[mask] = u[:12].reshape(3, 4)
    case("withAt", [x, u[:12].reshape(3, 4), np.flatnonzero(mask)], y, items((4, 2), WHOLE))
    y[...] = x
    for v in [3, 0]:  # no mask is false where it selects
        y[mask] = np.array(v, d)
        case("withAt", [x, np.array(v, d), mask], y, items(MASK, WHOLE))
    y, mask = x.copy(), mask[0]
    y[::-1, mask, 2] = np.array(1, d)
    case("withAt", [x, np.array(1, d), mask], y, items(SLICE(2), (5, 1), PICK), [1, -1, 2])

# --- sort: NaN last ascending, first descending; stable
for d in FLOATS + INTS + ["bool"]:
    x = rng.integers(0, 4, (3, 6)).astype(d)
    if d in FLOATS:
        x[0, 1], x[2, 3], x[2, 5] = nan, nan, -inf
    for axis in [0, -1]:
        up = np.argsort(x, axis, kind="stable")
        case("sort", [x], np.take_along_axis(x, up, axis), [axis, 0])
        case("argsort", [x], up.astype("int32"), [axis, 0])
        n = x.shape[axis]
        down = n - 1 - np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
        case("sort", [x], np.take_along_axis(x, down, axis), [axis, 1])
        case("argsort", [x], down.astype("int32"), [axis, 1])
        k = 2
        pick = np.take(down, range(k), axis)
        case("topk", [x], [np.take_along_axis(x, pick, axis), pick.astype("int32")], [k, axis, 1])
        pick = np.take(up, range(k), axis)
        case("topk", [x], [np.take_along_axis(x, pick, axis), pick.astype("int32")], [k, axis, 0])

# --- linalg and fft
for d, tol in [("float32", 1e-4), ("float64", 1e-12)]:
    a = (floats(d, (2, 3, 3)) + 8 * np.eye(3)).astype(d)
    b = floats(d, (3, 2))
    case("linalg.solve", [a, b], np.linalg.solve(a.astype("float64"), b.astype("float64")).astype(d), tol=f"abs:{tol}")
    v = floats(d, (3,))
    case("linalg.solve", [a[0], v], np.linalg.solve(a[0].astype("float64"), v.astype("float64")).astype(d), tol=f"abs:{tol}")
    for shape in [(4, 3), (3, 4), (2, 3, 3)]:
        m = floats(d, shape)
        q, r = np.linalg.qr(m.astype("float64"))
        s = np.where(np.diagonal(r, axis1=-2, axis2=-1) < 0, -1.0, 1.0)  # the diagonal of r is not negative
        case("linalg.qr", [m], [(q * s[..., None, :]).astype(d), (r * s[..., :, None]).astype(d)], [0], tol=f"abs:{tol}")
for d, c, tol in [("float32", "complex64", 1e-4), ("complex64", "complex64", 1e-4), ("float64", "complex128", 1e-11), ("complex128", "complex128", 1e-11), ("int16", "complex64", 1e-3)]:
    x = floats("float64", (3, 7))
    x = (x + 1j * floats("float64", (3, 7))).astype(d) if d.startswith("c") else x.astype(d)
    for n, axis, norm in [(None, -1, "backward"), (5, -1, "ortho"), (9, 1, "forward"), (None, 0, "ortho"), (4, 0, "backward")]:
        aw = [nan if n is None else n, axis, ["backward", "ortho", "forward"].index(norm)]
        case("fft.fft", [x], np.fft.fft(x.astype("complex128"), n, axis, norm).astype(c), aw, tol=f"abs:{tol}")
        case("fft.ifft", [x], np.fft.ifft(x.astype("complex128"), n, axis, norm).astype(c), aw, tol=f"abs:{tol}")

# --- creation
for d in ["float32", "int8", "bool", "complex64", "float16", "uint64"]:
    e = NUMBER[d]
    case("zeros", [], np.zeros((2, 3), d), [2, 2, 3, e, 0])
    case("ones", [], np.ones((2, 3), d), [2, 2, 3, e, 0])
    case("empty", [], np.zeros((2, 3), d), [2, 2, 3, e, 0])  # zeros
    case("full", [1.0], np.full((2,), 1, d), [1, 2, e, 0])
    case("eye", [], np.eye(3, 4, 1, d), [3, 4, e, 0], [1])
    case("eye", [], np.eye(3, None, -1, d), [3, nan, e, 0], [-1])
case("full", [True], np.full((2,), True), [1, 2, nan, 0])
case("full", [7], np.full((2,), 7, "int64"), [1, 2, nan, 0])
for d in ["float32", "int32", "float64", "int64"]:
    case("arange", [], np.arange(2, 12, 3).astype(d), [4, NUMBER[d], 0], [2, 3])
    case("linspace", [], np.linspace(2, 10, 5).astype(d), [5, NUMBER[d], 0, 1], [2, 10])
case("arange", [], np.arange(0.5, 2.5, 0.25).astype("float32"), [8, nan, 0], [0.5, 0.25])
case("linspace", [], np.linspace(-1, 1, 7).astype("float32"), [7, nan, 0, 1], [-1, 1])
# An end that start + i * step misses.
start, stop, n = next((a, b, n) for a in (0.1, 0.3, 0.7) for b in (1.1, 2.3) for n in range(3, 60) if a + (n - 1) * ((b - a) / (n - 1)) != b)
case("linspace", [], np.linspace(start, stop, n), [n, NUMBER["float64"], 0, 1], [start, stop])

# --- half-open ranges, powers, triangles
for n in [0, 1, 2, 7]:
    for endpoint in [False, True]:
        case("linspace", [], np.linspace(-0.3, 1.1, n, endpoint), [n, NUMBER["float64"], 0, endpoint], [-0.3, 1.1])
        for d, base, tol in [("float64", 10.0, "2"), ("float32", 2.0, "1")]:
            case("logspace", [], np.logspace(-2, 3, n, endpoint, base).astype(d), [n, NUMBER[d], 0, endpoint], [-2, 3, base], tol=tol)
# Exponents so large that the ulp by which start + i * step misses the end is hundreds of ulps of the power.
start, stop, n = next((a, b, n) for a in (0.1, 0.3, 0.7) for b in (300.3, 250.7) for n in range(3, 60) if a + (n - 1) * ((b - a) / (n - 1)) != b)
case("logspace", [], np.logspace(start, stop, n), [n, NUMBER["float64"], 0, 1], [start, stop, 10], tol="3")
case("logspace", [], np.logspace(0, 4, 5, base=2, dtype="int16"), [5, NUMBER["int16"], 0, 1], [0, 4, 2])
for d in ["float32", "int8", "bool", "complex64", "float16", "uint64"]:
    x = (np.arange(24) % 5 + 1).reshape(2, 3, 4).astype(d)
    for k in [-3, -1, 0, 2, 4, 2**40]:
        case("tril", [x], np.tril(x, k), numbers=[k])
        case("triu", [x[0]], np.triu(x[0], k), numbers=[k])
# Zero, not the product with zero.
x = np.array([[nan, -inf], [inf, nan]], "float64")
case("tril", [x], np.tril(x), numbers=[0])
case("triu", [x], np.triu(x), numbers=[0])

# --- promotion: the array API table, inside kinds; NumPy's own float64 for uint64 with signed integers is an error here
for d in ["bool"] + INTS + FLOATS + ["complex64", "complex128"]:
    for e in ["bool"] + INTS + FLOATS + ["complex64", "complex128"]:
        kind = lambda t: "b" if t == "bool" else "i" if t in INTS else "f" if t in FLOATS else "c"
        if kind(d) == kind(e) or "bool" in (d, e) or (kind(d) in "fc" and kind(e) in "fc"):
            r = np.result_type(d, e).name
            if kind(d) == "i" == kind(e) and r.startswith("float"):
                r = "!"
            put("promote", d, e, r)

# --- elementary functions beyond the first (last, so that the generator's draws above stay what they are)
def exact(fn, pole, at_minus_infinity, at_infinity):
    """A function of mpmath's, rounded to float64 from 200 bits; NumPy's specials by hand."""

    def one(x):
        if math.isnan(x):
            return nan
        if math.isinf(x):
            return at_infinity if x > 0 else at_minus_infinity
        special = pole(x)
        if special is not None:
            return special
        with mpmath.workprec(200):
            y = fn(mpmath.mpf(x))
            return float(y) if abs(y) < mpmath.mpf(2) ** 1024 else inf if y > 0 else -inf

    return np.vectorize(one, otypes=["float64"])


def whole(x):
    return x <= 0 and x == math.floor(x)


# Beyond 1e15 Stirling's first terms are all there is; mpmath would add up 1e308.
lgamma = exact(
    lambda x: mpmath.log(abs(mpmath.gamma(x))) if abs(x) < 1e4 else x * (mpmath.log(x) - 1) - mpmath.log(x / (2 * mpmath.pi)) / 2,
    lambda x: inf if whole(x) else None, inf, inf)
digamma = exact(lambda x: mpmath.psi(0, x),
                lambda x: math.copysign(inf, -x) if x == 0 else nan if whole(x) else None, nan, inf)
erfinv = exact(mpmath.erfinv, lambda x: nan if abs(x) > 1 else math.copysign(inf, x) if abs(x) == 1 else x if x == 0 else
               x * 1.1283791670955126 ** -1 if abs(x) < 1e-30 else None, nan, nan)
erfc = exact(mpmath.erfc, lambda x: 0.0 if x > 30 else 2.0 if x < -30 else None, 2.0, 0.0)
MORE = {"exp2": np.exp2, "expm1": np.expm1, "log1p": np.log1p, "log2": np.log2, "log10": np.log10, "tan": np.tan,
        "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "asinh": np.arcsinh,
        "acosh": np.arccosh, "atanh": np.arctanh, "cbrt": np.cbrt, "erfc": erfc, "erfinv": erfinv, "lgamma": lgamma,
        "digamma": digamma}
for d in FLOATS + ["int32", "uint8", "bool"]:
    f = to_float(d)
    x = np.concatenate([edges(d), np.linspace(-1, 1, 23).astype(d), np.linspace(-6, 40, 24).astype(d)]) if d in FLOATS else data(d)
    for name, fn in MORE.items():
        # The reference takes these two from terms that are correct to float64: 128 units of 0.04 are 2 of 2.
        double = {"lgamma": "16", "digamma": "128"}.get(name, "2")
        case(name, [x], fn(x.astype(f).astype("float64")).astype(f), tol=double if f == "float64" else "1")
for d in FLOATS:
    a, b = grid(edges(d)[:-3])
    wide = a.astype("float64"), b.astype("float64")
    for name, fn in [("atan2", np.arctan2), ("hypot", np.hypot), ("logaddexp", np.logaddexp)]:
        case(name, [a, b], fn(*wide).astype(d), tol="2" if d == "float64" else "1")

# --- complex numbers: last, so that the generator's draws above stay what they are
complex_numbers.arithmetic()
complex_numbers.functions()
complex_numbers.matrices()
for d in ["complex64", "complex128"]:
    x, w = complex_numbers.gaussian(d, (2, 4, 6, 5)), complex_numbers.gaussian(d, (6, 2, 2, 3))
    pads = [(0, 2), (1, 1)]
    case("nn.conv", [x, w], conv(x, w, [1, 2], pads, [2, 1], 2), [*counted([1, 2]), *sides(pads), *counted([2, 1]), 2, -1, 0])

digits.powers()
digits.conversions(NUMBER, total)
digits.complex_numbers()
digits.masks()
digits.positions()
random_numbers.cases(NUMBER)
complex_numbers.quotients()
complex_numbers.beside_one()
complex_numbers.powers()

elementwise.bits(NUMBER)
elementwise.parts()
elementwise.divisions()
elementwise.functions()
elementwise.replacements()
elementwise.closeness()
elementwise.activations()

arrays.statistics()
arrays.running()
arrays.places()
arrays.lookups()
arrays.transforms()
linear_algebra.cases(NUMBER, total)

samples.quantiles()
samples.covariances()
samples.calculus()
samples.signals()
samples.einsums()
scatters.scatters()
scatters.padding()
scatters.divisors()
networks.norms()
networks.losses()
networks.attention()
sliding.convolutions()
sliding.transposed()
sliding.combined()
sliding.scattered()
sliding.resized()
samples.numbers()
stacking.stacks()
network_digits.cases()
digits.sampled()
digits.correlated()
digits.fractions()
digits.samples_between()
digits.searches()
digits.closeness()
digits.whole_numbers()
linear_algebra.degenerate()
complex_numbers.overflowing()
pytorch.cases()
pytorch_reductions.cases()
pytorch_networks.cases()
pytorch_arrays.cases()
ranges.cases()
ends.cases()
special.cases()
functions.cases()
write(sys.argv[1])
