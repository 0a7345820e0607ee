"""What both estimators share: parameters, training, rows on their way into the core."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ._cells import Column, as_column
from ._checks import check_lengths
from ._config import seed_of, setting_lines, thread_count
from ._core import Dataset, Model, fit
from ._data import TEXT, Rows, check_names, free_name, read_rows
from ._frames import series_values
from ._progress import Reporter
from ._warnings import errors_in_python, warn_all

ImageLabels: TypeAlias = tuple[npt.NDArray[np.uint32], list[str]]


@dataclass(frozen=True)
class Target:
    """What is learned: columns of its own, the names of columns of the table, or labels of images and what they stand for."""

    columns: Mapping[str, Column]
    names: Sequence[str]
    settings: Mapping[str, Any]
    images: ImageLabels | None = None


class BaseIGN(BaseEstimator):
    """What :class:`IGNRegressor` and :class:`IGNClassifier` have in common: an inducing Gaussian process network."""

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
    # The columns as the core knows them, and whether they are found by name among others. Empty for a file of a model whose rows had
    # no names: x0, x1, … are then found by position, and how many there were besides is not known.
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
        with errors_in_python(), Reporter(self.verbose) as reporter:
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
        if self._by_name and (rows.names is not None or not self._columns):
            return rows.dataset(None, target)
        check_names(self, rows.names)
        self._check_width(rows)
        return rows.dataset(rows.column_names(self._columns), target)

    def _check_width(self, rows: Rows) -> None:
        if rows.width != len(self._columns):
            raise ValueError(
                f"X has {rows.width} features, but {type(self).__name__} is expecting {len(self._columns)} features as input."
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


def inputs_of(model: Model) -> dict[str, Any]:
    """Attributes that describe the inputs of a model that was trained elsewhere."""
    names = [name for name, _ in model.columns]
    if names == [TEXT] or all(re.fullmatch(r"x\d+", name) for name in names):
        return {"_columns": [], "_by_name": True}
    state: dict[str, Any] = {"_columns": names, "_by_name": True}
    if names:
        state["n_features_in_"] = len(names)
        state["feature_names_in_"] = np.array(names, dtype=object)
    return state


def _groups(groups: Any) -> Column:
    values = series_values(groups)
    column = as_column(groups if values is None else values, "groups")
    # A group is a name, whatever it is written as.
    return column if isinstance(column, list) else [str(one) for one in column.tolist()]
