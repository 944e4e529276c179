"""PyTorch's own answers of reductions, running combinations and order."""

import numpy as np
import torch

from arrays import words
from pytorch import BOTH, INTEGERS, WITH_COMPLEX, answer, exact, few, record, rng, some, tensor
from records import inf, nan
from samples import OLDER

AXES = [(None, False), ((0,), True), ((-1,), False), ((0, 2), False)]


def reductions():
    named = lambda axis: tuple(range(3)) if axis is None else axis
    for d in BOTH + ["float16", "bfloat16"]:
        for axis, keep in AXES:
            x, aw, over = some(d, (3, 4, 5)), words(axis, keep), named(axis)
            kw = {"dim": over, "keepdim": keep}
            size = 8 if d in BOTH else 1
            answer("sum", lambda x: torch.sum(x, **kw), [x], [*aw, nan], tol=size)
            answer("mean", lambda x: torch.mean(x, **kw), [x], aw, tol=size)
            answer("logsumexp", lambda x: torch.logsumexp(x, **kw), [x], aw, tol=size)
            for correction in [0.0, 1.0, 2.5]:
                answer("var", lambda x: torch.var(x, correction=correction, **kw), [x], aw, [correction], tol=size)
                answer("std", lambda x: torch.std(x, correction=correction, **kw), [x], aw, [correction], tol=size)
            if d not in BOTH:
                continue
            for name, fn in [("max", torch.amax), ("min", torch.amin)]:
                exact(name, lambda x: fn(x, **kw), [x], aw)
            for name, fn in [("any", torch.any), ("all", torch.all)]:
                exact(name, lambda x: fn(x, **kw), [x > -1], aw)
            if not keep:
                exact("countNonzero", lambda x: torch.count_nonzero(x, over), [x], aw)
            known = torch.where(x > 1, torch.full_like(x, nan), x)
            answer("nansum", lambda x: torch.nansum(x, **kw), [known], [*aw, nan], tol=size)
            answer("nanmean", lambda x: torch.nanmean(x, **kw), [known], aw, tol=size)
        for axis in [None, 0, -1]:
            for name, fn in [("argmax", torch.argmax), ("argmin", torch.argmin)]:
                exact(name, lambda x: fn(x, axis), [few(d, (3, 4))], [nan if axis is None else axis, 0])
        if d in BOTH:
            x = some(d, (5, 3))
            answer("prod", lambda x: torch.prod(x, 1), [x], [1, 1, 0, nan], tol="16")
            # Of an even number PyTorch's median is the lower element in the middle.
            exact("median", lambda x: torch.median(x, 0).values, [x], [1, 0, 0])
            x = torch.where(x == x[1:2], torch.full_like(x, nan), x)
            exact("median", lambda x: torch.median(x, 0).values, [x], [1, 0, 0])
            x = torch.cat([x, some(d, (1, 3))])
            exact("nanmedian", lambda x: torch.nanmedian(x, 0).values, [x], [1, 0, 0])
            x, q = some(d, (4, 6)), tensor([0, 0.1, 0.5, 0.75, 1], d)
            gaps = torch.where(x > 0.5, torch.full_like(x, nan), x)
            for m, way in enumerate(OLDER):
                for axis, keep in [(0, False), (1, True)]:
                    kw = {"dim": axis, "keepdim": keep, "interpolation": way}
                    # In float32 the place of a quantile itself is rounded: PyTorch's is that of float64.
                    answer("quantile", lambda x, q: torch.quantile(x, tensor([0, 0.1, 0.5, 0.75, 1], "float64"), **kw),
                           [x, q], [1, axis, keep, m], tol=8)
                    answer("nanquantile", lambda x, q: torch.nanquantile(x, tensor([0, 0.1, 0.5, 0.75, 1], "float64"), **kw),
                           [gaps, q], [1, axis, keep, m], tol=8)
    for d in WITH_COMPLEX:
        x = some(d, (3, 6))
        for correction in [0, 1]:
            answer("cov", lambda x: torch.cov(x, correction=correction), [x], [1], [correction], tol=16)
        answer("corrcoef", torch.corrcoef, [x], [1], tol=16)
        answer("cov", lambda x: torch.cov(x.T), [x], [0], [1], tol=16)
        answer("var", lambda x: torch.var(x, 1, correction=1), [x], [1, 1, 0], [1.0], tol=16)
    for d in INTEGERS:
        x = some(d, (3, 4))
        total = "int32" if d in ["int8", "int16"] else "uint32" if d == "uint8" else d
        record("sum", [x], [x.sum(0).to(getattr(torch, total))], [1, 0, 0, nan])
        answer("mean", lambda x: x.double().mean(1), [x], [1, 1, 0], tol=8)
    answer("sum", lambda x: x.sum(0), [torch.zeros((0, 3))], [1, 0, 0, nan])
    answer("mean", lambda x: x.mean(0), [torch.zeros((0, 3))], [1, 0, 0])


