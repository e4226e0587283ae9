"""Reads the rows of a table, whatever its format. pyarrow and openpyxl are imported only for files that need them."""

import csv
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Final, TextIO
from zipfile import BadZipFile, ZipFile

from episodic_absa.datasets.dataset_file import (
    half_character_problem,
    has_half_character,
    kind_of,
    parse_json,
    read_json_lines,
    read_text_file,
    repeated_column_problem,
    row_error,
    tidy,
)
from episodic_absa.datasets.file_encoding import TextEncoding, find_encoding, refuse_binary
from episodic_absa.errors import DatasetError, MissingExtraError
from episodic_absa.language.counted_noun import counted
from episodic_absa.serialization.csv_text import unprotected_cell

TABLE_ENDINGS: Final = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".xlsx")
TEXT_COLUMN: Final = "text"
"""The column of reviews that have no name."""
_SEPARATORS: Final = {",": "", ";": '";"', "\t": "a tab", "|": '"|"'}
"""What separates columns, and how a message names it."""
_LONGEST_FIELD: Final = 1 << 24
"""Characters; the csv module's own limit is 131,072. Without one, a quote that is not closed takes all memory."""
_MOST_UNPACKED: Final = 300_000_000
"""Bytes of all parts of a workbook; a damaged or hostile one of 300 kB unpacks to gigabytes."""
_MOST_CELLS: Final = 20_000_000
"""Cells of a sheet, empty ones too: one far to the right makes its row 16,384 wide."""
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
        if self.delimiter != "," and self.path.suffix.lower() != ".tsv":
            yield f"separated by {_SEPARATORS[self.delimiter]}"

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
        first = next(cells, (1, []))
        if self.has_header:
            columns = header_of(self.path, *first)
        else:
            columns = [_unnamed(place) for place in range(len(first[1]))]
            cells = chain([first], cells)
        for line, row in cells:
            if any(cell_text(cell).strip() for cell in row[len(columns) :]):
                raise width_error(self.path, line, row, columns)
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
    with path.open(encoding=encoding.name, errors=encoding.errors, newline="") as lines:
        return TableFormat(path, encoding, separator_of(lines))


def separator_of(file: TextIO, text_column: str | None = None) -> str:
    """Return what separates the columns of a CSV file: a comma, or what some spreadsheets write.

    The header decides: the first separator under which it names the text's column, else the one that gives the most
    columns. The file stands at its beginning afterwards.
    """
    headers = {separator: _header_cells(file, separator) for separator in _SEPARATORS}
    named = (separator for separator, header in headers.items() if text_column in header)
    return next(named, max(headers, key=lambda separator: len(headers[separator])))


def csv_rows(path: Path, lines: Iterable[str], *, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the cells of each row that is not blank, the header included."""
    # The limit belongs to the whole process; it is only ever raised.
    csv.field_size_limit(max(_LONGEST_FIELD, csv.field_size_limit()))
    reader = csv.reader(lines, strict=True, delimiter=delimiter)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            is_endless = "field limit" in str(error)
            why = f"a field has more than {_LONGEST_FIELD:,} characters" if is_endless else str(error)
            problem = f"the row that begins here is not valid CSV ({why}); write a quote inside quotes twice"
            raise row_error(path, line, problem) from error
        if cells is None:
            return
        # A spreadsheet writes rows of commas after its last row.
        if any(cell.strip() for cell in cells):
            yield line, [unprotected_cell(cell) for cell in cells]


def header_of(path: Path, line: int, cells: Sequence[Any]) -> list[str]:
    """Return the names of the columns; a name that stands twice is a DatasetError."""
    columns = [tidy(cell_text(name)) or _unnamed(place) for place, name in enumerate(cells)]
    repeated = next((name for at, name in enumerate(columns) if name in columns[:at]), None)
    if repeated is not None:
        raise row_error(path, line, repeated_column_problem(repeated))
    return columns


def width_error(path: Path, line: int, row: Sequence[Any], columns: Sequence[str]) -> DatasetError:
    """Return the error about a row that does not fit under the header."""
    width = f"{counted(len(row), 'cell')} under {counted(len(columns), 'column')}"
    return row_error(path, line, f"{width}; put text that contains commas into quotes")


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


def _header_cells(file: TextIO, separator: str) -> list[str]:
    lines = (line for line in file if line.strip())
    try:
        return [tidy(name) for name in next(csv.reader(lines, delimiter=separator), [])]
    except csv.Error:
        return []
    finally:
        file.seek(0)


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
            if sum(part.file_size for part in ZipFile(file).infolist()) > _MOST_UNPACKED:
                raise _too_large(path, f"unpacks to more than {_MOST_UNPACKED // 1_000_000} MB")
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            sheet: Any = book.worksheets[0]
            # The extent that a sheet states may be wrong: rows and columns beyond it would be lost.
            sheet.reset_dimensions()
            cells_n = 0
            for line, row in enumerate(sheet.iter_rows(values_only=True), start=1):
                cells_n += len(row)
                if cells_n > _MOST_CELLS:
                    raise _too_large(path, f"has more than {_MOST_CELLS:,} cells")
                if any(cell is not None and cell_text(cell).strip() for cell in row):
                    yield line, list(row)
    except (*_DAMAGED_XLSX, InvalidFileException) as error:
        raise DatasetError(f"cannot read {path} as an Excel file; save it as .xlsx again", path=path) from error


def _too_large(path: Path, why: str) -> DatasetError:
    return DatasetError(f"{path} {why}; save the sheet with the reviews as .csv", path=path)
