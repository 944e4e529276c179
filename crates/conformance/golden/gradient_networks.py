"""PyTorch's gradients of rows of neural networks: losses at ties and far from their targets, norms of constants, attention that sees little,
convolutions and poolings in every combination of their options.
"""

import itertools

import torch
import torch.nn.functional as F

from arrays import words
from gradient_calls import NARROW, WIDE, gradient
from gradient_points import values
from pytorch import tensor
from pytorch_networks import MODES, REDUCTIONS
from records import inf, nan
from sliding import counted, sides

DTYPES = [("float64", WIDE), ("float32", NARROW)]


def elementwise_losses():
    for d, dtypes in DTYPES:
        far = 1e100 if d == "float64" else 1e15
        pairs = [
            # At ties, at and beside the edge of huber's.
            ([[1.0, 2, 0.5], [-0.0, 3, -2]], [[1.0, 1, 1], [0, 2.5, 0]]),
            ([[far, -far, 50]], [[-1.0, 0, 1]]),
            ([0.25], [0.25]),
        ]
        for x, y in pairs:
            x, y = tensor(x, d), tensor(y, d)
            odds, weight = y.abs().clamp(0, 1), tensor([0.5, 2, 1][: x.shape[-1]], d)
            for r, way in enumerate(REDUCTIONS):
                twice = d == "float64" and len(x.shape) > 1 and x.shape[0] > 1
                gradient("nn.mseLoss", lambda x, y: F.mse_loss(x, y, reduction=way), [x, y], [r], dtypes=dtypes, twice=twice)
                gradient("nn.l1Loss", lambda x, y: F.l1_loss(x, y, reduction=way), [x, y], [r], dtypes=dtypes)
                for delta in [1.0, 0.5]:
                    gradient(
                        "nn.huberLoss", lambda x, y: F.huber_loss(x, y, reduction=way, delta=delta), [x, y], [r], [delta], dtypes=dtypes
                    )
                for w in [None, weight]:
                    bce = lambda x, y, w: F.binary_cross_entropy_with_logits(x, y, reduction=way, pos_weight=w)
                    gradient("nn.binaryCrossEntropyWithLogits", bce, [x, odds, w], [r], dtypes=dtypes, twice=twice)
        logs = tensor([[-0.5, -2, -1.5], [-1e-3, -700, -8]], d)
        for r, way in enumerate([*REDUCTIONS, "batchmean"]):
            for log, target in enumerate([tensor([[0.5, 0, 0.5], [1, 0, 0]], d), tensor([[-1.0, -0.5, -3], [-0.5, -2, -90]], d)]):
                loss = lambda x, t: F.kl_div(x, t, reduction=way, log_target=bool(log))
                gradient("nn.klDiv", loss, [logs, target], [r, log], dtypes=dtypes)


