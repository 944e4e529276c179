"""PyTorch's gradients of rows that move, take, put and multiply elements: views, joins, borders, indices in every combination, scattered
updates with ties and zeros, products with broadcasting, transforms of every length.
"""

import numpy as np
import torch
import torch.nn.functional as F

from arrays import words
from gradient_calls import NARROW, WIDE, gradient
from gradient_points import values
from pytorch import tensor
from pytorch_arrays import WAYS
from records import NUMBER, nan
from samples import EQUATIONS

BOTH = ["float64", "complex128"]


def moved():
    for d in BOTH:
        x = values(d, (2, 3, 2), 1)
        for shape in [(12,), (3, 4), (2, 1, 6), (1, 12, 1)]:
            gradient("reshape", lambda x: x.reshape(shape), [x], words(shape))
        gradient("reshape", lambda x: x.reshape(()), [values(d, (1, 1), 1)], [0])
        for axis in [0, 1, -1, -4]:
            gradient("expandDims", lambda x: x.unsqueeze(axis), [x], [axis])
        for axes in [(2, 0, 1), (0, 2, 1), (0, 1, 2), (-1, 1, 0)]:
            gradient("permuteDims", lambda x: x.permute(axes), [x], words(axes))
        for a, b in [(0, 1), (0, -1), (1, 1)]:
            gradient("swapaxes", lambda x: x.swapaxes(a, b), [x], [a, b])
        for a, b in [((0,), (2,)), ((0, 1), (1, 2)), ((-1,), (0,))]:
            gradient("moveaxis", lambda x: torch.movedim(x, a, b), [x], [*words(a), *words(b)])
        for a, b in [(0, -1), (0, 1), (1, 2), (1, 1)]:
            gradient("flatten", lambda x: torch.flatten(x, a, b), [x], [a, b])
        for axes in [(0,), (1,), (0, 2), (-1, 1)]:
            gradient("flip", lambda x: x.flip(axes), [x], words(axes))
        gradient("flip", lambda x: x.flip((0, 1, 2)), [x], [-1])
        for shift, axis in [([1], None), ([-1], [1]), ([1, 2], [0, 1]), ([5], [2]), ([0], [0])]:
            gradient("roll", lambda x: torch.roll(x, shift, axis or ()), [x], [*words(shift), *words(axis)])
        for k, axes in [(1, (0, 1)), (2, (1, 2)), (3, (2, 0)), (0, (0, 1)), (-1, (0, 2))]:
            gradient("rot90", lambda x: torch.rot90(x, k, axes), [x], [k, *words(axes)])
        for n in [(2,), (1, 2, 2), (2, 1, 1, 1), (1,)]:
            gradient("tile", lambda x: torch.tile(x, n), [values(d, (2, 1, 2), 1)], words(n))
        for n, axis in [(2, 0), (3, -1), (1, 1), (2, None)]:
            gradient("repeat", lambda x: torch.repeat_interleave(x, n, axis), [values(d, (2, 2), 1)], [n, nan if axis is None else axis])
        for shape in [(2, 3), (4, 2, 3), (2, 2, 3)]:
            gradient("broadcastTo", lambda x: torch.broadcast_to(x, shape), [values(d, (2, 1), 1)], words(shape))
        gradient("broadcastTo", lambda x: torch.broadcast_to(x, (2, 2)), [values(d, (), 1)], words((2, 2)))
        gradient("broadcastTo", lambda x: torch.broadcast_to(x, (0, 2)), [values(d, (1, 2), 1)], words((0, 2)))
        for axes, shape in [((0,), (1, 2)), ((1, 2), (2, 1, 1)), ((-1,), (3, 1))]:
            gradient("squeeze", lambda x: torch.squeeze(x, axes), [values(d, shape, 1)], words(axes))
        for axis, size, step in [(0, 1, 1), (1, 2, 1), (1, 3, 2), (2, 2, 1), (-2, 2, 3)]:
            gradient("unfold", lambda x: x.unfold(axis, size, step), [x], [axis, size, step])
        for k in [0, 1, -1, 2, -2]:
            gradient("diagonal", lambda x: torch.diagonal(x, k, -2, -1), [x], [k])
            gradient("diag", lambda x: torch.diag(x, k), [x[0].clone()], [k])
            gradient("diag", lambda x: torch.diag(x, k), [x[0, :, 0].clone()], [k])
            gradient("tril", lambda x: torch.tril(x, k), [x], numbers=[k])
            gradient("triu", lambda x: torch.triu(x, k), [x], numbers=[k])
            gradient("trace", lambda x: torch.diagonal(x, k).sum(), [x[0].clone()], [k, nan])
        for name, fn in [("fliplr", torch.fliplr), ("flipud", torch.flipud), ("matrixTranspose", lambda x: x.mT), ("copy", torch.clone)]:
            gradient(name, fn, [x])
        for shape in [(), (2,), (1, 2), (2, 1, 2)]:
            for name, fn in [("atleast1d", torch.atleast_1d), ("atleast2d", torch.atleast_2d), ("atleast3d", torch.atleast_3d)]:
                gradient(name, fn, [values(d, shape, 1)])
        # A real gradient of what becomes complex, and the other way round.
        for e in ["float64", "complex128", "complex64", "float32"]:
            if d == "float64" or e.startswith("complex"):
                gradient("astype", lambda x: x.to(getattr(torch, e)), [x], [NUMBER[e]], dtypes=WIDE + NARROW)


