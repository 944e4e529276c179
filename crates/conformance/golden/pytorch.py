"""PyTorch's own answers, and those of elementwise rows; the other modules of this name have the other rows.

PyTorch computes in float64 (complex128), and its answer is rounded to the operands' dtype: what is compared is the meaning
of a row, not the rounding of PyTorch's float32 kernels. Exact operations run in the operands' own dtype.
"""

from types import SimpleNamespace

import numpy as np
import torch
import torch.nn.functional as F

from records import array, call, inf, nan, put

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)

rng = np.random.default_rng(20261109)

EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
REAL = {"complex64": "float32", "complex128": "float64"}
COMPLEX = {"float32": "complex64", "float64": "complex128"}
BOTH = ["float32", "float64"]
FLOATING = ["float16", "bfloat16", *BOTH]
WITH_COMPLEX = [*BOTH, "complex64", "complex128"]
# The integers of which PyTorch has every operation.
INTEGERS = ["int8", "uint8", "int16", "int32", "int64"]


class Tensor:
    """A tensor of a dtype that NumPy may not have, as records.py writes arrays."""

    def __init__(self, tensor):
        self.tensor = tensor.detach().resolve_conj().resolve_neg().contiguous()
        self.shape, self.ndim = tuple(tensor.shape), tensor.ndim
        self.dtype = SimpleNamespace(name=name_of(tensor))

    def __array__(self, dtype=None, copy=None):
        bits = self.tensor.view(torch.int16) if self.tensor.dtype == torch.bfloat16 else self.tensor
        return bits.numpy()


def tensor(x, d=None):
    """Numbers as a tensor of a dtype."""
    x = torch.as_tensor(np.array(x)) if not torch.is_tensor(x) else x
    return x if d is None else x.to(getattr(torch, d))


def some(d, shape, scale=1.0):
    """Numbers of few digits, of which some are equal."""
    draw = lambda: np.round(rng.standard_normal(shape) * scale * 64) / 64
    if d in EPSILON:
        return tensor(draw(), d)
    if d in REAL:
        return tensor(draw() + 1j * draw(), d)
    if d == "bool":
        return tensor(rng.integers(0, 2, shape).astype(bool))
    return tensor(rng.integers(0 if d == "uint8" else -9, 10, shape), d)


def few(d, shape):
    """Small halves, whose sums and products are exact."""
    if d in REAL:
        return tensor((rng.integers(-4, 5, shape) + 1j * rng.integers(-4, 5, shape)) / 2, d)
    return tensor(rng.integers(-4, 5, shape) / 2, d) if d in EPSILON else some(d, shape)


def name_of(x):
    return str(x.dtype).removeprefix("torch.")


def wide(x):
    """An operand as PyTorch computes with it."""
    if not torch.is_tensor(x):
        return x
    return x.to(torch.complex128) if x.is_complex() else x.double() if x.is_floating_point() else x


def known_dtype(ins):
    """The dtype in which an answer is given: that of the first floating operand; float32 of integers."""
    return next((name_of(x) for x in ins if torch.is_tensor(x) and (x.is_floating_point() or x.is_complex())), "float32")


def rounded(y, d):
    """An answer in float64 as one in the dtype of its operands, positions in int32."""
    real = REAL.get(d, d)
    if y.is_complex():
        return y.to(getattr(torch, COMPLEX[real]))
    return y.to(getattr(torch, real)) if y.is_floating_point() else y.int() if y.dtype == torch.int64 else y


def near(ys, d, size):
    """So many units of the largest element, or of 1."""
    largest = [float(y.abs()[y.abs().isfinite()].max()) for y in map(torch.as_tensor, ys) if y.abs().isfinite().any()]
    return "abs:" + repr(size * EPSILON[REAL.get(d, d)] * max([1.0, *largest]))


def record(name, ins, ys, attrs=(), numbers=(), tol="0"):
    ins, ys = [Tensor(x) if torch.is_tensor(x) else x for x in ins], [Tensor(y) for y in ys]
    for a in [x for x in ins if isinstance(x, Tensor)] + ys:
        array(a)
    call(name, ins, attrs, numbers)
    for y in ys:
        put("out", array(y), tol)


def answer(name, fn, ins, attrs=(), numbers=(), tol="1"):
    """What a function of PyTorch says of operands in float64; a number as tolerance counts units of the largest element."""
    d = known_dtype(ins)
    ys = fn(*map(wide, ins))
    ys = list(ys) if isinstance(ys, (tuple, list)) else [ys]
    tol = tol if isinstance(tol, str) else near([y.double() if not y.is_complex() else y for y in ys], d, tol)
    record(name, ins, [rounded(y, d) for y in ys], attrs, numbers, tol)


def exact(name, fn, ins, attrs=(), numbers=(), tol="0"):
    """What a function of PyTorch gives in the operands' own dtype, bit by bit; positions in int32."""
    ys = fn(*ins)
    ys = list(ys) if isinstance(ys, (tuple, list)) else [ys]
    positions = not any(torch.is_tensor(x) and x.dtype == torch.int64 for x in ins[:1])
    record(name, ins, [y.int() if y.dtype == torch.int64 and positions else y for y in ys], attrs, numbers, tol)


