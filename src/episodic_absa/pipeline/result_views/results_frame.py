"""Results as a pandas table. pandas is an optional package."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from episodic_absa.errors import MissingExtraError
from episodic_absa.pipeline.sample_result import SampleResult

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS: Final = (
    "uid",
    "text",
    "language",
    "label",
    "term",
    "polarity",
    "confidence",
    "evidence",
    "start",
    "end",
)


def results_frame(results: Iterable[SampleResult]) -> "pd.DataFrame":
    """Return a table with one row per aspect.

    A result without aspects keeps one row, whose aspect columns are missing values. `term` is "" for an opinion that
    names no aspect. `start` and `end` are the place of the term in `text`.

    Args:
        results: results of `analyze` or `Analyzer`.

    Raises:
        MissingExtraError: pandas is not installed.

    Example:
        >>> from episodic_absa import analyze, results_frame
        >>> frame = results_frame([analyze("The room was clean, but the breakfast was cold.")])
        >>> frame[["term", "polarity"]].values.tolist()
        [['room', 'positive'], ['breakfast', 'negative']]
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError(feature="results_frame", extra="pandas") from error
    frame = pd.DataFrame.from_records([row for result in results for row in _rows(result)], columns=list(_COLUMNS))
    return frame.astype({"confidence": "Float64", "start": "Int64", "end": "Int64"})


def _rows(result: SampleResult) -> list[dict[str, Any]]:
    review = {"uid": result.sample.uid, "text": result.text, "language": result.language, "label": result.label}
    rows = []
    for aspect in result.aspects:
        start, end = aspect.span or (None, None)
        rows.append(
            {
                **review,
                "term": aspect.term,
                "polarity": aspect.polarity,
                "confidence": aspect.confidence,
                "evidence": aspect.evidence,
                "start": start,
                "end": end,
            }
        )
    return rows or [review]
