"""Where a call has nothing to do, where an answer's digits are lost on the way, what the values of calls made of rows must be, and what
integers do at the ends of their dtype."""

import mpmath
import numpy as np

from random_numbers import DRAW, KEYS, block, bounds
from records import INTS, NUMBER, case, exactly, nan, out_of_range, total
from sliding import counted, sides


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


def negative_zeros():
    for d in ["float32", "float64"]:
        case("linalg.slogdet", [np.array([[-0.0]], d)], [np.zeros((), d), np.array(-np.inf, d)])


def whole_ranges():
    """All of int64: the upper half of each draw."""
    for key in KEYS[:2]:
        high = np.array([words[2] | words[3] << 32 for words in (block(key, i, DRAW) for i in range(9))], "uint64")
        values = (high ^ np.uint64(1 << 63)).view("int64")
        case("random.randint", [key], values, [1, 9, NUMBER["int64"]], bounds(-(2**63), 2**63))


def overflows():
    """Sums and products of integers at the ends of their dtype, and beyond."""
    for d in INTS:
        low, high = int(np.iinfo(d).min), int(np.iinfo(d).max)
        to = total(d)
        for values in [[high], [low], [high, 1], [low, low], [high, low], [low, 1], [high, 0, 2], [high, 1, low], [high // 2, 2], [high // 2 + 1, 2], [0, high, high, high, high], [high] * 3]:
            x, sums, product, products = np.array(values, d), [], 1, []
            for v in values:
                sums.append((sums[-1] if sums else 0) + v)
                product *= v
                products.append(product)
            for asked in [None, d, "int64", "uint64", "int32", "int8"]:
                word, out = (nan, to) if asked is None else (NUMBER[asked], asked)
                exactly("sum", [x], sums[-1], out, [-1, 0, word])
                exactly("nansum", [x], sums[-1], out, [-1, 0, word])
                exactly("prod", [x], product, out, [-1, 0, word])
                exactly("nanprod", [x], product, out, [-1, 0, word])
                exactly("cumulativeSum", [x], sums, out, [0, word, 0])
                exactly("cumulativeProd", [x], products, out, [0, word, 0])
                exactly("nancumulativeSum", [x], sums, out, [0, word, 0])
                exactly("nancumulativeProd", [x], products, out, [0, word, 0])
                exactly("trace", [np.diag(x)], sums[-1], out, [0, word])
            one = np.zeros(x.shape, "int32")
            exactly("segmentSum", [x, one], sums[-1:], d, [1])
            exactly("segmentProd", [x, one], [product], d, [1])
            whole = [*counted(x.shape), *counted([1]), *sides([(0, 0)]), *counted([1])]
            exactly("windowSum", [x], sums[-1:], d, whole)
            exactly("windowProd", [x], [product], d, whole)
            # Products of one element each commute.
            if len(values) == 1:
                continue
            for other in [[1] * len(values), values, [(-1) ** i for i in range(len(values))] if low else [2] * len(values)]:
                y, dot = np.array(other, d), sum(u * v for u, v in zip(values, other))
                # What float64 does not tell apart is refused, whatever is left of the sum.
                if low <= dot <= high and max(abs(u * v) for u, v in zip(values, other)) > 2**110:
                    continue
                exactly("matmul", [x, y], dot, to)
                exactly("tensordot", [x, y], dot, to, [1, -1, 1, 0])
                exactly("inner", [x, y], dot, to)
                exactly("vecdot", [x, y], dot, to, [-1])
                exactly("einsum", [x, y], dot, to, [5, *map(ord, "i,i->")])
                exactly("correlate", [x, y], [dot], to, [0])
                exactly("convolve", [x, y[::-1].copy()], [dot], to, [2])
                exactly("nn.conv", [x.reshape(1, 1, -1), y.reshape(1, 1, -1)], [[[dot]]], to, [*counted([1]), *sides([(0, 0)]), *counted([1]), 1, -1, 0])
                around = [*counted([1]), *sides([(0, 0)]), *counted([0]), *counted([1]), 1]
                exactly("nn.convTranspose", [x.reshape(1, -1, 1), y.reshape(-1, 1, 1)], [[[dot]]], to, around)
    # Beyond what float64 tells apart, and a sum that fits nevertheless.
    x, y = np.array([-(2**63), -(2**63)], "int64"), np.array([2**63 - 1, -(2**63)], "int64")
    out_of_range("matmul", [x, y])


def unseen():
    """Queries to which a mask shows no key, as PyTorch 2.5 has it, and keys that it shows to none."""
    q, k, v = np.array([[1, 2], [3, -4]]), np.array([[1, 0], [2, 2], [0, 1]]), np.array([[1, 2], [5, 7], [3, 4]])
    for d in ["float32", "float64"]:
        for mask in [[[1, 0, 1], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]], [[0, 1, 1], [1, 0, 1]], [[1, 0, 1], [1, 0, 0]], [[1, 0, 1]], [1, 0, 1], [[0, 0, 0]]]:
            seen = np.broadcast_to(np.array(mask, bool), (2, 3))
            scores = np.where(seen, q @ k.T * 0.5, -np.inf)
            e = np.exp(scores - np.where(seen.any(1), scores.max(1), 0)[:, None])
            out = (e / np.maximum(e.sum(1), 0.5)[:, None]) @ v
            given = [q.astype(d), k.astype(d), v.astype(d)]
            added_to = np.where(np.array(mask, bool), 0, -np.inf).astype(d)
            for way in [np.array(mask, bool), added_to]:
                case("nn.scaledDotProductAttention", [*given, way], out.astype(d), [0], [0.5], tol="8")
            # Each query sees keys up to its own: the first none of them where the mask hides the first.
            if np.ndim(mask) == 2:
                early = np.broadcast_to(np.array(mask, bool), (2, 3)) & np.tril(np.ones((2, 3), bool))
                scores = np.where(early, q @ k.T * 0.5, -np.inf)
                e = np.exp(scores - np.where(early.any(1), scores.max(1), 0)[:, None])
                case("nn.scaledDotProductAttention", [*given, np.array(mask, bool)], ((e / np.maximum(e.sum(1), 0.5)[:, None]) @ v).astype(d), [1], [0.5], tol="8")
            nobody = [np.where((seen.any(0))[:, None], x, np.array(bad, d)).astype(d) for x, bad in zip(given[1:], [np.inf, np.nan])]
            case("nn.scaledDotProductAttention", [given[0], *nobody, np.array(mask, bool)], out.astype(d), [0], [0.5], tol="8")


def cases():
    overflows()
    unseen()
    whole_ranges()
    negative_zeros()
    nothing_to_do()
    small_gelus()
    expectations()
    exponentials()
