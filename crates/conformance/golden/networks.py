"""Rows of neural networks, by their formulas in float64."""

import numpy as np

from arrays import ALL, near, some
from records import FLOATS, case, rng, to_float


def sizes(axes):
    return [-1] if axes is None else [len(axes), *axes]


def standard(x, axes, eps):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def norms():
    for d in ALL:
        f = to_float(d)
        x = some(d, (3, 4, 5))
        wide = x.astype("float64")
        for eps in [1e-5, 0.5]:
            for axes in [None, (0,), (-1, 1)]:
                named = (-1,) if axes is None else tuple(sorted(a % 3 for a in axes))
                shape = tuple(x.shape[a] for a in named)
                spread = [1] * 3
                for a in named:
                    spread[a] = x.shape[a]
                w, b = some(d, shape), some(d, shape)
                ww, wb = w.astype("float64").reshape(spread), b.astype("float64").reshape(spread)
                y = standard(wide, named, eps)
                rms = wide / np.sqrt((wide**2).mean(named, keepdims=True) + eps)
                # Of some lines every element is the same: rounding decides what is left of the mean.
                if eps < 0.1 and (wide.std(named) < 0.1).any():
                    continue
                for ins, y_out, rms_out in [([None, None], y, rms), ([w, None], y * ww, rms * ww), ([None, b], y + wb, None), ([w, b], y * ww + wb, None)]:
                    case("nn.layerNorm", [x, *ins], y_out.astype(f), sizes(axes), [eps], tol=near(d, 400))
                    if rms_out is not None:
                        case("nn.rmsNorm", [x, ins[0]], rms_out.astype(f), sizes(axes), [eps], tol=near(d, 400))
        for shape, groups in [((2, 6, 3), 3), ((2, 6, 3), 1), ((3, 4), 2), ((2, 4, 3, 2), 4)]:
            x = some(d, shape)
            c = shape[1]
            wide = x.astype("float64")
            w, b = some(d, (c,)), some(d, (c,))
            column = (c,) + (1,) * (len(shape) - 2)
            ww, wb = w.astype("float64").reshape(column), b.astype("float64").reshape(column)
            apart = wide.reshape(shape[0], groups, -1)
            y = standard(apart, (2,), 0.5).reshape(shape)
            case("nn.groupNorm", [x, w, b], (y * ww + wb).astype(f), [groups], [0.5], tol=near(d, 400))
            case("nn.groupNorm", [x, None, None], y.astype(f), [groups], [0.5], tol=near(d, 400))
            axes = tuple(a for a in range(len(shape)) if a != 1)
            y = standard(wide, axes, 0.5)
            case("nn.batchNorm", [x, None, None, w, b], (y * ww + wb).astype(f), [], [0.5], tol=near(d, 400))
            case("nn.batchNorm", [x, None, None, None, None], y.astype(f), [], [0.5], tol=near(d, 400))
            m, v = some(d, (c,)), np.abs(some(d, (c,)).astype("float64")).astype(d)
            y = (wide - m.astype("float64").reshape(column)) / np.sqrt(v.astype("float64").reshape(column) + 0.5)
            case("nn.batchNorm", [x, m, v, None, b], (y + wb).astype(f), [], [0.5], tol=near(d, 400))


def reductions(losses, weights=None):
    total = losses.sum()
    mean = total / (losses.size if weights is None else weights.sum())
    return [mean, total, losses]


