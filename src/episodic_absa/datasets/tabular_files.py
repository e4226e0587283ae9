"""Reads CSV and JSONL files with one text per row. Unknown columns become metadata."""

import csv
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TextIO

from episodic_absa.datasets.dataset_file import (
    half_character_problem,
    has_half_character,
    kind_of,
    listed_names,
    open_text_file,
    read_json_lines,
    repeated_column_problem,
    row_error,
)
from episodic_absa.datasets.gold_columns import NO_COLUMNS, GoldColumns, split_gold
from episodic_absa.datasets.gold_files import Annotation, ground_tuples, read_gold_tuples, read_uid, tidy
from episodic_absa.datasets.row_problems import RowProblems
from episodic_absa.errors import DatasetError
from episodic_absa.language.counted_noun import counted
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.gold import LabelledSample
from episodic_absa.serialization.csv_text import unprotected_cell
from episodic_absa.vocabulary import Split

_UID: Final = ("uid", "id")
_LANGUAGE: Final = ("language_code", "lang", "language")
_DOMAIN: Final = ("domain_id", "domain")
_CASE_TYPE: Final = ("case_type", "type")
_SEPARATORS: Final = (",", ";", "\t")
_LONGEST_FIELD: Final = 1 << 24
"""Characters; the csv module's own limit is 131,072. Without one, a quote that is not closed takes all memory."""


class Place(NamedTuple):
    """The place of a row in its file."""

    path: Path
    line: int
    number: int
    """The position among the texts of the file, from 1."""

    @property
    def fallback_uid(self) -> str:
        """The uid of a text for which the file has none."""
        return tidy(f"{self.path.stem}:{self.number}")


def read_csv(
    path: Path, split: Split, text_column: str, columns: GoldColumns = NO_COLUMNS
) -> Iterator[tuple[int, LabelledSample]]:
    """Yield the line and the sample of each row; rows of one text are one sample if each row holds one gold pair."""
    problems = RowProblems(path)
    rows = split_gold(_named_cells(path, text_column, problems), columns, path, text_column, problems)
    for number, (line, row, gold) in enumerate(rows, start=1):
        try:
            labelled = sample_of_row(row, Place(path, line, number), split, text_column, gold=gold)
        except DatasetError as error:
            problems.note(error)
        else:
            yield line, labelled
    problems.raise_any()


