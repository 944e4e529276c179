"""Writes pytorch.json: parameters after 1, 10 and 100 steps of PyTorch's optimisers on a small problem in float64, and of twenty of its L-BFGS, its schedules and
clipping.

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
    "adagrad": ({}, lambda p: torch.optim.Adagrad(p)),
    "adagrad decay": ({"learningRate": 0.1, "learningRateDecay": 0.05, "weightDecay": 0.02, "initialAccumulator": 0.5, "eps": 1e-6}, lambda p: torch.optim.Adagrad(p, lr=0.1, lr_decay=0.05, weight_decay=0.02, initial_accumulator_value=0.5, eps=1e-6)),
    "adadelta": ({}, lambda p: torch.optim.Adadelta(p)),
    "adadelta decay": ({"learningRate": 0.1, "decay": 0.8, "weightDecay": 0.02, "eps": 1e-4}, lambda p: torch.optim.Adadelta(p, lr=0.1, rho=0.8, weight_decay=0.02, eps=1e-4)),
    "adamax": ({"learningRate": 0.01}, lambda p: torch.optim.Adamax(p, lr=0.01)),
    "adamax decay": ({"beta1": 0.8, "beta2": 0.95, "weightDecay": 0.1, "eps": 1e-4}, lambda p: torch.optim.Adamax(p, betas=(0.8, 0.95), weight_decay=0.1, eps=1e-4)),
    "nadam": ({"learningRate": 0.01}, lambda p: torch.optim.NAdam(p, lr=0.01)),
    "nadam decay": ({"beta1": 0.8, "beta2": 0.95, "weightDecay": 0.1, "momentumDecay": 0.02}, lambda p: torch.optim.NAdam(p, betas=(0.8, 0.95), weight_decay=0.1, momentum_decay=0.02)),
    "radam": ({"learningRate": 0.01}, lambda p: torch.optim.RAdam(p, lr=0.01)),
    "radam decay": ({"learningRate": 0.02, "beta1": 0.8, "beta2": 0.9, "weightDecay": 0.1}, lambda p: torch.optim.RAdam(p, lr=0.02, betas=(0.8, 0.9), weight_decay=0.1)),
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


LBFGS = {
    "lbfgs": ({"learningRate": 0.1, "maxIterations": 4}, dict(lr=0.1, max_iter=4)),
    "lbfgs few": ({"learningRate": 0.2, "maxIterations": 6, "historySize": 3, "maxEvaluations": 4}, dict(lr=0.2, max_iter=6, history_size=3, max_eval=4)),
    "lbfgs strongWolfe": ({"lineSearch": "strongWolfe"}, dict(line_search_fn="strong_wolfe")),
    "lbfgs strongWolfe longer": ({"learningRate": 20, "maxIterations": 3, "lineSearch": "strongWolfe"}, dict(lr=20, max_iter=3, line_search_fn="strong_wolfe")),
    "lbfgs strongWolfe long": ({"learningRate": 4, "maxIterations": 2, "lineSearch": "strongWolfe"}, dict(lr=4, max_iter=2, line_search_fn="strong_wolfe")),
}


def searched(options):
    """Twenty steps: the loss that each gives, and the parameters after some."""
    w, b = numbers((4, 3), 3).requires_grad_(), numbers((3,), 4).requires_grad_()
    optimiser = torch.optim.LBFGS([w, b], **options)

    def closure():
        optimiser.zero_grad()
        loss = ((X @ w + b).tanh() - Y).square().sum()
        loss.backward()
        return loss

    losses, out = [], []
    for step in range(1, 21):
        losses.append(optimiser.step(closure).item())
        if step in (1, 5, 20):
            out.append({"step": step, "w": w.tolist(), "b": b.tolist()})
    state = optimiser.state[optimiser._params[0]]
    return {"losses": losses, "after": out, "count": state["n_iter"], "evaluations": state["func_evals"]}


def plateau(rate, metrics, **options):
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=rate)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, **options)
    out = []
    for metric in metrics:
        schedule.step(metric)
        out.append(optimiser.param_groups[0]["lr"])
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
METRICS = [5, 4, 4.5, 4.2, 4.1, 3.9, 3.9, 3.9, 3.9, 3.8999, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3]
clipped = []
for most, ord in ((0.5, 2.0), (100.0, 2.0), (0.5, math.inf), (1.0, 1.0), (0.7, 3.0)):
    g = [numbers((4, 3), 5).requires_grad_(), numbers((3,), 6).requires_grad_()]
    for t in g:
        t.grad = t.detach().clone()
    norm = torch.nn.utils.clip_grad_norm_(g, most, norm_type=ord)
    clipped.append({"most": most, "ord": None if ord == math.inf else ord, "norm": norm.item(), "w": g[0].grad.tolist(), "b": g[1].grad.tolist()})

print(json.dumps({
    "torch": torch.__version__,
    "runs": [{"name": name, "options": options, "after": run(make)} for name, (options, make) in RUNS.items()],
    "clipped": clipped,
    "schedules": {
        "cosine": rates(lambda o: S.CosineAnnealingLR(o, 20, eta_min=0.01), 0.5, 21),
        "stepDecay": rates(lambda o: S.StepLR(o, 4, gamma=0.5), 0.5, 15),
        "oneCycle": rates(lambda o: S.OneCycleLR(o, 0.5, total_steps=20), 0.5, 20),
        "multiStepDecay": rates(lambda o: S.MultiStepLR(o, [3, 5, 5, 9], gamma=0.5), 0.5, 12),
        "exponentialDecay": rates(lambda o: S.ExponentialLR(o, 0.9), 0.5, 12),
        "linear": rates(lambda o: S.LinearLR(o, start_factor=0.25, end_factor=0.75, total_iters=6), 0.5, 9),
        "polynomial": rates(lambda o: S.PolynomialLR(o, total_iters=8, power=2), 0.5, 11),
        "cosineRestarts": rates(lambda o: S.CosineAnnealingWarmRestarts(o, 4, eta_min=0.01), 0.5, 14),
        "cosineRestarts longer": rates(lambda o: S.CosineAnnealingWarmRestarts(o, 3, T_mult=2), 0.5, 50),
    },
    "lbfgs": [{"name": name, "options": options, **searched(torch_options)} for name, (options, torch_options) in LBFGS.items()],
    "plateaus": [
        {"options": {"patience": 2, "factor": 0.5}, "metrics": METRICS, "rates": plateau(0.5, METRICS, patience=2, factor=0.5)},
        {"options": {"patience": 1, "factor": 0.1, "cooldown": 2, "threshold": 0.2, "thresholdMode": "absolute", "least": 0.01}, "metrics": METRICS, "rates": plateau(0.5, METRICS, patience=1, factor=0.1, cooldown=2, threshold=0.2, threshold_mode="abs", min_lr=0.01)},
        {"options": {"mode": "max", "patience": 0, "factor": 0.5}, "metrics": METRICS, "rates": plateau(0.5, METRICS, mode="max", patience=0, factor=0.5)},
    ],
}, indent=1))
