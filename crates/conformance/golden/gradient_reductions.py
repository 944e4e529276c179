"""PyTorch's gradients of reductions, running combinations and order: ties, zeros of products, NaN and infinity among numbers, axes of one
element, no axes at all, and every way to name axes.
"""

import functools

import torch

from arrays import words
from gradient_calls import NARROW, WIDE, gradient
from gradient_points import values
from pytorch import tensor
from records import inf, nan
from samples import METHODS

# Axes by their numbers ('None': all), and whether they are kept.
WAYS = [(None, 0), (None, 1), ((0,), 0), ((-1,), 1), ((0, -1), 0), ((1,), 0)]
LINES = {
    "ties": [[2.0, 3, 3, 2], [1, 1, 1, 1], [-1, -2, -1, -2]],
    "zeros": [[0.0, 2, -3, 0.5], [0, 2, 0, -1], [0, 0, -0.0, 0]],
    "infinite": [[inf, 1, inf, 2], [-inf, 0, 1, -inf], [inf, -inf, 2, 1]],
    "unknown": [[nan, 1, 2, 3], [1, nan, nan, -1], [nan, nan, nan, nan]],
    "large": [[1e200, -3e200, 1e-200, 1], [800, 799, -800, 0], [1e150, 1e150, 1, -1e150]],
}
LINES_32 = {**LINES, "large": [[1e30, -3e30, 1e-30, 1], [100, 99, -100, 0], [1e18, 1e18, 1, -1e18]]}
# What a number does to the other way round of a product, or to a square, depends on the order in which they are multiplied.
ORDERED = {"prod", "nanprod", "var", "std", "nanvar", "nanstd"}
known = lambda x, instead: torch.where(x.isnan(), torch.full_like(x, instead), x)


def every(fn):
    """Of a function over some axes one over all that are asked for, whose names PyTorch wants."""
    return lambda x, axis, keep: fn(x, tuple(range(x.ndim)) if axis is None else axis, bool(keep))


def product(x, axes, keep):
    for axis in sorted({a % x.ndim for a in axes}, reverse=True):
        x = torch.prod(x, axis, keep)
    return x


def spread(root, correction, x, axes, keep):
    """Of what is known."""
    sure = ~x.isnan()
    n = sure.sum(axes, keepdim=True)
    mean = known(x, 0.0).sum(axes, keepdim=True) / n
    # Where nothing is known nothing moves.
    off = torch.where(sure, x - mean, torch.zeros_like(x))
    square = off.square().sum(axes, keepdim=keep) / (n.reshape(off.square().sum(axes, keepdim=keep).shape) - correction)
    return square.sqrt() if root else square


def nan_mean(x, axes, keep):
    return torch.nanmean(x, axes, keep)


# Name, function of operand, axes and whether they are kept, words behind the axes, numbers, whether complex numbers have it.
REDUCTIONS = [
    ("sum", every(torch.sum), [nan], [], True),
    ("mean", every(torch.mean), [], [], True),
    ("prod", every(product), [nan], [], True),
    ("max", every(torch.amax), [], [], False),
    ("min", every(torch.amin), [], [], False),
    ("ptp", every(lambda x, a, k: torch.amax(x, a, k) - torch.amin(x, a, k)), [], [], False),
    ("logsumexp", every(torch.logsumexp), [], [], False),
    ("var", every(lambda x, a, k: torch.var(x, a, correction=1, keepdim=k)), [], [1], True),
    ("var", every(lambda x, a, k: torch.var(x, a, correction=0, keepdim=k)), [], [0], True),
    ("std", every(lambda x, a, k: torch.std(x, a, correction=1, keepdim=k)), [], [1], False),
    ("std", every(lambda x, a, k: torch.std(x, a, correction=0.5, keepdim=k)), [], [0.5], False),
    ("nansum", every(torch.nansum), [nan], [], False),
    ("nanmean", every(nan_mean), [], [], False),
    # PyTorch has these in parts.
    ("nanprod", every(lambda x, a, k: product(known(x, 1.0), a, k)), [nan], [], False),
    ("nanvar", every(functools.partial(spread, False, 1)), [], [1], False),
    ("nanvar", every(functools.partial(spread, False, 0)), [], [0], False),
    ("nanstd", every(functools.partial(spread, True, 1)), [], [1], False),
    ("nanmax", every(lambda x, a, k: torch.amax(known(x, -inf), a, k)), [], [], False),
    ("nanmin", every(lambda x, a, k: torch.amin(known(x, inf), a, k)), [], [], False),
    *[
        ("linalg.vectorNorm", every(lambda x, a, k, p=p: torch.linalg.vector_norm(x, p, a, k)), [p], [], True)
        for p in [2, 1, 0, inf, -inf, 3, 0.5]
    ],
]


