"""PyTorch's gradients of elementwise rows at points: kinks, ends of ranges, branch cuts, signed zeros, the smallest and the largest
numbers; and of all that broadcasts, in every way that shapes meet.
"""

import functools

import numpy as np
import torch
import torch.nn.functional as F

from gradient_calls import NARROW, WIDE, gradient, numbers_too
from pytorch import pairs, tensor
from records import inf, nan

UNARY = """abs negative:neg square sqrt rsqrt reciprocal exp exp2 expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh
    asinh acosh atanh sigmoid erf erfc erfinv lgamma digamma sinc logit deg2rad rad2deg relu floor ceil trunc round sign positive angle
    real conj copy:clone"""
ACTIVATIONS = "relu6 selu silu mish softsign hardsigmoid hardswish tanhshrink logSigmoid:logsigmoid"
# Rows with numbers of their own.
NUMBERED = [
    ("nn.gelu", lambda x: F.gelu(x, approximate="none"), [0], []),
    ("nn.gelu", lambda x: F.gelu(x, approximate="tanh"), [1], []),
    *[("nn.leakyRelu", lambda x, s=s: F.leaky_relu(x, s), [], [s]) for s in [0.25, -2.0, 0.0]],
    *[("nn.elu", lambda x, a=a: F.elu(x, a), [], [a]) for a in [1.0, 2.5, 0.0]],
    *[("nn.celu", lambda x, a=a: F.celu(x, a), [], [a]) for a in [1.0, 2.5]],
    # Beyond PyTorch's threshold it gives x itself.
    *[("nn.softplus", lambda x, b=b: F.softplus(x, b, 50), [], [b]) for b in [1.0, 2.5]],
    *[("nn.hardtanh", lambda x, r=r: F.hardtanh(x, *r), [], r) for r in [(-1.0, 1.0), (-0.5, 2.0)]],
    *[("nn.hardshrink", lambda x, s=s: F.hardshrink(x, s), [], [s]) for s in [0.5, 2.0, 0.0]],
    *[("nn.softshrink", lambda x, s=s: F.softshrink(x, s), [], [s]) for s in [0.5, 2.0, 0.0]],
]
KINKS = [-6.0, -3, -2, -1, -0.5, -0.0, 0.0, 0.5, 1, 2, 3, 6]
NEAR = [0.125, -0.375, 0.75, -0.875, 1.625, -2.25, 3.375]
# What jumps at 0 has the second derivative of the other side in PyTorch, and poles and points outside have numbers there.
ONCE = {"nn.elu", "nn.celu", "nn.selu", "lgamma", "logit"}
TINY = [1e-300, -1e-300, 5e-324, 1e-160, -1e-20, 1e-20, 1e-8, -1e-8]
LARGE = [1e8, -1e8, 1e160, -1e160, 1e300, 20, -20, 40, -40, 700, -700, 800, -800, inf, -inf, nan]
TINY_32 = [1e-38, -1e-38, 1e-45, 1e-20, -1e-20, 1e-8, 1e-4, -1e-4]
LARGE_32 = [1e4, -1e4, 1e20, 3e38, 9, -9, 17, -17, 88, -88, 90, -90, 104, -104, inf, -inf, nan]


def unary():
    rows = [(name, fn, [], []) for name, fn in pairs(UNARY)] + [("nn." + name, fn, [], []) for name, fn in pairs(ACTIVATIONS, F)] + NUMBERED
    for name, fn, attrs, numbers in rows:
        one = functools.partial(gradient, name, fn, attrs=attrs, numbers=numbers)
        for points in [KINKS, NEAR, TINY, LARGE]:
            one([tensor(points, "float64")], twice=points in [KINKS, NEAR] and name not in ONCE)
        # Of no axes, of axes of size 1, of nothing.
        one([tensor(0.75)])
        one([tensor([[-0.25]])])
        if name not in ["acosh", "digamma"]:
            one([torch.zeros((0, 3), dtype=torch.float64)])
        for points in [KINKS, NEAR, TINY_32, LARGE_32]:
            # Near 0 PyTorch's difference of sin and cos in float32 has no digits.
            if name != "sinc" or points != TINY_32:
                one([tensor(points, "float32")], dtypes=NARROW)


