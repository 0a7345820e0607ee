""":class:`IGNRegressor`: numbers, with intervals."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, overload

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_array

from ._base import Target
from ._cells import Column
from ._checks import check_lengths, check_weights
from ._config import seed_of
from ._core import Model
from ._data import free_name, read_rows
from ._persistence import PersistentIGN

Floats = npt.NDArray[np.float64]


class IGNRegressor(RegressorMixin, PersistentIGN):
    """Regression with calibrated uncertainty: an inducing Gaussian process network.

    A neural encoder maps each row to features, a Gaussian process with learned inducing points predicts from them, and training
    rows join as local inducing points. There is nothing to prepare: numbers, texts, categories, dates and missing values are
    recognised.

    Parameters
    ----------
    preset : {"default", "single", "paper"}, default="default"
        Where all settings start from. "single" trains one network in place of eight.
    test_size : float or None, default=0.0
        Share of the rows that is held out and scored (`scores_`, `report`). With 0 all rows are learned from, and scores are of
        rows that the predicting networks never learned from. None: a tenth from 1,000 rows on, as ``ign train`` does.
    inducing : int or None, default=None
        Number of inducing points of each network (``gp.inducing``).
    epochs : int or None, default=None
        Epochs of network and process together (``train.epochs``).
    neighbours : bool, default=True
        Whether the model keeps training rows. Without, models are smaller and give no data away, but predict worse and do not
        know `familiarity`.
    columns : dict or None, default=None
        Types of columns that are not to be recognised: "number", "boolean", "category", "text", "date_time" or "ignore".
    bounds : tuple or str or None, default=None
        The range that predictions stay in, such as ``(0, None)``. None: what the target's values suggest; ``","``: none.
    time_column : str or None, default=None
        Column by which the latest rows are held out (with `test_size`).
    group : str or None, default=None
        Column whose equal values are held out together; `fit` takes such values as `groups`, too.
    ignore : list of str or None, default=None
        Columns that are not used.
    random_state : int, RandomState, Generator or None, default=None
        Seed. None: that of the configuration, so that the same call gives the same model.
    n_jobs : int or None, default=None
        Threads; results do not depend on them. None: ``RAYON_NUM_THREADS`` or ``OMP_NUM_THREADS`` if set, else all cores; -1: all
    verbose : int, default=0
        1 shows progress and all notices.
    warm_start : bool, default=False
        Only False; `update` adds rows to a fitted model.
    config : dict or None, default=None
        Any other setting, flat or nested: ``{"train.epochs": 5, "gp": {"kernel": "matern52"}}``.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had names.
    scores_ : dict
        Scores of training.
    config_ : dict
        All settings.

    Examples
    --------
    >>> import numpy as np
    >>> from inducing import IGNRegressor
    >>> x = np.linspace(0, 6, 80)
    >>> model = IGNRegressor(preset="single").fit(x[:, None], np.sin(x))
    >>> mean, std = model.predict([[1.0], [2.0]], return_std=True)
    >>> bool(np.all(np.abs(mean - np.sin([1.0, 2.0])) < 4 * std))
    True
    >>> model.predict_interval([[1.0]], 0.9).shape
    (1, 2)
    """

    _targets: list[str]
    _is_single: bool

    def __init__(
        self,
        *,
        preset: str = "default",
        test_size: float | None = 0.0,
        inducing: int | None = None,
        epochs: int | None = None,
        neighbours: bool = True,
        columns: Mapping[str, str] | None = None,
        bounds: tuple[float | None, float | None] | str | None = None,
        time_column: str | None = None,
        group: str | None = None,
        ignore: Sequence[str] | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        self.preset = preset
        self.test_size = test_size
        self.inducing = inducing
        self.epochs = epochs
        self.neighbours = neighbours
        self.columns = columns
        self.bounds = bounds
        self.time_column = time_column
        self.group = group
        self.ignore = ignore
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start
        self.config = config

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Trains.

        Parameters
        ----------
        X : table, array, texts or path of a file
            pandas, polars, pyarrow, DuckDB, anything with ``__arrow_c_stream__``; numpy arrays; a dict of columns; a list of
            texts.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), or str
            Target, or the name of a column of X.
        sample_weight : array-like of shape (n_samples,), optional
            Weights in losses, calibration and scores; 0 leaves a row out.
        groups : array-like of shape (n_samples,), optional
            Rows of one group are held out together.

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        rows = read_rows(X, self, fitting=True)
        if isinstance(y, str):
            columns, names, single = dict[str, Column](), [y], True
        else:
            values, single = _numbers(y, self), _is_one_dimensional(y)
            check_lengths(rows, len(values))
            names = _target_names(y, values.shape[1], rows.column_names() if rows.width is not None else [])
            columns = {name: np.ascontiguousarray(values[:, at]) for at, name in enumerate(names)}
        weights = check_weights(sample_weight, rows.length)
        model, state = self._train(rows, Target(columns, names, {"data.task": "regression"}), weights, groups)
        return self._adopt(model, {**state, "_targets": names, "_is_single": single})

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "data.bounds": _bounds(self.bounds)}

    @classmethod
    def _from_model(cls, model: Model, state: Mapping[str, Any], **params: Any) -> Self:
        targets = model.targets
        return cls(**params)._adopt(model, {**state, "_targets": targets, "_is_single": len(targets) == 1})

    @overload
    def predict(self, X: Any, return_std: Literal[False] = ...) -> Floats: ...
    @overload
    def predict(self, X: Any, return_std: Literal[True]) -> tuple[Floats, Floats]: ...
    def predict(self, X: Any, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """The mean.

        Parameters
        ----------
        X : table, array, texts or path of a file
            Rows.
        return_std : bool, default=False
            Whether to return the standard deviation of an observation, too: noise and ignorance together.

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_targets)
        std : ndarray of the same shape
            Only if ``return_std``.
        """
        said = self._predictions(X)
        mean = self._shaped(said["mean"])
        return (mean, self._shaped(said["std"])) if return_std else mean

    def predict_latent_std(self, X: Any) -> Floats:
        """Standard deviation of the function behind the observations: ignorance alone, which more rows would lower.

        Parameters
        ----------
        X : table, array, texts or path of a file
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._shaped(self._predictions(X)["std_latent"])

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Lower and upper ends of central intervals that hold this share of observations.

        Parameters
        ----------
        X : table, array, texts or path of a file
            Rows.
        coverage : float, default=0.9
            Between 0 and 1.

        Returns
        -------
        ndarray of shape (n_samples, 2) or (n_samples, n_targets, 2)
        """
        if not 0 < coverage < 1:
            raise ValueError(f"coverage is {coverage}, but lies between 0 and 1")
        return self.predict_quantiles(X, [(1 - coverage) / 2, (1 + coverage) / 2])

    def predict_quantiles(self, X: Any, quantiles: Sequence[float] | Floats) -> Floats:
        """Values below which an observation stays with these probabilities. They never cross.

        Parameters
        ----------
        X : table, array, texts or path of a file
            Rows.
        quantiles : sequence of float
            Probabilities between 0 and 1.

        Returns
        -------
        ndarray of shape (n_samples, n_quantiles) or (n_samples, n_targets, n_quantiles)
        """
        probabilities = [float(one) for one in quantiles]
        if not all(0 < one < 1 for one in probabilities):
            raise ValueError(f"quantiles are {probabilities}, but lie between 0 and 1")
        return self._shaped(self._predictions(X, quantiles=probabilities)["quantiles"])

    def predict_density(self, X: Any, grid: npt.ArrayLike) -> Floats:
        """How probable each value of the grid is.

        Parameters
        ----------
        X : table, array, texts or path of a file
            Rows.
        grid : array-like of shape (n_values,)
            Values of the target.

        Returns
        -------
        ndarray of shape (n_samples, n_values) or (n_samples, n_targets, n_values)
        """
        values = np.atleast_1d(np.asarray(grid, dtype=np.float64))
        return self._shaped(self._predictions(X, grid=values)["density"])

    def sample(self, X: Any, n: int = 1, random_state: int | np.random.RandomState | None = 0) -> Floats:
        """Draws observations of each row.

        Parameters
        ----------
        X : table, array, texts or path of a file
            Rows.
        n : int, default=1
            Draws of each.
        random_state : int, RandomState, Generator or None, default=0
            None: other draws each time.

        Returns
        -------
        ndarray of shape (n_samples, n) or (n_samples, n_targets, n)
        """
        seed = seed_of(np.random.default_rng() if random_state is None else random_state)
        return self._shaped(self._predictions(X, samples=n, seed=seed)["samples"])

    def _shaped(self, values: Floats) -> Floats:
        """Without the axis of targets where y had none."""
        return values[:, 0] if self._is_single else values

    def _target_columns(self, y: Any) -> dict[str, Column]:
        values = _numbers(y, self)
        if values.shape[1] != len(self._targets):
            raise ValueError(f"y has {values.shape[1]} targets, but the model has {len(self._targets)}")
        return {name: np.ascontiguousarray(values[:, at]) for at, name in enumerate(self._targets)}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Not `string`: that tag means lists of texts whose cells nobody looks at, and here a column of several types is refused.
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.target_tags.multi_output = True
        return tags


def _numbers(y: Any, estimator: object) -> Floats:
    values: Floats = check_array(
        y, dtype=np.float64, ensure_2d=False, ensure_all_finite=True, ensure_min_samples=1, input_name="y", estimator=estimator
    )
    return values[:, None] if values.ndim == 1 else values


def _is_one_dimensional(y: Any) -> bool:
    return bool(np.asarray(y).ndim == 1)


def _target_names(y: Any, count: int, taken: Sequence[str]) -> list[str]:
    if count == 1 and getattr(y, "columns", None) is None:
        own = getattr(y, "name", None)
        return [free_name(own if isinstance(own, str) and own else "target", taken)]
    columns = getattr(y, "column_names", None) or getattr(y, "columns", None)
    names = [str(name) for name in columns] if columns is not None else [f"y{at}" for at in range(count)]
    found: list[str] = []
    for name in names:
        found.append(free_name(name, [*taken, *found]))
    return found


def _bounds(bounds: tuple[float | None, float | None] | str | None) -> str | None:
    """
    >>> _bounds((0, None)), _bounds("0,100"), _bounds(None)
    ('0,', '0,100', None)
    """
    if bounds is None or isinstance(bounds, str):
        return bounds
    return ",".join("" if end is None else repr(end) for end in bounds)
