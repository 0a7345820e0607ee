"""Whatever a table is made with, it gives the same model."""

import datetime
import warnings
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from inducing import IGNClassifier, IGNRegressor, InducingWarning


def as_kind(frame: pd.DataFrame, kind: str) -> Any:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    match kind:
        case "pandas":
            return frame
        case "pandas with an index":
            return frame.set_index(np.arange(len(frame))[::-1] % 7)
        case "pandas of objects":
            return frame.astype({"city": object, "rooms": object})
        case "polars":
            return pl.from_arrow(table)
        case "polars lazy":
            return pl.from_arrow(table).lazy()
        case "pyarrow":
            return table
        case "record batch":
            return table.combine_chunks().to_batches()[0]
        case "reader":
            return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=17))
        case "duckdb":
            return duckdb.arrow(table)
        case "dict":
            return {name: frame[name].tolist() for name in frame.columns}
        case "dict of arrays":
            return {name: frame[name].to_numpy() for name in frame.columns}
        case _:
            raise AssertionError(kind)


KINDS = [
    "pandas",
    "pandas with an index",
    "pandas of objects",
    "polars",
    "polars lazy",
    "pyarrow",
    "record batch",
    "reader",
    "duckdb",
    "dict",
    "dict of arrays",
]


@pytest.fixture(scope="module")
def reference(inputs: pd.DataFrame, price: pd.Series) -> Any:
    from conftest import QUICK

    return IGNRegressor(**QUICK).fit(inputs, price).predict(inputs)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_model(
    kind: str, inputs: pd.DataFrame, price: pd.Series, quick: dict[str, Any], reference: Any
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = IGNRegressor(**quick).fit(as_kind(inputs, kind), price)
    assert list(model.feature_names_in_) == list(inputs.columns)
    assert model.n_features_in_ == 5
    assert np.array_equal(model.predict(as_kind(inputs, kind)), reference)


def test_pandas_without_pyarrow_gives_the_same_model(
    inputs: pd.DataFrame, price: pd.Series, quick: dict[str, Any], reference: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inducing._data.has_pyarrow", lambda: False)
    assert np.array_equal(IGNRegressor(**quick).fit(inputs, price).predict(inputs), reference)


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "series", "list", "column"])
def test_every_kind_of_target_gives_the_same_model(
    kind: str, inputs: pd.DataFrame, price: pd.Series, quick: dict[str, Any], reference: Any
) -> None:
    y: Any = {
        "polars": pl.Series("price", price.to_numpy()),
        "pyarrow": pa.chunked_array([price.to_numpy()]),
        "series": price,
        "list": price.tolist(),
        "column": price.to_frame(),
    }[kind]
    found = IGNRegressor(**quick).fit(inputs, y).predict(inputs)
    assert found.shape == ((len(inputs), 1) if kind == "column" else (len(inputs),))
    assert np.array_equal(found.ravel(), reference)


def test_a_target_may_be_named(houses: pd.DataFrame, quick: dict[str, Any], reference: Any) -> None:
    model = IGNRegressor(**quick).fit(houses, "price")
    assert "price" not in list(model.feature_names_in_)
    assert model.n_features_in_ == 5
    assert np.array_equal(model.predict(houses), reference)
    assert np.array_equal(model.predict(houses.drop(columns="price")), reference)
    assert model.evaluate(houses)["rmse"] > 0


def test_arrays_have_columns_by_position(quick: dict[str, Any]) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    X[4, 1] = np.nan
    y = X[:, 0]
    model = IGNRegressor(**quick).fit(X, y)
    assert not hasattr(model, "feature_names_in_")
    found = model.predict(X)
    for same in (X.astype(object), np.asfortranarray(X), X.tolist(), np.ascontiguousarray(X[:, ::-1])[:, ::-1]):
        assert np.array_equal(model.predict(same), found)
    assert np.array_equal(IGNRegressor(**quick).fit(X.tolist(), y.tolist()).predict(X), found)
    # Frames whose names are no texts are arrays, too.
    assert np.array_equal(model.predict(pd.DataFrame(X)), found)
    with pytest.warns(UserWarning, match="X has feature names, but IGNRegressor was fitted without"):
        assert np.array_equal(model.predict(pd.DataFrame(X, columns=["a", "b", "c"])), found)


