"""Training steps of PyTorch and JAX, made of the shapes that steps.ts gives, with the same weights and data: functions that do a step and
give its loss."""

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


MAKERS = {"torch": torch_step, "jax": jax_step}