def ulps(d, float32="4", float64="64"):
    return {"float32": float32, "float64": float64, "complex64": float32, "complex128": float64}.get(d, "1")


def pairs(text, source=torch):
    """Rows with PyTorch's functions: one name, or a row's and a function's with a colon between."""
    return [(word.split(":")[0], getattr(source, word.split(":")[-1])) for word in text.split()]


def activations():
    plain = pairs("relu6 selu silu mish softsign hardsigmoid hardswish tanhshrink logSigmoid:logsigmoid", F)
    for d in FLOATING:
        special = tensor([0.0, inf, -inf, nan, 3, -3, 6, 0.5, -0.5, 1, -1], d)
        x = torch.cat([special, some(d, 20, 3.0)])
        close = lambda size: size if d == "float64" else 2 if d == "float32" else "1~"
        for name, fn in plain:
            answer("nn." + name, fn, [x], tol=close(8))
        for k, way in enumerate(["none", "tanh"]):
            # In the tail 1 + tanh cancels, in the float32 of half floats too.
            answer("nn.gelu", lambda x: F.gelu(x, approximate=way), [x if d in BOTH else x[~(x < -3)]], [k],
                   tol=close(8) if d in BOTH else "2~")
        for slope in [0.01, -2.0]:
            # This library rounds the number to the dtype it computes in.
            part = float(tensor(slope, "float64" if d == "float64" else "float32"))
            answer("nn.leakyRelu", lambda x: F.leaky_relu(x, part), [x], numbers=[slope], tol="1~")
        for alpha in [1.0, 2.5]:
            answer("nn.elu", lambda x: F.elu(x, alpha), [x], numbers=[alpha], tol=close(8))
            answer("nn.celu", lambda x: F.celu(x, alpha), [x], numbers=[alpha], tol=close(8))
            # Beyond the threshold PyTorch gives x itself: at 50 float64 does not notice.
            answer("nn.softplus", lambda x: F.softplus(x, alpha, 50), [x], numbers=[alpha], tol=close(8))
        for low, high in [(-1.0, 1.0), (-0.5, 2.0)]:
            answer("nn.hardtanh", lambda x: F.hardtanh(x, low, high), [x], numbers=[low, high], tol="0~")
        for size in [0.5, 1.25]:
            answer("nn.hardshrink", lambda x: F.hardshrink(x, size), [x], numbers=[size], tol="0~")
            answer("nn.softshrink", lambda x: F.softshrink(x, size), [x], numbers=[size], tol="1~")
        # PyTorch's slopes belong to the second axis.
        x, w = some(d, (2, 3, 4)), some(d, (3,))
        record("nn.prelu", [x, w.reshape(3, 1)], [rounded(F.prelu(wide(x), wide(w)), d)], tol="1~")
        answer("nn.prelu", F.prelu, [x, w[:1].clone()], tol="1~")
    for name, fn in plain:
        answer("nn." + name, fn, [torch.zeros((0, 3))])


UNARY = """abs negative:neg square sqrt rsqrt reciprocal exp exp2 expm1 log log1p log2 log10 sin cos tan asin acos atan
    sinh cosh tanh asinh acosh atanh sigmoid erf erfc erfinv lgamma digamma sinc logit deg2rad rad2deg relu"""
EXACT = "floor ceil trunc round sign signbit logicalNot:logical_not"
# Of complex numbers too.
ANALYTIC = """abs negative:neg square sqrt rsqrt reciprocal exp log sin cos tan sinh cosh tanh asinh acosh atanh asin acos
    atan"""


def unary():
    for d in BOTH:
        special = tensor([0.0, 1, -1, 2, -2, 0.5, inf, -inf, nan, 0.25, 10, -0.75], d)
        x = torch.cat([special, some(d, 12, 2.0), some(d, 8, 0.3)])
        for name, fn in pairs(UNARY):
            # PyTorch's sinc of an integer is as far from 0 as its pi is from pi.
            answer(name, fn, [x], tol=4 if name == "sinc" else ulps(d, "2~", "128~" if name == "digamma" else "16~"))
        for name, fn in pairs(EXACT + " isnan isinf isfinite positive"):
            # PyTorch's sign of NaN is 0, here it is NaN.
            exact(name, fn, [x[~x.isnan()] if name == "sign" else x], tol="0~" if name == "sign" else "0")
        exact("nanToNum", torch.nan_to_num, [x, None, None, None])
        exact("nanToNum", torch.nan_to_num, [x, 1.5, 2.0, -3.0])
        exact("angle", torch.angle, [x], tol="1")
    for d in ["int32", "uint8"]:
        for name, fn in pairs(UNARY):
            if name not in ["abs", "negative", "square", "relu"]:
                x = tensor([0, 1, 2, 3, 7, 9], d)
                answer(name, lambda x: fn(x.double()), [x], tol=4 if name == "sinc" else "1~")
        for name, fn in pairs(EXACT):
            exact(name, fn, [tensor([0, 1, 2, 3, 7, 9], d)])
    for d in REAL:
        x = some(d, 12, 1.5)
        for name, fn in pairs(ANALYTIC):
            answer(name, fn, [x], tol="16" if d == "complex64" else "64")
        # Of complex numbers the direction.
        answer("sign", torch.sgn, [x], tol="4")
        for name, fn in pairs("conj real imag isfinite"):
            exact(name, fn, [x])
        answer("angle", torch.angle, [x], tol="4")
        re, im = some(REAL[d], 6), some(REAL[d], 6)
        exact("complex", torch.complex, [re, im])
        answer("polar", torch.polar, [re.abs(), im], tol="4~")


