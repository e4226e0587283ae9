"""Reads a whole file of sealed lines without trusting it: after a broken line it goes on with the next that fits."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from episodic_absa.serialization.acknowledged_end import AcknowledgedEnd
from episodic_absa.serialization.jsonl import ReadLine
from episodic_absa.serialization.sealed_lines import (
    DOES_NOT_FIT,
    MAX_LINE_BYTES,
    NO_CHECKSUM,
    NO_SEAL,
    checksum_of,
    opened,
    too_long,
)
from episodic_absa.serialization.validation_reasons import reasons_of

LineT = TypeVar("LineT", bound=BaseModel)


@dataclass(frozen=True)
class SealedContent(Generic[LineT]):
    """The lines of a file that may be sealed, and what is wrong with it as a whole."""

    lines: tuple[ReadLine[LineT], ...]
    """A broken line has a problem and no value. The header has neither."""
    is_sealed: bool
    lacks_header: bool
    """Whether the lines are sealed and the header does not stand before them."""

    def damage(self, acknowledged: AcknowledgedEnd | None) -> tuple[str, ...]:
        """Return what is wrong with the file as a whole.

        Args:
            acknowledged: how far its writers got, if that is known.
        """
        missing = ""
        if acknowledged is not None:
            has_it = 1 <= acknowledged.line_n <= len(self.lines)
            missing = acknowledged.missing_in(
                len(self.lines), self._checksum_at(acknowledged.line_n) if has_it else b""
            )
        return tuple(filter(None, ("its header is missing" if self.lacks_header else "", missing)))

    def _checksum_at(self, line_n: int) -> bytes:
        """Return the checksum that `SealChain` has after that many lines."""
        body, stated = opened(self.lines[line_n - 1].raw)
        return stated if self.is_sealed else checksum_of(body)


def read_sealed_lines(
    lines: Sequence[bytes], header: bytes, validate: Callable[[bytes], LineT]
) -> SealedContent[LineT]:
    """Read lines with or without line ends; a line that is broken or not valid has a problem, and reading goes on.

    Args:
        lines: of the whole file or of its beginning.
        header: the body of the first line of a sealed file.
        validate: returns the value of a line without its seal, or raises ValidationError.
    """
    first = opened(lines[0]) if lines else None
    # If the first line is broken, the others say which kind of file it is.
    is_sealed = first is not None and (bool(first.checksum) or _is_sealed_further_on(lines, validate))
    has_header = is_sealed and first is not None and first.body == header
    problems: Iterable[str] = _seal_problems(lines, header) if is_sealed else [""] * len(lines)
    read = tuple(
        ReadLine(1, raw, None, problem)
        if has_header and number == 1
        else _read_line(number, raw, problem, validate, is_sealed=is_sealed)
        for number, (raw, problem) in enumerate(zip(lines, problems, strict=True), start=1)
    )
    return SealedContent(read, is_sealed, lacks_header=is_sealed and not has_header and not read[0].problem)


def _is_sealed_further_on(lines: Sequence[bytes], validate: Callable[[bytes], LineT]) -> bool:
    try:
        validate(lines[0])
    except ValidationError:
        return any(opened(line).checksum for line in lines)
    return False


def _read_line(
    number: int, raw: bytes, problem: str, validate: Callable[[bytes], LineT], *, is_sealed: bool
) -> ReadLine[LineT]:
    if not problem and len(raw) > MAX_LINE_BYTES:
        problem = too_long(raw)
    if problem:
        return ReadLine(number, raw, None, problem)
    try:
        return ReadLine(number, raw, validate(opened(raw).body if is_sealed else raw), "")
    except ValidationError as error:
        return ReadLine(number, raw, None, reasons_of(error))


def _seal_problems(lines: Sequence[bytes], header: bytes) -> Iterator[str]:
    """Yield for each line why its checksum does not fit; empty for a line that does.

    A line fits behind the last line that did. Behind a broken line it also fits if it continues that one: as it
    stands, or with the checksum that its content has.
    """
    last_that_fits = NO_CHECKSUM if lines and opened(lines[0]).body == header else checksum_of(header)
    candidates = {last_that_fits}
    for raw in lines:
        body, stated = opened(raw)
        fits = bool(stated) and any(checksum_of(body, previous) == stated for previous in candidates)
        if fits:
            last_that_fits, candidates = stated, {stated}
            yield ""
        else:
            candidates = {last_that_fits, raw.rstrip(b"\n")[-18:-2], checksum_of(body, last_that_fits)}
            yield DOES_NOT_FIT if stated else NO_SEAL
