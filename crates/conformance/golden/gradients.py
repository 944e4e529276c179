"""Writes gradients.txt.gz: PyTorch's gradients of the calls whose values golden.txt.gz has from it, and of calls at kinks.

Run as make.py:
    python golden/gradients.py golden/gradients.txt.gz

Calls of float64 and complex128 operands; cotangents are random numbers of few digits. Behind the `case` and `in` records of records.py:
    cot ARRAY                          the cotangent of an output ('-': it has none)
    grad ARRAY                         the gradient of an operand ('-': zeros that PyTorch does not write, '?': it has none)
"""

import sys

import numpy as np
import torch
import torch.nn.functional as F

import pytorch
import pytorch_arrays
import pytorch_networks
import pytorch_reductions
import records
from pytorch import Tensor, tensor
from records import array, call, inf, nan, put

rng = np.random.default_rng(20261124)
counts, skipped = {}, {}
# Whose vectors have another phase or sign than PyTorch's, and the gradients with them; what is random.
APART = {"linalg.svd", "linalg.eig", "linalg.eigh"}
# Calls of a row in the file, the first ones: most differ in shapes alone.
MOST = 120


def is_differentiable(x):
    return torch.is_tensor(x) and x.dtype in (torch.float64, torch.complex128)


def cotangent(y):
    # Never zero: nothing times infinity is an accident.
    draw = lambda: np.round(rng.standard_normal(tuple(y.shape)) * 16) / 16 + 1 / 64
    return tensor(draw() + 1j * draw() if y.is_complex() else draw()).reshape(y.shape)


def gradient(name, fn, ins, attrs=(), numbers=(), tol=None):
    """PyTorch's gradient of a call, where it has one in float64 and complex128."""
    floating = [x for x in ins if torch.is_tensor(x) and (x.is_floating_point() or x.is_complex())]
    if not floating or not all(map(is_differentiable, floating)) or name in APART or counts.get(name, 0) >= MOST:
        return
    if name == "digamma":
        # At poles PyTorch's are as large as its pi is wrong.
        ins = [x[(x > 0) | (x != x.round())] for x in ins]
    if name == "acosh" and not ins[0].is_complex():
        # Below 1 PyTorch has a gradient of NaN.
        ins = [x[x >= 1] for x in ins]
    # Of some operands PyTorch has no gradient, and says so: then of the first alone.
    for only_first in [False, True]:
        moves = lambda n, x: is_differentiable(x) and not (only_first and n)
        leaves = [x.detach().clone().requires_grad_() if moves(n, x) else x for n, x in enumerate(ins)]
        try:
            ys = fn(*leaves)
            ys = list(ys) if isinstance(ys, (tuple, list)) else [ys]
            with_grad = [y for y in ys if is_differentiable(y) and y.requires_grad]
            cots = [cotangent(y) for y in with_grad]
            if not with_grad:
                return
            wrt = [x for n, x in enumerate(leaves) if moves(n, x)]
            found = torch.autograd.grad(with_grad, wrt, cots, allow_unused=True)
            break
        except (RuntimeError, NotImplementedError) as e:
            skipped.setdefault(name, str(e).splitlines()[0][:100])
    else:
        return
    if not all(is_differentiable(g) for g in found if g is not None):
        return
    given = iter(cots)
    cots = [next(given) if any(y is w for w in with_grad) else None for y in ys]
    # The slope of a quantile by a fraction whose place is an element is that of either side, or what lies between.
    found = [g if "quantile" not in name or n == 0 else "unknown" for n, g in enumerate(found)]
    given = iter(found)
    grads = [next(given) if moves(n, x) else "unknown" for n, x in enumerate(leaves)]
    counts[name] = counts.get(name, 0) + 1
    shown = lambda x: Tensor(x) if torch.is_tensor(x) else x
    ins, cots, grads = map(shown, ins), list(map(shown, cots)), list(map(shown, grads))
    ins = list(ins)
    for a in [x for x in [*ins, *cots, *grads] if isinstance(x, Tensor)]:
        array(a)
    call(name, ins, attrs, numbers)
    for x in cots:
        put("cot", "-" if x is None else array(x))
    for x in grads:
        put("grad", "-" if x is None else "?" if isinstance(x, str) else array(x))


