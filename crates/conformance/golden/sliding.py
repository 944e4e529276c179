"""Rows that look at data through windows, by their definitions, place by place."""

import numpy as np

from arrays import near, some
from records import FLOATS, INTS, added, case, exactly, inf, nan, rng, to_float, total

MODES = [None, "edge", "reflect", "symmetric", "wrap"]


def windows(x, size, stride, dilation, pads, outside):
    """The elements of every window over the last axes: [lead..., o1..on, w1..wn]."""
    n = len(size)
    padded = np.full(x.shape[:-n] + tuple(s + a + b for s, (a, b) in zip(x.shape[-n:], pads)), outside, x.dtype)
    padded[(...,) + tuple(slice(a, a + s) for s, (a, _) in zip(x.shape[-n:], pads))] = x
    out = [(padded.shape[i - n] - d * (w - 1) - 1) // t + 1 for i, (w, t, d) in enumerate(zip(size, stride, dilation))]
    y = np.empty(x.shape[:-n] + tuple(out) + tuple(size), x.dtype)
    for o in np.ndindex(*out):
        for k in np.ndindex(*size):
            y[(...,) + o + k] = padded[(...,) + tuple(i * t + j * d for i, t, j, d in zip(o, stride, k, dilation))]
    return y


def sides(pads):
    return [len(pads), *(a for a, _ in pads), len(pads), *(b for _, b in pads)]


def counted(values):
    return [len(values), *values]


def conv(x, w, stride, pads, dilation, groups):
    seen = windows(x, w.shape[2:], stride, dilation, pads, 0)
    n, channels, each = w.ndim - 2, w.shape[1], w.shape[0] // groups
    out = np.zeros((x.shape[0], w.shape[0]) + seen.shape[2 : 2 + n], x.dtype)
    for o in range(w.shape[0]):
        part = seen[:, o // each * channels : (o // each + 1) * channels]
        for c in range(channels):
            out[:, o] += np.sum(part[:, c] * w[o, c], axis=tuple(range(-n, 0)), dtype=x.dtype)
    return out


def convolutions():
    """With zeros between the data's elements, and with data around them."""
    for d in FLOATS + ["int8", "uint64", "int32"]:
        for x, w, stride, pads, dilation, apart in [
            ((2, 3, 5), (2, 3, 3), [2], [(1, 2)], [1], [3]),
            ((1, 2, 4, 3), (2, 2, 2, 2), [1, 2], [(0, 2), (1, 1)], [2, 1], [2, 1]),
        ]:
            x, w = (rng.integers(0, 5, s).astype(d) for s in (x, w))
            shape = x.shape[:2] + tuple((n - 1) * step + 1 for n, step in zip(x.shape[2:], apart))
            spread = np.zeros(shape, d)
            spread[(slice(None), slice(None), *(slice(None, None, step) for step in apart))] = x
            for mode, name in enumerate(MODES):
                attrs = [*counted(stride), *sides(pads), *counted(dilation), 1, *counted(apart), mode]
                if name is None:
                    case("nn.conv", [x, w], conv(added(spread), added(w), stride, pads, dilation, 1), attrs)
                else:
                    wide = np.pad(spread, [(0, 0), (0, 0), *pads], name)
                    case("nn.conv", [x, w], conv(added(wide), added(w), stride, [(0, 0)] * len(pads), dilation, 1), attrs)


def transposed():
    for d in FLOATS + INTS:
        for x, w, stride, pads, more, dilation, groups in [
            ((2, 3, 4), (3, 2, 3), [2], [(1, 0)], [1], [1], 1),
            ((1, 4, 3, 2), (4, 3, 2, 3), [1, 3], [(0, 2), (1, 1)], [1, 2], [2, 1], 2),
            ((1, 2, 3), (2, 1, 2), [3], [(4, 0)], [0], [2], 1),
            ((1, 2, 2), (2, 1, 5), [1], [(0, 3)], [0], [1], 2),
            ((1, 1, 2, 3, 2), (1, 2, 2, 1, 2), [2, 1, 1], [(0, 0), (0, 0), (1, 1)], [0, 0, 0], [1, 1, 1], 1),
        ]:
            x, w = (rng.integers(0, 5, s).astype(d) for s in (x, w))
            n, each, inside = len(stride), w.shape[1], x.shape[1] // groups
            extent = [(i - 1) * s + e * (k - 1) + 1 + m for i, s, e, k, m in zip(x.shape[2:], stride, dilation, w.shape[2:], more)]
            y = np.zeros((x.shape[0], each * groups, *extent), total(d))
            for c in range(x.shape[1]):
                g = c // inside
                for i in np.ndindex(*x.shape[2:]):
                    for k in np.ndindex(*w.shape[2:]):
                        at = tuple(p * s + q * e for p, s, q, e in zip(i, stride, k, dilation))
                        part = added(x)[(slice(None), c, *i)][:, None] * added(w)[(c, slice(None), *k)]
                        y[(slice(None), slice(g * each, (g + 1) * each), *at)] += part.astype(total(d))
            cut = tuple(slice(a, n - b) for n, (a, b) in zip(extent, pads))
            attrs = [*counted(stride), *sides(pads), *counted(more), *counted(dilation), groups]
            case("nn.convTranspose", [x, w], y[(slice(None), slice(None), *cut)].copy(), attrs)
    x, w = np.array([[[1, 2]]], "int32"), np.array([[[1, 10, 100]]], "int32")
    # 'same', whose result is stride times as long: the odd place is cut off behind.
    case("nn.convTranspose", [x, w], np.array([[[1, 10, 102, 20]]], "int32"), [1, 2, -1, -1, -1, 1])
    case("nn.convTranspose", [x, w], np.array([[[12, 120]]], "int32"), [-1, -1, -1, -1, 1])


WINDOWS = [
    ((7,), [3], [2], [(1, 3)], [1]),
    ((4, 5), [2, 3], [1, 2], [(0, 0), (2, 1)], [2, 1]),
    ((3,), [1], [2], [(0, 2)], [1]),
    ((3, 3), [1, 2], [2, 1], [(1, 1), (0, 0)], [1, 1]),
    ((2, 3, 4), [1, 2, 2], [1, 1, 3], [(0, 0), (1, 0), (0, 2)], [1, 2, 1]),
]


def combined():
    for d in FLOATS + INTS + ["complex64", "complex128"]:
        low = 0 if d in FLOATS or d.startswith("complex") else np.iinfo(d).min
        for shape, size, stride, pads, dilation in WINDOWS:
            x = some(d, shape)
            attrs = [*counted(size), *counted(stride), *sides(pads), *counted(dilation)]
            axes = tuple(range(-len(size), 0))
            for name, fn, outside in [("Sum", np.sum, 0), ("Prod", np.prod, 1), ("Max", np.max, -inf), ("Min", np.min, inf)]:
                if name in ["Max", "Min"]:
                    if d.startswith("complex"):
                        continue
                    if d in INTS:
                        outside = np.iinfo(d).min if name == "Max" else np.iinfo(d).max
                    case("window" + name, [x], fn(windows(x, size, stride, dilation, pads, outside), axes), attrs)
                elif d in INTS:
                    exactly("window" + name, [x], fn(windows(x.astype(object), size, stride, dilation, pads, outside), axes), d, attrs)
                else:
                    y = fn(windows(x, size, stride, dilation, pads, outside), axes, dtype=d)
                    # What lies outside adds nothing, to -0 either.
                    case("window" + name, [x], y, attrs, tol="4" if name == "Prod" else "0~")
        if d in FLOATS:
            x = np.array([1, nan, 3, 4, -inf, inf], d)
            case("windowMax", [x], np.array([nan, nan, 4, 4, inf], d), [1, 2, -1, 1, 0, 1, 0, -1])
            case("windowMin", [x], np.array([nan, nan, 3, -inf, -inf], d), [1, 2, -1, 1, 0, 1, 0, -1])


def scatter(name, x, source, size, stride, pads, initial=0):
    """A source's elements where the largest (smallest) of each window stands, which is the first of several among the data."""
    y = np.full(x.shape, initial, source.dtype)
    for o in np.ndindex(*source.shape):
        seen = []
        for k in np.ndindex(*size):
            at = tuple(p * s + q - a for p, s, q, (a, _) in zip(o, stride, k, pads))
            if all(0 <= p < n for p, n in zip(at, x.shape)):
                seen.append(at)
        y[seen[(np.argmax if name == "Max" else np.argmin)([x[p] for p in seen])]] += source[o]
    case("windowScatter" + name, [x, source], y, [*counted(size), *counted(stride), *sides(pads)], [initial])


def scattered():
    for d in FLOATS + INTS:
        for shape, size, stride, pads, _ in WINDOWS:
            pads = [(min(a, k - 1), min(b, k - 1)) for (a, b), k in zip(pads, size)]
            x = some(d, shape)
            source = some(d, [(n + a + b - k) // s + 1 for n, k, s, (a, b) in zip(shape, size, stride, pads)])
            for initial in [0, 3]:
                for name in ["Max", "Min"]:
                    scatter(name, x, source, size, stride, pads, initial)
    for name, least in [("Max", -inf), ("Min", inf)]:
        # As small as what is around the data: the first place, or the one next to it.
        x = np.array([[least, least, least], [least, 1, least]])
        scatter(name, x, np.arange(1.0, 13).reshape(3, 4), (2, 2), (1, 1), [(1, 1), (1, 1)])
        for x in [np.full((2, 2, 2), least), np.array([[[3.0, 1], [6, 2]], [[0, 7], [5, 4]]])]:
            scatter(name, x, np.arange(1.0, 28).reshape(3, 3, 3), (2, 2, 2), (1, 1, 1), [(1, 1)] * 3)
        for shape, size in [((301,), (301,)), ((3, 4, 5), (2, 3, 2)), ((2, 2, 3, 4), (1, 1, 2, 2)), ((2, 3, 5), (1, 1, 3))]:
            x = np.sin(np.arange(np.prod(shape))).reshape(shape).astype("float32")
            if len(shape) == 1:
                x[257] = 2 if name == "Max" else -2
            counts = [n - k + 1 for n, k in zip(shape, size)]
            for d in ["float32", "float16"]:
                source = np.arange(1, np.prod(counts) + 1).reshape(counts).astype(d)
                scatter(name, x.astype(d), source, size, (1,) * len(size), [(0, 0)] * len(size))
    # Numbers of all digits, of another dtype than the sums.
    x, source = np.array([257, 258, -771, 1001, 1002, 3], "int16"), np.array([257.25, 1001.5, -771.5], "float32")
    for by in [source, source.astype("float16"), np.array([257, -771, 1001], "int32")]:
        for name in ["Max", "Min"]:
            scatter(name, x, by, (2,), (2,), [(0, 0)])


def mixed(x, axis, n, corners):
    """An axis made n elements long, of both neighbours of each place."""
    m, i = x.shape[axis], np.arange(n)
    place = i * ((m - 1) / max(n - 1, 1)) if corners else np.maximum((i + 0.5) * m / n - 0.5, 0)
    low = np.minimum(np.floor(place + 1e-9).astype(int), m - 1)
    t = np.maximum(place - low, 0).reshape([-1 if a == axis else 1 for a in range(x.ndim)])
    near = np.take(x, low, axis)
    with np.errstate(all="ignore"):
        return np.where(t < 1e-9, near, near * (1 - t) + np.take(x, np.minimum(low + 1, m - 1), axis) * t)


def resized():
    for d in FLOATS + INTS:
        f = to_float(d)
        for shape, size in [((2, 3, 7), [3]), ((1, 2, 5), [5]), ((1, 2, 3), [8]), ((1, 2, 5, 4), [2, 7]), ((1, 1, 2, 3, 5), [1, 2, 4])]:
            x = some(d, shape)
            largest, mean, nearest = x, x.astype("float64"), x.astype("float64")
            for a, n in enumerate(size, 2):
                m = shape[a]
                spans = [slice(i * m // n, -((-(i + 1) * m) // n)) for i in range(n)]
                largest = np.stack([np.take(largest, range(s.start, s.stop), a).max(a) for s in spans], a)
                mean = np.stack([np.take(mean, range(s.start, s.stop), a).mean(a) for s in spans], a)
                nearest = np.take(nearest, [i * m // n for i in range(n)], a)
            case("nn.adaptiveMaxPool", [x], largest, counted(size))
            close = near(d, 40)
            case("nn.adaptiveAvgPool", [x], mean.astype(f), counted(size), tol=close)
            case("nn.interpolate", [x], nearest.astype(f), [*counted(size), 0, 0])
            for corners in [0, 1]:
                y = x.astype("float64")
                for a, n in enumerate(size, 2):
                    y = mixed(y, a, n, corners)
                case("nn.interpolate", [x], y.astype(f), [*counted(size), 1, corners], tol=close)
    # What lies on an element has nothing of an infinite neighbour.
    x = np.array([[[1, inf, 3]]], "float32")
    case("nn.interpolate", [x], np.array([[[1, inf, inf, inf, 3]]], "float32"), [1, 5, 1, 1])
    case("nn.adaptiveMaxPool", [np.array([[[1, nan, 3]]], "float32")], np.array([[[nan, nan]]], "float32"), [1, 2])
