"""Training steps of PyTorch and JAX for training.bench.ts. The first line is {training: {batch, pixels, shapes}}; the answer names the peers
there are. Then {peer, training, seconds} is answered with the time of the median step and the loss of the first. With arguments
`peer training rows steps` it prints by how many MiB the resident set rose over its steps, first code and threads aside."""

import json
import resource
import sys
import time

import numpy as np

TOKENS, FEATURES, HEADS = 8, 32, 2


def weights(shapes):
    # As in steps.ts.
    for name, shape in shapes.items():
        n = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
        yield name, ((np.sin(n) * 0.05) if len(shape) > 1 else np.full(shape, float(name.endswith("weight")))).astype(np.float32)


def data(rows, pixels):
    x = np.cos(np.arange(rows * pixels, dtype=np.float64) * 0.37).astype(np.float32).reshape(rows, pixels)
    return x, (np.arange(rows) % 10).astype(np.int32)


def torch_step(name, shapes, pixels, rows):
    import torch
    import torch.nn.functional as F

    p = {k: torch.tensor(w, requires_grad=True) for k, w in weights(shapes)}
    x, y = (torch.tensor(v) for v in data(rows, pixels))
    y = y.long()

    def linear(x, layer):
        return F.linear(x, p[layer + ".weight"], p[layer + ".bias"])

    def norm(x, layer):
        return F.layer_norm(x, (FEATURES,), p[layer + ".weight"], p[layer + ".bias"])

    def attention(x, layer):
        q, k, v = F.linear(x, p[layer + ".in_proj_weight"], p[layer + ".in_proj_bias"]).view(rows, TOKENS, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        return linear(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(rows, TOKENS, FEATURES), layer + ".out_proj")

    def dense():
        return (x @ p["w1"] + p["b1"]).relu() @ p["w2"] + p["b2"]

    def attentive():
        h = linear(x.view(rows, TOKENS, -1), "1") + p["2.weight"]
        h = h + attention(norm(h, "3.0"), "3.1")
        h = h + linear(F.gelu(linear(norm(h, "4.0"), "4.1")), "4.4")
        return linear(norm(h, "5").reshape(rows, TOKENS * FEATURES), "7")

    optimizer = torch.optim.SGD(p.values(), lr=0.01) if name == "dense" else torch.optim.AdamW(p.values(), lr=0.001)
    logits = dense if name == "dense" else attentive

    def step():
        optimizer.zero_grad()
        loss = F.cross_entropy(logits(), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def jax_step(name, shapes, pixels, rows):
    import jax
    import jax.numpy as jnp

    x, y = (jnp.asarray(v) for v in data(rows, pixels))
    tree = jax.tree_util

    def linear(p, x, layer):
        return x @ p[layer + ".weight"].T + p[layer + ".bias"]

    def norm(p, x, layer):
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * p[layer + ".weight"] + p[layer + ".bias"]

    def attention(p, x, layer):
        q, k, v = (x @ p[layer + ".in_proj_weight"].T + p[layer + ".in_proj_bias"]).reshape(rows, TOKENS, 3, HEADS, -1).transpose(2, 0, 3, 1, 4)
        mixed = jax.nn.softmax(q @ k.transpose(0, 1, 3, 2) / jnp.sqrt(q.shape[-1])) @ v
        return linear(p, mixed.transpose(0, 2, 1, 3).reshape(rows, TOKENS, FEATURES), layer + ".out_proj")

    def dense(p):
        return jax.nn.relu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]

    def attentive(p):
        h = linear(p, x.reshape(rows, TOKENS, -1), "1") + p["2.weight"]
        h = h + attention(p, norm(p, h, "3.0"), "3.1")
        h = h + linear(p, jax.nn.gelu(linear(p, norm(p, h, "4.0"), "4.1"), approximate=False), "4.4")
        return linear(p, norm(p, h, "5").reshape(rows, TOKENS * FEATURES), "7")

    logits = dense if name == "dense" else attentive

    def loss(p):
        return -jnp.take_along_axis(jax.nn.log_softmax(logits(p)), y[:, None], 1).mean()

    @jax.jit
    def train(p, means, squares, count):
        value, gradients = jax.value_and_grad(loss)(p)
        if name == "dense":
            return tree.tree_map(lambda p, g: p - 0.01 * g, p, gradients), means, squares, count, value
        count += 1
        means = tree.tree_map(lambda m, g: 0.9 * m + 0.1 * g, means, gradients)
        squares = tree.tree_map(lambda s, g: 0.999 * s + 0.001 * g * g, squares, gradients)
        scale, root = 1 / (1 - 0.9**count), jnp.sqrt(1 / (1 - 0.999**count))
        p = tree.tree_map(lambda p, m, s: p * (1 - 0.001 * 0.01) - 0.001 * m * scale / (jnp.sqrt(s) * root + 1e-8), p, means, squares)
        return p, means, squares, count, value

    p = {k: jnp.asarray(w) for k, w in weights(shapes)}
    zeros = tree.tree_map(jnp.zeros_like, p)
    state = [(p, zeros, zeros, jnp.float32(0))]

    def step():
        *after, value = train(*state[0])
        state[0] = tuple(after)
        return float(value)

    return step


def settle():
    # As in numpy_peer.py: threads that spin after their work take a core from whoever has the next turn.
    used = -1.0
    while time.process_time() - used > 2e-4:
        used = time.process_time()
        time.sleep(2e-3)


def version(peer):
    try:
        return __import__(peer).__version__
    except ImportError:
        return None


def answer(value):
    print(json.dumps(value), flush=True)


MAKERS = {"torch": torch_step, "jax": jax_step}


def rise(trainings, peer, name, rows, steps):
    """MiB the resident set rose by while `steps` steps of `rows` rows ran; one step of the usual size comes before."""
    shapes, pixels, batch = (trainings[name][key] for key in ("shapes", "pixels", "batch"))
    MAKERS[peer](name, shapes, pixels, batch)()
    with open("/proc/self/statm") as file:
        before = int(file.read().split()[1]) * resource.getpagesize()
    step = MAKERS[peer](name, shapes, pixels, rows)
    for _ in range(steps):
        step()
    with open("/proc/self/status") as file:
        most = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    return (most * 1024 - before) / 2**20


def main():
    trainings = json.loads(sys.stdin.readline())
    versions = {peer: version(peer) for peer in MAKERS}
    if len(sys.argv) > 1:
        peer, name, rows, steps = sys.argv[1:]
        return answer({"rise": rise(trainings, peer, name, int(rows), int(steps)) if versions[peer] else None})
    answer(versions)
    steps, losses = {}, {}
    for line in sys.stdin:
        request = json.loads(line)
        key = request["peer"], request["training"]
        if key not in steps:
            t = trainings[key[1]]
            steps[key] = MAKERS[key[0]](key[1], t["shapes"], t["pixels"], t["batch"])
            losses[key] = steps[key]()
        step, times, first = steps[key], [], time.perf_counter()
        while time.perf_counter() < first + request["seconds"] or len(times) < 3:
            start = time.perf_counter()
            step()
            times.append(time.perf_counter() - start)
        settle()
        times.sort()
        answer({"seconds": times[len(times) // 2], "checksum": losses[key]})


main()
