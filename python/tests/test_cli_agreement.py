"""The package and the command train the same model: the same bytes."""

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import inducing
from inducing import IGNClassifier, IGNRegressor

BINARY = Path(os.environ.get("IGN_BINARY") or Path(__file__).parents[2] / "target" / "release" / "ign")

pytestmark = pytest.mark.skipif(not BINARY.exists(), reason=f"{BINARY} is not built; IGN_BINARY names another")


def ign(*words: object) -> str:
    done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def table(houses: pd.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "houses.csv"
    houses.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("preset", ["default", "single"])
def test_a_regressor_has_the_bytes_of_the_command(preset: str, table: Path, tmp_path: Path) -> None:
    model = tmp_path / "price.ign"
    ign("train", table, "--target", "price", "--task", "regression", "--test-share", "0", "--seed", "5",
        "--preset", preset, "--out", model, "--quiet")  # fmt: skip
    houses = pd.read_csv(table, parse_dates=["sold"])
    own = IGNRegressor(preset=preset, random_state=5).fit(houses.drop(columns="price"), houses["price"])
    assert own._model.to_bytes() == model.read_bytes()


@pytest.mark.parametrize("target", ["city", "garden", "rooms"])
def test_a_classifier_has_the_bytes_of_the_command(target: str, table: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.ign"
    houses = pd.read_csv(table, parse_dates=["sold"]).dropna()
    # The target is the last column, as it joins the others in Python.
    houses = houses[[*houses.columns.drop(target), target]]
    houses.to_csv(table, index=False)
    declared = ["--set", "data.columns.city=category"] if target == "city" else []
    declared += ["--set", "data.columns.garden=boolean"] if target == "garden" else []
    ign("train", table, "--target", target, "--task", "classification", "--test-share", "0", "--preset", "single",
        "--out", model, "--quiet", *declared)  # fmt: skip
    own = IGNClassifier(preset="single").fit(houses.drop(columns=target), houses[target])
    assert own._model.to_bytes() == model.read_bytes()
    again: Any = inducing.load(model)
    assert again.classes_.dtype.kind == own.classes_.dtype.kind
    assert again.classes_.tolist() == own.classes_.tolist()
    assert np.array_equal(again.predict_proba(houses), own.predict_proba(houses.drop(columns=target)))


def test_the_command_reads_files_of_the_package_and_says_the_same(houses: pd.DataFrame, table: Path, tmp_path: Path) -> None:
    model = IGNRegressor().fit(houses.drop(columns="price"), houses["price"])
    model.save(tmp_path / "price.ign")
    ign("predict", tmp_path / "price.ign", table, "--columns", "all", "--out", tmp_path / "said.csv")
    said = pd.read_csv(tmp_path / "said.csv")
    mean, std = model.predict(houses.drop(columns="price"), return_std=True)
    assert np.allclose(said["mean"], mean, rtol=1e-14)
    assert np.allclose(said["std"], std, rtol=1e-14)


def test_train_on_a_file_is_the_command(table: Path, tmp_path: Path) -> None:
    ign("train", table, "--target", "price", "--out", tmp_path / "price.ign", "--quiet", "--set", "train.crossfit_repeats=1")
    own = inducing.train(table, target="price", config={"train.crossfit_repeats": 1})
    assert own._model.to_bytes() == (tmp_path / "price.ign").read_bytes()