def class_losses():
    for d, dtypes in DTYPES:
        ordinary = values(d, (3, 4), 1)
        sure = tensor([[1000.0, 0, -1000, 5], [-90, 90, 0, 0], [0, 0, 0, 0]], d)
        weight = tensor([0.5, 0, 2, 1.25], d)
        for x, target, ignored in [
            (ordinary, [0, 3, 1], -100),
            (ordinary, [2, -100, 2], -100),
            (sure, [0, 0, 3], -100),
            (sure, [2, 1, 1], 1),
            (ordinary, [1, 1, 1], 1),
        ]:
            target = tensor(target)
            for r, way in enumerate(REDUCTIONS):
                for w in [None, weight]:
                    kw = {"reduction": way, "ignore_index": ignored}
                    gradient("nn.nllLoss", lambda x, t, w: F.nll_loss(x, t, w, **kw), [x, target, w], [r, ignored], dtypes=dtypes)
                    for smooth in [0, 0.25]:
                        entropy = lambda x, t, w: F.cross_entropy(x, t, w, label_smoothing=smooth, **kw)
                        twice = d == "float64" and way == "sum"
                        gradient("nn.crossEntropy", entropy, [x, target, w], [r, ignored, smooth], dtypes=dtypes, most=400, twice=twice)
        # Classes in the second axis of more, and alone.
        for shape, target in [((2, 3, 2), [[0, 2], [1, 1]]), ((3,), 2), ((1, 1), [0]), ((2, 3, 1, 2), [[[0, 2]], [[1, 0]]])]:
            for r, way in enumerate(REDUCTIONS):
                x, target = values(d, shape, 1), torch.as_tensor(target)
                gradient("nn.nllLoss", lambda x, t, w: F.nll_loss(x, t, reduction=way), [x, target, None], [r, -100], dtypes=dtypes)
                gradient(
                    "nn.crossEntropy",
                    lambda x, t, w: F.cross_entropy(x, t, reduction=way),
                    [x, target, None],
                    [r, -100, 0],
                    dtypes=dtypes,
                    most=400,
                )
                shares = values(d, shape, 3).softmax(1 if len(shape) > 1 else 0)
                for smooth in [0, 0.5]:
                    entropy = lambda x, t, w: F.cross_entropy(x, t, reduction=way, label_smoothing=smooth)
                    gradient("nn.crossEntropy", entropy, [x, shares, None], [r, -100, smooth], dtypes=dtypes, most=400)


def norms():
    for d, dtypes in DTYPES:
        far = 1e80 if d == "float64" else 1e10
        batches = [values(d, (2, 4), 1), tensor([[3.0, 3, 3, 3], [0, 0, 0, 0]], d), tensor([[far, -far, 1, 0], [1e-20, 0, 0, -1e-20]], d)]
        for x in batches:
            for eps in [1e-5, 0.5]:
                w, b = tensor([0.5, -1, 2, 0], d), tensor([1.0, 0, -1, 0.5], d)
                # Of constants, whose spread is none, twice.
                twice = d == "float64" and x is batches[1] and eps == 0.5
                for ins in [(None, None), (w, b)]:
                    norm = lambda x, w, b: F.layer_norm(x, (4,), w, b, eps)
                    gradient("nn.layerNorm", norm, [x, *ins], words((-1,)), [eps], dtypes=dtypes, twice=twice)
                gradient("nn.rmsNorm", lambda x, w: F.rms_norm(x, (4,), w, eps), [x, w], words((-1,)), [eps], dtypes=dtypes, twice=twice)
                for groups in [1, 2]:
                    gradient("nn.groupNorm", lambda x, w, b: F.group_norm(x, groups, w, b, eps), [x, w, b], [groups], [eps], dtypes=dtypes)
                gradient(
                    "nn.batchNorm",
                    lambda x, m, v, w, b: F.batch_norm(x, None, None, w, b, True, eps=eps),
                    [x, None, None, w, b],
                    [],
                    [eps],
                    dtypes=dtypes,
                )
                mean, var = tensor([0.0, 1, -1, 3], d), tensor([1.0, 0, 2, 1e-10], d)
                gradient(
                    "nn.batchNorm",
                    lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b, eps=eps),
                    [x, mean, var, w, b],
                    [],
                    [eps],
                    dtypes=dtypes,
                )
        for shape, axes in [((2, 2, 3), (-2, -1)), ((3,), (-1,)), ((2, 1), (-1,)), ((1, 2, 2), (-3, -2, -1))]:
            x, inner = values(d, shape, 1), shape[len(shape) - len(axes) :]
            w, b = values(d, inner, 2), values(d, inner, 3)
            gradient("nn.layerNorm", lambda x, w, b: F.layer_norm(x, inner, w, b, 0.125), [x, w, b], words(axes), [0.125], dtypes=dtypes)
            gradient("nn.rmsNorm", lambda x, w: F.rms_norm(x, inner, w, 0.125), [x, w], words(axes), [0.125], dtypes=dtypes)
        for shape, groups in [((1, 4, 2), 4), ((2, 2, 1, 2), 2), ((1, 3, 2), 1)]:
            x, c = values(d, shape, 1), (shape[1],)
            w, b = values(d, c, 2), values(d, c, 3)
            gradient("nn.groupNorm", lambda x, w, b: F.group_norm(x, groups, w, b, 0.125), [x, w, b], [groups], [0.125], dtypes=dtypes)
            gradient(
                "nn.batchNorm",
                lambda x, m, v, w, b: F.batch_norm(x, None, None, w, b, True, eps=0.125),
                [x, None, None, w, b],
                [],
                [0.125],
                dtypes=dtypes,
            )


