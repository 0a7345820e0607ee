"""Labels of every type come back as they went in."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import inducing
from inducing import IGNClassifier
from inducing._labels import ClassNames

ROWS = np.random.default_rng(0).normal(size=(60, 3))

LABELS: list[list[Any]] = [
    [0, 1],
    [2, 10, -3],
    [0.0, 1.0],
    [False, True],
    ["no", "yes"],
    ["0", "10", "2"],
    ["1.0", "1", "01"],
    ["NA", "", "?"],
    ["nan", "None", "x"],
    ["a", " a", "b"],
    ["true", "false"],
    ["2020-01-01", "2020-01-02"],
    ["ä", "日本", "z"],
    [2**60, 2**60 + 1],
    ["0. a", "1. b"],
]


@pytest.mark.parametrize("labels", LABELS, ids=repr)
def test_every_label_survives(labels: list[Any], quick: dict[str, Any], tmp_path: Path) -> None:
    y = (
        np.array(labels)[np.digitize(ROWS[:, 0], [-0.4, 0.4])]
        if len(labels) == 3
        else np.array(labels)[(ROWS[:, 0] > 0).astype(int)]
    )
    model = IGNClassifier(**quick).fit(ROWS, y)
    assert model.classes_.dtype == y.dtype
    assert np.array_equal(model.classes_, np.unique(y))
    p = model.predict_proba(ROWS)
    assert p.shape == (60, len(labels))
    assert np.allclose(p.sum(axis=1), 1)
    assert np.array_equal(model.predict(ROWS), model.classes_[p.argmax(axis=1)])
    assert model.evaluate(ROWS, y)["accuracy"] == pytest.approx(model.score(ROWS, y))
    # A file remembers whether labels were numbers, booleans or texts.
    model.save(tmp_path / "model.ign")
    again = inducing.load(tmp_path / "model.ign")
    assert isinstance(again, IGNClassifier)
    if max(len(str(label)) for label in labels) < 17 and " a" not in labels:
        assert again.classes_.tolist() == model.classes_.tolist()
    assert np.array_equal(again.predict_proba(ROWS), p)


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(["b", "a"] * 30, dtype="category"),
        pd.Series(["b", "a"] * 30, dtype="string"),
        pd.Series(["b", "a"] * 30, dtype=object),
        pl.Series(["b", "a"] * 30),
        ["b", "a"] * 30,
        ("b", "a") * 30,
    ],
    ids=lambda y: f"{type(y).__module__}.{type(y).__name__}.{getattr(y, 'dtype', '')}",
)
def test_texts_of_every_kind_are_labels(y: Any, quick: dict[str, Any]) -> None:
    model = IGNClassifier(**quick).fit(ROWS, y)
    assert model.classes_.tolist() == ["a", "b"]
    assert set(model.predict(ROWS)) <= {"a", "b"}


def test_numbers_of_every_kind_are_labels(quick: dict[str, Any]) -> None:
    for y in (
        pd.Series([1, 0] * 30, dtype="Int64"),
        pd.Series([True, False] * 30, dtype="boolean"),
        np.array([1, 0] * 30, dtype=object),
    ):
        model = IGNClassifier(**quick).fit(ROWS, y)
        assert model.classes_.tolist() == [0, 1]


def test_names_of_classes_keep_their_order() -> None:
    names = ClassNames.of_labels(np.array(["10", "9", "NA"]))
    assert names.texts == ["0. 10", "1. 9", "2. NA"]
    assert ClassNames.of_model(names.texts, "category").labels.tolist() == ["10", "9", "NA"]
    # Of a command that was given such names itself.
    assert ClassNames.of_model(["0. a", "1. b"], "category").labels.tolist() == ["0. a", "1. b"]
    # Declared categories of numbers, in the core's order.
    assert ClassNames.of_model(["2", "10"], "category").positions(["2", "10"]).tolist() == [1, 0]


def test_a_class_of_no_weight_has_no_probability(quick: dict[str, Any]) -> None:
    y = np.arange(60) % 3
    model = IGNClassifier(**quick).fit(ROWS, y, sample_weight=(y > 0).astype(float))
    assert model.classes_.tolist() == [0, 1, 2]
    assert np.array_equal(model.predict_proba(ROWS)[:, 0], np.zeros(60))


def test_the_threshold_is_of_the_second_class(quick: dict[str, Any]) -> None:
    y = np.where(ROWS[:, 0] + np.random.default_rng(1).normal(size=60) > 0.3, "yes", "no")
    model = IGNClassifier(threshold=0.2, **quick).fit(ROWS, y)
    p = model.predict_proba(ROWS)[:, 1]
    assert np.array_equal(model.predict(ROWS) == "yes", p >= 0.2)
    assert np.array_equal(model.set_threshold(0.7).predict(ROWS) == "yes", p >= 0.7)
    costly = IGNClassifier(costs=[[0, 9], [1, 0]], **quick).fit(ROWS, y)
    p = costly.predict_proba(ROWS)[:, 1]
    assert np.array_equal(costly.predict(ROWS) == "yes", (1 - p) * 9 < p)
    for chosen in ("f1", "recall=0.9"):
        assert set(IGNClassifier(threshold=chosen, **quick).fit(ROWS, y).predict(ROWS)) <= {"yes", "no"}


def test_classes_can_be_balanced(quick: dict[str, Any]) -> None:
    y = (np.arange(60) % 6 == 0).astype(int)
    plain = IGNClassifier(**quick).fit(ROWS, y).predict_proba(ROWS)[:, 1].mean()
    for weight in ("balanced", {0: 1, 1: 5}):
        assert IGNClassifier(class_weight=weight, **quick).fit(ROWS, y).predict_proba(ROWS)[:, 1].mean() > plain
    with pytest.raises(ValueError, match="class_weight"):
        IGNClassifier(class_weight="equal", **quick).fit(ROWS, y)
