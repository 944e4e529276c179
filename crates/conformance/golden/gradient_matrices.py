"""PyTorch's gradients of linear algebra: shapes that broadcast, ranks that are not full, matrices without inverses, equal values of norms,
and vectors of factors, turned as this library turns them.
"""

import torch

from gradient_calls import gradient
from gradient_points import values
from linear_algebra import COND_ORDS, ORDS
from pytorch import tensor
from records import nan

BOTH = ["float64", "complex128"]


def regular(d, shape):
    """Matrices of a small condition number, and of different singular values."""
    n = min(shape[-2:])
    spread = torch.zeros(shape[-2:], dtype=getattr(torch, d))
    spread[range(n), range(n)] = torch.arange(3, 3 + 1.5 * n, 1.5).to(spread.dtype)
    return values(d, shape, 1) / 4 + spread


def hermitian(a):
    return (a + a.mH) / 2


def turned(v):
    """Columns times what makes the first of their largest entries real and positive, as the library gives them."""
    size = v.detach().abs()
    at = (size > size.amax(-2, keepdim=True) * (1 - 1e-9)).int().argmax(-2, keepdim=True)
    return v * torch.gather(v, -2, at).sgn().conj()


def systems():
    for d in BOTH:
        for a, b in [
            ((1, 1), (1, 1)),
            ((2, 2), (2, 1)),
            ((2, 2), (2, 3)),
            ((3, 3), (3, 2)),
            ((2, 1, 2, 2), (3, 2, 1)),
            ((2, 2, 2), (2, 1)),
            ((2, 2), (2, 2, 2)),
            ((2, 2), (2, 0)),
        ]:
            left, right = regular(d, a), values(d, b, 2)
            gradient("linalg.solve", torch.linalg.solve, [left, right])
        gradient("linalg.solve", torch.linalg.solve, [regular(d, (3, 3)), values(d, (3,), 2)])
        for a, b in [((1, 1), (1, 2)), ((2, 2), (2, 1)), ((2, 2, 2), (2, 1)), ((2, 2), (2, 2, 1))]:
            for upper in [0, 1]:
                for unit in [0, 1]:
                    triangle = lambda c: c.triu() if upper else c.tril()
                    left, right = regular(d, a) if not unit else values(d, a, 1) / 4, values(d, b, 2)
                    one = lambda c, b: torch.linalg.solve_triangular(triangle(c), b, upper=bool(upper), unitriangular=bool(unit))
                    gradient("linalg.solveTriangular", one, [left, right], [upper, unit, 0], most=400)
                    other = lambda c, b: torch.linalg.solve_triangular(triangle(c).mT, b, upper=not upper, unitriangular=bool(unit))
                    gradient("linalg.solveTriangular", other, [left, right], [upper, unit, 1], most=400)
        for a, b in [((2, 2), (2, 1)), ((3, 2), (3, 1)), ((4, 2), (4, 2)), ((2, 3), (2, 1)), ((2, 3, 2), (2, 3, 1))]:
            fn = lambda a, b: torch.linalg.lstsq(a, b, driver="gelsd").solution
            # Of its results the solution alone: PyTorch's singular values have no gradient, and residuals are empty now and then.
            gradient("linalg.lstsq", fn, [regular(d, a), values(d, b, 2)], numbers=[nan])


