"""PyTorch's own answers of rows of whole arrays: elements taken, put and moved, products, transforms, linear algebra."""

import torch
import torch.nn.functional as F

from arrays import words
from linear_algebra import COND_ORDS, ORDS, settled
from pytorch import BOTH, REAL, WITH_COMPLEX, answer, exact, few, record, rng, rounded, some, tensor, wide
from records import NUMBER, inf, nan


def places(n, shape, d="int32"):
    return tensor(rng.integers(0, n, shape), d)


def lookups():
    for d in [*WITH_COMPLEX, "int16", "bool"]:
        x = few(d, (5, 4))
        i = places(5, (2, 3))
        # An embedding is rows taken.
        exact("take", lambda x, i: F.embedding(i, x) if d in BOTH else x[i], [x, i], [0])
        exact("take", lambda x, i: torch.index_select(x, 1, i), [x, places(4, (6,))], [1])
        for axis, shape in [(0, (3, 4)), (1, (5, 6))]:
            exact("takeAlongAxis", lambda x, i: torch.gather(x, axis, i.long()), [x, places(x.shape[axis], shape)], [axis])
        exact("takeAlongAxis", lambda x, i: torch.take_along_dim(x, i.long(), 1), [x, places(4, (1, 3))], [1])
    labels = places(4, (2, 3), "int64")
    record("oneHot", [labels], [F.one_hot(labels, 5).float()], [5, nan])
    record("oneHot", [labels], [F.one_hot(labels, 4)], [4, NUMBER["int64"]])


def scatters():
    ways = [(1, "sum"), (2, "prod"), (3, "amin"), (4, "amax")]
    for d in [*WITH_COMPLEX, "int16", "int64"]:
        real = d not in REAL
        for axis in [0, 1]:
            x = few(d, (5, 4))
            # Duplicates have no order when PyTorch copies.
            i = tensor(rng.permutation(x.shape[axis])[:3], "int32")
            u = few(d, (3, 4) if axis == 0 else (5, 3))
            exact("scatter", lambda x, i, u: x.index_copy(axis, i.long(), u), [x, i, u], [axis])
            i = places(x.shape[axis], (7,))
            u = few(d, (7, 4) if axis == 0 else (5, 7))
            exact("scatterAdd", lambda x, i, u: x.index_add(axis, i, u), [x, i, u], [axis], tol="0~")
            if real:
                for name, way in [("Mul", "prod"), ("Min", "amin"), ("Max", "amax")]:
                    exact("scatter" + name, lambda x, i, u: x.index_reduce(axis, i, u, way), [x, i, u], [axis],
                          tol="4~" if d in BOTH else "0")
            # Each line by indices of its own.
            i = tensor(rng.permuted([range(x.shape[axis])] * x.shape[1 - axis], axis=1)[:, :3], "int32")
            i = i.T.contiguous() if axis == 0 else i
            exact("putAlongAxis", lambda x, i, v: x.scatter(axis, i.long(), v), [x, i, few(d, i.shape)], [axis, 0])
            if real:
                exact("putAlongAxis", lambda x, i, v: x.scatter(axis, i.long(), v), [x, i, 3 if d not in BOTH else 0.5],
                      [axis, 0])
            i = places(x.shape[axis], (6, 4) if axis == 0 else (5, 6))
            exact("putAlongAxis", lambda x, i, v: x.scatter_add(axis, i.long(), v), [x, i, few(d, i.shape)], [axis, 1],
                  tol="0~")
            if real:
                for k, way in ways:
                    exact("putAlongAxis", lambda x, i, v: x.scatter_reduce(axis, i.long(), v, way), [x, i, few(d, i.shape)],
                          [axis, k], tol="4~" if d in BOTH else "0")
        if not real:
            continue
        x, segments = few(d, (7, 3)), tensor([0, 3, 1, 1, 3, 0, 3], "int32")
        column = segments.long()[:, None].expand(7, 3)
        by = lambda way, rows, start: torch.full((rows, 3), start, dtype=x.dtype).scatter_reduce(0, column, x, way)
        info = torch.finfo(x.dtype) if d in BOTH else torch.iinfo(x.dtype)
        least, most = (-inf, inf) if d in BOTH else (info.min, info.max)
        # Segment 2 and those from 4 on have no rows.
        for name, way, start in [("Sum", "sum", 0), ("Prod", "prod", 1), ("Min", "amin", most), ("Max", "amax", least)]:
            exact("segment" + name, lambda x, s: by(way, 6, start), [x, segments], [6], tol="4~" if d in BOTH else "0")
        if d in BOTH:
            start = torch.full((6, 3), nan, dtype=x.dtype)
            answer("segmentMean", lambda x, s: wide(start).scatter_reduce(0, column, x, "mean", include_self=False),
                   [x, segments], [6], tol="2~")


