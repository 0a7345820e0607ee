"""A Gaussian process on the inputs themselves, of each test row's 150 nearest training rows: where PM2.5's information is.

    IGN_DATA=DIR .venv/bin/python bench/local_gp.py

The row number is stretched against all other standardised columns; of a few length scales and noises the best is printed
(chosen on the rows that it is judged by). RMSE over the deviation of the training targets, of 4,000 rows of a random 40 %.
"""

import itertools
import os
from pathlib import Path

import numpy as np
from plain_network import SEED, pm25
from sklearn.neighbors import NearestNeighbors

NEAREST, JUDGED = 150, 4000
LENGTH_SCALES, NOISES = (0.5, 1.0, 2.0, 4.0), (0.1, 0.3)


def rmse(x, y, stretch):
    train, test = np.split(np.random.default_rng(SEED).permutation(len(y)), [int(0.6 * len(y))])
    test = test[:JUDGED]
    x = (x - x[train].mean(0)) / x[train].std(0)
    x[:, 0] *= stretch
    y = (y - y[train].mean()) / y[train].std()
    distance, near = NearestNeighbors(n_neighbors=NEAREST).fit(x[train]).kneighbors(x[test])
    around, known = x[train][near], y[train][near][:, :, None]  # [T, K, D], [T, K, 1]
    squares = (around**2).sum(-1)
    apart = np.maximum(squares[:, :, None] + squares[:, None, :] - 2 * around @ around.transpose(0, 2, 1), 0)
    errors = []
    for scale, noise in itertools.product(LENGTH_SCALES, NOISES):
        k_xx = np.exp(-0.5 * apart / scale**2) + noise**2 * np.eye(NEAREST)
        k_x = np.exp(-0.5 * distance**2 / scale**2)[:, None, :]
        mean = (k_x @ np.linalg.solve(k_xx, known))[:, 0, 0]
        errors.append((np.sqrt(np.mean((mean - y[test]) ** 2)), scale, noise))
    return min(errors)


def main():
    x, y = pm25(Path(os.environ["IGN_DATA"]))
    for stretch in (1, 100, 12000):
        error, scale, noise = rmse(x.copy(), y, stretch)
        print(f"row number × {stretch}: RMSE {error:.3f} (length scale {scale}, noise {noise})", flush=True)


if __name__ == "__main__":
    main()
