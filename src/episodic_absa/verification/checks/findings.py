"""The shape of a check.

A check yields once per thing that it checks: None if the thing is right, else what is wrong. A check that yields
nothing is not applicable. Findings name uid, line and field; review text never enters integrity.json.
"""

from collections.abc import Callable, Iterator

from episodic_absa.runs.reading.cell_files import CellFiles

Findings = Iterator[str | None]
Check = Callable[[CellFiles], Findings]


class NotApplicableError(Exception):
    """A check has nothing to check; the message says why."""


def require_changes(cell: CellFiles) -> None:
    """Raise NotApplicableError unless the rules of the cell weigh candidates."""
    if not cell.known_manifest.condition.decides_changes:
        raise NotApplicableError("seed rules weigh no candidates")
