"""Predictions that say how sure they are, from tables, images and texts.

>>> import numpy as np
>>> from inducing import IGNRegressor
>>> x = np.linspace(0, 6, 60)[:, None]
>>> model = IGNRegressor(preset="single").fit(x, np.sin(x[:, 0]))
>>> mean, std = model.predict(x, return_std=True)
>>> mean.shape == std.shape == (60,)
True
"""

from ._classifier import IGNClassifier
from ._core import __version__
from ._io import load, train
from ._notebook import Explanation, Report
from ._regressor import IGNRegressor
from ._table import PredictionTable
from ._warnings import InducingWarning

__all__ = [
    "Explanation",
    "IGNClassifier",
    "IGNRegressor",
    "InducingWarning",
    "PredictionTable",
    "Report",
    "__version__",
    "load",
    "train",
]