ANALYTIC = """abs negative:neg square sqrt rsqrt reciprocal exp expm1 log log1p log2 log10 sin cos tan sinh cosh tanh asinh acosh atanh
    asin acos atan sign:sgn angle real imag conj positive copy:clone"""
CORNERS = [1 + 1j, -1 + 1j, -1 - 1j, 1 - 1j, 0.25 - 2j, -3 + 0.5j]
AXES = [2, -2, 2j, -2j, 0.5, -0.5, 0.5j, -0.5j, -3]
CUTS = [complex(x, y) for x in [-2, 2, -0.5, 0.5] for y in [0.0, -0.0]] + [complex(x, y) for x in [0.0, -0.0] for y in [-2, 2, -0.5, 0.5]]
POINTS = [0, 1, -1, 1j, -1j]
SMALL = [1e-160 + 1e-160j, -1e-160j, 1e-200, 1e-20 - 1e-20j, 1e-8j, 1e-8 + 1e-12j]
BIG = [1e120 + 1e120j, -1e150j, 30 + 2j, -30 - 2j, 300 + 1j, -300 + 1j, 2 + 30j, 1e10 - 1e10j]


def complex_unary():
    for name, fn in pairs(ANALYTIC):
        for points in [CORNERS, AXES, CUTS, POINTS, SMALL, BIG]:
            # Below 1 PyTorch forgets the sign of a zero, and goes the other way.
            forgotten = lambda z: name == "acosh" and z.real < 1 and z.imag == 0 and np.signbit(z.imag)
            some = [z for z in points if not forgotten(complex(z))]
            gradient(name, fn, [tensor(some, "complex128")], twice=points in [CORNERS, AXES, POINTS])
        gradient(name, fn, [tensor(0.5 - 0.25j)])
        for points in [CORNERS, AXES, POINTS]:
            gradient(name, fn, [tensor(points, "complex64")], dtypes=NARROW)


SPECIAL = torch.special
BINARY = [
    *pairs("""add subtract:sub multiply:mul divide:div atan2 hypot pow logaddexp minimum maximum fmin fmax remainder fmod copysign nextafter
        xlogy"""),
    *pairs("xlog1py", SPECIAL),
    ("truncDivide", lambda a, b: torch.div(a, b, rounding_mode="trunc")),
    ("floorDivide", lambda a, b: torch.div(a, b, rounding_mode="floor")),
]
MEETINGS = [
    ((3,), (3,)),
    ((2, 1), (1, 3)),
    ((), (2, 2)),
    ((2, 2), ()),
    ((2, 3), (3,)),
    ((1, 1), (3,)),
    ((2, 1, 2), (3, 1)),
    ((1,), ()),
    ((), ()),
    ((2, 0), (1,)),
    ((0, 1), (2,)),
]


def values(d, shape, seed):
    """Quarters of both signs, without ties among two seeds, and none whole."""
    rng = np.random.default_rng([seed, *shape])
    draw = lambda: rng.integers(-6, 7, shape) / 2 + 0.25 * (seed % 2) + 0.125
    return tensor(draw() + 1j * draw() if d.startswith("complex") else draw(), d)


def grid(points, d):
    a, b = torch.meshgrid(tensor(points, d), tensor(points, d), indexing="ij")
    return [a.flatten().clone(), b.flatten().clone()]