def joined():
    for d in BOTH:
        x, y, z = values(d, (2, 2), 1), values(d, (1, 2), 2), values(d, (2, 0), 3)
        for axis, parts in [(0, [x, y]), (0, [y, x, y]), (1, [x, z, x]), (-1, [x, x])]:
            gradient("concat", lambda *xs: torch.cat(xs, axis), parts, [axis])
        for axis in [0, 1, -1, -2]:
            gradient("stack", lambda *xs: torch.stack(xs, axis), [x, values(d, (2, 2), 4)], [axis])
        gradient("stack", lambda *xs: torch.stack(xs), [values(d, (), 1), values(d, (), 2)], [0])
        for name, fn in [("hstack", torch.hstack), ("vstack", torch.vstack), ("dstack", torch.dstack), ("columnStack", torch.column_stack)]:
            for shape in [(2,), (2, 2), (2, 1, 2)]:
                gradient(name, lambda *xs: fn(xs), [values(d, shape, 1), values(d, shape, 2)])
        gradient("vstack", lambda *xs: torch.vstack(xs), [x, values(d, (2,), 2)])
        gradient("columnStack", lambda *xs: torch.column_stack(xs), [values(d, (2,), 2), x])
        for low, high in [((1, 0), (0, 2)), ((0, 0), (0, 0)), ((2, 2), (1, 1))]:
            pad = lambda x: F.pad(x, (low[1], high[1], low[0], high[0]), value=0.5)
            gradient("pad", pad, [x], [2, *low, 2, *high, 0], [0.5])
        # Numbers of modes that PyTorch has.
        for mode, number in [("replicate", 1), ("reflect", 2), ("circular", 4)]:
            for low, high in [(1, 1), (2, 0), (0, 2), (2, 2)]:
                line = values(d, (1, 2, 3), 1)
                gradient("pad", lambda x: F.pad(x, (low, high), mode=mode), [line], [3, 0, 0, low, 3, 0, 0, high, number], [0])
            square = values(d, (1, 1, 2, 3), 1)
            gradient("pad", lambda x: F.pad(x, (2, 1, 1, 0), mode=mode), [square], [4, 0, 0, 1, 2, 4, 0, 0, 0, 1, number], [0])


# Items of an index as Attrs::decode knows them: the key of NumPy, words, run-time numbers, arrays of places.
def picked(n):
    return n, [1, 0], [n], []


def sliced(start, stop, step, size):
    key = slice(start, stop, step)
    return key, [2, len(range(size)[key])], [key.indices(size)[0], key.indices(size)[2]], []


def placed(places):
    return np.array(places, int), [4, 1], [], [tensor(places, "int32")]


