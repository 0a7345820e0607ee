"""Models in MLflow: saved, logged, registered and served as a ``pyfunc``.

A served model answers with the columns of ``ign predict``: mean, interval, std and familiarity, or label and probabilities.

>>> import tempfile
>>> import pandas as pd
>>> from inducing import IGNRegressor
>>> from inducing.adapters.mlflow import load_model, save_model
>>> X = pd.DataFrame({"x": range(40)})
>>> model = IGNRegressor(preset="single").fit(X, X["x"] * 2.0)
>>> with tempfile.TemporaryDirectory() as folder:
...     save_model(model, folder + "/model")
...     again = load_model(folder + "/model")
>>> bool((again.predict(X) == model.predict(X)).all())
True
"""

import os
import tempfile
from pathlib import Path
from typing import Any

from .. import __version__, load
from .._classifier import IGNClassifier
from .._regressor import IGNRegressor

try:
    import mlflow.pyfunc
    from mlflow.models import Model
except ImportError as error:
    raise ImportError(f"the adapter needs MLflow, but: {error}\nhint: pip install 'inducing[mlflow]'") from error

_FILE = "model.ign"


class _Served:
    """What MLflow calls: rows in, a table of predictions out."""

    def __init__(self, model: IGNRegressor | IGNClassifier) -> None:
        self.model = model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        """A ``pandas.DataFrame`` of predictions.

        Parameters
        ----------
        model_input : table or array
            Rows; columns are found by their names.
        params : dict, optional
            Arguments of ``predict_table``, such as ``{"intervals": [0.5]}``.
        """
        return self.model.predict_table(model_input, **(params or {})).to_pandas()


def save_model(
    model: IGNRegressor | IGNClassifier,
    path: str | os.PathLike[str],
    *,
    pip_requirements: list[str] | None = None,
    **options: Any,
) -> None:
    """Writes a model as a folder that MLflow reads and serves.

    Parameters
    ----------
    model : IGNRegressor or IGNClassifier
        Fitted.
    path : path
        A folder that is not there yet.
    pip_requirements : list of str, optional
        What a server installs; None: this version of the package.
    **options
        Of ``mlflow.pyfunc.save_model``, such as `signature`, `input_example`, `metadata`.
    """
    with tempfile.TemporaryDirectory() as folder:
        mlflow.pyfunc.save_model(path=os.fspath(path), **_flavour(model, folder, pip_requirements), **options)


def log_model(
    model: IGNRegressor | IGNClassifier,
    name: str = "model",
    *,
    pip_requirements: list[str] | None = None,
    **options: Any,
) -> Any:
    """Logs a model to the active run.

    Parameters
    ----------
    model : IGNRegressor or IGNClassifier
        Fitted.
    name : str
        Of the model in the run.
    pip_requirements : list of str, optional
        What a server installs; None: this version of the package.
    **options
        Of ``mlflow.pyfunc.log_model``, such as `registered_model_name`, `signature`, `input_example`.

    Returns
    -------
    mlflow.models.model.ModelInfo
    """
    with tempfile.TemporaryDirectory() as folder:
        return mlflow.pyfunc.log_model(name=name, **_flavour(model, folder, pip_requirements), **options)


def load_model(uri: str | os.PathLike[str]) -> IGNRegressor | IGNClassifier:
    """The estimator itself, as :func:`inducing.load` has it; ``mlflow.pyfunc.load_model`` has what is served.

    Parameters
    ----------
    uri : path or str
        A folder, ``"runs:/…"`` or ``"models:/…"``.
    """
    from mlflow.artifacts import download_artifacts

    text = os.fspath(uri)
    folder = Path(text if os.path.isdir(text) else download_artifacts(artifact_uri=text))
    flavour = Model.load(str(folder)).flavors["python_function"]
    if flavour.get("loader_module") != __name__:
        raise ValueError(f"{text} is no model of inducing\nhint: `mlflow.pyfunc.load_model` reads models of all kinds")
    return load(folder / flavour["data"])


def _flavour(model: IGNRegressor | IGNClassifier, folder: str, requirements: list[str] | None) -> dict[str, Any]:
    file = Path(folder) / _FILE
    model.save(file)
    return {
        "loader_module": __name__,
        "data_path": str(file),
        "pip_requirements": requirements or [f"inducing[mlflow]=={__version__}", "pyarrow"],
    }


def _load_pyfunc(path: str) -> _Served:
    """MLflow's way in: `path` is the model's file."""
    return _Served(load(path))
