"""Closed forms around a trained `GPHead`: where it begins, its posterior given all rows, recalibration.

All of it in double precision on the CPU. In whitened coordinates `a = L⁻¹k_z*`, `L Lᵀ = K_zz + εI`, pseudo-labels are
`u = r + L v`, and the prior of v is a standard normal distribution. Given rows with curvatures w and residuals e,

    G = Σ wᵢ aᵢaᵢᵀ = Q diag(λ) Qᵀ [M, M]          cov v = Q diag(d) Qᵀ,  d = 1/(1 + λ)
    mean v = Q diag(d) Qᵀ Σ wᵢ eᵢ aᵢ              var f = k** − ‖a‖² + Σⱼ dⱼ (Qᵀa)ⱼ²
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from . import _core

if TYPE_CHECKING:
    from torch import Tensor

SAMPLE = 8192  # rows that k-means and the distances look at
ROUNDS = 5  # of k-means
DISTANCES = 2000  # pairs of rows whose median distance is taken
FEWEST_LABELS = 30  # held-out rows that are taken at their word
FEWEST_TARGETS = 12


@dataclass(frozen=True)
class Refit:
    """Pseudo-labels given all rows, in whitened coordinates."""

    shift: Tensor  # [M, C]  mean v
    basis: Tensor  # [M, M]  Q
    share: Tensor  # [C, M]  d, or [1, M] if all outputs have the same


class Moments:
    """Sums over rows from which a `Refit` follows: O(M²) a row."""

    def __init__(self, inducing: int, outputs: int) -> None:
        self.gram = torch.zeros(inducing, inducing, dtype=torch.float64)  # [M, M]  Σ w a aᵀ
        self.moment = torch.zeros(inducing, outputs, dtype=torch.float64)  # [M, C]  Σ w a e
        self.rows = 0

    def add(self, a: Tensor, residual: Tensor | None, weight: Tensor | None) -> None:
        """Take in rows `a [N, M]`."""
        weighted = a if weight is None else a * weight[:, None]
        self.gram += weighted.T @ a
        if residual is not None:
            self.moment += weighted.T @ residual
        self.rows += len(a)

    def numbers(self, noise: Tensor) -> Refit:
        """The best variational posterior given targets with variances `noise [C]` (Titsias 2009, eq. 10, around r)."""
        values, basis = self._spectrum()
        share = noise[:, None] / (noise[:, None] + values)  # [C, M]
        shift = basis @ (share.T / noise * (basis.T @ self.moment))
        return Refit(shift, basis, share)

    def classes(self) -> Refit:
        """Laplace's approximation around r, with curvatures as weights."""
        values, basis = self._spectrum()
        return Refit(torch.zeros_like(self.moment), basis, (1.0 / (1.0 + values))[None])

    def _spectrum(self) -> tuple[Tensor, Tensor]:
        values, basis = torch.linalg.eigh(self.gram)
        return values.clamp_min(0.0), basis


def curvature(link: str, mean: Tensor, var: Tensor) -> Tensor:
    """Expected curvature [N] of −log p(y) by a latent mean, where y is as probable as the head says.

    `p_c(1 − p_c) h(s_c)² / (1 + κv)` of class c is its Fisher information, `h = N/Φ` for the probit and 1 for the logit;
    one number for all classes is their mean under p. For two classes, with one latent function, that is exact.
    """
    var = var.clamp_min(0.0)
    variance = 1.0 + (1.0 if link == "probit" else math.pi / 8.0) * var  # [N]
    s = mean / variance.sqrt()[:, None]  # [N, C]
    log_density = -0.5 * (s * s + math.log(2.0 * math.pi))
    if mean.shape[1] == 1:
        s, log_density = s[:, 0], log_density[:, 0]
        if link == "probit":
            log_ndtr = torch.special.log_ndtr
            return torch.exp(2.0 * log_density - log_ndtr(s) - log_ndtr(-s)) / variance
        p = torch.sigmoid(s)
        return p * (1.0 - p) / variance
    if link == "probit":
        log_weight = torch.special.log_ndtr(s)
        slope = torch.exp(log_density - log_weight)
    else:
        log_weight, slope = s, torch.ones_like(s)
    p = torch.softmax(log_weight, 1)
    return (p * p * (1.0 - p) * slope * slope).sum(1) / variance


def probabilities(link: str, mean: Tensor, var: Tensor) -> Tensor:
    """Class probabilities [N, classes] of latent means [N, C] with variances [N]."""
    return torch.from_numpy(_core.head_probabilities(link, mean.contiguous().numpy(), var.contiguous().numpy()))


def class_nll(link: str, mean: Tensor, var: Tensor, y: Tensor) -> float:
    """Mean negative log-probability of labels [N]."""
    own = probabilities(link, mean, var).gather(1, y[:, None])
    return float(-own.clamp_min(1e-300).log().mean())


