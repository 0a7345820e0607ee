"""What is believed of a number at each of N rows: quantiles, density and standard deviation (docs/model-file.md, section 7)."""

import statistics
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr  # the normal distribution function, of arrays

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
        return self.mean + self.std * self.of_residual(p)

    def of_residual(self, p):
        if not self.table:
            return NORMAL_QUANTILE(p)
        n = len(self.table)
        position = p * n - 0.5
        if position < 0:
            return self.table[0] + NORMAL_QUANTILE(p) - NORMAL_QUANTILE(0.5 / n)
        if position > n - 1:
            return self.table[-1] + NORMAL_QUANTILE(p) - NORMAL_QUANTILE((n - 0.5) / n)
        return float(np.interp(position, range(n), self.table))

    def pdf(self, y):
        return gaussian(y, self.mean, self.std)

    def deviation_about(self, _mean):
        return self.std

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

    def restored(self, shift, factor):
        """The density of shift + factor·y."""
        return Mixture(self.share, shift + factor * self.mean, factor * self.std)
