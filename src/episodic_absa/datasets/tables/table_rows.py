"""Reads the rows of a table, whatever its format. pyarrow and openpyxl are imported only for files that need them."""

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

from episodic_absa.datasets.dataset_file import (
    half_character_problem,
    has_half_character,
    kind_of,
    parse_json,
    read_json_lines,
    read_text_file,
    repeated_column_problem,
    row_error,
)
from episodic_absa.datasets.file_encoding import TextEncoding, find_encoding, refuse_binary
from episodic_absa.datasets.gold_files import tidy
from episodic_absa.datasets.tabular_files import csv_rows
from episodic_absa.errors import DatasetError, MissingExtraError
from episodic_absa.language.counted_noun import counted

TABLE_ENDINGS: Final = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".xlsx")
TEXT_COLUMN: Final = "text"
"""The column of reviews that have no name."""
_DELIMITERS: Final = (",", ";", "\t", "|")
_NAMES: Final = {";": '";"', "\t": "a tab", "|": '"|"'}

_DAMAGED_XLSX: Final = (OSError, EOFError, BadZipFile, zlib.error, SyntaxError, LookupError, ValueError, TypeError)
"""What openpyxl raises for a damaged file; XML that is not well-formed is a SyntaxError."""

Row = dict[str, Any]


@dataclass(frozen=True)
class TableFormat:
    """How a file is read, and what of that the reader of the results should know."""

    path: Path
    encoding: TextEncoding | None = None
    delimiter: str = ","
    has_header: bool = True
    """False: the first row is a review, and the columns are called column_1, column_2, ..."""

    @property
    def notices(self) -> Iterator[str]:
        """What is not as usual."""
        if self.encoding is not None and self.encoding.name not in ("utf-8", "utf-8-sig"):
            yield f"encoded as {self.encoding.name}"
        if self.encoding is not None and self.encoding.damaged_n:
            yield counted(self.encoding.damaged_n, "damaged character")
        if self.delimiter in _NAMES and self.path.suffix.lower() != ".tsv":
            yield f"separated by {_NAMES[self.delimiter]}"

    def rows(self) -> Iterator[tuple[int, Row]]:
        """Yield the line and the cells of each row.

        Raises:
            DatasetError: the file or a row cannot be read.
            MissingExtraError: the package for this format is not installed.
        """
        ending = self.path.suffix.lower()
        if ending == ".jsonl":
            yield from read_json_lines(self.path)
        elif ending == ".json":
            yield from _json_rows(self.path)
        elif ending == ".parquet":
            yield from _parquet_rows(self.path)
        elif ending == ".xlsx":
            yield from self._under_header(_xlsx_cells(self.path))
        else:
            yield from self._under_header(self._csv_cells())

    def _csv_cells(self) -> Iterator[tuple[int, list[str]]]:
        assert self.encoding is not None  # noqa: S101 - found for every text file
        with self.path.open(encoding=self.encoding.name, errors=self.encoding.errors, newline="") as lines:
            yield from csv_rows(self.path, lines, delimiter=self.delimiter)

    def _under_header(self, cells: Iterator[tuple[int, list[Any]]]) -> Iterator[tuple[int, Row]]:
        first_line, first = next(cells, (1, []))
        if self.has_header:
            columns = [tidy(cell_text(name)) or _unnamed(place) for place, name in enumerate(first)]
            repeated = next((name for at, name in enumerate(columns) if name in columns[:at]), None)
            if repeated is not None:
                raise row_error(self.path, first_line, repeated_column_problem(repeated))
        else:
            columns = [_unnamed(place) for place in range(len(first))]
            cells = chain([(first_line, first)], cells)
        for line, row in cells:
            if any(cell_text(cell).strip() for cell in row[len(columns) :]):
                width = f"{counted(len(row), 'cell')} under {counted(len(columns), 'column')}"
                raise row_error(self.path, line, f"{width}; put text that contains commas into quotes")
            padded = [*row, *[""] * (len(columns) - len(row))]
            yield line, dict(zip(columns, padded, strict=False))