def minimise(low: float, high: float, f: Callable[[float], float]) -> float:
    """Golden-section search for the minimum of a unimodal function.

    >>> round(minimise(-1.0, 3.0, lambda x: (x - 1.5) ** 2), 6)
    1.5
    """
    golden = 0.5 * (math.sqrt(5.0) - 1.0)
    a, b = high - golden * (high - low), low + golden * (high - low)
    f_a, f_b = f(a), f(b)
    for _ in range(40):
        if f_a < f_b:
            high, b, f_b = b, a, f_a
            a = high - golden * (high - low)
            f_a = f(a)
        else:
            low, a, f_a = a, b, f_b
            b = low + golden * (high - low)
            f_b = f(b)
    return 0.5 * (low + high)


def recalibrate_classes(link: str, mean: Tensor, var: Tensor, y: Tensor) -> tuple[float, float]:
    """`(a, β)` that minimise the NLL of `s = β f/√(1 + κ a v)`, weakly pulled to 1, as the library does it."""

    def objective(log_latent: float, log_slope: float) -> float:
        nll = class_nll(link, math.exp(log_slope) * mean, math.exp(log_latent) * var, y)
        return len(y) * nll + log_slope**2 + log_latent**2

    # As a factor on the mean alone β acts after the variance.
    latent, slope = 0.0, 0.0
    for _ in range(3):
        slope = minimise(slope - 2.0, slope + 2.0, lambda x, at=latent: objective(at, x))  # type: ignore[misc]
        latent = minimise(latent - 3.0, latent + 3.0, lambda x, at=slope: objective(x, at))  # type: ignore[misc]
    return math.exp(latent), math.exp(slope)


def gaussian_nll(residual: Tensor, var: Tensor) -> Tensor:
    """Negative logarithm of the normal density, element by element."""
    return 0.5 * (residual * residual / var + torch.log(var) + math.log(2.0 * math.pi))


def recalibrate_targets(residual: Tensor, var: Tensor, noise: float) -> tuple[float, float]:
    """`(a, b)` that minimise the NLL of one output's residuals [N] under `var y = a·var f + b·σ²`."""
    ratio = float((residual**2 / (var + noise)).mean())
    start = math.log(max(ratio, 1e-12))

    def objective(log_latent: float, log_noise: float) -> float:
        nll = gaussian_nll(residual, math.exp(log_latent) * var + math.exp(log_noise) * noise)
        # Rows like the training rows say little about `a`, on which the spread far from all of them depends.
        return float(nll.sum()) + 2.0 * (log_latent - start) ** 2

    latent, factor = start, start
    for _ in range(4):
        factor = minimise(factor - 3.0, factor + 3.0, lambda x, at=latent: objective(at, x))  # type: ignore[misc]
        latent = minimise(latent - 3.0, latent + 3.0, lambda x, at=factor: objective(x, at))  # type: ignore[misc]
    return math.exp(latent), math.exp(factor)


def generator(seed: int) -> torch.Generator:
    """Random numbers that follow from the seed alone."""
    return torch.Generator().manual_seed(seed)


def sample(rows: int, least: int, seed: int) -> Tensor:
    """Random rows, at most `SAMPLE` but never fewer than `least`."""
    return torch.randperm(rows, generator=generator(seed))[: max(SAMPLE, least)]


def k_means(phi: Tensor, count: int) -> Tensor:
    """Centres [count, D] of rows in random order, by Lloyd's k-means from the first ones; an empty cluster keeps its centre."""
    centres = phi[:count].clone()
    phi = phi[:SAMPLE]
    for _ in range(ROUNDS):
        nearest = (centres.square().sum(1) - 2.0 * phi @ centres.T).argmin(1)  # [N]
        counts = torch.bincount(nearest, minlength=count)
        sums = torch.zeros_like(centres).index_add_(0, nearest, phi)
        centres = torch.where(counts[:, None] > 0, sums / counts[:, None].clamp_min(1), centres)
    return centres


def median_squared_distance(phi: Tensor, seed: int) -> float:
    """Of random pairs of rows that do not coincide; 1 if all do."""
    pairs = torch.randint(len(phi), (2, DISTANCES), generator=generator(seed))
    distance = (phi[pairs[0]] - phi[pairs[1]]).square().sum(1)
    distance = distance[distance > 0].sort().values
    return float(distance[len(distance) // 2]) if len(distance) else 1.0


def linear_fit(phi: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Ridge regression of y [N, C] on φ [N, D]: w [D, C], b [C] and the root mean squared residual [C]."""
    centre, middle = phi.mean(0), y.mean(0)
    x, t = phi - centre, y - middle
    gram = x.T @ x
    ridge = 1e-3 * float(gram.diagonal().mean()) + 1e-12
    w = torch.linalg.solve(gram + ridge * torch.eye(len(gram), dtype=gram.dtype), x.T @ t)
    rmse = (t - x @ w).square().mean(0).sqrt()
    return w, middle - centre @ w, rmse