def running():
    for d in BOTH + ["int32"]:
        for axis in [0, -1]:
            x = few(d, (3, 5))
            for name, fn in [("cumulativeSum", torch.cumsum), ("cumulativeProd", torch.cumprod)]:
                fixed = lambda x: fn(x, axis) if d in BOTH else fn(x, axis, dtype=torch.int32)
                exact(name, fixed, [x], [axis, nan, 0], tol="0~")
            # PyTorch's running extremes go on from NaN with NaN as well.
            if d in BOTH:
                x[1, 2] = nan
            exact("cumulativeMax", lambda x: torch.cummax(x, axis).values, [x], [axis])
            exact("cumulativeMin", lambda x: torch.cummin(x, axis).values, [x], [axis])
            x, before, behind = few(d, (3, 6)), few(d, (3, 2) if axis else (2, 6)), few(d, (3, 1) if axis else (1, 6))
            for n in [1, 2, 4]:
                exact("diff", lambda x, p, q: torch.diff(x, n, axis), [x, None, None], [axis, n])
            exact("diff", lambda x, p, q: torch.diff(x, 1, axis, p, q), [x, before, behind], [axis, 1])
    for d in BOTH:
        y, x = some(d, (3, 5)), tensor([0.0, 0.5, 2, 3.25, 4], d)
        for order in [1, 2]:
            answer("gradient", lambda y, x: torch.gradient(y, spacing=0.5, dim=1, edge_order=order)[0], [y, None],
                   [1, order - 1], [0.5], tol=32)
            answer("gradient", lambda y, x: torch.gradient(y, spacing=[x], dim=1, edge_order=order)[0], [y, x],
                   [1, order - 1], [1.0], tol=32)
        answer("trapezoid", lambda y, x: torch.trapezoid(y, dx=0.5, dim=0), [y, None], [0], [0.5], tol=16)
        answer("trapezoid", lambda y, x: torch.trapezoid(y, x, dim=1), [y, x], [1], [1.0], tol=16)


def order():
    for d in BOTH + ["int16"]:
        x = few(d, (3, 7))
        unequal = tensor(np.stack([rng.permutation(7) - 3 for _ in range(3)]), d)
        if d in BOTH:
            x[0, 3], x[1, 1], x[2, 0] = nan, inf, -inf
        for down in [0, 1]:
            exact("sort", lambda x: torch.sort(x, dim=1, descending=bool(down), stable=True).values, [x], [1, down])
            exact("argsort", lambda x: torch.argsort(x, dim=1, descending=bool(down), stable=True), [x], [1, down])
            # Which of equal elements topk and kthvalue take PyTorch leaves open.
            exact("topk", lambda x: tuple(torch.topk(x, 3, 1, bool(down))), [unequal], [3, 1, down])
        for k, keep in [(1, 0), (4, 1), (7, 0)]:
            exact("kthvalue", lambda x: tuple(torch.kthvalue(x, k, 1, bool(keep))), [unequal], [k, 1, keep])
        row, values = torch.sort(few(d, (9,))).values, few(d, (3, 4))
        places = torch.tensor(rng.permutation(9))
        mixed = torch.empty_like(row)
        mixed[places] = row
        for side, right in [(0, False), (1, True)]:
            record("searchsorted", [row, values, None], [torch.searchsorted(row, values, out_int32=True, right=right)],
                   [side])
            record("searchsorted", [row, values, None], [torch.bucketize(values, row, out_int32=True, right=right)], [side])
            sorted_by = torch.searchsorted(mixed, values, out_int32=True, right=right, sorter=places)
            record("searchsorted", [mixed, values, places], [sorted_by], [side])


def cases():
    reductions()
    running()
    order()
