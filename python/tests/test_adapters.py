"""The estimators in other frameworks."""

import importlib
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from inducing import IGNClassifier, IGNRegressor

QUICK: Any = {"preset": "single"}


@pytest.fixture(scope="module")
def numbers(inputs: pd.DataFrame) -> pd.DataFrame:
    return inputs[["rooms", "area"]]


def test_skpro_has_distributions(numbers: pd.DataFrame, price: pd.Series) -> None:
    pytest.importorskip("skpro")
    from skpro.metrics import CRPS

    from inducing.adapters.skpro import IGNProbaRegressor

    y = price.to_frame()
    model = IGNProbaRegressor(IGNRegressor(**QUICK)).fit(numbers, y)
    own = IGNRegressor(**QUICK).fit(numbers, y)
    distribution = model.predict_proba(numbers)
    assert np.allclose(model.predict(numbers), own.predict(numbers))
    # Means of histograms of 107 bins.
    assert np.allclose(distribution.mean(), own.predict(numbers), rtol=5e-3)
    for p in (0.05, 0.5, 0.9):
        assert np.allclose(distribution.ppf(p).to_numpy()[:, 0], own.predict_quantiles(numbers, [p])[:, 0, 0], rtol=1e-6)
    assert list(distribution.index) == list(numbers.index)
    intervals = model.predict_interval(numbers, coverage=[0.5, 0.9])
    assert intervals.shape == (len(y), 4)
    assert (model.predict_var(numbers) > 0).all().all()
    assert 0 < CRPS()(y, distribution) < y["price"].std()
    both = pd.concat([y, -y.rename(columns={"price": "loss"})], axis=1)
    several = IGNProbaRegressor(IGNRegressor(**QUICK)).fit(numbers, both)
    assert several.predict_proba(numbers).shape == (len(y), 2)
    assert several.predict_quantiles(numbers, [0.1, 0.9]).shape == (len(y), 4)


def test_skpros_own_checks_pass() -> None:
    pytest.importorskip("skpro")
    from skpro.utils.estimator_checks import check_estimator

    from inducing.adapters.skpro import IGNProbaRegressor

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(IGNProbaRegressor, raise_exceptions=True, verbose=False)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_mlflow_keeps_and_serves_models(task: str, inputs: pd.DataFrame, price: pd.Series, tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow")
    from inducing.adapters import mlflow as flavour

    model: Any = IGNRegressor(**QUICK).fit(inputs, price)
    if task == "classification":
        model = IGNClassifier(**QUICK).fit(inputs, price > 130)
    flavour.save_model(model, tmp_path / "model")
    again = flavour.load_model(tmp_path / "model")
    assert type(again) is type(model)
    assert np.array_equal(again.predict(inputs), model.predict(inputs))
    served = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    said = served.predict(inputs.head(7))
    assert len(said) == 7
    assert ("label" if task == "classification" else "mean") in said.columns
    with pytest.raises(Exception, match="nowhere"):
        flavour.load_model(tmp_path / "nowhere")


@pytest.mark.parametrize(("adapter", "framework"), [("skpro", "skpro"), ("mlflow", "mlflow")])
def test_a_missing_framework_is_named(adapter: str, framework: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name == framework or name.startswith(f"{framework}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, framework, None)
    monkeypatch.delitem(sys.modules, f"inducing.adapters.{adapter}", raising=False)
    with pytest.raises(ImportError, match=rf"hint: pip install 'inducing\[{adapter}\]'"):
        importlib.import_module(f"inducing.adapters.{adapter}")
