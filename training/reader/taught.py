"""What a teacher says of texts: for each letter a probability of every mark and a topic, for each text a label."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Taught(NamedTuple):
    """What a teacher says of some texts."""

    rows: list[dict[str, Any]]
    """Text and tag."""
    places: Any
    """Where the letters of each text begin."""
    marks: Any
    """Of each letter."""
    topics: Any
    """The likeliest topic of each letter."""
    labels: Any
    """Of each text."""
    tokens: Any
    """The teacher's token at each letter."""
    states: Any
    """The teacher's state at each of its tokens, reduced."""


def write_taught(taught: Taught, path: Path) -> None:
    """Write it, uncompressed: it is read on the machine that writes it."""
    rows = np.frombuffer(json.dumps(taught.rows, ensure_ascii=False).encode(), dtype=np.uint8)
    arrays = {name: getattr(taught, name) for name in Taught._fields[1:]}
    draft = path.with_suffix(".part.npz")
    np.savez(draft, rows=rows, **arrays)
    draft.rename(path)


def read_taught(path: Path) -> Taught:
    """Read it."""
    with np.load(path) as stored:
        rows = json.loads(stored["rows"].tobytes().decode())
        return Taught(rows, *(stored[name] for name in Taught._fields[1:]))
