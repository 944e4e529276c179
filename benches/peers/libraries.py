"""The Python libraries that peer.py can measure. Each has a version, facts about what it runs on, takes operands, makes a function of a
call (an expression; of onnxruntime a model), waits for a result, and gives its parts as arrays. In a chain the function is given what
takes the place of `x`."""

import base64

import numpy as np


def blas_facts():
    """The cores the loaded BLAS libraries take this processor for, and all thread pools: a core mistaken is a factor of 1.9."""
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return {"BLAS": "unknown without threadpoolctl"}
    pools = threadpool_info()
    return {
        pool["internal_api"] + (f" {pool['version']}" if pool.get("version") else ""): ", ".join(
            [pool["architecture"]] * ("architecture" in pool) + [f"{pool['num_threads']} threads"]
        )
        for pool in pools
    }


class Library:
    # Seconds to wait after a slice, beside what peer.settle() sees.
    pause = 0

    def __init__(self):
        self.names = {}

    def load(self, arrays, numbers):
        self.names = {**self.own_names(), **numbers, **{name: self.operand(array) for name, array in arrays.items()}}

    def function(self, call):
        step = eval(f"lambda x: {call}", self.names)
        first = self.names.get("x")
        return lambda x=first: step(x)

    def operand(self, array):
        return array

    def wait(self, result):
        return result

    def parts(self, result):
        return result if isinstance(result, (tuple, list)) else (result,)

    def facts(self):
        return blas_facts()


class NumPy(Library):
    def __init__(self):
        super().__init__()
        np.seterr(all="ignore")
        self.version = np.__version__
        self.rng = np.random.default_rng(1)

    def own_names(self):
        names = {"np": np, "windows": np.lib.stride_tricks.sliding_window_view, "rng": self.rng}
        try:
            import scipy.fft
            import scipy.ndimage
            import scipy.signal
            import scipy.special

            names["scipy"] = scipy
        except ImportError:
            pass
        return names

    def facts(self):
        try:
            import scipy

            return {"SciPy": scipy.__version__, **blas_facts()}
        except ImportError:
            return blas_facts()


class Torch(Library):
    def __init__(self):
        super().__init__()
        import torch

        self.torch, self.version = torch, torch.__version__

    def own_names(self):
        return {"torch": self.torch, "F": self.torch.nn.functional}

    def operand(self, array):
        return self.torch.from_numpy(array)

    def parts(self, result):
        return [part.numpy() for part in super().parts(result)]

    def facts(self):
        return {"threads": str(self.torch.get_num_threads()), "capability": self.torch.backends.cpu.get_cpu_capability()}


class Jax(Library):
    """Each call is compiled by jit, with the operands as arguments."""

    def __init__(self):
        super().__init__()
        import jax

        jax.config.update("jax_platforms", "cpu")
        self.jax, self.version = jax, jax.__version__

    def load(self, arrays, numbers):
        self.arrays, self.names = arrays, {"jax": self.jax, "jnp": self.jax.numpy, "lax": self.jax.lax, **numbers}

    def function(self, call):
        # Without this float64 would be float32; with it indices would be int64 in all other calls.
        wide = any(array.dtype == np.float64 for array in self.arrays.values()) or "float64" in call
        self.jax.config.update("jax_enable_x64", wide)
        arrays = {name: self.jax.numpy.asarray(array) for name, array in self.arrays.items()}
        compiled = self.jax.jit(eval(f"lambda {', '.join(arrays)}: {call}", self.names))
        first, rest = arrays.get("x"), {name: array for name, array in arrays.items() if name != "x"}
        return (lambda: compiled(**rest)) if first is None else lambda x=first: compiled(x=x, **rest)

    def wait(self, result):
        return self.jax.block_until_ready(result)

    def facts(self):
        return {"jaxlib": self.jax.lib.__version__}


class Onnxruntime(Library):
    # Its pool spins for 60 ms.
    pause = 0.1

    def __init__(self):
        super().__init__()
        import onnxruntime

        self.runtime, self.version = onnxruntime, onnxruntime.__version__

    def own_names(self):
        return {}

    def function(self, call):
        session = self.runtime.InferenceSession(base64.b64decode(call), providers=["CPUExecutionProvider"])
        outputs = [output.name for output in session.get_outputs()]
        feeds = {put.name: self.runtime.OrtValue.ortvalue_from_numpy(self.names[put.name]) for put in session.get_inputs()}
        # Values of its own, which its arena recycles; NumPy arrays would be copied.
        if "x" not in feeds:
            return lambda: session.run_with_ort_values(outputs, feeds)
        first = feeds.pop("x")
        return lambda x=first: session.run_with_ort_values(outputs, {"x": x[0] if isinstance(x, list) else x, **feeds})

    def parts(self, result):
        return [part.numpy() for part in result]

    def facts(self):
        return {}


LIBRARIES = {"numpy": NumPy, "torch": Torch, "jax": Jax, "onnxruntime": Onnxruntime}
