"""Weights and lengths, refused in scikit-learn's words."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ._data import Rows


def check_weights(sample_weight: Any, length: int | None) -> npt.NDArray[np.float64] | None:
    """Weights of rows, from 0 on and not all 0."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0 and length is not None:
        weights = np.full(length, weights)
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array.")
    if length is not None and len(weights) != length:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(length,)}!")
    if not np.all(np.isfinite(weights)) or np.any(weights < 0):
        raise ValueError("sample_weight has negative, missing or infinite values; weights are numbers from 0 on")
    if not np.any(weights > 0):
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights


def check_lengths(rows: Rows, count: int, name: str = "y") -> None:
    """Refuses targets of another number than rows."""
    if rows.length is not None and rows.length != count:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows.length}, {count}] (X and {name})")
