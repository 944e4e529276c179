"""Elementwise rows beside the elementary functions: bits, parts of numbers, divisions, comparisons, activations."""

import math

import mpmath
import numpy as np

from records import FLOATS, INTS, case, data, edges, floats, grid, inf, int_edges, ints, nan, rng, to_float

ULPS = {"float16": "1", "float32": "1", "float64": "2"}


def bits(numbers):
    """Integers' bits, by NumPy where it counts them, else by Python's integers."""
    for d in INTS + ["bool"]:
        x, y = grid(int_edges(d)) if d != "bool" else grid(np.array([False, True]))
        case("bitwiseAnd", [x, y], x & y)
        case("bitwiseOr", [x, y], x | y)
        case("bitwiseXor", [x, y], x ^ y)
        case("bitwiseInvert", [x], ~x)
        case("logicalXor", [x, y], np.logical_xor(x, y))
    for d in INTS:
        width = np.iinfo(d).bits
        by = np.array([0, 1, 2, width - 1, width, width + 5, 100], d)
        x, n = (v.ravel().copy() for v in np.meshgrid(np.concatenate([int_edges(d), ints(d, 6)]), by))
        case("bitwiseLeftShift", [x, n], np.left_shift(x, n))
        case("bitwiseRightShift", [x, n], np.right_shift(x, n))
        x = np.concatenate([int_edges(d), rng.integers(np.iinfo(d).min, np.iinfo(d).max, 40, d), (1 << np.arange(width - 1)).astype(d)])
        unsigned = [int(v) & ((1 << width) - 1) for v in x]
        case("populationCount", [x], np.array([v.bit_count() for v in unsigned], d))
        case("bitwiseCount", [x], np.bitwise_count(x))
        case("countLeadingZeros", [x], np.array([width - v.bit_length() for v in unsigned], d))
    for d, others in [("float32", ["int32", "uint32"]), ("float64", ["int64", "complex64"]), ("int8", ["uint8"]), ("uint16", ["float16"]), ("bool", ["uint8"])]:
        x = data(d)
        x = x[~np.isnan(x.astype("float64"))].copy()
        for e in others:
            case("bitcast", [x], x.view(e), [numbers[e]])
            if e != "uint8" or d != "bool":
                case("bitcast", [x.view(e)], x, [numbers[d]])


def parts():
    """Real and imaginary parts, angles, signs and steps of floats."""
    for d in FLOATS + INTS + ["bool"]:
        x, f = data(d), to_float(d)
        case("real", [x], x)
        case("imag", [x], np.zeros_like(x))
        case("conj", [x], x)
        wide = x.astype(f).astype("float64")
        case("angle", [x], np.where(np.isnan(wide), wide, np.where(np.signbit(wide), math.pi, 0.0)).astype(f), tol=ULPS[f])
        case("signbit", [x], np.signbit(x) if d in FLOATS else x < 0)
        case("isinf", [x], np.isinf(x) if d in FLOATS else np.zeros(x.shape, bool))
        if d != "bool":
            case("positive", [x], x)
            case("trunc", [x], np.trunc(x) if d in FLOATS else x)
        a, b = grid(edges(d) if d in FLOATS else int_edges(d) if d in INTS else x)
        p, q = a.astype(f), b.astype(f)
        case("copysign", [a, b], np.copysign(p, q))
        case("nextafter", [a, b], np.where(p == q, q, np.nextafter(p, q)))  # of zeros the second, as in C
        c = "complex128" if d == "float64" else "complex64"
        a, b = grid(data(d))
        w = np.empty(a.shape, c)
        w.real, w.imag = a, b
        case("complex", [a, b], w)
        # Whole multiples of a size by cosine and sine of the angle, in the parts' dtype.
        f = "float64" if d == "float64" else "float32"
        a, b = ints("int8", 20).astype(d), (floats("float64", 20) if d in FLOATS else ints("int8", 20)).astype(d)
        with mpmath.workprec(200):
            w = [complex(mpmath.cos(mpmath.mpf(float(t))) * float(r), mpmath.sin(mpmath.mpf(float(t))) * float(r)) for r, t in zip(a.astype(f), b.astype(f))]
        case("polar", [a, b], np.array(w, c), tol="4~")
    case("complex", [np.array([1, 2], "float32"), 3.0], np.array([1 + 3j, 2 + 3j], "complex64"))
    odd = [0.0, -0.0, 1.0, -2.5, 0.1, -1234.567, inf, -inf, nan]
    for d in ["complex64", "complex128"]:
        real = "float32" if d == "complex64" else "float64"
        x = np.array([complex(re, im) for re in odd for im in odd], d)
        case("real", [x], x.real.copy())
        case("imag", [x], x.imag.copy())
        case("conj", [x], np.conj(x))
        case("positive", [x], x)
        case("isinf", [x], np.isinf(x))
        most = np.finfo(d).max
        case("isinf", [np.array([complex(most, 1), complex(-1, -most)], d)], np.zeros(2, bool))
        case("angle", [x], np.angle(x.astype("complex128")).astype(real), tol="1" if d == "complex64" else "2")
        case("logicalXor", [x, x[::-1].copy()], np.logical_xor(x, x[::-1]))


