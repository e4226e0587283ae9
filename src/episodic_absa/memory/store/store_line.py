"""The three kinds of lines in a store file, read and written: an episode, a tally of a sample, a person's verdict."""

from collections.abc import Callable

from pydantic import ValidationError

from episodic_absa.errors import MemoryStoreError
from episodic_absa.schemas.memory_v1_2 import CountedLine, StoreLine, validated_line
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.sealed_lines import BrokenLineError, SealChain
from episodic_absa.serialization.validation_reasons import reasons_of


def parse_line(body: bytes, error_for: Callable[[str], MemoryStoreError]) -> StoreLine:
    """Return the value of a line without its seal.

    Args:
        body: with or without line end.
        error_for: makes the error to raise from the reasons why the line is bad; only it knows the line number.
    """
    try:
        return validated_line(body)
    except ValidationError as error:
        raise error_for(reasons_of(error)) from error


def next_body(chain: SealChain, line: bytes, error_for: Callable[[str], MemoryStoreError]) -> bytes | None:
    """Return the next line of a file without its seal, None for the header. Arguments as above."""
    try:
        return chain.body_of(line)
    except BrokenLineError as error:
        raise error_for(str(error)) from error


def body_of_count(value: CountedLine) -> bytes:
    r"""Return the canonical JSON of a tally or a verdict.

    Example:
        >>> from episodic_absa.schemas.memory_v1_2 import TallyV1_2
        >>> body_of_count(TallyV1_2(language="en", source_id="r1", terms=("room",)))
        b'{"kind":"tally","language":"en","schema_version":"1.2","source_id":"r1","terms":["room"]}'
    """
    return canonical_json(value).encode()
