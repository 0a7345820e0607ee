"""A probabilistic regressor for skpro: distributions with quantiles, densities, cumulative probabilities, CRPS and so on."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from .._regressor import IGNRegressor

try:
    import pandas as pd
    from skpro.distributions.qpd_histogram import HistogramQPD
    from skpro.regression.base import BaseProbaRegressor
except ImportError as error:
    raise ImportError(f"the adapter needs skpro 2.16 or later, but: {error}\nhint: pip install 'inducing[skpro]'") from error

# Between neighbouring probabilities the distribution is uniform: denser at the ends, where densities change most.
_PROBABILITIES = np.concatenate([[0.0005, 0.001, 0.0025, 0.005], np.linspace(0.01, 0.99, 99), [0.995, 0.9975, 0.999, 0.9995]])


class IGNProbaRegressor(BaseProbaRegressor):
    """:class:`inducing.IGNRegressor` as skpro's.

    Parameters
    ----------
    estimator : IGNRegressor or None, default=None
        What to train; None: the defaults.

    Examples
    --------
    >>> import pandas as pd
    >>> from inducing import IGNRegressor
    >>> from inducing.adapters.skpro import IGNProbaRegressor
    >>> X = pd.DataFrame({"x": range(40)})
    >>> model = IGNProbaRegressor(IGNRegressor(preset="single")).fit(X, pd.DataFrame({"y": X["x"] * 2.0}))
    >>> distribution = model.predict_proba(X)
    >>> distribution.ppf(0.9).shape
    (40, 1)
    """

    _tags: ClassVar[dict[str, Any]] = {
        "authors": ["inducing"],
        "python_dependencies": ["inducing"],
        "capability:multioutput": True,
        "capability:missing": True,
        "X_inner_mtype": "pd_DataFrame_Table",
        "y_inner_mtype": "pd_DataFrame_Table",
    }

    def __init__(self, estimator: IGNRegressor | None = None) -> None:
        self.estimator = estimator
        super().__init__()

    def _fit(self, X: Any, y: Any, C: Any = None) -> "IGNProbaRegressor":
        self.estimator_ = clone(self.estimator) if self.estimator is not None else IGNRegressor()
        self.estimator_.fit(_named(X), y)
        self._names = list(y.columns)
        return self

    def _predict(self, X: Any) -> Any:
        return pd.DataFrame(self.estimator_.predict(_named(X)), index=X.index, columns=self._names)

    def _predict_var(self, X: Any) -> Any:
        _, std = self.estimator_.predict(_named(X), return_std=True)
        return pd.DataFrame(std**2, index=X.index, columns=self._names)

    def _predict_quantiles(self, X: Any, alpha: list[float]) -> Any:
        values = self.estimator_.predict_quantiles(_named(X), alpha)  # [N, C, Q]
        columns = pd.MultiIndex.from_product([self._names, alpha])
        return pd.DataFrame(values.reshape(len(X), -1), index=X.index, columns=columns)

    def _predict_interval(self, X: Any, coverage: list[float]) -> Any:
        ends = [end for share in coverage for end in ((1 - share) / 2, (1 + share) / 2)]
        values = self.estimator_.predict_quantiles(_named(X), ends)
        columns = pd.MultiIndex.from_product([self._names, coverage, ["lower", "upper"]])
        return pd.DataFrame(values.reshape(len(X), -1), index=X.index, columns=columns)

    def _predict_proba(self, X: Any) -> Any:
        values = self.estimator_.predict_quantiles(_named(X), _PROBABILITIES)  # [N, C, Q]
        # At a bound quantiles meet, and a histogram has no bins of no width.
        width = 1e-9 * np.maximum(np.abs(values).max(axis=-1, keepdims=True), 1e-9)
        values = np.maximum.accumulate(values, axis=-1) + width * np.arange(values.shape[-1])
        rows = pd.MultiIndex.from_product([_PROBABILITIES, range(len(X))], names=["alpha", "sample"])
        table = np.moveaxis(values, -1, 0).reshape(-1, values.shape[1])
        quantiles = pd.DataFrame(table, index=rows, columns=self._names)
        found = HistogramQPD(quantiles, tails="uniform")
        found.index = X.index
        return found

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Small settings for skpro's own checks."""
        quick = {"train.pretrain_epochs": 2, "train.pretrain_min_steps": 0, "gp.inducing": 8}
        return [
            {"estimator": IGNRegressor(preset="single", config=quick)},
            {"estimator": IGNRegressor(preset="single", neighbours=False, config=quick)},
        ]


def _named(X: Any) -> Any:
    """With texts as names of columns, which skpro does not ask for."""
    return X.set_axis([str(name) for name in X.columns], axis=1)