def reductions():
    for name, fn, behind, numbers, has_complex in REDUCTIONS:

        def one(x, axis, keep, dtypes=WIDE, twice=False):
            attrs = [*words(axis, keep), *behind]
            gradient(name, lambda x: fn(x, axis, keep), [x], attrs, numbers, dtypes=dtypes, most=400, twice=twice)

        for axis, keep in WAYS:
            one(values("float64", (2, 3, 2), 1), axis, keep)
        for shape, axis in [((), None), ((1,), (0,)), ((3, 1), (1,)), ((1, 3), (0,)), ((3,), None), ((2, 1, 2), (1, 2))]:
            one(values("float64", shape, 1), axis, 0)
        # Over an axis of no elements extremes are refused.
        if name in ["sum", "prod", "nansum"]:
            one(torch.zeros((2, 0), dtype=torch.float64), (1,), 0)
        one(torch.zeros((0, 2), dtype=torch.float64), (1,), 0)
        for what in LINES:
            if what != "large" or name not in ORDERED:
                one(tensor(LINES[what]), (1,), 0, twice=what in ["ties", "zeros"])
                one(tensor(LINES_32[what], "float32"), (1,), 1, NARROW)
        if has_complex:
            for axis, keep in WAYS[2:5]:
                one(values("complex128", (2, 3, 2), 1), axis, keep)
            one(tensor([[0, 1j, 2], [0, 0, 1 - 1j], [3, 3, 3j]], "complex128"), (1,), 0)


def medians():
    # Of an even number PyTorch has the lower one in the middle; of equal elements any may be it.
    for x in [
        [[1.0, 3, 2], [2, 4, 6], [3, 1, -2]],
        [[nan, 1, 2], [nan, nan, 3], [5, nan, 4]],
        [[inf, -inf, 0], [1, 2, inf], [-1, 5, 1]],
        [[7.0]],
    ]:
        x = tensor(x)
        for axis in [0, 1]:
            gradient("median", lambda x: torch.median(x, axis).values, [x], [1, axis, 0])
            if not x.isnan().any() or axis == 0:
                gradient("nanmedian", lambda x: torch.nanmedian(x, axis, True).values, [x], [1, axis, 1])
    x = tensor([[0.5, 3, -2, 8], [-1, 4, 7, 2.5]])
    gaps = tensor([[nan, 3, -2, 8], [-1, nan, nan, 2.5]])
    for m, way in enumerate(METHODS):
        for axis, keep in [(0, False), (1, True)]:
            for q in [0.0, 0.25, 0.5, 0.9, 1.0]:
                q = tensor(q)
                kw = {"dim": axis, "keepdim": keep, "interpolation": way}
                for name, data, fn, hundred in [
                    ("quantile", x, torch.quantile, 1),
                    ("percentile", x, torch.quantile, 100),
                    ("nanquantile", gaps, torch.nanquantile, 1),
                    ("nanpercentile", gaps, torch.nanquantile, 100),
                ]:
                    if axis == 1 or q in [0.25, 0.5]:
                        gradient(name, lambda x, q: fn(x, q / hundred, **kw), [data, q * hundred], [1, axis, keep, m])


