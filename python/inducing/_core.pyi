"""The compiled core. Everything here takes plain values; the package around it speaks scikit-learn."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

__version__: str

Floats = npt.NDArray[np.float64]

class Dataset:
    """Rows to learn from or to predict. Nothing is read before it is needed."""

    @staticmethod
    def from_arrow(
        stream: object,
        *,
        name: str = "table",
        column_types: Mapping[str, str] | None = None,
        in_memory: bool = True,
    ) -> Dataset:
        """From anything with ``__arrow_c_stream__``: buffers are not copied.

        ``column_types`` maps names to "number", "boolean", "category", "text", "date_time" or "ignore"; others are inferred.
        ``in_memory=False`` reads the stream once, in constant memory: for predictions only.
        """
    @staticmethod
    def from_columns(
        columns: Sequence[tuple[str, npt.NDArray[Any] | Sequence[str | None]]],
        *,
        name: str = "table",
        column_types: Mapping[str, str] | None = None,
    ) -> Dataset:
        """From 1-d arrays (floats, integers, booleans, datetime64) and lists of texts. Contiguous floats and integers are not copied."""
    @staticmethod
    def from_images(
        pixels: npt.NDArray[np.uint8],
        labels: npt.NDArray[np.uint32] | None = None,
        classes: Sequence[str] = (),
        *,
        name: str = "images",
    ) -> Dataset:
        """From ``[N, H, W]`` or ``[N, H, W, C]`` with C of 1 or 3; a label is a position in ``classes``."""
    @staticmethod
    def read(path: str, *, data_dir: str | None = None) -> Dataset:
        """What the command line reads: a table, a folder of images, graphs, a named set."""
    @property
    def columns(self) -> list[tuple[str, str]]:
        """Names of a table from Arrow or columns, with Arrow's name of each type; empty for others."""
    @property
    def rows(self) -> int | None:
        """Number of rows, where it is known before reading."""
    def buffer_addresses(self) -> list[int]:
        """Address of each column's values of tables in memory, batch by batch: to show that nothing was copied."""

class Progress(TypedDict):
    done: int
    planned: int
    phase: str
    loss: float
    notices: list[str]

class Predictions(TypedDict, total=False):
    # regression, C targets
    mean: Floats  # [N, C]
    std: Floats  # [N, C]
    std_latent: Floats  # [N, C]
    quantiles: Floats  # [N, C, Q]
    density: Floats  # [N, C, G]
    samples: Floats  # [N, C, S]
    # classification, K classes
    probabilities: Floats  # [N, K]
    label: npt.NDArray[np.int64]  # [N], position among the model's classes
    latent_mean: Floats  # [N, K]
    latent_std: Floats  # [N, K]
    # both
    familiarity: Floats  # [N]; absent where the model keeps no rows
    notes: list[str]

