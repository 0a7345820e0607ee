"""Tables of pandas, polars and everything that speaks Arrow: names, types, and how a column joins them. No values are copied."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ._cells import Column, as_column, is_missing

Names = npt.NDArray[np.object_]


def loaded(name: str) -> Any:
    """A library if somebody imported it: what is not imported has made no table."""
    return sys.modules.get(name)


def wanted(name: str, why: str) -> Any:
    """A library that is needed.

    Raises
    ------
    ImportError
        With what to install.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"{why} needs {name}, which is not installed\nhint: pip install {name}") from error


def library(table: Any) -> str:
    """Which library a table is of: "pandas", "polars", "arrow" for all others with ``__arrow_c_stream__``, or ""."""
    pandas, polars = loaded("pandas"), loaded("polars")
    if pandas is not None and isinstance(table, pandas.DataFrame):
        return "pandas"
    if polars is not None and isinstance(table, polars.DataFrame | polars.LazyFrame):
        return "polars"
    if _is_of_one_column(table):
        return ""
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        return "arrow"
    return ""


def _is_of_one_column(table: Any) -> bool:
    # Arrow's arrays, polars' and pandas' series have the protocol too.
    return type(table).__name__ in ("Series", "ChunkedArray") or type(table).__name__.endswith("Array")


def series_values(values: Any) -> list[Any] | npt.NDArray[Any] | None:
    """The values of a series or an Arrow array; nothing for other objects."""
    if not _is_of_one_column(values):
        return None
    if hasattr(values, "to_pylist"):
        return list(values.to_pylist())
    polars, pandas = loaded("polars"), loaded("pandas")
    if polars is not None and isinstance(values, polars.Series):
        return list(values.to_list())
    if pandas is not None and isinstance(values, pandas.Series):
        return np.asarray(values)
    return None


def feature_names(columns: Sequence[Any]) -> Names | None:
    """The names by scikit-learn's rules: texts, or none at all.

    >>> feature_names(["a", "b"])
    array(['a', 'b'], dtype=object)
    >>> feature_names([0, 1]) is None
    True
    """
    types = sorted({type(name).__qualname__ for name in columns})
    if len(types) > 1 and "str" in types:
        raise TypeError(
            "Feature names are only supported if all input features have string names, "
            f"but your input has {types} as feature name / column name types. "
            "If you want feature names to be stored and validated, you must convert "
            "them all to strings, by using X.columns = X.columns.astype(str) for "
            "example. Otherwise you can remove feature / column names from your input "
            "data, or convert them all to a non-string data type."
        )
    return np.asarray(columns, dtype=object) if types == ["str"] else None


def prepared(table: Any) -> Any:
    """The table with columns that Arrow can hold, and without an index."""
    match library(table):
        case "pandas":
            return _prepared_pandas(table)
        case "polars":
            return _prepared_polars(table)
        case _:
            return table


def categories(table: Any) -> list[str]:
    """Names of the columns that are categories by their type."""
    match library(table):
        case "pandas":
            return [str(name) for name, kind in table.dtypes.items() if kind.name == "category"]
        case "polars":
            kinds = ("Categorical", "Enum")
            return [name for name, kind in table.schema.items() if kind.base_type().__name__ in kinds]
        case _:
            schema: Any = getattr(table, "schema", None)
            if not type(schema).__module__.startswith("pyarrow"):
                return []
            return [field.name for field in schema if str(field.type).startswith("dictionary")]


def schema_names(table: Any) -> list[str]:
    """Names of the columns of a table that speaks Arrow. A reader can be read once, its schema any number of times."""
    schema = getattr(table, "schema", None)
    for names in (getattr(table, "column_names", None), getattr(schema, "names", None), getattr(table, "columns", None)):
        if isinstance(names, list | tuple):
            return [str(name) for name in cast("Sequence[object]", names)]
    return list(wanted("pyarrow", f"a {type(table).__name__}").schema(table).names)


def with_columns(table: Any, names: Sequence[str], columns: Mapping[str, Column]) -> Any:
    """The table with other names and further columns, as an Arrow stream."""
    if library(table) == "polars":
        polars: Any = loaded("polars")
        renamed = table.rename(dict(zip(table.columns, names, strict=True)))
        return renamed.with_columns([polars.Series(name, values) for name, values in columns.items()])
    pyarrow = wanted("pyarrow", f"joining a {type(table).__name__} and a target")
    if library(table) == "pandas":
        joined = pyarrow.Table.from_pandas(table, preserve_index=False)
    else:
        joined = pyarrow.table(table)
    joined = joined.rename_columns(list(names))
    for name, values in columns.items():
        joined = joined.append_column(name, [pyarrow.array(values)])
    return joined


def has_pyarrow() -> bool:
    """Whether pyarrow can be imported."""
    return find_spec("pyarrow") is not None


def _prepared_pandas(table: Any) -> Any:
    pandas: Any = loaded("pandas")
    changed: dict[Any, Any] = {}
    for position, (name, kind) in enumerate(table.dtypes.items()):
        column = table.iloc[:, position]
        if kind == np.dtype(object):
            values = as_column(column.to_numpy(), str(name))
            changed[position] = pandas.Series(values)
        elif isinstance(kind, pandas.CategoricalDtype):
            # Intervals, floats and the like have no place in Arrow's dictionaries.
            if kind.categories.dtype.kind not in "iu" and not pandas.api.types.is_string_dtype(kind.categories.dtype):
                changed[position] = column.cat.rename_categories([str(one) for one in kind.categories])
        elif isinstance(kind, pandas.PeriodDtype):
            changed[position] = column.dt.to_timestamp()
        elif isinstance(kind, pandas.IntervalDtype):
            changed[position] = pandas.Series(_shown(column))
        elif isinstance(kind, pandas.SparseDtype):
            changed[position] = column.sparse.to_dense()
        elif kind.kind == "m":
            changed[position] = column.dt.total_seconds()
        elif kind.kind == "c":
            as_column(column.to_numpy(), str(name))  # refuses it
    table = table.copy(deep=False)
    for position, column in changed.items():
        table.isetitem(position, column.array)  # an array: a series would be aligned with the index
    return table


def _shown(cells: Iterable[Any]) -> list[str | None]:
    return [None if is_missing(cell) else str(cell) for cell in cells]


def _prepared_polars(table: Any) -> Any:
    polars: Any = loaded("polars")
    if isinstance(table, polars.LazyFrame):
        table = table.collect()
    durations = [name for name, kind in table.schema.items() if kind == polars.Duration]
    # Seconds, as of pandas and numpy.
    return table.with_columns([polars.col(name).dt.total_microseconds() / 1e6 for name in durations])
