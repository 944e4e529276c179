"""Where a call has nothing to do, where an answer's digits are lost on the way, and what the values of calls made of rows must be."""

import mpmath
import numpy as np

from random_numbers import DRAW, KEYS, block, bounds
from records import NUMBER, case, nan, out_of_range


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


def cases():
    whole_ranges()
    negative_zeros()
    nothing_to_do()
    small_gelus()
    expectations()
    exponentials()
