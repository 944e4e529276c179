"""Products, norms, factors, eigenvalues and singular values: NumPy's and SciPy's answers, factors with the signs this library
gives them."""

import numpy as np
import scipy.linalg

from records import added, case, inf, nan, rng

ORDS = ["fro", "nuc", 1, -1, 2, -2, inf, -inf]
COND_ORDS = [2, -2, "fro", "nuc", 1, -1, inf, -inf]
TOLERANCE = {"float32": 1e-4, "float64": 1e-11, "complex64": 3e-4, "complex128": 1e-11}
FLOATS = list(TOLERANCE)
REAL = {"float32": "float32", "float64": "float64", "complex64": "float32", "complex128": "float64"}
WIDE = {"float32": "complex64", "float64": "complex128", "complex64": "complex64", "complex128": "complex128"}


def normal(d, shape):
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if d.startswith("c") else x).astype(d)


def whole(d, shape):
    if d.startswith("c"):
        return (rng.integers(-4, 5, shape) + 1j * rng.integers(-4, 5, shape)).astype(d)
    return rng.integers(-4 if d[0] != "u" else 0, 5, shape).astype(d)


def wide(x):
    return x.astype("complex128" if np.iscomplexobj(x) else "float64")


def close(d):
    return f"abs:{TOLERANCE[d]}"


def settled(v):
    """Columns times what makes the first of their largest entries real and positive, and those factors."""
    size = np.abs(v)
    at = np.argmax(size > size.max(-2, keepdims=True) * (1 - 1e-9), axis=-2)
    most = np.take_along_axis(v, at[..., None, :], -2)
    by = np.conj(most) / np.abs(most)
    return v * by, by


def products():
    for d in ["int8", "uint32", "int64", "float16"] + FLOATS:
        x, y = whole(d, (2, 3, 4)), whole(d, (3, 4))
        case("vecdot", [x, y], np.vecdot(added(x), added(y)), [-1])
        case("vecdot", [y, x], np.vecdot(added(y), added(x)), [-1])
        case("vecdot", [x, x[::-1].copy()], np.vecdot(added(x), added(x)[::-1], axis=1), [1])
        case("vecdot", [x, y], np.vecdot(added(x), added(y), axis=-2), [-2])
        u, v = whole(d, (2, 4, 3)), whole(d, (4, 3))
        case("cross", [u, v], np.cross(u, v), [-1])
        u, v = whole(d, (3, 2)), whole(d, (3, 2))
        case("cross", [u, v], np.cross(u, v, axis=0), [0])
        case("outer", [x[0, 0].copy(), y[:, 0].copy()], np.outer(x[0, 0], y[:, 0]))
        case("inner", [x, y], np.inner(added(x), added(y)))
        case("inner", [y[0].copy(), y[1].copy()], np.asarray(np.inner(added(y[0]), added(y[1]))))
        case("inner", [x, np.asarray(y[0, 1])], np.inner(added(x), added(y[0, 1])))
        for a, b in [((3,), (4,)), ((2, 3), (3, 2)), ((2, 1, 2), (3,)), ((), (2, 2)), ((2,), (2, 3))]:
            a, b = whole(d, a), whole(d, b)
            case("kron", [a, b], np.kron(a, b))



    # Fractions: half floats multiply and add in float32 and round once; complex numbers in any order.
    for d in ["float16"] + FLOATS:
        x, y = normal(d, (4, 5)), normal(d, (4, 5))
        up = (lambda a: a.astype("float32")) if d == "float16" else wide
        tol = "1" if d == "float16" else close(d)
        case("vecdot", [x, y], np.vecdot(up(x), up(y)).astype(d), [-1], tol=tol)
        x, y = normal(d, (4, 3)), normal(d, (4, 3))
        case("cross", [x, y], np.cross(up(x), up(y)).astype(d), [-1], tol="2" if d == "float16" else close(d))


def diagonals(number, total):
    for d in ["bool", "int8", "uint16", "int64", "float16"] + FLOATS:
        x = whole(d if d != "bool" else "int8", (2, 3, 4)).astype(d)
        for k in [0, 1, 3, 4, 9, -1, -2, -3]:
            case("diagonal", [x], np.linalg.diagonal(x, offset=k), [k])
            t = total(d)
            case("trace", [x], np.linalg.trace(x, offset=k, dtype=t), [k, nan])
            case("diag", [x[0].copy()], np.diag(x[0], k), [k])
        for k in [0, 2, -1]:
            case("diag", [x[0, 0].copy()], np.diag(x[0, 0], k), [k])
    for d in ["float16", "float32", "complex64"]:
        x = normal(d, (5, 5))
        case("trace", [x], np.asarray(np.trace(wide(x))).astype(d), [0, nan], tol="1" if d == "float16" else "abs:1e-5")
    for d in ["uint16", "int32", "int64"]:
        x = whole("int8", (3, 3)).astype(d) + np.array(30001, d)
        case("trace", [x], np.trace(x, dtype=total(d)), [0, nan])
    x = whole("int8", (3, 3))
    case("trace", [x], np.asarray(np.trace(x, dtype="float64")), [0, number["float64"]])