def running():
    nan_sum = lambda x, axis: torch.cumsum(known(x, 0.0), axis)
    nan_product = lambda x, axis: torch.cumprod(known(x, 1.0), axis)
    for name, fn, attrs, has_complex in [
        ("cumulativeSum", torch.cumsum, [nan, 0], True),
        ("cumulativeProd", torch.cumprod, [nan, 0], True),
        ("nancumulativeSum", nan_sum, [nan, 0], False),
        ("nancumulativeProd", nan_product, [nan, 0], False),
        ("cumulativeMax", lambda x, axis: torch.cummax(x, axis).values, [], False),
        ("cumulativeMin", lambda x, axis: torch.cummin(x, axis).values, [], False),
    ]:
        one = lambda x, axis, dtypes=WIDE, **kw: gradient(name, lambda x: fn(x, axis), [x], [axis, *attrs], dtypes=dtypes, **kw)
        for shape, axis in [((4,), 0), ((2, 3), 0), ((2, 3), 1), ((2, 2, 3), -2), ((1, 3), 0), ((3, 1), -1), ((0, 2), 1), ((2, 0), 1)]:
            one(values("float64", shape, 1), axis)
        for what, lines in LINES.items():
            # Behind a zero PyTorch's products have the gradient 0, of infinite cofactors too.
            if what != "large" and (what != "infinite" or "Prod" not in name):
                one(tensor(lines), 1, twice=what in ["ties", "zeros"])
                one(tensor(lines, "float32"), 0, NARROW)
        if has_complex:
            one(values("complex128", (2, 3), 1), 1)
            one(tensor([[0, 1j, 2], [1, 0, 1 - 1j], [3, 0, 0]], "complex128"), 1)
        # With what it starts from in front.
        if attrs:
            initial = 1.0 if "Prod" in name else 0.0
            before = lambda x: torch.cat([torch.full_like(x[:, :1], initial), fn(x, 1)], 1)
            gradient(name, before, [values("float64", (2, 3), 2)], [1, nan, 1])
    for shape, axis, n in [((4,), 0, 1), ((4,), 0, 3), ((2, 3), 0, 1), ((2, 3), 1, 2), ((2, 1), 1, 1), ((3, 2), -1, 0), ((3,), -1, 4)]:
        for d in ["float64", "complex128"]:
            gradient("diff", lambda x, p, q: torch.diff(x, n, axis), [values(d, shape, 1), None, None], [axis, n])
    a, one, row = values("float64", (2, 3), 1), values("float64", (2, 1), 2), values("float64", (2, 2), 3)
    for n in [1, 2]:
        gradient("diff", lambda x, p, q: torch.diff(x, n, 1, p, q), [a, one, row], [1, n])
        gradient("diff", lambda x, p, q: torch.diff(x, n, 1, p, q), [a, None, one], [1, n])
        gradient("diff", lambda x, p, q: torch.diff(x, n, 1, p, q), [a, one, None], [1, n])
    places = tensor([0.0, 0.5, 2, 3])
    for axis, shape in [(0, (4, 2)), (1, (2, 4)), (-1, (4,))]:
        y = values("float64", shape, 1)
        for order in [1, 2]:
            for gap in [1.0, -0.25]:
                gradient(
                    "gradient",
                    lambda y, x: torch.gradient(y, spacing=gap, dim=axis, edge_order=order)[0],
                    [y, None],
                    [axis, order - 1],
                    [gap],
                )
            # By the places PyTorch has no gradient.
            gradient(
                "gradient",
                lambda y, x: torch.gradient(y, spacing=[x], dim=axis, edge_order=order)[0],
                [y, places],
                [axis, order - 1],
                [1.0],
            )
        for gap in [1.0, -0.25]:
            gradient("trapezoid", lambda y, x: torch.trapezoid(y, dx=gap, dim=axis), [y, None], [axis], [gap])
        along = lambda x: x.reshape([-1 if n == axis % y.ndim else 1 for n in range(y.ndim)])
        gradient("trapezoid", lambda y, x: torch.trapezoid(y, along(x).expand(y.shape), dim=axis), [y, places], [axis], [1.0])
    for shape in [(2, 4), (3, 2), (1, 3)]:
        for d in ["float64", "complex128"]:
            x = values(d, shape, 1) + values(d, shape, 4).square() / 8
            for correction in [0, 1]:
                gradient("cov", lambda x: torch.cov(x, correction=correction).reshape(shape[0], shape[0]), [x], [1], [correction])
            gradient("cov", lambda x: torch.cov(x.T, correction=0).reshape(shape[1], shape[1]), [x], [0], [0])
            if shape[0] > 1:
                gradient("corrcoef", torch.corrcoef, [x], [1])


def order():
    unequal = tensor([[3.0, -1, 2, 0.5], [-2, 4, 0, 1], [1, 7, -3, 2]])
    for d, dtypes in [("float64", WIDE), ("float32", NARROW)]:
        for x in [unequal, tensor(LINES["ties"]), tensor([[inf, -inf, nan, 0.0], [nan, 1, nan, -1]])]:
            x = x.to(getattr(torch, d))
            for axis in [0, 1]:
                for down in [0, 1]:
                    gradient(
                        "sort",
                        lambda x: torch.sort(x, dim=axis, descending=bool(down), stable=True).values,
                        [x],
                        [axis, down],
                        dtypes=dtypes,
                    )
        x = unequal.to(getattr(torch, d))
        for axis, most in [(0, 3), (1, 4)]:
            for k in range(1, most + 1):
                for down in [0, 1]:
                    gradient("topk", lambda x: tuple(torch.topk(x, k, axis, bool(down))), [x], [k, axis, down], dtypes=dtypes)
                gradient("kthvalue", lambda x: tuple(torch.kthvalue(x, k, axis, bool(k % 2))), [x], [k, axis, k % 2], dtypes=dtypes)
    gradient("sort", lambda x: torch.sort(x, stable=True).values, [tensor([[1.0], [2.0]])], [-1, 0])
    for name, fn in [("softmax", torch.softmax), ("logSoftmax", torch.log_softmax)]:
        for shape, axis in [((3,), 0), ((2, 3), 0), ((2, 3), 1), ((2, 2, 2), 1), ((2, 1), 1), ((0, 2), 1)]:
            gradient(name, lambda x: fn(x, axis), [values("float64", shape, 1)], [axis])
        for what, lines in LINES.items():
            gradient(name, lambda x: fn(x, 1), [tensor(lines)], [1], twice=what in ["ties", "zeros"])
            gradient(name, lambda x: fn(x, -1), [tensor(LINES_32[what], "float32")], [-1], dtypes=NARROW)
        gradient(name, lambda x: fn(x, 1), [tensor([[-inf, 0.0, 1], [-inf, -inf, 2], [50, 0, -50]])], [1], twice=True)


def cases():
    reductions()
    medians()
    running()
    order()
