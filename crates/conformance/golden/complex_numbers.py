"""Complex numbers: arithmetic, and the elementary functions with their branch cuts."""

import mpmath
import numpy as np

from records import case, floats, inf, nan, rng


def gaussian(d, shape, size=9):
    return (rng.integers(-size, size + 1, shape) + 1j * rng.integers(-size, size + 1, shape)).astype(d)


def arithmetic():
    """Of whole numbers, whose sums and products are exact, and divisors whose quotients are."""
    for d in ["complex64", "complex128"]:
        real = "float32" if d == "complex64" else "float64"
        a, b = gaussian(d, (4, 6)), gaussian(d, (4, 6), 1)
        odd = np.array([complex(re, im) for re in [0.0, -0.0, 1.0, inf, -inf, nan] for im in [0.0, -0.0, -2.0, inf, nan]], d)
        divisors = np.array([1, -1, 2, -4, 1j, -2j, 1 + 1j, 2 - 2j, -1 + 1j, 0.5], d)
        triples = np.array([3 + 4j, -5 + 12j, 8 - 15j, -7 - 24j, 0j, 2j, -6 + 0j, complex(inf, nan), complex(-1, -inf)], d)
        for name, fn in [("negative", np.negative), ("isnan", np.isnan), ("isfinite", np.isfinite), ("logicalNot", np.logical_not)]:
            for x in [a, odd]:
                case(name, [x], fn(x))
        case("square", [a], a * a)
        case("round", [odd], np.rint(odd))
        case("round", [a / 2 + 0.25j], np.rint(a / 2 + 0.25j))
        # The signs of zero parts are the formula's.
        case("reciprocal", [divisors], 1 / divisors, tol="1~")
        case("abs", [triples], np.abs(triples), tol="1" if d == "complex64" else "2")
        case("sign", [np.array([5, -3j, 0, 2.5j, -1], d)], np.array([1, -1j, 0, 1j, -1], d))
        for name, fn in [("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("equal", np.equal), ("notEqual", np.not_equal),
                         ("logicalAnd", np.logical_and), ("logicalOr", np.logical_or)]:
            case(name, [a, b], fn(a, b))
        case("add", [a, 2.0], a + np.array(2, real))
        case("multiply", [a, np.arange(6, dtype="float32")], (a * np.arange(6)).astype(d))
        case("divide", [a[:, :1], divisors], a[:, :1] / divisors, tol="1~")
        case("where", [a.real > 0, a, b], np.where(a.real > 0, a, b))
        for axis, aw in [(None, [-1]), (0, [1, 0]), (1, [1, 1])]:
            case("sum", [a], np.sum(a, axis), [*aw, 0, nan])
            case("prod", [b[:, :4]], np.prod(b[:, :4], axis), [*aw, 0, nan])
            case("mean", [a[:, :4]], np.mean(a[:, :4], axis), [*aw, 0])
            for name, fn in [("any", np.any), ("all", np.all)]:
                case(name, [b], fn(b, axis), [*aw, 0])
        case("prod", [odd], odd, [0, 0, nan])
        case("cumulativeSum", [a], np.cumsum(a, 1), [1, nan, 0])
        case("matmul", [a, b.T.copy()], a @ b.T)
        case("tensordot", [a, b.T.copy()], a @ b.T, [1, -1, 1, 0])
        case("scatterAdd", [a, np.array([1, 1, -1], "int32"), b[:3]], a + np.stack([0 * b[0], b[0] + b[1], 0 * b[0], b[2]]), [0])


# Signs of zeros choose the side of a cut.
PARTS = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -3.0, 7.0]
# What overflows, or loses its bits, on the way: squares, exponentials and sums of what is very large or small.
STEEP = {"complex64": [3e-45, 1e-30, -1e-7, 90.0, -95.0, 3e4, 2e19, -3e38], "complex128": [1.5e-323, 1e-200, -1e-16, 712.0, -740.0, 3e8, 1e155, -1e308]}
ODD = [inf, -inf, nan]