def conversions():
    """Half floats as PyTorch rounds to them, and integers that wrap."""
    x = tensor(rng.standard_normal(24), "float32") * tensor(2.0 ** rng.integers(-30, 30, 24), "float32")
    x = torch.cat([x,
                   tensor([0.0, -0.0, inf, -inf, nan, 65519, 65520, -1e39, 3.39e38, 1e-45, 1.00390625, 1.01171875, 2049,
                           2051], "float32")])
    for e in ["float16", "bfloat16", "float64", "bool"]:
        exact("astype", lambda x: x.to(getattr(torch, e)), [x], [NUMBER[e]])
    for d in ["float16", "bfloat16"]:
        halves = x.to(getattr(torch, d))
        for e in ["float32", "float64", "bool", "complex64"]:
            exact("astype", lambda x: x.to(getattr(torch, e)), [halves], [NUMBER[e]])
        a, b = halves[:24].reshape(2, 1, 12), some(d, (3, 1), 3.0)
        for name, fn in [("add", torch.add), ("subtract", torch.sub), ("multiply", torch.mul), ("divide", torch.div),
                         ("maximum", torch.maximum)]:
            exact(name, fn, [a, b], tol="1" if name == "divide" else "0")
    for d in ["int16", "int64", "uint8"]:
        x = tensor([0, 1, 2, 127, 128, 255] if d == "uint8" else [0, -1, 300, 32767, -32768, 255], d)
        for e in ["int8", "uint8", "int32", "bool", "float32", "bfloat16"]:
            exact("astype", lambda x: x.to(getattr(torch, e)), [x], [NUMBER[e]])
    # What integers have none of PyTorch leaves open: no NaN, and nothing out of range.
    exact("astype", lambda x: x.to(torch.int16), [tensor([1.9, -1.9, 0.5, -0.5, 32767, -32768], "float64")],
          [NUMBER["int16"]])


