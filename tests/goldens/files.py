"""The committed goldens: one compressed file for each grid, and an index with the hash of every cell."""

import gzip
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Final

from tests.goldens.lines import Line, as_bytes, as_text

HERE: Final = Path(__file__).parent
GOLDENS: Final = HERE / "cells"
INDEX: Final = HERE / "index.json"
DIFFERENCES: Final = HERE / "DIFFERENCES.md"
Cells = Mapping[str, Sequence[Line]]


class DamagedGoldenError(Exception):
    """A committed golden is not what the index says."""


def read_grid(grid: str) -> dict[str, list[Line]]:
    """Return the committed lines of each cell of a grid; raise DamagedGoldenError if the index knows others."""
    cells: dict[str, list[Line]] = {}
    for text in gzip.decompress((GOLDENS / f"{grid}.jsonl.gz").read_bytes()).decode("utf-8").splitlines():
        line = json.loads(text)
        cells.setdefault(line.pop("cell"), []).append(Line(**line))
    if _hashes(cells) != indexed().get(grid):
        raise DamagedGoldenError(f"the golden of {grid} is not the one of index.json; restore both, or make them anew")
    return cells


def write_grid(grid: str, cells: Cells) -> None:
    """Write a golden and its place in the index. Equal lines give equal files."""
    # Equal lines of several cells stand side by side: so they compress to half the size.
    turns = zip_longest(*([{"cell": name, **line._asdict()} for line in lines] for name, lines in cells.items()))
    content = "".join(f"{as_text(line)}\n" for turn in turns for line in turn if line is not None)
    compressed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=compressed, mtime=0) as file:
        file.write(content.encode("utf-8"))
    GOLDENS.mkdir(exist_ok=True)
    (GOLDENS / f"{grid}.jsonl.gz").write_bytes(compressed.getvalue())
    index = {**indexed(), grid: _hashes(cells)}
    INDEX.write_text(json.dumps(index, indent=1, sort_keys=True) + "\n", "utf-8")


def indexed() -> dict[str, dict[str, str]]:
    """Return the sha256 of every cell by grid."""
    index: dict[str, dict[str, str]] = json.loads(INDEX.read_text("utf-8")) if INDEX.exists() else {}
    return index


def state() -> str:
    """Return a short name of the committed goldens; another one means that some golden differs."""
    return hashlib.sha256(INDEX.read_bytes()).hexdigest()[:16]


def _hashes(cells: Cells) -> dict[str, str]:
    return {name: hashlib.sha256(as_bytes(lines)).hexdigest() for name, lines in sorted(cells.items())}
