"""Writes gradients.txt.gz: PyTorch's gradients of the calls whose values golden.txt.gz has from it, and of calls at kinks.

Run as make.py:
    python golden/gradients.py golden/gradients.txt.gz

Calls of float64 and complex128 operands, at extremes of float32 and complex64 too; cotangents are random numbers of few digits. Behind the
`case` and `in` records of records.py:
    cot ARRAY                          the cotangent of an output ('-': it has none)
    grad ARRAY                         the gradient of an operand ('-': zeros that PyTorch does not write, '?': it has none)
and at kinks, for second derivatives, of each operand:
    weight ARRAY                       what its gradient is weighed with ('-', '?' as above)
    second ARRAY                       the gradient of the weighed gradients' sum

Here are kinks and linear algebra; gradient_calls.py asks PyTorch, gradient_points.py and the other modules of this name have more calls.
"""

import sys

import numpy as np
import torch
import torch.nn.functional as F

import gradient_arrays
import gradient_functions
import gradient_matrices
import gradient_networks
import gradient_points
import gradient_reductions
import pytorch
import pytorch_arrays
import pytorch_networks
import pytorch_reductions
import records
from gradient_calls import counts, gradient, skipped
from pytorch import tensor
from records import inf, nan


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
    for module in [gradient_points, gradient_reductions, gradient_arrays, gradient_networks, gradient_matrices]:
        module.cases()
    gradient_functions.cases()
    records.write(sys.argv[1])
    print(sum(counts.values()), "gradients of", len(counts), "rows")
    print("none:", skipped)


if __name__ == "__main__":
    main()