def of_matrices():
    singular = {"float64": [[1.0, 2], [2, 4]], "complex128": [[1, 2j], [1j, -2]]}
    for d in BOTH:
        matrices = [regular(d, s) for s in [(1, 1), (2, 2), (3, 3), (2, 2, 2), (0, 2, 2)]] + [
            -regular(d, (2, 2)),
            tensor([[0, 1], [1, 0]], d),
            tensor([[2, 0], [0, 3]], d),
        ]
        for a in matrices:
            for name, fn in [("inv", torch.linalg.inv), ("det", torch.linalg.det), ("slogdet", lambda x: tuple(torch.linalg.slogdet(x)))]:
                gradient("linalg." + name, fn, [a])
            for k in [0, 1, 2, 5, -1, -2]:
                gradient("linalg.matrixPower", lambda x: torch.linalg.matrix_power(x, k), [a], [k], most=400)
            gradient("linalg.lu", lambda x: tuple(torch.linalg.lu(x)), [a])
        gradient("linalg.matrixPower", lambda x: torch.linalg.matrix_power(x, 3), [tensor(singular[d], d)], [3])
        for a in [
            tensor([[0, 0], [0, 0]], d),
            tensor([[0, 1], [0, 0]], d),
            tensor([[0, -3], [3, 0]], d),
            values(d, (2, 2), 1) * 3,
            values(d, (2, 3, 3), 1) / 8,
            tensor([[2]], d),
        ]:
            gradient("linalg.expm", torch.linalg.matrix_exp, [a])
        for shape in [(1, 1), (2, 2), (3, 3), (2, 2, 2)]:
            h = hermitian(regular(d, shape))
            if d == "float64":
                # Of complex ones PyTorch's has an imaginary diagonal, which nothing reads.
                for upper in [0, 1]:
                    gradient("linalg.cholesky", lambda x: torch.linalg.cholesky(x, upper=bool(upper)), [h], [upper])
            for upper in [0, 1]:
                gradient("linalg.eigvalsh", lambda x: torch.linalg.eigvalsh(x, "LU"[upper]), [h], [upper])

                def eigh(x):
                    w, v = torch.linalg.eigh(x, "LU"[upper])
                    return w, turned(v)

                gradient("linalg.eigh", eigh, [h], [upper], apart=())
        for shape in [(1, 1), (2, 2), (3, 3)]:
            a = regular(d, shape)

            def eigvals(x):
                w = torch.linalg.eigvals(x)
                order = sorted(range(len(w)), key=lambda n: (round(w[n].real.item(), 9), w[n].imag.item()))
                return w[order]

            def eig(x):
                w, v = torch.linalg.eig(x)
                order = sorted(range(len(w)), key=lambda n: (round(w[n].real.item(), 9), w[n].imag.item()))
                return w[order], turned(v[:, order])

            # One with complex eigenvalues too; of complex matrices their real parts are equal but for rounding.
            for a in [a, tensor([[1.0, -2], [3, 2]])] if shape == (2, 2) and d == "float64" else [a]:
                gradient("linalg.eigvals", eigvals, [a])
                gradient("linalg.eig", eig, [a], apart=())
        for shape in [(1, 1), (2, 2), (3, 2), (2, 3), (2, 3, 2)]:
            a = regular(d, shape)
            gradient("linalg.svdvals", torch.linalg.svdvals, [a])
            gradient("linalg.pinv", torch.linalg.pinv, [a], numbers=[nan])
            if shape[-2] >= shape[-1]:

                def qr(x):
                    q, r = torch.linalg.qr(x)
                    phase = torch.diagonal(r, dim1=-2, dim2=-1).sgn()
                    return q * phase.unsqueeze(-2), r * phase.conj().unsqueeze(-1)

                gradient("linalg.qr", qr, [a], [0])

            def svd(x):
                u, s, v = torch.linalg.svd(x, full_matrices=False)
                after = turned(u)
                # What u is turned by v is too.
                return after, s, (after / u).detach()[..., :1, :].mT * v

            if d == "float64":
                gradient("linalg.svd", svd, [a], [0], apart=())
        for a in [
            tensor([[1, 0], [0, 0]], d),
            tensor([[1, 2], [2, 4], [3, 6]], d),
            tensor([[0, 0], [0, 0]], d),
            tensor([[2, 0], [0, 2], [0, 0]], d),
        ]:
            gradient("linalg.pinv", torch.linalg.pinv, [a], numbers=[nan])


def norms():
    for d in BOTH:
        for a in [
            tensor([[1, -1], [-1, 1]], d),
            tensor([[0, 0], [0, 0]], d),
            tensor([[3, 0], [0, -2]], d),
            regular(d, (2, 3)),
            regular(d, (1, 2)),
            tensor([[2, 0, 0], [2, 0, 0]], d),
        ]:
            for n, p in enumerate(ORDS):
                # Of equal singular values the vectors are any, and of zeros the signs.
                spread = torch.linalg.svdvals(a)
                if p in ["nuc", 2, -2] and (spread.diff().abs().lt(1e-9).any() or spread.lt(1e-9).any()):
                    continue
                gradient("linalg.matrixNorm", lambda x: torch.linalg.matrix_norm(x, p, keepdim=bool(n % 2)), [a], [n % 2, n], most=400)
        for a in [regular(d, (2, 2)), regular(d, (3, 3)), regular(d, (2, 2, 2)), tensor([[2, 1], [-1, 3]], d)]:
            for n, p in enumerate(COND_ORDS):
                # PyTorch writes over what its own rule needs.
                fn = (
                    (lambda x: torch.linalg.cond(x, p))
                    if p in [2, -2]
                    else (lambda x: torch.linalg.matrix_norm(x, p) * torch.linalg.matrix_norm(torch.linalg.inv(x), p))
                )
                gradient("linalg.cond", fn, [a], [n])


def cases():
    systems()
    of_matrices()
    norms()