NEW = (None, [0, 0], [], [])
ALL = (slice(None), [3, 1], [], [])
# Of a tensor of shape [3, 4, 2].
KEYS = [
    [picked(1), ALL, ALL],
    [ALL, picked(3), ALL],
    [picked(2), picked(0), picked(1)],
    [NEW, ALL, picked(0), ALL],
    [ALL, ALL, ALL, NEW],
    [sliced(0, 3, 2, 3), ALL, ALL],
    [sliced(None, None, -1, 3), ALL, ALL],
    [ALL, sliced(3, 0, -2, 4), picked(1)],
    [ALL, sliced(1, 1, 1, 4), ALL],
    [sliced(1, 2, 1, 3), sliced(None, None, 3, 4), sliced(None, None, -1, 2)],
    [placed([2, 0]), ALL, ALL],
    [ALL, placed([3, -2, 0]), ALL],
    [ALL, placed([[0, 1], [-1, 2]]), ALL],
    [placed([0, 2]), placed([1, 3]), ALL],
    [placed([[0], [2]]), placed([3, 1, 0]), ALL],
    [ALL, placed([0, 2]), placed([1, 0])],
    [placed([2, 0]), ALL, placed([1, 0])],
    [picked(1), placed([0, 3]), sliced(None, None, -1, 2)],
    [sliced(0, 2, 1, 3), placed([2]), picked(0)],
    [placed([]), ALL, ALL],
]
# An element that is taken twice has the sum.
TWICE = [[placed([1, 1, 0]), ALL, ALL], [ALL, placed([[2, 2], [2, -2]]), ALL], [placed([0, 0]), placed([1, 1]), placed([1, 1])]]


def indexed():
    """An index of NumPy is one of places, which PyTorch takes and puts."""
    size = np.arange(24).reshape(3, 4, 2)
    for d in BOTH:
        x = values(d, (3, 4, 2), 1)
        for key in KEYS + TWICE:
            where = torch.as_tensor(np.array(size[tuple(k[0] for k in key)]))
            attrs = [len(key), *(w for k in key for w in k[1])]
            numbers, places = [n for k in key for n in k[2]], [p for k in key for p in k[3]]
            gradient("at", lambda x, *_: x.flatten()[where], [x, *places], attrs, numbers)
            if any(key is other for other in TWICE):
                continue
            put = lambda x, v, *_: x.flatten().index_put((where.flatten(),), v.expand(where.shape).flatten()).reshape(x.shape)
            gradient("withAt", put, [x, values(d, where.shape, 2), *places], attrs, numbers)
            gradient("withAt", put, [x, values(d, (), 2), *places], attrs, numbers)
        m = values(d, (4, 3), 1)
        for axis, places in [(0, [3, 0]), (0, [[1, 1], [-1, 2]]), (1, [2, 2, 0]), (-1, [])]:
            at = torch.tensor(places, dtype=torch.int64) % m.shape[axis] if places else torch.zeros(0, dtype=torch.int64)
            fn = lambda x, i: torch.index_select(x, axis, at.flatten()).reshape([*x.shape[: axis % 2], *at.shape, *x.shape[axis % 2 + 1 :]])
            gradient("take", fn, [m, at.int()], [axis])
        for axis, places in [(0, [[0, 3, 1], [2, 2, 2]]), (1, [[0], [2], [1], [2]]), (1, [[0, 0], [1, 2], [2, 1], [0, 0]])]:
            at = torch.tensor(places)
            gradient("takeAlongAxis", lambda x, i: torch.gather(x, axis, at), [m, at.int()], [axis])


