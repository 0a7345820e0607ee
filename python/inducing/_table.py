"""Predictions as a table that is computed while it is read."""

from typing import Any

from ._core import PredictionStream
from ._frames import wanted
from ._warnings import warn_all


class PredictionTable:
    """Predictions on their way, for everything that reads Arrow: pyarrow, polars, pandas, DuckDB.

    It can be read once, by one of the methods, or directly:
    ``pyarrow.RecordBatchReader.from_stream(table)``, ``polars.DataFrame(table)``, ``pyarrow.parquet.write_table(...)``.
    """

    def __init__(self, stream: PredictionStream) -> None:
        self._stream = stream

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._stream.__arrow_c_stream__(requested_schema)

    @property
    def notes(self) -> list[str]:
        """What there is to say of the rows that were read so far."""
        return self._stream.notes

    def to_reader(self) -> Any:
        """A ``pyarrow.RecordBatchReader``: batch by batch, in constant memory."""
        pyarrow = wanted("pyarrow", "a table of predictions")
        return pyarrow.RecordBatchReader.from_stream(self)

    def to_arrow(self) -> Any:
        """All rows as a ``pyarrow.Table``."""
        return self._told(self.to_reader().read_all())

    def to_pandas(self) -> Any:
        """All rows as a ``pandas.DataFrame``."""
        wanted("pandas", "`to_pandas`")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """All rows as a ``polars.DataFrame``."""
        polars = wanted("polars", "`to_polars`")
        return self._told(polars.DataFrame(self))

    def _told(self, table: Any) -> Any:
        warn_all(self.notes)
        return table
