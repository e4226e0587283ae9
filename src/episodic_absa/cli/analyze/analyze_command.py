"""`episodic-absa analyze`: what it takes. What it does is in `analyze_run`, imported when it runs."""

from pathlib import Path
from typing import Annotated

import typer

from episodic_absa.cli.memory.memory_commands import DEFAULT_STORE
from episodic_absa.errors import ConfigError
from episodic_absa.vocabulary import Language

EXIT_SOME_FAILED = 1


def analyze(
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT", help="Reviews; - reads standard input, one review per line."),
    ] = None,
    *,
    file: Annotated[Path | None, typer.Option("--file", metavar="PATH", help="Reviews, one per line.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show how each stage came to its result.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per review.")] = False,
    backend: Annotated[
        str,
        typer.Option(metavar="BACKEND", help="embedded, openai:MODEL, anthropic:MODEL, google:MODEL or replay:FILE."),
    ] = "embedded",
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="The server that has the model, if not the provider's own.")
    ] = None,
    condition: Annotated[str, typer.Option(metavar="NAME", help="What the memory may do.")] = "C1",
    conditions: Annotated[
        str | None, typer.Option(metavar="FILE|v1_1|v1_2|v1_3", help="Where the condition is defined.")
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            metavar="PATH",
            help="The memory's store file, if the condition uses one.",
            show_default=str(DEFAULT_STORE),
        ),
    ] = None,
    language: Annotated[Language | None, typer.Option(help="The language; detected if not given.")] = None,
    uid: Annotated[str | None, typer.Option(metavar="UID", help="The id of a single review.")] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Passed to models that honour one.")] = 0,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write down every answer, for replay:FILE.")
    ] = None,
) -> None:
    """Analyse reviews: what is judged, how, and on what evidence.

    Put -- before a review that begins with a dash. The exit code is 1 if some of several reviews failed.
    """
    from episodic_absa.backends.create_backend import backbone_from, create_backend
    from episodic_absa.backends.provider_facts import facts_of
    from episodic_absa.cli.analyze.analyze_run import JsonLines, Pages, run
    from episodic_absa.cli.analyze.review_input import as_unicode, read_reviews
    from episodic_absa.conditions import load_condition
    from episodic_absa.pipeline import Analyzer, make_sample

    if explain and as_json:
        raise ConfigError("--explain is for people and --json for programs; choose one", key="explain")
    reviews = read_reviews(texts or [], file)
    if uid is not None and len(reviews) > 1:
        raise ConfigError(f"--uid names one review, and there are {len(reviews)}", key="uid")
    uid = uid and as_unicode(uid, "--uid")
    samples = [make_sample(review, language_code=language, uid=uid) for review in reviews]
    if store is not None and store.is_dir():
        raise ConfigError(f"{store} is a directory; a store is one .jsonl file, name it with --store", key="store")
    # Before there is a backend: a misspelt name must not leave an empty recording behind.
    flags = load_condition(condition, conditions)
    if store is not None and not flags.retrieval_execute and not flags.store_write:
        raise ConfigError(
            f"{flags.name} neither reads nor writes a store; choose another --condition or leave --store out",
            key="store",
        )
    backbone = backbone_from(backend, base_url=base_url)
    facts = facts_of(backbone)
    if base_url is not None and facts.is_local:
        raise ConfigError(f"--base-url is for backends with a server; {backbone.provider} has none", key="base_url")
    made = create_backend(backbone.model_copy(update={"record": record}))
    output = JsonLines() if as_json else Pages(len(samples), explain=explain, note=facts.note)
    with Analyzer(
        backend=made, condition=condition, conditions=conditions, store=store or DEFAULT_STORE, seed=seed
    ) as analyzer:
        failed_n = run(analyzer, samples, output)
    if failed_n:
        raise typer.Exit(EXIT_SOME_FAILED)