def find_format(path: Path) -> TableFormat:
    """Return how to read a file, by its ending and its first line.

    Raises:
        DatasetError: the file cannot be read.
    """
    ending = path.suffix.lower()
    if ending not in (".csv", ".tsv"):
        if path.is_dir():
            raise DatasetError(f"{path} is a directory; give one file of reviews in it", path=path)
        return TableFormat(path)
    refuse_binary(path)
    encoding = find_encoding(path)
    if ending == ".tsv":
        return TableFormat(path, encoding, "\t")
    with path.open(encoding=encoding.name, errors=encoding.errors) as lines:
        header = _outside_quotes(next((line for line in lines if line.strip()), ""))
    return TableFormat(path, encoding, max(_DELIMITERS, key=header.count))


def cell_text(value: object) -> str:
    """Return a cell as a CSV file shows it."""
    if value is None or value != value:  # NaN: an empty cell of pandas
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, datetime) and not (value.hour or value.minute or value.second or value.microsecond):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict | list | bool):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _unnamed(place: int) -> str:
    return f"column_{place + 1}"


def _outside_quotes(line: str) -> str:
    return "".join(line.split('"')[::2])


def _json_rows(path: Path) -> Iterator[tuple[int, Row]]:
    try:
        items = parse_json(read_text_file(path))
    except ValueError as error:
        hint = "a file with one JSON object per line must end in .jsonl"
        raise DatasetError(f"{path} is not valid JSON ({error}); {hint}", path=path) from error
    if not isinstance(items, list):
        raise DatasetError(f"{path} holds no list; write a list of objects or of strings", path=path)
    for number, item in enumerate(items, start=1):
        if not isinstance(item, dict | str):
            kind = kind_of(item)
            raise DatasetError(f"{path}, item {number}: an object or a string is expected, got {kind}", path=path)
        row = {TEXT_COLUMN: item} if isinstance(item, str) else item
        if has_half_character(row):
            raise DatasetError(f"{path}, item {number}: {half_character_problem(row)}", path=path)
        yield number, row


def _parquet_rows(path: Path) -> Iterator[tuple[int, Row]]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError(feature="a Parquet file", extra="parquet") from error
    try:
        with parquet.ParquetFile(path) as file:
            line = 0
            for batch in file.iter_batches(batch_size=1024):
                for row in _python_rows(batch, path, line):
                    line += 1
                    yield line, row
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"cannot read {path} as Parquet; write the file again", path=path) from error


def _python_rows(batch: Any, path: Path, before: int) -> list[Row]:
    """Return the rows of a batch. Parquet does not check its strings, so that one may be no UTF-8."""
    try:
        rows: list[Row] = batch.to_pylist()
    except UnicodeDecodeError:
        for place in range(batch.num_rows):
            row = {name: _readable(batch.column(name)[place]) for name in batch.schema.names}
            if None in (row[name] for name in row if batch.column(name)[place].is_valid):
                raise row_error(path, before + place + 1, half_character_problem(row)) from None
        raise
    return rows


def _readable(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return None


def _xlsx_cells(path: Path) -> Iterator[tuple[int, list[Any]]]:
    try:
        import openpyxl
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError as error:
        raise MissingExtraError(feature="an Excel file", extra="excel") from error
    try:
        # openpyxl leaves a damaged file open that it opened itself.
        with path.open("rb") as file:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            sheet: Any = book.worksheets[0]
            for line, row in enumerate(sheet.iter_rows(values_only=True), start=1):
                if not _is_blank(row):
                    yield line, list(row)
    except (*_DAMAGED_XLSX, InvalidFileException) as error:
        raise DatasetError(f"cannot read {path} as an Excel file; save it as .xlsx again", path=path) from error


def _is_blank(row: Sequence[Any]) -> bool:
    return not any(cell_text(cell).strip() for cell in row)
