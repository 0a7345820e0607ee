"""Exact Gaussian process: Matérn kernel with a length scale for each input, and noise.

    k(x, x') = a² m(r),  r² = Σ_d (x_d − x'_d)² / l_d²,  K = k(X, X) + σ² I
    m(r) = (1 + √3 r) e^{−√3 r}   or   (1 + √5 r + 5r²/3) e^{−√5 r}

log a, log l and log σ maximise the marginal likelihood (L-BFGS, two starts for each kernel; the best of the four is kept).
Inputs and targets are standardised, categories become one column each. Cost: O(N³) an evaluation.
"""

import numpy as np
import pandas as pd
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular
from scipy.linalg.lapack import dpotri
from scipy.optimize import minimize

import scores

FIT_ROWS, PREDICT_ROWS = 2000, 5000
STARTS = 2
ITERATIONS = 200
BOUNDS = {"amplitude": (0.05, 50), "length": (0.01, 1000), "noise": (1e-3, 3)}  # of standardised values
JITTER = 1e-8


def matern(nu, r2, amplitude):
    """a² m(r), and g with ∂k/∂log l_d = g · (x_d − x'_d)²/l_d²."""
    if nu == 1.5:
        root = np.sqrt(3 * r2)
        decay = amplitude**2 * np.exp(-root)
        return (1 + root) * decay, 3 * decay
    root = np.sqrt(5 * r2)
    decay = amplitude**2 * np.exp(-root)
    return (1 + root + root**2 / 3) * decay, 5 / 3 * (1 + root) * decay


def squared_distances(a, b):
    return np.maximum((a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T, 0)


def unpacked(theta):
    amplitude, noise, *lengths = np.exp(theta)
    return amplitude, noise, np.array(lengths)


def negative_log_likelihood(theta, nu, x, y):
    """½ yᵀK⁻¹y + ½ log|K| + ½ N log 2π over N, and its gradient."""
    n = len(y)
    amplitude, noise, lengths = unpacked(theta)
    z = x / lengths  # [N, D]
    k, g = matern(nu, squared_distances(z, z), amplitude)  # [N, N] each
    try:
        chol = cholesky(k + (noise**2 + JITTER) * np.eye(n), lower=True)
    except LinAlgError:
        return 1e10, np.zeros_like(theta)
    alpha = cho_solve((chol, True), y)
    value = 0.5 * y @ alpha + np.log(np.diag(chol)).sum() + 0.5 * n * np.log(2 * np.pi)
    half, _ = dpotri(chol, lower=True)
    inverse = np.tril(half) + np.tril(half, -1).T
    w = 0.5 * (inverse - np.outer(alpha, alpha))  # d value = Σ w ∘ dK
    wg = w * g
    # Σ_ij wg_ij (z_id − z_jd)² = 2 Σ_i z_id² Σ_j wg_ij − 2 (zᵀ wg z)_dd: one product for all lengths.
    d_lengths = 2 * (z**2 * wg.sum(1)[:, None]).sum(0) - 2 * (z * (wg @ z)).sum(0)
    gradient = np.concatenate([[2 * (w * k).sum(), 2 * noise**2 * np.trace(w)], d_lengths])
    return value / n, gradient / n


def fit(x, y, seed):
    """The kernel and parameters of the largest marginal likelihood."""
    random, inputs = np.random.default_rng(seed), x.shape[1]
    bounds = np.log([BOUNDS["amplitude"], BOUNDS["noise"], *[BOUNDS["length"]] * inputs])
    best = (np.inf, None, None)
    for start in range(STARTS):
        lengths = np.full(inputs, np.log(np.sqrt(inputs)))
        if start > 0:
            lengths += random.normal(0, 1, inputs)
        theta = np.concatenate([[0.0, np.log(0.3 / 3**start)], lengths])
        for nu in (1.5, 2.5):
            options = {"maxiter": ITERATIONS}
            found = minimize(negative_log_likelihood, theta, (nu, x, y), "L-BFGS-B", True, bounds=bounds, options=options)
            best = min(best, (found.fun, nu, found.x), key=lambda one: one[0])
    return best[1:]


def standardised(train, test):
    """Categories become one column each; constant columns are left at zero."""
    both = pd.get_dummies(pd.concat([train, test]), dtype=float).to_numpy(float)
    x = both[: len(train)]
    std = np.where(x.std(0) > 0, x.std(0), 1)
    both = (both - x.mean(0)) / std
    return both[: len(train)], both[len(train) :]


def regression(split):
    x, x_test = standardised(split.x_train, split.x_test)
    centre, scale = split.y_train.mean(), split.y_train.std()
    y = (split.y_train - centre) / scale
    order = np.random.default_rng(split.seed).permutation(len(y))
    nu, theta = fit(x[order[:FIT_ROWS]], y[order[:FIT_ROWS]], split.seed)

    known = order[:PREDICT_ROWS]
    amplitude, noise, lengths = unpacked(theta)
    z, z_test = x[known] / lengths, x_test / lengths
    k = matern(nu, squared_distances(z, z), amplitude)[0]  # [N, N]
    chol = cholesky(k + (noise**2 + JITTER) * np.eye(len(known)), lower=True)
    k_test = matern(nu, squared_distances(z, z_test), amplitude)[0]  # [N, T]
    mean = k_test.T @ cho_solve((chol, True), y[known])
    a = solve_triangular(chol, k_test, lower=True)  # [N, T]  A = L⁻¹ K
    std = np.sqrt(np.maximum(amplitude**2 - (a**2).sum(0), 0) + noise**2)
    found = scores.summary(split, scores.gaussian(split.y_test, centre + scale * mean, scale * std))
    at_bound = noise < 1.01 * BOUNDS["noise"][0]
    return found | {"kernel": f"matern {nu:g}", "noise": noise, "noise_at_bound": bool(at_bound)}
