"""PyTorch's own answers of rows of neural networks: softmax, losses, norms, attention, convolutions and pooling."""

import torch
import torch.nn.functional as F

from arrays import words
from pytorch import BOTH, FLOATING, answer, exact, few, record, rng, some, tensor, wide
from records import inf, nan
from sliding import counted, sides

REDUCTIONS = ["mean", "sum", "none"]
SHAPES = [(5, 4), (2, 3, 4), (4,)]


def exponentials():
    for d in FLOATING:
        for scale in [1.0, 40.0] if d in BOTH else [1.0]:
            x = some(d, (3, 5), scale)
            for axis in [0, -1]:
                answer("softmax", lambda x: F.softmax(x, axis), [x], [axis], tol="16" if d in BOTH else "2")
                answer("logSoftmax", lambda x: F.log_softmax(x, axis), [x], [axis], tol=8 if d in BOTH else "2")
    x = tensor([[1, -inf, 2], [0, nan, 1], [-inf, 5, -inf], [-inf, -inf, -inf]], "float32")
    answer("softmax", lambda x: F.softmax(x, -1), [x], [-1], tol="16")
    answer("logSoftmax", lambda x: F.log_softmax(x, -1), [x], [-1], tol=8)
    answer("softmax", lambda x: F.softmax(x, 1), [torch.zeros((0, 3))], [1])


def elementwise_losses():
    for d in FLOATING:
        size = 16 if d in BOTH else 2
        for shape in [(3, 4), (2, 3, 2)]:
            x, y = some(d, shape), some(d, shape)
            weight = some(d, shape[-1:]).abs()
            odds = some(d, shape).abs().clamp(0, 1)
            logs = wide(some(d, shape)).log_softmax(-1).to(x.dtype)
            shares = wide(logs).exp().to(x.dtype)
            shares[0, 0] = 0
            for r, way in enumerate(REDUCTIONS):
                answer("nn.mseLoss", lambda x, y: F.mse_loss(x, y, reduction=way), [x, y], [r], tol=size)
                answer("nn.l1Loss", lambda x, y: F.l1_loss(x, y, reduction=way), [x, y], [r], tol=size)
                for delta in [1.0, 0.25]:
                    answer("nn.huberLoss", lambda x, y: F.huber_loss(x, y, reduction=way, delta=delta), [x, y], [r], [delta],
                           tol=size)
                # PyTorch's other weight, that of each loss, is a factor, which this library leaves to multiply.
                bce = lambda x, y, w: F.binary_cross_entropy_with_logits(x, y, reduction=way, pos_weight=w)
                for w in [None, weight]:
                    answer("nn.binaryCrossEntropyWithLogits", bce, [x, odds, w], [r], tol=size)
            for r, way in enumerate([*REDUCTIONS, "batchmean"]):
                for log, target in enumerate([shares, logs]):
                    answer("nn.klDiv", lambda x, t: F.kl_div(x, t, reduction=way, log_target=bool(log)), [x, target],
                           [r, log], tol=size)


def class_losses():
    for d in FLOATING:
        size = 16 if d in BOTH else 2
        for shape in SHAPES if d in BOTH else SHAPES[:1]:
            axis = min(1, len(shape) - 1)
            x, c = some(d, shape), shape[axis]
            samples = shape[:axis] + shape[axis + 1 :]
            target = tensor(rng.integers(0, c, samples))
            if target.ndim:
                # At least one that is regarded, and one that is not.
                target.view(-1)[0], target.view(-1)[-1] = 0, 1
            weights = tensor([0.5, 1.25, 2, 0.75, 3][:c], d)
            shares = wide(some(d, shape)).softmax(axis).to(x.dtype)
            for r, way in enumerate(REDUCTIONS):
                for ignored in [-100, 1] if target.ndim else [-100]:
                    for w in [None, weights]:
                        kw = {"reduction": way, "ignore_index": ignored}
                        answer("nn.nllLoss", lambda x, t, w: F.nll_loss(x, t, w, **kw), [x, target, w], [r, ignored],
                               tol=size)
                        for smooth in [0, 0.25]:
                            entropy = lambda x, t, w: F.cross_entropy(x, t, w, label_smoothing=smooth, **kw)
                            answer("nn.crossEntropy", entropy, [x, target, w], [r, ignored, smooth], tol=size)
                for w in [None, weights]:
                    for smooth in [0, 0.25]:
                        entropy = lambda x, t, w: F.cross_entropy(x, t, w, reduction=way, label_smoothing=smooth)
                        answer("nn.crossEntropy", entropy, [x, shares, w], [r, -100, smooth], tol=size)


