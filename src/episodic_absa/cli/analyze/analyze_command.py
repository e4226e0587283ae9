"""The arguments of `episodic-absa analyze`. `analyze_work` does the work; it is imported when the command runs."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from episodic_absa.backends.backend_facts import BACKEND_FORMS
from episodic_absa.cli.memory.memory_commands import DEFAULT_STORE
from episodic_absa.cli.shared_options import RayAddress, ShardOf, complete_version
from episodic_absa.vocabulary import Effort, Language

EXIT_SOME_FAILED = 1


Texts = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TEXT|FILE",
        help="Reviews, or one file: .csv, .tsv, .json, .jsonl, .parquet, .xlsx, or .txt with one review per line; "
        "- reads standard input, one review per line.",
    ),
]
ReviewsFile = Annotated[
    Path | None, typer.Option("--file", metavar="PATH", help="A file with one review per line, or a table.")
]
TextColumn = Annotated[str | None, typer.Option(metavar="NAME", help="The column of the reviews; found if left out.")]
Out = Annotated[Path | None, typer.Option(metavar="PATH", help="Write the results to a .csv, .jsonl or .parquet file.")]
Long = Annotated[bool, typer.Option("--long", help="Write one row per aspect instead of one per review.")]
SummaryPage = Annotated[
    Path | None, typer.Option(metavar="PAGE.html", help="Write a page for people: what is praised and blamed.")
]
Explain = Annotated[bool, typer.Option("--explain", help="Show the result of every stage and its reasons.")]
JsonPerReview = Annotated[bool, typer.Option("--json", help="Print one JSON object per review.")]
BackendName = Annotated[str, typer.Option(metavar="BACKEND", help=f"{BACKEND_FORMS}.")]
BaseUrl = Annotated[str | None, typer.Option(metavar="URL", help="The server of the model, if not the provider's own.")]
ConditionName = Annotated[
    str, typer.Option(metavar="NAME", help="The memory condition; `episodic-absa conditions` lists them.")
]
ConditionsFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|v1_1|v1_2|v1_3|v3_0",
        help="The version or file that defines the condition.",
        autocompletion=complete_version,
    ),
]
StorePlace = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH",
        help="The store of the memory, if the condition uses one: a file, or postgresql://host/database.",
        show_default=DEFAULT_STORE,
    ),
]
EffortOf = Annotated[
    Effort | None,
    typer.Option(help="How much is asked per review; by default all that the condition asks.", show_default=False),
]
LanguageOf = Annotated[Language | None, typer.Option(help="The language of the reviews; detected if left out.")]
Uid = Annotated[str | None, typer.Option(metavar="UID", help="The id of a single review.")]
Seed = Annotated[int, typer.Option(metavar="N", help="The seed, for models that accept one.")]
Concurrency = Annotated[
    int, typer.Option(metavar="N", min=1, help="How many requests to a model are under way at once.")
]
ProcessN = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="How many processes the embedded engine uses, or workers of the Ray cluster.",
        show_default="by the number of reviews and cores",
    ),
]
Engine = Annotated[
    Literal["local", "ray"],
    typer.Option(help="Where a file is analysed: on this machine, or by the workers of a Ray cluster."),
]
Recording = Annotated[Path | None, typer.Option(metavar="FILE", help="Record every answer to a file, for replay:FILE.")]


def analyze(
    texts: Texts = None,
    *,
    file: ReviewsFile = None,
    text_column: TextColumn = None,
    out: Out = None,
    long: Long = False,
    summary: SummaryPage = None,
    explain: Explain = False,
    as_json: JsonPerReview = False,
    backend: BackendName = "embedded",
    base_url: BaseUrl = None,
    condition: ConditionName = "C1",
    conditions: ConditionsFile = None,
    store: StorePlace = None,
    effort: EffortOf = None,
    language: LanguageOf = None,
    uid: Uid = None,
    seed: Seed = 0,
    concurrency: Concurrency = 16,
    processes: ProcessN = None,
    engine: Engine = "local",
    ray_address: RayAddress = None,
    shard: ShardOf = None,
    record: Recording = None,
) -> None:
    """Analyse reviews: each aspect, its polarity, and the evidence in the text.

    A file prints what is praised and blamed most, and --out keeps all results beside the columns of the file. Put --
    before a review that begins with a dash. If some of several reviews fail, the exit code is 1.
    """
    from episodic_absa.cli.analyze.analyze_work import Answering, Place, Shown, Source, analyse

    failed_n = analyse(
        Source(tuple(texts or ()), file, text_column, uid, shard, language),
        Answering(backend, base_url, record, condition, conditions, store, effort, seed),
        Shown(out, long, summary, explain, as_json),
        Place(engine, ray_address, processes, concurrency),
    )
    if failed_n:
        raise typer.Exit(EXIT_SOME_FAILED)
