"""Writes pytorch.json: parameters after 1, 10 and 100 steps of PyTorch's optimisers on a small problem in float64, and its schedules.

    pip install torch && python __test__/optim/pytorch.py > __test__/optim/pytorch.json

The loss is sum((tanh(x w + b) - y)^2) for numbers of a formula, so that the test computes the same gradients.
"""

import json
import math

import torch

torch.set_default_dtype(torch.float64)


def numbers(shape, seed):
    count = math.prod(shape)
    return torch.tensor([math.sin(1.3 * i + seed) for i in range(count)]).reshape(shape)


X, Y = numbers((6, 4), 1), numbers((6, 3), 2)
RUNS = {
    "sgd": ({"learningRate": 0.05}, lambda p: torch.optim.SGD(p, lr=0.05)),
    "sgd momentum": ({"learningRate": 0.02, "momentum": 0.9, "weightDecay": 0.01}, lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9, weight_decay=0.01)),
    "sgd nesterov": ({"learningRate": 0.02, "momentum": 0.8, "nesterov": True}, lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.8, nesterov=True)),
    "rmsprop": ({}, lambda p: torch.optim.RMSprop(p)),
    "rmsprop momentum": ({"learningRate": 0.005, "decay": 0.9, "momentum": 0.5, "weightDecay": 0.02, "eps": 1e-6}, lambda p: torch.optim.RMSprop(p, lr=0.005, alpha=0.9, momentum=0.5, weight_decay=0.02, eps=1e-6)),
    "adam": ({"learningRate": 0.01}, lambda p: torch.optim.Adam(p, lr=0.01)),
    "adam decay": ({"learningRate": 0.01, "beta1": 0.8, "beta2": 0.95, "weightDecay": 0.1, "eps": 1e-4}, lambda p: torch.optim.Adam(p, lr=0.01, betas=(0.8, 0.95), weight_decay=0.1, eps=1e-4)),
    "adamw": ({"learningRate": 0.01, "weightDecay": 0.1}, lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1)),
    "adafactor": ({}, lambda p: torch.optim.Adafactor(p)),
    "adafactor decay": ({"learningRate": 0.05, "weightDecay": 0.1, "threshold": 1.5, "decayExponent": -0.6}, lambda p: torch.optim.Adafactor(p, lr=0.05, weight_decay=0.1, d=1.5, beta2_decay=-0.6)),
}


def run(make):
    w, b = numbers((4, 3), 3).requires_grad_(), numbers((3,), 4).requires_grad_()
    optimiser = make([w, b])
    out = []
    for step in range(1, 101):
        optimiser.zero_grad()
        ((X @ w + b).tanh() - Y).square().sum().backward()
        optimiser.step()
        if step in (1, 10, 100):
            out.append({"step": step, "w": w.tolist(), "b": b.tolist()})
    return out


def rates(make, lr, steps):
    p = torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.SGD([p], lr=lr)
    schedule = make(optimiser)
    out = []
    for _ in range(steps):
        out.append(schedule.get_last_lr()[0])
        optimiser.step()
        schedule.step()
    return out


S = torch.optim.lr_scheduler
clipped = []
for most in (0.5, 100.0):
    g = [numbers((4, 3), 5).requires_grad_(), numbers((3,), 6).requires_grad_()]
    for t in g:
        t.grad = t.detach().clone()
    norm = torch.nn.utils.clip_grad_norm_(g, most)
    clipped.append({"most": most, "norm": norm.item(), "w": g[0].grad.tolist(), "b": g[1].grad.tolist()})

print(json.dumps({
    "torch": torch.__version__,
    "runs": [{"name": name, "options": options, "after": run(make)} for name, (options, make) in RUNS.items()],
    "clipped": clipped,
    "schedules": {
        "cosine": rates(lambda o: S.CosineAnnealingLR(o, 20, eta_min=0.01), 0.5, 21),
        "stepDecay": rates(lambda o: S.StepLR(o, 4, gamma=0.5), 0.5, 15),
        "oneCycle": rates(lambda o: S.OneCycleLR(o, 0.5, total_steps=20), 0.5, 20),
    },
}, indent=1))