def test_an_array_of_objects_holds_columns_of_several_types(quick: dict[str, Any]) -> None:
    rng = np.random.default_rng(1)
    X = np.empty((60, 3), dtype=object)
    X[:, 0] = rng.normal(size=60)
    X[:, 1] = rng.choice(["red", "green"], 60)
    X[:, 2] = [None if i % 9 == 0 else bool(i % 2) for i in range(60)]
    model = IGNRegressor(**quick).fit(X, X[:, 0].astype(float) + (X[:, 1] == "red"))
    assert [kind for _, kind in model._model.columns] == ["number", "category", "boolean"]
    assert model.predict(X.tolist()).shape == (60,)


def test_types_of_columns_are_kept(quick: dict[str, Any]) -> None:
    rng = np.random.default_rng(2)
    n = 60
    frame = pd.DataFrame(
        {
            "code": pd.Categorical(rng.integers(0, 4, n)),
            "level": pd.Categorical.from_codes(rng.integers(0, 2, n), categories=[0.5, 1.5]),
            "bin": pd.cut(rng.random(n), 3),
            "month": pd.period_range("2020-01", periods=n, freq="M"),
            "took": pd.to_timedelta(rng.integers(1, 99, n), unit="s"),
            "nullable": pd.array(rng.integers(0, 9, n), dtype="Int64"),
            "flag": pd.array([None, *(rng.random(n - 1) < 0.5)], dtype="boolean"),
            "sparse": pd.arrays.SparseArray(rng.integers(0, 2, n).astype(float)),
            "zoned": pd.date_range("2020", periods=n, tz="Europe/Oslo"),
            "day": [datetime.date(2020, 1 + i % 12, 1 + i % 28) for i in range(n)],
        }
    )
    before = frame.copy()
    model = IGNRegressor(**quick).fit(frame, frame.nullable.astype(float))
    assert dict(model._model.columns) == {
        "code": "category",
        "level": "category",
        "bin": "category",
        "month": "date_time",
        "took": "number",
        "nullable": "number",
        "flag": "boolean",
        "sparse": "number",
        "zoned": "date_time",
        "day": "date_time",
    }
    assert np.isfinite(model.predict(frame)).all()
    pd.testing.assert_frame_equal(frame, before)
    # As polars has it.
    columns = pl.DataFrame(
        {
            "code": pl.Series(["a", "b"] * 30, dtype=pl.Categorical),
            "took": pl.Series([datetime.timedelta(seconds=i) for i in range(60)]),
        }
    )
    model = IGNRegressor(**quick).fit(columns, np.arange(60) % 7)
    assert dict(model._model.columns)["code"] == "category"


def test_columns_are_declared(inputs: pd.DataFrame, price: pd.Series, quick: dict[str, Any]) -> None:
    model = IGNRegressor(columns={"rooms": "category", "sold": "ignore"}, ignore=["garden"], **quick).fit(inputs, price)
    assert dict(model._model.columns) == {"rooms": "category", "area": "number", "city": "category"}
    odd = inputs.rename(columns={"rooms": "ro.o=ms"})
    model = IGNRegressor(columns={"ro.o=ms": "category"}, **quick).fit(odd, price)
    assert dict(model._model.columns)["ro.o=ms"] == "category"