def planes(d):
    """The points of each kind: where logarithms cancel, ordinary, steep, not finite."""
    def plane(re, im):
        return np.array([complex(x, y) for x in re for y in im], d)

    # Just inside the unit circle, beside 1.
    h = np.array([2.0 ** -n for n in range(1, 20)])
    yield ((1 - h) + 1j * np.sqrt(2 * h).astype("float32")).astype(d)
    steep = STEEP[d]
    yield plane(PARTS, PARTS)
    yield np.concatenate([plane(steep, PARTS[:3] + steep), plane(PARTS[:3], steep)])
    yield np.concatenate([plane(ODD, PARTS + steep + ODD), plane(PARTS + steep, ODD)])


def expm1(z):
    """NumPy's, but for sizes beyond 1, where it loses what overflows."""
    w, power = np.expm1(z), np.exp(z)
    far = ~(abs(z.real) < 1)
    w.real[far], w.imag[far] = power.real[far] - 1, power.imag[far]
    return w


@np.vectorize
def log1p(z):
    """Of what NumPy adds 1 to before it looks at it."""
    if not np.isfinite(z) or z == -1:
        return np.log1p(z)
    with mpmath.workprec(2200):
        w = mpmath.log(1 + mpmath.mpc(z.real, z.imag))
        # Multiprecision numbers have no -0.
        return complex(float(w.real), np.copysign(float(w.imag), z.imag))


FUNCTIONS = {"exp": np.exp, "expm1": expm1, "log": np.log, "log1p": log1p, "log2": np.log2, "log10": np.log10,
             "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
             "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
             "sqrt": np.sqrt}


EXACT = {"exp": mpmath.exp, "expm1": lambda z: mpmath.exp(z) - 1, "log": mpmath.log, "log1p": lambda z: mpmath.log(1 + z),
         "log2": lambda z: mpmath.log(z) / mpmath.log(2), "log10": lambda z: mpmath.log(z) / mpmath.log(10), "sin": mpmath.sin,
         "cos": mpmath.cos, "tan": mpmath.tan, "asin": mpmath.asin, "acos": mpmath.acos, "atan": mpmath.atan, "sinh": mpmath.sinh,
         "cosh": mpmath.cosh, "tanh": mpmath.tanh, "asinh": mpmath.asinh, "acosh": mpmath.acosh, "atanh": mpmath.atanh,
         "sqrt": mpmath.sqrt, "rsqrt": lambda z: 1 / mpmath.sqrt(z)}


def of_any_size(d, n):
    """Points whose parts have exponents from 2^-54 to 2^12 or any that has a square, those near where formulas change, and those at the ends of a dtype."""
    steps = [2.0**60, 2.0**80, 2.0**-80, 2.0**124] if d == "complex64" else [2.0**500, 2.0**600, 2.0**-800, 2.0**1020]
    ends = [1, np.finfo(d).tiny, np.finfo(d).smallest_subnormal * 3, *steps]

    def part():
        wide = 62 if d == "complex64" else 510
        size = np.exp2(np.where(rng.random(n) < 0.5, rng.uniform(-54, 12, n), rng.uniform(-wide, wide, n)))
        near = rng.choice([0.5, 1, 2], n) * (1 + rng.choice([-1, 1], n) * np.exp2(rng.uniform(-30, -1, n)))
        kind = rng.random(n)
        return np.where(kind < 0.4, size, np.where(kind < 0.7, near, rng.choice(ends, n))) * rng.choice([-1, 1], n)

    return (part() + 1j * part()).astype(d)


def exact(d, name, fn, z, *others, **options):
    """The multiprecision function at points of which no part of the answer is 0 (multiprecision numbers have no -0) or overflows."""
    with mpmath.workprec(2200):
        w = np.array([complex(fn(mpmath.mpc(x.real, x.imag))) for x in z.astype("complex128")]).astype(d)
    kept = np.isfinite(w) & (w.real != 0) & (w.imag != 0)
    case(name, [z[kept], *others], w[kept], **options)


