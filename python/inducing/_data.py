"""What users call X becomes :class:`Rows`, and rows with or without a target a data set of the core."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils.validation import check_array

from ._cells import Column, as_column, texts
from ._core import Dataset
from ._frames import (
    Names,
    categories,
    feature_names,
    has_pyarrow,
    library,
    prepared,
    schema_names,
    series_values,
    with_columns,
)
from ._warnings import warn_all

Kind: TypeAlias = Literal["columns", "table", "images", "file"]

#: What the column of a list of texts is called.
TEXT = "text"


@dataclass
class Rows:
    """Inputs before they meet a target.

    Attributes
    ----------
    kind : {"columns", "table", "images", "file"}
        What ``values`` is: a list of columns, a table with ``__arrow_c_stream__``, pixels, a path.
    names : ndarray of shape (n_features,) of object, or None
        Feature names by scikit-learn's rules; None of arrays and lists.
    width : int or None
        Number of columns, where it is known.
    length : int or None
        Number of rows, where it is known.
    types : dict
        Types of columns that follow from their Python types.
    """

    kind: Kind
    values: Any
    names: Names | None = None
    width: int | None = None
    length: int | None = None
    types: dict[str, str] = field(default_factory=dict[str, str])

    def column_names(self, known: Sequence[str] | None = None) -> list[str]:
        """The names that the core sees: the rows' own, those of a fitted model by position, or x0, x1, …"""
        if self.names is not None and (known is None or self.kind == "file"):
            return [str(name) for name in self.names]
        if known is not None and len(known) == self.width:
            return list(known)
        if self.types == {TEXT: "text"}:
            return [TEXT]
        return [f"x{position}" for position in range(self.width or 0)]

    def dataset(
        self, names: Sequence[str] | None = None, extra: Mapping[str, Column] | None = None, *, in_memory: bool = True
    ) -> Dataset:
        """A data set with these names of columns (None: as they are) and further columns."""
        match self.kind:
            case "file" | "images" if extra:
                shown = " and ".join(f"`{name}`" for name in extra)
                raise ValueError(f"{shown} cannot join {'images' if self.kind == 'images' else 'a file'}")
            case "file":
                return Dataset.read(self.values)
            case "images":
                return Dataset.from_images(self.values, name="X")
            case "columns":
                own = zip(names or self.column_names(), self.values, strict=True)
                return Dataset.from_columns([*own, *(extra or {}).items()], name="X")
            case "table":
                return self._table(names or self.column_names(), extra or {}, in_memory)

    def images(self, codes: npt.NDArray[np.uint32], classes: list[str]) -> Dataset:
        """Images with labels, which are positions in the classes."""
        if len(codes) != self.length:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: [{self.length}, {len(codes)}] (X and y)"
            )
        return Dataset.from_images(self.values, codes, classes, name="X")

    def _table(self, names: Sequence[str], extra: Mapping[str, Column], in_memory: bool) -> Dataset:
        table = self.values
        own = None if self.names is None else [str(name) for name in self.names]
        if own == list(names) and not extra and library(table) != "pandas":
            return Dataset.from_arrow(table, name="X", in_memory=in_memory)
        if library(table) == "pandas" and not has_pyarrow():
            columns = [as_column(table.iloc[:, at].to_numpy(), name) for at, name in enumerate(names)]
            return Dataset.from_columns([*zip(names, columns, strict=True), *extra.items()], name="X")
        return Dataset.from_arrow(with_columns(table, names, extra), name="X", in_memory=in_memory)


def read_rows(X: Any, estimator: Any, *, fitting: bool = False) -> Rows:
    """Rows from whatever X is: a table, an array, texts, images, a dict of columns, the path of a file."""
    if isinstance(X, str | os.PathLike):
        return Rows("file", os.fspath(cast("str | os.PathLike[str]", X)))
    if issparse(X):
        return _of_array(X, estimator, fitting)  # refuses it; some are dicts
    if X is not None and library(X):
        return _checked(_of_table(X), estimator, fitting)
    if isinstance(X, Mapping):
        return _checked(_of_dict(cast("Mapping[object, Any]", X)), estimator, fitting)
    if X is not None and hasattr(X, "to_arrow_table"):  # DuckDB's relations before they had the protocol
        return _checked(_of_table(X.to_arrow_table()), estimator, fitting)
    series = series_values(X)
    values = X if series is None else series
    if (found := _texts(values)) is not None:
        rows = Rows("columns", [found], width=1, length=len(found), types={TEXT: "text"})
        return _checked(rows, estimator, fitting)
    if _is_images(values):
        pixels = np.ascontiguousarray(values)
        return _checked(Rows("images", pixels, length=len(pixels)), estimator, fitting)
    return _of_array(values, estimator, fitting)


