"""Tables of other libraries are read where they are, and tables larger than memory pass through."""

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inducing import IGNRegressor
from inducing._data import read_rows


@pytest.fixture(scope="module")
def model(inputs: pd.DataFrame, price: pd.Series) -> IGNRegressor:
    return IGNRegressor(config={"train.crossfit_repeats": 1, "train.blocked_folds": 0}).fit(inputs, price)


def addresses(table: pa.Table) -> list[int]:
    return [chunk.buffers()[-1].address for column in table.columns for chunk in column.chunks]


def test_arrow_is_not_copied() -> None:
    table = pa.table({"a": np.arange(1000.0), "b": np.arange(1000), "c": [str(i) for i in range(1000)]})
    dataset = read_rows(table, IGNRegressor()).dataset()
    assert dataset.buffer_addresses() == addresses(table)


def test_arrow_is_not_copied_when_a_target_joins_it() -> None:
    table = pa.table({"a": np.arange(1000.0), "b": np.arange(1000)})
    y = np.arange(1000.0)
    found = read_rows(table, IGNRegressor()).dataset(["a", "b"], {"y": y}).buffer_addresses()
    assert found == [*addresses(table), y.ctypes.data]


def test_polars_is_not_copied() -> None:
    frame = pl.DataFrame({"a": np.arange(1000.0), "b": np.arange(1000)})
    y = np.arange(1000.0)
    found = read_rows(frame, IGNRegressor()).dataset(["a", "b"], {"y": y}).buffer_addresses()
    assert found[:2] == addresses(frame.to_arrow())
    assert found[2] == y.ctypes.data


def test_pandas_is_not_copied() -> None:
    a, b, y = np.arange(1000.0), np.arange(1000), np.arange(1000.0)
    frame = pd.DataFrame({"a": a, "b": b}, copy=False)
    found = read_rows(frame, IGNRegressor()).dataset(["a", "b"], {"y": y}).buffer_addresses()
    assert found == [frame["a"].to_numpy().ctypes.data, frame["b"].to_numpy().ctypes.data, y.ctypes.data]


def test_columns_of_an_array_are_not_copied() -> None:
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(1000, 2)))
    found = read_rows(X, IGNRegressor()).dataset().buffer_addresses()
    assert found == [X[:, 0].ctypes.data, X[:, 1].ctypes.data]


def test_a_stream_is_predicted_as_a_stream(model: IGNRegressor, houses: pd.DataFrame, inputs: pd.DataFrame) -> None:
    table = pa.Table.from_pandas(houses.assign(id=range(len(houses))), preserve_index=False)
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=13))
    found = model.predict_table(reader, keep=["id"], intervals=[0.5], quantiles=[0.9])
    frame = found.to_pandas()
    assert frame["id"].tolist() == list(range(len(houses)))
    assert np.allclose(frame["mean"], model.predict(inputs), rtol=1e-5)  # six digits, as the command
    assert {"lower_50", "upper_50", "q90", "familiarity"} <= set(frame.columns)
    with pytest.raises(ValueError, match="read already"):
        found.to_arrow()
    assert model.predict_table(inputs).to_polars().height == len(inputs)
    assert model.predict_table(inputs.to_dict("list")).to_arrow().num_rows == len(inputs)
    assert pl.DataFrame(model.predict_table(pl.from_pandas(inputs), columns=["all"])).height == len(inputs)


def test_a_reader_made_by_python_code_does_not_deadlock(model: IGNRegressor, inputs: pd.DataFrame) -> None:
    table = pa.Table.from_pandas(inputs, preserve_index=False)

    def batches() -> Any:
        for _ in range(50):
            yield from table.to_batches(max_chunksize=40)

    def reader() -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(table.schema, batches())

    assert model.predict_table(reader()).to_arrow().num_rows == 50 * len(inputs)
    assert model.predict_table(reader()).to_polars().height == 50 * len(inputs)
    assert len(model.predict_table(reader()).to_pandas()) == 50 * len(inputs)
    assert len(model.predict(reader())) == 50 * len(inputs)
    # A consumer that stops early is no error.
    first = model.predict_table(reader()).to_reader().read_next_batch()
    assert first.num_rows > 0


MEMORY = """
import resource
import numpy as np, pyarrow as pa
from inducing import IGNRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 4))
names = ["a", "b", "c", "d", *(f"other{i}" for i in range(60))]
model = IGNRegressor(preset="single", neighbours=False, config={"train.pretrain_min_steps": 0, "train.pretrain_epochs": 1,
    "encoder.hidden": [8], "encoder.frequencies": 0, "gp.inducing": 4})
model.fit(dict(zip(names, X.T)), X[:, 0])
batch = pa.record_batch([pa.array(rng.normal(size=10_000)) for _ in names], names=names)
schema = batch.schema
rows = 0
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
# 200 batches of 5 MB: a gigabyte, under a limit of far less.
source = pa.RecordBatchReader.from_batches(schema, (batch_of() for batch_of in [lambda: pa.record_batch(
    [pa.array(rng.normal(size=10_000)) for _ in names], names=names)] * 200))
for part in model.predict_table(source, columns=["mean"]).to_reader():
    rows += part.num_rows
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(rows, (after - before) // 1024)
"""


def test_a_table_larger_than_memory_passes_through() -> None:
    said = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True, timeout=300).stdout
    rows, megabytes = map(int, said.split())
    assert rows == 2_000_000
    # A few batches of 5 MB are on their way at a time, of 1,000 MB.
    assert megabytes < 150
