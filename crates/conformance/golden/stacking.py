"""Ways to stack, least ranks, mirror images and windows as an axis."""

import numpy as np

from arrays import ALL, some
from records import case


STACKS = [("hstack", np.hstack), ("vstack", np.vstack), ("dstack", np.dstack), ("columnStack", np.column_stack)]
# Shapes that each of them takes, beside those that all take.
FITTING = {
    "hstack": [[(3,), (4,)], [(2, 3), (2, 1)], [(2, 1, 2), (2, 3, 2)]],
    "vstack": [[(3,), (2, 3)], [(2, 3), (1, 3)], [(1, 2, 2), (3, 2, 2)]],
    "dstack": [[(3,), (1, 3, 2)], [(2, 3), (2, 3)], [(2, 3, 1), (2, 3, 4)]],
    "columnStack": [[(3,), (3, 2)], [(2, 3), (2, 1)], [(2, 1, 2), (2, 3, 2)]],
}


def stacks():
    for d in ALL + ["complex64", "complex128"]:
        for name, fn in STACKS:
            for shapes in [[(), ()], [(2,)], [(3,), (3,), (3,)], *FITTING[name]]:
                parts = [np.asarray(some(d, shape)) for shape in shapes]
                case(name, parts, fn(parts))
        for name, fn in [("atleast1d", np.atleast_1d), ("atleast2d", np.atleast_2d), ("atleast3d", np.atleast_3d)]:
            for shape in [(), (3,), (2, 3), (2, 3, 2), (2, 1, 2, 2)]:
                x = np.asarray(some(d, shape))
                case(name, [x], fn(x))
        for shape in [(2, 3), (3, 2, 2)]:
            x = np.asarray(some(d, shape))
            case("fliplr", [x], np.fliplr(x))
            case("flipud", [x], np.flipud(x))
        for shape, axis, size, step in [((7,), 0, 3, 2), ((5,), -1, 5, 1), ((4, 6), 1, 2, 3), ((4, 6), 0, 3, 1), ((2, 5, 3), 1, 1, 4), ((2, 5, 3), 1, 4, 1)]:
            x = np.asarray(some(d, shape))
            seen = np.lib.stride_tricks.sliding_window_view(x, size, axis)
            every = tuple(slice(None, None, step if a == axis % x.ndim else None) for a in range(x.ndim))
            case("unfold", [x], seen[every], [axis, size, step])
    for name, fn in STACKS:
        parts = [np.array([[-601, 2]], "int16"), np.array([[257, 4]], "int32"), np.array([[0.5, 7]], "float64")]
        case(name, parts, fn(parts))
