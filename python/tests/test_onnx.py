"""An exported model predicts without the package."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from inducing import IGNClassifier, IGNRegressor, _core

pytestmark = pytest.mark.skipif(not hasattr(_core.Model, "export_onnx"), reason="the core exports no ONNX")


def test_an_exported_model_says_the_same(tmp_path: Path) -> None:
    onnxruntime: Any = pytest.importorskip("onnxruntime")
    x = np.linspace(0, 6, 120)
    X = pd.DataFrame({"a": x, "b": np.cos(x)})
    model = IGNRegressor(preset="single", neighbours=False).fit(X, np.sin(x))
    model.export_onnx(tmp_path / "wave.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "wave.onnx")
    inputs = {name: X[name].to_numpy()[:, None] for name in X.columns}
    names = [one.name for one in session.get_outputs()]
    said = dict(zip(names, session.run(names, inputs), strict=True))
    mean, std = model.predict(X, return_std=True)
    # docs/onnx.md: the largest difference seen is 7e-7 of the target's deviation.
    assert np.allclose(said["mean"], mean, atol=1e-5)
    assert np.allclose(said["std"], std, atol=1e-5)


def test_exported_classes_have_the_same_probabilities(tmp_path: Path) -> None:
    onnxruntime: Any = pytest.importorskip("onnxruntime")
    x = np.random.default_rng(0).normal(size=(120, 2))
    X = pd.DataFrame(x, columns=["a", "b"])
    model = IGNClassifier(preset="single").fit(X, np.where(x[:, 0] > 0, "above", "below"))
    model.export_onnx(tmp_path / "side.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "side.onnx")
    (probabilities,) = session.run(["probabilities"], {name: X[name].to_numpy()[:, None] for name in X.columns})
    assert np.allclose(probabilities, model.predict_proba(X), atol=1e-5)
