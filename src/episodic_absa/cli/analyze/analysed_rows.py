"""Analyses the rows of an input, in order. A row without text is passed on without an outcome."""

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

from episodic_absa.analysed_review import AnalysedAspect, AnalysedReview
from episodic_absa.analyzer import Analyzer, make_sample
from episodic_absa.batch import DEFAULT_CONCURRENCY, AnalysisFailure, Processes
from episodic_absa.cli.analyze.analysis_view import evidence_of
from episodic_absa.datasets.tables.review_table import ReviewRow
from episodic_absa.datasets.tables.table_rows import cell_text
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.absa import Sample


@dataclass(frozen=True)
class BatchOptions:
    """How the rows are analysed."""

    language: str | None = None
    uid: str | None = None
    """The id of the only review."""
    concurrency: int = DEFAULT_CONCURRENCY
    processes: int | Processes | None = None


class Finding(NamedTuple):
    """What files and pages keep of a result."""

    language: str
    label: str
    aspects: tuple[AnalysedAspect, ...]


def finding_of(result: SampleResult) -> Finding:
    """Return what files and pages keep of a result."""
    final = result.final_result
    aspects = (
        AnalysedAspect(pair.aspect_term, pair.polarity, pair.confidence, evidence_of(pair, result))
        for pair in final.final_tuples
    )
    return Finding(result.language, final.label, tuple(aspects))


class AnalysedRow(NamedTuple):
    """A row and its outcome."""

    position: int
    """The place of the row among all rows, from 0."""
    row: ReviewRow
    outcome: SampleResult | Finding | AnalysisFailure | None
    """None: the row has no text."""

    def review(self, text_column: str) -> AnalysedReview | None:
        """Return the analysed review as plain values, None if there is none."""
        if self.outcome is None or isinstance(self.outcome, AnalysisFailure):
            return None
        finding = finding_of(self.outcome) if isinstance(self.outcome, SampleResult) else self.outcome
        return AnalysedReview(
            text=self.row.text,
            columns={name: cell_text(cell) for name, cell in self.row.cells.items() if name != text_column},
            language=finding.language,
            label=finding.label,
            aspects=finding.aspects,
        )


def analyse_rows(
    analyzer: Analyzer, rows: Iterable[ReviewRow], options: BatchOptions
) -> Generator[AnalysedRow, None, None]:
    """Yield every row with its outcome, in order."""
    under_way: deque[tuple[int, ReviewRow]] = deque()

    def samples() -> Iterator[str | Sample]:
        for position, row in enumerate(rows):
            under_way.append((position, row))
            if row.text and options.uid is None:
                yield row.text  # one that cannot be analysed, such as an invisible character, fails alone
            elif row.text:
                yield make_sample(row.text, language_code=options.language, uid=options.uid)

    outcomes = analyzer.analyze_many(
        samples(), language_code=options.language, concurrency=options.concurrency, processes=options.processes
    )
    with closing(outcomes):
        for outcome in outcomes:
            yield from _rows_without_text(under_way)
            position, row = under_way.popleft()
            yield AnalysedRow(position, row, outcome)
    yield from _rows_without_text(under_way)


def _rows_without_text(under_way: deque[tuple[int, ReviewRow]]) -> Iterator[AnalysedRow]:
    while under_way and not under_way[0][1].text:
        yield AnalysedRow(*under_way.popleft(), outcome=None)