def functions():
    """Of ordinary size errors are counted in units in the last place of each part: the smaller one has a meaning of its own."""
    for d in ["complex64", "complex128"]:
        for name, fn in EXACT.items():
            # Sums that cancel lose digits of a part, and so do quotients.
            exact(d, name, fn, of_any_size(d, 300), tol="8" if name in ("expm1", "rsqrt") else "8|")
    for d in ["complex64", "complex128"]:
        for name, fn in FUNCTIONS.items():
            for z in planes(d):
                w = fn(z.astype("complex128"))
                # C99 leaves open which infinity a sine is at an angle that is none.
                size, angle = (z.imag, z.real) if name in ("sin", "cos", "tan") else (z.real, z.imag)
                lost = np.isinf(size) & ~np.isfinite(angle)
                v = w.astype(d)
                # The signs of zeros that it leaves open, and of what underflows.
                free = lost | np.isnan(v) | ((v.real == 0) & (w.real != 0)) | ((v.imag == 0) & (w.imag != 0))
                kept = ~lost | np.array([name not in ("sin", "sinh")])
                for part, tol in [(kept & ~free, "8|"), (kept & free, "8~")]:
                    if part.any():
                        case(name, [z[part]], v[part], tol=tol)
        # Powers: whole exponents, where whole numbers stay whole; and others, whose error grows with the exponential's argument.
        whole = gaussian(d, (5, 1), 4)
        for n in [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 5.0]:
            case("pow", [whole[whole != 0], n], whole[whole != 0] ** n, tol="8~" if n < 0 else "1~")
        # By all bits of the exponent, of bases whose powers neither overflow nor vanish: errors grow with it.
        near = (rng.uniform(0.8, 1.2, (6, 1)) * np.exp(2j * np.pi * rng.random((6, 1)))).astype(d)
        for n in [1, 2, 4, 8, 16, 32, 64, 127, 85, 42, 128, 129]:
            for sign in [1, -1]:
                with mpmath.workprec(200):
                    w = np.array([[complex(mpmath.mpc(x.real, x.imag) ** (sign * n))] for [x] in near.astype("complex128")])
                case("pow", [near, float(sign * n)], w.astype(d), tol=str(16 + 4 * n))
                case("pow", [near, np.array([sign * n], d)], w.astype(d), tol=str(16 + 4 * n))
        z, w = floats("float64", (7, 1), 2) + 1j * floats("float64", (7, 1), 2), floats("float64", (1, 6), 1) + 1j * floats("float64", (1, 6), 1)
        z, w = z.astype(d), w.astype(d)
        case("pow", [z, w], (z.astype("complex128") ** w).astype(d), tol="64")
        cuts = np.array([complex(-2, 0.0), complex(-2, -0.0), 1j, -1j, 0j], d)
        for n in [0.5, -0.5, 1.5]:
            case("pow", [cuts[: 4 if n < 0 else 5], n], (cuts[: 4 if n < 0 else 5].astype("complex128") ** n).astype(d), tol="16~")
        # Powers that overflow while their reciprocals do not, and the other way round.
        steep = np.array([complex(x, y) for x in STEEP[d] for y in STEEP[d][:4]], d)
        for n in [-5.0, -2.0, -1.0, 2.0, 3.0]:
            with mpmath.workprec(200):
                w = [mpmath.mpc(z.real, z.imag) ** int(n) for z in steep.astype("complex128")]
            largest = np.finfo(d).max / 4
            kept = np.array([max(abs(x.real), abs(x.imag)) < largest for x in w])
            case("pow", [steep[kept], n], np.array([complex(x) for x, k in zip(w, kept) if k]).astype(d), tol="16~")
        steps = [2.0**60, 2.0**124, 2.0**126] if d == "complex64" else [2.0**500, 2.0**1020, 2.0**1022]
        axes = np.array([complex(x * s, y * s) for x in steps for s in [1, -1] for y in [0.0, -0.0, 1.0, x]], d)
        points = np.concatenate([*list(planes(d))[:2], axes])
        case("rsqrt", [points[points != 0]], (1 / np.sqrt(points[points != 0].astype("complex128"))).astype(d), tol="8~")