def norms():
    for d in FLOATS:
        x, r = normal(d, (2, 3, 4)), REAL[d]
        # Roots of sums of powers, by a few units.
        for p in [2, 1, 0, inf, -inf, 3, 0.5, -1.5]:
            for axis, keep in [(None, 0), ((1,), 1), ((2, 0), 0)]:
                y = np.linalg.vector_norm(wide(x), ord=p, axis=axis, keepdims=bool(keep))
                words = [-1] if axis is None else [len(axis), *axis]
                case("linalg.vectorNorm", [x], np.asarray(y).astype(r), [*words, keep, p], tol="64")
        for n, p in enumerate(ORDS):
            for keep in [0, 1]:
                y = np.linalg.matrix_norm(wide(x), ord=p, keepdims=bool(keep))
                case("linalg.matrixNorm", [x], y.astype(r), [keep, n], tol=close(d))
        x = normal(d, (2, 3, 3)) + 2 * np.eye(3, dtype=d)
        for n, p in enumerate(COND_ORDS):
            case("linalg.cond", [x], np.linalg.cond(wide(x), p).astype(r), [n], tol=f"abs:{100 * TOLERANCE[d]}")
        x = normal(d, (4, 3))
        case("linalg.cond", [x], np.asarray(np.linalg.cond(wide(x))).astype(r), [0], tol=f"abs:{10 * TOLERANCE[d]}")
        # Singular ones beside others, by their last pivot.
        x = np.array([[[1, 0, 0], [0, 2, 4], [0, 1, 2]], [[2, 0, 0], [0, 8, 0], [0, 0, 4]], [[1, 0, 1], [0, 4, 0], [1, 0, 2]]], d)
        for n, p in [(n, p) for n, p in enumerate(COND_ORDS) if p not in (2, -2, "nuc")]:
            case("linalg.cond", [x], np.linalg.cond(wide(x), p).astype(REAL[d]), [n], tol=f"abs:{100 * TOLERANCE[d]}")
        case("linalg.cond", [np.zeros((1, 1), d)], np.asarray(inf).astype(REAL[d]), [4])
        case("linalg.cond", [np.zeros((2, 2), d)], np.asarray(inf).astype(r), [0])
    # Zeros, infinities and NaN.
    x = np.array([[0, 0, 0], [1, -inf, 2], [nan, 1, 0], [0, 3, -4]], "float64")
    for p in [2, 1, 0, inf, -inf, 3, 0.5, -1.5]:
        case("linalg.vectorNorm", [x], np.linalg.vector_norm(x, ord=p, axis=1), [1, 1, 0, p], tol="8")
    case("linalg.vectorNorm", [np.array([3, -4], "int16")], np.array(5, "float32"), [-1, 0, 2])


def inverses():
    for d in FLOATS:
        for shape in [(1, 1), (3, 3), (2, 4, 4)]:
            x = normal(d, shape)
            case("linalg.inv", [x], np.linalg.inv(wide(x)).astype(d), tol=f"abs:{30 * TOLERANCE[d]}")
            x = (x + 2 * np.eye(shape[-1])).astype(d)
            for n in [0, 1, 2, 5, 8, -1, -3]:
                y = np.linalg.matrix_power(wide(x), n)
                tol = 30 * TOLERANCE[d] * max(1, float(np.abs(y).max()))
                case("linalg.matrixPower", [x], y.astype(d), [n], tol=f"abs:{tol}")


