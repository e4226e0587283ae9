"""`analyze --engine ray`: reads a file, a folder or a pattern, and analyses its rows on a Ray cluster."""

import glob
import sys
from collections.abc import Generator, Sequence
from contextlib import closing, redirect_stdout
from dataclasses import replace
from pathlib import Path

from episodic_absa.backends.create_backend import BackboneSettings
from episodic_absa.batch.batch_plan import EngineSettings
from episodic_absa.batch.cluster import ClusterJob, analyse_on_cluster
from episodic_absa.cli.analyze.analysed_rows import AnalysedRow, BatchOptions, finding_of
from episodic_absa.cli.analyze.file_arguments import STANDARD_INPUT
from episodic_absa.cli.analyze.file_run import FileOutputs, run_file
from episodic_absa.cli.analyze.review_input import Reviews, read_input
from episodic_absa.datasets.tables import TABLE_ENDINGS
from episodic_absa.datasets.tables.review_table import open_review_tables
from episodic_absa.errors import ConfigError
from episodic_absa.schemas.pipeline_settings import PipelineSettings


def refuse_engine_options(engine: str, *, ray_address: str | None, explain: bool, as_json: bool) -> None:
    """Refuse options that do not go with the engine."""
    if engine == "local" and ray_address is not None:
        raise ConfigError("--ray-address is for --engine ray; add it or leave the address out", key="ray_address")
    if engine == "ray" and (explain or as_json):
        raise ConfigError("--engine ray is for files; use --out or --summary, not --explain or --json", key="engine")


def read_files(
    texts: Sequence[str], file: Path | None, *, text_column: str | None = None, uid: str | None = None
) -> Reviews:
    """Return the reviews of the file, the folder or the pattern that the arguments name.

    Raises:
        ConfigError: they name no file, or an option does not fit.
        DatasetError: a table cannot be read.
    """
    paths = _tables_named(texts, file)
    if not paths:
        reviews = read_input(texts, file, text_column=text_column, uid=uid)
        if reviews.source is None or str(reviews.source) == STANDARD_INPUT:
            raise ConfigError("--engine ray is for files; give a file, or leave --engine out", key="engine")
        return reviews
    if uid is not None:
        raise ConfigError("--uid names one review; a table has many, leave --uid out", key="uid")
    tables = open_review_tables(paths, text_column=text_column)
    named = file or Path(texts[0])
    return Reviews(
        tables, tables.rows_n, tables.columns, tables.text_column, named, note=tables.described(), files=tuple(paths)
    )


def analyse_files(
    settings: EngineSettings,
    store: str | Path,
    reviews: Reviews,
    options: BatchOptions,
    outputs: FileOutputs,
    *,
    address: str | None,
) -> int:
    """Analyse all rows on a cluster, write and print the results, and return how many reviews failed.

    Raises:
        ConfigError: the condition depends on the order of the reviews, or the cluster does not fit.
        EpisodicAbsaError: an error that does not concern one review; what was done until then is kept.
    """
    (settings.pipeline or PipelineSettings()).under(settings.condition)  # a contradiction is refused before any work
    job = ClusterJob(
        replace(settings, backbone=_with_whole_path(settings.backbone)),
        _whole_location(store),
        rows_n=reviews.rows_n,
        language=options.language,
        concurrency=options.concurrency,
        workers=options.processes,
    )
    return run_file(_rows_on_cluster(job, reviews, address), reviews, outputs)


def _rows_on_cluster(job: ClusterJob, reviews: Reviews, address: str | None) -> Generator[AnalysedRow, None, None]:
    # Ray prints what it says about lost workers to stdout, which belongs to the results.
    with (
        redirect_stdout(sys.stderr),
        closing(analyse_on_cluster(job, reviews.rows, finding_of, address=address)) as outcomes,
    ):
        for position, (row, outcome) in enumerate(outcomes):
            yield AnalysedRow(position, row, outcome)


def _with_whole_path(backbone: BackboneSettings) -> BackboneSettings:
    # Workers have a working directory of their own.
    if backbone.recording is None:
        return backbone
    return backbone.model_copy(update={"recording": backbone.recording.resolve()})


def _whole_location(store: str | Path) -> str:
    return str(store) if "://" in str(store) else str(Path(store).resolve())


def _tables_named(texts: Sequence[str], file: Path | None) -> list[Path]:
    """Return the tables of the folder or the pattern that is the only argument; none if it is something else."""
    names = [*texts, *([str(file)] if file is not None else [])]
    if len(names) != 1:
        return []
    name, path = names[0], Path(names[0])
    if path.is_dir():
        paths = [entry for entry in path.iterdir() if not entry.name.startswith(".")]
    elif glob.has_magic(name) and not path.exists() and path.suffix.lower() in TABLE_ENDINGS:
        paths = [Path(entry) for entry in glob.glob(name, recursive=True)]  # noqa: PTH207 - a pattern may be absolute
    else:
        return []
    tables = sorted(entry for entry in paths if entry.is_file() and entry.suffix.lower() in TABLE_ENDINGS)
    if not tables:
        raise ConfigError(f"{name} names no table; files that end in {', '.join(TABLE_ENDINGS)} are read", key="text")
    return tables
