"""Scoring and searching on Spark, Ray and Dask: thin functions that run the package on the workers.

The model is shipped once to a worker; each task predicts its rows as one stream of Arrow batches, and predicts the same when it is tried
again. Input columns are kept, unless ``keep`` names some.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from . import _core

__all__ = ["dask_predict", "ray_predict", "spark_predict", "tune"]


@lru_cache(maxsize=4)
def _model(content: bytes) -> _core.Model:
    """The model of a worker, read once."""
    return _core.Model.from_bytes(content)


def _content(model: Any) -> bytes:
    """The bytes of a model file: of a path, an estimator, or the bytes themselves."""
    if isinstance(model, bytes):
        return model
    if isinstance(model, (str, os.PathLike)):
        return Path(model).read_bytes()
    core = getattr(model, "_model", model)
    if isinstance(core, _core.Model):
        return core.to_bytes()
    raise TypeError(f"expected a model file, its bytes or a fitted estimator, got {type(model).__name__}\nhint: pass \"price.ign\"")


class _Scorer:
    """Predicts tables of Arrow; what is shipped to the workers."""

    def __init__(
        self,
        content: bytes,
        keep: Sequence[str] | None,
        columns: Sequence[str],
        intervals: Sequence[float],
        quantiles: Sequence[float],
    ) -> None:
        self.content, self.keep = content, keep
        self.asked: dict[str, Any] = {"columns": columns, "intervals": intervals, "quantiles": quantiles, "threads": 1}

    def stream(self, rows: Any, names: Sequence[str]) -> _core.PredictionStream:
        """Predictions of a stream of rows."""
        keep = list(names) if self.keep is None else list(self.keep)
        data = _core.Dataset.from_arrow(rows, in_memory=False)
        return _model(self.content).predict_stream(data, keep=keep, **self.asked)

    def table(self, rows: Any) -> Any:
        """Predictions of a pyarrow table."""
        import pyarrow as pa

        return pa.RecordBatchReader.from_stream(self.stream(rows, rows.schema.names)).read_all()

    def frame(self, rows: Any) -> Any:
        """Predictions of a pandas frame, with its index."""
        import pyarrow as pa

        table = self.table(pa.Table.from_pandas(rows, preserve_index=False))
        return table.to_pandas().set_index(rows.index)


def spark_predict(
    df: Any,
    model: Any,
    *,
    keep: Sequence[str] | None = None,
    columns: Sequence[str] = (),
    intervals: Sequence[float] = (),
    quantiles: Sequence[float] = (),
) -> Any:
    """Predict a Spark DataFrame by ``mapInArrow``.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Rows with the columns that the model reads, by their names.
    model : str, path, bytes or fitted estimator
        A model file, or what holds one.
    keep : sequence of str, optional
        Columns of ``df`` that are copied; all by default.
    columns, intervals, quantiles
        As for ``IGNRegressor.predict_table``.

    Returns
    -------
    pyspark.sql.DataFrame
        The kept columns, then ``mean``, ``lower_90``, … or ``label``, ``p_…``.
    """
    import pyarrow as pa
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    scorer = _Scorer(_content(model), keep, columns, intervals, quantiles)
    context = df.sparkSession.sparkContext
    shipped = context.broadcast(scorer)
    # What comes out, by predicting no row.
    empty = to_arrow_schema(df.schema).empty_table()
    out = pa.RecordBatchReader.from_stream(scorer.stream(empty, empty.schema.names)).schema

    def score(batches: Iterator[Any]) -> Iterator[Any]:
        first = next(batches, None)
        if first is None:
            return
        rows = pa.RecordBatchReader.from_batches(first.schema, _chain(first, batches))
        yield from pa.RecordBatchReader.from_stream(shipped.value.stream(rows, first.schema.names))

    return df.mapInArrow(score, from_arrow_schema(out))


def _chain(first: Any, rest: Iterable[Any]) -> Iterator[Any]:
    yield first
    yield from rest


def ray_predict(
    dataset: Any,
    model: Any,
    *,
    keep: Sequence[str] | None = None,
    columns: Sequence[str] = (),
    intervals: Sequence[float] = (),
    quantiles: Sequence[float] = (),
    **map_batches: Any,
) -> Any:
    """Predict a ``ray.data.Dataset`` by ``map_batches``; parameters as for :func:`spark_predict`, others go to ``map_batches``."""
    scorer = _Scorer(_content(model), keep, columns, intervals, quantiles)
    return dataset.map_batches(scorer.table, batch_format="pyarrow", **map_batches)


def dask_predict(
    ddf: Any,
    model: Any,
    *,
    keep: Sequence[str] | None = None,
    columns: Sequence[str] = (),
    intervals: Sequence[float] = (),
    quantiles: Sequence[float] = (),
) -> Any:
    """Predict a Dask DataFrame, one task a partition; parameters as for :func:`spark_predict`."""
    scorer = _Scorer(_content(model), keep, columns, intervals, quantiles)
    return ddf.map_partitions(scorer.frame, meta=scorer.frame(ddf._meta))


def tune(
    estimator: Any,
    candidates: Sequence[Mapping[str, Any]],
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    scoring: Callable[..., float] | str | None = None,
    executor: str = "joblib",
    n_jobs: int | None = None,
) -> Any:
    """Search settings by cross-validation, each fold of each candidate a task.

    Parameters
    ----------
    estimator : IGNRegressor or IGNClassifier
        What the candidates change.
    candidates : sequence of dict
        Parameters of each candidate, such as ``{"inducing": 256}`` or ``{"config": {"train.epochs": 4}}``.
    X, y
        Rows and targets, as for ``fit``.
    cv, scoring
        As for scikit-learn's ``GridSearchCV``.
    executor : {"joblib", "ray", "dask"}
        Where tasks run: local processes, Ray (``ray.init`` before), or Dask (a ``Client`` before).
    n_jobs : int, optional
        Tasks at a time.

    Returns
    -------
    sklearn.model_selection.GridSearchCV
        Fitted: ``best_params_``, ``best_estimator_``, ``cv_results_``.
    """
    from joblib import parallel_config
    from sklearn.model_selection import GridSearchCV

    if executor not in ("joblib", "ray", "dask"):
        raise ValueError(f"there is no executor {executor!r}\nhint: it is joblib, ray or dask")
    if executor == "ray":
        from ray.util.joblib import register_ray

        register_ray()
    grid = [{name: [value] for name, value in candidate.items()} for candidate in candidates]
    search = GridSearchCV(estimator, grid, cv=cv, scoring=scoring, n_jobs=n_jobs)
    with parallel_config("loky" if executor == "joblib" else executor):
        return search.fit(X, y)
