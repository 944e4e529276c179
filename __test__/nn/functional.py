"""Writes functional.json beside this file: functions of torch.nn.functional in float64, and their gradients.

    pip install torch && python __test__/nn/functional.py > __test__/nn/functional.json

Each case is a call: `name` here, `inputs` that have a gradient, `rest` of the arguments behind them (`{"int32": ...}` is a tensor of integers,
null stands for one left out), `options` by our names, the `value`, and the `gradients` of the sum of its products with `cotangent`, by
each input.
"""

import json

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
torch.manual_seed(20261128)
cases = []


def some(*shape, scale=1.0):
    """Numbers of few digits, none of them 0."""
    return torch.round(torch.randn(shape) * 16 * scale) / 16 + 1 / 64


def case(name, inputs, f, rest=(), options=None, title=""):
    xs = [x.clone().requires_grad_() for x in inputs]
    found = f(*xs)
    y, indices = found if isinstance(found, tuple) else (found, None)
    c = some(*y.shape)
    gradients = torch.autograd.grad((y * c).sum(), xs, allow_unused=True)
    cases.append({
        "name": name,
        "title": title,
        "inputs": [x.tolist() for x in inputs],
        "rest": list(rest),
        "options": options or {},
        "value": y.detach().tolist(),
        "cotangent": c.tolist(),
        **({} if indices is None else {"indices": indices.tolist()}),
        "gradients": [(torch.zeros_like(x) if g is None else g).tolist() for g, x in zip(gradients, xs)],
    })


def ints(*values):
    return {"int32": values[0] if len(values) == 1 else list(values)}


def distances():
    x, y = some(3, 4), some(3, 4)
    case("normalize", [x], lambda x: F.normalize(x))
    case("normalize", [x], lambda x: F.normalize(x, p=1, dim=0), options={"p": 1, "axis": 0})
    case("normalize", [x], lambda x: F.normalize(x, p=3, dim=-1, eps=2.5), options={"p": 3, "axis": -1, "eps": 2.5})
    case("cosineSimilarity", [x, y], lambda x, y: F.cosine_similarity(x, y))
    case("cosineSimilarity", [some(2, 1, 3), some(4, 3)], lambda x, y: F.cosine_similarity(x, y, dim=-1), options={"axis": -1})
    case("pairwiseDistance", [x, y], lambda x, y: F.pairwise_distance(x, y))
    case("pairwiseDistance", [x, y[0]], lambda x, y: F.pairwise_distance(x, y, p=1, eps=0.25, keepdim=True), options={"p": 1, "eps": 0.25, "keepdims": True})
    case("pairwiseDistance", [x, x.clone()], lambda x, y: F.pairwise_distance(x, y), title="of equal vectors")


def elements():
    x = some(3, 4)
    case("softmin", [x], lambda x: F.softmin(x, dim=-1))
    case("softmin", [x], lambda x: F.softmin(x, dim=0), options={"axis": 0})
    case("threshold", [x], lambda x: F.threshold(x, 0.25, -3.0), rest=[0.25, -3])
    case("bilinear", [some(5, 2), some(5, 3), some(4, 2, 3), some(4)], lambda a, b, w, c: F.bilinear(a, b, w, c))
    case("bilinear", [some(2, 3, 2), some(2, 3, 3), some(4, 2, 3)], lambda a, b, w: F.bilinear(a, b, w))
    case("instanceNorm", [some(2, 3, 4)], lambda x: F.instance_norm(x))
    case("instanceNorm", [some(2, 3, 2, 3), some(3), some(3)], lambda x, w, b: F.instance_norm(x, weight=w, bias=b, eps=0.01), options={"eps": 0.01})
    case("pixelShuffle", [some(2, 8, 2, 3)], lambda x: F.pixel_shuffle(x, 2), rest=[2])
    case("pixelShuffle", [some(9, 1, 2)], lambda x: F.pixel_shuffle(x, 3), rest=[3])
    case("pixelUnshuffle", [some(2, 2, 4, 6)], lambda x: F.pixel_unshuffle(x, 2), rest=[2])


def blocks():
    x = some(2, 2, 5, 6)
    case("unfold", [x], lambda x: F.unfold(x, 2), rest=[2])
    options = {"stride": [2, 1], "padding": [1, 2], "dilation": [1, 2]}
    case("unfold", [x], lambda x: F.unfold(x, (3, 2), **options), rest=[[3, 2]], options=options)
    case("unfold", [x[0]], lambda x: F.unfold(x, 3, padding=1), rest=[3], options={"padding": 1})
    case("fold", [some(2, 4, 20)], lambda x: F.fold(x, (5, 6), 2), rest=[[5, 6], 2])
    case("fold", [some(1, 12, 24)], lambda x: F.fold(x, (5, 6), (3, 2), **options), rest=[[5, 6], [3, 2]], options=options)
    case("fold", [some(9, 16)], lambda x: F.fold(x, 4, 3, padding=1), rest=[4, 3], options={"padding": 1})


