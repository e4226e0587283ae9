"""Reads and writes the lines of a store file for tests: without the header and without checksums."""

from collections.abc import Iterable
from pathlib import Path

from episodic_absa.schemas.memory_v1_2 import is_header_line, store_chain
from episodic_absa.serialization.acknowledged_end import forget_end
from episodic_absa.serialization.jsonl import split_lines
from episodic_absa.serialization.sealed_lines import opened


def entries_of(store: Path) -> list[bytes]:
    """Return the bodies of the whole lines, the header left out."""
    content = store.read_bytes() if store.exists() else b""
    return [opened(line).body for line in split_lines(content).lines if not is_header_line(line)]


def sealed(bodies: Iterable[bytes]) -> bytes:
    """Return the content of a store file with these entries."""
    return b"".join(store_chain().lines_of(list(bodies)))


def rewrite(store: Path, bodies: Iterable[bytes]) -> None:
    """Make a store file hold other entries, as if they had always been there."""
    forget_end(store)
    store.write_bytes(sealed(bodies))
