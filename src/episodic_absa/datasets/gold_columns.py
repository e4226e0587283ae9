"""Reads gold from columns of the reviews' own file: all pairs of a text in one cell, or one pair per row."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from episodic_absa.datasets.dataset_file import (
    RowProblems,
    has_half_character,
    listed_names,
    parse_json,
    row_error,
    tidy,
)
from episodic_absa.datasets.gold_files import Annotation, build_gold_tuple, odd_polarities, read_gold_tuples
from episodic_absa.errors import DatasetError

_NO_OPINION: Final = "-"
_IMPLICIT_TERMS: Final = ("NULL", "null")
_FORM: Final = (
    "write `term:polarity; term:polarity`, `-` if the text holds no opinion, nothing if it is not annotated, "
    'or JSON: [["term", "polarity"], ...]'
)


class GoldColumns(NamedTuple):
    """The names of the columns that hold gold: either `gold`, or `aspect` and `polarity`, or none."""

    gold: str | None = None
    """All pairs of a text in one cell."""
    aspect: str | None = None
    polarity: str | None = None
    """With `aspect`: one pair per row. Rows with the same text are one sample."""
    are_required: bool = False
    """False: a file without these columns has no gold. True: it is an error."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are named."""
        return tuple(name for name in (self.gold, self.aspect, self.polarity) if name is not None)


NO_COLUMNS: Final = GoldColumns()


class GoldRow(NamedTuple):
    """A row of a file without its gold, and the gold."""

    line: int
    row: dict[str, Any]
    annotation: Annotation | None


def split_gold(
    rows: Iterable[tuple[int, dict[str, Any]]],
    columns: GoldColumns,
    path: Path,
    text_column: str,
    problems: RowProblems,
) -> Iterator[GoldRow]:
    """Yield the rows without their gold columns, and the gold apart from them.

    A cell that cannot be read as gold is noted in `problems`, and its row has no gold.

    Raises:
        DatasetError: no row has a column that is required.
    """
    present: dict[str, None] = {}  # in the order of the file

    def noted() -> Iterator[tuple[int, dict[str, Any]]]:
        for line, row in rows:
            present.update(dict.fromkeys(row))
            yield line, row

    annotated = _annotated(noted(), columns, path, problems)
    yield from annotated if columns.aspect is None else _joined(annotated, text_column)
    missing = [name for name in columns.names if name not in present]
    if columns.are_required and missing and present:
        listed = listed_names(present)
        raise row_error(path, 1, f"there is no column {missing[0]!r} (found: {listed}); correct its name under eval")


def _annotated(
    rows: Iterable[tuple[int, dict[str, Any]]], columns: GoldColumns, path: Path, problems: RowProblems
) -> Iterator[GoldRow]:
    for line, row in rows:
        annotation = None
        try:
            annotation = _take_annotation(row, columns, path, line)
        except DatasetError as error:
            problems.note(error)
        yield GoldRow(line, row, annotation)


def _joined(rows: Iterable[GoldRow], text_column: str) -> Iterator[GoldRow]:
    """Yield one row per text; files often number their rows, so that the text and not the uid tells what belongs."""
    first: dict[str, GoldRow] = {}
    for gold_row in rows:
        text = gold_row.row.get(text_column)
        key = tidy(text) if isinstance(text, str) else f"line {gold_row.line}"
        known = first.setdefault(key, gold_row)
        if known is not gold_row and gold_row.annotation is not None:
            first[key] = known._replace(annotation=_together(known.annotation, gold_row.annotation))
    yield from first.values()


def _take_annotation(row: dict[str, Any], columns: GoldColumns, path: Path, line: int) -> Annotation | None:
    """Remove the gold columns from a row and return what they hold."""
    if columns.aspect is None:
        return read_gold_cell(_take(row, columns.gold), columns.gold or "", path, line)
    return _read_pair(_take(row, columns.aspect), _take(row, columns.polarity), columns, path, line)


def _take(row: dict[str, Any], column: str | None) -> Any:
    """Remove a column from a row and return its cell; None if the row has no such column."""
    return None if column is None else row.pop(column, None)


def read_gold_cell(value: Any, column: str, path: Path, line: int) -> Annotation | None:
    """Return the annotation of a cell that holds all pairs of a text; None for an empty one."""
    if isinstance(value, str):
        value = value.strip()
        if value == _NO_OPINION:
            return Annotation(())
        if value.startswith("["):
            try:
                value = parse_json(value)
            except ValueError as error:
                raise row_error(path, line, f"column {column!r} is not valid JSON ({error}); {_FORM}") from error
            if has_half_character(value):
                raise row_error(path, line, f"column {column!r} holds half a character; {_FORM}")
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return _annotation(_read_pair_text(part, column, path, line) for part in value.split(";") if part.strip())
    if isinstance(value, list) and all(isinstance(entry, dict) for entry in value):
        return read_gold_tuples(value, path, line)
    if isinstance(value, list) and all(_is_pair(entry) for entry in value):
        return _annotation((term or "", polarity) for term, polarity in value)
    raise row_error(path, line, f"column {column!r} does not hold pairs; {_FORM}")


def _read_pair(aspect: Any, polarity: Any, columns: GoldColumns, path: Path, line: int) -> Annotation | None:
    if not _is_pair([aspect, polarity]):
        names = f"{columns.aspect!r} and {columns.polarity!r}"
        raise row_error(path, line, f"the columns {names} must hold a term and a polarity as text")
    term, word = tidy(aspect or ""), tidy(polarity or "")
    if term == _NO_OPINION and not word:
        return Annotation(())
    return _annotation([(term, word)]) if term or word else None


def _read_pair_text(pair: str, column: str, path: Path, line: int) -> tuple[str, str]:
    term, colon, polarity = pair.rpartition(":")
    if not colon:
        # The cell is not quoted: if the wrong column is named, it holds a review.
        raise row_error(path, line, f"column {column!r} holds a pair without a colon; {_FORM}")
    return term, polarity


def _annotation(pairs: Iterable[tuple[str, str | None]]) -> Annotation:
    listed = [("" if tidy(term) in _IMPLICIT_TERMS else term, polarity) for term, polarity in pairs]
    tuples = tuple(build_gold_tuple(term, polarity) for term, polarity in listed)
    return Annotation(tuples, odd_polarities(polarity for _, polarity in listed))


def _together(known: Annotation | None, more: Annotation) -> Annotation:
    if known is None:
        return more
    tuples = tuple(dict.fromkeys((*known.tuples, *more.tuples)))
    return Annotation(tuples, (*known.odd_polarities, *more.odd_polarities))


def _is_pair(entry: Any) -> bool:
    return isinstance(entry, list) and len(entry) == 2 and all(isinstance(part, str | None) for part in entry)
