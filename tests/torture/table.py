"""What a family of trials came to: one row each, and the table that `make torture` prints."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True)
class Row:
    """The outcome of many trials of one kind."""

    name: str
    trials: int
    """How many kills, faults, damages or rounds there were."""
    lost: int = 0
    """Acknowledged episodes, answers or samples that were gone afterwards."""
    torn: int = 0
    """Trials after which something half-written or damaged was taken for whole."""
    differing: int = 0
    """Trials after which the finished files differ from those of an undisturbed run."""
    note: str = ""
    """What was tried, or what failed first."""

    @property
    def passed(self) -> bool:
        """Whether nothing was lost, torn or different; a row without a trial proves nothing and fails."""
        return self.trials > 0 and not (self.lost or self.torn or self.differing)

    @property
    def verdict(self) -> str:
        """The words that the row ends with."""
        resumed = f"{self.differing:,} resumed differently" if self.differing else "resumed byte-identical"
        return f"{self.lost:,} acknowledged lost, {self.torn:,} torn, {resumed}"


class Tally:
    """Counts the trials of one row while they run."""

    def __init__(self, name: str, note: str = "") -> None:
        self._name, self._note = name, note
        self._problems: list[str] = []
        self.trials = self.lost = self.torn = self.differing = 0

    def problem(self, words: str) -> None:
        """Keep the first problems for the note."""
        self._problems.append(words)

    def count(self, *, lost: int = 0, torn: bool = False, differing: bool = False, words: str = "") -> None:
        """Count one trial; `words` say what failed, if something did."""
        self.trials += 1
        self.lost += lost
        self.torn += torn
        self.differing += differing
        if lost or torn or differing:
            self.problem(words)

    def row(self) -> Row:
        """Return the row."""
        note = f"FAILED: {'; '.join(self._problems[:3])}" if self._problems else self._note
        return Row(self._name, self.trials, self.lost, self.torn, self.differing, note)


def print_table(rows: Sequence[tuple[str, Row]], out: TextIO | None = None) -> None:
    """Print the rows of all families, each with its trials and its verdict, and the sum."""
    out = out or sys.stdout
    width = max((len(row.name) for _, row in rows), default=0)
    family = ""
    for name, row in rows:
        if name != family:
            family = name
            out.write(f"\n{family}\n")
        mark = "  " if row.passed else "! "
        out.write(f"{mark}{row.name:<{width}}  {row.trials:>9,} trials  {row.verdict}\n")
        if row.note:
            out.write(f"    {row.note}\n")
    failed = sum(not row.passed for _, row in rows)
    trials = sum(row.trials for _, row in rows)
    out.write(f"\n{trials:,} trials in {len(rows)} rows; {failed} rows failed\n")
