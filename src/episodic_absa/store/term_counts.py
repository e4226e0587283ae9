"""What people said of each term: counted in the transaction of the verdict, read as sums over people."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from episodic_absa.schemas.stored.memory_v1_3 import VerdictV1_3
from episodic_absa.store.dialects.dialect import Dialect, Writer

SATURATION: Final = 20
"""The most reviews of one person that count for one term in one way."""
_COLUMN_OF: Final[Mapping[str, str]] = {
    "right": "judged_right",
    "wrong": "wrong",
    "wrong_target": "wrong_target",
    "wrong_polarity": "wrong_polarity",
    "missed": "missed",
}
_COLUMNS: Final = tuple(_COLUMN_OF.values())
_COUNT: Final = (
    f"INSERT INTO terms (namespace, language, term, person, {', '.join(_COLUMNS)}) "  # noqa: S608 - constants
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (namespace, language, term, person) DO UPDATE SET "
    + ", ".join(f"{column} = terms.{column} + excluded.{column}" for column in _COLUMNS)
)
_FORGET_ZEROS: Final = (
    f"DELETE FROM terms WHERE namespace = ? AND language = ? AND term = ? AND person = ? AND {' + '.join(_COLUMNS)} = 0"  # noqa: S608 - constants
)
_READ: Final = (
    f"SELECT term, {', '.join(_COLUMNS)} FROM terms WHERE namespace = ? AND language = ? ORDER BY term, person"  # noqa: S608 - constants
)

CountKey = tuple[Any, ...]


class TermCounts(NamedTuple):
    """In how many reviews people called a pair with the term right, wrong, or missed it."""

    right: int = 0
    wrong: int = 0
    """Without saying in what."""
    wrong_target: int = 0
    wrong_polarity: int = 0
    missed: int = 0


def count_verdict(writer: Writer, namespace: int, verdict: VerdictV1_3, step: int) -> None:
    """Count a verdict on a term of a known language, or, with step -1, count it no more."""
    column = _COLUMN_OF.get(verdict.verdict)
    if column is None or verdict.aspect is None or verdict.language is None:
        return
    key = (namespace, verdict.language, verdict.aspect, verdict.person)
    writer.rows(_COUNT, (*key, *(step * (column == counted) for counted in _COLUMNS)))
    if step < 0:
        writer.rows(_FORGET_ZEROS, key)


def counts_of_terms(reader: Dialect | Writer, namespace: int, language: str) -> dict[str, TermCounts]:
    """Return the counts of each term of a language over all people, each of whom saturates."""
    counts: dict[str, TermCounts] = {}
    for term, *given in reader.rows(_READ, (namespace, language)):
        before = counts.get(term, TermCounts())
        counts[term] = TermCounts(*(old + min(new, SATURATION) for old, new in zip(before, given, strict=True)))
    return counts


def all_counts(reader: Dialect | Writer) -> dict[CountKey, tuple[int, ...]]:
    """Return what is counted for each namespace (its number), language, term and person."""
    rows = reader.rows(f"SELECT namespace, language, term, person, {', '.join(_COLUMNS)} FROM terms")  # noqa: S608 - constants
    return {tuple(row[:4]): tuple(row[4:]) for row in rows}


def counts_of_verdicts(verdicts: Iterable[VerdictV1_3]) -> dict[CountKey, tuple[int, ...]]:
    """Return what should be counted for each namespace (its name), language, term and person.

    Args:
        verdicts: those that stand.
    """
    counts: dict[CountKey, list[int]] = {}
    for verdict in verdicts:
        column = _COLUMN_OF.get(verdict.verdict)
        if column is not None and verdict.aspect is not None and verdict.language is not None:
            key = (verdict.namespace, verdict.language, verdict.aspect, verdict.person)
            counts.setdefault(key, [0] * len(_COLUMNS))[_COLUMNS.index(column)] += 1
    return {key: tuple(held) for key, held in counts.items()}
