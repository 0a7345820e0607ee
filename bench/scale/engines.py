"""Spark, Ray and Dask beside `ign predict`: seconds from Parquet files to Parquet files on two cores, and the same numbers."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from inducing import distributed as d

MEANS = ["id", "mean", "std"]


def write(folder: Path, rows: int, shards: int) -> None:
    each = rows // shards
    for shard in range(shards):
        rng = np.random.default_rng(shard)
        columns = {f"x{i}": rng.normal(size=each) for i in range(10)}
        y = np.sin(2 * columns["x0"]) + columns["x1"] * columns["x2"] + 0.1 * rng.normal(size=each)
        table = pa.table({"id": np.arange(shard * each, (shard + 1) * each), **columns, "y": y})
        pq.write_table(table, folder / f"{shard:03}.parquet")


def by_spark(folder: Path, model: Path, out: Path) -> None:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    local = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    spark = SparkSession.builder.master("local[2]").config(map=local).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        table = d.spark_predict(spark.read.parquet(str(folder)), model, keep=["id"])
        started = time.perf_counter()
        table.write.parquet(str(out))
        print(f"    of which scoring: {time.perf_counter() - started:.0f} s")
    finally:
        spark.stop()


def by_ray(folder: Path, model: Path, out: Path) -> None:
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        ray.data.DataContext.get_current().enable_progress_bars = False
        started = time.perf_counter()
        rows = ray.data.read_parquet(str(folder))
        d.ray_predict(rows, model, keep=["id"], batch_size=65_536).write_parquet(str(out))
        print(f"    of which scoring: {time.perf_counter() - started:.0f} s")
    finally:
        ray.shutdown()


def by_dask(folder: Path, model: Path, out: Path) -> None:
    import dask.dataframe as dd
    from distributed import Client

    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None):
        started = time.perf_counter()
        d.dask_predict(dd.read_parquet(folder), model, keep=["id"]).to_parquet(out, write_index=False)
        print(f"    of which scoring: {time.perf_counter() - started:.0f} s")


def numbers(folder: Path) -> Any:
    files = [str(path) for path in folder.rglob("*.parquet")]
    table = ds.dataset(files).to_table(columns=MEANS)
    return table.take(pc.sort_indices(table["id"]))


def run(ign: Path, folder: Path, rows: int) -> None:
    model, out = folder.parent / "m.ign", folder.parent / "out"
    train = ["train", str(folder / "000.parquet"), "--target", "y", "--ignore", "id", "--preset", "single", "--no-report", "--quiet"]
    subprocess.run([ign, *train, "-o", model], check=True)
    command = [ign, "predict", model, f"{folder}/*.parquet", "--out-dir", out, "--keep", "id", "--threads", "2", "--quiet"]
    kinds: list[tuple[str, Callable[[], Any]]] = [
        ("ign predict", lambda: subprocess.run(command, check=True)),
        ("Spark", lambda: by_spark(folder, model, out)),
        ("Ray", lambda: by_ray(folder, model, out)),
        ("Dask", lambda: by_dask(folder, model, out)),
    ]
    first, alone = None, 0.0
    for name, score in kinds:
        shutil.rmtree(out, ignore_errors=True)
        started = time.perf_counter()
        score()
        took = time.perf_counter() - started
        found = numbers(out)
        first, alone = (found, took) if first is None else (first, alone)
        if any(not np.array_equal(found[column].to_numpy(), first[column].to_numpy()) for column in MEANS):
            sys.exit(f"{name} says other numbers than `ign predict`")
        print(f"{name + ':':13} {took:.0f} s for {rows:,} rows with start and end of the engine ({took / alone:.2f} ×), the same numbers", flush=True)


if __name__ == "__main__":
    sys.exit("start it by bench/scale/run engines")