def binary():
    for name, fn in BINARY:
        # Of negative numbers' powers PyTorch has NaN by the exponent.
        first = (lambda x: x.abs()) if name in ["pow", "xlogy", "xlog1py"] else (lambda x: x)
        one = functools.partial(gradient, name, numbers_too(fn))
        for left, right in MEETINGS:
            one([first(values("float64", left, 1)), first(values("float64", right, 2))])
        same = tensor([-2.0, -0.0, 0.0, 0.5, 3])
        one([same, same.clone()])
        one([tensor([[-2.0], [0], [1]]), tensor([[-2.0, 0, 1]])])
        one(grid([-2.0, -0.5, -0.0, 0.0, 1, 2], "float64"), twice=True)
        # PyTorch's square of a distance from the origin is none of the smallest numbers, and its atan2 then stands still.
        far = [1e20, -1e160, 1e300] if name == "atan2" else [1e-300, -1e-160, 1e-20, 1e20, -1e160, 1e300]
        one(grid(far, "float64"))
        one(grid([inf, -inf, nan, 0.0, 1.5, -2], "float64"))
        one([tensor([5e-324, -5e-324, 2e-308, 1.7e308]), tensor([3.0, -0.5, 2, 0.25])])
        for number in [0.0, 1.0, 2.0, -0.5, inf]:
            x = tensor([-2.0, -1, -0.0, 0.0, 0.5, 2])
            one([x, number])
            one([number, x])
        one(grid([-2.0, -0.0, 0.0, 0.5, 1, 3], "float32"), dtypes=NARROW)
        one(grid([90, -90, 1e20, 1e30, *([1e-30, -1e-20] if name != "atan2" else [])], "float32"), dtypes=NARROW)
        one([first(values("float32", (2, 1), 1)), first(values("float32", (1, 3), 2))], dtypes=NARROW)
    for name, fn in pairs("add subtract:sub multiply:mul divide:div pow"):
        for d, dtypes in [("complex128", WIDE), ("complex64", NARROW)]:
            for left, right in MEETINGS if d == "complex128" else MEETINGS[1:4]:
                gradient(name, fn, [values(d, left, 1), values(d, right, 2)], dtypes=dtypes)
        z = [1 + 0j, -1, 1j, 2 - 1j, complex(-2, -0.0), -0.5j]
        gradient(name, fn, grid(z, "complex128"), twice=True)
        gradient(name, fn, [tensor([0, 0, 0, 0], "complex128"), tensor([2, 1, 0.5 + 1j, 3], "complex128")])
        gradient(name, fn, [tensor([1e100 + 3e100j, 1e-100j, -1e150]), tensor([2 + 0j, 1j, 1])])
        # A real operand of a complex call has a real gradient.
        gradient(name, fn, [values("complex128", (2, 1), 1), values("float64", (3,), 2)])
        gradient(name, fn, [values("float64", (3,), 2).abs(), values("complex128", (2, 1), 1)])
        for number in [2.0, -0.5]:
            gradient(name, numbers_too(fn), [values("complex128", (3,), 1), number])
            gradient(name, numbers_too(fn), [number, values("complex128", (3,), 1)])


