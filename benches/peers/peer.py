"""The Python side of the benches: `peer.py LIBRARY` answers JSON lines. It says its version first. {operands, numbers} names an npz file
of arrays and gives numbers, which calls may use beside the library's own names (libraries.py); {trainings} names networks. Then {call,
seconds} or {training, seconds} is answered with the time of the median call and a checksum. `chain` in a request is how often the call
takes its own result for x; `positive` is the weight of positive elements in the checksum. `peer.py LIBRARY --rise TRAINING ROWS STEPS`,
with {trainings} on its input, prints by how many MiB the resident set rose over steps of a training, first code and threads aside."""

import json
import resource
import sys
import time

import numpy as np

from libraries import LIBRARIES
from training import MAKERS


def checksum(parts, positive):
    # As in checksum.ts.
    total = 0.0
    for part in parts:
        flat = np.asarray(part).ravel()
        flat = flat.astype(np.complex128).view(np.float64) if np.iscomplexobj(flat) else flat.astype(np.float64)
        total += float((np.where(flat < 0, -flat, positive * flat) * (np.arange(flat.size) % 97 + 1)).sum())
    # JSON has no other numbers.
    return total if np.isfinite(total) else None


def settle(pause):
    # Threads that spin after their work (some 0.1 s after a product of a BLAS) would take a core from whoever has the next turn.
    time.sleep(pause)
    used = -1.0
    while time.process_time() - used > 2e-4:
        used = time.process_time()
        time.sleep(2e-3)


def repeat(function, seconds):
    # As repeat() in race.ts.
    times, first = [], time.perf_counter()
    while True:
        start = time.perf_counter()
        result = function()
        end = time.perf_counter()
        times.append(end - start)
        if end >= first + (seconds if len(times) >= 3 else max(seconds, 1)):
            times.sort()
            return times[len(times) // 2], result


class Peer:
    def __init__(self, name):
        self.name = name
        self.library = LIBRARIES[name]()
        self.trainings = {}
        self.forget()

    def forget(self):
        self.functions, self.checksums = {}, {}

    def load(self, operands, numbers):
        self.forget()
        with np.load(operands) as arrays:
            self.library.load(dict(arrays), numbers)
        return {}

    def function(self, call, chain):
        """What is timed. It is made once: to compile is no part of a call."""
        step = self.library.function(call)
        if chain is None:
            return lambda: self.library.wait(step())

        def chained():
            x = step()
            for _ in range(chain - 1):
                x = step(x)
            return self.library.wait(x)

        return chained

    def measure(self, call, seconds, chain=None, positive=3):
        key = json.dumps(call)
        if key not in self.functions:
            self.functions[key] = self.function(call, chain)
        median, result = repeat(self.functions[key], seconds)
        settle(self.library.pause)
        if key not in self.checksums:
            self.checksums[key] = checksum(self.library.parts(result), positive)
        return {"seconds": median / (chain or 1), "checksum": self.checksums[key]}

    def train(self, training, seconds):
        if training not in self.functions:
            self.functions[training] = self.step(training)
            self.checksums[training] = self.functions[training]()
        median, _ = repeat(self.functions[training], seconds)
        settle(self.library.pause)
        return {"seconds": median, "checksum": self.checksums[training]}

    def step(self, training, rows=None):
        about = self.trainings[training]
        return MAKERS[self.name](training, about["shapes"], about["pixels"], rows or about["batch"])

    def answer(self, request):
        if "trainings" in request:
            self.trainings = request["trainings"]
            return {}
        return self.load(**request) if "operands" in request else self.train(**request) if "training" in request else self.measure(**request)

    def rise(self, training, rows, steps):
        self.step(training)()
        with open("/proc/self/statm") as file:
            before = int(file.read().split()[1]) * resource.getpagesize()
        step = self.step(training, int(rows))
        for _ in range(int(steps)):
            step()
        with open("/proc/self/status") as file:
            most = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
        return (most * 1024 - before) / 2**20


def say(value):
    print(json.dumps(value), flush=True)


def main(library, mode=None, *args):
    peer = Peer(library)
    if mode == "--rise":
        peer.answer(json.loads(sys.stdin.readline()))
        return say({"rise": peer.rise(*args)})
    say({"version": peer.library.version, "facts": peer.library.facts()})
    for line in sys.stdin:
        try:
            answer = peer.answer(json.loads(line))
        except Exception as error:
            answer = {"error": repr(error)}
        say({**answer, "cpu": time.process_time()})


main(*sys.argv[1:])
