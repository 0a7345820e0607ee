"""Model files, ONNX and pickles."""

import os
from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ._core import Model, __version__
from ._inspection import InspectableIGN

#: Of pickles. A newer one is refused, older ones are read.
PICKLE_FORMAT = 1


class PersistentIGN(InspectableIGN):
    """An estimator that is kept: as a file, in a pickle."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file, for :func:`inducing.load` and ``ign predict``.

        Parameters
        ----------
        path : path
            Such as ``"price.ign"``.
        """
        check_is_fitted(self)
        self._model.save(os.fspath(path))

    def export_onnx(
        self,
        path: str | os.PathLike[str],
        *,
        features: bool = False,
        quantiles: Sequence[float] | None = None,
    ) -> None:
        """Writes the model as an ONNX file, for predictions without this package.

        Parameters
        ----------
        path : path
            Such as ``"price.onnx"``.
        features : bool
            Whether the graph takes the encoded matrix (docs/onnx.md) in place of the table's columns.
        quantiles : sequence of float, optional
            Of numbers, probabilities of the quantiles among the outputs. None: 0.05, 0.5 and 0.95.
        """
        check_is_fitted(self)
        graph = self._model.export_onnx(features=features, quantiles=quantiles)
        with open(path, "wb") as file:
            file.write(graph)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        model: Model | None = state.pop("_model", None)
        state["_pickle_format"] = PICKLE_FORMAT
        state["_pickled_by"] = __version__
        if model is not None:
            state["_ign"] = model.to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        written = state.pop("_pickle_format", 0)
        version = state.pop("_pickled_by", "an unknown version")
        if written > PICKLE_FORMAT:
            raise ValueError(
                f"this pickle was written by inducing {version} in format {written}; "
                f"inducing {__version__} reads formats up to {PICKLE_FORMAT}\n"
                "hint: upgrade with `pip install -U inducing`, or exchange models as files with `save` and `inducing.load`"
            )
        model = state.pop("_ign", None)
        super().__setstate__(state)
        if model is not None:
            self._model = Model.from_bytes(model)
