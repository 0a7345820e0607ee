"""Scores of a regression over the training targets' standard deviation, from predictions in the target's unit."""

from dataclasses import dataclass

import numpy as np
from pandas.api.types import is_numeric_dtype
from scipy.stats import norm

LEVEL = 0.95
SLICES = 10
NEGLIGIBLE = 0.01  # part of s by which an interval may leave the possible range
LEAST_PROBABILITY = 1e-9  # a count of probability zero has a finite loss


@dataclass
class Predictions:
    """One entry for each test row; `lower` and `upper` bound the central 95 %, `cell` is the probability of y ± ½."""

    mean: np.ndarray
    nll: np.ndarray
    crps: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    cell: np.ndarray


def gaussian(y, mean, std):
    """CRPS: Gneiting & Raftery 2007, eq. 21."""
    u = (y - mean) / std
    crps = std * (u * (2 * norm.cdf(u) - 1) + 2 * norm.pdf(u) - 1 / np.sqrt(np.pi))
    half = norm.ppf((1 + LEVEL) / 2) * std
    near = np.abs(y - mean)  # on one side of the mean, where small probabilities keep their digits
    cell = norm.cdf((0.5 - near) / std) - norm.cdf((-0.5 - near) / std)
    return Predictions(mean, -norm.logpdf(y, mean, std), crps, mean - half, mean + half, cell)


def summary(split, predictions):
    """Density of y/s is s times that of y: NLL over s = NLL − log s. RMSE and CRPS are divided by s."""
    s, y = split.y_train.std(), split.y_test
    nll = cell_nll(predictions.cell) if split.counts else predictions.nll - np.log(s)
    crps = predictions.crps / s
    return {
        "rmse": np.sqrt(np.mean((predictions.mean - y) ** 2)) / s,
        "nll": nll.mean(),
        "crps": crps.mean(),
        **coverage(split, predictions.lower, predictions.upper),
        **({"nll_blocks": split.block_means(nll), "crps_blocks": split.block_means(crps)} if split.blocks else {}),
    }


def cell_nll(probability):
    """Of counts: unlike a density, the probability of y ± ½ gains nothing by being narrow at each integer."""
    return -np.log(np.maximum(probability, LEAST_PROBABILITY))


def coverage(split, lower, upper):
    """Coverage of the 95 % interval, the slice of an input where it is furthest from 95 %, intervals below what can be."""
    hit = (lower <= split.y_test) & (split.y_test <= upper)
    furthest, where = largest_deviation(hit, slices(split.x_test))
    found = {"coverage": hit.mean(), "slice_deviation": furthest, "slice": where}
    impossible = lower < split.lower - NEGLIGIBLE * split.y_train.std()
    return found | ({"outside": impossible.mean()} if np.isfinite(split.lower) else {})


def slices(x):
    """Name and mask of ten slices of each input by its quantiles; equal values stay together, a category is a slice."""
    for column in x:
        values = x[column]
        if is_numeric_dtype(values):
            edges = np.unique(np.quantile(values, np.arange(1, SLICES) / SLICES))
            values = np.searchsorted(edges, values, side="left")
        for value in np.unique(values):
            yield f"{column}[{value}]", np.asarray(values == value)


def largest_deviation(hit, named_masks):
    return max((abs(hit[mask].mean() - LEVEL), name) for name, mask in named_masks)


def chance_deviation(split, draws=200):
    """What `slice_deviation` of a perfect model would be by chance alone: the median over draws of independent hits."""
    masks = np.array([mask for _, mask in slices(split.x_test)], np.float32)  # [S, N]
    hits = np.random.default_rng(0).random((draws, len(split.y_test))) < LEVEL
    shares = hits.astype(np.float32) @ masks.T / masks.sum(1)  # [draws, S]
    return float(np.median(np.abs(shares - LEVEL).max(1)))
