"""The output of `compare --by`: one row per stratum, and the test over all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import ConsoleRenderable, Group
from rich.constrain import Constrain
from rich.text import Text

from episodic_absa.analysis.strata import SMALLEST_STRATUM, StratumRow
from episodic_absa.cli.output import PAGE_WIDTH, printable
from episodic_absa.cli.terminal_table import terminal_table
from episodic_absa.reports.data.strata import stratum_parts
from episodic_absa.vocabulary import StratumName

_SOURCES: Final[dict[StratumName, str]] = {
    "language": "language: of the review",
    "domain": "domain: domain_id of the review",
    "structure": "structure: cues in the text of the review",
    "risk": "risk: risks that the validator of B's Stage1 saw",
    "principle": "principle: principles that memory offered to the sample",
    "quarter": "quarter: place of the sample in the order of its cell; 1 is the first quarter",
}


@dataclass(frozen=True)
class ComparedStrata:
    """Everything that the page shows."""

    a: str
    b: str
    by: StratumName
    rows: Sequence[StratumRow]
    exploratory: tuple[str, ...]
    """Why the table is exploratory; empty if it was asked for before the first sample."""
    warnings: tuple[str, ...]

    @property
    def metric(self) -> str | None:
        """The metric of the table; None without rows."""
        return self.rows[0].metric if self.rows else None

    @property
    def interaction_p(self) -> float | None:
        """P of the test over the strata."""
        return self.rows[0].interaction_p if self.rows else None

    @property
    def is_overlapping(self) -> bool:
        """Whether a review may stand in several rows."""
        return any(row.overlapping for row in self.rows)


def strata_view(compared: ComparedStrata) -> ConsoleRenderable:
    """Lay out the test over the strata, warnings, the report's table, and how to read it."""
    parts = stratum_parts(compared.rows)
    sentence = "No sample has a value on both sides, so there is nothing to compare."
    if parts:
        start = f"{compared.metric}, {compared.a} minus {compared.b}, by {compared.by}"
        sentence = f"{start}: {parts[0].sentence.en}"
    head = [Text(printable(sentence), style="bold")]
    if compared.exploratory:
        head.append(Text(printable(f"exploratory: {'; '.join(compared.exploratory)}"), style="yellow"))
    head += [
        Text.assemble(("warning: ", "bold yellow"), (printable(warning), "yellow")) for warning in compared.warnings
    ]
    tables = [part for table in parts for part in (Text(), terminal_table(table.table), Text())]
    notes = [Text(printable(note), style="dim") for note in (_notes(compared) if parts else ())]
    return Group(Constrain(Group(*head), PAGE_WIDTH), *tables, Constrain(Group(*notes), PAGE_WIDTH))


def _notes(compared: ComparedStrata) -> Iterator[str]:
    yield (
        f"A = {compared.a}, B = {compared.b}. {_SOURCES[compared.by]}. Holm p: corrected for the strata of "
        "this table. Interaction: is the difference the same in every stratum? It flips the signs of the reviews' "
        "deviations from the common difference; where the order changes results, a t test over three or more orders "
        "must reject too."
    )
    if compared.is_overlapping:
        yield "A review may be in several strata: the rows are not independent, and their n add up to more than all."
    if any(row.is_small for row in compared.rows):
        yield f"Strata of fewer than {SMALLEST_STRATUM} reviews have no interval and no test."