def choices():
    """Rows of three operands, and those that choose."""
    for d, dtypes in [("float64", WIDE), ("complex128", WIDE), ("float32", NARROW)]:
        for shapes in [((3,), (3,), (3,)), ((2, 1), (1, 3), (3,)), ((2, 2), (), (2, 1)), ((1,), (2, 1), (1, 2)), ((), (), ())]:
            a, b, w = (values(d, s, n) for n, s in enumerate(shapes))
            # PyTorch's weights of complex ends are complex.
            gradient("lerp", torch.lerp, [a, b.expand(torch.broadcast_shapes(*shapes)).clone(), w], dtypes=dtypes)
            for condition in [tensor(True), tensor([[True], [False]])]:
                gradient("where", torch.where, [condition, a, b], dtypes=dtypes)
            gradient("where", torch.where, [values("float64", shapes[2], 2) > 0, a, b], dtypes=dtypes)
        gradient("where", numbers_too(torch.where), [tensor([True, False, True]), values(d, (2, 3), 1), 0.5], dtypes=dtypes)
        gradient("where", numbers_too(torch.where), [tensor([True, False, True]), 0.5, values(d, (2, 3), 1)], dtypes=dtypes)
        # A part that is replaced takes the other part's gradient with it in PyTorch.
        x = tensor([1.5, -2, 0.0] if d == "complex128" else [nan, inf, -inf, 1.5, -2, 0.0], d)
        for given in [(None, None, None), (0.5, 2.0, -3.0), (nan, inf, -inf)]:
            gradient("nanToNum", torch.nan_to_num, [x, *given], dtypes=dtypes)
        weights = tensor([0.0, 0.5, 1, 2, -1], d)
        gradient("lerp", torch.lerp, [values(d, (5,), 1), values(d, (5,), 2), weights], dtypes=dtypes)
    # What is not chosen does not spoil what is.
    gradient("where", torch.where, [tensor([True, False]), tensor([inf, 1.0]), tensor([nan, 2.0])])
    x = tensor([-3.0, -1, -0.5, -0.0, 0.0, 0.5, 1, 3, inf, -inf])
    bounds = [(-1.0, 1.0), (0.0, 0.0), (1.0, -1.0), (None, 0.0), (0.0, None), (-inf, inf)]
    for d, dtypes in [("float64", WIDE), ("float32", NARROW)]:
        for low, high in bounds:
            gradient("clip", lambda x, a, b: torch.clamp(x, a, b), [x.to(getattr(torch, d)), low, high], dtypes=dtypes)
            ends = [None if v is None else tensor(v, d) for v in (low, high)]
            gradient("clip", lambda x, a, b: torch.clamp(x, a, b), [x.to(getattr(torch, d)), *ends], dtypes=dtypes)
        for shapes in [((2, 3), (3,), (2, 1)), ((1, 3), (2, 1), ()), ((2, 2), (2, 2), (2, 2))]:
            a, low, high = (values(d, s, n) for n, s in enumerate(shapes))
            gradient("clip", torch.clamp, [a, low - 1, high + 1], dtypes=dtypes)
            gradient("clip", torch.clamp, [a, None, high], dtypes=dtypes)
            gradient("clip", torch.clamp, [a, low, None], dtypes=dtypes)
        ones = tensor([-1.0, 0, 1], d)
        gradient(
            "nn.prelu",
            lambda x, w: F.prelu(x, w.reshape(-1)),
            [tensor([[[-2.0, 0, 3]], [[-0.5, -0.0, 1]]], d), tensor([[0.5]], d)],
            dtypes=dtypes,
        )
        gradient("nn.prelu", F.prelu, [ones, tensor([0.25], d)], dtypes=dtypes)
        gradient("nn.prelu", F.prelu, [tensor([[-1.0, 0, 1], [2, -2, -0.5]], d), ones], dtypes=dtypes)
    for shapes in [((3,), (3,)), ((2, 1), (1, 3)), ((), (2,)), ((2, 2), ())]:
        a, b = (values("float64", s, n) for n, s in enumerate(shapes))
        gradient("complex", lambda a, b: torch.complex(*torch.broadcast_tensors(a, b)), [a, b])
        # Of a negative length PyTorch has the gradient of the positive one.
        gradient("polar", lambda a, b: torch.polar(*torch.broadcast_tensors(a, b)), [a.abs(), b])
    for shape in [(3,), (), (2, 0)]:
        z = values("complex128", shape, 1)
        for name, fn in pairs("real imag conj abs angle"):
            gradient(name, fn, [z])


def cases():
    unary()
    complex_unary()
    binary()
    choices()
    special()


def special():
    for name, fn, x in [
        ("entr", torch.special.entr, [0.25, 0.5, 1.0, 1.5, 3.0, 7.25]),
        ("frac", torch.frac, [-2.75, -0.5, 0.25, 1.5, 3.0, 7.125]),
        ("ndtr", torch.special.ndtr, [-3.0, -1.0, -0.25, 0.0, 0.5, 2.5]),
    ]:
        gradient(name, fn, [torch.tensor(x, dtype=torch.float64)])