def factors():
    for d in FLOATS:
        for shape in [(1, 1), (3, 3), (2, 4, 4)]:
            n = shape[-1]
            a = normal(d, shape)
            h = (wide(a) @ wide(a).conj().swapaxes(-1, -2) + np.eye(n)).astype(d)
            # Only one triangle is read, and of its diagonal the real part.
            other = normal(d, shape)
            im = 1j * rng.standard_normal(shape) * np.eye(n) if d.startswith("c") else 0
            lower, upper = np.linalg.cholesky(wide(h)), np.linalg.cholesky(wide(h), upper=True)
            case("linalg.cholesky", [(np.tril(h) + np.triu(other, 1) + im).astype(d)], lower.astype(d), [0], tol=close(d))
            case("linalg.cholesky", [(np.triu(h) + np.tril(other, -1) + im).astype(d)], upper.astype(d), [1], tol=close(d))
        for shape in [(1, 1), (3, 3), (4, 4), (5, 3), (3, 5), (2, 4, 4)]:
            a = normal(d, shape)
            p, l, u = scipy.linalg.lu(wide(a))
            case("linalg.lu", [a], [p.astype(d), l.astype(d), u.astype(d)], tol=close(d))
        for shape in [(1, 1), (2, 2), (3, 3), (4, 4), (2, 5, 5)]:
            a = normal(d, shape)
            case("linalg.det", [a], np.asarray(np.linalg.det(wide(a))).astype(d), tol=f"abs:{10 * TOLERANCE[d]}")
            s, y = np.linalg.slogdet(wide(a))
            s, y = np.asarray(s).astype(d), np.asarray(y).astype(REAL[d])
            case("linalg.slogdet", [a], [s, y], tol=f"abs:{10 * TOLERANCE[d]}")
        for a in [np.zeros((2, 2), d), np.ones((3, 3), d), np.array([[0, 1], [0, 2]], d)]:
            case("linalg.det", [a], np.zeros((), d))
            case("linalg.slogdet", [a], [np.zeros((), d), np.array(-inf, REAL[d])])
            p, l, u = scipy.linalg.lu(a)
            case("linalg.lu", [a], [p.astype(d), l, u], tol="0~")
        case("linalg.det", [np.zeros((0, 0), d)], np.ones((), d))
        if not d.startswith("c"):
            case("linalg.slogdet", [np.full((2, 2), nan, d)], [np.array(nan, d), np.array(nan, d)])
        for shape in [(1, 1), (3, 3), (4, 4)]:
            a, b = (normal(d, shape) + 3 * np.eye(shape[-1])).astype(d), normal(d, (shape[-1], 2))
            for upper in [0, 1]:
                for unit in [0, 1]:
                    for transposed in [0, 1]:
                        kw = dict(lower=not upper, unit_diagonal=bool(unit), trans=transposed)
                        tol = f"abs:{100 * TOLERANCE[d]}"
                        y = scipy.linalg.solve_triangular(wide(a), wide(b), **kw).astype(d)
                        case("linalg.solveTriangular", [a, b], y, [upper, unit, transposed], tol=tol)
            case("linalg.solveTriangular", [a, b[:, 0].copy()], scipy.linalg.solve_triangular(wide(a), wide(b[:, 0]), lower=True).astype(d), [0, 0, 0], tol=close(d))
        for shape, scale in [((1, 1), 1), ((3, 3), 0.1), ((4, 4), 1), ((3, 3), 4), ((2, 2, 2), 1)]:
            a = (normal(d, shape) * scale).astype(d)
            y = scipy.linalg.expm(wide(a))
            tol = 4 * TOLERANCE[d] * max(1, float(np.abs(y).max()))
            case("linalg.expm", [a], y.astype(d), tol=f"abs:{tol}")


def eigenvalues():
    for d in FLOATS:
        for shape in [(1, 1), (2, 2), (4, 4), (2, 3, 3)]:
            n = shape[-1]
            a = normal(d, shape)
            for upper in [0, 1]:
                w, v = np.linalg.eigh(wide(a), UPLO="LU"[upper])
                case("linalg.eigh", [a], [w.astype(REAL[d]), settled(v)[0].astype(d)], [upper], tol=f"abs:{10 * TOLERANCE[d]}")
                case("linalg.eigvalsh", [a], w.astype(REAL[d]), [upper], tol=close(d))
            w, v = np.linalg.eig(wide(a).astype("complex128"))
            # Conjugates' real parts are equal, but for rounding.
            order = np.lexsort((w.imag, w.real.round(9)), axis=-1)
            w, v = np.take_along_axis(w, order, -1), np.take_along_axis(v, order[..., None, :], -1)
            c = WIDE[d]
            case("linalg.eig", [a], [w.astype(c), settled(v)[0].astype(c)], tol=f"abs:{30 * TOLERANCE[d]}")
            case("linalg.eigvals", [a], w.astype(c), tol=f"abs:{30 * TOLERANCE[d]}")


