"""The told list of intended differences between what the code does and what the goldens hold.

A step that drops or renames fields of records writes them down here, and the goldens stay as they are: the test applies
the list to them and then demands equality, byte by byte. An entry that changes nothing fails the test. When the goldens
are made anew, the list is emptied; `DIFFERENCES.md` keeps what was told.
"""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, NamedTuple

from tests.goldens.files import Cells
from tests.goldens.lines import Line


class ToldDifference(NamedTuple):
    """One field that is no longer what the goldens hold."""

    change: Literal["dropped", "added", "renamed", "changed"]
    place: str
    """File and field: `outputs.jsonl:meta.memory.coins`, `traces.jsonl:calls[].cached`. `*` stands for any part of a
    file's name; without a field, as in `structural_metrics.csv:`, the whole line is meant."""
    why: str
    to: str = ""
    """The new name of a renamed field."""
    cells: str = "*"
    """The cells it is about: `default.C2*`."""
    lines: str = "*"
    """The lines it is about: the uid of a review, the name of a metric."""


TOLD_DIFFERENCES: Final[tuple[ToldDifference, ...]] = ()


class Agreed(NamedTuple):
    """Two sets of cells that must be equal now."""

    golden: Cells
    actual: Cells
    without_effect: Sequence[ToldDifference]


def agree(golden: Cells, actual: Cells, told: Sequence[ToldDifference] = TOLD_DIFFERENCES) -> Agreed:
    """Apply a told list: drop, add and rename as it says; of a changed field neither value is compared."""
    golden_lines, actual_lines = _copied(golden), _copied(actual)
    idle = []
    for entry in told:
        hits = 0
        if entry.change != "added":
            hits += _apply(entry, golden_lines)
        if entry.change in ("added", "changed"):
            hits += _apply(entry, actual_lines)
        if not hits:
            idle.append(entry)
    return Agreed(golden_lines, actual_lines, idle)


def _apply(entry: ToldDifference, cells: dict[str, list[Line]]) -> int:
    file, _, path = entry.place.partition(":")
    hits = 0
    for cell, lines in cells.items():
        if not fnmatchcase(cell, entry.cells):
            continue
        kept: list[Line] = []
        for line in lines:
            if not (fnmatchcase(line.file, file) and fnmatchcase(line.name, entry.lines)):
                kept.append(line)
            elif path:
                hits += _visit(line.value, path.split("."), _ACTS[entry.change], entry.to)
                kept.append(line)
            else:
                hits += 1
                if entry.change == "changed":
                    kept.append(line._replace(value="<told>"))
        lines[:] = kept
    return hits


def _visit(value: Any, path: Sequence[str], act: Callable[[dict[str, Any], str, str], None], to: str) -> int:
    """Act on every field that the path names; return how many there were."""
    key, rest = path[0].removesuffix("[]"), path[1:]
    if not isinstance(value, dict) or key not in value:
        return 0
    if not rest and not path[0].endswith("[]"):
        act(value, key, to)
        return 1
    inner = value[key] if path[0].endswith("[]") else [value[key]]
    return sum(_visit(item, rest, act, to) for item in inner or ()) if rest else 0


def _drop(parent: dict[str, Any], key: str, _: str) -> None:
    del parent[key]


def _rename(parent: dict[str, Any], key: str, to: str) -> None:
    parent[to] = parent.pop(key)


def _blank(parent: dict[str, Any], key: str, _: str) -> None:
    parent[key] = "<told>"


_ACTS: Final[dict[str, Callable[[dict[str, Any], str, str], None]]] = {
    "dropped": _drop,
    "added": _drop,
    "renamed": _rename,
    "changed": _blank,
}


def _copied(cells: Cells) -> dict[str, list[Line]]:
    return {name: [line._replace(value=_copy(line.value)) for line in lines] for name, lines in cells.items()}


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value
