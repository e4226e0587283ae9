"""The rows of `analyze --out`: the columns of the table, then what was found."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from episodic_absa.analysed_review import AnalysedReview

ASPECTS: Final = "aspects"
CONFIDENCE: Final = "confidence"
_WIDE: Final = ("label", "language", ASPECTS, "error")
_LONG: Final = ("label", "language", "aspect", "polarity", CONFIDENCE, "evidence", "error")
_PREFIX: Final = "absa_"
UNREAD: Final = "not read: the text is neither Korean nor English, and no model was asked"


class ResultRows:
    """Builds the rows: one per review, or one per aspect."""

    def __init__(self, columns: Sequence[str], *, one_per_aspect: bool) -> None:
        added = _LONG if one_per_aspect else _WIDE
        # A table may hold a column of the same name; both are kept.
        self._names = {name: f"{_PREFIX}{name}" if name in columns else name for name in added}
        self._one_per_aspect = one_per_aspect
        self.columns = (*columns, *self._names.values())
        self.aspects_column = self._names.get(ASPECTS)
        """The column of lists, None if there is one row per aspect."""
        self.confidence_column = self._names.get(CONFIDENCE)
        """The column of numbers."""

    def rows(self, cells: Mapping[str, Any], review: AnalysedReview | None, error: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of one review; one that was not analysed has one row, with the error."""
        if review is None:
            yield self._row(cells, {"error": error})
            return
        unread = None if review.label else UNREAD
        shared = {"label": review.label, "language": review.language, "error": unread}
        if not self._one_per_aspect:
            yield self._row(cells, {**shared, ASPECTS: [asdict(aspect) for aspect in review.aspects]})
            return
        for aspect in review.aspects:
            fields = {"aspect": aspect.term, "polarity": aspect.polarity, "evidence": aspect.evidence}
            yield self._row(cells, {**shared, **fields, CONFIDENCE: aspect.confidence})
        if not review.aspects:
            yield self._row(cells, shared)

    def _row(self, cells: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
        return {**cells, **{column: fields.get(name) for name, column in self._names.items()}}
