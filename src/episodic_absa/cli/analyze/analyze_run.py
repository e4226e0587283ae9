"""Analyses reviews and prints each in its turn. A review that fails does not stop the others."""

from contextlib import closing
from typing import Any, Protocol

from rich.text import Text

from episodic_absa.analyzer import Analyzer, make_sample
from episodic_absa.batch import AnalysisFailure
from episodic_absa.cli.analyze.analysed_rows import AnalysedRow, BatchOptions, analyse_rows
from episodic_absa.cli.analyze.analysis_view import analysis_view
from episodic_absa.cli.analyze.analyze_progress import AnalyzeProgress
from episodic_absa.cli.analyze.explanation.explanation_view import explanation_view
from episodic_absa.cli.analyze.review_input import Reviews
from episodic_absa.cli.output import print_json, show, show_error
from episodic_absa.datasets.tables.review_table import ReviewRow
from episodic_absa.datasets.tables.table_rows import cell_text
from episodic_absa.errors import BackendError, ContractError, LeakageError
from episodic_absa.pipeline.sample_result import SampleResult


class Output(Protocol):
    """How each review is printed to stdout."""

    def result(self, row: AnalysedRow, result: SampleResult) -> None:
        """Print an analysed review."""
        ...

    def failure(self, row: AnalysedRow, failure: AnalysisFailure) -> None:
        """Print a review that failed; its error also goes to stderr."""
        ...

    def end(self) -> None:
        """Print the last line, if any review was analysed."""
        ...


class JsonLines:
    """One JSON object per review, failed ones included.

    Args:
        text_column: the column of the reviews in a table, whose other columns are printed too; None for texts.
    """

    def __init__(self, text_column: str | None = None) -> None:
        self._text_column = text_column

    def result(self, row: AnalysedRow, result: SampleResult) -> None:
        """Print the output line of a run, with the text."""
        print_json({**result.to_output(), **self._source(row)})

    def failure(self, row: AnalysedRow, failure: AnalysisFailure) -> None:
        """Print a line with the error instead of the result."""
        cause = {"type": failure.type, "message": failure.message}
        print_json({"uid": failure.uid, "status": "error", "error": cause, **self._source(row)})

    def end(self) -> None:
        """Print nothing."""

    def _source(self, row: AnalysedRow) -> dict[str, Any]:
        source: dict[str, Any] = {"sample_index": row.position, "text": row.row.text}
        if self._text_column is not None:
            cells = row.row.cells.items()
            source["columns"] = {name: cell_text(cell) for name, cell in cells if name != self._text_column}
        return source


class Pages:
    """One page per review; a failed one appears on stderr only."""

    def __init__(self, total: int, *, explain: bool, note: str) -> None:
        self._total = total
        self._explain = explain
        self._note = note

    def result(self, row: AnalysedRow, result: SampleResult) -> None:
        """Print the page."""
        number = row.position + 1 if self._total > 1 else None
        show(explanation_view(result, number=number) if self._explain else analysis_view(result, number=number))

    def failure(self, row: AnalysedRow, failure: AnalysisFailure) -> None:
        """Print nothing."""

    def end(self) -> None:
        """Print what a reader of the answers should know of the backend."""
        if self._note:
            show(Text(self._note, style="dim"))


def run(analyzer: Analyzer, reviews: Reviews, output: Output, options: BatchOptions) -> int:
    """Analyse the reviews, print each in its turn, and return how many failed.

    Raises:
        EpisodicAbsaError: an error that does not concern one review.
    """
    total, failed_n, analysed_n = reviews.rows_n, 0, 0
    with AnalyzeProgress(total) as progress, closing(analyse_rows(analyzer, reviews.rows, options)) as rows:
        for row in rows:
            with progress.after_one_more():
                if isinstance(row.outcome, AnalysisFailure):
                    failed_n += 1
                    output.failure(row, row.outcome)
                    show_error(f"review {row.position + 1} of {total}: {row.outcome.message}")
                elif isinstance(row.outcome, SampleResult):
                    analysed_n += 1
                    output.result(row, row.outcome)
    if analysed_n:
        output.end()
    return failed_n


def run_one(analyzer: Analyzer, review: ReviewRow, output: Output, options: BatchOptions) -> None:
    """Analyse the only review and print it.

    Raises:
        EpisodicAbsaError: the review failed.
    """
    sample = make_sample(review.text, language_code=options.language, uid=options.uid)
    with AnalyzeProgress(1) as progress:
        try:
            result = analyzer.analyze(sample.text, language_code=sample.language_code, uid=sample.uid)
        except (BackendError, ContractError, LeakageError) as error:
            failure = AnalysisFailure.of(sample, error)
            with progress.after_one_more():
                output.failure(AnalysedRow(0, review, failure), failure)
            raise
        with progress.after_one_more():
            output.result(AnalysedRow(0, review, result), result)
    output.end()