def kinks():
    """What differences cannot know: ties, ends of ranges, and points that a function treats by themselves."""
    x = tensor([-3.0, -1, -0.5, -0.0, 0.0, 0.5, 1, 3, 6, inf, -inf, nan])
    for name, fn in pytorch.pairs("relu abs sign sinc floor round"):
        gradient(name, fn, [x])
    for name, fn in pytorch.pairs("relu6 hardsigmoid hardswish softsign selu mish silu logSigmoid:logsigmoid tanhshrink", F):
        gradient("nn." + name, fn, [x])
    gradient("nn.hardtanh", lambda x: F.hardtanh(x, -1, 1), [x], numbers=[-1, 1])
    gradient("nn.hardshrink", F.hardshrink, [x], numbers=[0.5])
    gradient("nn.softshrink", F.softshrink, [x], numbers=[0.5])
    gradient("nn.leakyRelu", lambda x: F.leaky_relu(x, 0.5), [x], numbers=[0.5])
    gradient("nn.elu", F.elu, [x], numbers=[1])
    gradient("nn.celu", lambda x: F.celu(x, 2.0), [x], numbers=[2])
    gradient("nn.softplus", lambda x: F.softplus(x, 1, 50), [x], numbers=[1])
    gradient("clip", lambda x, low, high: torch.clamp(x, low, high), [x, tensor(-1.0), tensor(1.0)])
    gradient("clip", torch.clamp, [x, -1.0, 1.0])
    gradient("clip", torch.clamp, [x, -1.0, None])
    gradient("clip", torch.clamp, [x, None, 3.0])
    some, other = (v.flatten().clone() for v in torch.meshgrid(x[:9], x[:9], indexing="ij"))
    low = tensor(np.where(np.arange(81) % 3 == 0, 2.0, -1.0))
    gradient("clip", lambda x, low, high: torch.clamp(x, low, high), [some, low, other])
    for name in "maximum minimum fmax fmin hypot atan2 logaddexp xlogy pow remainder fmod copysign".split():
        fn = torch.special.xlogy if name == "xlogy" else getattr(torch, name)
        gradient(name, fn, [some, other])
    ties = tensor([[1.0, 3, 3, 2], [0, 0, 0, 0], [-1, -1, 2, 2]])
    for axis in [0, 1]:
        for name, fn in [("max", torch.amax), ("min", torch.amin)]:
            gradient(name, lambda x: fn(x, axis), [ties], [1, axis, 0])
        gradient("prod", lambda x: torch.prod(x, axis), [ties], [1, axis, 0, nan])
        for name, fn in [("cumulativeMax", torch.cummax), ("cumulativeMin", torch.cummin)]:
            gradient(name, lambda x: fn(x, axis).values, [ties], [axis])
        gradient("cumulativeProd", lambda x: torch.cumprod(x, axis), [ties], [axis, nan, 0])
        for ord in [0.5, 1, 1.5, 2, 3, inf, -inf, 0]:
            gradient("linalg.vectorNorm", lambda x: torch.linalg.vector_norm(x, ord, axis), [ties], [1, axis, 0, ord])
        gradient("std", lambda x: torch.std(x, axis, correction=1), [ties], [1, axis, 0], [1])
        gradient("logsumexp", lambda x: torch.logsumexp(x, axis), [ties], [1, axis, 0])
    z = tensor([0, 1, 1j, -1, 0.5 - 2j, -3 + 0.25j])
    for name in "abs sqrt exp log sin cos tan sinh cosh tanh asinh acosh atanh asin acos atan angle sign".split():
        gradient(name, torch.sgn if name == "sign" else getattr(torch, name), [z])
    zs, ws = (v.flatten().clone() for v in torch.meshgrid(z[1:], tensor([0, 1, 2, 0.5, 1j, -1 + 0.5j]), indexing="ij"))
    gradient("pow", torch.pow, [zs, ws])


def linear_algebra():
    for d in ["float64", "complex128"]:
        for m, n in [(3, 3), (4, 2), (2, 4)]:
            a = pytorch.some(d, (2, m, n)) + 3 * torch.eye(m, n, dtype=getattr(torch, d))
            gradient("linalg.pinv", torch.linalg.pinv, [a], numbers=[nan])
            gradient("linalg.svdvals", torch.linalg.svdvals, [a])
            if m >= n:
                # Of PyTorch's r the diagonal may be negative: with its signs both are ours.
                def qr(a):
                    q, r = torch.linalg.qr(a)
                    phase = torch.diagonal(r, dim1=-2, dim2=-1).sgn()
                    return q * phase.unsqueeze(-2), r * phase.conj().unsqueeze(-1)

                gradient("linalg.qr", qr, [a], [0])
            gradient("linalg.lu", torch.linalg.lu, [a])
            for o, ord in enumerate(["fro", "nuc", 1, -1, 2, -2, inf, -inf]):
                gradient("linalg.matrixNorm", lambda x: torch.linalg.matrix_norm(x, ord), [a], [0, o])
            if m == n:
                b = pytorch.some(d, (2, n, 2))
                sym = a @ a.mH + torch.eye(n, dtype=a.dtype)
                gradient("linalg.solve", torch.linalg.solve, [a, b])
                gradient("linalg.inv", torch.linalg.inv, [a])
                gradient("linalg.det", torch.linalg.det, [a])
                gradient("linalg.slogdet", lambda x: tuple(torch.linalg.slogdet(x)), [a])
                if d == "float64":
                    # Of complex ones PyTorch's has an imaginary diagonal, which nothing reads.
                    gradient("linalg.cholesky", torch.linalg.cholesky, [sym], [0])
                gradient("linalg.eigvalsh", torch.linalg.eigvalsh, [sym], [0])
                gradient("linalg.expm", torch.linalg.matrix_exp, [a / 4])
                gradient("linalg.matrixPower", lambda x: torch.linalg.matrix_power(x, 3), [a], [3])
                for upper in [False, True]:
                    for unit in [False, True]:
                        solve = lambda a, b: torch.linalg.solve_triangular(a, b, upper=upper, unitriangular=unit)
                        gradient("linalg.solveTriangular", solve, [a, b], [upper, unit, 0])


def main():
    for module in [pytorch, pytorch_arrays, pytorch_networks, pytorch_reductions]:
        for name in ["answer", "exact"]:
            if hasattr(module, name):
                setattr(module, name, gradient)
        module.record = lambda *args, **kw: None
    records.lines.clear()
    records.pool.clear()
    kinks()
    linear_algebra()
    for module in [pytorch, pytorch_reductions, pytorch_networks, pytorch_arrays]:
        module.cases()
    records.write(sys.argv[1])
    print(sum(counts.values()), "gradients of", len(counts), "rows")
    print("none:", skipped)


if __name__ == "__main__":
    main()
