"""What a report page shows, as frozen values. Builders read files; renderers do not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from episodic_absa.metrics.definitions import MetricDefinition
from episodic_absa.metrics.per_sample.pair_errors import PAIR_ERRORS
from episodic_absa.metrics.statistics import PairedDifference, Verdict
from episodic_absa.reports.bilingual import Bilingual
from episodic_absa.reports.data.certificate_words import CertificateWords
from episodic_absa.reports.data.comparisons import ComparisonPart
from episodic_absa.reports.plots.figure import Figure
from episodic_absa.reports.plots.forest_plot import Forest
from episodic_absa.reports.plots.latency_plot import LatencyRow
from episodic_absa.reports.tables.table import Table
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.vocabulary import Effort, Rules

SAMPLE_FLAGS: Final = (
    *("failed", "changed", "fixed", "broken", "retrieved", "injected", "blocked", "right", "has_gold"),
    *PAIR_ERRORS,
)
"""What the explorer filters samples by; of errors, whether a pair of the sample falls into the class."""


class RunFacts(NamedTuple):
    """The run as its manifests describe it. A page shows no clock, no host and no path of a machine."""

    manifest: Manifest
    """Of the first cell."""
    reviews: int
    """Distinct reviews, failed ones included."""
    languages: tuple[tuple[str, int], ...]
    with_gold: int
    """Reviews that carry gold."""
    majority: Bilingual | None
    """`negative (evaluation gold)`; None where no gold gives one."""
    orders: tuple[int, ...]
    """Ascending; empty if all reviews are in the order of the file or the seed sets the order."""
    seeds: tuple[int, ...]
    """Ascending."""

    @property
    def is_embedded_engine(self) -> bool:
        """Whether the answers come from the weights that this package ships, not from a language model."""
        return self.manifest.weights_sha256 is not None


class CellState(NamedTuple):
    """One condition with one order and one seed: how far it came."""

    name: str
    completed: bool = False
    expected: int | None = None
    """None where there is no manifest."""
    done: int = 0
    failed: int = 0


class ConditionCard(NamedTuple):
    """A condition by its flags, with its main figures."""

    name: str
    colour: int
    """Place in the palette; the baseline has none."""
    reads: bool
    shows: bool
    writes: bool
    rules: Rules
    effort: Effort
    votes: int
    orders: tuple[int, ...]
    """Empty where `RunFacts.orders` is empty."""
    seeds: tuple[int, ...]
    samples: int
    failed: int
    changed: int
    injected: int
    score: float | None
    low: float | None
    high: float | None
    scored: int
    """The n of `score`: successful reviews with explicit gold."""
    exact_match: float | None


class Arm(NamedTuple):
    """The paired difference of one arm minus the baseline."""

    condition: str
    colour: int
    is_asked: bool
    """Whether this is the pair of the first sentence."""
    exploratory: bool
    """Whether the comparison was not fixed before the first sample."""
    paired: PairedDifference
    verdict: Verdict


class Arms(NamedTuple):
    """All arms of a grid against one baseline."""

    baseline: str
    metric: str
    smallest_effect: float
    """Differences up to this size are of no interest."""
    rows: tuple[Arm, ...]
    """The asked pair first."""


class DifferencePart(NamedTuple):
    """The strata of one pair, or the principles of one condition: a table and a picture below a sentence."""

    table: Table
    forest: Forest
    metric: str
    sentence: Bilingual
    exploratory: bool
    """Whether it was not asked for before the first sample."""
    title: Bilingual = Bilingual("", "")
    pair: str = ""
    """The compared conditions of strata."""

    @property
    def overlapping(self) -> bool:
        """Whether a review may be in several strata."""
        return any(row.overlapping for row in self.table.rows)


class CheckRow(NamedTuple):
    """One check of `verify` over the cells that have it."""

    check: str
    results: tuple[Literal["pass", "fail", "not_applicable", ""], ...]
    details: tuple[str, ...]
    """Of failures, each with its cell; without review text."""


class Integrity(NamedTuple):
    """The results of `verify`, if it was run."""

    verified: bool
    columns: tuple[str, ...] = ()
    rows: tuple[CheckRow, ...] = ()
    passed: int = 0
    failed: int = 0
    not_applicable: int = 0
    unverified: tuple[str, ...] = ()
    """Cells without integrity.json."""
    changed: tuple[str, ...] = ()
    """Cells whose files changed since they were checked."""


class ReviewFacts(NamedTuple):
    """The facts of a review, which are the same in every cell."""

    text: str
    """Empty without text."""
    language: str
    domain: str
    case_type: str
    gold: str
    """JSON list of gold tuples, `null` without gold."""


class CellSample(NamedTuple):
    """One review in one cell: what the explorer filters by, and its details as JSON texts that equal samples share."""

    flags: frozenset[str]
    """Of `SAMPLE_FLAGS`."""
    answer: str
    """Equal final pairs have equal strings."""
    analysis: str
    memory: str
    cost: tuple[int, int, int, float | None, float | None]
    """Calls, tokens in, tokens out, milliseconds without waiting, milliseconds of waiting."""


class ReviewEntry(NamedTuple):
    """One review in every cell."""

    uid: str
    facts: ReviewFacts
    cells: tuple[CellSample | None, ...]
    """In the order of the explorer's cells; None where a cell lacks the review."""


class ExplorerCell(NamedTuple):
    """A cell that the explorer can show."""

    condition: str
    seed: int
    order: int = 0
    """0 in all cells where `RunFacts.orders` is empty."""


class Explorer(NamedTuple):
    """All samples, and the conditions that the explorer opens with."""

    cells: tuple[ExplorerCell, ...]
    reviews: tuple[ReviewEntry, ...]
    first: tuple[str, str]
    """The condition shown, and the condition beside it (empty: none)."""


@dataclass(frozen=True)
class ReportData:
    """One page."""

    scope: Literal["grid", "cell"]
    title: str
    facts: RunFacts
    headline: Bilingual
    power: Bilingual | None
    failure: Bilingual | None
    """Stands before everything else if more than half of the samples of a cell failed."""
    notes: tuple[Bilingual, ...]
    """What a reader must know before the figures: unfinished cells, failures, no gold, ignored seeds."""
    cells: tuple[CellState, ...]
    conditions: tuple[ConditionCard, ...]
    tables: Mapping[str, Table]
    """Every table of the page by its name."""
    figures: Mapping[str, Figure]
    definitions: tuple[MetricDefinition, ...]
    arms: Arms | None
    """None on the page of a cell, without gold, and with a single condition."""
    comparisons: tuple[ComparisonPart, ...]
    strata: tuple[DifferencePart, ...]
    effects: tuple[DifferencePart, ...]
    """The effect of each principle, where a condition withholds advice at random."""
    latency: tuple[LatencyRow, ...]
    integrity: Integrity
    certificate: CertificateWords | None
    """Of the leakage certificate, if `verify --certificate` made one for this directory."""
    explorer: Explorer
    with_text: bool

    @property
    def mark(self) -> Bilingual | None:
        """Why the headline is exploratory; None if its comparison was asked before the first sample."""
        return self.comparisons[0].exploratory if self.comparisons else None
