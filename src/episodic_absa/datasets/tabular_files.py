"""Reads CSV and JSONL files with one text per row. Unknown columns become metadata."""

import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from episodic_absa.datasets.dataset_file import (
    RowProblems,
    half_character_problem,
    has_half_character,
    kind_of,
    listed_names,
    open_text_file,
    read_json_lines,
    row_error,
    tidy,
)
from episodic_absa.datasets.gold_columns import NO_COLUMNS, GoldColumns, split_gold
from episodic_absa.datasets.gold_files import Annotation, ground_tuples, read_gold_tuples, read_uid
from episodic_absa.datasets.tables.table_rows import csv_rows, header_of, separator_of, width_error
from episodic_absa.errors import DatasetError
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.gold import LabelledSample
from episodic_absa.vocabulary import Split

_UID: Final = ("uid", "id")
_LANGUAGE: Final = ("language_code", "lang", "language")
_DOMAIN: Final = ("domain_id", "domain")
_CASE_TYPE: Final = ("case_type", "type")


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
    return _samples(_named_cells(path, text_column, problems), split, text_column, columns, problems)


def read_jsonl(
    path: Path, split: Split, text_column: str, columns: GoldColumns = NO_COLUMNS
) -> Iterator[tuple[int, LabelledSample]]:
    """Yield the line and the sample of each object, with gold if it has gold_tuples or the key named for it."""
    return _samples(read_json_lines(path), split, text_column, columns, RowProblems(path), has_tuples=True)


def _samples(
    rows: Iterator[tuple[int, dict[str, Any]]],
    split: Split,
    text_column: str,
    columns: GoldColumns,
    problems: RowProblems,
    *,
    has_tuples: bool = False,
) -> Iterator[tuple[int, LabelledSample]]:
    path = problems.path
    annotated = split_gold(rows, columns, path, text_column, problems)
    for number, (line, row, gold) in enumerate(annotated, start=1):
        try:
            tuples = row.pop("gold_tuples", None) if has_tuples else None
            if gold is None and tuples is not None:
                gold = read_gold_tuples(tuples, path, line)
            labelled = sample_of_row(row, Place(path, line, number), split, text_column, gold=gold)
        except DatasetError as error:
            problems.note(error)
        else:
            yield line, labelled
    problems.raise_any()


def _named_cells(path: Path, text_column: str, problems: RowProblems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line of each row, and its cells by the names of their columns."""
    with open_text_file(path) as lines:
        rows = csv_rows(path, lines, delimiter=separator_of(lines, text_column))
        header_line, header = next(rows, (1, []))
        columns = header_of(path, header_line, header)
        if text_column not in columns:
            raise row_error(path, header_line, _no_text(text_column, columns, "column"))
        for line, cells in rows:
            row: dict[str, Any] = dict(zip(columns, cells, strict=False))
            if len(cells) != len(columns):
                problems.note(width_error(path, line, cells, columns))
            elif has_half_character("\0".join(cells)):
                problems.note(row_error(path, line, half_character_problem(row)))
            else:
                yield line, row


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
