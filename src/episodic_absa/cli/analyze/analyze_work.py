"""What `analyze` does: it reads the reviews, chooses what answers, and shows or writes the results."""

from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from episodic_absa.analyzer import Analyzer
from episodic_absa.backends.provider_facts import facts_of
from episodic_absa.cli.analyze.analysed_rows import BatchOptions, analyse_rows
from episodic_absa.cli.analyze.analyze_options import (
    ChosenBackend,
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
from episodic_absa.cli.analyze.review_input import MOST_PAGES, Reviews, as_unicode, read_input
from episodic_absa.cli.memory.memory_commands import DEFAULT_STORE
from episodic_absa.cli.output import say
from episodic_absa.conditions import load_condition
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.run import Condition
from episodic_absa.vocabulary import Effort, Language


class Source(NamedTuple):
    """Which reviews are analysed."""

    texts: tuple[str, ...]
    file: Path | None
    text_column: str | None
    uid: str | None
    shard: str | None
    language: Language | None


class Answering(NamedTuple):
    """What answers, and under which condition."""

    backend: str
    base_url: str | None
    record: Path | None
    condition: str
    conditions: str | None
    store: str | None
    effort: Effort | None
    seed: int

    def chosen(self, flags: Condition) -> ChosenBackend:
        """Return the backend; refuse a store or an effort that the condition does not use.

        This comes before the backend is created: a misspelt name must not leave an empty recording behind.
        """
        require_store_use(self.store, flags)
        refuse_overlaid_effort(self.effort, flags)
        return choose_backend(self.backend, base_url=self.base_url, record=self.record)

    def analyzer(self, chosen: ChosenBackend) -> Analyzer:
        """Return what analyses."""
        return Analyzer(
            backend=chosen.backbone,
            condition=self.condition,
            conditions=self.conditions,
            store=self.store or DEFAULT_STORE,
            pipeline=None if self.effort is None else PipelineSettings(effort=self.effort),
            seed=self.seed,
        )


class Shown(NamedTuple):
    """How the results are shown, and the files they are written to."""

    out: Path | None
    long: bool
    summary: Path | None
    explain: bool
    as_json: bool

    def is_one_by_one(self, reviews: Reviews) -> bool:
        """Return whether each review is printed in its turn, instead of counts of all."""
        if self.out is not None or self.summary is not None:
            return False
        return self.explain or self.as_json or not (reviews.path is not None or reviews.rows_n > MOST_PAGES)


class Place(NamedTuple):
    """Where the reviews are analysed."""

    engine: str
    ray_address: str | None
    processes: int | None
    concurrency: int


def analyse(source: Source, answering: Answering, shown: Shown, place: Place) -> int:
    """Analyse the reviews, show or write the results, and return how many failed.

    Raises:
        ConfigError: options contradict each other, or a file cannot be read or written.
        EpisodicAbsaError: an error that does not concern one review.
    """
    out, long, summary, explain, as_json = shown
    refuse_contradictions(explain=explain, as_json=as_json, out=out, long=long, summary=summary)
    refuse_engine_options(place.engine, ray_address=place.ray_address, explain=explain, as_json=as_json)
    read = read_files if place.engine == "ray" else read_input
    reviews = read(source.texts, source.file, text_column=source.text_column, uid=source.uid)
    flags = load_condition(answering.condition, answering.conditions)
    reviews = reviews_of_shard(reviews, source.shard, flags)
    chosen = answering.chosen(flags)
    refuse_cluster(place.engine, flags, chosen.backbone)
    files_read = {
        "the file of the reviews": reviews.source,
        **{f"{path}, a file of the reviews": path for path in reviews.files},
        "the store of the memory": store_file(answering.store or DEFAULT_STORE),
        "the recording that is replayed": chosen.backbone.recording,
    }
    require_free_targets(out=out, summary=summary, record=answering.record, files_read=files_read)
    uid = source.uid and as_unicode(source.uid, "--uid")
    if reviews.note:
        say(reviews.note)
    with ExitStack() as opened:
        analyzer = opened.enter_context(answering.analyzer(chosen))
        processes = opened.enter_context(processes_of(place.engine, place.processes, place.ray_address))
        options = BatchOptions(source.language, uid, place.concurrency, processes)
        if shown.is_one_by_one(reviews):
            return _print_each(analyzer, reviews, options, shown, note=chosen.note)
        rows = analyse_rows(analyzer, reviews.rows, options)
        is_embedded = facts_of(chosen.backbone).shipped_fingerprint is not None
        outputs = FileOutputs(out, one_per_aspect=long, summary=summary, is_embedded=is_embedded)
        return run_file(beside_stdout(rows) if place.engine == "ray" else rows, reviews, outputs)


def _print_each(analyzer: Analyzer, reviews: Reviews, options: BatchOptions, shown: Shown, *, note: str) -> int:
    text_column = None if reviews.path is None else reviews.text_column
    output = JsonLines(text_column) if shown.as_json else Pages(reviews.rows_n, explain=shown.explain, note=note)
    if reviews.rows_n != 1:
        return run(analyzer, reviews, output, options)
    run_one(analyzer, next(iter(reviews.rows)), output, options)
    return 0
