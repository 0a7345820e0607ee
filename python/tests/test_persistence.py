"""Files, pickles and copies predict the same."""

import copy
import pickle
import warnings
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict

import inducing
from inducing import IGNClassifier, IGNRegressor, _config


@pytest.fixture(scope="module")
def model(inputs: pd.DataFrame, price: pd.Series) -> IGNRegressor:
    return IGNRegressor(preset="single", random_state=3, verbose=0).fit(inputs, price)


@pytest.mark.parametrize("way", ["pickle", "deepcopy", "joblib", "file", "cloned"])
def test_every_way_to_keep_a_model_predicts_the_same(
    way: str, model: IGNRegressor, inputs: pd.DataFrame, price: pd.Series, tmp_path: Path
) -> None:
    match way:
        case "pickle":
            again = pickle.loads(pickle.dumps(model))
        case "deepcopy":
            again = copy.deepcopy(model)
        case "joblib":
            joblib.dump(model, tmp_path / "model.joblib", compress=3)
            again = joblib.load(tmp_path / "model.joblib")
        case "file":
            model.save(tmp_path / "price.ign")
            again = inducing.load(tmp_path / "price.ign")
        case _:
            again = clone(model).fit(inputs, price)
    assert isinstance(again, IGNRegressor)
    assert np.array_equal(again.predict(inputs), model.predict(inputs))
    assert list(again.feature_names_in_) == list(inputs.columns)
    if way != "file":
        assert again.get_params() == model.get_params()
    assert again.scores_ == model.scores_


def test_an_unfitted_estimator_is_pickled_too() -> None:
    again = pickle.loads(pickle.dumps(IGNClassifier(inducing=7)))
    assert again.inducing == 7
    assert not again.__sklearn_is_fitted__()


def test_a_file_finds_columns_by_name(model: IGNRegressor, houses: pd.DataFrame, inputs: pd.DataFrame, tmp_path: Path) -> None:
    model.save(tmp_path / "price.ign")
    again = inducing.load(tmp_path / "price.ign")
    shuffled = houses[houses.columns[::-1]]
    assert np.array_equal(again.predict(shuffled), model.predict(inputs))
    assert again.evaluate(houses) == model.evaluate(inputs, houses["price"])


def test_a_file_of_a_model_of_arrays_finds_columns_by_position(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    X[:, [1, 3]] = 0.0  # constant columns are not in the file
    model = IGNRegressor(preset="single").fit(X, X[:, 0])
    model.save(tmp_path / "array.ign")
    again = inducing.load(tmp_path / "array.ign")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(again.predict(X), model.predict(X))
        assert again.predict_table(X).to_arrow().num_rows == 60


def test_three_lines_of_python_from_a_file(houses: pd.DataFrame, tmp_path: Path) -> None:
    houses.to_csv(tmp_path / "houses.csv", index=False)
    model = inducing.train(tmp_path / "houses.csv", target="price", preset="single")
    assert isinstance(model, IGNRegressor)
    found = model.predict(tmp_path / "houses.csv")
    assert np.allclose(found, model.predict(houses))
    assert model.report(tmp_path / "houses.csv").html.startswith("<!")
    classes = inducing.train(str(tmp_path / "houses.csv"), target="city", preset="single", class_weight="balanced")
    assert isinstance(classes, IGNClassifier)
    assert classes.classes_.tolist() == ["Lima", "Oslo", "Rome"]


def test_the_same_call_gives_the_same_model(inputs: pd.DataFrame, price: pd.Series, quick: dict[str, Any]) -> None:
    def of(seed: Any) -> bytes:
        return IGNRegressor(random_state=seed, **quick).fit(inputs, price)._model.to_bytes()

    assert of(None) == of(None) == of(0)
    assert of(5) != of(0)
    assert of(np.random.RandomState(1)) == of(np.random.RandomState(1))
    assert of(np.random.default_rng(1)) == of(np.random.default_rng(1))


def test_threads_change_nothing(inputs: pd.DataFrame, price: pd.Series) -> None:
    one, two = (IGNRegressor(preset="single", n_jobs=jobs).fit(inputs, price)._model.to_bytes() for jobs in (1, 2))
    assert one == two


def test_workers_share_the_cores(
    monkeypatch: pytest.MonkeyPatch, inputs: pd.DataFrame, price: pd.Series, quick: dict[str, Any]
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert _config.thread_count(None) == 1
    assert _config.thread_count(5) == 5
    assert _config.thread_count(-1) >= 1
    with joblib.parallel_backend("loky", n_jobs=2):
        assert cross_val_predict(IGNRegressor(**quick), inputs, price, cv=2).shape == (len(price),)


def test_labelled_rows_join_a_model(houses: pd.DataFrame, inputs: pd.DataFrame, price: pd.Series) -> None:
    model = IGNRegressor().fit(inputs.head(80), price.head(80))
    before = model.predict(inputs)
    worth = model.update(inputs.tail(40), price.tail(40))
    assert (worth["added"], worth["kept"]) == (40, 120)
    assert not np.array_equal(model.predict(inputs), before)
    chosen = model.suggest(inputs, 5)
    assert len(set(chosen.tolist())) == 5
    assert inputs.iloc[chosen].shape == (5, 5)


def test_a_model_explains_itself(model: IGNRegressor, inputs: pd.DataFrame, tmp_path: Path) -> None:
    effects = model.explain(inputs.head(10))
    assert effects.prediction.shape == effects.spread.shape == (10, 5)
    assert list(effects.to_pandas().columns) == effects.columns
    assert set(list(effects.importance)[:2]) == {"area", "rooms"}
    assert "<table>" in effects._repr_html_()
    page = model.report()
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    assert page._repr_html_().startswith('<iframe srcdoc="&lt;!')
    points = model.inspect()
    assert {"point", "pseudo_label", "distance", "rooms"} <= set(points.columns)
    assert len(model.inspect(inputs, nearest=2)) == 2 * len(points)


def test_progress_is_shown_where_it_is_asked_for(
    inputs: pd.DataFrame, price: pd.Series, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    IGNRegressor(preset="single").fit(inputs, price)
    assert capsys.readouterr() == ("", "")
    IGNRegressor(preset="single", verbose=1).fit(inputs, price)
    assert "training" in capsys.readouterr().err
    monkeypatch.setattr("inducing._progress._new_bar", lambda planned: None)
    IGNRegressor(preset="single", verbose=1).fit(inputs, price)
    lines = capsys.readouterr().err.splitlines()
    assert any("%" in line and "loss" in line for line in lines)
    assert any(line.startswith("note: ") for line in lines)
