"""Rows of networks, windows and segments at numbers of all digits, and where their branches meet."""

import mpmath
import numpy as np

from elementwise import between, by_formula, selected, softplus
from networks import standard
from records import case, floats, inf, nan, out_of_range
from sliding import MODES, conv, mixed, sides

# A number of float16, but neither of bfloat16 nor whole.
ODD = 1 + 2.0**-8
HALVES = np.array([1, -1, 2, -2, 0.125, -0.125, 3, -3, -8, 0.5], "float16") * np.float16(ODD)
REGULAR = lambda *v: None


def activations():
    d, x = "float16", HALVES
    for name, formula, numbers in [
        ("elu", lambda v: v if v > 0 else ODD * mpmath.expm1(v), [ODD]),
        ("celu", lambda v: v if v > 0 else ODD * mpmath.expm1(v / ODD), [ODD]),
        ("softplus", lambda v: softplus(v * ODD) / ODD, [ODD]),
        ("selu", selected, []),
        ("mish", lambda v: v * mpmath.tanh(softplus(v)), []),
        ("softsign", lambda v: v / (1 + abs(v)), []),
        ("hardtanh", lambda v: between(v, -ODD, ODD), [-ODD, ODD]),
        ("hardshrink", lambda v: v if abs(v) > ODD else 0, [ODD]),
        ("softshrink", lambda v: v - ODD if v > ODD else v + ODD if v < -ODD else 0, [ODD]),
    ]:
        by_formula(d, "nn." + name, formula, REGULAR, x, numbers=numbers, tol="1")
    by_formula(d, "nn.prelu", lambda v, w: v if v > 0 else v * w, REGULAR, x, [x[::-1].copy()], tol="0")
    # Nothing is infinite times nothing.
    x = np.array([0, -1, 2], "float32")
    case("nn.elu", [x], np.array([nan, -inf, 2], "float32"), numbers=[inf])
    case("nn.celu", [x], np.array([nan, nan, 2], "float32"), numbers=[inf])
    x = np.array([-0.5, 0.5, -1, 0, nan], "float32")
    case("nn.softshrink", [x], np.array([-1, 1, -1.5, 0.5, nan], "float32"), numbers=[-0.5])
    case("nn.softshrink", [x[3:] * np.float32(-1)], np.array([0, nan], "float32"), numbers=[-0.0])


