"""Model files and tables in files: :func:`load` and :func:`train`."""

import os
from collections.abc import Sequence
from typing import Any

from ._base import inputs_of
from ._classifier import IGNClassifier
from ._core import Dataset, Model
from ._regressor import IGNRegressor


def load(path: str | os.PathLike[str]) -> IGNRegressor | IGNClassifier:
    """The fitted estimator of a model file, written by `save` or by ``ign train``.

    Columns are found by their names, and there may be others. Parameters are the defaults; `config_` has the settings of
    training.

    Parameters
    ----------
    path : path
        Such as ``"price.ign"``.

    Returns
    -------
    IGNRegressor or IGNClassifier
        What the model is.
    """
    return _estimator(Model.load(os.fspath(path)))


def train(
    path: str | os.PathLike[str],
    target: str | Sequence[str] | None = None,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    **params: Any,
) -> IGNRegressor | IGNClassifier:
    """Trains on a file, as ``ign train`` does: the task follows from the target.

    Parameters
    ----------
    path : path
        A table (CSV, Parquet, JSON lines, .npy, also compressed), a folder of images with a sub-folder for each class, graphs, or
        the name of a public data set below `data_dir`.
    target : str or sequence of str, optional
        Columns to predict. Images and graphs have their classes with them.
    data_dir : path, optional
        Where named data sets are; None: the environment variable ``IGN_DATA``.
    **params
        Parameters of :class:`IGNRegressor` or :class:`IGNClassifier`.

    Returns
    -------
    IGNRegressor or IGNClassifier
    """
    targets = [target] if isinstance(target, str) else list(target or [])
    data = Dataset.read(os.fspath(path), data_dir=None if data_dir is None else os.fspath(data_dir))
    params = {"test_size": None, **params}
    numbers_only, classes_only = _only(IGNRegressor, IGNClassifier, params), _only(IGNClassifier, IGNRegressor, params)
    if classes_only:
        model = IGNClassifier(**params)._train_on(  # pyright: ignore[reportPrivateUsage]
            data, targets, {"data.task": "classification"}
        )
    else:
        task = {"data.task": "regression"} if numbers_only else {}
        model = IGNRegressor(**params)._train_on(data, targets, task)  # pyright: ignore[reportPrivateUsage]
    return _estimator(model, **params)


def _estimator(model: Model, **params: Any) -> IGNRegressor | IGNClassifier:
    kind = IGNRegressor if model.classes is None else IGNClassifier
    return kind._from_model(model, inputs_of(model), **params)  # pyright: ignore[reportPrivateUsage]


def _only(kind: type[Any], other: type[Any], params: dict[str, Any]) -> set[str]:
    """The parameters that one estimator has and the other does not."""
    own = set(kind._get_param_names()) - set(other._get_param_names())
    return own & set(params)
