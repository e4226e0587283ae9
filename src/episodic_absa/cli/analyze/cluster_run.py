"""What `analyze` reads and where it is analysed: `--engine ray` with a folder or a pattern, `--shard` with a share."""

import glob
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

from episodic_absa.backends.create_backend import BackboneSettings
from episodic_absa.backends.provider_facts import facts_of
from episodic_absa.batch import Processes
from episodic_absa.cli.analyze.analysed_rows import AnalysedRow
from episodic_absa.cli.analyze.file_arguments import STANDARD_INPUT
from episodic_absa.cli.analyze.review_input import Reviews, read_input
from episodic_absa.contrib_parts import contrib_part
from episodic_absa.datasets.tables import TABLE_ENDINGS
from episodic_absa.datasets.tables.review_table import ReviewRow, open_review_tables
from episodic_absa.errors import ConfigError
from episodic_absa.runs.shards import Shard
from episodic_absa.schemas.run import Condition

_WRITES: Final = "writes a memory, so that each review depends on those before it"
_OTHER_CONDITION: Final = "choose a condition that writes none, such as C1"


def refuse_engine_options(engine: str, *, ray_address: str | None, explain: bool, as_json: bool) -> None:
    """Refuse options that do not go with the engine."""
    if engine == "local" and ray_address is not None:
        raise ConfigError("--ray-address is for --engine ray; add it or leave the address out", key="ray_address")
    if engine == "ray" and (explain or as_json):
        raise ConfigError("--engine ray is for files; use --out or --summary, not --explain or --json", key="engine")


def refuse_cluster(engine: str, condition: Condition, backbone: BackboneSettings) -> None:
    """Refuse what the workers of a cluster cannot share, before one is started."""
    if engine == "local":
        return
    if condition.store_write:
        raise ConfigError(
            f"condition {condition.name} {_WRITES}; analyse in this process (--engine local), or {_OTHER_CONDITION}",
            key="engine",
        )
    if backbone.record is not None or not facts_of(backbone).is_local:
        raise ConfigError(
            "--engine ray serves the embedded engine and replay, whose answers workers compute; leave --record and a "
            "model behind a server to --engine local. --shard shares reviews among machines",
            key="engine",
        )


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


@contextmanager
def processes_of(engine: str, number: int | None, address: str | None) -> Iterator[int | Processes | None]:
    """Yield what analyses the reviews: the workers of a cluster, or as many processes of this machine as asked for."""
    if engine == "local":
        yield number
        return
    with contrib_part("ray_processes")(address, number) as processes:
        yield processes


def beside_stdout(rows: Generator[AnalysedRow, None, None]) -> Generator[AnalysedRow, None, None]:
    """Yield the rows; what is printed meanwhile goes to stderr, as what Ray says about lost workers."""
    with redirect_stdout(sys.stderr), closing(rows):
        yield from rows


@dataclass(frozen=True)
class _RowsOfShard:
    rows: Iterable[ReviewRow]
    places: range

    def __iter__(self) -> Iterator[ReviewRow]:
        return islice(self.rows, self.places.start, self.places.stop)


def reviews_of_shard(reviews: Reviews, text: str | None, condition: Condition) -> Reviews:
    """Return the reviews that `--shard K/N` leaves to this machine.

    Raises:
        ConfigError: it is no shard, or the condition writes a memory.
    """
    if text is None:
        return reviews
    places = Shard.parse(text).places(reviews.rows_n)
    if condition.store_write:
        raise ConfigError(
            f"condition {condition.name} {_WRITES}; leave --shard out, or {_OTHER_CONDITION}", key="shard"
        )
    return replace(reviews, rows=_RowsOfShard(reviews.rows, places), rows_n=len(places))


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