def moved():
    for d in ["float32", "complex128", "int8", "bool"]:
        x = few(d, (2, 3, 4))
        for axis, size, step in [(0, 2, 1), (2, 2, 2), (-1, 3, 1)]:
            exact("unfold", lambda x: x.unfold(axis, size, step), [x], [axis, size, step])
        for shift, axis in [([1], None), ([-2], [1]), ([1, 3], [0, 2])]:
            exact("roll", lambda x: torch.roll(x, shift, axis or ()), [x], [*words(shift), *words(axis)])
        for k in [1, 2, -1]:
            exact("rot90", lambda x: torch.rot90(x, k, (2, 0)), [x], [k, *words([2, 0])])
        exact("flip", lambda x: torch.flip(x, (0, 2)), [x], words([0, 2]))
        exact("tile", lambda x: torch.tile(x, (2, 1, 3)), [x], words([2, 1, 3]))
        exact("repeat", lambda x: torch.repeat_interleave(x, 2, 1), [x], [2, 1])
        exact("repeat", lambda x: torch.repeat_interleave(x, 2), [x], [2, nan])
        exact("moveaxis", lambda x: torch.movedim(x, (0, 2), (1, 0)), [x], [*words([0, 2]), *words([1, 0])])
        for name, fn in [("fliplr", torch.fliplr), ("flipud", torch.flipud), ("matrixTranspose", lambda x: x.mT)]:
            exact(name, fn, [x])
        exact("squeeze", lambda x: torch.squeeze(x, 1), [x[:, :1].clone()], words([1]))
        exact("broadcastTo", lambda x: torch.broadcast_to(x, (2, 2, 3, 4)), [x[:, :1].clone()], words([2, 2, 3, 4]))
        exact("swapaxes", lambda x: torch.swapaxes(x, 0, -1), [x], [0, -1])
        exact("flatten", lambda x: torch.flatten(x, 1, 2), [x], [1, 2])
        exact("permuteDims", lambda x: torch.permute(x, (2, 0, 1)), [x], words([2, 0, 1]))
        for k in [0, 1, -1, 3]:
            exact("diagonal", lambda x: torch.diagonal(x, k, -2, -1), [x], [k])
            exact("diag", lambda x: torch.diag(x, k), [x[0].clone()], [k])
            exact("diag", lambda x: torch.diag(x, k), [x[0, 0].clone()], [k])
            exact("tril", lambda x: torch.tril(x, k), [x], numbers=[k])
            exact("triu", lambda x: torch.triu(x, k), [x], numbers=[k])
        if d in ["float32", "complex128"]:
            exact("trace", torch.trace, [x[0, :, :3].clone()], [0, nan])
        y = few(d, (2, 1, 4))
        exact("concat", lambda *xs: torch.cat(xs, 1), [x, y, x], [1])
        exact("stack", lambda *xs: torch.stack(xs, -1), [x, x.flip(0)], [-1])
        for name, fn in [("hstack", torch.hstack), ("vstack", torch.vstack), ("dstack", torch.dstack),
                         ("columnStack", torch.column_stack)]:
            exact(name, lambda *xs: fn(xs), [x, x])
            exact(name, lambda *xs: fn(xs), [x[0, 0].clone(), x[1, 0].clone()])
        for name, fn in [("atleast1d", torch.atleast_1d), ("atleast2d", torch.atleast_2d), ("atleast3d", torch.atleast_3d)]:
            for part in [x[0, 0, 0].clone(), x[0, 0].clone(), x[0].clone()]:
                exact(name, fn, [part])
        if d == "bool":
            continue
        # PyTorch fills the last axes, with modes those behind the first two, from the last on.
        exact("pad", lambda x: F.pad(x, (3, 1, 0, 2), value=2), [x], [3, 0, 0, 3, 3, 0, 2, 1, 0], [2])
        if d != "int8":
            for mode, number in [("replicate", 1), ("reflect", 2), ("circular", 4)]:
                exact("pad", lambda x: F.pad(x, (3, 1), mode=mode), [x], [3, 0, 0, 3, 3, 0, 0, 1, number], [0])
                exact("pad", lambda x: F.pad(x[None], (1, 2, 2, 0), mode=mode)[0], [x], [3, 0, 2, 1, 3, 0, 0, 2, number],
                      [0])
    numbers = few("float32", (3, 4))
    exact("bitcast", lambda x: x.view(torch.int32), [numbers], [NUMBER["int32"]])
    for n in [1, 5, 7]:
        record("linspace", [], [torch.linspace(-1, 2, n, dtype=torch.float64)], [n, NUMBER["float64"], 0, 1], [-1, 2],
               tol="4")
        record("logspace", [], [torch.logspace(-1, 2, n, 2, dtype=torch.float64)], [n, NUMBER["float64"], 0, 1], [-1, 2, 2],
               tol="16")
    record("arange", [], [torch.arange(-3, 9, 2.5, dtype=torch.float64)], [5, NUMBER["float64"], 0], [-3, 2.5])


EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)), ("bij,bjk,bkl->bil", (2, 2, 3), (2, 3, 4), (2, 4, 2)), ("ii->i", (3, 3)),
    ("ij,k->", (2, 3), (4,)), ("...ij,...jk->...ik", (5, 2, 3), (3, 4)), ("i,j->ji", (3,), (4,)), ("ij,ij", (2, 3), (2, 3)),
]


def products():
    for d in [*WITH_COMPLEX, "int32"]:
        a, b, v = few(d, (2, 3, 4)), few(d, (4, 5)), few(d, (4,))
        exact("matmul", torch.matmul, [a, b], tol="0~")
        exact("matmul", torch.matmul, [a, v], tol="0~")
        exact("matmul", torch.matmul, [v, b], tol="0~")
        exact("matmul", torch.matmul, [few(d, (2, 1, 3, 4)), few(d, (5, 4, 2))], tol="0~")
        exact("matmul", torch.matmul, [a[:, :0].clone(), b], tol="0~")
        exact("tensordot", lambda a, b: torch.tensordot(a, b, 1), [a, b], [1, -1, 1, 0], tol="0~")
        c = few(d, (4, 5, 3))
        exact("tensordot", lambda a, b: torch.tensordot(a, b, ([2, 1], [0, 2])), [a, c], [2, 2, 1, 2, 0, 2], tol="0~")
        for equation, *shapes in EQUATIONS:
            exact("einsum", lambda *xs: torch.einsum(equation, *xs), [few(d, s) for s in shapes],
                  [len(equation), *map(ord, equation)], tol="0~")
        exact("outer", torch.outer, [v, few(d, (3,))], tol="0~")
        exact("inner", torch.inner, [a, few(d, (2, 4))], tol="0~")
        exact("kron", torch.kron, [few(d, (2, 3)), few(d, (3, 2))], tol="0~")
        exact("kron", torch.kron, [few(d, (2, 1, 2)), few(d, (3,))], tol="0~")
        for axis, shape in [(-1, (2, 4, 3)), (1, (2, 3, 4))]:
            exact("cross", lambda a, b: torch.linalg.cross(a, b, dim=axis), [few(d, shape), few(d, shape)], [axis], tol="0~")
        if d != "int32":
            # Both conjugate the first.
            exact("vecdot", torch.linalg.vecdot, [a, v], [-1], tol="0~")
            exact("vecdot", lambda a, b: torch.linalg.vecdot(a, b, dim=1), [a, few(d, (2, 3, 4))], [1], tol="0~")


