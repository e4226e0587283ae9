"""One analysed review of a table: its text, its other columns, its aspects. Plain values, for files and pages."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnalysedAspect:
    """One aspect of a review, with its polarity and the words that support it."""

    term: str
    """As it stands in the review; empty for an opinion that names no aspect."""
    polarity: str
    confidence: float
    """From 0 to 1."""
    evidence: str
    """Words of the review; empty if none were quoted."""


@dataclass(frozen=True, slots=True)
class AnalysedReview:
    """One review of a table after its analysis."""

    text: str
    columns: Mapping[str, str]
    """The other columns of the row, as they stand in the table."""
    language: str
    label: str
    aspects: tuple[AnalysedAspect, ...]