def combined():
    x = (np.array([257, -771, 1001, -2047, 333]) / 3).astype("float16")
    for name, fn, x in [("Sum", np.add, x), ("Prod", np.multiply, x / np.float16(64)), ("Max", np.maximum, x), ("Min", np.minimum, x)]:
        wide = x.astype("float32")
        case("window" + name, [x], fn(wide[:-1], wide[1:]).astype("float16"), [1, 2, -1, 1, 0, 1, 0, -1])
        y = np.stack([wide[0], fn(wide[1], wide[4]), fn(wide[2], wide[3])]).astype("float16")
        # Counted from the end as well.
        case("segment" + name, [x, np.array([0, 1, 2, -1, -2], "int32")], y, [3])
    y = np.array([2 * wide[0], wide[1] + wide[4], wide[2] + wide[3]]) / 2
    case("segmentMean", [x, np.array([0, 1, 2, -1, -2], "int32")], y.astype("float16"), [3])
    case("nn.adaptiveMaxPool", [x[None, None]], np.array([[[x[:3].max(), x[2:].max()]]]), [1, 2])
    # Of eight elements three parts, of which the middle one has four; of five, three.
    x = np.arange(200, dtype="float32").reshape(1, 1, 5, 5, 8) * 7 % 199
    for name, fn in [("Max", np.max), ("Avg", np.mean)]:
        y = x.astype("float64")
        for a in [2, 3, 4]:
            n = y.shape[a]
            y = np.stack([fn(np.take(y, range(i * n // 3, -(-(i + 1) * n // 3)), a), a) for i in range(3)], a)
        case(f"nn.adaptive{name}Pool", [x], y.astype("float32"), [3, 3, 3, 3], tol="0" if name == "Max" else "8")


def resized():
    """Of three axes, each longer and each shorter, beside infinite neighbours too."""
    few = np.array([[[[[inf, 1], [2, -inf]], [[3, 4], [5, -6.5]]]]], "float32")
    many = (np.arange(60, dtype="float32") * 7 % 59).reshape(1, 1, 3, 4, 5)
    for x, size in [(few, [3, 3, 3]), (many, [4, 6, 8]), (many, [2, 2, 2]), (many, [2, 3, 3]), (many, [3, 4, 5])]:
        for corners in [0, 1]:
            y = x.astype("float64")
            for a, n in enumerate(size, 2):
                y = mixed(y, a, n, corners)
            case("nn.interpolate", [x], y.astype("float32"), [3, *size, 1, corners], tol="abs:1e-4")


def losses():
    """Each by itself."""
    x, y = HALVES[:4], HALVES[6:][::-1].copy()
    wide, target = x.astype("float32"), y.astype("float32")
    gap = np.abs(wide - target)
    case("nn.mseLoss", [x, y], (gap * gap).astype("float16"), [2])
    case("nn.l1Loss", [x, y], gap.astype("float16"), [2])
    case("nn.huberLoss", [x, y], np.where(gap <= 2, gap * gap / 2, 2 * (gap - 1)).astype("float16"), [2], [2])
    case("nn.huberLoss", [np.array([1, 2], "float32"), np.array([1, 2], "float32")], np.zeros(2, "float32"), [2], [-0.0])
    with np.errstate(all="ignore"):
        case("nn.klDiv", [x, y], np.where(target == 0, 0, target * (np.log(target) - wide)).astype("float16"), [2, 0], tol="1")
    w = HALVES[2:6]
    each = (1 - target) * wide + (1 + (w.astype("float32") - 1) * target) * (np.log1p(np.exp(-np.abs(wide))) + np.maximum(-wide, 0))
    case("nn.binaryCrossEntropyWithLogits", [x, y, w], each.astype("float16"), [2], tol="1")


def attention():
    """One query and two keys: of large terms what is left decides."""
    d = "float16"
    v = np.array([[3 * ODD], [-3 * ODD]], d)
    for q, k, mask in [
        ([[8 * ODD, -8]], [[8, 8], [0, 0]], None),
        ([[8, 8]], [[8 * ODD, -8], [0, 0]], None),
        ([[1, 1]], [[0, 0], [0, 0]], [[64 * ODD, 64]]),
    ]:
        scores = np.array(q) @ np.array(k).T + (0 if mask is None else np.array(mask))
        e = np.exp(scores - scores.max())
        out = (e / e.sum()) @ v.astype("float64")
        ins = [np.array(q, d), np.array(k, d), v, None if mask is None else np.array(mask, d)]
        case("nn.scaledDotProductAttention", ins, out.astype(d), [0], [1], tol="1")
    # As many queries as keys, as long as there are.
    for m, length in [(3, 3), (4, 3)]:
        q, k, v = (floats("float32", s, 1.0) for s in [(m, length), (m, length), (m, 4)])
        scores = q.astype("float64") @ k.T.astype("float64")
        e = np.exp(scores - scores.max(1, keepdims=True))
        out = (e / e.sum(1, keepdims=True)) @ v.astype("float64")
        case("nn.scaledDotProductAttention", [q, k, v, None], out.astype("float32"), [0], [1], tol="abs:1e-5")


def convolved():
    """Along each axis every place around the data is seen."""
    for shape in [(3, 2), (2, 3, 2)]:
        n = len(shape)
        x = (np.arange(np.prod(shape)) * 7 % 11 + 1).astype("float32").reshape(1, 1, *shape)
        w = np.array([1, 10], "float32")[np.indices((2,) * n).sum(0) % 2][None, None] + np.arange(2**n).reshape((1, 1) + (2,) * n)
        w = w.astype("float32")
        pads = [(2, 3), (3, 1), (1, 2)][:n]
        for mode, name in enumerate(MODES[1:], 1):
            y = conv(np.pad(x, [(0, 0), (0, 0), *pads], name), w, [1] * n, [(0, 0)] * n, [1] * n, 1)
            case("nn.conv", [x, w], y, [1, 1, *sides(pads), 1, 1, 1, 1, 1, mode])


def transposed():
    x, w = (np.arange(1, 9, dtype="float32") ** n for n in [1, 2])
    x, w = x.reshape(2, 2, 2), w.reshape(2, 2, 2)
    y = np.zeros((3, 3, 3), "float32")
    for i in np.ndindex(2, 2, 2):
        y[tuple(slice(p, p + 2) for p in i)] += x[i] * w
    case("nn.convTranspose", [x[None, None], w[None, None]], y[None, None], [1, 1, *sides([(0, 0)]), 1, 0, 1, 1, 1])


def classes():
    """More than int8 counts, one that stands for none, and none."""
    def log_softmax(x):
        x = x.astype("float64")
        return x - np.log(np.exp(x).sum(1, keepdims=True))

    x = floats("float16", (3, 300))
    logs = log_softmax(x)
    ones = np.ones(300, "float16")
    # Of 299 int8 has 43.
    for ignored, target in [(43, [299, 140, 43]), (-100, [17, -100, 256])]:
        target = np.array(target)
        seen = np.flatnonzero(target != ignored)
        for r in [0, 2]:
            for name, each in [("nn.nllLoss", x.astype("float64")), ("nn.crossEntropy", logs)]:
                loss = np.where(target == ignored, 0, -each[range(3), target])
                loss = loss if r else loss.sum() / len(seen)
                smooth = [0] if name == "nn.crossEntropy" else []
                for w in [None, ones]:
                    case(name, [x, target.astype("int32"), w], np.asarray(loss).astype("float16"), [r, ignored, *smooth], tol="2")
    # Weights of either sign, and logits whose exponentials overflow.
    x, target, w = floats("float32", (2, 3)), np.array([1, 0], "int32"), np.array([1, -0.5, 2], "float32")
    case("nn.crossEntropy", [x, target, w], (-log_softmax(x)[range(2), target] * w[target]).astype("float32"), [2, -100, 0], tol="8")
    case("nn.crossEntropy", [np.array([[0, 0, 1000]], "float32"), target[:1], None], np.array([1000], "float32"), [2, -100, 0])
    for target in [[-1, 0], [0, 3]]:
        out_of_range("nn.nllLoss", [x, np.array(target, "int32"), None], [0, -100])
        out_of_range("nn.crossEntropy", [x, np.array(target, "int32"), None], [0, -100, 0])


def norms():
    d = "float16"
    x, w, b, m = floats(d, (3, 4)), floats(d, 4), floats(d, 4), floats(d, 4)
    v = np.abs(floats(d, 4))
    wide, ww, wb = (a.astype("float64") for a in (x, w, b))
    close = "abs:0.02"
    case("nn.layerNorm", [x, w, b], (standard(wide, (1,), 0.5) * ww + wb).astype(d), [-1], [0.5], tol=close)
    rms = wide / np.sqrt((wide**2).mean(1, keepdims=True) + 0.5)
    case("nn.rmsNorm", [x, w], (rms * ww).astype(d), [-1], [0.5], tol=close)
    y = (wide - m.astype("float64")) / np.sqrt(v.astype("float64") + 0.5)
    case("nn.batchNorm", [x, m, v, w, b], (y * ww + wb).astype(d), [], [0.5], tol=close)
    case("nn.batchNorm", [x, m, v, None, b], (y + wb).astype(d), [], [0.5], tol=close)
    y = standard(wide.reshape(3, 2, 2), (2,), 0.5).reshape(3, 4)
    case("nn.groupNorm", [x, w, b], (y * ww + wb).astype(d), [2], [0.5], tol=close)


def beside_large_means():
    """Of whole numbers that are exact, whose mean is not: what is left of them beside a rounded mean has lost digits, most of them in wide dtypes."""
    small = np.array([[0, 1, 3], [3, 0, 1]], "float64")
    y = standard(small, (1,), 0.5)
    means = [("int8", 120), ("uint8", 248), ("int16", 32700), ("uint16", 65500), ("float64", 2**51)]
    for d, mean in [*means, *[(d, 2**22) for d in ["int32", "uint32", "int64", "uint64", "float32"]]]:
        x, out = (small + mean).astype(d), "float64" if d == "float64" else "float32"
        case("nn.layerNorm", [x, None, None], y.astype(out), [-1], [0.5], tol="16")
        case("nn.groupNorm", [x.reshape(1, 6), None, None], y.reshape(1, 6).astype(out), [2], [0.5], tol="16")
        case("nn.batchNorm", [x.T, None, None, None, None], y.T.astype(out), [], [0.5], tol="16")


def cases():
    activations()
    combined()
    resized()
    losses()
    classes()
    attention()
    convolved()
    transposed()
    norms()
    beside_large_means()