def scattered():
    names = [("sum", 1), ("prod", 2), ("amin", 3), ("amax", 4)]
    for d in BOTH:
        real = d == "float64"
        x = values(d, (4, 2), 1)
        for axis, i, shape in [(0, [0, 2, 2], (3, 2)), (1, [1, 1], (4, 2)), (0, [3], (1, 2)), (0, [], (0, 2))]:
            at, u = tensor(np.array(i, "int32")), values(d, shape, 2)
            gradient("scatterAdd", lambda x, i, u: x.index_add(axis, i, u), [x, at, u], [axis])
            if len(set(i)) == len(i):
                gradient("scatter", lambda x, i, u: x.index_copy(axis, i.long(), u), [x, at, u], [axis])
            if real:
                for name, way in [("Mul", "prod"), ("Min", "amin"), ("Max", "amax")]:
                    gradient("scatter" + name, lambda x, i, u: x.index_reduce(axis, i.long(), u, way), [x, at, u], [axis])
        for axis, i in [(0, [[0, 1], [2, 1]]), (1, [[1, 1], [0, 0], [1, 0], [0, 1]]), (0, [[3, 3]])]:
            at = tensor(np.array(i, "int32"))
            for way, k in names if real else names[:1]:
                gradient(
                    "putAlongAxis", lambda x, i, v: x.scatter_reduce(axis, i.long(), v, way), [x, at, values(d, at.shape, 2)], [axis, k]
                )
        gradient(
            "putAlongAxis",
            lambda x, i, v: x.scatter(0, i.long(), v),
            [x, tensor(np.array([[1, 0], [3, 2]], "int32")), values(d, (2, 2), 2)],
            [0, 0],
        )
        segments = tensor(np.array([0, 2, 0, 4], "int32"))
        column = segments.long()[:, None].expand(4, 2)
        total = lambda way, start: lambda x, s: torch.full((5, 2), start, dtype=x.dtype).scatter_reduce(0, column, x, way)
        gradient("segmentSum", lambda x, s: torch.zeros((5, 2), dtype=x.dtype).scatter_add(0, column, x), [x, segments], [5])
        if real:
            gradient("segmentProd", total("prod", 1.0), [x, segments], [5])
    ties = tensor([[2.0, 1], [2, 0], [2, 1], [0, 0]])
    zeros = tensor([[0.0, 1], [0, 2], [3, 0], [0, 0]])
    for data in [ties, zeros, values("float64", (4, 2), 1)]:
        for s in [[0, 0, 0, 0], [0, 1, 0, 1], [2, 2, 0, 2]]:
            segments = tensor(np.array(s, "int32"))
            column = segments.long()[:, None].expand(4, 2)
            for name, way, start in [("Min", "amin", np.inf), ("Max", "amax", -np.inf), ("Prod", "prod", 1.0)]:
                fn = lambda x, s: torch.full((3, 2), start, dtype=x.dtype).scatter_reduce(0, column, x, way)
                gradient("segment" + name, fn, [data, segments], [3])
            mean = lambda x, s: torch.zeros((3, 2), dtype=x.dtype).scatter_reduce(0, column, x, "mean", include_self=False)
            gradient("segmentMean", mean, [data, segments], [3])
            at = tensor(np.array(s, "int32"))
            for name, way in [("Mul", "prod"), ("Min", "amin"), ("Max", "amax")]:
                gradient("scatter" + name, lambda x, i, u: x.index_reduce(0, i.long(), u, way), [data[:3].clone(), at, data], [0])
            for way, k in names[1:]:
                gradient(
                    "putAlongAxis",
                    lambda x, i, v: x.scatter_reduce(0, i.long(), v, way),
                    [data[:3].clone(), column.int().clone(), data],
                    [0, k],
                )


def products():
    for d in BOTH:
        for a, b in [
            ((2,), (2,)),
            ((2, 3), (3,)),
            ((2,), (2, 3)),
            ((2, 3), (3, 2)),
            ((2, 2, 3), (3, 2)),
            ((2, 3), (2, 3, 2)),
            ((2, 1, 1, 2), (3, 2, 1)),
            ((1, 1), (1, 1)),
            ((2, 0), (0, 2)),
            ((0, 2), (2, 1)),
            ((2, 2, 2), (2,)),
            ((3,), (2, 3, 1)),
            ((1, 2, 2), (2, 2, 2)),
        ]:
            gradient("matmul", torch.matmul, [values(d, a, 1), values(d, b, 2)])
        for equation, shapes in EQUATIONS:
            # PyTorch knows no scalars, and makes no axis of one longer.
            if all(shapes) and "(1, 3)" not in str(shapes) and max(map(len, shapes)) < 4:
                gradient(
                    "einsum",
                    lambda *xs: torch.einsum(equation, *xs),
                    [values(d, s, n) for n, s in enumerate(shapes)],
                    [len(equation), *map(ord, equation)],
                )
        for axes, a, b in [(1, (2, 3), (3, 2)), (2, (2, 3), (2, 3)), (([0], [1]), (3, 2), (2, 3)), (([1, 0], [0, 2]), (2, 3), (3, 1, 2))]:
            left, right = ([*range(-axes, 0)], [*range(axes)]) if isinstance(axes, int) else axes
            gradient(
                "tensordot",
                lambda x, y: torch.tensordot(x, y, axes),
                [values(d, a, 1), values(d, b, 2)],
                [len(left), *left, len(right), *right],
            )
        for a, b in [((2,), (3,)), ((1,), (2,)), ((2,), (0,))]:
            gradient("outer", torch.outer, [values(d, a, 1), values(d, b, 2)])
        for a, b in [((2,), (2,)), ((2, 3), (3,)), ((2, 2), (3, 2)), ((1, 2, 2), (2, 2))]:
            gradient("inner", torch.inner, [values(d, a, 1), values(d, b, 2)])
        for a, b in [((2,), (2,)), ((2, 2), (1, 2)), ((2,), (1, 2, 2)), ((2, 1), (2,))]:
            gradient("kron", torch.kron, [values(d, a, 1), values(d, b, 2)])
        for axis, a, b in [(-1, (3,), (3,)), (-1, (2, 3), (1, 3)), (0, (3, 2), (3, 1)), (1, (2, 3, 1), (1, 3, 2))]:
            gradient("cross", lambda x, y: torch.linalg.cross(x, y, dim=axis), [values(d, a, 1), values(d, b, 2)], [axis])
        for axis, a, b in [(-1, (3,), (3,)), (-1, (2, 3), (3,)), (0, (3, 2), (3, 1)), (-1, (2, 1, 2), (3, 2)), (-1, (1,), (1,))]:
            gradient("vecdot", lambda x, y: torch.linalg.vecdot(x, y, dim=axis), [values(d, a, 1), values(d, b, 2)], [axis])
        for n, m in [(4, 2), (2, 4), (3, 3), (1, 1), (3, 1), (1, 3)]:
            for k, mode in enumerate(["full", "same", "valid"]):
                for name, word in [("convolve", k), ("correlate", 2 - k)]:
                    gradient(name, lambda x, y: sliding(x, y, mode, name == "correlate"), [values(d, (n,), 1), values(d, (m,), 2)], [word])


