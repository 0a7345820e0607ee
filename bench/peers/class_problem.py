"""The classification problem of the rows "class-step": sizes, data, initial values. Numpy only, as problem.py.

Ten classes, one against all with one encoder and one Z; encoder 784 -> 256 -> 128 (ReLU) -> 64 in f32; rbf with s = gamma = 1.
Inputs as pixels: 0.1 of the class's prototype plus 0.9 of noise, both uniform in [0, 1]. Neighbouring classes overlap a
little, so the labels are neither noise nor certain, and neither is the number of Newton steps.
"""

from dataclasses import dataclass

import numpy as np

from problem import BATCH, DTYPE, FEATURES, encode

INPUTS, CLASSES = 784, 10
HIDDEN = (256, 128)
INDUCING = (32, 512)
ROWS = 8192


@dataclass
class ClassProblem:
    layers: list       # (weight [in, out], bias [out]) of each layer, f32
    z: np.ndarray      # [M, D]
    w: np.ndarray      # [D, C]
    b: np.ndarray      # [C]
    x: np.ndarray      # [ROWS, INPUTS] f32
    y: np.ndarray      # [ROWS, C]  +1 for the row's class, -1 for the others
    phi: np.ndarray    # [N, D]  features of the first batch, for checks of the head alone


def make(precision, inducing):
    rng = np.random.default_rng(0)
    dtype = DTYPE[precision]
    prototypes = rng.random((CLASSES, INPUTS), np.float32)
    label = rng.integers(0, CLASSES, ROWS)
    x = np.float32(0.1) * prototypes[label] + np.float32(0.9) * rng.random((ROWS, INPUTS), np.float32)
    widths = (INPUTS, *HIDDEN, FEATURES)
    layers = []
    for fan_in, fan_out in zip(widths, widths[1:]):
        limit = np.sqrt(6.0 / (fan_in + fan_out))  # Glorot
        layers.append((rng.uniform(-limit, limit, (fan_in, fan_out)).astype(np.float32),
                       np.zeros(fan_out, np.float32)))
    # With gamma = 1 the kernel saturates unless typical squared distances are about 1.
    phi = encode(layers, x[:1024])
    distance = np.median(((phi[:512] - phi[512:]) ** 2).sum(1))
    scale = np.sqrt(1.5 / distance)
    layers[-1] = ((layers[-1][0] * scale).astype(np.float32), (-scale * phi.mean(0)).astype(np.float32))
    return ClassProblem(
        layers=layers,
        z=encode(layers, x[-inducing:]).astype(dtype),
        w=(0.1 * rng.standard_normal((FEATURES, CLASSES))).astype(dtype),
        b=np.zeros(CLASSES, dtype),
        x=x,
        y=np.where(label[:, None] == np.arange(CLASSES), 1.0, -1.0).astype(dtype),
        phi=encode(layers, x[:BATCH]).astype(dtype),
    )


def batch_slice(step):
    start = step * BATCH % ROWS
    return slice(start, start + BATCH)
