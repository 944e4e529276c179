"""Rows that put elements somewhere: scatters, segments, padding; and divisors of integers."""

import numpy as np

from arrays import ALL, near, some
from records import FLOATS, INTS, case, exactly, grid, inf, int_edges, nan, rng, to_float

COMPLEX = ["complex64", "complex128"]
UFUNCS = {"Add": np.add, "Mul": np.multiply, "Min": np.minimum, "Max": np.maximum}
MODES = ["constant", "edge", "reflect", "symmetric", "wrap"]


def scatters():
    for d in ALL + COMPLEX:
        for axis in [0, 1, -1]:
            x = some(d, (4, 5))
            n = x.shape[axis]
            i = np.concatenate([rng.integers(-n, n, 6), [1, 1]]).astype(["int32", "int64", "int8"][axis])
            u = some(d, (8, 5) if axis == 0 else (4, 8))
            at = (i,) if axis == 0 else (slice(None), i)
            y = x.copy()
            for k in range(8):
                where = (i[k],) if axis == 0 else (slice(None), i[k])
                y[where] = u[k] if axis == 0 else u[:, k]
            case("scatter", [x, i, u], y, [axis])
            for name, fn in UFUNCS.items():
                if (d == "bool" and name in ["Add", "Mul"]) or (d in COMPLEX and name in ["Min", "Max"]):
                    continue
                y = x.copy()
                with np.errstate(all="ignore"):
                    fn.at(y, at, u)
                if name != "Add":
                    case("scatter" + name, [x, i, u], y, [axis], tol="4" if d in FLOATS + COMPLEX and name == "Mul" else "0")
        for axis in [0, 1, -1]:
            x = some(d, (4, 5))
            n = x.shape[axis]
            i = rng.integers(-n, n, (3, 5) if axis == 0 else (4, 3)).astype(["int64", "uint8", "int32"][axis])
            i = i % n if i.dtype == "uint8" else i
            for k, fn in enumerate([None, np.add, np.multiply, np.minimum, np.maximum]):
                if (d == "bool" and k in [1, 2]) or (d in COMPLEX and k > 2):
                    continue
                for values in [some(d, i.shape), some(d, (1, i.shape[1])), some(d, ())]:
                    y, wide = x.copy(), np.broadcast_to(values, i.shape)
                    for place in np.ndindex(*i.shape):
                        to = (int(i[place]), place[1]) if axis == 0 else (place[0], int(i[place]))
                        with np.errstate(all="ignore"):
                            y[to] = wide[place] if fn is None else fn(y[to], wide[place])
                    case("putAlongAxis", [x, i, values], y, [axis, k], tol="2" if d in COMPLEX and k == 2 else "0")
        if d == "bool":
            continue
        x, segments = some(d, (7, 3)), rng.integers(0, 4, 7).astype("int32")
        tol = near(d, 40) if d in FLOATS + COMPLEX else "0"
        for name, fn, start in [("Sum", np.add, 0), ("Prod", np.multiply, 1), ("Min", np.minimum, inf), ("Max", np.maximum, -inf)]:
            if d in COMPLEX and name in ["Min", "Max"]:
                continue
            if d in INTS and name in ["Min", "Max"]:
                start = np.iinfo(d).max if name == "Min" else np.iinfo(d).min
            wide = {"float16": "float64", "float32": "float64", "complex64": "complex128"}.get(d, d)
            y = np.full((5, 3), start, wide)
            with np.errstate(all="ignore"):
                fn.at(y, segments, x.astype(wide))
            if d in INTS:
                y = np.full((5, 3), start, object)
                fn.at(y, segments, x.astype(object))
                exactly("segment" + name, [x, segments], y, d, [5])
                continue
            case("segment" + name, [x, segments], y.astype(d), [5], tol=tol if name != "Prod" or tol == "0" else near(d, 4000))
        f = d if d in COMPLEX else to_float(d)
        wide = "complex128" if d in COMPLEX else "float64"
        y = np.zeros((5, 3), wide)
        np.add.at(y, segments, x.astype(wide))
        with np.errstate(all="ignore"):
            mean = y / np.bincount(segments, minlength=5)[:, None]
        if d in COMPLEX:
            known = np.bincount(segments, minlength=5) > 0
            rows = np.flatnonzero(known)
            back = np.full(5, -1)
            back[rows] = np.arange(len(rows))
            case("segmentMean", [x, back[segments].astype("int32")], mean[rows].astype(f), [len(rows)], tol=tol)
        else:
            case("segmentMean", [x, segments], mean.astype(f), [5], tol=near(d, 40))
    for d in FLOATS:
        x, i = np.array([1, nan, 3, -0.0], d), np.array([0, 1, 2, 3], "int32")
        u = np.array([nan, 1, 5, 0.0], d)
        case("scatterMin", [x, i, u], np.array([nan, nan, 3, -0.0], d), [0])
        case("scatterMax", [x, i, u], np.array([nan, nan, 5, 0.0], d), [0])


def padding():
    for d in ALL + COMPLEX:
        x = some(d, (3, 4))
        for m, mode in enumerate(MODES):
            for pairs in [[(1, 1)], [(2, 0), (0, 3)], [(0, 0)], [(7, 5), (9, 11)]]:
                each = pairs * 2 if len(pairs) == 1 else pairs
                low, high = zip(*pairs)
                aw = [len(low), *low, len(high), *high, m]
                for value in [0.0, 1.0] if m == 0 else [0.0]:
                    more = {"constant_values": np.array(value).astype(d)} if m == 0 else {}
                    case("pad", [x], np.pad(x, each, mode, **more), aw, [value])
        one = some(d, (1,))
        for m, mode in enumerate(MODES):
            case("pad", [one], np.pad(one, (3, 2), mode) if m else np.pad(one, (3, 2)), [1, 3, 1, 2, m], [0.0])
        case("pad", [np.zeros((0, 2), d)], np.ones((1, 2), d), [2, 1, 0, 2, 0, 0, 0], [1.0])


def divisors():
    for d in INTS:
        a, b = grid(np.concatenate([int_edges(d), np.array([12, 18, 100, 64, 27], d)]))
        with np.errstate(all="ignore"):
            g = np.gcd(a, b)
            case("gcd", [a, b], g)
            # x / gcd by y: wraps where the multiple does.
            bits = np.iinfo(d).bits
            out = []
            for x, y, v in zip(a.tolist(), b.tolist(), g.tolist()):
                v = v % (1 << bits) if d.startswith("u") else v
                quotient = 0 if v == 0 else int(abs(x) // abs(v)) * (1 if (x < 0) == (v < 0) else -1)
                multiple = (quotient * y) % (1 << bits)
                signed = multiple - (1 << bits) if not d.startswith("u") and multiple >= 1 << (bits - 1) else multiple
                wrapped = abs(signed) % (1 << bits)
                out.append(wrapped - (1 << bits) if not d.startswith("u") and wrapped >= 1 << (bits - 1) else wrapped)
            case("lcm", [a, b], np.array(out, d))
            small = np.abs(a.astype("float64")) < 64
            both = small & (np.abs(b.astype("float64")) < 64)
            both[both] = np.lcm(a[both].astype("int64"), b[both].astype("int64")) < 128
            case("lcm", [a[both], b[both]], np.lcm(a[both], b[both]))