WAYS = ["backward", "ortho", "forward"]


def transforms():
    for d in WITH_COMPLEX:
        x = few(d, (2, 3, 5))
        for way, norm in enumerate(WAYS):
            # Of the longer dtypes, whose answers are twice as long, one way.
            if d in ["float64", "complex128"] and way != 1:
                continue
            for n, axis in [(None, -1), (4, 1), (3, 0)]:
                attrs = [nan if n is None else n, axis, way]
                for name in ["fft", "ifft", "irfft", "hfft", *(["rfft", "ihfft"] if d in BOTH else [])]:
                    fn = getattr(torch.fft, name)
                    answer("fft." + name, lambda x: fn(x, n, axis, norm), [x], attrs, tol=16)
            for s, axes in [(None, None), (None, (0, 1)), ((4, 3), (2, 0)), ((2, 4), None)]:
                attrs = [*words(axes), *words(s), way]
                for name in ["fftn", "ifftn", "irfftn", *(["rfftn"] if d in BOTH else [])]:
                    fn = getattr(torch.fft, name)
                    answer("fft." + name, lambda x: fn(x, s, axes, norm), [x], attrs, tol=16)
        for axes in [None, (0,), (-1, 1)]:
            exact("fft.fftshift", lambda x: torch.fft.fftshift(x, axes), [few(d, (3, 2, 5))], words(axes))
            exact("fft.ifftshift", lambda x: torch.fft.ifftshift(x, axes), [few(d, (3, 2, 5))], words(axes))
    for n in [1, 6, 7]:
        for apart in [1.0, 0.5]:
            record("fft.fftfreq", [], [torch.fft.fftfreq(n, apart, dtype=torch.float64)], [n, NUMBER["float64"], 0], [apart],
                   tol="1")
            record("fft.rfftfreq", [], [torch.fft.rfftfreq(n, apart, dtype=torch.float64)], [n, NUMBER["float64"], 0],
                   [apart], tol="1")


def norms():
    for d in WITH_COMPLEX:
        x = some(d, (2, 3, 4))
        for p in [2, 1, 0, inf, -inf, 3, 0.5]:
            for axis, keep in [(None, 0), ((1,), 1), ((2, 0), 0)]:
                answer("linalg.vectorNorm", lambda x: torch.linalg.vector_norm(x, p, axis, bool(keep)), [x],
                       [*words(axis, keep), p], tol=32)
        for n, p in enumerate(ORDS):
            answer("linalg.matrixNorm", lambda x: torch.linalg.matrix_norm(x, p, keepdim=bool(n % 2)), [x], [n % 2, n],
                   tol=32)
        x = regular(d, (2, 3, 3))
        for n, p in enumerate(COND_ORDS):
            answer("linalg.cond", lambda x: torch.linalg.cond(x, p), [x], [n], tol=64)
        answer("linalg.cond", torch.linalg.cond, [some(d, (4, 3))], [0], tol=64)


def regular(d, shape):
    """Matrices of a small condition number."""
    return some(d, shape) / 2 + 3 * tensor(torch.eye(shape[-1]), d)


