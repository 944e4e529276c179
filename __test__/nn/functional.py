"""Writes functional.json beside this file: functions of torch.nn.functional in float64, and their gradients.

    pip install torch && python __test__/nn/functional.py > __test__/nn/functional.json

Each case is a call: `name` here, `inputs` that have a gradient, `rest` of the arguments behind them (`{"int32": ...}` is a tensor of integers),
`options` by our names, the `value`, and the `gradients` of the sum of its products with `cotangent`, by
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
    y = f(*xs)
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


for make in [distances, elements, blocks, samples, ctc]:
    make()
lines = ",\n".join(json.dumps(c) for c in cases)
print('{"torch": "%s", "cases": [\n%s\n]}' % (torch.__version__, lines))
