"""Writes expected.json beside this file: what SciPy and PyTorch make of windows, spectra, cosine transforms, filters and peaks.

    pip install scipy torch && python __test__/signal/expected.py

All in float64; complex numbers as pairs [re, im]. Signals are the first n of (7 i^2 + 3 i) mod 11 - 5, which any language counts out.
"""

import json
import pathlib

import numpy as np
import scipy
import torch
from scipy.signal import windows


def signal(*shape):
    i = np.arange(int(np.prod(shape)), dtype=np.int64)
    return ((7 * i * i + 3 * i) % 11 - 5.0).reshape(shape)


def plain(x):
    x = np.asarray(x)
    return np.stack([x.real, x.imag], -1).tolist() if np.iscomplexobj(x) else x.tolist()


WINDOWS = [("hann",), ("hamming",), ("blackman",), ("bartlett",), ("kaiser", 0.0), ("kaiser", 5.0), ("kaiser", 14.0), ("kaiser", 800.0), ("gaussian", 1.5), ("tukey", 0.0), ("tukey", 0.3), ("tukey", 0.5), ("tukey", 1.0)]


def window_cases():
    for name, *parameters in WINDOWS:
        for n in [0, 1, 2, 3, 8, 9, 30]:
            for periodic in [False, True]:
                if parameters == [800.0]:
                    # SciPy's own I0 overflows; the scaled one does not.
                    m = n + 1 if periodic else n
                    r = np.linspace(-1, 1, m) if m > 1 else np.zeros(m)
                    x = 800 * np.sqrt(1 - r * r)
                    values = (np.exp(x - 800) * scipy.special.i0e(x) / scipy.special.i0e(800.0))[:n]
                    values = np.ones(n) if n < 2 else values
                else:
                    values = getattr(windows, name)(n, *parameters, sym=not periodic)
                yield {"name": name, "n": n, "parameters": parameters, "periodic": periodic, "expected": plain(values)}


def stft_cases():
    for shape, n_fft, hop, win, options in [
        ([40], 8, None, None, {}),
        ([40], 8, 2, "hann", {}),
        ([2, 33], 8, 3, "hann", {}),
        ([33], 9, 3, "hamming", {}),
        ([40], 8, 2, "hann", {"normalized": True}),
        ([40], 8, 2, "hann", {"onesided": False}),
        ([40], 8, 2, "hamming", {"center": False}),
        ([40], 16, 4, "short", {}),
        ([40], 8, 2, "hann", {"pad_mode": "constant"}),
    ]:
        window = {None: None, "hann": torch.hann_window(n_fft, dtype=torch.float64), "hamming": torch.hamming_window(n_fft, dtype=torch.float64), "short": torch.hann_window(10, periodic=False, dtype=torch.float64)}[win]
        x = torch.from_numpy(signal(*shape))
        spectra = torch.stft(x, n_fft, hop, window=torch.ones(n_fft, dtype=torch.float64) if window is None else window, win_length=None if window is None else len(window), return_complex=True, **options)
        back = torch.istft(spectra, n_fft, hop, window=torch.ones(n_fft, dtype=torch.float64) if window is None else window, win_length=None if window is None else len(window), **{k: v for k, v in options.items() if k != "pad_mode"})
        yield {"shape": shape, "nFft": n_fft, "hopLength": hop, "window": None if window is None else plain(window), "options": options, "expected": plain(spectra.numpy()), "inverse": plain(back.numpy())}


def dct_cases():
    for n in [1, 2, 3, 4, 7, 8]:
        for kind in [2, 3]:
            for norm in ["backward", "ortho", "forward"]:
                x = signal(2, n)
                yield {"n": n, "type": kind, "norm": norm, "dct": plain(scipy.fft.dct(x, kind, norm=norm)), "idct": plain(scipy.fft.idct(x, kind, norm=norm))}


def filter_cases():
    for b, a in [
        ([1.0], [1.0, -0.9]),
        ([0.5, 0.25], [2.0, -1.2]),
        ([1.0, 2.0, 1.0], [1.0, -1.6, 0.8]),
        ([0.25, 0.5, 0.25], [1.0]),
        ([1.0], [1.0, -1.0]),
        ([1.0, -1.0], [1.0, 0.0, 0.0, 0.5]),
        *[(list(b), list(a)) for b, a in [scipy.signal.butter(4, 0.2)]],
    ]:
        for shape in [[1], [2], [50], [2, 3, 17]]:
            yield {"b": b, "a": a, "shape": shape, "expected": plain(scipy.signal.lfilter(b, a, signal(*shape)))}


def sos_cases():
    for sos in [scipy.signal.butter(6, 0.1, output="sos"), scipy.signal.cheby1(5, 1, [0.2, 0.4], btype="band", output="sos")]:
        yield {"sos": plain(sos), "shape": [2, 60], "expected": plain(scipy.signal.sosfilt(sos, signal(2, 60)))}


def peak_cases():
    flat = [0, 2, 2, 1, 3, 3, 3, 0, 3, 1, 1, 1, 4, 4]
    for x in [list(signal(60)), flat, [1.0], [], [0.0, 1.0], [5.0, 1.0, 5.0], list(np.round(np.sin(np.arange(120) * 0.37) * 8 + np.cos(np.arange(120) * 0.11) * 5, 3))]:
        for options in [{}, {"height": 1}, {"height": [0, 3]}, {"distance": 5}, {"distance": 7.5, "height": 1}, {"prominence": 3}, {"prominence": [1, 5]}, {"height": 0, "distance": 4, "prominence": 2}]:
            # SciPy's order of equal heights is that of an unstable sort: a little more height to the later one makes it ours.
            y = np.asarray(x, float)
            apart = "distance" in options
            if x is flat and apart:
                continue
            peaks, _ = scipy.signal.find_peaks(y + np.arange(len(y)) * (1e-9 if apart else 0), **{k: v for k, v in options.items() if k != "prominence"})
            prominences, left, right = scipy.signal.peak_prominences(y, peaks) if len(peaks) > 0 else (np.zeros(0),) * 3
            least, largest = np.broadcast_to(options["prominence"], 2) if isinstance(options.get("prominence"), list) else (options.get("prominence", -np.inf), np.inf)
            kept = (prominences >= least) & (prominences <= largest)
            peaks, prominences, left, right = peaks[kept], prominences[kept], left[kept], right[kept]
            yield {
                "x": plain(y), "options": options, "indices": plain(peaks), "heights": plain(y[peaks]), "prominences": plain(prominences),
                "leftBases": plain(left), "rightBases": plain(right),
            }


cases = {"windows": window_cases(), "stft": stft_cases(), "dct": dct_cases(), "lfilter": filter_cases(), "sosfilt": sos_cases(), "findPeaks": peak_cases()}
lines = [f'  "{name}": [\n' + ",\n".join("    " + json.dumps(case) for case in each) + "\n  ]" for name, each in cases.items()]
versions = f'  "scipy": "{scipy.__version__}",\n  "torch": "{torch.__version__}"'
pathlib.Path(__file__).with_name("expected.json").write_text("{\n" + ",\n".join([versions, *lines]) + "\n}\n")
