"""`episodic-absa analyze`: what it takes, and the walk from review to review. What it shows is built elsewhere."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from episodic_absa.cli.memory_commands import DEFAULT_STORE
from episodic_absa.vocabulary import Language

if TYPE_CHECKING:
    from episodic_absa.agents.sample_result import SampleResult
    from episodic_absa.errors import EpisodicAbsaError
    from episodic_absa.pipeline import Analyzer
    from episodic_absa.schemas.absa import Sample

EXIT_SOME_FAILED = 1


def analyze(
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT...", help="Reviews; - reads standard input, one review per line."),
    ] = None,
    *,
    file: Annotated[Path | None, typer.Option("--file", metavar="PATH", help="Reviews, one per line.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show how each stage came to its result.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per review.")] = False,
    backend: Annotated[
        str,
        typer.Option(
            metavar="BACKEND",
            help="embedded, openai:MODEL, anthropic:MODEL, google:MODEL or replay:FILE.",
        ),
    ] = "embedded",
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="The server that has the model, if not the provider's own.")
    ] = None,
    condition: Annotated[str, typer.Option(metavar="NAME", help="What the memory may do.")] = "C1",
    conditions: Annotated[
        str | None, typer.Option(metavar="FILE|v1_1|v1_2|v1_3", help="Where the condition is defined.")
    ] = None,
    store: Annotated[
        Path, typer.Option("--store", metavar="PATH", help="The memory's store file, if the condition uses one.")
    ] = DEFAULT_STORE,
    language: Annotated[Language | None, typer.Option(help="The language; detected if not given.")] = None,
    uid: Annotated[str | None, typer.Option(metavar="UID", help="The id of a single review.")] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Passed to models that honour one.")] = 0,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write down every answer, for replay:FILE.")
    ] = None,
) -> None:
    """Analyse reviews: who is judged, how, and on what evidence.

    Put -- before a review that begins with a dash. The exit code is 1 if one of several reviews failed.
    """
    from episodic_absa.cli.analyze_progress import AnalyzeProgress
    from episodic_absa.cli.output import show
    from episodic_absa.cli.review_input import read_reviews
    from episodic_absa.pipeline import make_sample

    if explain and as_json:
        raise typer.BadParameter("--explain is for people and --json for programs; choose one", param_hint="--explain")
    reviews = read_reviews(texts or [], file)
    if uid is not None and len(reviews) > 1:
        raise typer.BadParameter(f"there are {len(reviews)} reviews, and an id is for one", param_hint="--uid")
    samples = [make_sample(review, language_code=language, uid=uid) for review in reviews]
    analyzer = _analyzer(backend, base_url, record, condition=condition, conditions=conditions, store=store, seed=seed)
    output = _JsonLines() if as_json else _Pages(len(samples), explain=explain)
    with analyzer, AnalyzeProgress(len(samples)) as progress:
        failed_n = _run(analyzer, samples, output, progress)
    if not as_json and backend == "embedded" and failed_n < len(samples):
        from episodic_absa.cli.analysis_view import embedded_note

        show(embedded_note())
    if failed_n:
        from episodic_absa.cli.output import show_error

        show_error(f"{failed_n} of {len(samples)} reviews failed")
        raise typer.Exit(EXIT_SOME_FAILED)


def _run(analyzer: "Analyzer", samples: "list[Sample]", output: "_JsonLines | _Pages", progress: Any) -> int:
    """Analyse one sample after the other and show each at once; return how many failed."""
    from episodic_absa.cli.output import show_error
    from episodic_absa.errors import BackendError, ContractError, LeakageError

    failed_n = 0
    for index, sample in enumerate(samples):
        try:
            result = analyzer.analyze(sample.text, language_code=sample.language_code, uid=sample.uid)
        except (BackendError, ContractError, LeakageError) as error:
            progress.advance()
            with progress.paused():
                output.failure(index, sample, error)
                sys.stdout.flush()
                if len(samples) == 1:
                    raise
                show_error(f"review {index + 1} of {len(samples)}: {error}")
            failed_n += 1
        else:
            progress.advance()
            with progress.paused():
                output.result(index, result)
                sys.stdout.flush()
    return failed_n


class _JsonLines:
    """One JSON object per review, failed ones included."""

    def result(self, index: int, result: "SampleResult") -> None:
        from episodic_absa.cli.output import print_json

        print_json({**result.to_output(), "sample_index": index, "text": result.sample.text})

    def failure(self, index: int, sample: "Sample", error: "EpisodicAbsaError") -> None:
        from episodic_absa.cli.output import print_json

        told = {"type": _error_type(error), "message": str(error)}
        print_json(
            {"sample_index": index, "uid": sample.uid, "text": sample.text, "status": "error", "error": told}
        )


class _Pages:
    """A page per review; a failed one has none, only its line on stderr."""

    def __init__(self, total: int, *, explain: bool) -> None:
        self._total = total
        self._explain = explain

    def result(self, index: int, result: "SampleResult") -> None:
        from episodic_absa.cli.analysis_view import analysis_view
        from episodic_absa.cli.output import show

        number = index + 1 if self._total > 1 else None
        if self._explain:
            from episodic_absa.cli.explanation_view import explanation_view

            show(explanation_view(result, number=number))
        else:
            show(analysis_view(result, number=number))

    def failure(self, index: int, sample: "Sample", error: "EpisodicAbsaError") -> None:
        """Print nothing."""


def _error_type(error: "EpisodicAbsaError") -> str:
    """Name the error as run outputs do."""
    from episodic_absa.errors import ContractError, LeakageError

    if isinstance(error, ContractError):
        return "contract_error"
    return "leakage_error" if isinstance(error, LeakageError) else str(getattr(error, "kind", "provider_error"))


def _analyzer(
    backend: str, base_url: str | None, record: Path | None, *, condition: str, conditions: str | None, **rest: Any
) -> "Analyzer":
    from episodic_absa.backends.create_backend import backbone_from, create_backend
    from episodic_absa.conditions import load_condition
    from episodic_absa.pipeline import Analyzer

    # First the names, then the backend: a wrong name must not leave an empty recording behind.
    load_condition(condition, conditions)
    backbone = backbone_from(backend, base_url=base_url)
    if base_url is not None and backbone.provider in ("embedded", "replay"):
        raise typer.BadParameter(f"{backbone.provider} asks no server", param_hint="--base-url")
    made = create_backend(backbone.model_copy(update={"record": record}))
    return Analyzer(backend=made, condition=condition, conditions=conditions, **rest)