class Model:
    """A fitted model."""

    @staticmethod
    def load(path: str) -> Model: ...
    @staticmethod
    def from_bytes(data: bytes) -> Model: ...
    def save(self, path: str) -> None: ...
    def to_bytes(self) -> bytes: ...
    def header(self) -> str:
        """Everything but the tensors, as JSON (docs/model-file.md)."""
    @property
    def kind(self) -> str:
        """ "table", "images", "graphs" or "custom"."""
    @property
    def classes(self) -> list[str] | None: ...
    @property
    def targets(self) -> list[str]: ...
    @property
    def columns(self) -> list[tuple[str, str]]:
        """Names and types of a table's columns that it reads, in the order of training."""
    @property
    def keeps_rows(self) -> bool: ...
    @property
    def notices(self) -> list[str]:
        """What training said; empty for a model from a file."""
    @property
    def cautions(self) -> list[str]:
        """Of the notices those that say what may be wrong with the data."""
    @property
    def is_fresh(self) -> bool:
        """Whether it still has what it learned from, so that a report needs no data."""
    def forget(self) -> None:
        """Lets go of what it learned from."""
    def with_threshold(self, threshold: float) -> Model:
        """The same model of two classes, which decides at another probability."""
    def predict(
        self,
        data: Dataset,
        *,
        quantiles: Sequence[float] = (),
        grid: npt.NDArray[np.float64] | None = None,
        samples: int = 0,
        seed: int = 0,
        threads: int = 1,
    ) -> Predictions: ...
    def predict_stream(
        self,
        data: Dataset,
        *,
        columns: Sequence[str] = ("default",),
        intervals: Sequence[float] = (),
        quantiles: Sequence[float] = (),
        keep: Sequence[str] = (),
        explain: bool = False,
        threads: int = 1,
    ) -> PredictionStream:
        """Predictions of a table as Arrow batches, computed while they are asked for: ``ign predict``'s columns."""
    def effects(self, data: Dataset, *, threads: int = 1) -> tuple[list[str], Floats, Floats]:
        """Names of the d columns, their effects on predictions ``[N, C, d]`` and on spreads ``[N, C, d]``."""
    def evaluate(self, data: Dataset, *, threads: int = 1) -> str:
        """Scores as JSON: target → scores. The data set holds the targets."""
    def inspect(self, data: Dataset | None = None, *, nearest: int = 1, threads: int = 1) -> list[str]:
        """One JSON object for each inducing point; without data of what it learned from."""
    def report(self, data: Dataset | None = None, *, name: str = "model", threads: int = 1) -> str:
        """The HTML page; without data of the rows that it was trained and tested with."""
    def suggest(self, data: Dataset, *, count: int, goal: str = "information", threads: int = 1) -> str:
        """Rows of a pool to label next, as JSON: a list of ``{"row", "score", …}``."""
    def update(self, data: Dataset, *, threads: int = 1) -> tuple[Model, str]:
        """The model with new labelled rows, and what they were worth as JSON."""
    def export_onnx(self, *, features: bool = False, quantiles: Sequence[float] | None = None) -> bytes:
        """An ONNX graph (docs/onnx.md); by default of the quantiles .05, .5 and .95 of numbers, and of none of classes."""

class PredictionStream:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    @property
    def notes(self) -> list[str]: ...

def fit(
    data: Dataset,
    targets: Sequence[str],
    *,
    preset: str | None = None,
    toml: str | None = None,
    overrides: Sequence[str] = (),
    threads: int = 1,
    on_progress: Callable[[Progress], object] | None = None,
) -> Model:
    """Trains. ``overrides`` are ``key=value`` as for ``ign train --set``, with TOML values; ``toml`` is a whole configuration.

    Signals are looked at and ``on_progress`` is called about every 20 ms, on the calling thread; what it raises ends the training.
    Bad input is a ``ValueError`` or ``FileNotFoundError`` with the command line's words, Ctrl-C a ``KeyboardInterrupt``.
    """

class HeadObjective:
    """Loss and gradients of batches of features; keeps its work space between calls."""

    def __init__(self, kernel: str, *, link: str | None, coupling: str, jitter: float, precision: str) -> None: ...
    def evaluate(
        self,
        phi: npt.NDArray[Any],
        y: npt.NDArray[Any],
        weights: Floats | None,
        z: npt.NDArray[Any],
        w: npt.NDArray[Any],
        b: npt.NDArray[Any],
        log_sigma: Floats | None,
        log_kernel: tuple[float, float],
        *,
        gradient: bool,
        threads: int,
    ) -> tuple[float, float, tuple[npt.NDArray[Any], ...] | None]:
        """Mean loss, utilisation, and the gradients by phi, z, w, b, log_sigma and log_kernel if they are asked for.

        ``phi`` [N, D], ``y`` [N, C] (±1 for classes), ``z`` [M, D], ``w`` [D, C], ``b`` [C]: float32 or float64, as
        ``precision`` says.
        """

class HeadPosterior:
    """A conditioned process. Arrays are float32 or float64, as ``precision`` says."""

    def __init__(
        self,
        kernel: str,
        z: npt.NDArray[Any],
        w: npt.NDArray[Any],
        b: npt.NDArray[Any],
        log_kernel: tuple[float, float],
        *,
        jitter: float,
        precision: str,
        threads: int,
    ) -> None: ...
    @property
    def jitter(self) -> float: ...
    def predict(self, phi: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Latent mean [N, C] and variance [N]."""
    def whiten(self, phi: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Whitened coordinates [N, M] of features."""

def head_probabilities(link: str, mean: Floats, var: Floats) -> Floats:
    """Class probabilities [N, K] of latent means [N, C] with variances [N]."""
