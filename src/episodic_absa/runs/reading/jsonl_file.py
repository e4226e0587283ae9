"""Reads a JSONL file of a run without trusting it: a line that cannot be read becomes a problem."""

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from episodic_absa.schemas.memory_v1_2 import StoreLine, read_store_lines, validated_line
from episodic_absa.serialization.acknowledged_end import read_end
from episodic_absa.serialization.jsonl import ReadLine, read_lines_by, split_lines

LineT = TypeVar("LineT", bound=BaseModel)


@dataclass(frozen=True)
class JsonlFile(Generic[LineT]):
    """A JSONL file: its bytes, the value of each line, and its problems."""

    raw: tuple[bytes, ...] = ()
    """Each line with its line end."""
    values: tuple[LineT | None, ...] = ()
    """One per line; None where the line is not valid, and for the header of a store."""
    problems: tuple[str, ...] = ()

    @cached_property
    def objects(self) -> tuple[Any, ...]:
        """The parsed JSON of each line, with keys that no model knows; None where a line is not JSON."""
        return tuple(map(_parsed, self.raw))

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """The offset at which each line ends."""
        return tuple(accumulate(len(line) for line in self.raw))

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return self.ends[-1] if self.ends else 0

    def count_until(self, offset: int) -> int:
        """Return how many lines end at or before an offset."""
        return bisect_right(self.ends, offset)

    def valid(self) -> Iterator[LineT]:
        """Yield the values of the valid lines."""
        return (value for value in self.values if value is not None)


def read_store_file(path: Path, *, size: int | None = None, required: bool = True) -> JsonlFile[StoreLine]:
    """Read a store, its header and checksums checked. The value of the header is None.

    Args:
        path: the file.
        size: how many bytes to read; None reads all, and holds them against the end that writers acknowledged.
        required: whether a missing file is a problem.
    """
    acknowledged = read_end(path) if size is None else None
    try:
        lines, torn = _split(path, size)
    except OSError as error:
        return JsonlFile(problems=(f"{path.name}: {error.strerror}",) if required else ())
    content = read_store_lines(lines[: len(lines) - torn])
    read = [*content.lines, *read_lines_by(lines[len(content.lines) :], validated_line)]
    damage = [f"{path.name}: {problem}" for problem in content.damage(acknowledged)]
    return _jsonl_file(path, lines, read, damage, is_torn=torn)


def _split(path: Path, size: int | None) -> tuple[list[bytes], bool]:
    """Return the lines with their line ends, and whether the last one lacks it."""
    whole, torn = split_lines(path.read_bytes()[:size])
    return [*(line + b"\n" for line in whole), *([torn] if torn else [])], bool(torn)


def _jsonl_file(
    path: Path, lines: Sequence[bytes], read: Iterable[ReadLine[LineT]], damage: Iterable[str] = (), *, is_torn: bool
) -> JsonlFile[LineT]:
    values, problems = [], [*damage]
    for line in read:
        values.append(line.value)
        if line.problem:
            problems.append(f"{path.name}, line {line.number}: {line.problem}")
    if is_torn:
        problems.append(f"{path.name}: the last line is not ended")
    return JsonlFile(tuple(lines), tuple(values), tuple(problems))


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
