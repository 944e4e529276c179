"""Writes quantiles.json beside this file: SciPy's quantiles of continuous distributions, and probabilities of counts.

    pip install scipy && python __test__/random/quantiles.py > __test__/random/quantiles.json

`continuous`: by name the arguments of the draw, the 99 quantiles of 1, 2, ..., 99 percent. `counts`: the arguments, the least count, the
probabilities of it and its successors, and of all that is above them.
"""

import json

import scipy
from scipy import stats

CONTINUOUS = {
    "laplace": ([], {"location": 1, "scale": 2}, stats.laplace(1, 2)),
    "cauchy": ([], {"location": -1, "scale": 0.5}, stats.cauchy(-1, 0.5)),
    "logistic": ([], {"location": 1, "scale": 2}, stats.logistic(1, 2)),
    "lognormal": ([], {"mean": 0.5, "std": 0.75}, stats.lognorm(0.75, scale=2.718281828459045**0.5)),
    "rayleigh": ([], {"scale": 2}, stats.rayleigh(scale=2)),
    "standardExponential": ([], {}, stats.expon()),
    "triangular": ([-1, 0, 3], {}, stats.triang(0.25, -1, 4)),
    "triangular at an end": ([2, 2, 3], {}, stats.triang(0, 2, 1)),
    "weibull": ([0.5], {}, stats.weibull_min(0.5)),
    "weibull above": ([3], {}, stats.weibull_min(3)),
    "pareto": ([2.5], {}, stats.lomax(2.5)),
    "power": ([3], {}, stats.powerlaw(3)),
    "power below": ([0.25], {}, stats.powerlaw(0.25)),
    "wald": ([3, 2], {}, stats.invgauss(1.5, scale=2)),
    "chisquare": ([3], {}, stats.chi2(3)),
    "chisquare below": ([0.5], {}, stats.chi2(0.5)),
    "standardT": ([3], {}, stats.t(3)),
    "standardT heavy": ([0.75], {}, stats.t(0.75)),
    "f": ([3, 8], {}, stats.f(3, 8)),
    "vonmises": ([0, 0.7], {}, stats.vonmises(0.7)),
    "vonmises wide": ([0, 1e-7], {}, stats.uniform(-3.141592653589793, 2 * 3.141592653589793)),
    "vonmises narrow": ([0.5, 50], {}, stats.vonmises(50, 0.5)),
    "vonmises normal": ([0, 4e6], {}, stats.norm(0, 0.0005)),
}
COUNTS = {
    "geometric": ([0.3], stats.geom(0.3), 1, 12),
    "geometric rare": ([0.75], stats.geom(0.75), 1, 5),
    "negativeBinomial": ([2.5, 0.4], stats.nbinom(2.5, 0.4), 0, 12),
}

continuous = {
    name: {"arguments": arguments, "options": options, "quantiles": [float(d.ppf(k / 100)) for k in range(1, 100)]}
    for name, (arguments, options, d) in CONTINUOUS.items()
}
counts = {
    name: {"arguments": arguments, "least": least, "p": [float(d.pmf(k)) for k in range(least, end)] + [float(d.sf(end - 1))]}
    for name, (arguments, d, least, end) in COUNTS.items()
}
print(json.dumps({"scipy": scipy.__version__, "continuous": continuous, "counts": counts}, indent=1))