def beside_one():
    """Beside the branch points, as near and as far as a dtype goes; on the axes, where squares overflow and where not."""
    for d in ["complex64", "complex128"]:
        bottom, top = (-149, 127) if d == "complex64" else (-1074, 1023)
        # Those from which the far formulas are taken, of both signs, among them.
        far = 60 if d == "complex64" else 500
        sizes = np.exp2(np.append(np.linspace(bottom, top, 60).round(), [far, far])) * np.where(np.arange(62) % 2, 1, -1)
        points = np.array([complex(x, y) for one in [1, -1] for s in sizes for x, y in [(one, s), (s, one)]], d)
        axes = np.array([complex(x, y) for s in sizes for zero in [0.0, -0.0] for x, y in [(s, zero), (zero, s)]], d)
        for name in ["asin", "acos", "atan", "asinh", "acosh", "atanh", "log", "log1p"]:
            exact(d, name, EXACT[name], points, tol="8|")
            w = FUNCTIONS[name](axes.astype("complex128")).astype(d)
            kept = np.isfinite(w)
            case(name, [axes[kept]], w[kept], tol="8|")
        ends = np.array([complex(x, y) for x in [np.finfo(d).max, np.finfo(d).smallest_subnormal] for y in [0.0, -0.0]], d)
        case("rsqrt", [ends], (1 / np.sqrt(ends.astype("complex128"))).astype(d), tol="8")


def powers():
    """Where powers go other ways: bases of any size, exponents that are hardly whole, what is infinite or nothing."""
    for d in ["complex64", "complex128"]:
        tiny = np.finfo(d).smallest_subnormal * np.array([2, -3 + 1j, 2j])
        z = np.concatenate([of_any_size(d, 200), tiny.astype(d)])
        for w in [0.87, -0.3137, np.array([0.25 - 0.07j], d), np.array([-0.5 + 0.03j], d)]:
            # The error grows with the exponential's argument, which is at most 88 or 709.
            exact(d, "pow", lambda z: z ** mpmath.mpc(complex(np.squeeze(w))), z, w, tol="128" if d == "complex64" else "1024")
        near = np.array([1.3 - 0.4j, -0.7 + 0.6j, 1.0078125 + 0j, 2 + 1j], d)
        for w in [3 + 0.125j, 3 - 0.125j, -2 + 0.25j, -2 - 0.25j, 4 - 0.5j, 257 + 0.625j]:
            with mpmath.workprec(200):
                v = [complex(mpmath.mpc(x.real, x.imag) ** mpmath.mpc(w)) for x in near.astype("complex128")]
            case("pow", [near, np.array([w], d)], np.array(v).astype(d), tol=str(16 + 4 * int(abs(w))))
        # By definition the exponential of a product, but for whole exponents and powers of 0.
        steep = 2.0**124 if d == "complex64" else 2.0**1020
        parts = [0.0, -0.0, 1.0, -1.0, 3.0, -0.5, steep, inf, -inf, nan]
        points = np.array([complex(x, y) for x in parts for y in parts], d)
        z, w = rng.choice(points, (2, 1000))
        with np.errstate(all="ignore"):
            log = np.log(z.astype("complex128")).astype(d)
            product = np.zeros(z.shape, d)
            product.real, product.imag = w.real * log.real - w.imag * log.imag, w.real * log.imag + w.imag * log.real
            v = np.exp(product)
        v[(z == 0) & (w.real > 0)] = 0
        # C99 leaves open which infinity an exponential is at an angle that is none; here it is the positive one.
        lost = np.isinf(product.real) & ~np.isfinite(product.imag)
        v.real[lost] = np.where(product.real[lost] > 0, inf, 0)
        v.imag[lost] = np.where(product.real[lost] > 0, nan, 0)
        whole = (w.imag == 0) & (abs(w.real) < 128) & (w.real == np.floor(w.real))
        # Digits of large angles are NumPy's own.
        kept = ~whole & (~np.isfinite(v) | (v == 0)) & ~((abs(product.imag) > 100) & np.isfinite(product.imag))
        case("pow", [z[kept], w[kept]], v[kept], tol="0~")
        infinite = np.array([complex(x, y) for x in [1, -1, inf, -inf] for y in [2, -2, inf, -inf] if not np.isfinite(complex(x, y))], d)
        zeros = np.zeros(infinite.shape, d)
        zeros.real, zeros.imag = np.copysign(0, infinite.real), np.copysign(0, -infinite.imag)
        case("pow", [infinite, -1.0], zeros)


