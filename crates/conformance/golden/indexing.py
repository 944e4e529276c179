"""Writes indexing.txt.gz: NumPy's answers to random index expressions, which `__test__/numpy-indexing.test.ts` replays.

Run in a virtual environment outside the repository with numpy 2.4:
    python golden/indexing.py golden/indexing.txt.gz

One line for each expression, fields separated by tabs; the indexed array is int32, its elements 0, 1, 2, ... in row-major order:
    SHAPE  ITEMS  ANSWER                what x[items] gives
    SHAPE  ITEMS  ANSWER  VALUE AFTER   and x after x[items] = value, of shape VALUE and elements 1000, 1001, ...
A shape is 2x3, '.' for rank 0. ANSWER is 'error', or a shape, a blank and the hash of the elements; AFTER is a hash: the first 64
bits of SHA-1 over the int32 bytes, in base64. Items are separated by blanks:
    2  -1  1:3  ::-1  n  ...            a position, slices, a new axis (null), an ellipsis
    a[[0,1],[2,0]]  b[1,0]  b1          nested arrays of numbers, of booleans, a boolean
    vint8=1,-2                          a typed array
    tint8:2x1=1,-2  m:2x2=1001          a tensor of integers, of booleans

A position out of range is an error here wherever it stands; NumPy ignores some that are broadcast to nothing, and expressions in
which it does are left out. Later updates win, in row-major order of the result; NumPy's own assignment is compared with that.
"""

import base64
import gzip
import hashlib
import json
import random
import sys

import numpy as np

COUNT = 20_000
rng = random.Random(20261122)
chance = lambda p: rng.random() < p
INTS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"]


def dims(shape):
    return "x".join(map(str, shape)) or "."


def hashed(a):
    digest = hashlib.sha1(np.ascontiguousarray(a, "<i4").tobytes()).digest()[:8]
    return base64.b64encode(digest).decode().rstrip("=")


def positions(size, shape, bad):
    """Random positions along an axis; some out of range if asked for."""
    a = np.array([rng.randrange(-size, size) if size else 0 for _ in range(int(np.prod(shape)))], int).reshape(shape)
    if bad and a.size:
        a.flat[rng.randrange(a.size)] = rng.choice([size, -size - 1, size + 5])
    return a


def written(a):
    """An index array as one of the forms users have for it."""
    form = rng.random()
    if form < 0.4 and a.ndim and 0 not in a.shape[:-1]:
        return "a" + json.dumps(a.tolist(), separators=(",", ":"))
    fits = [d for d in INTS if a.size == 0 or (np.iinfo(d).min <= a.min() and a.max() <= np.iinfo(d).max)]
    d, values = rng.choice(fits), ",".join(map(str, a.flat))
    return f"v{d}={values}" if form < 0.55 and a.ndim == 1 else f"t{d}:{dims(a.shape)}={values}"


def written_mask(m):
    if chance(0.5) and m.size:
        return "b" + json.dumps(m.astype(int).tolist(), separators=(",", ":"))
    return f"m:{dims(m.shape)}={''.join('1' if v else '0' for v in m.flat)}"


def mask(shape, count):
    """A mask with this many true elements, where there are as many; any number if None."""
    m = np.array([chance(0.5) for _ in range(int(np.prod(shape)))], bool)
    if count is not None:
        m[:] = False
        m[rng.sample(range(m.size), min(count, m.size))] = True
    return m.reshape(shape)


def slice_of(size):
    bound = lambda: None if chance(0.4) else rng.randrange(-size - 2, size + 3)
    start, stop, step = bound(), bound(), rng.choice([None, None, 1, 2, -1, -1, -2, 3])
    # Most select something.
    while not range(size)[start:stop:step] and size and chance(0.97):
        start, stop, step = bound(), bound(), rng.choice([None, None, 1, 2, -1, -1, -2, 3])
    text = f"{'' if start is None else start}:{'' if stop is None else stop}{'' if step is None else f':{step}'}"
    return slice(start, stop, step), text


