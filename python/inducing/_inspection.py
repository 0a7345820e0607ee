"""Looking into a fitted model: familiarity, tables of predictions, scores, reports; and what new labels do."""

import json
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ._base import BaseIGN
from ._config import thread_count
from ._data import read_rows
from ._notebook import Explanation, Report, points_frame
from ._table import PredictionTable
from ._warnings import warn_all


class InspectableIGN(BaseIGN):
    """Methods that do not depend on the kind of target."""

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
            raise ValueError(
                "the model keeps no training rows, so it cannot say\n"
                "hint: train with `preset=\"default\"`, `neighbours=True` and at least 16 rows"
            )
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
        elif rows.names is not None or (self._by_name and not self._columns):
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


def _of_single(scores: dict[str, Any]) -> dict[str, Any]:
    """Without the target's name where there is one target."""
    values = list(scores.values())
    return cast("dict[str, Any]", values[0]) if len(values) == 1 and isinstance(values[0], dict) else scores


def _squeezed(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return values[:, 0] if values.shape[1] == 1 else values