def overflowing():
    """Powers of finite numbers, infinite or nothing at an angle of a few turns."""
    for d, size in [("complex64", 1e37), ("complex128", 1e307)]:
        z, w = np.meshgrid(np.array([2 * size + 19j, 2 * size - 7j, size + 3j], d), np.array([2.5 * size + 0.5j, -2.5 * size + 0.5j, size - 0.25j], d))
        angle = w.real.astype("float64") * (z.imag / z.real).astype("float64") + w.imag * np.log(z.real.astype("float64"))
        v = np.zeros(z.shape, d)
        v.real, v.imag = (np.where(w.real > 0, inf, 0) * part for part in (np.cos(angle), np.sin(angle)))
        case("pow", [z, w], v, tol="0")


def quotients():
    """Of any size, also where a product on the way would overflow and the quotient does not."""
    for d in ["complex64", "complex128"]:
        x, y = of_any_size(d, 600), of_any_size(d, 600)
        top = np.finfo(d).max
        large = rng.choice([-1, 1, 1e-3, 0], (2, 200)) * rng.uniform(0.5, 1, (2, 200)) * top
        x[:200], y[:100] = large[0] + 1j * large[1], np.exp2(rng.uniform(0, 5, 100)) * np.exp(2j * np.pi * rng.random(100))
        with mpmath.workprec(2200):
            w = [mpmath.mpc(p.real, p.imag) / mpmath.mpc(q.real, q.imag) for p, q in zip(x.astype("complex128"), y.astype("complex128"))]
        kept = np.array([max(abs(q.real), abs(q.imag)) < top for q in w])
        case("divide", [x[kept], y[kept]], np.array([complex(q) for q, k in zip(w, kept) if k]).astype(d), tol="4~")


def matrices():
    for d, tol in [("complex64", 1e-4), ("complex128", 1e-12)]:
        def random(*shape):
            return (floats("float64", shape) + 1j * floats("float64", shape)).astype(d)
        a, b, v = (random(2, 3, 3) + 8 * np.eye(3)).astype(d), random(3, 2), random(3)
        solve = lambda a, b: np.linalg.solve(a.astype("complex128"), b.astype("complex128")).astype(d)
        case("linalg.solve", [a, b], solve(a, b), tol=f"abs:{tol}")
        case("linalg.solve", [a[0], v], solve(a[0], v), tol=f"abs:{tol}")
        for shape in [(4, 3), (3, 4), (2, 3, 3)]:
            m = random(*shape)
            q, r = np.linalg.qr(m.astype("complex128"))
            diagonal = np.diagonal(r, axis1=-2, axis2=-1)
            phase = diagonal / np.abs(diagonal)  # the diagonal of r is real and not negative
            case("linalg.qr", [m], [(q * phase[..., None, :]).astype(d), (r * phase.conj()[..., :, None]).astype(d)], [0], tol=f"abs:{tol}")
