"""The three kinds of lines in a store file, read and written: an episode, a tally of a sample, a person's verdict."""

from collections.abc import Callable, Iterable, Iterator

from pydantic import ValidationError

from episodic_absa.errors import MemoryStoreError
from episodic_absa.schemas.memory_v1_2 import CountedLine, StoreLine, validated_line
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.jsonl import ReadLine, read_lines_by
from episodic_absa.serialization.validation_reasons import reasons_of


def parse_line(line: bytes, error_for: Callable[[str], MemoryStoreError]) -> StoreLine:
    """Return the value of a line.

    Args:
        line: with or without its line end.
        error_for: makes the error to raise from the reasons why the line is bad; only it knows the line number.
    """
    try:
        return validated_line(line)
    except ValidationError as error:
        raise error_for(reasons_of(error)) from error


def read_store_lines(lines: Iterable[bytes]) -> Iterator[ReadLine[StoreLine]]:
    """Yield every line with its value; a bad line has a problem instead, and reading goes on."""
    return read_lines_by(lines, validated_line)


def line_of_count(value: CountedLine) -> bytes:
    r"""Return the canonical JSON line of a tally or a verdict.

    Example:
        >>> from episodic_absa.schemas.memory_v1_2 import TallyV1_2
        >>> line_of_count(TallyV1_2(language="en", source_id="r1", terms=("room",)))
        b'{"kind":"tally","language":"en","schema_version":"1.2","source_id":"r1","terms":["room"]}\n'
    """
    return canonical_json(value).encode() + b"\n"
