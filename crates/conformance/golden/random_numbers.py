"""Random numbers by their definition: Philox4x32-10 of Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3"
(SC 2011), in Python's integers, and what is made of its words in NumPy's floating point."""

import math

import numpy as np

from records import case, nan

DRAW, SPLIT, FOLD = 0, 1, 2
LOW = 0xFFFFFFFF
KEYS = [np.array([1, 0], "uint32"), np.array([0xA4093822, 0x299F31D0], "uint32"), np.array([LOW, LOW], "uint32")]


def bounds(low, high):
    """The parameters of randint: the first number and how many there are, each in two words of 32 bits, the lower one first."""
    return [low & 0xFFFFFFFF, low >> 32, (high - low) & 0xFFFFFFFF, (high - low) >> 32]


def block(key, index, purpose):
    """The four words of a block."""
    c, k = [index & LOW, index >> 32 & LOW, 0, purpose], [int(key[0]), int(key[1])]
    for _ in range(10):
        x, y = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [y >> 32 ^ c[1] ^ k[0], y & LOW, x >> 32 ^ c[3] ^ k[1], x & LOW]
        k = [k[0] + 0x9E3779B9 & LOW, k[1] + 0xBB67AE85 & LOW]
    return c


def words32(key, n):
    return np.array([block(key, i // 4, DRAW)[i % 4] for i in range(n)], "uint32")


def words64(key, n):
    blocks = (block(key, i // 2, DRAW)[2 * (i % 2) :] for i in range(n))
    return np.array([low | high << 32 for low, high, *_ in blocks], "uint64")


def units(words, bits):
    """The uppermost bits of each word, as a fraction of 1."""
    return [math.ldexp(int(w) >> 8 * w.itemsize - bits, -bits) for w in words]


def normal(key, n, d):
    """Pairs from two uniforms, element by element in float64."""
    out = []
    for i in range(n):
        if d == "float64":
            w = block(key, i // 2, DRAW)
            u, v = units(np.array([w[0] | w[1] << 32, w[2] | w[3] << 32], "uint64"), 53)
        else:
            w = block(key, i // 4, DRAW)
            u, v = units(np.array(w[2:] if i & 2 else w[:2], "uint32"), 24)
        turn = math.sin if i & 1 else math.cos
        out.append(math.sqrt(-2 * math.log1p(-u)) * turn(2 * math.pi * v))
    return np.array(out)


# Keys of which two of the first 500 words of 64 bits have equal upper halves, found by trying: the lower ones decide.
TIED = [
    (2276426508, 1621772406),
    (1436013315, 1112182081),
    (215969693, 2100191240),
    (3593404990, 2209124260),
    (4188067140, 2048953523),
    (1634815071, 3374918538),
    (1698890804, 3103382092),
    (3332481586, 2439264815),
    (1164066988, 521777218),
    (3032856403, 3707803575),
    (648598750, 562139123),
    (689946678, 1669598671),
    (1605706712, 1417379166),
    (415027132, 1354024381),
    (3875670579, 3531790293),
    (3029646004, 1158193159),
]


def cases(number):
    for pair in TIED:
        key = np.array(pair, "uint32")
        words = words64(key, 500)
        assert len(set(words >> np.uint64(32))) < 500
        case("random.permutation", [key], np.argsort(words, kind="stable").astype("int32"), [500])
    # Behind counters of 127, in one piece.
    key, n = KEYS[1], 700
    case("random.bits", [key], words32(key, n), [1, n, nan])
    case("random.normal", [key], normal(key, n, "float32").astype("float32"), [1, n, nan], [0, 1], tol="abs:4e-6")
    case("random.uniform", [key], np.array(units(words32(key, n), 24), "float32"), [1, n, nan], [0, 1])
    case("random.randint", [key], np.array([block(key, i, DRAW)[3] >> 22 for i in range(200)], "int32"), [1, 200, nan], bounds(0, 1024))
    case("random.split", [key], np.array([block(key, i, SPLIT)[:2] for i in range(200)], "uint32"), [200])
    for key in KEYS:
        for n in [0, 7, 2**32 + 1, 2**53 - 1, 0x1F2E3D4C5B6A79]:
            case("random.fold", [key], np.array(block(key, n, FOLD)[:2], "uint32"), [], [n])
        case("random.split", [key], np.array([block(key, i, SPLIT)[:2] for i in range(9)], "uint32"), [9])
        case("random.bits", [key], words32(key, 12).reshape(3, 4), [2, 3, 4, nan])
        case("random.bits", [key], words64(key, 7), [1, 7, number["uint64"]])
        for low, high in [(0, 10), (-7, 2**53 - 1), (-(2**63), 2**63 - 1024)]:
            def draw(i):
                bits = sum(w << 32 * k for k, w in enumerate(block(key, i, DRAW)))
                return low + (bits * (high - low) >> 128)
            for d in ["int64", "uint8"]:
                values = np.array([draw(i) for i in range(40)], "int64").astype(d)
                case("random.randint", [key], values.reshape(8, 5), [2, 8, 5, number[d]], bounds(low, high))
        for d, wide, bits in [("float16", "float32", 11), ("float32", "float32", 24), ("float64", "float64", 53)]:
            words = words64(key, 40) if d == "float64" else words32(key, 40)
            u = np.array(units(words, bits), wide)
            # The last is so narrow that scaling rounds up to its end, which it leaves out.
            for low, high in [(0.0, 1.0), (-2.5, 0.1), (1.0, 1.0 + float(np.finfo(d).eps))]:
                a, b = np.array(low, wide), np.array(high, wide)
                x = (a + u * (b - a)).astype(d)
                case("random.uniform", [key], np.where(x < b.astype(d), x, a.astype(d)), [1, 40, number[d]], [low, high])
            for mean, deviation in [(0.0, 1.0), (-3.0, 0.25)]:
                x = mean + deviation * normal(key, 40, d)
                tol = {"float16": 2e-3, "float32": 1e-6, "float64": 2e-15}[d] * (abs(mean) + 3 * deviation)
                case("random.normal", [key], x.reshape(4, 10).astype(d), [2, 4, 10, number[d]], [mean, deviation], tol=f"abs:{tol!r}")