def losses():
    for d in ALL:
        f = to_float(d)
        x, y = some(d, (3, 4)), some(d, (3, 4))
        wx, wy = x.astype("float64"), y.astype("float64")
        gap = np.abs(wx - wy)
        for r in range(3):
            case("nn.mseLoss", [x, y], np.asarray(reductions(gap**2)[r]).astype(f), [r], tol=near(d, 4000))
            case("nn.l1Loss", [x, y], np.asarray(reductions(gap)[r]).astype(f), [r], tol=near(d, 400))
            for delta in [1.0, 0.5]:
                huber = np.where(gap <= delta, gap**2 / 2, delta * (gap - delta / 2))
                case("nn.huberLoss", [x, y], np.asarray(reductions(huber)[r]).astype(f), [r], [delta], tol=near(d, 400))
            with np.errstate(all="ignore"):
                for w in [None, np.abs(some(d, (4,)).astype("float64")).astype(d)]:
                    more = 1.0 if w is None else w.astype("float64")
                    bce = (1 - wy) * wx + (1 + (more - 1) * wy) * (np.log1p(np.exp(-np.abs(wx))) + np.maximum(-wx, 0))
                    case("nn.binaryCrossEntropyWithLogits", [x, y, w], np.asarray(reductions(bce)[r]).astype(f), [r], tol=near(d, 20 * max(1, np.abs(bce).sum())))
        if d not in FLOATS:
            continue
        p = np.array([[0.5, 0.25, 0, 0.25], [1, 0, 0, 0], [0.125, 0.125, 0.5, 0.25]], d)
        wp = p.astype("float64")
        with np.errstate(all="ignore"):
            terms = np.where(wp > 0, wp * (np.log(wp) - wx), 0)
            logs = np.log(np.maximum(wp, 1e-3)).astype(d)
            log_terms = np.exp(logs.astype("float64")) * (logs.astype("float64") - wx)
        for r in range(4):
            for log, t in [(0, terms), (1, log_terms)]:
                out = [*reductions(t), t.sum() / 3][r]
                case("nn.klDiv", [x, logs if log else p], np.asarray(out).astype(d), [r, log], tol=near(d, 400))
    for d in FLOATS + ["int32", "uint8"]:
        f = to_float(d)
        for shape in [(5, 4), (2, 4, 3), (4,)]:
            axis = 1 if len(shape) > 1 else 0
            c = shape[axis]
            x = some(d, shape)
            wide = x.astype("float64")
            shifted = wide - wide.max(axis, keepdims=True)
            logp = shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))
            classes = rng.integers(0, c, tuple(np.delete(shape, axis)))
            weight = (np.arange(c) / 2 + 0.5).astype(f)
            column = [1] * len(shape)
            column[axis] = c
            for ignored in [-100, 1]:
                for w in [None, weight]:
                    wide_w = np.ones(c) if w is None else w.astype("float64")
                    each = np.where(classes == ignored, 0, wide_w[classes])
                    if not each.sum():
                        continue
                    for r in range(3):
                        target = np.asarray(classes).astype("int64" if r else "int32")
                        take = lambda a: np.take_along_axis(a, np.expand_dims(classes, axis), axis).squeeze(axis)
                        nll = -take(wide) * each
                        case("nn.nllLoss", [x, target, w], np.asarray(reductions(nll, each)[r]).astype(f), [r, ignored], tol=near(d, 400))
                        for smoothing in [0, 0.25]:
                            rest = np.where(classes == ignored, 0, -(logp * wide_w.reshape(column)).sum(axis))
                            loss = (1 - smoothing) * -take(logp) * each + smoothing / c * rest
                            out = np.asarray(reductions(loss, each)[r]).astype(f)
                            case("nn.crossEntropy", [x, target, w], out, [r, ignored, smoothing], tol=near(d, 800))
            p = rng.random(shape)
            p = (p / p.sum(axis, keepdims=True)).astype("float32")
            for w in [None, weight]:
                wide_w = np.ones(c) if w is None else w.astype("float64")
                for r in range(3):
                    for smoothing in [0, 0.25]:
                        loss = -((p.astype("float64") * (1 - smoothing) + smoothing / c) * logp * wide_w.reshape(column)).sum(axis)
                        out = np.asarray(reductions(loss)[r]).astype(f)
                        case("nn.crossEntropy", [x, p, w], out, [r, -100, smoothing], tol=near(d, 800))


def attention():
    for d in FLOATS + ["int32", "bool"]:
        f = to_float(d)
        for m, n, length, values in [(3, 5, 4, 2), (4, 4, 1, 3), (1, 1, 2, 1)]:
            q, k, v = some(d, (2, m, length)), some(d, (n, length)), some(d, (2, n, values))
            wq, wk, wv = q.astype("float64"), k.astype("float64"), v.astype("float64")
            seen = np.ones((m, n), bool)
            seen[:, 1:] = rng.integers(0, 2, (m, n - 1))
            added = (rng.integers(-4, 5, (m, n)) / 2).astype(f)
            for mask in [None, seen, added]:
                for causal in [0, 1]:
                    for scale in [np.nan, 0.5]:
                        scores = wq @ wk.T * (1 / np.sqrt(length) if np.isnan(scale) else scale)
                        if mask is not None:
                            scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask.astype("float64")
                        if causal:
                            scores = np.where(np.tril(np.ones((m, n), bool)), scores, -np.inf)
                        e = np.exp(scores - scores.max(-1, keepdims=True))
                        out = (e / e.sum(-1, keepdims=True)) @ wv
                        case("nn.scaledDotProductAttention", [q, k, v, mask], out.astype(f), [causal], [scale], tol=near(d, 200))