def samples():
    x = some(2, 2, 3, 4)
    grid = some(2, 2, 4, 2, scale=0.9)
    for mode in ["bilinear", "nearest"]:
        for padding in ["zeros", "border", "reflection"]:
            for aligned in [False, True]:
                case(
                    "gridSample", [x, grid],
                    lambda x, g: F.grid_sample(x, g, mode=mode, padding_mode=padding, align_corners=aligned),
                    options={"mode": mode, "paddingMode": padding, "alignCorners": aligned},
                )
    case("gridSample", [some(1, 2, 2, 3, 4), some(1, 2, 2, 2, 3, scale=0.9)], lambda x, g: F.grid_sample(x, g, align_corners=False), title="of a volume")
    case("gridSample", [some(1, 1, 1, 1), some(1, 2, 2, 2)], lambda x, g: F.grid_sample(x, g, padding_mode="reflection", align_corners=True), options={"paddingMode": "reflection", "alignCorners": True}, title="of one element")
    case("affineGrid", [some(2, 2, 3)], lambda t: F.affine_grid(t, [2, 3, 2, 3], align_corners=False), rest=[[2, 3, 2, 3]])
    case("affineGrid", [some(2, 2, 3)], lambda t: F.affine_grid(t, [2, 3, 1, 5], align_corners=True), rest=[[2, 3, 1, 5]], options={"alignCorners": True})
    case("affineGrid", [some(1, 3, 4)], lambda t: F.affine_grid(t, [1, 3, 2, 3, 2], align_corners=False), rest=[[1, 3, 2, 3, 2]])


def ctc():
    x = some(7, 3, 4)
    target, steps, counts = [[1, 1, 2], [3, 2, 0], [2, 0, 0]], [7, 5, 4], [3, 2, 0]
    rest = [ints(*target), steps, counts]
    loss = lambda x, **o: F.ctc_loss(F.log_softmax(x, -1), torch.tensor(target), torch.tensor(steps), torch.tensor(counts), **o)
    for reduction in ["mean", "sum", "none"]:
        case("ctcLoss", [x], lambda x: loss(x, reduction=reduction), rest=rest, options={"reduction": reduction})
    other = [[1, 0, 2], [0, 2, 1], [2, 1, 0]]
    case(
        "ctcLoss", [x], lambda x: F.ctc_loss(F.log_softmax(x, -1), torch.tensor(other), torch.tensor([7, 7, 7]), torch.tensor([3, 2, 1]), blank=3),
        rest=[ints(*other), [7, 7, 7], [3, 2, 1]], options={"blank": 3}, title="another blank",
    )
    # Two labels that are the same need a blank between them: three steps.
    short = [[1, 1], [1, 2], [2, 1]]
    case(
        "ctcLoss", [x], lambda x: F.ctc_loss(F.log_softmax(x, -1), torch.tensor(short), torch.tensor([2, 2, 7]), torch.tensor([2, 2, 2]), zero_infinity=True, reduction="none"),
        rest=[ints(*short), [2, 2, 7], [2, 2, 2]], options={"zeroInfinity": True, "reduction": "none"}, title="too short",
    )


