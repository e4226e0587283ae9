"""Analyses a file of reviews: writes `--out`, prints the counts, and tells what failed."""

import sys
from collections import Counter
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from rich.text import Text

from episodic_absa.analysed_review import AnalysedReview
from episodic_absa.batch import AnalysisFailure
from episodic_absa.cli.analyze.analysed_rows import AnalysedRow
from episodic_absa.cli.analyze.analyze_progress import AnalyzeProgress
from episodic_absa.cli.analyze.aspect_counts import AspectCounts, row_words
from episodic_absa.cli.analyze.result_file import ResultFile
from episodic_absa.cli.analyze.result_rows import ResultRows
from episodic_absa.cli.analyze.review_input import Reviews
from episodic_absa.cli.output import say, show, show_error, shown_path
from episodic_absa.datasets.tables.table_rows import cell_text
from episodic_absa.errors import BackendError
from episodic_absa.language.counted_noun import counted
from episodic_absa.reports.summary import summarise, write_summary

NO_TEXT: Final = "the cell is empty"
OTHER_THAN_TEXT: Final = "the cell holds no text; write the review as a string"
_ALIKE_N: Final = 10
"""So many failures at the beginning, all of one type, are a wrong setting and not the reviews."""


class Failures:
    """Counts failed reviews by their cause."""

    def __init__(self) -> None:
        self._causes: Counter[str] = Counter()
        self._types: Counter[str] = Counter()
        self._is_beginning = True

    @property
    def failed_n(self) -> int:
        """How many reviews failed."""
        return self._causes.total()

    def add(self, row: AnalysedRow) -> None:
        """Count a row.

        Raises:
            BackendError: the first reviews failed, all for one reason.
        """
        if isinstance(row.outcome, AnalysisFailure):
            self._causes[row.outcome.message] += 1
            self._types[row.outcome.type] += 1
        elif row.outcome is not None:
            self._is_beginning = False
        if self._is_beginning and self.failed_n == _ALIKE_N and len(self._types) == 1:
            cause, _ = self._causes.most_common(1)[0]
            raise BackendError(f"the first {_ALIKE_N} reviews failed alike: {cause}", backend="")

    def tell(self, total: int) -> None:
        """Print one line per cause."""
        for cause, count in self._causes.most_common():
            show_error(f"{count:,} of {counted(total, 'review')}: {cause}")


class Target:
    """The file of `--out`, if there is one. What stops the command early leaves what was done so far."""

    def __init__(self, out: Path | None, reviews: Reviews, *, one_per_aspect: bool) -> None:
        self._rows = ResultRows(reviews.columns, one_per_aspect=one_per_aspect)
        self._file = None if out is None else ResultFile(out, self._rows)
        self._text_column = reviews.text_column
        self._total = reviews.rows_n
        self._done_n = self._analysed_n = self._rows_n = 0

    def write(self, row: AnalysedRow, review: AnalysedReview | None) -> None:
        """Add the rows of one review."""
        self._done_n += 1
        self._analysed_n += review is not None
        if self._file is None:
            return
        for result in self._rows.rows(row.row.cells, review, self._error(row)):
            self._file.write(result)
            self._rows_n += 1

    def _error(self, row: AnalysedRow) -> str:
        if isinstance(row.outcome, AnalysisFailure):
            return row.outcome.message
        return OTHER_THAN_TEXT if cell_text(row.row.cells.get(self._text_column)).strip() else NO_TEXT

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            if self._file is not None:
                show(Text(f"{shown_path(self._file.finish())}: {counted(self._rows_n, 'row')}"))
        elif self._file is not None and not (self._analysed_n and self._file.is_whole):
            self._file.discard()
        elif self._file is not None:
            kept = shown_path(self._file.keep_part())
            say(f"stopped after {self._done_n:,} of {counted(self._total, 'review')}; their results are in {kept}")


@dataclass(frozen=True)
class FileOutputs:
    """Where the results of a file go."""

    out: Path | None
    one_per_aspect: bool
    summary: Path | None
    is_embedded: bool = False
    """Whether the embedded engine answers, which knows two languages."""


def run_file(analysed: Generator[AnalysedRow, None, None], reviews: Reviews, outputs: FileOutputs) -> int:
    """Write and print the results of all rows, and return how many reviews failed.

    Args:
        analysed: the rows of `reviews` with their outcomes; it is closed at the end.
        reviews: what was read.
        outputs: where the results go.

    Raises:
        ConfigError: a file cannot be written.
        EpisodicAbsaError: an error that does not concern one review; what was done until then is kept.
    """
    counts, failures, empty_n, other_n = AspectCounts(), Failures(), 0, 0
    summarised: list[AnalysedReview] = []
    with Target(outputs.out, reviews, one_per_aspect=outputs.one_per_aspect) as target:
        with AnalyzeProgress(reviews.rows_n) as progress, closing(analysed) as rows:
            for row in rows:
                failures.add(row)
                empty_n += row.outcome is None
                review = row.review(reviews.text_column)
                if review is not None:
                    other_n += review.language == "other"
                    counts.add(review)
                    summarised += [review] if outputs.summary is not None else []
                target.write(row, review)
                progress.advance()
        show(counts.view())
        if empty_n or failures.failed_n:
            show(Text(row_words(reviews.rows_n, empty_n, failures.failed_n)))
        if outputs.summary is not None:
            source = "" if reviews.path is None else reviews.path.name
            summary = summarise(summarised, source=source, failed_n=failures.failed_n, empty_n=empty_n)
            write_summary(summary, outputs.summary)
            words = "every aspect, over time and by column, with quotes and search; open it in a browser"
            show(Text(f"{shown_path(outputs.summary)}: {words}"))
    if other_n and outputs.is_embedded:
        sys.stderr.write(_unknown_languages(other_n, reviews.rows_n))
    failures.tell(reviews.rows_n)
    return failures.failed_n


def _unknown_languages(other_n: int, rows_n: int) -> str:
    number = f"{other_n:,} of {counted(rows_n, 'row')} {'holds' if other_n == 1 else 'hold'} a text"
    return (
        f"warning: {number} in a language that the embedded engine does not know (it knows Korean and English); "
        "--backend openai:MODEL uses a model\n"
    )
