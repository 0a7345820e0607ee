"""What is believed of a number at each of N rows: quantiles, density and standard deviation (docs/model-file.md, section 7)."""

import statistics
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri  # the normal distribution function and its inverse, of arrays

NORMAL_QUANTILE = statistics.NormalDist().inv_cdf


def gaussian(y, mean, std):
    return np.exp(-0.5 * ((y - mean) / std) ** 2) / (np.sqrt(2 * np.pi) * std)


@dataclass
class Scaled:
    """A Gaussian whose quantiles follow a table of standardised residuals: models without neighbours."""
    mean: np.ndarray    # [N]
    std: np.ndarray     # [N]
    table: list

    def quantile(self, p):
        return self.mean + self.std * self.of_residual(np.asarray(p))

    def of_residual(self, p):
        """Quantiles of standardised residuals, at probabilities of any shape."""
        normal = ndtri(p)
        if not self.table:
            return normal
        n = len(self.table)
        position = p * n - 0.5
        inside = np.interp(position, range(n), self.table)
        below = self.table[0] + normal - NORMAL_QUANTILE(0.5 / n)
        above = self.table[-1] + normal - NORMAL_QUANTILE((n - 0.5) / n)
        return np.where(position < 0, below, np.where(position > n - 1, above, inside))

    def cdf(self, y):
        """By bisection of the quantiles, at y [N]."""
        z, low, high = (y - self.mean) / self.std, np.zeros(len(y)), np.ones(len(y))
        for _ in range(60):
            middle = 0.5 * (low + high)
            below = self.of_residual(middle) < z
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return 0.5 * (low + high)

    def pdf(self, y):
        return gaussian(y, self.mean, self.std)

    def deviation_about(self, _mean):
        return self.std

    def expected(self):
        return self.mean

    def restored(self, shift, factor):
        """The density of shift + factor·y."""
        return Scaled(shift + factor * self.mean, factor * self.std, self.table)


@dataclass
class Mixture:
    """K Gaussians for each row; a share may be 0."""
    share: np.ndarray   # [N, K], rows sum to one
    mean: np.ndarray    # [N, K]
    std: np.ndarray     # [N, K]

    def cdf(self, y):
        return (self.share * ndtr((y[:, None] - self.mean) / self.std)).sum(1)

    def quantile(self, p):
        """By bisection between the outermost quantiles of the Gaussians that have a share."""
        own = np.where(self.share > 0, self.mean + NORMAL_QUANTILE(p) * self.std, np.nan)
        low, high = np.nanmin(own, axis=1), np.nanmax(own, axis=1)                                 # [N]
        for _ in range(60):
            middle = 0.5 * (low + high)
            below = self.cdf(middle) < p
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return 0.5 * (low + high)

    def pdf(self, y):
        return (self.share * gaussian(y, self.mean, self.std)).sum(1)

    def deviation_about(self, mean):
        """Root of the mean squared distance from a point of each row."""
        return np.sqrt((self.share * ((self.mean - mean[:, None]) ** 2 + self.std ** 2)).sum(1))

    def expected(self):
        return (self.share * self.mean).sum(1)

    def restored(self, shift, factor):
        """The density of shift + factor·y."""
        return Mixture(self.share, shift + factor * self.mean, factor * self.std)


# ---- scales of targets ------------------------------------------------------------------------------------------

# Equal steps of the modelled scale on which moments are computed, and the probability that is left out on both sides.
STEPS, TAIL, NOTHING = 256, 1e-4, 1e-9
MOST = 340.0


@dataclass
class OnScale:
    """The density of a number y whose u = transform(y) has the density `inner`; outside of its range it is cut off."""
    inner: Mixture | Scaled
    scale: dict

    def transform(self):
        own = self.scale.get("transform", "identity")
        return ("identity", {}) if own == "identity" else next(iter(own.items()))

    def apply(self, y):
        kind, by = self.transform()
        if kind == "log":
            return np.log(np.maximum(y + by["offset"], np.finfo(float).tiny))
        if kind == "logit":
            y = self.inside(y, by)
            return np.log((y - by["lower"]) / (by["upper"] - y))
        return np.arcsinh((y - by["centre"]) / by["width"]) if kind == "asinh" else y

    def inside(self, y, by):
        least = 1e-12 * (by["upper"] - by["lower"])
        return np.clip(y, by["lower"] + least, by["upper"] - least)

    def invert(self, u):
        kind, by = self.transform()
        u = np.clip(u, *self.scale["reach"]) if "reach" in self.scale else u
        if kind == "log":
            y = np.exp(np.minimum(u, MOST)) - by["offset"]
        elif kind == "logit":
            y = by["lower"] + (by["upper"] - by["lower"]) / (1 + np.exp(-u))
        elif kind == "asinh":
            y = by["centre"] + by["width"] * np.sinh(np.clip(u, -MOST, MOST))
        else:
            y = u
        return np.clip(y, self.scale.get("lower"), self.scale.get("upper")) if self.bounded() else y

    def bounded(self):
        return self.scale.get("lower") is not None or self.scale.get("upper") is not None

    def slope(self, y):
        """du/dy"""
        kind, by = self.transform()
        if kind == "log":
            return 1 / np.maximum(y + by["offset"], np.finfo(float).tiny)
        if kind == "logit":
            y = self.inside(y, by)
            return (by["upper"] - by["lower"]) / ((y - by["lower"]) * (by["upper"] - y))
        return 1 / np.sqrt(by["width"] ** 2 + (y - by["centre"]) ** 2) if kind == "asinh" else 1.0

    def quantile(self, p):
        return self.invert(self.inner.quantile(p))

    def pdf(self, y):
        lower, upper = self.scale.get("lower"), self.scale.get("upper")
        outside = (lower is not None and y < lower) or (upper is not None and y > upper)
        return 0.0 * self.inner.pdf(y) if outside else self.inner.pdf(self.apply(y)) * self.slope(y)

    def moments(self):
        """Mean and deviation [N]; those of the modelled scale where nothing is cut off and nothing curved."""
        mean = self.inner.expected()
        std = self.inner.deviation_about(mean)
        low, high = self.inner.quantile(TAIL), self.inner.quantile(1 - TAIL)
        steps = [low + (high - low) / STEPS * i for i in range(STEPS + 1)]
        y, p = np.array([self.invert(u) for u in steps]), np.array([self.inner.cdf(u) for u in steps])     # [S + 1, N]
        share = np.diff(p, axis=0) / (p[-1] - p[0])
        origin = y[len(y) // 2]
        a, b = y[:-1] - origin, y[1:] - origin
        first, second = (share * (a + b) / 2).sum(0), (share * (a * a + a * b + b * b) / 3).sum(0)
        curved = self.transform()[0] != "identity" or self.is_cut(len(mean))
        least = 1e-12 * np.maximum(np.abs(origin + first), 1e-12)
        deviation = np.maximum(np.sqrt(np.maximum(second - first ** 2, 0)), least)
        return np.where(curved, origin + first, mean), np.where(curved, deviation, std)

    def is_cut(self, rows):
        lower, upper = self.scale.get("lower"), self.scale.get("upper")
        at = lambda y: self.inner.cdf(np.full(rows, y))  # noqa: E731
        below = at(lower) > NOTHING if lower is not None else np.zeros(rows, bool)
        return below | (1 - at(upper) > NOTHING if upper is not None else np.zeros(rows, bool))
