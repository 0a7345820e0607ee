""":class:`IGNClassifier`: classes, with calibrated probabilities."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from ._base import ImageLabels, Target
from ._cells import Column
from ._checks import check_lengths, check_weights
from ._core import Model
from ._data import free_name, read_rows
from ._labels import ClassNames, Labels, check_labels
from ._persistence import PersistentIGN

Floats = npt.NDArray[np.float64]


class IGNClassifier(ClassifierMixin, PersistentIGN):
    """Classification with calibrated probabilities: an inducing Gaussian process network.

    It reads tables as they are (numbers, texts, categories, dates, missing values), lists of texts, and images.

    Parameters
    ----------
    preset : {"default", "single", "paper"}, default="default"
        Where all settings start from. "single" trains one network in place of eight.
    test_size : float or None, default=0.0
        Share of the rows that is held out and scored (`scores_`, `report`). With 0 all rows are learned from. None: a tenth from
        1,000 rows on, as ``ign train`` does.
    inducing : int or None, default=None
        Number of inducing points of each network (``gp.inducing``).
    epochs : int or None, default=None
        Epochs of network and process together (``train.epochs``).
    neighbours : bool, default=True
        Whether the model keeps training rows. Without, models are smaller and give no data away, but predict worse and do not
        know `familiarity`.
    columns : dict or None, default=None
        Types of columns that are not to be recognised: "number", "boolean", "category", "text", "date_time" or "ignore".
    class_weight : dict, "balanced" or None, default=None
        Weights of classes; "balanced": all classes count the same.
    threshold : float or str or None, default=None
        Of two classes: from which probability on the second of `classes_` is predicted, or "f1", "balanced_accuracy",
        "precision=0.9", "recall=0.9", by which held-out rows choose it. None: the more probable class.
    costs : list of lists of float or None, default=None
        A row for each true class, in it the cost of each decision, both in the order of `classes_`.
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
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        Number of columns of a table.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had names.
    scores_ : dict
        Scores of training.
    config_ : dict
        All settings.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from inducing import IGNClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = IGNClassifier(preset="single").fit(X, y)
    >>> model.predict_proba(X.head(2)).round().tolist()
    [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    """

    classes_: Labels
    _names: ClassNames

    def __init__(
        self,
        *,
        preset: str = "default",
        test_size: float | None = 0.0,
        inducing: int | None = None,
        epochs: int | None = None,
        neighbours: bool = True,
        columns: Mapping[str, str] | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str | None = None,
        costs: Sequence[Sequence[float]] | None = None,
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
        self.class_weight = class_weight
        self.threshold = threshold
        self.costs = costs
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
        X : table, array, texts, images or path of a file
            pandas, polars, pyarrow, DuckDB, anything with ``__arrow_c_stream__``; numpy arrays; a dict of columns; a list of
            texts; images as uint8 of shape (n, height, width) or (n, height, width, 3).
        y : array-like of shape (n_samples,), or str
            Labels: texts, numbers or booleans. Or the name of a column of X.
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
        weights = check_weights(sample_weight, rows.length)
        if isinstance(y, str):
            target = Target({}, [y], {"data.task": "classification"})
            model, state = self._train(rows, target, weights, groups)
            return self._adopt(model, {**state, **_classes_of(model)})
        labels = check_labels(y)
        check_lengths(rows, len(labels))
        names = ClassNames.of_labels(labels)
        weights = self._weighted(labels, weights, names)
        if rows.kind == "images":
            target = Target({}, [], {}, images=(names.codes(labels).astype(np.uint32), names.texts))
        else:
            own = getattr(y, "name", None)
            name = free_name(own if isinstance(own, str) and own else "target", rows.column_names())
            settings: dict[str, Any] = {"data.task": "classification"}
            if names.kind != "number":
                settings["data.columns"] = {name: names.kind}
            target = Target({name: names.column(labels)}, [name], settings)
        model, state = self._train(rows, target, weights, groups)
        return self._adopt(model, {**state, "classes_": names.labels, "_names": names})

    @classmethod
    def _from_model(cls, model: Model, state: Mapping[str, Any], **params: Any) -> Self:
        return cls(**params)._adopt(model, {**state, **_classes_of(model)})

    def _settings(self) -> dict[str, Any]:
        return {
            **super()._settings(),
            "train.class_weights": "balanced" if self.class_weight == "balanced" else None,
            "train.threshold": None if self.threshold is None else str(self.threshold),
            "train.costs": None if self.costs is None else np.asarray(self.costs, dtype=np.float64),
        }

    def _weighted(self, labels: Labels, weights: Floats | None, names: ClassNames) -> Floats | None:
        """Weights of rows, times those of their classes."""
        present = names.labels if weights is None else np.unique(labels[weights > 0])
        if len(present) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, but the rows have only one class: {present.tolist()}"
            )
        if self.class_weight is None or isinstance(self.class_weight, str):
            if self.class_weight not in (None, "balanced"):
                raise ValueError(f'class_weight is {self.class_weight!r}, but has to be a dict, "balanced" or None')
            return weights
        of_classes: Floats = compute_sample_weight(dict(self.class_weight), labels)
        return of_classes if weights is None else weights * of_classes

    def predict(self, X: Any) -> Labels:
        """The class of each row: the more probable one, or what `threshold` or `costs` decide.

        Parameters
        ----------
        X : table, array, texts, images or path of a file
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        said = self._predictions(X)
        found: Labels = self.classes_[self._positions()[said["label"].astype(np.intp)]]
        return found

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class.

        Parameters
        ----------
        X : table, array, texts, images or path of a file
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        said = self._predictions(X)
        probabilities = said["probabilities"]
        found = np.zeros((len(probabilities), len(self.classes_)))
        found[:, self._positions()] = probabilities
        return found

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of :meth:`predict_proba`.

        Parameters
        ----------
        X : table, array, texts, images or path of a file
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):  # log 0
            logarithm: Floats = np.log(self.predict_proba(X))
        return logarithm

    def set_threshold(self, threshold: float) -> Self:
        """Of two classes: from which probability on the second of `classes_` is predicted, from now on.

        Parameters
        ----------
        threshold : float
            Between 0 and 1.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self._model = self._model.with_threshold(threshold)
        return self

    def _positions(self) -> npt.NDArray[np.intp]:
        return self._names.positions(self._model.classes or [])

    def _target_columns(self, y: Any) -> dict[str, Column]:
        labels = check_labels(y)
        self._names.codes(labels)  # refuses unknown ones
        return {self._model.targets[0]: self._names.column(labels)}

    def _target_classes(self, y: Any) -> ImageLabels:
        return self._names.codes(check_labels(y)).astype(np.uint32), self._names.texts

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Not `string`: that tag means lists of texts whose cells nobody looks at, and here a column of several types is refused.
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.three_d_array = True
        return tags


def _classes_of(model: Model) -> dict[str, Any]:
    """The classes of a model that was trained on its own labels."""
    core = model.classes
    if core is None:
        raise ValueError("the model predicts numbers\nhint: use IGNRegressor, or `inducing.load`, which knows")
    kind = model.kind
    if kind == "table":
        target: dict[str, str] = json.loads(model.header())["schema"]["targets"]
        kind = target["column_type"]
    names = ClassNames.of_model(core, kind)
    return {"classes_": names.labels, "_names": names}
