"""The one problem that every peer solves: sizes, data, initial values. Numpy only, so that all peers start equal.

Encoder 8 -> 128 -> 128 -> 128 (ReLU) -> 64 in f32; the Gaussian process in f32 (jitter 1e-3) or f64 (jitter 1e-4), as on our side.
The kernel is rbf with s = 1, gamma = 1, both fixed; one output.
"""

from dataclasses import dataclass

import numpy as np

BATCH, INDUCING, FEATURES, INPUTS = 128, 512, 64, 8
HIDDEN = (128, 128, 128)
ROWS = 65536
STEPS = 50            # steps in one round
LEARNING_RATE = 1e-3
JITTER = {"f32": 1e-3, "f64": 1e-4}
DTYPE = {"f32": np.float32, "f64": np.float64}


@dataclass
class Problem:
    layers: list       # (weight [in, out], bias [out]) of each layer, f32
    z: np.ndarray      # [M, D]
    w: np.ndarray      # [D]
    b: float
    log_sigma: float
    x: np.ndarray      # [ROWS, INPUTS] f32
    y: np.ndarray      # [ROWS]
    phi: np.ndarray    # [N, D]  features of the first batch, for checks of the head alone


def encode(layers, x):
    for i, (weight, bias) in enumerate(layers):
        x = x @ weight + bias
        if i + 1 < len(layers):
            x = np.maximum(x, 0.0)
    return x


def make(precision):
    rng = np.random.default_rng(0)
    dtype = DTYPE[precision]
    x = rng.standard_normal((ROWS, INPUTS)).astype(np.float32)
    y = np.sin(2.0 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * rng.standard_normal(ROWS)
    widths = (INPUTS, *HIDDEN, FEATURES)
    layers = []
    for fan_in, fan_out in zip(widths, widths[1:]):
        limit = np.sqrt(6.0 / (fan_in + fan_out))  # Glorot
        layers.append((rng.uniform(-limit, limit, (fan_in, fan_out)).astype(np.float32),
                       np.zeros(fan_out, np.float32)))
    # With gamma = 1 the kernel saturates unless typical squared distances are about 1.
    phi = encode(layers, x[:1024])
    distance = np.median(((phi[:512] - phi[512:]) ** 2).sum(1))
    layers[-1] = ((layers[-1][0] / np.sqrt(distance / 1.5)).astype(np.float32), layers[-1][1])
    return Problem(
        layers=layers,
        z=encode(layers, x[-INDUCING:]).astype(dtype),
        w=(0.1 * rng.standard_normal(FEATURES)).astype(dtype),
        b=0.0,
        log_sigma=float(np.log(0.1)),
        x=x,
        y=((y - y.mean()) / y.std()).astype(dtype),
        phi=encode(layers, x[:BATCH]).astype(dtype),
    )


def batch_slice(step):
    start = step * BATCH % ROWS
    return slice(start, start + BATCH)
