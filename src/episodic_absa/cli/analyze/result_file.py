"""The file of `analyze --out`: CSV, JSON lines or Parquet. It appears under its name when it is complete."""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Protocol

from episodic_absa.cli.analyze.result_rows import ResultRows
from episodic_absa.datasets.tables.table_rows import cell_text
from episodic_absa.errors import ConfigError, MissingExtraError
from episodic_absa.serialization.csv_text import SafeCsvWriter
from episodic_absa.serialization.durable_file import draft_of, sync_directory

RESULT_ENDINGS: Final = (".csv", ".jsonl", ".parquet")
_PARQUET_BATCH: Final = 1000


class RowWriter(Protocol):
    """Writes rows of one format to an open draft."""

    def write(self, row: Mapping[str, Any]) -> None:
        """Add a row."""
        ...

    def close(self) -> None:
        """Write what is left, to the disk."""
        ...


class ResultFile:
    """A draft beside the file that it becomes.

    Raises:
        ConfigError: the place cannot be written.
    """

    def __init__(self, path: Path, rows: ResultRows) -> None:
        if path.is_dir():
            raise ConfigError(f"--out {path} is a directory; name a file", key="out")
        self.path = path
        self.is_whole = True
        """False: the disk took only a part of a row."""
        self._draft = draft_of(path)
        try:
            self._writer = _writer(self._draft, path.suffix.lower(), rows)
        except OSError as error:
            raise _not_written(path, error) from error

    def write(self, row: Mapping[str, Any]) -> None:
        """Add a row.

        Raises:
            ConfigError: the disk refuses it.
        """
        try:
            self._writer.write(row)
        except OSError as error:
            self.is_whole = False
            raise _not_written(self.path, error) from error

    def finish(self) -> Path:
        """Put the draft in place and return where it is."""
        return self._put_in_place(self.path)

    def keep_part(self) -> Path:
        """Keep what was written so far beside the wanted file, and return where it is."""
        return self._put_in_place(part_of(self.path))

    def discard(self) -> None:
        """Remove the draft."""
        with suppress(OSError):  # a full disk
            self._writer.close()
        self._draft.unlink(missing_ok=True)

    def _put_in_place(self, path: Path) -> Path:
        try:
            self._writer.close()
            self._draft.replace(path)
            sync_directory(path.parent)
        except OSError as error:
            self.discard()
            raise _not_written(path, error) from error
        return path


def part_of(path: Path) -> Path:
    """Return where the results of a command that was stopped are kept."""
    return path.with_name(f"{path.stem}.partial{path.suffix}")


class _CsvRows:
    def __init__(self, draft: Path, columns: Sequence[str]) -> None:
        # The mark tells Excel that the file is UTF-8; other readers skip it.
        self._file = draft.open("w", encoding="utf-8-sig", newline="", errors="replace")
        self._columns = columns
        self._csv = SafeCsvWriter(self._file)
        self._csv.write(columns)

    def write(self, row: Mapping[str, Any]) -> None:
        self._csv.write(cell_text(row.get(column)) for column in self._columns)

    def close(self) -> None:
        _sync_and_close(self._file)


class _JsonRows:
    def __init__(self, draft: Path) -> None:
        self._file = draft.open("w", encoding="utf-8", errors="replace")

    def write(self, row: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(row, ensure_ascii=False, default=cell_text) + "\n")

    def close(self) -> None:
        _sync_and_close(self._file)


class _ParquetRows:
    def __init__(self, draft: Path, rows: ResultRows) -> None:
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ImportError as error:
            raise MissingExtraError(feature="a Parquet file", extra="parquet") from error
        aspect = pa.struct(
            [(name, pa.string()) for name in ("term", "polarity")]
            + [("confidence", pa.float64()), ("evidence", pa.string())]
        )
        kinds = {rows.aspects_column: pa.list_(aspect), rows.confidence_column: pa.float64()}
        self._schema = pa.schema([(name, kinds.get(name, pa.string())) for name in rows.columns])
        self._typed = frozenset(kinds)
        self._table = pa.Table
        self._writer = parquet.ParquetWriter(draft, self._schema)
        self._rows: list[dict[str, Any]] = []

    def write(self, row: Mapping[str, Any]) -> None:
        self._rows.append(
            {name: row.get(name) if name in self._typed else cell_text(row.get(name)) for name in self._schema.names}
        )
        if len(self._rows) == _PARQUET_BATCH:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        self._writer.write_table(self._table.from_pylist(self._rows, schema=self._schema))
        self._rows.clear()


def _writer(draft: Path, ending: str, rows: ResultRows) -> RowWriter:
    if ending == ".csv":
        return _CsvRows(draft, rows.columns)
    return _JsonRows(draft) if ending == ".jsonl" else _ParquetRows(draft, rows)


def _not_written(path: Path, error: OSError) -> ConfigError:
    return ConfigError(f"cannot write {path}: {error.strerror}; choose another --out", path=path, key="out")


def _sync_and_close(file: Any) -> None:
    if not file.closed:
        with file:
            file.flush()
            os.fsync(file.fileno())
