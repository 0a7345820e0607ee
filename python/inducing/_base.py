"""What both estimators share: fitting, looking into a model, files, pickles."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ._cells import Column, as_column
from ._config import seed_of, setting_lines, thread_count
from ._core import Dataset, Model, __version__, fit
from ._data import Rows, check_names, free_name, read_rows
from ._frames import series_values
from ._notebook import Explanation, Report, points_frame
from ._progress import Reporter
from ._table import PredictionTable
from ._warnings import warn_all

ImageLabels: TypeAlias = tuple[npt.NDArray[np.uint32], list[str]]

#: Of pickles. A newer one is refused, older ones are read.
PICKLE_FORMAT = 1


@dataclass(frozen=True)
class Target:
    """What is learned: columns of its own, the names of columns of the table, or labels of images and what they stand for."""

    columns: Mapping[str, Column]
    names: Sequence[str]
    settings: Mapping[str, Any]
    images: ImageLabels | None = None


class BaseIGN(BaseEstimator):
    """An inducing Gaussian process network; use :class:`IGNRegressor` or :class:`IGNClassifier`."""

    preset: str
    test_size: float | None
    inducing: int | None
    epochs: int | None
    neighbours: bool
    columns: Mapping[str, str] | None
    time_column: str | None
    group: str | None
    ignore: Sequence[str] | None
    random_state: int | np.random.RandomState | np.random.Generator | None
    n_jobs: int | None
    verbose: int
    warm_start: bool
    config: Mapping[str, Any] | None

    _model: Model
    # The columns as the core knows them, and whether they are found by name among others.
    _columns: list[str]
    _by_name: bool

    # -- training

    def _train(
        self, rows: Rows, target: Target, sample_weight: npt.NDArray[np.float64] | None, groups: Any
    ) -> tuple[Model, dict[str, Any]]:
        """A model, and the attributes that describe its inputs. The estimator stays as it is."""
        if self.warm_start:
            raise ValueError("warm_start is not supported\nhint: `update(X, y)` adds labelled rows to a fitted model")
        names, roles = rows.column_names(), dict[str, str]()
        extra: dict[str, Column] = dict(target.columns)
        if sample_weight is not None:
            roles["weight"] = free_name("sample_weight", [*names, *extra])
            extra[roles["weight"]] = sample_weight
        if groups is not None:
            roles["group"] = free_name("groups", [*names, *extra])
            extra[roles["group"]] = _groups(groups)
        if target.images is not None and not extra:
            data = rows.images(*target.images)
        else:
            data = rows.dataset(names if rows.kind in ("table", "columns") else None, extra)
        more = {"data": {"columns": rows.types}, **target.settings, **{f"data.{role}": name for role, name in roles.items()}}
        return self._train_on(data, target.names, more), self._inputs(rows, names, target)

    def _train_on(self, data: Dataset, targets: Sequence[str], more: Mapping[str, Any]) -> Model:
        """A model of a data set: with the settings of the parameters, then `more`, then `config`."""
        types = {"data": {"columns": self.columns or {}}}
        layers = (self._settings(), more, types, self.config or {})
        with Reporter(self.verbose) as reporter:
            model = fit(
                data,
                list(targets),
                preset=None if self.preset == "default" else self.preset,
                overrides=[line for layer in layers for line in setting_lines(layer)],
                threads=thread_count(self.n_jobs),
                on_progress=reporter.listener,
            )
        warn_all(model.cautions)
        return model

    def _settings(self) -> dict[str, Any]:
        return {
            "seed": seed_of(self.random_state),
            "data.test_share": self.test_size,
            "data.time_column": self.time_column,
            "data.group": self.group,
            "data.ignore": list(self.ignore) if self.ignore is not None else None,
            "gp.inducing": self.inducing,
            "train.epochs": self.epochs,
            "neighbours.count": None if self.neighbours else 0,
        }

    @staticmethod
    def _inputs(rows: Rows, names: list[str], target: Target) -> dict[str, Any]:
        inside = [name for name in target.names if name not in target.columns]
        state: dict[str, Any] = {"_columns": [name for name in names if name not in inside], "_by_name": bool(inside)}
        if rows.width is not None:
            state["n_features_in_"] = rows.width - len(inside)
        if rows.names is not None:
            state["feature_names_in_"] = np.array([name for name in rows.names if name not in inside], dtype=object)
        return state

    def _adopt(self, model: Model, state: Mapping[str, Any]) -> Self:
        """Becomes fitted, all at once."""
        for name in ("feature_names_in_", "n_features_in_"):
            if hasattr(self, name):
                delattr(self, name)
        self._model = model
        for name, given in state.items():
            setattr(self, name, given)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    # -- rows to predict

    def _dataset(self, X: Any, y: Any = None) -> Dataset:
        """The data set of some rows, with their target where there is one."""
        check_is_fitted(self)
        rows = read_rows(X, self)
        if rows.kind == "images" and y is not None:
            return rows.images(*self._target_classes(y))
        target = {} if y is None else self._target_columns(y)
        for column in target.values():
            check_lengths(rows, len(column))
        if rows.kind in ("images", "file"):
            return rows.dataset(None, target)
        if self._by_name and rows.names is not None:
            return rows.dataset(None, target)
        check_names(self, rows.names)
        self._check_width(rows)
        return rows.dataset(rows.column_names(self._columns), target)

    def _check_width(self, rows: Rows) -> None:
        if rows.width != len(self._columns):
            raise ValueError(
                f"X has {rows.width} features, but {type(self).__name__} is expecting "
                f"{len(self._columns)} features as input."
            )

    def _predictions(self, X: Any, **asked: Any) -> dict[str, npt.NDArray[np.float64]]:
        """What the core says of some rows, by the names of `Predictions`."""
        data = self._dataset(X)
        said: dict[str, Any] = dict(self._model.predict(data, threads=thread_count(self.n_jobs), **asked))
        warn_all(said.pop("notes"))
        return said

    def _target_columns(self, y: Any) -> dict[str, Column]:
        raise NotImplementedError

    def _target_classes(self, y: Any) -> ImageLabels:
        raise ValueError("images have classes\nhint: use IGNClassifier")

    def _labelled(self, X: Any, y: Any) -> Dataset:
        """A data set with its target: `y`, or columns of X where `y` is not given."""
        if y is not None:
            return self._dataset(X, y)
        check_is_fitted(self)
        return read_rows(X, self).dataset()

    def familiarity(self, X: Any) -> npt.NDArray[np.float64]:
        """How usual each row is among the training rows, as a p-value.

        0.03 means that 3 % of the training rows, when they were held out, were at least as far from the others. Rows below 0.01
        are best looked at by a person.

        Parameters
        ----------
        X : table, array, texts, images or path of a file
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)

        Raises
        ------
        ValueError
            If the model keeps no training rows (``neighbours=False``).
        """
        said = self._predictions(X)
        if "familiarity" not in said:
            raise ValueError("the model keeps no training rows, so it cannot say\nhint: train with `neighbours=True`")
        return said["familiarity"]

    def predict_table(
        self,
        X: Any,
        *,
        keep: Sequence[str] = (),
        columns: Sequence[str] = ("default",),
        intervals: Sequence[float] = (),
        quantiles: Sequence[float] = (),
        explain: bool = False,
    ) -> PredictionTable:
        """Predictions as a table, computed while it is read: streams in, stream out, in constant memory.

        Parameters
        ----------
        X : table, ``pyarrow.RecordBatchReader`` or path of a file
            Rows; columns are found by their names, and there may be others.
        keep : sequence of str
            Columns of X to copy to the output.
        columns : sequence of str
            ``"default"``, ``"all"``, or names of columns as ``ign predict --columns`` takes them.
        intervals : sequence of float
            Coverages of intervals, such as 0.9.
        quantiles : sequence of float
            Probabilities of quantiles.
        explain : bool
            Whether to say which columns move a prediction.

        Returns
        -------
        PredictionTable
            With ``__arrow_c_stream__``, ``to_arrow()``, ``to_pandas()`` and ``to_polars()``. It can be read once.
        """
        check_is_fitted(self)
        rows = read_rows(X, self)
        if rows.kind in ("images", "file"):
            dataset = rows.dataset()
        elif rows.names is not None:
            dataset = rows.dataset(None, in_memory=False)
        else:
            self._check_width(rows)
            dataset = rows.dataset(rows.column_names(self._columns), in_memory=False)
        stream = self._model.predict_stream(
            dataset,
            columns=list(columns),
            intervals=list(intervals),
            quantiles=list(quantiles),
            keep=list(keep),
            explain=explain,
            threads=thread_count(self.n_jobs),
        )
        return PredictionTable(stream)

    # -- looking into it

    def evaluate(self, X: Any, y: Any = None) -> dict[str, Any]:
        """All scores on labelled rows, as ``ign evaluate`` prints them.

        Parameters
        ----------
        X : table, array, texts, images or path of a file
            Rows.
        y : array-like, optional
            Their target. None: a column of X.

        Returns
        -------
        dict
            Name of a score -> score; for several targets, target -> such a dict.
        """
        data = self._labelled(X, y)
        return _of_single(json.loads(self._model.evaluate(data, threads=thread_count(self.n_jobs))))

    def explain(self, X: Any) -> Explanation:
        """Which columns move each prediction, and which make it unsure (Shapley values).

        Parameters
        ----------
        X : table or array
            Rows.

        Returns
        -------
        Explanation
        """
        data = self._dataset(X)
        names, effects, spread = self._model.effects(data, threads=thread_count(self.n_jobs))
        return Explanation(names, _squeezed(effects), _squeezed(spread))

    def inspect(self, X: Any = None, y: Any = None, *, nearest: int = 1) -> Any:
        """The inducing points, and the training rows that are nearest to each.

        Parameters
        ----------
        X : table, array, texts or images, optional
            Where to search for the nearest rows. None: the training rows, right after `fit`.
        y : array-like, optional
            Their target.
        nearest : int
            How many of the nearest rows to show.

        Returns
        -------
        pandas.DataFrame
            A row for each point (and each of its nearest rows).
        """
        check_is_fitted(self)
        data = None if X is None else self._dataset(X, y)
        points = self._model.inspect(data, nearest=nearest, threads=thread_count(self.n_jobs))
        return points_frame([json.loads(point) for point in points])

    def report(self, X: Any = None, y: Any = None, *, name: str = "model") -> Report:
        """A page about the model: calibration, errors, inducing points, columns that matter. It shows itself in a notebook.

        Parameters
        ----------
        X : table, array, texts, images or path of a file, optional
            Labelled rows to judge the model on. None: the rows that it was trained and tested with, right after `fit`.
        y : array-like, optional
            Their target. None: a column of X.
        name : str
            What the page calls the model.

        Returns
        -------
        Report
            ``report.save("page.html")`` writes it.
        """
        check_is_fitted(self)
        data = None if X is None else self._labelled(X, y)
        return Report(self._model.report(data, name=name, threads=thread_count(self.n_jobs)))

    def suggest(self, pool: Any, n: int = 20, *, goal: str = "learn") -> npt.NDArray[np.intp]:
        """Which rows of a pool to label next.

        Parameters
        ----------
        pool : table, array, texts or images
            Rows without labels.
        n : int
            How many to choose.
        goal : {"learn", "maximise", "minimise"}
            Rows whose labels teach most, or rows that may have the largest or smallest value.

        Returns
        -------
        ndarray of int
            Positions in the pool, best first: ``pool.iloc[model.suggest(pool, 5)]``.
        """
        data = self._dataset(pool)
        chosen = json.loads(self._model.suggest(data, count=n, goal=goal, threads=thread_count(self.n_jobs)))
        return np.array([one["row"] for one in chosen], dtype=np.intp)

    def update(self, X: Any, y: Any = None) -> dict[str, Any]:
        """Adds labelled rows in seconds, without training again.

        Parameters
        ----------
        X : table, array, texts, images or path of a file
            Rows.
        y : array-like, optional
            Their target. None: a column of X.

        Returns
        -------
        dict
            What the rows were worth: ``added``, ``kept``, ``before`` and ``after`` (scores of the new rows).
        """
        data = self._labelled(X, y)
        self._model, worth = self._model.update(data, threads=thread_count(self.n_jobs))
        told: dict[str, Any] = json.loads(worth)
        warn_all(told.pop("notes", []))
        return told

    @property
    def scores_(self) -> dict[str, Any]:
        """Scores of training: part ("out_of_fold", "validation", "test") -> score -> value."""
        return {part: _of_single(scores) for part, scores in self._header()["metrics"].items()}

    @property
    def config_(self) -> dict[str, Any]:
        """The configuration that the model was trained with, every key of it."""
        config: dict[str, Any] = self._header()["config"]
        return config

    def _header(self) -> dict[str, Any]:
        check_is_fitted(self)
        header: dict[str, Any] = json.loads(self._model.header())
        return header

    # -- files and pickles

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file, for :func:`inducing.load` and ``ign predict``.

        Parameters
        ----------
        path : path
            Such as ``"price.ign"``.
        """
        check_is_fitted(self)
        self._model.save(os.fspath(path))

    def export_onnx(
        self,
        path: str | os.PathLike[str],
        *,
        features: bool = False,
        quantiles: Sequence[float] = (0.05, 0.5, 0.95),
    ) -> None:
        """Writes the model as an ONNX file, for predictions without this package.

        Parameters
        ----------
        path : path
            Such as ``"price.onnx"``.
        features : bool
            Whether the graph also has the network's features as an output.
        quantiles : sequence of float
            Probabilities of the quantiles among the outputs, for numbers.
        """
        check_is_fitted(self)
        graph = self._model.export_onnx(features=features, quantiles=list(quantiles))
        with open(path, "wb") as file:
            file.write(graph)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        model: Model | None = state.pop("_model", None)
        state["_pickle_format"] = PICKLE_FORMAT
        state["_pickled_by"] = __version__
        if model is not None:
            state["_ign"] = model.to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        written = state.pop("_pickle_format", 0)
        version = state.pop("_pickled_by", "an unknown version")
        if written > PICKLE_FORMAT:
            raise ValueError(
                f"this pickle was written by inducing {version} in format {written}; "
                f"inducing {__version__} reads formats up to {PICKLE_FORMAT}\n"
                "hint: upgrade with `pip install -U inducing`, or exchange models as files with `save` and `inducing.load`"
            )
        model = state.pop("_ign", None)
        super().__setstate__(state)
        if model is not None:
            self._model = Model.from_bytes(model)


def inputs_of(model: Model) -> dict[str, Any]:
    """Attributes that describe the inputs of a model that was trained elsewhere."""
    names = [name for name, _ in model.columns]
    state: dict[str, Any] = {"_columns": names, "_by_name": True}
    if names:
        state["n_features_in_"] = len(names)
        state["feature_names_in_"] = np.array(names, dtype=object)
    return state


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
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{rows.length}, {count}] (X and {name})"
        )


def _groups(groups: Any) -> Column:
    values = series_values(groups)
    column = as_column(groups if values is None else values, "groups")
    # A group is a name, whatever it is written as.
    return column if isinstance(column, list) else [str(one) for one in column.tolist()]


def _of_single(scores: dict[str, Any]) -> dict[str, Any]:
    """Without the target's name where there is one target."""
    values = list(scores.values())
    return cast("dict[str, Any]", values[0]) if len(values) == 1 and isinstance(values[0], dict) else scores


def _squeezed(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return values[:, 0] if values.shape[1] == 1 else values