def attention():
    attend = F.scaled_dot_product_attention
    for d, dtypes in DTYPES:
        seen = tensor([[True, False, False], [True, True, False]])
        added = tensor([[0.0, -inf, -1], [0.5, 2, -inf]], d)
        for shapes in [
            ((2, 2), (3, 2), (3, 1)),
            ((2, 2, 2), (2, 3, 2), (2, 3, 3)),
            ((1, 2, 2, 1), (1, 2, 3, 1), (1, 2, 3, 2)),
            ((2, 3), (3, 3), (3, 2)),
        ]:
            q, k, v = (values(d, s, n) for n, s in enumerate(shapes))
            for mask, causal in [(None, 0), (None, 1), (seen, 0), (added, 0)]:
                for scale in [nan, 2.0]:
                    given = None if scale != scale else scale
                    fn = lambda q, k, v, m: attend(q, k, v, m, 0.0, bool(causal), scale=given)
                    gradient("nn.scaledDotProductAttention", fn, [q, k, v, mask], [causal], [scale], dtypes=dtypes)
            # Scores that leave nothing to the others.
            gradient(
                "nn.scaledDotProductAttention", lambda q, k, v, m: attend(q, k, v), [q * 100, k * 10, v, None], [0], [nan], dtypes=dtypes
            )


