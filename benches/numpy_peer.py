"""NumPy's side of maps.bench.ts: reads {name, size, seconds} as JSON lines, answers with the median call and a checksum."""

import json
import sys
import time

import numpy as np

CASES = {
    "exp": (1, np.exp),
    "tanh": (1, np.tanh),
    "add": (2, np.add),
}
operands = {}


def measure(name, size, seconds):
    arity, function = CASES[name]
    if size not in operands:
        # As operand() in maps.bench.ts.
        operands[size] = (np.arange(size) % 1000).astype(np.float32) / np.float32(250) - np.float32(2)
    args = [operands[size]] * arity
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        result = function(*args)
        times.append(time.perf_counter() - start)
    times.sort()
    return {"seconds": times[len(times) // 2], "checksum": float(result.sum(dtype=np.float64)), "cpu": time.process_time()}


print(json.dumps({"version": np.__version__}), flush=True)
for line in sys.stdin:
    print(json.dumps(measure(**json.loads(line))), flush=True)