def divisions():
    """Remainders and quotients, and choices among two numbers."""
    for d in FLOATS + INTS:
        a, b = grid(edges(d) if d in FLOATS else int_edges(d))
        if d in FLOATS:
            quotient = np.trunc((a.astype("float32") / b.astype("float32")).astype("float32") if d == "float16" else a / b).astype(d)
            rest = np.fmod(a, b)
        else:
            # By zero: 0, and the smallest by -1 wraps.
            low, width = np.iinfo(d).min, np.iinfo(d).bits
            pairs = [(int(x), int(y)) for x, y in zip(a, b)]
            sign = lambda x, y: -1 if (x < 0) != (y < 0) else 1
            whole = [0 if y == 0 else sign(x, y) * (abs(x) // abs(y)) for x, y in pairs]
            quotient = np.array([low if q > np.iinfo(d).max else q for q in whole], d)
            rest = np.array([0 if y == 0 else x - q * y for q, (x, y) in zip(whole, pairs)], d)
        case("truncDivide", [a, b], quotient)
        case("fmod", [a, b], rest)
        less = np.where(np.isnan(a), b, np.where(np.isnan(b) | (a < b) | ((a == b) & np.signbit(a)), a, b)) if d in FLOATS else np.minimum(a, b)
        more = np.where(np.isnan(a), b, np.where(np.isnan(b) | (a > b) | ((a == b) & ~np.signbit(a)), a, b)) if d in FLOATS else np.maximum(a, b)
        case("fmin", [a, b], less)
        case("fmax", [a, b], more)
    for d in FLOATS:
        a, b = floats(d, 60, 1e4 if d == "float16" else 1e6), floats(d, 60, 0.5)
        case("truncDivide", [a, b], np.trunc(a.astype("float32") / b.astype("float32") if d == "float16" else a / b).astype(d))
        case("fmod", [a, b], np.fmod(a, b))
    for d in ["bool"]:
        x, y = grid(np.array([False, True]))
        case("fmin", [x, y], x & y)
        case("fmax", [x, y], x | y)
    for d in FLOATS + INTS + ["bool"]:
        a, b = grid(data(d))
        f = to_float(d)
        case("heaviside", [a, b], np.heaviside(a.astype(f), b.astype(f)))


def by_formula(d, name, formula, limits, x, others=(), numbers=(), tol=None):
    """A function of finite numbers by a formula of mpmath's, elsewhere by its limits."""
    f = to_float(d)
    out = []
    for values in zip(*(np.broadcast_arrays(x, *others))):
        v = [float(np.asarray(p, f)) for p in values]
        special = limits(*v)
        with mpmath.workprec(400):
            y = special if special is not None else formula(*(mpmath.mpf(p) for p in v))
            out.append(float(y) if not mpmath.isfinite(y) or abs(y) < mpmath.mpf(2) ** 1024 else math.copysign(inf, float(mpmath.sign(y))))
    case(name, [x, *others], np.array(out).astype(f), [], numbers, tol=tol or ULPS[f])


def functions():
    """Functions composed of others: angles, sinc, logit, products with logarithms, interpolation."""
    for d in FLOATS + ["int32", "uint8", "bool"]:
        f = to_float(d)
        x = data(d)
        if d in INTS:
            x = np.concatenate([x, rng.integers(100, 127 if d == "int8" else 250, 8).astype(d), np.arange(1025, 30000, 5001).astype(d)])
        case("deg2rad", [x], x.astype(f) * np.array(math.pi / 180, f))
        case("rad2deg", [x], x.astype(f) * np.array(180 / math.pi, f))
        x = np.concatenate([edges("float16"), floats("float16", 20)]).astype(d) if d in FLOATS else x
        by_formula(d, "sinc", mpmath.sincpi, lambda v: nan if not math.isfinite(v) else 1.0 if v == 0 else 0.0 if v == round(v) else None, x, tol="4~")
        u = np.concatenate([np.array([0.0, -0.0, 1, 0.5, -0.1, 1.5, nan]), rng.uniform(0, 1, 20), [1e-6, 0.9990234375]]).astype(d)
        by_formula(d, "logit", lambda v: mpmath.log(v / (1 - v)), lambda v: nan if math.isnan(v) or v < 0 or v > 1 else -inf if v == 0 else inf if v == 1 else None,
                   u, tol="16")
        points = grid(np.array([0, -0.0, 1, 2.5, -3, inf, nan, 0.25, 100]).astype(d))
        others = floats(d, 20) if d in FLOATS else ints("int32", 20).astype(d), np.abs(floats("float64", 20)).astype(d)
        for name, log in [("xlogy", np.log), ("xlog1py", np.log1p)]:
            for a, b in [points, others]:
                p, q = a.astype(f).astype("float64"), b.astype(f).astype("float64")
                with np.errstate(all="ignore"):
                    y = np.where((p == 0) & ~np.isnan(q), 0.0, p * log(q))
                case(name, [a, b], y.astype(f), tol="1" if f == "float16" else "4")
        x, y = data(d), data(d)[::-1].copy()
        w = np.resize(np.array([0, 1, 0.5, 0.25, -1, 2]).astype(d), x.shape)
        k, wide = (x.astype(f), y.astype(f), w.astype(f)), "float32" if f == "float16" else f
        s, e, t = (v.astype(wide) for v in k)
        with np.errstate(all="ignore"):
            case("lerp", [x, y, w], np.where(t < 0.5, s + t * (e - s), e - (1 - t) * (e - s)).astype(f))
    # Halfway the second end counts: 2.5 - (2.5 - 2^24) / 2, whose difference is rounded.
    case("lerp", [np.array([2.0**24], "float32"), np.array([2.5], "float32"), 0.5], np.array([8388610], "float32"))
    case("lerp", [np.array([1, 2], "complex64"), np.array([3 + 2j, 1j], "complex64"), np.array([0.5, 1], "complex64")],
         np.array([2 + 1j, 1j], "complex64"))
    case("lerp", [np.array([1, 2], "complex128"), np.array([3 + 2j, 1j], "complex128"), np.array([0.25, -1], "complex128")],
         np.array([1.5 + 0.5j, 4 - 1j], "complex128"))


def replacements():
    """Other numbers for what is not finite."""
    for d in FLOATS:
        x = data(d)
        case("nanToNum", [x, None, None, None], np.nan_to_num(x))
        case("nanToNum", [x, 1.5, 2.0, -3.0], np.nan_to_num(x, nan=1.5, posinf=2, neginf=-3))
    for d in INTS + ["bool"]:
        x = data(d)
        case("nanToNum", [x, None, None, None], x)
    for d in ["complex64", "complex128"]:
        x = np.array([complex(re, im) for re in [1.0, inf, -inf, nan] for im in [-2.0, inf, -inf, nan]], d)
        case("nanToNum", [x, None, None, None], np.nan_to_num(x))
        case("nanToNum", [x, 1.5, 2.0, -3.0], np.nan_to_num(x, nan=1.5, posinf=2, neginf=-3))


def closeness():
    """Near equality, in the compute dtype; half floats in float32."""
    near = [1.0, 1.000001, 1.01, -1.0, 0.0, 1e-9, 100.0, 100.5, inf, -inf, nan]
    for d in FLOATS:
        a, b = grid(np.array(near, d))
        wide = "float32" if d == "float16" else d
        p, q = a.astype(wide), b.astype(wide)
        for rtol, atol in [(1e-5, 1e-8), (0.25, 0.0), (0.0, 0.5)]:
            with np.errstate(all="ignore"):
                ok = (np.isfinite(q) & (np.abs(p - q) <= np.array(atol, wide) + np.array(rtol, wide) * np.abs(q))) | (p == q)
            for equal_nan in [0, 1]:
                y = ok | (np.isnan(p) & np.isnan(q) & bool(equal_nan))
                case("isclose", [a, b], y, [equal_nan], [rtol, atol])
                for n in range(0, len(a), 7):
                    case("allclose", [a[n : n + 2].copy(), b[n : n + 2].copy()], np.asarray(y[n : n + 2].all()), [equal_nan], [rtol, atol])
    # Just near enough.
    case("allclose", [np.array([1.0], "float32"), np.array([1.5], "float32")], np.asarray(True), [0], [0.0, 0.5])
    for d in INTS + ["bool", "complex64", "complex128"]:
        x = np.array([0, 1, 1, 3, 5, 5], d)
        y = np.array([0, 1, 2, 4, 5, 0], d)
        case("isclose", [x, y], np.isclose(x, y, rtol=0.25, atol=0), [0], [0.25, 0])
        case("allclose", [x, y], np.asarray(False), [0], [1e-5, 1e-8])
        case("allclose", [x, x], np.asarray(True), [0], [1e-5, 1e-8])
    for d in ["complex64", "complex128"]:
        x = np.array([3 + 4j, complex(inf, 1), complex(nan, 1), complex(1, nan)], d)
        y = np.array([3 + 4.25j, complex(inf, 1), complex(nan, 1), complex(1, nan)], d)
        for equal_nan in [0, 1]:
            case("isclose", [x, y], np.array([True, True, bool(equal_nan), bool(equal_nan)]), [equal_nan], [0.0625, 0])
    for d in FLOATS + INTS + ["bool", "complex64", "complex128"]:
        x = np.array([[0, 1, 1], [0, 1, 0]], d)
        y = x.copy()
        y[1, 2] = 1
        case("arrayEqual", [x, x.copy()], np.asarray(True), [0])
        case("arrayEqual", [x, y], np.asarray(False), [0])
        case("arrayEqual", [x, x[:1].copy()], np.asarray(False), [0])
        case("arrayEqual", [x, x.reshape(-1)], np.asarray(False), [0])
        if d in FLOATS or d.startswith("complex"):
            x[0, 0] = nan
            case("arrayEqual", [x, x.copy()], np.asarray(False), [0])
            case("arrayEqual", [x, x.copy()], np.asarray(True), [1])
            case("arrayEqual", [x, y], np.asarray(False), [1])
            y[:] = x
            y[0, 0] = 0
            for pair in [[x, y.copy()], [y.copy(), x]]:
                case("arrayEqual", pair, np.asarray(False), [1])
    case("arrayEqual", [np.array([1, 2], "int8"), np.array([1, 2], "float32")], np.asarray(True), [0])


def softplus(v):
    return mpmath.log1p(mpmath.exp(v))


def selected(v):
    return mpmath.mpf("1.0507009873554804934193349852946") * (v if v > 0 else mpmath.mpf("1.6732632423543772848170429916717") * mpmath.expm1(v))


def between(v, low, high):
    return min(max(v, mpmath.mpf(low)), mpmath.mpf(high))


def slope_limit(v, slope):
    """What a line through 0 with this slope gives below 0 and at it, and one with slope 1 above, where v is not an ordinary number."""
    return v if math.isnan(v) or v == inf else slope * v if v == 0 or v == -inf else None


def softplus_limit(v, beta):
    if math.isfinite(v):
        return None
    return v if math.isnan(v) or (v > 0) == (beta > 0) else math.copysign(0.0, beta)


def celu_limit(v, alpha):
    # 0 / alpha has the sign of both, and so has alpha times it: once more.
    return slope_limit(v, alpha * alpha) if v != -inf else -inf if alpha < 0 else -alpha


def activations():
    """By their formulas; what infinities give where a formula has no limit is what PyTorch gives."""
    number = lambda v: v if math.isnan(v) else None
    one = [
        ("relu6", lambda v: between(v, 0, 6), lambda v: v if math.isnan(v) else 0.0 if v <= 0 else 6.0 if v > 6 else None, "0"),
        ("selu", selected, lambda v: v if math.isnan(v) or v == inf or v == 0 else None, "8"),
        ("silu", lambda v: v / (1 + mpmath.exp(-v)), lambda v: nan if v == -inf else v if not math.isfinite(v) or v == 0 else None, "8"),
        ("mish", lambda v: v * mpmath.tanh(softplus(v)), lambda v: nan if v == -inf else v if not math.isfinite(v) or v == 0 else None, "16"),
        ("logSigmoid", lambda v: -softplus(-v), lambda v: v if math.isnan(v) or v == -inf else -0.0 if v == inf else None, "8"),
        ("softsign", lambda v: v / (1 + abs(v)), lambda v: nan if not math.isfinite(v) else v if v == 0 else None, "2"),
        ("hardsigmoid", lambda v: between(v + 3, 0, 6) / 6, number, "2"),
        ("hardswish", lambda v: v * between(v + 3, 0, 6) / 6, lambda v: nan if v == -inf else v if not math.isfinite(v) or v == 0 else -0.0 if v <= -3 else None, "4"),
    ]
    for d in FLOATS + ["int32", "uint8", "bool"]:
        f = to_float(d)
        # Not so large that float64 has no exponential.
        x = np.concatenate([edges("float16")[:14], floats("float16", 24), [-20, 20, 6, 5.5, -3, -2.5, 3]]).astype(d) if d in FLOATS else data(d)
        for name, formula, limits, tol in one:
            by_formula(d, "nn." + name, formula, limits, x, tol=tol)
        large = x[~(np.abs(x.astype("float64")) < 1)]  # where it does not cancel
        by_formula(d, "nn.tanhshrink", lambda v: v - mpmath.tanh(v), lambda v: v if not math.isfinite(v) or v == 0 else None, large, tol="8")
        for slope in [0.01, 0.5, -2.0]:
            part = float(np.array(slope, f))
            by_formula(d, "nn.leakyRelu", lambda v: v if v > 0 else v * part, lambda v: slope_limit(v, part), x, numbers=[slope], tol="1")
        for alpha in [1.0, 2.5, -1.5]:
            by_formula(d, "nn.elu", lambda v: v if v > 0 else alpha * mpmath.expm1(v), lambda v: -alpha if v == -inf else slope_limit(v, alpha), x, numbers=[alpha], tol="4")
            by_formula(d, "nn.celu", lambda v: v if v > 0 else alpha * mpmath.expm1(v / alpha), lambda v: celu_limit(v, alpha), x, numbers=[alpha], tol="16")
            by_formula(d, "nn.softplus", lambda v: softplus(v * alpha) / alpha, lambda v: softplus_limit(v, alpha), x, numbers=[alpha], tol="8")
        for low, high in [(-1.0, 1.0), (-2.5, 3.0)]:
            by_formula(d, "nn.hardtanh", lambda v: between(v, low, high), lambda v: v if math.isnan(v) or v == 0 else low if v == -inf else high if v == inf else None, x, numbers=[low, high], tol="0")
        for size in [0.5, 2.5]:
            by_formula(d, "nn.hardshrink", lambda v: v if abs(v) > size else 0, lambda v: v if not math.isfinite(v) else None, x, numbers=[size], tol="0")
            by_formula(d, "nn.softshrink", lambda v: v - size if v > size else v + size if v < -size else 0, lambda v: v if not math.isfinite(v) else None, x, numbers=[size], tol="0")
        w = np.resize(np.array([0.25, -1, 2]).astype(d), x.shape)
        by_formula(d, "nn.prelu", lambda v, k: v if v > 0 else v * k, lambda v, k: v * (1 if v > 0 else k) if not math.isfinite(v) or v == 0 or k == 0 else None, x, [w], tol="0")
        infinite = lambda v: nan if v == -inf else v if not math.isfinite(v) or v == 0 else None
        gelu(d, 0, lambda v: v / 2 * mpmath.erfc(-v / mpmath.sqrt(2)), infinite, x)
        gelu(d, 1, lambda v: v / 2 * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) * (v + mpmath.mpf("0.044715") * v**3))), infinite, x)


def gelu(d, approximate, formula, limits, x):
    f = to_float(d)
    out = []
    for v in x.astype(f).astype("float64"):
        with mpmath.workprec(400):
            y = limits(v)
            out.append(float(formula(mpmath.mpf(v)) if y is None else y))
    # In the tail the argument's rounding counts as often as its square says; with tanh it cancels below -1.
    tol = "256" if not approximate else "abs:" + repr({"float16": 1e-3, "float32": 2e-6, "float64": 4e-15}[f])
    case("nn.gelu", [x], np.array(out).astype(f), [approximate], tol=tol)