def _of_table(X: Any) -> Rows:
    table = prepared(X)
    if hasattr(table, "columns") and library(table) in ("pandas", "polars"):
        columns = list(table.columns)
    else:
        # A reader can be read once; its schema any number of times.
        columns = schema_names(table)
    length = len(table) if hasattr(table, "__len__") else getattr(table, "num_rows", None)
    names = feature_names(columns)
    types = dict.fromkeys(categories(table), "category")
    if names is None:
        positions = {str(name): f"x{at}" for at, name in enumerate(columns)}
        types = {positions[name]: kind for name, kind in types.items()}
    return Rows("table", table, names, len(columns), length, types)


def _of_dict(X: Mapping[object, Any]) -> Rows:
    names = feature_names(list(X))
    if names is None:
        raise TypeError("a dict of columns has their names as keys, which are texts")
    columns = [as_column(_values(values), str(name)) for name, values in X.items()]
    lengths = {str(name): len(column) for name, column in zip(X, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"`{name}` {length}" for name, length in lengths.items())
        raise ValueError(f"the columns have several lengths: {shown}")
    return Rows("columns", columns, names, len(columns), len(columns[0]) if columns else 0)


def _values(values: Any) -> Any:
    series = series_values(values)
    return values if series is None else series


def _texts(values: Any) -> list[str | None] | None:
    if isinstance(values, np.ndarray):
        array = cast("npt.NDArray[Any]", values)
        return texts(array.tolist()) if array.ndim == 1 and array.dtype.kind in "UTO" else None
    return texts(cast("Sequence[Any]", values)) if isinstance(values, list | tuple) else None


def _is_images(values: Any) -> bool:
    shape = getattr(values, "shape", ())
    if len(shape) not in (3, 4):
        return False
    if np.asarray(values).dtype != np.uint8:
        raise ValueError(
            f"Found array with dim {len(shape)}, while dim <= 2 is required\n"
            "hint: images are of type uint8, of shape (n, height, width) or (n, height, width, 3)"
        )
    return True


def _of_array(X: Any, estimator: Any, fitting: bool) -> Rows:
    # Checks go past a mask, so it is put on again.
    mask: Any = getattr(X, "mask", None) if type(X).__name__ == "MaskedArray" else None
    array = check_array(
        _of_lists(X) if isinstance(X, list | tuple) else X,
        dtype=None,
        ensure_all_finite="allow-nan",
        ensure_min_samples=2 if fitting else 1,
        estimator=estimator,
        input_name="X",
    )
    if mask is not None and np.any(mask):
        array = np.ma.MaskedArray(array, mask)
    columns = [as_column(array[:, at], f"x{at}") for at in range(array.shape[1])]
    return Rows("columns", columns, None, array.shape[1], array.shape[0])


def _of_lists(X: Any) -> Any:
    """Lists of rows as they are, but of objects where there are texts: numbers beside them would become texts."""
    array = np.asarray(X, dtype=object)
    return array if array.ndim == 2 and any(isinstance(cell, str) for cell in array.flat) else X


def _checked(rows: Rows, estimator: Any, fitting: bool) -> Rows:
    """Refuses empty tables in scikit-learn's words."""
    least, name = (2 if fitting else 1), type(estimator).__name__
    shape = f"({rows.length}, {rows.width})" if rows.width is not None else f"({rows.length},)"
    if rows.length is not None and rows.length < least:
        raise ValueError(
            f"Found array with {rows.length} sample(s) (shape={shape}) while a minimum of {least} is required by {name}."
        )
    if rows.width == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required by {name}.")
    return rows


def free_name(name: str, taken: Sequence[str]) -> str:
    """The name, with underscores as long as it is taken.

    >>> free_name("target", ["target", "x"])
    'target_'
    """
    while name in taken:
        name += "_"
    return name


def check_names(estimator: Any, names: Names | None) -> None:
    """Compares names with those of `fit`, by scikit-learn's rules and in its words.

    They are repeated here because scikit-learn takes names from data frames alone.
    """
    fitted: npt.NDArray[np.object_] | None = getattr(estimator, "feature_names_in_", None)
    if names is None or fitted is None:
        kind = type(estimator).__name__
        if names is not None:
            warn_all([f"X has feature names, but {kind} was fitted without feature names"], UserWarning)
        elif fitted is not None:
            text = f"X does not have valid feature names, but {kind} was fitted with feature names"
            warn_all([text], UserWarning)
        return
    if list(names) == list(fitted):
        return

    def listed(unequal: set[str]) -> str:
        shown = [f"- {name}\n" for name in sorted(unequal)]
        return "".join(shown[:5] + ["- ...\n"] * (len(shown) > 5))

    message = "The feature names should match those that were passed during fit.\n"
    if unseen := set(names) - set(fitted):
        message += f"Feature names unseen at fit time:\n{listed(unseen)}"
    if missing := set(fitted) - set(names):
        message += f"Feature names seen at fit time, yet now missing:\n{listed(missing)}"
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise ValueError(message)
