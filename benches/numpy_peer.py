"""NumPy's side of the benches: answers JSON lines. {operands, numbers} names an npz file of arrays and gives numbers, which expressions
may use, with `np`, `windows` and `rng`; {expression, seconds} is answered with the time of the median evaluation and a checksum."""

import json
import sys
import time

import numpy as np

NAMES = {"np": np, "windows": np.lib.stride_tricks.sliding_window_view, "rng": np.random.default_rng(1)}
names = dict(NAMES)
checksums = {}


def load(operands, numbers):
    names.clear()
    checksums.clear()
    with np.load(operands) as arrays:
        names.update(NAMES, **numbers, **arrays)
    return {}


def checksum(result):
    # As checksum() in beside_numpy.ts.
    total = 0.0
    for part in result if isinstance(result, (tuple, list)) else (result,):
        flat = np.asarray(part).ravel()
        flat = flat.astype(np.complex128).view(np.float64) if np.iscomplexobj(flat) else flat.astype(np.float64)
        total += float((np.where(flat < 0, -flat, 3 * flat) * (np.arange(flat.size) % 97 + 1)).sum())
    # JSON has no other numbers.
    return total if np.isfinite(total) else None


def settle():
    # The threads of its BLAS spin for some 0.1 s after a product, and would take a core from whoever has the next turn.
    used = -1.0
    while time.process_time() - used > 2e-4:
        used = time.process_time()
        time.sleep(2e-3)


def measure(expression, seconds):
    function = eval(f"lambda: {expression}", names)
    times = []
    first = time.perf_counter()
    # As repeat() in race.ts.
    while time.perf_counter() < first + (seconds if len(times) >= 3 else max(seconds, 1)):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    settle()
    times.sort()
    if expression not in checksums:
        checksums[expression] = checksum(result)
    return {"seconds": times[len(times) // 2], "checksum": checksums[expression]}


np.seterr(all="ignore")
print(json.dumps({"version": np.__version__}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = load(**request) if "operands" in request else measure(**request)
    except Exception as error:
        answer = {"error": repr(error)}
    print(json.dumps({**answer, "cpu": time.process_time()}), flush=True)
