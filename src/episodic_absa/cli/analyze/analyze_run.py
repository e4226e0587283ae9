"""Analyses reviews one after the other and prints each. A review that fails does not stop the others."""

from collections.abc import Sequence
from typing import Protocol

from rich.text import Text

from episodic_absa.agents.sample_result import SampleResult
from episodic_absa.analyzer import Analyzer
from episodic_absa.cli.analyze.analysis_view import analysis_view
from episodic_absa.cli.analyze.analyze_progress import AnalyzeProgress
from episodic_absa.cli.analyze.explanation.explanation_view import explanation_view
from episodic_absa.cli.output import print_json, show, show_error
from episodic_absa.errors import BackendError, ContractError, LeakageError
from episodic_absa.schemas.absa import Sample
from episodic_absa.vocabulary import ErrorType

ReviewError = BackendError | ContractError | LeakageError
"""Errors that concern one review only; any other error ends the command."""


class Output(Protocol):
    """How each review is printed to stdout."""

    def result(self, index: int, result: SampleResult) -> None:
        """Print an analysed review."""
        ...

    def failure(self, index: int, sample: Sample, error: ReviewError) -> None:
        """Print a review that failed; its error also goes to stderr."""
        ...

    def end(self) -> None:
        """Print the last line, if any review was analysed."""
        ...


class JsonLines:
    """One JSON object per review, failed ones included."""

    def result(self, index: int, result: SampleResult) -> None:
        """Print the output line of a run, with the text."""
        print_json({**result.to_output(), "sample_index": index, "text": result.sample.text})

    def failure(self, index: int, sample: Sample, error: ReviewError) -> None:
        """Print a line with the error instead of the result."""
        cause = {"type": error_type(error), "message": str(error)}
        print_json({"sample_index": index, "uid": sample.uid, "status": "error", "error": cause, "text": sample.text})

    def end(self) -> None:
        """Print nothing."""


class Pages:
    """One page per review; a failed one appears on stderr only."""

    def __init__(self, total: int, *, explain: bool, note: str) -> None:
        self._total = total
        self._explain = explain
        self._note = note

    def result(self, index: int, result: SampleResult) -> None:
        """Print the page."""
        number = index + 1 if self._total > 1 else None
        show(explanation_view(result, number=number) if self._explain else analysis_view(result, number=number))

    def failure(self, index: int, sample: Sample, error: ReviewError) -> None:
        """Print nothing."""

    def end(self) -> None:
        """Print what a reader of the answers should know of the backend."""
        if self._note:
            show(Text(self._note, style="dim"))


def run(analyzer: Analyzer, samples: Sequence[Sample], output: Output) -> int:
    """Analyse the samples in order, print each at once, and return how many failed.

    Raises:
        EpisodicAbsaError: the only sample failed, or an error that does not concern one review.
    """
    total, failed_n = len(samples), 0
    with AnalyzeProgress(total) as progress:
        for index, sample in enumerate(samples):
            try:
                result = analyzer.analyze(sample.text, language_code=sample.language_code, uid=sample.uid)
            except (BackendError, ContractError, LeakageError) as error:
                failed_n += 1
                with progress.after_one_more():
                    output.failure(index, sample, error)
                    if total == 1:
                        raise
                    show_error(f"review {index + 1} of {total}: {error}")
            else:
                with progress.after_one_more():
                    output.result(index, result)
    if failed_n < total:
        output.end()
    return failed_n


def error_type(error: ReviewError) -> ErrorType:
    """Return the error's type as the outputs of a run name it."""
    if isinstance(error, ContractError):
        return "contract_error"
    if isinstance(error, LeakageError):
        return "leakage_error"
    kind: ErrorType = getattr(error, "kind", "provider_error")
    return kind
