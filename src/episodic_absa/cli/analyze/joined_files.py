"""Joins the files of `analyze --shard`: rows in the order of the files, columns and head as the first file has them."""

import codecs
import csv
import io
from collections.abc import Sequence
from pathlib import Path

from episodic_absa.cli.analyze.result_file import RESULT_ENDINGS
from episodic_absa.errors import ConfigError
from episodic_absa.serialization.durable_file import replace_durably


def join_files(whole: Path, shards: Sequence[Path]) -> None:
    """Write the rows of all files to one.

    Raises:
        ConfigError: a file cannot be read, or files have different endings or columns; nothing is written.
    """
    ending = whole.suffix.lower()
    if ending not in RESULT_ENDINGS or any(shard.suffix.lower() != ending for shard in shards):
        raise ConfigError(f"join needs files of one ending, one of {', '.join(RESULT_ENDINGS)}", key="file")
    if whole.exists():
        raise ConfigError(f"{whole} exists already; name a new file", path=whole, key="file")
    try:
        content = _parquet(shards) if ending == ".parquet" else _text(shards, has_head=ending == ".csv")
        replace_durably(whole, content)
    except OSError as error:
        raise ConfigError(f"{error.filename or whole}: {error.strerror}", path=whole, key="file") from error


def _text(shards: Sequence[Path], *, has_head: bool) -> bytes:
    contents = [shard.read_bytes() for shard in shards]
    if not has_head:
        return b"".join(contents)
    heads = [_head(content) for content in contents]
    for shard, head in zip(shards, heads, strict=True):
        if head != heads[0]:
            raise ConfigError(f"{shard} has other columns than {shards[0]}", path=shard, key="file")
    return heads[0] + b"".join(content.removeprefix(heads[0]) for content in contents)


def _head(content: bytes) -> bytes:
    """Return the lines of the column names; a name may hold line breaks."""
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    lines = io.StringIO(content.removeprefix(mark).decode("utf-8", "surrogateescape"), newline="")
    next(csv.reader(lines), None)
    return mark + lines.getvalue()[: lines.tell()].encode("utf-8", "surrogateescape")


def _parquet(shards: Sequence[Path]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = [pq.read_table(shard) for shard in shards]
    for shard, table in zip(shards, tables, strict=True):
        if table.schema.names != tables[0].schema.names:
            raise ConfigError(f"{shard} has other columns than {shards[0]}", path=shard, key="file")
    buffer = io.BytesIO()
    pq.write_table(pa.concat_tables(tables, promote_options="permissive"), buffer)
    return buffer.getvalue()
