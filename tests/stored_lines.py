"""Reads and writes the lines of an exported store for tests."""

from collections.abc import Iterable
from pathlib import Path

from episodic_absa.serialization.jsonl import split_lines
from episodic_absa.store.dialects.jsonl_dialect import remove_database_beside


def entries_of(store: Path) -> list[bytes]:
    """Return the whole lines of a store."""
    return list(split_lines(store.read_bytes()).lines) if store.exists() else []


def rewrite(store: Path, bodies: Iterable[bytes]) -> None:
    """Make an exported store hold other lines, as if they had always been there."""
    remove_database_beside(store)
    store.write_bytes(b"".join(body + b"\n" for body in bodies))
