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


_LABEL: Final = "the label follows from the final pairs or the whole text; the seven rules of seed are not run before"
_NUMBERS: Final = "comparisons tell unseen reviews and orders, failed samples, equal orders, one number of reviews"
_MAPPING: Final = "default rules read claims against Stage1's terms at once: no hints, no mapping of names to tell"
_PLAIN_LINES: Final = (
    "the file of a cell is the exported store: plain lines of its schema, sealed in the database alone"
)
_FIELDS_OF_1_3: Final[tuple[tuple[Literal["dropped", "added", "changed"], str], ...]] = (
    ("dropped", "episode_type"),
    ("dropped", "outcome_by"),
    ("dropped", "changes[].outcome"),
    ("dropped", "changes[].outcome_by"),
    ("added", "context"),
    ("added", "namespace"),
    ("changed", "outcome"),
    ("changed", "schema_version"),
)
_SCHEMA_1_3: Final = (
    "default rules store episodes of schema 1.3: an outcome with who says so, no outcome of each change"
)
_ANSWERS: Final = "the targets of a sample are its answer in the database, and stand in its record"

TOLD_DIFFERENCES: Final[tuple[ToldDifference, ...]] = (
    ToldDifference("dropped", "episodic_store.jsonl:", _PLAIN_LINES, lines="line"),
    ToldDifference("dropped", "episodic_store.jsonl:sha256", _PLAIN_LINES),
    ToldDifference("dropped", "episodic_store.jsonl:", _ANSWERS, cells="default.*", lines="*-*"),
    *(
        ToldDifference(change, f"episodic_store.jsonl:{field}", _SCHEMA_1_3, cells="default.*")
        for change, field in _FIELDS_OF_1_3
    ),
    ToldDifference("dropped", "comparisons.csv:unopposed", _NUMBERS),
    *(
        ToldDifference("added", f"comparisons.csv:{field}", _NUMBERS)
        for field in (
            "differing_n",
            "failed_high",
            "failed_low",
            "failed_n",
            "orders_variance",
            "same_by_construction",
            "unseen_orders",
            "unseen_reviews",
        )
    ),
    *(
        ToldDifference("changed", f"comparisons.csv:{field}", _NUMBERS)
        for field in ("ci90_high", "ci90_low", "ci_high", "ci_low", "equivalence", "needed_n", "orders_n")
    ),
    *(
        ToldDifference("changed", place, _LABEL, cells="default.*")
        for place in (
            "outputs.jsonl:final_result.rationale",
            "traces.jsonl:case_trace.final_output.rationale",
            "outputs.jsonl:moderator.rationale",
            "outputs.jsonl:moderator.decision_reason",
            "outputs.jsonl:moderator.label_source",
            "outputs.jsonl:moderator.applied_rules",
            "outputs.jsonl:moderator.arbiter_flags",
            "scorecards.jsonl:moderator.applied_rules",
        )
    ),
    ToldDifference("changed", "scorecards.jsonl:debate", _MAPPING, cells="default.*"),
    *(
        ToldDifference("changed", place, _MAPPING, cells="default.*", lines=lines)
        for place in ("grid_metrics.csv:", "structural_metrics.csv:")
        for lines in ("*mapping_*", "*hint_invalid_rate")
    ),
    *(
        ToldDifference(
            "changed",
            "outputs.jsonl:stage2.atsa_reviews",
            "Stage2 of the embedded engine hears the debate no more than that of a model; no decision differs",
            cells="default.*",
            lines=uid,
        )
        for uid in ("valid-en-sight-1", "own-ko-1")
    ),
)


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