def factors():
    for d in WITH_COMPLEX:
        for shape in [(1, 1), (3, 3), (2, 4, 4)]:
            a, x = regular(d, shape), some(d, shape)
            n = shape[-1]
            h = a @ a.mH
            # Both read one triangle alone.
            answer("linalg.cholesky", lambda x: torch.linalg.cholesky(wide(h)), [h.tril() + x.triu(1)], [0], tol=32)
            answer("linalg.cholesky", lambda x: torch.linalg.cholesky(wide(h), upper=True), [h.triu() + x.tril(-1)], [1],
                   tol=32)
            for upper in [0, 1]:
                answer("linalg.eigvalsh", lambda x: torch.linalg.eigvalsh(x, "LU"[upper]), [x], [upper], tol=32)
                # Eigenvectors have their signs by this library's rule.
                w, v = torch.linalg.eigh(wide(x), "LU"[upper])
                answer("linalg.eigh", lambda x: (w, tensor(settled(v.numpy())[0])), [x], [upper], tol=64)
            b, v = some(d, (n, 2)), some(d, (n,))
            answer("linalg.solve", torch.linalg.solve, [a, b.expand(*shape[:-2], n, 2).clone()], tol=32)
            answer("linalg.solve", lambda a, v: torch.linalg.solve(a, v[:, None])[..., 0], [a, v], tol=32)
            for upper in [0, 1]:
                for unit in [0, 1]:
                    # Steps of substitution double what is off the diagonal: less of it where the diagonal is one.
                    c = a if not unit else x / 4
                    kw = {"unitriangular": bool(unit)}
                    triangle = lambda c: c.triu() if upper else c.tril()
                    one = lambda c, b: torch.linalg.solve_triangular(triangle(c), b, upper=bool(upper), **kw)
                    answer("linalg.solveTriangular", one, [c, b], [upper, unit, 0], tol=32)
                    other = lambda c, b: torch.linalg.solve_triangular(triangle(c).mT, b, upper=not upper, **kw)
                    answer("linalg.solveTriangular", other, [c, b], [upper, unit, 1], tol=32)
            answer("linalg.det", torch.linalg.det, [a], tol=32)
            answer("linalg.det", torch.linalg.det, [x], tol=32)
            answer("linalg.slogdet", lambda x: tuple(torch.linalg.slogdet(x)), [a], tol=32)
            answer("linalg.inv", torch.linalg.inv, [a], tol=32)
            for k in [0, 1, 3, -2]:
                answer("linalg.matrixPower", lambda x: torch.linalg.matrix_power(x, k), [a], [k], tol=64)
            answer("linalg.expm", torch.linalg.matrix_exp, [x], tol=64)
            answer("linalg.lu", lambda x: tuple(torch.linalg.lu(x)), [x], tol=64)
        for shape in [(3, 3), (5, 3), (2, 3, 4)]:
            x = some(d, shape)
            answer("linalg.svdvals", torch.linalg.svdvals, [x], tol=32)
            for rtol in [nan, 0.4]:
                given = {} if rtol != rtol else {"rtol": rtol}
                answer("linalg.pinv", lambda x: torch.linalg.pinv(x, **given), [x], numbers=[rtol], tol=64)
                record("linalg.matrixRank", [x], [torch.linalg.matrix_rank(wide(x), **given).int()], numbers=[rtol])
            # The diagonal of r is real and not negative here; PyTorch leaves it to LAPACK.
            q, r = torch.linalg.qr(wide(x))
            turn = torch.sgn(r.diagonal(dim1=-2, dim2=-1))
            answer("linalg.qr", lambda x: (q * turn[..., None, :], r * turn.conj()[..., :, None]), [x], [0], tol=64)
        # Eigenvalues in ascending order of their real, then of their imaginary parts.
        x = some(d, (4, 4))
        found = sorted(torch.linalg.eigvals(wide(x)).tolist(), key=lambda w: (round(w.real, 9), w.imag))
        answer("linalg.eigvals", lambda x: torch.tensor(found, dtype=torch.complex128), [x], tol=64)
        a, b = some(d, (5, 3)), some(d, (5, 2))
        y = torch.linalg.lstsq(wide(a), wide(b), driver="gelsd")
        outs = [rounded(v, d) for v in [y.solution, y.residuals.real, y.rank.reshape(()), y.singular_values]]
        record("linalg.lstsq", [a, b], outs, numbers=[nan], tol="abs:" + repr(64 * torch.finfo(a.dtype).eps))
    answer("linalg.det", torch.linalg.det, [torch.zeros((0, 0))])
    answer("linalg.inv", torch.linalg.inv, [torch.zeros((2, 0, 0))])


def cases():
    lookups()
    scatters()
    conversions()
    moved()
    products()
    transforms()
    norms()
    factors()
