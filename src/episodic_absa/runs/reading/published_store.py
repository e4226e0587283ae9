"""Reads the store that a cell published, without trusting it: a line that cannot be read becomes a problem."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from episodic_absa.errors import MemoryStoreError
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3
from episodic_absa.serialization.jsonl import split_lines
from episodic_absa.serialization.quoted_value import reasons_of
from episodic_absa.store.dialects.jsonl_dialect import JsonlDialect, database_beside
from episodic_absa.store.episode_store import DEFAULT_BUSY_TIMEOUT_S
from episodic_absa.store.exported_lines import Line, parse_line
from episodic_absa.store.open_store import raw_lines


@dataclass(frozen=True)
class PublishedStore:
    """The lines of a store, their values, and their problems."""

    raw: tuple[bytes, ...] = ()
    """Each line with its line end."""
    values: tuple[Line | None, ...] = ()
    """One per line; None where the line is not valid. Episodes are in schema 1.3, whatever the line has."""
    problems: tuple[str, ...] = ()

    @cached_property
    def objects(self) -> tuple[Any, ...]:
        """The parsed JSON of each line, with keys that no model knows; None where a line is not JSON."""
        return tuple(map(_parsed, self.raw))

    @cached_property
    def episodes(self) -> tuple[EpisodicMemoryEntryV1_3, ...]:
        """The episodes."""
        return tuple(value for value in self.values if isinstance(value, EpisodicMemoryEntryV1_3))

    @cached_property
    def episode_lines(self) -> tuple[bytes, ...]:
        """The lines of the episodes."""
        held = zip(self.raw, self.values, strict=True)
        return tuple(raw for raw, value in held if isinstance(value, EpisodicMemoryEntryV1_3))

    def valid(self) -> Iterator[Line]:
        """Yield the values of the valid lines."""
        return (value for value in self.values if value is not None)


def read_published_store(path: Path) -> PublishedStore:
    """Read a store, a file of JSON lines or a database; one that is missing is empty."""
    try:
        raw = _raw_lines(path)
    except FileNotFoundError:
        return PublishedStore()
    except OSError as error:
        return PublishedStore(problems=(f"{path.name}: {error.strerror}",))
    except MemoryStoreError as error:
        return PublishedStore(problems=(str(error),))
    values: list[Line | None] = []
    problems = [*_differences_from_database(path)]
    for number, line in enumerate(raw, start=1):
        try:
            values.append(parse_line(line.removesuffix(b"\n")))
        except ValidationError as error:
            values.append(None)
            problems.append(f"{path.name}, line {number}: {reasons_of(error)}")
    if raw and not raw[-1].endswith(b"\n"):
        problems.append(f"{path.name}: the last line is not ended")
    return PublishedStore(tuple(raw), tuple(values), tuple(problems))


def _raw_lines(path: Path) -> list[bytes]:
    if path.suffix.lower() == ".jsonl":
        whole, torn = split_lines(path.read_bytes())
        return [*(line + b"\n" for line in whole), *([torn] if torn else [])]
    return list(raw_lines(path))


def _differences_from_database(path: Path) -> Iterator[str]:
    """Yield what says that a file is not what the database beside it wrote; people's verdicts stand in no record."""
    if path.suffix.lower() == ".jsonl" and database_beside(path).exists():
        database = JsonlDialect(path, busy_timeout_s=DEFAULT_BUSY_TIMEOUT_S, guard=lambda _: None)
        try:
            database.rows("SELECT 1")
        except MemoryStoreError as error:
            yield str(error)
        finally:
            database.close()


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
