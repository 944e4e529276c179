"""PyTorch's gradient of one call, as the records that gradients.py says the format of."""

import numpy as np
import torch

from pytorch import Tensor, tensor
from records import array, call, put

counts, skipped = {}, {}
WIDE, NARROW = (torch.float64, torch.complex128), (torch.float32, torch.complex64)
# Whose vectors have another phase or sign than PyTorch's, and the gradients with them, unless a case turns them; what is random.
APART = {"linalg.svd", "linalg.eig", "linalg.eigh"}
# Calls of a row in the file, the first ones: most differ in shapes alone.
MOST = 120
# Binary digits of a gradient that are written: seven more than the test's tolerance has.
DIGITS = 30
drawn = {}


def cotangent(y, n):
    """The same numbers of few digits for all n-th results of a shape."""
    key = tuple(y.shape), y.is_complex(), n
    if key not in drawn:
        rng = np.random.default_rng([20261124, n, y.is_complex(), *y.shape])
        # Never zero: nothing times infinity is an accident.
        draw = lambda: np.round(rng.standard_normal(key[0]) * 16) / 16 + 1 / 64
        drawn[key] = tensor(draw() + 1j * draw() if y.is_complex() else draw()).reshape(y.shape)
    return drawn[key].to(y.dtype)


def shortened(g):
    """The digits that are compared, and zeros; half of them are half of a file."""
    if g.dtype not in WIDE:
        return g
    whole = g.detach().resolve_conj().resolve_neg().numpy(force=True)
    x = np.array(whole.reshape(-1), order="C").view("float64")
    part, exponent = np.frexp(x)
    with np.errstate(over="ignore"):
        kept = np.ldexp(np.round(np.ldexp(part, DIGITS)), exponent - DIGITS)
    return tensor(np.where(np.isfinite(kept), kept, x).view(whole.dtype).reshape(whole.shape))


def product(g, w):
    """The real inner product."""
    real = lambda x: torch.view_as_real(x.resolve_conj()) if x.is_complex() else x
    return (real(g) * real(w)).sum()


def gradient(name, fn, ins, attrs=(), numbers=(), tol=None, dtypes=WIDE, apart=APART, most=MOST, twice=False):
    """PyTorch's gradient of a call, where it has one and all floating operands are of these dtypes; `twice`: its gradient too."""
    moves_at_all = lambda x: torch.is_tensor(x) and x.dtype in dtypes
    floating = [x for x in ins if torch.is_tensor(x) and (x.is_floating_point() or x.is_complex())]
    if not floating or not all(map(moves_at_all, floating)) or name in apart or counts.get(name, 0) >= most:
        return
    if name == "digamma":
        # At poles PyTorch's are as large as its pi is wrong.
        ins = [x[(x > 0) | (x != x.round())] if x.ndim else x for x in ins]
    if name == "acosh" and not ins[0].is_complex() and ins[0].ndim:
        # Below 1 PyTorch has a gradient of NaN.
        ins = [x[x >= 1] for x in ins]
    # Of some operands PyTorch has no gradient, and says so: then of the first alone.
    for only_first in [False, True]:
        moves = lambda n, x: moves_at_all(x) and not (only_first and n)
        leaves = [x.detach().clone().requires_grad_() if moves(n, x) else x for n, x in enumerate(ins)]
        try:
            ys = fn(*leaves)
            ys = list(ys) if isinstance(ys, (tuple, list)) else [ys]
            with_grad = [y for y in ys if moves_at_all(y) and y.requires_grad]
            if not with_grad:
                return
            cots = [cotangent(y, n) for n, y in enumerate(with_grad)]
            wrt = [x for n, x in enumerate(leaves) if moves(n, x)]
            found = torch.autograd.grad(with_grad, wrt, cots, allow_unused=True, create_graph=twice)
            break
        except (RuntimeError, NotImplementedError) as e:
            skipped.setdefault(name, str(e).splitlines()[0][:100])
    else:
        return
    if not all(moves_at_all(g) for g in found if g is not None):
        return
    weights = [None if g is None else cotangent(g, len(cots) + n) for n, g in enumerate(found)]
    moving = [(g, w) for g, w in zip(found, weights) if g is not None and g.requires_grad]
    seconds = [None] * len(found)
    try:
        if moving:
            seconds = torch.autograd.grad(sum(product(g, w) for g, w in moving), wrt, allow_unused=True)
    except RuntimeError as e:
        skipped.setdefault(name + ", twice", str(e).splitlines()[0][:100])
        twice = False
    given = iter(cots)
    cots = [next(given) if any(y is w for w in with_grad) else None for y in ys]
    # The slope of a quantile by a fraction whose place is an element is that of either side, or what lies between.
    found = [g if not ("quantile" in name or "percentile" in name) or n == 0 else "unknown" for n, g in enumerate(found)]
    each = lambda given: [next(given) if moves(n, x) else "unknown" for n, x in enumerate(leaves)]
    grads, weights, seconds = each(iter(found)), each(iter(weights)), each(iter(seconds))
    counts[name] = counts.get(name, 0) + 1
    ins = [Tensor(x) if torch.is_tensor(x) else x for x in ins]
    lines = [("cot", x) for x in cots] + [("grad", x) for x in grads]
    if twice:
        lines += [("weight", x) for x in weights] + [("second", x) for x in seconds]
    given = ("cot", "weight")
    lines = [(what, Tensor(x if what in given else shortened(x)) if torch.is_tensor(x) else x) for what, x in lines]
    for a in [x for x in [*ins, *(x for _, x in lines)] if isinstance(x, Tensor)]:
        array(a)
    call(name, ins, attrs, numbers)
    for what, x in lines:
        put(what, "-" if x is None else "?" if isinstance(x, str) else array(x))


def numbers_too(fn):
    """Of a number in an operand's place a tensor of the others' dtype, as this library reads it."""

    def of(*xs):
        d = next(x.dtype for x in xs if torch.is_tensor(x) and (x.is_floating_point() or x.is_complex()))
        return fn(*[torch.tensor(x, dtype=d) if isinstance(x, float) else x for x in xs])

    return of