def _named_cells(path: Path, text_column: str, problems: RowProblems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line of each row, and its cells by the names of their columns."""
    with open_text_file(path) as lines:
        separator = separator_of(lines, text_column)
        rows = csv_rows(path, lines, delimiter=separator)
        yield from _under_header(path, rows, text_column, problems)


def _under_header(
    path: Path, rows: Iterator[tuple[int, list[str]]], text_column: str, problems: RowProblems
) -> Iterator[tuple[int, dict[str, Any]]]:
    header_line, header = next(rows, (1, []))
    columns = [tidy(name) for name in header]
    repeated = next((name for at, name in enumerate(columns) if name in columns[:at]), None)
    if repeated is not None:
        raise row_error(path, header_line, repeated_column_problem(repeated))
    if text_column not in columns:
        raise row_error(path, header_line, _no_text(text_column, columns, "column"))
    for line, cells in rows:
        if len(cells) != len(columns):
            width = f"{counted(len(cells), 'cell')} under {counted(len(columns), 'column')}"
            problems.note(row_error(path, line, f"{width}; put text that contains commas into quotes"))
            continue
        row: dict[str, Any] = dict(zip(columns, cells, strict=True))
        if has_half_character("\0".join(cells)):
            problems.note(row_error(path, line, half_character_problem(row)))
            continue
        yield line, row


def read_jsonl(
    path: Path, split: Split, text_column: str, columns: GoldColumns = NO_COLUMNS
) -> Iterator[tuple[int, LabelledSample]]:
    """Yield the number and the sample of each line, with gold if the line has gold_tuples or the key named for it."""
    problems = RowProblems(path)
    rows = split_gold(read_json_lines(path), columns, path, text_column, problems)
    for number, (line, row, gold) in enumerate(rows, start=1):
        try:
            tuples = row.pop("gold_tuples", None)
            if gold is None and tuples is not None:
                gold = read_gold_tuples(tuples, path, line)
            labelled = sample_of_row(row, Place(path, line, number), split, text_column, gold=gold)
        except DatasetError as error:
            problems.note(error)
        else:
            yield line, labelled
    problems.raise_any()


def separator_of(file: TextIO, text_column: str) -> str:
    """Return what separates the columns of a CSV file: a comma, or what some spreadsheets write, `;` or a tab.

    The header decides: the first separator under which it names the text's column, else the one that gives the most
    columns. The file stands at its beginning afterwards.
    """
    headers = {separator: _header_cells(file, separator) for separator in _SEPARATORS}
    named = (separator for separator, header in headers.items() if text_column in header)
    return next(named, max(headers, key=lambda separator: len(headers[separator])))


def _header_cells(file: TextIO, separator: str) -> list[str]:
    lines = (line for line in file if line.strip())
    try:
        return [tidy(name) for name in next(csv.reader(lines, delimiter=separator), [])]
    except csv.Error:
        return []
    finally:
        file.seek(0)


def sample_of_row(
    row: Mapping[str, Any],
    place: Place,
    split: Split,
    text_column: str,
    *,
    gold: Annotation | None = None,
    language_code: str | None = None,
) -> LabelledSample:
    """Build the sample of one row.

    Args:
        row: the columns or keys of the row; those that are not used here become metadata.
        place: for errors, and for the uid of a row that has none.
        split: the split the row belongs to.
        text_column: the column or key that holds the text.
        gold: the gold of the file; its spans are checked here.
        language_code: the language of a row that names none.

    Raises:
        DatasetError: the row has no text, or a value of the wrong type.
    """
    rest = dict(row)
    text = _read_text(rest, place, text_column)
    sample = Sample(
        uid=_take(rest, _UID, place) or place.fallback_uid,
        text=text,
        split=split,
        language_code=_take(rest, _LANGUAGE, place) or language_code,
        domain_id=_take(rest, _DOMAIN, place) or "unknown",
        case_type=_take(rest, _CASE_TYPE, place) or "unknown",
    )
    if gold is None:
        return LabelledSample(sample=sample, metadata=rest)
    return LabelledSample(
        sample=sample, gold=ground_tuples(gold.tuples, text), odd_polarities=gold.odd_polarities, metadata=rest
    )


def readable_text(text: str | None, path: Path, line: int) -> str:
    """Return the text in NFC; an empty text is a DatasetError."""
    if text is None or not text.strip():
        raise row_error(path, line, "the text is empty; fill it in or remove the row")
    return unicodedata.normalize("NFC", text)


def csv_rows(path: Path, lines: Iterable[str], *, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
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


def _read_text(rest: dict[str, Any], place: Place, text_column: str) -> str:
    path, line, _ = place
    if text_column not in rest:
        raise row_error(path, line, _no_text(text_column, list(rest), "key"))
    text = rest.pop(text_column)
    if not isinstance(text, str | None):
        raise row_error(path, line, f"{text_column} must be a string, got {kind_of(text)}; quote it")
    return readable_text(text, path, line)


def _take(rest: dict[str, Any], names: tuple[str, ...], place: Place) -> str | None:
    """Remove the first of `names` that has a value from the row and return the value; empty ones are removed too."""
    path, line, _ = place
    taken: str | None = None
    for name in names:
        value = rest.get(name)
        is_empty = value is None or (isinstance(value, str) and not value.strip())
        if is_empty:
            rest.pop(name, None)
        elif taken is None:
            if names is not _UID and not isinstance(value, str):
                raise row_error(path, line, f"{name} must be a string, got {kind_of(value)}; quote it")
            taken = read_uid(rest.pop(name), name, path, line)
    return taken


def _no_text(text_column: str, present: list[str], kind: str) -> str:
    names = listed_names(present)
    return f"there is no {kind} {text_column!r} (found: {names}); name the {kind} of the text in data.text_column"
