"""The lines of a golden: what a run wrote, without what no two runs share, in a form that compares byte by byte."""

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

CLOCK: Final = frozenset(
    {"latency_ms", "latency_ms_sum", "waited_ms", "waited_ms_sum", "started_at", "ended_at", "timestamp", "seconds"}
)
HASHES: Final = frozenset({"cfg_hash", "sha256"})
_NAMES: Final = ("uid", "episode_id", "source_id", "window_end_sample")
"""What tells the lines of a file apart, the first that a line has."""
_NAMES_OF_ROWS: Final = ("uid", "condition", "a", "b", "order", "seed", "metric")
"""The columns that tell the rows of a table apart, all that it has."""


class Line(NamedTuple):
    """One line of a JSONL file or one row of a table."""

    file: str
    name: str
    """Tells it apart from the other lines of its file: the uid of its review, the name of its metric."""
    value: Any


def normalised(value: Any) -> Any:
    """Return a JSON value with a mark in place of everything that differs between equal runs.

    These are clock values (`CLOCK`), and hashes over a configuration or over a line that holds such values (`HASHES`).
    The mark stays, so that a field that vanishes is a difference. Nothing else is touched: lines of a run hold no path
    and no version of the package.
    """
    if isinstance(value, dict):
        return {
            key: "<clock>" if key in CLOCK else "<hash>" if key in HASHES else normalised(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [normalised(item) for item in value]
    return value


def as_text(value: Any) -> str:
    """Return a JSON value as canonical JSON: equal values give equal text. Numbers are as the run wrote them."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def as_bytes(lines: Iterable[Line]) -> bytes:
    """Return what is compared and hashed of a cell."""
    return "".join(f"{as_text(line._asdict())}\n" for line in lines).encode("utf-8")


def lines_of_jsonl(path: Path) -> list[Line]:
    """Return the lines of a JSONL file that a run wrote."""
    values = [normalised(json.loads(text)) for text in path.read_text("utf-8").splitlines()]
    return list(_named(path.name, ((_name_of(value), value) for value in values)))


def lines_of_csv(path: Path) -> list[Line]:
    """Return the rows of a table that a run wrote; every cell is text."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    named = ((" ".join(row[column] for column in _NAMES_OF_ROWS if row.get(column)), row) for row in rows)
    return list(_named(path.name, named))


def _name_of(value: dict[str, Any]) -> str:
    return next((str(value[name]) for name in _NAMES if name in value), "line")


def _named(file: str, values: Iterable[tuple[str, Any]]) -> Iterator[Line]:
    seen: dict[str, int] = {}
    for name, value in values:
        seen[name] = seen.get(name, 0) + 1
        yield Line(file, name if seen[name] == 1 else f"{name} #{seen[name]}", value)
