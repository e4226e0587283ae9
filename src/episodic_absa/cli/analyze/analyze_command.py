"""The arguments of `episodic-absa analyze`. `analyze_run` does the work; it is imported when the command runs."""

from pathlib import Path
from typing import Annotated

import typer

from episodic_absa.backends.providers import BACKEND_FORMS
from episodic_absa.cli.memory.memory_commands import DEFAULT_STORE
from episodic_absa.cli.shared_options import complete_version
from episodic_absa.errors import ConfigError
from episodic_absa.vocabulary import Language

EXIT_SOME_FAILED = 1


def analyze(
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT", help="Reviews to analyse; - reads standard input, one review per line."),
    ] = None,
    *,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="PATH", help="A file with one review per line.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the result of every stage and its reasons.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per review.")] = False,
    backend: Annotated[str, typer.Option(metavar="BACKEND", help=f"{BACKEND_FORMS}.")] = "embedded",
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="The server of the model, if not the provider's own.")
    ] = None,
    condition: Annotated[
        str, typer.Option(metavar="NAME", help="The memory condition; `episodic-absa conditions` lists them.")
    ] = "C1",
    conditions: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|v1_1|v1_2|v1_3|v2_0",
            help="The version or file that defines the condition.",
            autocompletion=complete_version,
        ),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            metavar="PATH",
            help="The store file of the memory, if the condition uses one.",
            show_default=str(DEFAULT_STORE),
        ),
    ] = None,
    language: Annotated[
        Language | None, typer.Option(help="The language of the reviews; detected if left out.")
    ] = None,
    uid: Annotated[str | None, typer.Option(metavar="UID", help="The id of a single review.")] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="The seed, for models that accept one.")] = 0,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Record every answer to a file, for replay:FILE.")
    ] = None,
) -> None:
    """Analyse reviews: each aspect, its polarity, and the evidence in the text.

    Put -- before a review that begins with a dash. If some of several reviews fail, the exit code is 1.
    """
    from episodic_absa.analyzer import Analyzer
    from episodic_absa.cli.analyze.analyze_options import make_backend, require_store_use
    from episodic_absa.cli.analyze.analyze_run import JsonLines, Pages, run
    from episodic_absa.cli.analyze.review_input import read_samples
    from episodic_absa.conditions import load_condition

    if explain and as_json:
        raise ConfigError("--explain is for people and --json for programs; choose one", key="explain")
    samples = read_samples(texts or [], file, language=language, uid=uid)
    # Checked before the backend is created: a misspelt name must not leave an empty recording behind.
    require_store_use(store, load_condition(condition, conditions))
    made = make_backend(backend, base_url=base_url, record=record)
    output = JsonLines() if as_json else Pages(len(samples), explain=explain, note=made.note)
    with Analyzer(
        backend=made.backend, condition=condition, conditions=conditions, store=store or DEFAULT_STORE, seed=seed
    ) as analyzer:
        failed_n = run(analyzer, samples, output)
    if failed_n:
        raise typer.Exit(EXIT_SOME_FAILED)
