"""What the counts need to know again about single samples: read from the store at the offset of a line."""

from functools import partial

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory.retrieval.experience_counts import AspectVerdict, ProposedCase, case_of
from episodic_absa.memory.retrieval.familiarity_counts import CountedTally
from episodic_absa.memory.store.reading.line_search import bad_line_at
from episodic_absa.memory.store.reading.store_reader import StoreReader
from episodic_absa.memory.store.store_line import parse_line
from episodic_absa.schemas.memory_v1_2 import StoreLine, TallyV1_2, VerdictV1_2


def case_at(reader: StoreReader, offset: int) -> tuple[str, ProposedCase]:
    """Return the source of an episode and its proposed changes."""
    line = _line_at(reader, offset)
    case = None if isinstance(line, TallyV1_2 | VerdictV1_2) else case_of(line)
    if case is None or isinstance(line, TallyV1_2 | VerdictV1_2):
        raise _other_line(reader, offset)
    return line.provenance.source_id, case


def tally_at(reader: StoreReader, offset: int) -> tuple[str, CountedTally]:
    """Return the source of a tally and what counts of it."""
    line = _line_at(reader, offset)
    if not isinstance(line, TallyV1_2):
        raise _other_line(reader, offset)
    return line.source_id, CountedTally.of(line)


def verdict_at(reader: StoreReader, offset: int) -> tuple[str, AspectVerdict]:
    """Return the source of a verdict and what it says."""
    line = _line_at(reader, offset)
    if not isinstance(line, VerdictV1_2):
        raise _other_line(reader, offset)
    return line.source_id, AspectVerdict(line.aspect, line.verdict)


def _line_at(reader: StoreReader, offset: int) -> StoreLine:
    return parse_line(reader.body_at(offset), partial(bad_line_at, reader.path, offset))


def _other_line(reader: StoreReader, offset: int) -> MemoryStoreError:
    return bad_line_at(reader.path, offset, "it is not the line that stood there when the store was opened")
