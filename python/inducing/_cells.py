"""One column of Python or NumPy values as the core takes it: numbers, booleans, dates, or a list of texts."""

import datetime
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

Column: TypeAlias = npt.NDArray[Any] | list[str | None]

_COMPLEX = "Complex data not supported\n"  # scikit-learn's words
_NUMBERS = (int, float, np.integer, np.floating, Decimal, Fraction)
_DATES = (datetime.date, np.datetime64)


def as_column(values: Iterable[Any], name: str) -> Column:
    """A column of anything.

    Parameters
    ----------
    values : array or sequence of shape (n_samples,)
        ``None``, NaN, NaT and pandas' NA are missing values.
    name : str
        For error messages.

    Raises
    ------
    ValueError
        If the values are of several types.

    Examples
    --------
    >>> as_column([3, None, 2.5], "rooms")
    array([3. , nan, 2.5])
    >>> as_column(["a", None, "b"], "district")
    ['a', None, 'b']
    """
    array = cast("npt.NDArray[Any]", values) if isinstance(values, np.ndarray) else _object_array(values)
    if isinstance(array, np.ma.MaskedArray):
        # What is masked is missing.
        cells: npt.NDArray[Any] = np.array(np.ma.getdata(array), dtype=object)
        cells[np.ma.getmaskarray(array)] = None
        return as_column(cells, name)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    match array.dtype.kind:
        case "b" | "i" | "u":
            return array
        case "f":
            return array if array.itemsize in (4, 8) else array.astype(np.float64)
        case "M":
            return array.astype("datetime64[us]")
        case "m":
            return np.asarray(array / np.timedelta64(1, "s"), dtype=np.float64)
        case "U" | "T":
            return [None if is_missing(text) else str(text) for text in array.tolist()]
        case "S":
            return [text.decode() for text in array.tolist()]
        case "c":
            raise ValueError(f"{_COMPLEX}column `{name}` holds complex numbers; use their parts as two columns")
        case "O":
            return _of_objects(array.tolist(), name)
        case _:
            raise TypeError(f"column `{name}`: values of type {array.dtype} cannot be used")


def is_missing(cell: Any) -> bool:
    """Whether a cell has no value."""
    if cell is None:
        return True
    if isinstance(cell, float | np.floating):
        return bool(cell != cell)
    if isinstance(cell, (np.datetime64, np.timedelta64)):
        return bool(cell != cell)
    # Of pandas, which need not be installed.
    return type(cell).__name__ in ("NAType", "NaTType")


def texts(values: Sequence[Any]) -> list[str | None] | None:
    """The values as texts if all are texts or missing, and at least one is a text.

    >>> texts(["a", None]), texts(["a", 1]), texts([None])
    (['a', None], None, None)
    """
    found: list[str | None] = []
    for one in values:
        if isinstance(one, str):
            found.append(str(one))
        elif is_missing(one):
            found.append(None)
        else:
            return None
    return found if any(text is not None for text in found) else None


def _object_array(values: Iterable[Any]) -> npt.NDArray[Any]:
    given = list(values)
    if all(isinstance(one, bool) for one in given) or all(type(one) in (int, float) for one in given):
        try:
            return np.asarray(given)
        except OverflowError:
            pass
    array = np.empty(len(given), dtype=object)
    array[:] = given
    return array


def _kind(cell: object, name: str, row: int) -> str:
    if isinstance(cell, str):
        return "text"
    if isinstance(cell, bool | np.bool_):
        return "boolean"
    if isinstance(cell, _NUMBERS):
        return "number"
    if isinstance(cell, _DATES):
        return "date"
    if isinstance(cell, datetime.timedelta | np.timedelta64):
        return "duration"
    if isinstance(cell, complex | np.complexfloating):
        raise ValueError(f"{_COMPLEX}column `{name}`, row {row}: {cell}")
    if isinstance(cell, bytes):
        return "bytes"
    raise TypeError(f"column `{name}`, row {row}: argument must be a string or a number, not {type(cell).__name__}")


def _of_objects(cells: list[Any], name: str) -> Column:
    """A column of Python objects, all of one type where they are not missing."""
    first: tuple[int, str] | None = None
    missing = False
    for row, cell in enumerate(cells):
        if is_missing(cell):
            missing = True
            continue
        kind = _kind(cell, name, row)
        if first is None:
            first = (row, kind)
        elif kind != first[1]:
            raise _mixed(name, (first[0], cells[first[0]]), (row, cell))
    match first[1] if first else "number":
        case "text":
            return [None if is_missing(cell) else str(cell) for cell in cells]
        case "bytes":
            return [None if is_missing(cell) else cell.decode() for cell in cells]
        case "boolean" if not missing:
            return np.asarray(cells, dtype=np.bool_)
        case "boolean":
            return [None if is_missing(cell) else str(bool(cell)).lower() for cell in cells]
        case "date":
            return np.array([_micros(cell) for cell in cells], dtype="datetime64[us]")
        case "duration":
            return np.array([np.nan if is_missing(cell) else _seconds(cell) for cell in cells])
        case _:
            return np.array([np.nan if is_missing(cell) else float(cell) for cell in cells], dtype=np.float64)


def _micros(cell: Any) -> np.datetime64:
    if is_missing(cell):
        return np.datetime64("NaT", "us")
    if isinstance(cell, datetime.datetime) and cell.tzinfo is not None:
        cell = cell.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(cell, "us")


def _seconds(cell: Any) -> float:
    if isinstance(cell, np.timedelta64):
        return float(cell / np.timedelta64(1, "s"))
    return float(cell.total_seconds())


def _mixed(name: str, first: tuple[int, Any], other: tuple[int, Any]) -> ValueError:
    def shown(row: int, cell: Any) -> str:
        text = repr(cell)
        return f"row {row} holds {text if len(text) <= 40 else text[:39] + '…'} ({type(cell).__name__})"

    return ValueError(
        f"column `{name}` holds several types: {shown(*first)}, {shown(*other)}\n"
        f"hint: make it one type, for example with `X[{name!r}].astype(str)` or `pandas.to_numeric(X[{name!r}], errors='coerce')`"
    )
