"""The arguments of `episodic-absa analyze`. `analyze_run` does the work; it is imported when the command runs."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from episodic_absa.backends.providers import BACKEND_FORMS
from episodic_absa.cli.memory.memory_commands import DEFAULT_STORE
from episodic_absa.cli.shared_options import RayAddress, ShardOf, complete_version
from episodic_absa.vocabulary import Effort, Language

EXIT_SOME_FAILED = 1


def analyze(
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT|FILE",
            help="Reviews, or one file: .csv, .tsv, .json, .jsonl, .parquet, .xlsx, or .txt with one review per line; "
            "- reads standard input, one review per line.",
        ),
    ] = None,
    *,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="PATH", help="A file with one review per line, or a table.")
    ] = None,
    text_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="The column of the reviews; found if left out.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Write the results to a .csv, .jsonl or .parquet file.")
    ] = None,
    long: Annotated[bool, typer.Option("--long", help="Write one row per aspect instead of one per review.")] = False,
    summary: Annotated[
        Path | None, typer.Option(metavar="PAGE.html", help="Write a page for people: what is praised and blamed.")
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
            metavar="FILE|v1_1|v1_2|v1_3|v3_0",
            help="The version or file that defines the condition.",
            autocompletion=complete_version,
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="PATH",
            help="The store of the memory, if the condition uses one: a file, or postgresql://host/database.",
            show_default=DEFAULT_STORE,
        ),
    ] = None,
    effort: Annotated[
        Effort | None,
        typer.Option(help="How much is asked per review; by default all that the condition asks.", show_default=False),
    ] = None,
    language: Annotated[
        Language | None, typer.Option(help="The language of the reviews; detected if left out.")
    ] = None,
    uid: Annotated[str | None, typer.Option(metavar="UID", help="The id of a single review.")] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="The seed, for models that accept one.")] = 0,
    concurrency: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many requests to a model are under way at once.")
    ] = 16,
    processes: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="How many processes the embedded engine uses, or workers of the Ray cluster.",
            show_default="by the number of reviews and cores",
        ),
    ] = None,
    engine: Annotated[
        Literal["local", "ray"],
        typer.Option(help="Where a file is analysed: on this machine, or by the workers of a Ray cluster."),
    ] = "local",
    ray_address: RayAddress = None,
    shard: ShardOf = None,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Record every answer to a file, for replay:FILE.")
    ] = None,
) -> None:
    """Analyse reviews: each aspect, its polarity, and the evidence in the text.

    A file prints what is praised and blamed most, and --out keeps all results beside the columns of the file. Put --
    before a review that begins with a dash. If some of several reviews fail, the exit code is 1.
    """
    from episodic_absa.analyzer import Analyzer
    from episodic_absa.backends.provider_facts import facts_of
    from episodic_absa.cli.analyze.analysed_rows import BatchOptions, analyse_rows
    from episodic_absa.cli.analyze.analyze_options import (
        choose_backend,
        refuse_contradictions,
        refuse_overlaid_effort,
        require_free_targets,
        require_store_use,
        store_file,
    )
    from episodic_absa.cli.analyze.analyze_run import JsonLines, Pages, run, run_one
    from episodic_absa.cli.analyze.cluster_run import (
        beside_stdout,
        processes_of,
        read_files,
        refuse_cluster,
        refuse_engine_options,
        reviews_of_shard,
    )
    from episodic_absa.cli.analyze.file_run import FileOutputs, run_file
    from episodic_absa.cli.analyze.review_input import MOST_PAGES, as_unicode, read_input
    from episodic_absa.cli.output import say
    from episodic_absa.conditions import load_condition
    from episodic_absa.schemas.pipeline_settings import PipelineSettings

    refuse_contradictions(explain=explain, as_json=as_json, out=out, long=long, summary=summary)
    refuse_engine_options(engine, ray_address=ray_address, explain=explain, as_json=as_json)
    read = read_files if engine == "ray" else read_input
    reviews = read(texts or [], file, text_column=text_column, uid=uid)
    # Checked before the backend is created: a misspelt name must not leave an empty recording behind.
    flags = load_condition(condition, conditions)
    reviews = reviews_of_shard(reviews, shard, flags)
    require_store_use(store, flags)
    refuse_overlaid_effort(effort, flags)
    chosen = choose_backend(backend, base_url=base_url, record=record)
    refuse_cluster(engine, flags, chosen.backbone)
    require_free_targets(
        out=out,
        summary=summary,
        record=record,
        files_read={
            "the file of the reviews": reviews.source,
            **{f"{path}, a file of the reviews": path for path in reviews.files},
            "the store of the memory": store_file(store or DEFAULT_STORE),
            "the recording that is replayed": chosen.backbone.recording,
        },
    )
    uid = uid and as_unicode(uid, "--uid")
    is_table = reviews.path is not None
    if reviews.note:
        say(reviews.note)
    outputs = FileOutputs(
        out=out,
        one_per_aspect=long,
        summary=summary,
        is_embedded=facts_of(chosen.backbone).shipped_fingerprint is not None,
    )
    pipeline = None if effort is None else PipelineSettings(effort=effort)
    with (
        Analyzer(
            backend=chosen.backbone,
            condition=condition,
            conditions=conditions,
            store=store or DEFAULT_STORE,
            pipeline=pipeline,
            seed=seed,
        ) as analyzer,
        processes_of(engine, processes, ray_address) as shared_out,
    ):
        options = BatchOptions(language=language, uid=uid, concurrency=concurrency, processes=shared_out)
        failed_n = 0
        by_the_page = explain or not (is_table or reviews.rows_n > MOST_PAGES)
        if out is not None or summary is not None or not (as_json or by_the_page):
            rows = analyse_rows(analyzer, reviews.rows, options)
            failed_n = run_file(beside_stdout(rows) if engine == "ray" else rows, reviews, outputs)
        else:
            output = (
                JsonLines(reviews.text_column if is_table else None)
                if as_json
                else Pages(reviews.rows_n, explain=explain, note=chosen.note)
            )
            if reviews.rows_n == 1:
                run_one(analyzer, next(iter(reviews.rows)), output, options)
            else:
                failed_n = run(analyzer, reviews, output, options)
    if failed_n:
        raise typer.Exit(EXIT_SOME_FAILED)
