"""What cannot be used is refused: what, where, and what to do."""

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from inducing import IGNClassifier, IGNRegressor, _core, _persistence, load, train

ROWS = np.random.default_rng(0).normal(size=(40, 3))
TARGET = ROWS[:, 0]


def refused(match: str, X: Any = ROWS, y: Any = TARGET, error: type[Exception] = ValueError, **fit: Any) -> None:
    model = IGNRegressor(preset="single")
    with pytest.raises(error, match=match):
        model.fit(X, y, **fit)
    assert not model.__sklearn_is_fitted__()


def test_sparse_matrices_are_refused() -> None:
    for sparse in (scipy.sparse.csr_array(ROWS), scipy.sparse.dok_matrix(ROWS)):
        refused("Sparse data was passed", sparse, error=TypeError)


def test_a_column_of_several_types_is_named_with_both() -> None:
    frame = pd.DataFrame({"age": [3.5] * 39 + ["n/a"], "x": np.arange(40)})
    message = r"column `age` holds several types: row 0 holds 3.5 \(float\), row 39 holds 'n/a' \(str\)\nhint: "
    refused(message, frame)
    refused(message, {"age": [3.5] * 39 + ["n/a"]})
    array = ROWS.astype(object)
    array[7, 1] = "seven"
    refused(r"column `x1` holds several types: row 0 holds .* \(float\), row 7 holds 'seven' \(str\)", array)
    refused("row 1 holds True", {"a": [1, True] * 20})


def test_cells_that_are_no_values_are_refused() -> None:
    array = ROWS.astype(object)
    array[0, 0] = {"foo": "bar"}
    refused("column `x0`, row 0: argument must be a string or a number, not dict", array, error=TypeError)
    refused("lists|List", pa.table({"a": [[1, 2]] * 40, "b": TARGET}))


def test_complex_numbers_are_refused() -> None:
    refused("Complex data not supported", ROWS + 1j)
    refused("Complex data not supported", pd.DataFrame({"z": TARGET + 1j, "x": TARGET}))
    refused("Complex data not supported", {"z": [1j] * 40})


def test_lengths_have_to_agree() -> None:
    refused("inconsistent numbers of samples", y=TARGET[:-1])
    refused("inconsistent numbers of samples", pd.DataFrame(ROWS, columns=list("abc")), TARGET[:-1])
    refused("several lengths: `a` 40, `b` 2", {"a": TARGET, "b": [1, 2]})
    refused("sample_weight", sample_weight=np.ones(3))
    refused("rows", groups=np.ones(3))
    model = IGNRegressor(preset="single").fit(ROWS, TARGET)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.evaluate(ROWS, TARGET[:3])
    with pytest.raises(ValueError, match="2 targets"):
        model.evaluate(ROWS, np.column_stack([TARGET, TARGET]))
    pixels = np.zeros((40, 4, 4), dtype=np.uint8)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        IGNClassifier().fit(pixels, [0, 1])


def test_too_little_is_refused() -> None:
    refused("1 sample", ROWS[:1], TARGET[:1])
    refused("1 sample", pd.DataFrame({"a": [1.0]}), [1.0])
    refused("0 feature", pd.DataFrame(index=range(4)), TARGET[:4])
    refused("minimum of 2", pl.DataFrame({"a": []}), [])
    with pytest.raises(ValueError, match="one class"):
        IGNClassifier().fit(ROWS, np.zeros(40))
    with pytest.raises(ValueError, match="one class"):
        IGNClassifier().fit(ROWS, np.arange(40) % 2, sample_weight=np.arange(40) % 2)


def test_targets_have_values() -> None:
    for bad in (np.nan, np.inf):
        with_hole = TARGET.copy()
        with_hole[3] = bad
        refused("Input y contains", y=with_hole)
    refused("requires y to be passed", y=None)
    for labels in (["a", None] * 20, np.array([0.0, np.nan] * 20), pd.Series(["a", None] * 20)):
        with pytest.raises(ValueError, match="NaN"):
            IGNClassifier().fit(ROWS, labels)
    with pytest.raises(ValueError, match="Unknown label type"):
        IGNClassifier().fit(ROWS, TARGET)
    refused("could not convert", y=["a"] * 40)


def test_weights_are_numbers_from_0_on() -> None:
    refused("negative", sample_weight=-np.ones(40))
    refused("negative, missing", sample_weight=np.full(40, np.nan))
    refused("non-zero", sample_weight=np.zeros(40))
    refused("1D", sample_weight=np.ones((40, 2)))


def test_columns_are_those_of_training() -> None:
    frame = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    model = IGNRegressor(preset="single").fit(frame, TARGET)
    for other in (frame.rename(columns={"a": "z"}), pl.from_pandas(frame).rename({"a": "z"})):
        with pytest.raises(ValueError, match="unseen at fit time:\n- z\nFeature names seen at fit time, yet now missing:\n- a\n"):
            model.predict(other)
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame[["c", "b", "a"]])
    with pytest.raises(ValueError, match="yet now missing:\n- b"):
        model.predict({"a": [1.0], "c": [1.0]})
    with pytest.raises(ValueError, match="X has 2 features, but IGNRegressor is expecting 3 features"), pytest.warns(UserWarning):
        model.predict(ROWS[:, :2])
    with pytest.raises(ValueError, match="`a`"):
        model.predict_table(frame[["b", "c"]])
    with pytest.raises(ValueError, match="nowhere"):
        model.predict_table(frame, keep=["nowhere"])
    with pytest.raises(TypeError, match="string names"):
        model.predict(frame.rename(columns={"a": 1}))


