"""What a file of reviews says, in a few lines: labels, and the aspects that are praised and blamed most."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from rich import box
from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from episodic_absa.analysed_review import AnalysedReview
from episodic_absa.cli.analyze.analysis_view import shown_text
from episodic_absa.language.counted_noun import counted
from episodic_absa.reports.summary.mentions import CountedGroup, TermCounts
from episodic_absa.reports.summary.review_texts import label_of
from episodic_absa.reports.summary.summary_building import is_unread
from episodic_absa.vocabulary import Polarity

_MOST_SHOWN: Final = 10


class AspectCounts:
    """Counts labels and aspects, one review after another. Terms are grouped as on the page of `--summary`."""

    def __init__(self) -> None:
        self._labels: Counter[str] = Counter()
        self._terms = TermCounts()
        self._unread_n = 0

    def add(self, review: AnalysedReview) -> None:
        """Count a review; an aspect counts once per review and polarity."""
        self._labels[label_of(review)] += 1
        self._unread_n += is_unread(review)
        self._terms.add(review)

    def view(self) -> ConsoleRenderable:
        """Lay out the counts."""
        labels = label_words(self._labels, self._unread_n)
        head = f"{counted(self._labels.total(), 'review')}: {labels or 'none analysed'}"
        parts: list[ConsoleRenderable] = [Text(head)]
        named = [group for group in self._terms.groups() if group.group.name]
        titles: tuple[tuple[str, Polarity], ...] = (("praised", "positive"), ("blamed", "negative"))
        for title, polarity in titles:
            if most := _most(named, polarity):
                parts += [Text(), _table(title, most)]
        return Group(*parts, Text())


def label_words(counts: Mapping[str, int], unread_n: int) -> str:
    """Return how many analysed reviews have each label; those of an unknown language are told from silent ones."""
    counted_as = {**counts, "none": counts.get("none", 0) - unread_n, "unread": unread_n}
    shown = {label: label for label in ("positive", "negative", "mixed", "neutral")}
    shown |= {"none": "without an opinion", "unread": "in an unknown language"}
    return ", ".join(f"{counted_as[label]:,} {words}" for label, words in shown.items() if counted_as.get(label))


def row_words(rows_n: int, empty_n: int, failed_n: int) -> str:
    """Return what became of the rows of a table."""
    analysed_n = rows_n - empty_n - failed_n
    return f"{counted(rows_n, 'row')}: {analysed_n:,} analysed, {empty_n:,} without text, {failed_n:,} failed"


def _most(groups: Sequence[CountedGroup], polarity: Polarity) -> list[CountedGroup]:
    counts = [group for group in groups if getattr(group.tally, polarity)]
    return sorted(counts, key=lambda group: (-getattr(group.tally, polarity), group.group.name))[:_MOST_SHOWN]


def _table(title: str, groups: Sequence[CountedGroup]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold cyan")
    table.add_column(f"{title} most", overflow="fold", min_width=20)
    for name in ("+ praised", "- blamed"):
        table.add_column(name, justify="right", no_wrap=True)
    for group in groups:
        tally = group.tally
        table.add_row(Text(shown_text(group.group.name)), f"{tally.positive:,}", f"{tally.negative:,}")
    return table