ARITHMETIC = "add subtract:sub multiply:mul minimum"
COMPARED = """equal:eq notEqual:ne less:lt lessEqual:le greater:gt greaterEqual:ge
    logicalAnd:logical_and logicalOr:logical_or logicalXor:logical_xor"""


def binary():
    rounding = {"truncDivide": "trunc", "floorDivide": "floor"}
    for d in BOTH:
        special = tensor([0.0, 1, -1, 2.5, inf, -inf, nan], d)
        x, y = (v.flatten().clone() for v in torch.meshgrid(special, special, indexing="ij"))
        operands = [(x, y), (some(d, (3, 1, 5), 2.0), some(d, (4, 1), 2.0)), (some(d, (2, 0)), some(d, (1,)))]
        for a, b in operands:
            for name, fn in pairs("atan2 hypot pow divide:div xlogy") + pairs("xlog1py", torch.special):
                answer(name, fn, [a, b], tol=ulps(d, "4~", "16~"))
            answer("logaddexp", torch.logaddexp, [a, b], tol=2)
            # PyTorch's step of NaN is 0, here it is NaN; and only at 0 the second operand is seen.
            known = torch.where(a.isnan(), torch.ones_like(a), torch.where(a.abs() < 0.75, torch.zeros_like(a), a))
            exact("heaviside", torch.heaviside, [known, b])
            for name, fn in pairs(ARITHMETIC + " maximum fmin fmax remainder fmod copysign nextafter"):
                exact(name, fn, [a, b], tol="0~" if name in ["remainder", "fmod"] else "0")
            for name, way in rounding.items():
                exact(name, lambda a, b: torch.div(a, b, rounding_mode=way), [a, b], tol="0~")
            for equal_nan in [0, 1]:
                for rtol, atol in [(0.25, 0.0), (0.0, 0.5)]:
                    exact("isclose", lambda a, b: torch.isclose(a, b, rtol, atol, bool(equal_nan)), [a, b], [equal_nan],
                          [rtol, atol])
        a, b, w = some(d, (2, 3)), some(d, (3,)), tensor([0.0, 0.25, 1.0], d)
        answer("lerp", torch.lerp, [a, b.expand(2, 3).clone(), w.expand(2, 3).clone()], tol="4")
        exact("clip", lambda x, low, high: torch.clamp(x, low, high), [a, -0.5, 1.0])
        exact("clip", lambda x, low, high: torch.clamp(x, low, high), [a, None, b])
        exact("where", torch.where, [a > 0, a, b])
    for d in ["float32", "int16", "bool"]:
        a, b = some(d, (3, 1, 4)), some(d, (2, 4))
        for name, fn in pairs(COMPARED):
            exact(name, fn, [a, b])
    for d in [*INTEGERS, "bool"]:
        a, b = some(d, (3, 1, 6)), some(d, (2, 6))
        for name, fn in pairs("bitwiseAnd:bitwise_and bitwiseOr:bitwise_or bitwiseXor:bitwise_xor"):
            exact(name, fn, [a, b])
        exact("bitwiseInvert", torch.bitwise_not, [a])
    for d in INTEGERS:
        a, b = some(d, (3, 1, 6)), some(d, (2, 6))
        for name, fn in pairs(ARITHMETIC + " gcd lcm"):
            exact(name, fn, [a, b])
        # PyTorch refuses to divide integers by 0.
        b = torch.where(b == 0, torch.ones_like(b), b)
        for name, fn in pairs("remainder fmod"):
            exact(name, fn, [a, b])
        for name, way in rounding.items():
            exact(name, lambda a, b: torch.div(a, b, rounding_mode=way), [a, b])
        width = torch.iinfo(getattr(torch, d)).bits
        by = tensor([0, 1, 3, width - 1, width, width + 5], d)
        exact("bitwiseLeftShift", torch.bitwise_left_shift, [a, by])
        exact("bitwiseRightShift", torch.bitwise_right_shift, [a, by])
        exact("pow", torch.pow, [a, tensor([0, 1, 2, 3, 4, 5], d)])
    for d in REAL:
        a, b = some(d, (3, 1, 4)), some(d, (2, 4))
        for name, fn in pairs("add subtract:sub multiply:mul divide:div pow"):
            answer(name, fn, [a, b], tol=ulps(d, "32", "128"))


def cases():
    activations()
    unary()
    binary()
