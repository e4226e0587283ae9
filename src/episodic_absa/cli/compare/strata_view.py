"""The output of `compare --by`: one row per stratum, and the test over all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from rich import box
from rich.console import ConsoleRenderable, Group
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from episodic_absa.analysis.strata import FEWEST_CLAIMED, SMALLEST_STRATUM, StratumRow, interaction_word
from episodic_absa.cli.output import PAGE_WIDTH, FirstThatFits, printable
from episodic_absa.metrics.statistics import NO_VARIATION
from episodic_absa.metrics.statistics.number_text import interval_text, p_equals, p_text, plain, signed
from episodic_absa.metrics.statistics.power import FEWEST_ORDERS
from episodic_absa.vocabulary import StratumName

_LAYOUTS: Final = (
    ("n", "a", "b", "difference", "interval", "p", "holm"),
    ("n", "difference", "interval", "p", "holm"),
    ("n", "difference", "interval", "p"),
    ("n", "difference", "interval"),
    ("n", "difference"),
)
"""The columns of a wide terminal and of narrower ones."""
_TITLES: Final = {
    "n": "n",
    "a": "A",
    "b": "B",
    "difference": "A - B",
    "interval": "95 % CI",
    "p": "p",
    "holm": "Holm p",
}
_NOTHING: Final = "-"
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
    """Lay out the test over the strata, warnings, the table, and how to read it."""
    head = [Text(printable(_interaction_sentence(compared)), style="bold")]
    if compared.exploratory:
        head.append(Text(printable(f"exploratory: {'; '.join(compared.exploratory)}"), style="yellow"))
    head += [
        Text.assemble(("warning: ", "bold yellow"), (printable(warning), "yellow")) for warning in compared.warnings
    ]
    if not compared.rows:
        return Constrain(Group(*head), PAGE_WIDTH)
    table = FirstThatFits(*(partial(_table, compared, columns) for columns in _LAYOUTS))
    notes = [Text(printable(note), style="dim") for note in _notes(compared)]
    return Group(Constrain(Group(*head), PAGE_WIDTH), Text(), table, Text(), Constrain(Group(*notes), PAGE_WIDTH))


def _interaction_sentence(compared: ComparedStrata) -> str:
    if not compared.rows:
        return "No sample has a value on both sides, so there is nothing to compare."
    start = f"{compared.metric}, {compared.a} minus {compared.b}, by {compared.by}"
    word, p_value = interaction_word(compared.rows), compared.interaction_p
    if word == "too_few":
        return f"{start}: fewer than two strata have {SMALLEST_STRATUM} reviews, so they cannot be tested."
    if p_value is None:
        return f"{start}: {NO_VARIATION['en']}."
    test = f"interaction {p_equals(p_value)} over {sum(not row.is_small for row in compared.rows)} strata"
    if word == "small_stratum":
        return f"{start}: {test}; no claim, because a stratum has fewer than {FEWEST_CLAIMED} reviews."
    if word == "few_orders":
        return f"{start}: {test}; no claim, because the order changes results and a claim needs {FEWEST_ORDERS} orders."
    if word == "differs":
        return f"{start}: the difference is not the same in every stratum, {test}."
    return f"{start}: the data are consistent with one difference in all strata, {test}."


def _table(compared: ComparedStrata, columns: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold cyan")
    table.add_column(compared.by, no_wrap=True)
    for column in columns:
        table.add_column(_TITLES[column], justify="right", no_wrap=True)
    for row in compared.rows:
        cells = _cells(row)
        table.add_row(Text(printable(row.stratum)), *(cells[column] for column in columns))
    return table


def _cells(row: StratumRow) -> dict[str, Text]:
    if row.ci_low is None or row.ci_high is None:
        interval = Text("too few" if row.is_small else NO_VARIATION["en"], style="dim")
    else:
        interval = Text(interval_text(row.ci_low, row.ci_high))
    return {
        "n": Text(f"{row.n_uids:,}"),
        "a": Text(_NOTHING if row.mean_a is None else plain(row.mean_a)),
        "b": Text(_NOTHING if row.mean_b is None else plain(row.mean_b)),
        "difference": Text(_NOTHING if row.difference is None else signed(row.difference)),
        "interval": interval,
        "p": Text(_NOTHING if row.p_value is None else p_text(row.p_value)),
        "holm": Text(_NOTHING if row.p_holm is None else p_text(row.p_holm)),
    }


def _notes(compared: ComparedStrata) -> Iterator[str]:
    yield (
        f"A = {compared.a}, B = {compared.b}. {_SOURCES[compared.by]}. n: reviews. Holm p: corrected for the strata of "
        "this table. Interaction: is the difference the same in every stratum? It flips the signs of the reviews' "
        "deviations from the common difference; where the order changes results, a t test over three or more orders "
        "must reject too."
    )
    if compared.is_overlapping:
        yield "A review may be in several strata: the rows are not independent, and their n add up to more than all."
    if any(row.is_small for row in compared.rows):
        yield f"Strata of fewer than {SMALLEST_STRATUM} reviews have no interval and no test."