def norms():
    for d in FLOATING:
        size = 32 if d in BOTH else 4
        x = some(d, (2, 3, 4), 2.0)
        for eps in [1e-5, 0.5]:
            for axes in [(-1,), (-2, -1)]:
                shape = x.shape[len(x.shape) - len(axes) :]
                w, b = some(d, shape), some(d, shape)
                for ins in [(None, None), (w, None), (w, b)]:
                    answer("nn.layerNorm", lambda x, w, b: F.layer_norm(x, shape, w, b, eps), [x, *ins], words(axes), [eps],
                           tol=size)
                for ins in [None, w]:
                    answer("nn.rmsNorm", lambda x, w: F.rms_norm(x, shape, w, eps), [x, ins], words(axes), [eps], tol=size)
        for shape, groups in [((2, 6, 3), 3), ((3, 4), 2), ((2, 4, 3, 2), 1)]:
            x, c = some(d, shape, 2.0), shape[1]
            w, b, mean, var = some(d, (c,)), some(d, (c,)), some(d, (c,)), some(d, (c,)).abs() + 0.25
            for ins in [(None, None), (w, b)]:
                answer("nn.groupNorm", lambda x, w, b: F.group_norm(x, groups, w, b, 0.125), [x, *ins], [groups], [0.125],
                       tol=size)
                answer("nn.batchNorm", lambda x, m, v, w, b: F.batch_norm(x, None, None, w, b, True, eps=0.125),
                       [x, None, None, *ins], [], [0.125], tol=size)
                answer("nn.batchNorm", lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b, eps=0.125), [x, mean, var, *ins],
                       [], [0.125], tol=size)


def attention():
    attend = F.scaled_dot_product_attention
    for d in FLOATING:
        size = 32 if d in BOTH else 4
        for batch, m, n, length, values in [((2,), 3, 5, 4, 2), ((2, 1), 4, 4, 3, 3)]:
            q, k, v = some(d, (*batch, m, length)), some(d, (*batch, n, length)), some(d, (*batch, n, values))
            # A query that sees no key has NaN here, and zeros in PyTorch: each sees at least the first.
            seen = some("bool", (m, n))
            seen[:, 0] = True
            # PyTorch takes a mask or causal, not both.
            for mask, causal in [(None, 0), (None, 1), (seen, 0), (some(d, (m, n)), 0), (some(d, (*batch, m, n)), 0)]:
                for scale in [nan, 0.75]:
                    given = None if scale != scale else scale
                    answer("nn.scaledDotProductAttention",
                           lambda q, k, v, mask: attend(q, k, v, mask, 0.0, bool(causal), scale=given),
                           [q, k, v, mask], [causal], [scale], tol=size)
        # Of fewer axes, which are broadcast.
        q, k, v = some(d, (2, 3, 4)), some(d, (1, 5, 4)), some(d, (1, 5, 2))
        answer("nn.scaledDotProductAttention", lambda q, k, v, mask: attend(q, k.expand(2, 5, 4), v.expand(2, 5, 2)),
               [q, k, v, None], [0], [nan], tol=size)


