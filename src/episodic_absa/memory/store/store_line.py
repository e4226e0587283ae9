"""The three kinds of lines in a store file: an episode, the tally of a sample, the verdict of a person."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from pydantic import ValidationError

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory.store.episode_line import validated_episode
from episodic_absa.schemas.memory_v1_2 import AnyEpisode, TallyV1_2, VerdictV1_2
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.jsonl import ReadLine, read_lines_by
from episodic_absa.serialization.validation_reasons import reasons_of

CountedLine = TallyV1_2 | VerdictV1_2
"""A line that only counts: nothing is retrieved from it."""
StoreLine = AnyEpisode | CountedLine

# Quotes inside a JSON string are escaped, so a match is a key with its value. No episode has such a pair.
_KIND = re.compile(rb'"kind":\s*"(tally|verdict)"')
_EPISODE_START: Final = b'{"action_taken":'
_validate_tally = TallyV1_2.__pydantic_validator__.validate_json
_validate_verdict = VerdictV1_2.__pydantic_validator__.validate_json


def is_episode_line(line: bytes) -> bool:
    """Return whether a line is meant as an episode. The line is not parsed."""
    return line.startswith(_EPISODE_START) or _KIND.search(line) is None


def validated_line(line: bytes) -> StoreLine:
    """Return the value of a line.

    Raises:
        ValidationError: the line is none of the three kinds.
    """
    kind = None if line.startswith(_EPISODE_START) else _KIND.search(line)
    if kind is None:
        return validated_episode(line)
    value: CountedLine = _validate_tally(line) if kind[1] == b"tally" else _validate_verdict(line)
    return value


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
        >>> line_of_count(TallyV1_2(language="en", source_id="r1", terms=("room",)))
        b'{"kind":"tally","language":"en","schema_version":"1.2","source_id":"r1","terms":["room"]}\n'
    """
    return canonical_json(value).encode() + b"\n"