def test_unknown_labels_are_named() -> None:
    model = IGNClassifier(preset="single").fit(ROWS, np.arange(40) % 2)
    with pytest.raises(ValueError, match=r"not in training: \[7\]; known are \[0, 1\]"):
        model.evaluate(ROWS, np.full(40, 7))


def test_settings_are_checked() -> None:
    for params, match in (
        ({"config": {"train.epoks": 3}}, "unknown key `epoks`"),
        ({"preset": "best"}, "preset"),
        ({"inducing": 0}, "gp.inducing"),
        ({"columns": {"x0": "numeric"}}, "numeric"),
        ({"test_size": 2.0}, "test_share"),
        ({"warm_start": True}, "update"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"random_state": -1}, "random_state"),
        ({"bounds": (5, 1)}, "bounds"),
    ):
        with pytest.raises(ValueError, match=match):
            IGNRegressor(**params).fit(ROWS, TARGET)
    with pytest.raises(TypeError, match="a setting is"):
        IGNRegressor(config={"seed": object()}).fit(ROWS, TARGET)
    model = IGNRegressor(preset="single", neighbours=False).fit(ROWS, TARGET)
    for quantiles in ([0.0], [1.5]):
        with pytest.raises(ValueError, match="between 0 and 1"):
            model.predict_quantiles(ROWS, quantiles)
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.predict_interval(ROWS, 90)
    with pytest.raises(ValueError, match="keeps no training rows"):
        model.familiarity(ROWS)
    with pytest.raises(ValueError, match="maximise"):
        model.suggest(ROWS, 2, goal="best")


def test_methods_need_a_fit() -> None:
    for method in ("predict", "predict_table", "familiarity", "explain", "suggest", "report", "evaluate", "update", "save"):
        with pytest.raises(NotFittedError):
            getattr(IGNRegressor(), method)(ROWS)


def test_a_pickle_of_a_newer_format_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = IGNRegressor(preset="single").fit(ROWS, TARGET)
    monkeypatch.setattr(_persistence, "PICKLE_FORMAT", 2)
    newer = pickle.dumps(model)
    monkeypatch.setattr(_persistence, "PICKLE_FORMAT", 1)
    with pytest.raises(ValueError, match=r"in format 2; inducing .* reads formats up to 1\nhint: upgrade"):
        pickle.loads(newer)


def test_files_that_are_no_models_are_refused(tmp_path: Any) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere.ign")
    (tmp_path / "page.ign").write_text("hello")
    with pytest.raises(ValueError, match="page.ign"):
        load(tmp_path / "page.ign")
    with pytest.raises(FileNotFoundError):
        train(tmp_path / "nowhere.csv", target="y")
    with pytest.raises((ValueError, OSError)):
        IGNRegressor(preset="single").fit(ROWS, TARGET).save(tmp_path / "no" / "folder.ign")


def test_what_a_callback_raises_ends_the_training() -> None:
    def angry(_progress: object) -> None:
        raise RuntimeError("no more")

    data = _core.Dataset.from_columns([("x", ROWS[:, 0].copy()), ("y", TARGET.copy())])
    with pytest.raises(RuntimeError, match="no more"):
        _core.fit(data, ["y"], on_progress=angry)


def test_hints_are_pythons() -> None:
    frame = pd.DataFrame({"x": TARGET, "y": ["a", "b"] * 20})
    with pytest.raises(ValueError, match="hint: use `IGNClassifier`"):
        IGNRegressor(preset="single").fit(frame, "y")
    with pytest.raises(ValueError, match="`bounds`"):
        IGNRegressor(preset="single", bounds=(0, 1)).fit(ROWS, TARGET)
    # A warning about names stands at the line of the call.
    model = IGNRegressor(preset="single").fit(frame[["x"]], TARGET)
    with pytest.warns(UserWarning, match="does not have valid feature names") as told:
        model.predict(frame[["x"]].to_numpy())
    assert told[0].filename == __file__


def test_what_is_masked_is_missing_and_the_order_of_bytes_does_not_matter(quick: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    array = rng.normal(size=(60, 2))
    y = array[:, 0]
    holes = np.where(array > 1.5, np.nan, array)
    model = IGNRegressor(**quick).fit(holes, y)
    masked = np.ma.MaskedArray(array, array > 1.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.array_equal(model.predict(masked), model.predict(holes))
        assert np.array_equal(model.predict(holes.astype(">f8")), model.predict(holes))


def test_columns_of_the_data_do_not_take_the_place_of_ours(quick: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"truth": rng.normal(size=60), "b": rng.normal(size=60)})
    found = IGNRegressor(**quick).fit(frame, frame["b"] + 100).inspect()
    assert found["truth"].min() > 90
    assert found["truth_of_row"].max() < 10


@pytest.mark.parametrize("intervals", [[90], [0.0], [1.0], [-0.5]])
def test_an_interval_is_a_probability(intervals: list[float], quick: dict[str, Any]) -> None:
    frame = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0) ** 2})
    model = IGNRegressor(**quick).fit(frame[["a"]], frame["b"])
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.predict_table(frame, intervals=intervals)


def test_more_numbers_than_memory_holds_are_an_error(quick: dict[str, Any]) -> None:
    model = IGNRegressor(**quick).fit(np.arange(40.0)[:, None], np.arange(40.0))
    with pytest.raises(ValueError, match="not enough memory"):
        model.sample([[1.0]], 10**15)
    with pytest.raises(ValueError, match="nearest"):
        model.inspect(nearest=0)