CONVOLUTIONS = [
    # Data, weights, stride, padding, dilation, groups.
    ((2, 3, 7), (4, 3, 3), [2], [1], [1], 1),
    ((2, 4, 9), (6, 2, 2), [1], [3], [3], 2),
    ((1, 4, 6, 5), (6, 2, 2, 3), [1, 2], [2, 1], [2, 1], 2),
    ((2, 3, 4, 4), (3, 1, 3, 3), [1, 1], [1, 1], [1, 1], 3),
    ((2, 2, 3, 4, 3), (2, 1, 2, 3, 2), [1, 2, 1], [0, 1, 2], [1, 1, 2], 2),
]
# In the order of this library, which has symmetric padding between the second and the third.
MODES = {"zeros": 0, "replicate": 1, "reflect": 2, "circular": 4}


def convolutions():
    functions = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
    modules = {1: torch.nn.Conv1d, 2: torch.nn.Conv2d, 3: torch.nn.Conv3d}
    for d in ["float32", "float64", "complex64"]:
        for x, w, stride, pads, dilation, groups in CONVOLUTIONS:
            n, x, w = len(stride), few(d, x), few(d, w)
            attrs = [*counted(stride), *sides([(p, p) for p in pads]), *counted(dilation), groups, -1, 0]
            # Data and weights are halves, of which all sums are exact.
            answer("nn.conv", lambda x, w: functions[n](x, w, None, stride, pads, dilation, groups), [x, w], attrs, tol="0~")
            if d != "float32":
                continue
            answer("nn.conv", lambda x, w: functions[n](x, w, None, 1, "same", dilation, groups), [x, w],
                   [-1, -1, *counted(dilation), groups, -1, 0], tol="0~")
            for mode, number in MODES.items():
                width = [min(p, s - 1) for p, s in zip(pads, x.shape[2:])]
                conv = modules[n](x.shape[1], w.shape[0], w.shape[2:], stride, width, dilation, groups, False, mode,
                                  dtype=torch.float64)
                conv.weight = torch.nn.Parameter(wide(w))
                attrs = [*counted(stride), *sides([(p, p) for p in width]), *counted(dilation), groups, -1, number]
                answer("nn.conv", lambda x, w: conv(x), [x, w], attrs, tol="0~")
        # No batch at all.
        if d == "float32":
            answer("nn.conv", F.conv1d, [torch.zeros((0, 2, 5)), few(d, (3, 2, 2))], [-1, *sides([(0, 0)]), -1, 1, -1, 0])
    x, w = some("bfloat16", (1, 3, 6)), some("bfloat16", (2, 3, 3))
    answer("nn.conv", F.conv1d, [x, w], [-1, *sides([(0, 0)]), -1, 1, -1, 0], tol=2)


def transposed():
    functions = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}
    for d in ["float32", "float64", "complex64"]:
        for x, w, stride, pads, more, dilation, groups in [
            ((2, 3, 4), (3, 2, 3), [2], [1], [1], [1], 1),
            ((1, 4, 5), (4, 1, 2), [3], [2], [2], [4], 4),
            ((1, 4, 3, 2), (4, 3, 2, 3), [1, 3], [2, 1], [1, 2], [2, 1], 2),
            ((1, 2, 2, 3, 2), (2, 2, 2, 1, 2), [2, 1, 3], [0, 0, 1], [1, 0, 2], [1, 2, 1], 1),
        ]:
            n, x, w = len(stride), few(d, x), few(d, w)
            attrs = [*counted(stride), *sides([(p, p) for p in pads]), *counted(more), *counted(dilation), groups]
            answer("nn.convTranspose", lambda x, w: functions[n](x, w, None, stride, pads, more, groups, dilation), [x, w],
                   attrs, tol="0~")


WINDOWS = [
    # Data, window, stride, padding, dilation.
    ((2, 3, 9), [3], [2], [1], [1]),
    ((1, 2, 8), [2], [1], [1], [3]),
    ((1, 2, 5, 7), [2, 3], [2, 3], [0, 1], [1, 2]),
    ((2, 2, 6, 5), [3, 2], [1, 2], [1, 1], [1, 1]),
    ((1, 2, 4, 5, 6), [2, 2, 3], [1, 2, 1], [1, 0, 1], [2, 1, 1]),
]