def pools():
    x = some(1, 2, 5, 6)
    for options, o in [
        ({"ceilMode": True}, {"ceil_mode": True}),
        ({"ceilMode": True, "stride": 3, "padding": 1}, {"ceil_mode": True, "stride": 3, "padding": 1}),
        ({"returnIndices": True, "padding": 1}, {"return_indices": True, "padding": 1}),
        ({"returnIndices": True, "ceilMode": True, "stride": [1, 2], "dilation": [2, 1]}, {"return_indices": True, "ceil_mode": True, "stride": (1, 2), "dilation": (2, 1)}),
    ]:
        case("maxPool", [x], lambda x: F.max_pool2d(x, 2, **o), rest=[2], options=options)
    case("maxPool", [some(1, 2, 7)], lambda x: F.max_pool1d(x, 3, return_indices=True), rest=[3], options={"returnIndices": True}, title="of one axis")
    case("maxPool", [some(1, 1, 3, 4, 3)], lambda x: F.max_pool3d(x, 2, ceil_mode=True, return_indices=True), rest=[2], options={"ceilMode": True, "returnIndices": True}, title="of three axes")
    for options, o in [
        ({"ceilMode": True}, {"ceil_mode": True}),
        ({"ceilMode": True, "padding": 1, "stride": 2}, {"ceil_mode": True, "padding": 1, "stride": 2}),
        ({"countIncludePad": False, "padding": 1}, {"count_include_pad": False, "padding": 1}),
        ({"countIncludePad": False, "padding": 1, "ceilMode": True, "stride": 2}, {"count_include_pad": False, "padding": 1, "ceil_mode": True, "stride": 2}),
        ({"divisor": 5, "padding": 1, "stride": 2}, {"divisor_override": 5, "padding": 1, "stride": 2}),
    ]:
        case("avgPool", [x], lambda x: F.avg_pool2d(x, 3, **o), rest=[3], options=options)
    values, indices = F.max_pool2d(x, 2, return_indices=True)
    case("maxUnpool", [values], lambda v: F.max_unpool2d(v, indices, 2), rest=[{"int32": indices.tolist()}, 2])
    case("maxUnpool", [values], lambda v: F.max_unpool2d(v, indices, 2, output_size=(5, 6)), rest=[{"int32": indices.tolist()}, 2], options={"outputSize": [5, 6]})


def sizes():
    x = some(1, 1, 3, 5)
    for name, mode in [("nearest", "nearest"), ("nearest-exact", "nearest-exact"), ("bilinear", "bilinear"), ("bicubic", "bicubic"), ("area", "area")]:
        for size in [[5, 4], [2, 8]]:
            case("interpolate", [x], lambda x: F.interpolate(x, size, mode=mode), rest=[size], options={"mode": name})
        for factor in [1.5, 2, 0.7]:
            case("interpolate", [x], lambda x: F.interpolate(x, scale_factor=factor, mode=mode), rest=[None], options={"mode": name, "scaleFactor": factor})
    for mode in ["bilinear", "bicubic"]:
        case("interpolate", [x], lambda x: F.interpolate(x, (7, 4), mode=mode, align_corners=True), rest=[[7, 4]], options={"mode": mode, "alignCorners": True})
        for size in [[2, 2], [1, 9]]:
            case("interpolate", [x], lambda x: F.interpolate(x, size, mode=mode, antialias=True), rest=[size], options={"mode": mode, "antialias": True})
        case("interpolate", [some(1, 1, 9, 7)], lambda x: F.interpolate(x, scale_factor=(0.4, 0.5), mode=mode, antialias=True), rest=[None], options={"mode": mode, "antialias": True, "scaleFactor": [0.4, 0.5]})
    case("interpolate", [some(1, 2, 4)], lambda x: F.interpolate(x, scale_factor=1.3, mode="linear"), rest=[None], options={"mode": "linear", "scaleFactor": 1.3})
    case("interpolate", [some(1, 1, 2, 3, 2)], lambda x: F.interpolate(x, scale_factor=1.7, mode="trilinear"), rest=[None], options={"mode": "trilinear", "scaleFactor": 1.7})


def options():
    x = some(3, 4, scale=8)
    case("softplus", [x], lambda x: F.softplus(x, beta=2, threshold=1), options={"beta": 2, "threshold": 1})
    case("softplus", [x], lambda x: F.softplus(x, beta=0.5), options={"beta": 0.5, "threshold": 20})
    t, w, p = torch.rand(3, 4), torch.rand(4), torch.rand(4) + 0.5
    for reduction in ["mean", "sum", "none"]:
        case(
            "binaryCrossEntropyWithLogits", [x, t], lambda x, t: F.binary_cross_entropy_with_logits(x, t, weight=w, pos_weight=p, reduction=reduction),
            rest=[{"float64": p.tolist()}], options={"weight": {"float64": w.tolist()}, "reduction": reduction},
        )
    q, k, v = some(1, 4, 3, 2), some(1, 2, 5, 2), some(1, 2, 5, 3)
    case("scaledDotProductAttention", [q, k, v], lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True), rest=[None], options={"enableGqa": True})
    case("scaledDotProductAttention", [q, k, v], lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.5, enable_gqa=True), rest=[None], options={"enableGqa": True, "causal": True, "scale": 0.5})


for make in [distances, elements, blocks, samples, ctc, pools, sizes, options]:
    make()
lines = ",\n".join(json.dumps(c) for c in cases)
print('{"torch": "%s", "cases": [\n%s\n]}' % (torch.__version__, lines))
