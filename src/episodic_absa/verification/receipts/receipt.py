"""A receipt: one figure, the places in tables where it stands, and the lines of scorecards.jsonl that give it."""

from pydantic import computed_field

from episodic_absa.schemas.frozen_model import Count, FrozenModel
from episodic_absa.serialization.csv_text import number_text

_ROUNDED: float = 0.5000001e-6
"""A table has 6 decimals: a number that rounds to the written one is equal to it."""


class TableNumber(FrozenModel):
    """One number of a table, and the same number computed from the lines."""

    table: str
    """The file, relative to the run directory."""
    line: int | None
    """None if the table is not written or has no such row."""
    column: str
    written: str | None
    """What the table holds; empty for a number without a value; None if the table has no such row."""
    recomputed: float | None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def agrees(self) -> bool | None:
        """Whether the table holds the recomputed number; None if there is no table to compare with."""
        if self.written is None:
            return None
        if self.recomputed is None or not self.written:
            return not self.written and self.recomputed is None
        try:
            return abs(float(self.written) - self.recomputed) <= _ROUNDED
        except ValueError:
            return False

    @property
    def place(self) -> str:
        """The file with its line."""
        return f"{self.table}:{self.line}" if self.line else self.table

    @property
    def recomputed_text(self) -> str:
        """The recomputed number as tables write it; "no value" without one."""
        return number_text(self.recomputed) or "no value"


class Contribution(FrozenModel):
    """What one sample adds to a figure, and the lines where that stands."""

    uid: str
    places: tuple[str, ...]
    """file:line, relative to the run directory: one line, or one per seed where seeds are compared with each other."""
    numerator: float | None
    denominator: float | None = None
    """None for a plain count."""


class PairedContribution(FrozenModel):
    """One sample under both conditions of a comparison."""

    uid: str
    order: int
    seed: int
    a: Contribution
    b: Contribution

    @computed_field  # type: ignore[prop-decorator]
    @property
    def difference(self) -> float | None:
        """The value under A minus that under B; None for counts that enter a ratio of sums."""
        if self.a.denominator != 1 or self.b.denominator != 1:
            return None
        return (self.a.numerator or 0.0) - (self.b.numerator or 0.0)


class Receipt(FrozenModel):
    """Where one figure comes from: a metric of a cell, of a condition, or of two compared conditions."""

    name: str
    """The cell, the condition, or "A minus B"."""
    numbers: tuple[TableNumber, ...]
    """The figure itself first, then the numbers between it and the lines."""
    rule: str
    """How the figure follows from the lines."""
    line_n: Count
    """Samples that are part of the figure."""
    lines: tuple[Contribution, ...] = ()
    pairs: tuple[PairedContribution, ...] = ()

    def shortened(self, shown_n: int) -> "Receipt":
        """Return the receipt with its first lines only; `line_n` still counts all."""
        return self.model_copy(update={"lines": self.lines[:shown_n], "pairs": self.pairs[:shown_n]})


class Explanation(FrozenModel):
    """All receipts of one metric in a run directory."""

    metric: str
    definition: str
    receipts: tuple[Receipt, ...]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def agrees(self) -> bool:
        """Whether no table holds another number than its lines give."""
        return all(number.agrees is not False for receipt in self.receipts for number in receipt.numbers)

    def shortened(self, shown_n: int) -> "Explanation":
        """Return the same with the first lines of each receipt."""
        receipts = tuple(receipt.shortened(shown_n) for receipt in self.receipts)
        return self.model_copy(update={"receipts": receipts})
