"""Tallies and verdicts, read again from the store at the offset of their line."""

from functools import partial

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory.store.reading.line_search import bad_line_at
from episodic_absa.memory.store.reading.store_reader import StoreReader
from episodic_absa.memory.store.store_line import parse_line
from episodic_absa.schemas.memory_v1_2 import StoreLine, TallyV1_2, VerdictV1_2


def tally_at(reader: StoreReader, offset: int) -> tuple[str, TallyV1_2]:
    """Return the tally at an offset and its source."""
    line = _line_at(reader, offset)
    if not isinstance(line, TallyV1_2):
        raise _other_line(reader, offset)
    return line.source_id, line


def verdict_at(reader: StoreReader, offset: int) -> tuple[str, VerdictV1_2]:
    """Return the verdict at an offset and its source."""
    line = _line_at(reader, offset)
    if not isinstance(line, VerdictV1_2):
        raise _other_line(reader, offset)
    return line.source_id, line


def _line_at(reader: StoreReader, offset: int) -> StoreLine:
    return parse_line(reader.body_at(offset), partial(bad_line_at, reader.path, offset))


def _other_line(reader: StoreReader, offset: int) -> MemoryStoreError:
    return bad_line_at(reader.path, offset, "it is not the line that stood there when the store was opened")
