"""The records of golden.txt.gz, and the numbers its cases are made of.

Format, one record a line, fields separated by blanks:
    array DTYPE DIMS HEX               an array, numbered from 0: shape as 2x3 ('.' for rank 0), little-endian elements in
                                       hexadecimal ('-' for none)
    case NAME ATTRS NUMBERS            the row; attribute words and run-time numbers, comma-separated ('-' for none)
    in ARRAY                           an operand
    weak KIND VALUE                    number, bigint or boolean in an operand's place
    absent                             an operand left out
    out ARRAY ULPS                     an expected output, ULPS: allowed units in the last place ('8~': and zeros of either
                                       sign, '8|': of each part of a complex number by itself), or 'abs:X' (absolute)
    fails                              instead of outputs: the call names a position out of range
    promote A B C                      the promoted dtype of two (array API table; '!' for an error)
"""

import gzip
import math

import numpy as np

lines = []

rng = np.random.default_rng(20260401)
nan, inf = math.nan, math.inf
FLOATS = ["float16", "float32", "float64"]
INTS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
# How attributes say a dtype.
NUMBER = {name: i for i, name in enumerate(["bool", *INTS, "float16", "bfloat16", "float32", "float64", "complex64", "complex128"])}


def put(*fields):
    lines.append(" ".join(str(f) for f in fields))


def write(path):
    data = gzip.compress(("\n".join(lines) + "\n").encode(), 9, mtime=0)
    with open(path, "wb") as out:
        out.write(data)


def dims(a):
    return "x".join(str(d) for d in a.shape) if a.ndim else "."


def hexed(a):
    data = np.ascontiguousarray(a).tobytes()
    return data.hex() if data else "-"


def words(values):
    return ",".join(repr(float(v)) for v in values) or "-"


pool = {}


def array(a):
    key = (a.dtype.name, dims(a), hexed(a))
    if key not in pool:
        pool[key] = len(pool)
        put("array", *key)
    return pool[key]


def case(name, ins, outs, attrs=(), numbers=(), tol="0"):
    outs = [np.asarray(o) for o in (outs if isinstance(outs, (list, tuple)) else [outs])]
    for a in [x for x in ins if isinstance(x, np.ndarray)] + outs:
        array(a)
    call(name, ins, attrs, numbers)
    for o in outs:
        put("out", array(o), tol)


def out_of_range(name, ins, attrs=(), numbers=()):
    for a in [x for x in ins if x is not None]:
        array(a)
    call(name, ins, attrs, numbers)
    put("fails")


def exactly(name, ins, out, d, attrs=()):
    """An answer in Python's integers, or a call that fails where the dtype does not hold all of it."""
    out, info = np.asarray(out, object), np.iinfo(d)
    if all(int(info.min) <= v <= int(info.max) for v in out.flat):
        case(name, ins, out.astype(d), attrs)
    else:
        out_of_range(name, ins, attrs)


def call(name, ins, attrs, numbers):
    put("case", name, words(attrs), words(numbers))
    for x in ins:
        if x is None:
            put("absent")
        elif isinstance(x, bool):
            put("weak boolean", int(x))
        elif isinstance(x, int):
            put("weak bigint", x)
        elif isinstance(x, float):
            put("weak number", repr(float(x)))
        else:
            put("in", array(x))


def floats(d, shape, scale=4.0):
    return (rng.standard_normal(shape) * scale).astype(d)


def edges(d):
    f = np.finfo(d)
    v = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, 7, -7, inf, -inf, nan, f.max, f.min, f.tiny, f.smallest_subnormal]
    return np.array(v).astype(d)


def ints(d, shape):
    low = 0 if d.startswith("u") else -20
    return rng.integers(low, 20, shape).astype(d)


def int_edges(d):
    i = np.iinfo(d)
    return np.array(sorted({i.min, i.min + 1, 0, 1, 2, 3, 7, i.max - 1, i.max} | ({-1, -2, -7} if i.min < 0 else set())), d)


def total(d):
    """The dtype of sums."""
    return {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}.get(d, d)


def added(x):
    """An operand of a product whose places are added: small integers multiply and add up in 32 bits."""
    return x.astype(total(x.dtype.name))


def data(d):
    if d == "bool":
        return np.array([True, False, True])
    return np.concatenate([edges(d), floats(d, 6)]) if d in FLOATS else np.concatenate([int_edges(d), ints(d, 4)])


def grid(a):
    x, y = np.meshgrid(a, a)
    return x.ravel().copy(), y.ravel().copy()


def to_float(d):
    return d if d in FLOATS else "float32"
