"""The conditions that a drill runs: by default all shipped ones, each once."""

from dataclasses import dataclass
from typing import get_args

from episodic_absa.conditions import load_conditions
from episodic_absa.conditions.conditions_file import ConditionsVersion
from episodic_absa.schemas.run import Condition


@dataclass(frozen=True)
class DrillCell:
    """One condition of a drill."""

    name: str
    """The file and the condition, such as `v3_0 C2`; it is the name of the cell's store, too."""
    condition: Condition

    @property
    def store_name(self) -> str:
        """The name of the cell's store file."""
        return f"{self.name.replace(' ', '-').replace('/', '-')}.jsonl"

    @property
    def reads_a_finished_store(self) -> bool:
        """Whether the condition reads a store that it does not fill itself."""
        return self.condition.retrieval_execute and not self.condition.store_write

    def can_start_from(self, other: "DrillCell") -> bool:
        """Return whether another condition fills the kind of store that this one reads."""
        ours, theirs = self.condition, other.condition
        same_kind = (ours.rules, ours.dangerous_advice) == (theirs.rules, theirs.dangerous_advice)
        return self.reads_a_finished_store and theirs.store_write and same_kind


def drill_cells(source: str | None = None, condition: str | None = None) -> tuple[DrillCell, ...]:
    """Return the conditions to drill.

    Args:
        source: a shipped version or a conditions file; None takes all shipped ones, equal conditions once.
        condition: the name of the only condition; None takes all. Where it reads a store that it does not fill, the
            condition that fills one comes with it.

    Raises:
        ConfigError: the file cannot be read, or it has no such condition.
    """
    sources = get_args(ConditionsVersion) if source is None else (source,)
    cells: dict[Condition, DrillCell] = {}
    for version in sources:
        conditions = load_conditions(version)
        if condition is not None and source is None and condition not in (*conditions.conditions, *conditions.aliases):
            continue
        label = version if version in get_args(ConditionsVersion) else conditions.path.stem
        wanted = conditions.conditions if condition is None else {condition: conditions.resolve(condition)}
        chosen = [DrillCell(f"{label} {flags.name}", flags) for flags in wanted.values()]
        whole = [DrillCell(f"{label} {flags.name}", flags) for flags in conditions.conditions.values()]
        fillers = [filler for cell in chosen for filler in whole if cell.can_start_from(filler)]
        if condition is not None:
            chosen = fillers[:1] + chosen
        for cell in chosen:
            cells.setdefault(cell.condition, cell)
    if condition is not None and not cells:
        load_conditions(None).resolve(condition)
    return tuple(cells.values())