def expression():
    """A shape, NumPy's index, its text, and whether a position is out of range."""
    shape = tuple(0 if chance(0.03) else rng.choice([1, 2, 2, 3, 3, 4, 5]) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 3, 3, 4, 5])))
    # What index arrays broadcast to.
    batch = tuple(0 if chance(0.03) else rng.randrange(1, 4) for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3])))
    basic_only = chance(0.12)
    index, text, bad = [], [], False
    add = lambda value, word: (index.append(value), text.append(word))
    axis, dots = 0, False
    while True:
        if chance(0.1):
            add(None, "n")
        if not dots and chance(0.12):
            dots = True
            add(Ellipsis, "...")
            axis += rng.randrange(0, len(shape) - axis + 1)
        # What follows an ellipsis names all axes behind it.
        if axis >= len(shape) or (not dots and chance(0.12)):
            break
        size, kind = shape[axis], rng.random()
        if basic_only:
            kind *= 0.45
        wrong = chance(0.015)
        if kind < 0.2:
            position = int(positions(size, (1,), wrong)[0])
            add(position, str(position))
        elif kind < 0.45:
            add(*slice_of(size))
        elif kind < 0.8:
            own = batch[rng.randrange(len(batch) + 1) :] if chance(0.4) else batch
            own = tuple(1 if chance(0.2) else n for n in own)
            if chance(0.01):
                own = (4,)
            a = positions(size, own, wrong)
            add(a, written(a))
            wrong |= size == 0 and a.size > 0
        elif kind < 0.98:
            under = shape[axis : axis + rng.choice([1, 1, 2, len(shape)])]
            if wrong:
                under = tuple(n + rng.randrange(2) for n in under)
            # Beside other indices its number of true elements has to fit.
            alone = not any(isinstance(i, np.ndarray) for i in index) and chance(0.5)
            m = mask(under, None if alone else rng.choice([1, batch[-1] if batch else 1]))
            add(m, written_mask(m))
            axis += len(under) - 1
        else:
            value = chance(0.7)
            add(value, f"b{int(value)}" if chance(0.5) else f"m:.={int(value)}")
            axis -= 1
        bad |= wrong
        axis += 1
    if chance(0.01):
        add(0, "0")
    return shape, tuple(index), " ".join(text) or "...", bad


def line():
    shape, index, text, bad = expression()
    x = np.arange(int(np.prod(shape)), dtype="int32").reshape(shape)
    try:
        got = np.asarray(x[index or Ellipsis])
    except IndexError:
        # A mask counts as the positions of its true elements.
        arrays = [np.asarray(i) for i in index if isinstance(i, (np.ndarray, bool))]
        counts = [(np.count_nonzero(a),) if a.dtype == bool else a.shape for a in arrays]
        nothing = any(0 in shape for shape in counts)
        return None if bad and nothing else (dims(shape), text, "error")
    if bad:
        return None
    fields = (dims(shape), text, f"{dims(got.shape)} {hashed(got)}")
    if rng.randrange(3) > 0:
        return fields
    own = got.shape[rng.randrange(got.ndim + 1) :] if chance(0.5) else got.shape
    own = tuple(1 if chance(0.2) else n for n in own)
    value = 1000 + np.arange(int(np.prod(own)), dtype="int32").reshape(own)
    after, assigned = x.copy(), x.copy()
    for at, v in zip(got.flat, np.broadcast_to(value, got.shape).flat):
        after.flat[at] = v
    assigned[index or Ellipsis] = value
    if not np.array_equal(after, assigned):
        raise SystemExit(f"NumPy assigns in another order: shape {shape}, items {text}")
    return (*fields, f"{dims(own)} {hashed(after)}")


lines = {}
while len(lines) < COUNT:
    fields = line()
    if fields is not None:
        lines.setdefault(fields[:2], "\t".join(fields))
data = gzip.compress(("\n".join(lines.values()) + "\n").encode(), 9, mtime=0)
with open(sys.argv[1], "wb") as out:
    out.write(data)
errors = sum(text.endswith("\terror") for text in lines.values())
print(f"{COUNT} expressions, {errors} errors, {len(data)} bytes")