def test_the_target_does_not_clash_with_a_column(inputs: pd.DataFrame, price: pd.Series, quick: dict[str, Any]) -> None:
    clashing = inputs.rename(columns={"area": "price", "rooms": "target", "garden": "sample_weight"})
    weights = np.ones(len(price))
    model = IGNRegressor(**quick).fit(clashing, price, sample_weight=weights, groups=np.arange(len(price)) // 3)
    assert model._model.targets == ["price_"]
    assert model.predict(clashing).shape == (len(price),)
    assert model.config_["data"]["weight"] == "sample_weight_"
    assert model.config_["data"]["group"] == "groups"


def test_several_targets_are_predicted_together(inputs: pd.DataFrame, price: pd.Series, quick: dict[str, Any]) -> None:
    both = np.column_stack([price, -price])
    model = IGNRegressor(**quick).fit(inputs, both)
    assert model._model.targets == ["y0", "y1"]
    mean, std = model.predict(inputs, return_std=True)
    assert mean.shape == std.shape == (len(price), 2)
    assert model.predict_interval(inputs, 0.5).shape == (len(price), 2, 2)
    assert model.predict_density(inputs, [0.0, 1.0, 2.0]).shape == (len(price), 2, 3)
    assert set(model.evaluate(inputs, both)) == {"y0", "y1"}
    frame = pd.DataFrame(both, columns=["up", "down"])
    assert IGNRegressor(**quick).fit(inputs, frame)._model.targets == ["up", "down"]


def test_texts_come_as_a_list_an_array_or_a_series() -> None:
    good = ["what a lovely evening this was", "a film that I would see again", "moving and funny to the very end"]
    bad = ["what a waste of an evening", "a film that nobody should see", "boring and loud to the very end"]
    texts, labels = (good + bad) * 10, [1, 1, 1, 0, 0, 0] * 10
    quick = {"config": {"train.pretrain_epochs": 3, "gp.inducing": 8}}
    model = IGNClassifier(**quick).fit(texts, labels)
    assert model._model.columns == [("text", "text")]
    found = model.predict_proba(texts)
    for same in (np.array(texts), pd.Series(texts, name="review"), pl.Series(texts), pa.array(texts), tuple(texts)):
        assert np.array_equal(model.predict_proba(same), found)
    assert model.predict([None, texts[0]]).shape == (2,)


def test_images_are_bytes_of_three_or_four_dimensions() -> None:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 80, size=(60, 8, 8), dtype=np.uint8)
    labels = np.array(["dark", "bright"])[np.arange(60) % 2]
    images[labels == "bright"] += 150
    quick = {"config": {"train.pretrain_epochs": 2, "gp.inducing": 8}}
    model = IGNClassifier(**quick).fit(images, labels)
    assert model.predict_proba(images).shape == (60, 2)
    assert model.score(images, labels) > 0.9
    assert model.evaluate(images, labels)["accuracy"] > 0.9
    colour = np.repeat(images[..., None], 3, axis=3)
    assert IGNClassifier(**quick).fit(colour, labels).predict(colour).shape == (60,)
    with pytest.raises(ValueError, match="uint8"):
        IGNClassifier(**quick).fit(images / 255, labels)


def test_pipelines_searches_and_cross_validation_work(inputs: pd.DataFrame, price: pd.Series, quick: dict[str, Any]) -> None:
    scale = make_column_transformer(
        (StandardScaler(), ["area", "rooms"]), remainder="passthrough", verbose_feature_names_out=False
    )
    pipeline = make_pipeline(scale.set_output(transform="pandas"), IGNRegressor(**quick))
    assert len(cross_val_score(pipeline, inputs, price, cv=3, n_jobs=2)) == 3
    search = GridSearchCV(IGNRegressor(**quick), {"inducing": [4, 8]}, cv=2).fit(inputs, price)
    assert search.best_params_["inducing"] in (4, 8)
    assert search.predict(inputs).shape == (len(price),)


def test_a_row_unlike_the_training_rows_is_told(inputs: pd.DataFrame, price: pd.Series) -> None:
    model = IGNRegressor(preset="single").fit(inputs, price)
    strange = inputs.head(40).assign(area=1e6)
    with pytest.warns(InducingWarning, match="unlike the training rows|outside|shifted"):
        model.predict(strange)


def test_a_leak_is_told_in_pythons_words(inputs: pd.DataFrame, price: pd.Series, quick: dict[str, Any]) -> None:
    leaking = inputs.assign(tax=price * 0.2)
    with pytest.warns(InducingWarning, match=r'possible leak: column `tax`.*`ignore=\["tax"\]`') as told:
        IGNRegressor(**quick).fit(leaking, price)
    assert told[0].filename == __file__