def singular_values():
    for d in FLOATS:
        for shape in [(1, 1), (3, 3), (5, 3), (3, 5), (2, 4, 4), (3, 2), (2, 3)]:
            a = normal(d, shape)
            for full in [0, 1]:
                m, n = shape[-2:]
                # What is left of more than one dimension has no basis of its own.
                if full and abs(m - n) > 1:
                    continue
                u, s, vh = np.linalg.svd(wide(a), full_matrices=bool(full))
                v, by = settled(vh.conj().swapaxes(-1, -2))
                k = min(m, n)
                u = np.concatenate([u[..., :k] * by[..., :k], settled(u[..., k:])[0] if u.shape[-1] > k else u[..., k:]], -1)
                tol = f"abs:{10 * TOLERANCE[d]}"
                case("linalg.svd", [a], [u.astype(d), s.astype(REAL[d]), v.conj().swapaxes(-1, -2).astype(d)], [full], tol=tol)
            case("linalg.svdvals", [a], np.linalg.svdvals(wide(a)).astype(REAL[d]), tol=close(d))
            for rtol in [nan, 0.4]:
                rcond = {} if rtol != rtol else {"rtol": rtol}
                tol = f"abs:{30 * TOLERANCE[d]}"
                case("linalg.pinv", [a], np.linalg.pinv(wide(a), **rcond).astype(d), numbers=[rtol], tol=tol)
                case("linalg.matrixRank", [a], np.asarray(np.linalg.matrix_rank(wide(a), **rcond)).astype("int32"), numbers=[rtol])
        # Of rank 2, but for rounding.
        a = (normal(d, (5, 2)) @ normal(d, (2, 4))).astype(d)
        case("linalg.matrixRank", [a], np.array(2, "int32"), numbers=[nan])
        case("linalg.pinv", [a], np.linalg.pinv(wide(a), rtol=1e-5).astype(d), numbers=[nan], tol=f"abs:{100 * TOLERANCE[d]}")
        case("linalg.matrixRank", [np.zeros((2, 3), d)], np.array(0, "int32"), numbers=[nan])
        case("linalg.pinv", [np.zeros((2, 3), d)], np.zeros((3, 2), d), numbers=[nan], tol="0~")
        for a, b in [((3, 3), (3, 2)), ((5, 3), (5,)), ((5, 3), (5, 2)), ((3, 5), (3, 2)), ((2, 4, 3), (4, 2))]:
            a, b = normal(d, a), normal(d, b)
            for rtol in [1e-6, 0.4]:
                wa, wb = wide(a), wide(b)
                column = wb[:, None] if wb.ndim == 1 else wb
                x = np.linalg.pinv(wa, rtol=rtol) @ column
                r = (np.abs(column - wa @ x) ** 2).sum(-2)
                if wb.ndim == 1:
                    x, r = x[..., 0], r[..., 0]
                outs = [x.astype(d), np.asarray(r).astype(REAL[d]), np.asarray(np.linalg.matrix_rank(wa, rtol=rtol)).astype("int32"), np.linalg.svdvals(wa).astype(REAL[d])]
                case("linalg.lstsq", [a, b], outs, numbers=[rtol], tol=f"abs:{100 * TOLERANCE[d]}")
        zeros, b = np.zeros((3, 2), d), whole(d, (3, 2))
        outs = [np.zeros((2, 2), d), (np.abs(wide(b)) ** 2).sum(0).astype(REAL[d]), np.array(0, "int32"), np.zeros(2, REAL[d])]
        case("linalg.lstsq", [zeros, b], outs, numbers=[nan], tol="2~")


def cases(number, total):
    products()
    diagonals(number, total)
    norms()
    inverses()
    factors()
    eigenvalues()
    singular_values()


def degenerate():
    """Least squares and pseudo-inverses of matrices with one singular value, or as many columns as right-hand sides."""
    for d in FLOATS:
        # Of one singular value, which is 0: the largest one is not that of none.
        for shape in [(1, 1), (1, 3), (2, 1)]:
            a = np.zeros(shape, d)
            case("linalg.matrixRank", [a], np.array(0, "int32"), numbers=[nan])
            case("linalg.pinv", [a], np.zeros(shape[::-1], d), numbers=[nan], tol="0~")
            b = whole(d, shape[:1])
            outs = [np.zeros(shape[1], d), np.asarray((np.abs(wide(b)) ** 2).sum()).astype(REAL[d]), np.array(0, "int32"), np.zeros(1, REAL[d])]
            case("linalg.lstsq", [a, b], outs, numbers=[nan], tol="2~")
        a, b = normal(d, (3, 3)), normal(d, (3, 3))
        x = np.linalg.pinv(wide(a)) @ wide(b)
        outs = [x.astype(d), np.zeros(3, REAL[d]), np.array(3, "int32"), np.linalg.svdvals(wide(a)).astype(REAL[d])]
        case("linalg.lstsq", [a, b], outs, numbers=[nan], tol=f"abs:{1000 * TOLERANCE[d]}")
