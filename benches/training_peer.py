"""Training steps of PyTorch and JAX for training.bench.ts: answers JSON lines. {peer, seconds} is answered with the time of the median step and
the loss of the first; the first line says which peers there are."""

import json
import sys
import time

import numpy as np

BATCH, SIZES, RATE = 128, (784, 256, 10), 0.01


def weights():
    # As in training.bench.ts.
    for inputs, outputs in zip(SIZES, SIZES[1:]):
        n = np.arange(inputs * outputs, dtype=np.float64).reshape(inputs, outputs)
        yield (np.sin(n) * 0.05).astype(np.float32)
        yield np.zeros(outputs, np.float32)


X = np.cos(np.arange(BATCH * SIZES[0], dtype=np.float64) * 0.37).astype(np.float32).reshape(BATCH, SIZES[0])
Y = (np.arange(BATCH) % 10).astype(np.int32)


def torch_step():
    import torch

    params = [torch.tensor(w, requires_grad=True) for w in weights()]
    x, y = torch.tensor(X), torch.tensor(Y, dtype=torch.int64)
    optimizer = torch.optim.SGD(params, lr=RATE)

    def step():
        optimizer.zero_grad()
        w1, b1, w2, b2 = params
        loss = torch.nn.functional.cross_entropy((x @ w1 + b1).relu() @ w2 + b2, y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return f"PyTorch {torch.__version__}", step


def jax_step():
    import jax
    import jax.numpy as jnp

    x, y = jnp.asarray(X), jnp.asarray(Y)

    def loss(params):
        w1, b1, w2, b2 = params
        logits = jax.nn.relu(x @ w1 + b1) @ w2 + b2
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1).mean()

    @jax.jit
    def train(params):
        value, gradients = jax.value_and_grad(loss)(params)
        return [p - RATE * g for p, g in zip(params, gradients)], value

    state = [[jnp.asarray(w) for w in weights()]]

    def step():
        state[0], value = train(state[0])
        return float(value)

    return f"JAX {jax.__version__}", step


def settle():
    # As in numpy_peer.py: threads that spin after their work take a core from whoever has the next turn.
    used = -1.0
    while time.process_time() - used > 2e-4:
        used = time.process_time()
        time.sleep(2e-3)


steps, names, losses = {}, {}, {}
for peer, make in [("torch", torch_step), ("jax", jax_step)]:
    try:
        names[peer], steps[peer] = make()
    except ImportError:
        pass
print(json.dumps(names), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    step = steps[request["peer"]]
    losses.setdefault(request["peer"], None)
    times = []
    first = time.perf_counter()
    while time.perf_counter() < first + request["seconds"] or len(times) < 3:
        start = time.perf_counter()
        loss = step()
        times.append(time.perf_counter() - start)
        if losses[request["peer"]] is None:
            losses[request["peer"]] = loss
    settle()
    times.sort()
    print(json.dumps({"seconds": times[len(times) // 2], "checksum": losses[request["peer"]]}), flush=True)