def sliding(x, y, mode, correlate):
    """NumPy's convolve and correlate, of which PyTorch has the products."""
    y = y.conj().flip(0) if correlate else y
    n, m = x.numel(), y.numel()
    full = F.conv1d(F.pad(x.reshape(1, 1, -1), (m - 1, m - 1)), y.flip(0).reshape(1, 1, -1)).flatten()
    most, least = max(n, m), min(n, m)
    if mode == "same":
        # Of an even number the one before the middle; NumPy turns correlations whose first is the shorter.
        first = (least - 1) // 2
        if correlate and n < m:
            first = least - 1 - first
        return full[first : first + most]
    return full[least - 1 : most] if mode == "valid" else full


def transforms():
    for d in BOTH:
        for way, norm in enumerate(WAYS):
            for shape, n, axis in [
                ((4,), None, -1),
                ((3,), None, 0),
                ((2, 3), 5, 1),
                ((3, 2), 2, 0),
                ((2, 1), None, -1),
                ((2, 2), 1, 1),
                ((2, 5), 4, -1),
            ]:
                x = values(d, shape, 1)
                attrs = [nan if n is None else n, axis, way]
                for name in ["fft", "ifft", "irfft", "hfft", *(["rfft", "ihfft"] if d == "float64" else [])]:
                    # Of one element there is no other half.
                    if name in ["irfft", "hfft"] and n is None and shape[axis] == 1:
                        continue
                    fn = getattr(torch.fft, name)
                    gradient("fft." + name, lambda x: fn(x, n, axis, norm), [x], attrs)
            for shape, s, axes in [
                ((2, 3), None, None),
                ((2, 2, 2), None, (0, 2)),
                ((2, 3), (3, 2), (1, 0)),
                ((3, 2), (1, 4), None),
                ((2, 2, 2), (3,), (1,)),
            ]:
                x = values(d, shape, 1)
                attrs = [*words(axes), *words(s), way]
                for name in ["fftn", "ifftn", "irfftn", *(["rfftn"] if d == "float64" else [])]:
                    fn = getattr(torch.fft, name)
                    gradient("fft." + name, lambda x: fn(x, s, axes, norm), [x], attrs)
        for shape, axes in [((3,), None), ((2, 3), (1,)), ((3, 2), (0, 1)), ((4,), (-1,))]:
            gradient("fft.fftshift", lambda x: torch.fft.fftshift(x, axes), [values(d, shape, 1)], words(axes))
            gradient("fft.ifftshift", lambda x: torch.fft.ifftshift(x, axes), [values(d, shape, 1)], words(axes))


def cases():
    moved()
    joined()
    indexed()
    scattered()
    products()
    transforms()