def convolutions():
    functions = {1: (F.conv1d, F.conv_transpose1d), 2: (F.conv2d, F.conv_transpose2d)}
    modules = {1: torch.nn.Conv1d, 2: torch.nn.Conv2d}
    for d in ["float64", "complex128"]:
        for stride, padding, dilation, groups in itertools.product([1, 2, 3], [0, 1, 2], [1, 2], [1, 2]):
            x, w = values(d, (1, 2, 5), 1), values(d, (2, 2 // groups, 2), 2)
            attrs = [*counted([stride]), *sides([(padding, padding)]), *counted([dilation]), groups, -1, 0]
            gradient("nn.conv", lambda x, w: F.conv1d(x, w, None, stride, padding, dilation, groups), [x, w], attrs, most=400)
            if d == "float64" and padding < 2:
                x, w = values(d, (1, 2, 3), 1), values(d, (2, 2, 2), 2)
                attrs = [*counted([stride]), *sides([(padding, padding)]), *counted([stride - 1]), *counted([dilation]), groups]
                fn = lambda x, w: F.conv_transpose1d(x, w, None, stride, padding, stride - 1, groups, dilation)
                gradient("nn.convTranspose", fn, [x, w], attrs, most=400)
        for xs, ws, stride, pads, dilation, groups in [
            ((2, 1, 3, 3), (1, 1, 2, 2), [1, 1], [0, 0], [1, 1], 1),
            ((1, 2, 3, 4), (2, 1, 1, 3), [2, 1], [0, 1], [1, 1], 2),
            ((1, 1, 4, 3), (2, 1, 2, 1), [1, 2], [1, 0], [3, 1], 1),
            ((1, 2, 1, 1), (3, 2, 1, 1), [1, 1], [0, 0], [1, 1], 1),
            ((1, 1, 2, 2), (1, 1, 3, 3), [1, 1], [1, 1], [1, 1], 1),
            ((0, 1, 2, 2), (1, 1, 1, 2), [1, 1], [0, 0], [1, 1], 1),
        ]:
            x, w = values(d, xs, 1), values(d, ws, 2)
            attrs = [*counted(stride), *sides([(p, p) for p in pads]), *counted(dilation), groups, -1, 0]
            gradient("nn.conv", lambda x, w: F.conv2d(x, w, None, stride, pads, dilation, groups), [x, w], attrs, most=400)
            back = values(d, (ws[0], ws[1], *ws[2:]), 2)
            x = values(d, (xs[0], ws[0], 2, 2), 1)
            more = [s - 1 for s in stride]
            attrs = [
                *counted(stride),
                *sides([(p, p) for p in pads]),
                *counted(more),
                *counted(dilation),
                groups if ws[0] % groups == 0 else 1,
            ]
            fn = lambda x, w: F.conv_transpose2d(x, w, None, stride, pads, more, attrs[-1], dilation)
            gradient("nn.convTranspose", fn, [x, back], attrs, most=400)
    for n, shape in [(1, (1, 2, 4)), (2, (1, 1, 3, 3))]:
        for size in [2, 3]:
            x, w = values("float64", shape, 1), values("float64", (2, shape[1], *[size] * n), 2)
            same = lambda x, w: functions[n][0](x, w, None, 1, "same")
            gradient("nn.conv", same, [x, w], [-1, -1, -1, 1, -1, 0], most=400)
            for (mode, number), width in itertools.product(MODES.items(), [1, 2]):
                conv = modules[n](shape[1], 2, size, 1, width, 1, 1, False, mode, dtype=torch.float64)
                attrs = [*counted([1] * n), *sides([(width, width)] * n), *counted([1] * n), 1, -1, number]

                def padded(x, w):
                    wide = x if mode == "zeros" else F.pad(x, conv._reversed_padding_repeated_twice, mode=mode)
                    return functions[n][0](wide, w, None, 1, width if mode == "zeros" else 0)

                gradient("nn.conv", padded, [x, w], attrs, most=400)


def pools():
    ties = tensor([[[1.0, 1, 0, 2, 2, 2, -1]], [[0, 0, 0, 0, -0.0, 0, 0]]])
    for d, dtypes in DTYPES:
        for x in [ties.to(getattr(torch, d)), values(d, (1, 2, 7), 1), tensor([[[nan, 1, 2, -inf, inf, 3, nan]]], d)]:
            for size, stride, pad, dilation in [
                (2, 1, 0, 1),
                (2, 2, 1, 1),
                (3, 1, 1, 2),
                (3, 3, 0, 1),
                (1, 2, 0, 1),
                (3, 2, 1, 1),
                (2, 3, 1, 3),
            ]:
                lead = lambda n, one: counted([one, one, n])
                pool = lambda x: F.max_pool1d(x, size, stride, pad, dilation)
                padded, around = sides([(pad, pad)]), sides([(0, 0), (0, 0), (pad, pad)])
                gradient("nn.maxPool", pool, [x], [*counted([size]), *counted([stride]), *padded, *counted([dilation])], dtypes=dtypes)
                attrs = [*lead(size, 1), *lead(stride, 1), *around, *lead(dilation, 1)]
                # PyTorch pads with nothing, which it shares with no element.
                gradient("windowMax", pool, [x], attrs, dtypes=dtypes)
                gradient("windowMin", lambda x: -pool(-x), [x], attrs, dtypes=dtypes)
                spread = lambda x: F.pad(x, (pad, pad)).unfold(2, dilation * (size - 1) + 1, stride)[..., ::dilation]
                gradient("windowSum", lambda x: spread(x).sum(-1), [x], attrs, dtypes=dtypes)
                ones = lambda x: F.pad(x, (pad, pad), value=1).unfold(2, dilation * (size - 1) + 1, stride)[..., ::dilation]
                gradient("windowProd", lambda x: ones(x).prod(-1), [x], attrs, dtypes=dtypes)
                gradient(
                    "nn.avgPool",
                    lambda x: spread(x).mean(-1),
                    [x],
                    [*counted([size]), *counted([stride]), *padded, *counted([dilation])],
                    dtypes=dtypes,
                )
                if dilation == 1 and not x.isnan().any():
                    attrs = [*lead(size, 1), *lead(stride, 1), *around]
                    source = values(d, pool(x).shape, 2)
                    back = lambda sign: (
                        lambda x, s: torch.autograd.grad(pool(leaf := (sign * x).requires_grad_()), leaf, s, create_graph=True)[0]
                    )
                    # The gradient of a pooling, which x has no slope of.
                    gradient("windowScatterMax", lambda x, s: back(1)(x.detach(), s), [x, source], attrs, [0], dtypes=dtypes)
                    gradient("windowScatterMin", lambda x, s: back(-1)(x.detach(), s), [x, source], attrs, [0], dtypes=dtypes)
        for shape, size, stride, pads, dilation in [
            ((1, 1, 3, 3), [2, 2], [1, 1], [0, 0], [1, 1]),
            ((1, 2, 2, 4), [1, 2], [1, 2], [0, 1], [1, 1]),
            ((1, 1, 4, 3), [3, 2], [2, 1], [1, 1], [1, 1]),
            ((2, 1, 3, 3), [2, 2], [1, 1], [0, 1], [2, 1]),
        ]:
            x, padded = values(d, shape, 1), sides([(p, p) for p in pads])
            attrs = [*counted(size), *counted(stride), *padded]
            gradient(
                "nn.maxPool", lambda x: F.max_pool2d(x, size, stride, pads, dilation), [x], [*attrs, *counted(dilation)], dtypes=dtypes
            )
            if dilation == [1, 1]:
                gradient("nn.avgPool", lambda x: F.avg_pool2d(x, size, stride, pads), [x], [*attrs, -1], dtypes=dtypes)


def resized():
    functions = {1: (F.adaptive_max_pool1d, F.adaptive_avg_pool1d, "linear"), 2: (F.adaptive_max_pool2d, F.adaptive_avg_pool2d, "bilinear")}
    for d, dtypes in DTYPES:
        for shape, size in [
            ((1, 1, 4), [1]),
            ((1, 2, 4), [4]),
            ((1, 1, 5), [3]),
            ((1, 1, 3), [5]),
            ((1, 1, 1), [3]),
            ((1, 1, 2, 3), [3, 2]),
            ((1, 1, 3, 3), [2, 2]),
            ((2, 1, 2, 2), [1, 4]),
        ]:
            n, x = len(size), values(d, shape, 1)
            largest, average, smooth = functions[n]
            gradient("nn.adaptiveMaxPool", lambda x: largest(x, size), [x], counted(size), dtypes=dtypes)
            gradient("nn.adaptiveAvgPool", lambda x: average(x, size), [x], counted(size), dtypes=dtypes)
            gradient("nn.interpolate", lambda x: F.interpolate(x, size), [x], [*counted(size), 0, 0], dtypes=dtypes)
            for corners in [False, True]:
                gradient(
                    "nn.interpolate",
                    lambda x: F.interpolate(x, size, mode=smooth, align_corners=corners),
                    [x],
                    [*counted(size), 1, corners],
                    dtypes=dtypes,
                )
        # Of equal elements the first.
        gradient(
            "nn.adaptiveMaxPool", lambda x: F.adaptive_max_pool1d(x, 2), [tensor([[[1.0, 1, 0, 2, 2]]], d)], counted([2]), dtypes=dtypes
        )


def cases():
    elementwise_losses()
    class_losses()
    norms()
    attention()
    convolutions()
    pools()
    resized()
