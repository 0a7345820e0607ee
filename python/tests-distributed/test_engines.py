"""Spark, Ray and Dask score as the command does: the same numbers, whatever the parts."""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from inducing import IGNClassifier, IGNRegressor
from inducing import distributed as d

QUICK: dict[str, Any] = {
    "preset": "single",
    "n_jobs": 1,
    "config": {"train.pretrain_epochs": 2, "train.pretrain_min_steps": 0, "train.epochs": 1, "gp.inducing": 8},
}
ROWS = 5000


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": np.arange(ROWS), "a": rng.normal(size=ROWS), "b": rng.choice(["u", "v"], ROWS)})
    frame["y"] = 2 * frame.a + (frame.b == "u")
    return frame


@pytest.fixture(scope="module")
def model(rows: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "y.ign"
    IGNRegressor(**QUICK).fit(rows[["a", "b"]][:400], rows["y"][:400]).save(path)
    return path


@pytest.fixture(scope="module")
def expected(rows: pd.DataFrame, model: Path) -> pd.DataFrame:
    import inducing

    return inducing.load(model).predict_table(rows, keep=list(rows.columns)).to_pandas()


def same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    found = found.sort_values("id").reset_index(drop=True)
    assert list(found.columns) == list(expected.columns)
    for name in ("mean", "lower_90", "upper_90", "std"):
        assert found[name].tolist() == expected[name].tolist(), name


def test_dask(rows: pd.DataFrame, model: Path, expected: pd.DataFrame) -> None:
    dd = pytest.importorskip("dask.dataframe")
    same(d.dask_predict(dd.from_pandas(rows, npartitions=7), model).compute(), expected)


def test_ray(rows: pd.DataFrame, model: Path, expected: pd.DataFrame) -> None:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        same(d.ray_predict(ray.data.from_pandas(rows), model, batch_size=700).to_pandas(), expected)
    finally:
        ray.shutdown()


def test_spark(rows: pd.DataFrame, model: Path, expected: pd.DataFrame) -> None:
    sql = pytest.importorskip("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    try:
        table = d.spark_predict(spark.createDataFrame(rows).repartition(5), model)
        same(table.toPandas(), expected)
        # Columns that are not asked for do not come back.
        assert d.spark_predict(spark.createDataFrame(rows), model, keep=["id"]).columns[0:2] == ["id", "mean"]
    finally:
        spark.stop()


def test_folds_of_candidates_are_tasks(rows: pd.DataFrame) -> None:
    search = d.tune(IGNRegressor(**QUICK), [{"inducing": 8}, {"inducing": 16}], rows[["a", "b"]][:300], rows["y"][:300], cv=2, n_jobs=2)
    assert search.best_params_["inducing"] in (8, 16)
    assert search.best_estimator_.score(rows[["a", "b"]], rows["y"]) > 0.9
    with pytest.raises(ValueError, match="no executor"):
        d.tune(IGNClassifier(), [{}], [[1.0]], [1], executor="slurm")


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a model file"):
        d.dask_predict(None, 5)
    with pytest.raises(FileNotFoundError):
        d.dask_predict(None, "none.ign")
