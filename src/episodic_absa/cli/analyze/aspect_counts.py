"""What a file of reviews says, in a few lines: labels, and the aspects that are praised and blamed most."""

from collections import Counter
from typing import Final

from rich import box
from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from episodic_absa.analysed_review import AnalysedReview
from episodic_absa.cli.analyze.analysis_view import shown_text
from episodic_absa.language import norm

_MOST_SHOWN: Final = 10
_LABELS: Final = ("positive", "negative", "mixed", "neutral")


class AspectCounts:
    """Counts labels and aspects, one review after another."""

    def __init__(self) -> None:
        self._reviews_n = 0
        self._labels: Counter[str] = Counter()
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._spellings: dict[str, str] = {}

    def add(self, review: AnalysedReview) -> None:
        """Count a review; an aspect counts once per review and polarity."""
        self._reviews_n += 1
        self._labels[review.label] += 1
        pairs = {(norm(aspect.term), aspect.polarity) for aspect in review.aspects if aspect.term}
        self._pairs.update(pairs)
        for aspect in review.aspects:
            self._spellings.setdefault(norm(aspect.term), aspect.term)

    def view(self) -> ConsoleRenderable:
        """Lay out the counts."""
        labels = ", ".join(f"{self._labels[label]:,} {label}" for label in _LABELS if self._labels[label])
        parts: list[ConsoleRenderable] = [Text(f"{self._reviews_n:,} reviews: {labels or 'none analysed'}")]
        for title, polarity in (("praised", "positive"), ("blamed", "negative")):
            if most := self._most(polarity):
                parts += [Text(), self._table(title, most)]
        return Group(*parts, Text())

    def _most(self, polarity: str) -> list[str]:
        counts = {term: count for (term, sign), count in self._pairs.items() if sign == polarity}
        return sorted(counts, key=lambda term: (-counts[term], term))[:_MOST_SHOWN]

    def _table(self, title: str, terms: list[str]) -> Table:
        table = Table(
            box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold cyan"
        )
        table.add_column(f"{title} most", overflow="fold", min_width=20)
        for name in ("+ praised", "- blamed"):
            table.add_column(name, justify="right", no_wrap=True)
        for term in terms:
            praised, blamed = (self._pairs[term, polarity] for polarity in ("positive", "negative"))
            table.add_row(Text(shown_text(self._spellings[term])), f"{praised:,}", f"{blamed:,}")
        return table