def pools():
    largest = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
    average = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
    for d in BOTH:
        for shape, size, stride, pads, dilation in WINDOWS:
            n, x = len(size), few(d, shape)
            lead = lambda values, one: [one] * 2 + list(values)
            padded = sides([(p, p) for p in pads])
            pool = lambda x: largest[n](x, size, stride, pads, dilation)
            exact("nn.maxPool", pool, [x], [*counted(size), *counted(stride), *padded, *counted(dilation)], tol="0~")
            around = sides([(0, 0), (0, 0), *((p, p) for p in pads)])
            attrs = [*counted(lead(size, 1)), *counted(lead(stride, 1)), *around, *counted(lead(dilation, 1))]
            exact("windowMax", pool, [x], attrs, tol="0~")
            exact("windowMin", lambda x: -pool(-x), [x], attrs, tol="0~")
            # PyTorch's means have no dilation; what lies outside counts as zeros unless told otherwise.
            mean = lambda x: average[n](x, size, stride, pads)
            answer("nn.avgPool", mean, [x], [*counted(size), *counted(stride), *padded, -1], tol="2~")
            places = torch.Size(size).numel()
            answer("windowSum", lambda x: mean(x) * places, [x],
                   [*counted(lead(size, 1)), *counted(lead(stride, 1)), *around, -1], tol=8)
            # The gradient of a pooling is the source where its largest elements stand.
            if all(step == 1 for step in dilation):
                y = pool(x.requires_grad_(True))
                source = few(d, y.shape)
                y.backward(source)
                attrs = [*counted(lead(size, 1)), *counted(lead(stride, 1)), *around]
                record("windowScatterMax", [x, source], [x.grad], attrs, [0], tol="0~")
    x = tensor([[[1, nan, 3, 4, -inf, inf, -inf]]], "float32")
    exact("nn.maxPool", lambda x: F.max_pool1d(x, 2, 1), [x], [*counted([2]), *counted([1]), *sides([(0, 0)]), -1])
    exact("nn.maxPool", lambda x: F.max_pool1d(x, 3), [x], [*counted([3]), -1, *sides([(0, 0)]), -1])
    answer("nn.avgPool", lambda x: F.avg_pool1d(x, 2), [x], [*counted([2]), -1, *sides([(0, 0)]), -1])


def resized():
    largest = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}
    average = {1: F.adaptive_avg_pool1d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d}
    smooth = {1: "linear", 2: "bilinear", 3: "trilinear"}
    for d in BOTH:
        for shape, size in [((2, 3, 7), [3]), ((1, 2, 5), [8]), ((1, 2, 5, 4), [2, 7]), ((1, 2, 6, 6), [4, 6]),
                            ((1, 1, 2, 3, 5), [1, 5, 4])]:
            n, x = len(size), some(d, shape)
            exact("nn.adaptiveMaxPool", lambda x: largest[n](x, size), [x], counted(size))
            answer("nn.adaptiveAvgPool", lambda x: average[n](x, size), [x], counted(size), tol=8)
            answer("nn.interpolate", lambda x: F.interpolate(x, size), [x], [*counted(size), 0, 0], tol="0")
            for corners in [False, True]:
                answer("nn.interpolate", lambda x: F.interpolate(x, size, mode=smooth[n], align_corners=corners), [x],
                       [*counted(size), 1, corners], tol=16)
    x = some("bfloat16", (1, 2, 4))
    answer("nn.adaptiveAvgPool", lambda x: F.adaptive_avg_pool1d(x, 3), [x], counted([3]), tol=1)


def cases():
    exponentials()
    elementwise_losses()
    class_losses()
    norms()
    attention()
    convolutions()
    transposed()
    pools()
    resized()
