"""Everything a report page shows, as frozen values. Builders read files; renderers do not."""

import re
from typing import Final, Literal

from episodic_absa.reports.data.answer.arm_views import ArmsView
from episodic_absa.reports.data.answer.stratum_views import EffectTable, StratumTable
from episodic_absa.reports.data.bilingual import Bilingual
from episodic_absa.reports.data.certificate_view import CertificateView
from episodic_absa.reports.data.quality_views import QualityViews
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.vocabulary import Effort, Rules

_COUNT_NAME: Final = re.compile(r"_(n|count)(_s1)?$")
MetricKind = Literal["outcome", "process", "efficiency"]
TableName = Literal["quality", "rq1", "rq2", "rq3", "memory", "impact", "efficiency"]


class RunFacts(FrozenModel):
    """The run as its manifests describe it. No clock, no host, no path of a machine."""

    run_id: str
    purpose: str
    package_version: str
    config_name: str
    backbone: str
    is_embedded_engine: bool
    """Whether the answers come from the weights that this package ships, not from a language model."""
    temperature: float | None
    split: str
    reviews: int
    """Distinct reviews, failed ones included."""
    languages: tuple[tuple[str, int], ...]
    domains: tuple[tuple[str, int], ...]
    with_gold: int
    """Reviews that carry gold."""
    gold_configured: bool
    orders: tuple[int, ...] = ()
    """Ascending; empty if all reviews are in the order of the file or the seed sets the order."""
    seeds: tuple[int, ...]
    """Ascending."""
    shuffled: bool
    """Whether a seed decides the order of reviews."""
    seed_supported: bool | None
    answers_shared: bool | None
    majority: Bilingual | None
    """`negative (evaluation gold)`; None where no gold gives one."""


class CellState(FrozenModel):
    """One condition with one order and one seed: how far it came."""

    name: str
    condition: str
    order: int = 0
    seed: int
    is_build: bool
    completed: bool
    expected: int | None
    """None where the manifest cannot be read."""
    done: int
    failed: int
    problem: Bilingual | None = None


class ConditionCard(FrozenModel):
    """A condition by its flags, with its main figures."""

    name: str
    colour: int
    """Place in the palette; the baseline has none."""
    memory_mode: str
    reads: bool
    shows: bool
    writes: bool
    rules: Rules
    effort: Effort
    votes: int
    orders: tuple[int, ...] = ()
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


class ConditionValue(FrozenModel):
    """One metric in one condition, over its orders and seeds."""

    value: float | None
    sd: float | None = None
    """Sample standard deviation over orders, over seeds in a run of one order; None with one of them."""
    numerator: float | None = None
    denominator: float | None = None
    """Sums over orders and seeds."""
    low: float | None = None
    high: float | None = None
    """95 % interval over reviews, where the metric has a value per review."""


class MetricRow(FrozenModel):
    """One metric across the conditions, in the order of the cards."""

    metric: str
    kind: MetricKind
    better: Literal["higher", "lower", ""]
    note: Bilingual | None = None
    values: tuple[ConditionValue, ...]
    baseline: ConditionValue | None = None
    """The majority baseline, for quality metrics."""

    @property
    def is_count(self) -> bool:
        """Whether the values are counts or amounts, not rates."""
        return self.kind == "efficiency" or self.metric.startswith("n_") or bool(_COUNT_NAME.search(self.metric))


class MetricTable(FrozenModel):
    """The metrics of one question."""

    name: TableName
    rows: tuple[MetricRow, ...]
    counts: tuple[MetricRow, ...] = ()
    """Families over a closed vocabulary, such as adopt_reason_<X>_n; shown apart."""
    note: Bilingual | None = None


class Definition(FrozenModel):
    """What a metric means, in one sentence per language."""

    metric: str
    kind: MetricKind
    text: Bilingual


class PlotRow(FrozenModel):
    """One point with whiskers."""

    label: str
    colour: int | None
    value: float | None
    low: float | None = None
    high: float | None = None
    before: float | None = None
    """The same metric over Stage1."""


class QualityPanel(FrozenModel):
    """One quality metric by condition."""

    metric: str
    rows: tuple[PlotRow, ...]
    baseline: float | None


class DifferenceRow(FrozenModel):
    """One metric of a paired comparison, A minus B."""

    metric: str
    kind: MetricKind
    n_uids: int
    n_pairs: int
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    p_holm: float | None
    p_orders: float | None
    """t over orders; None below three orders, and where the order changes nothing."""
    p_exact: bool
    dz: float | None
    variation: bool
    detectable: float | None
    is_micro: bool
    """Whether the value is a ratio of sums; else it is a mean per review."""
    is_primary: bool
    words: Bilingual
    """The claim that the interval supports."""


class McNemarView(FrozenModel):
    """Reviews that exactly one of the two conditions answered right."""

    a_only: int
    b_only: int
    ties_dropped: int
    p_value: float | None
    p_holm: float | None
    odds_ratio: float | None


class ComparisonView(FrozenModel):
    """Two conditions, review by review."""

    a: str
    b: str
    exploratory: Bilingual | None = None
    """Why the comparison is exploratory; None if it was asked before the first sample."""
    is_added: bool = False
    """Whether its pair, an order or a seed was not asked for: the same pair may then stand on the page as asked."""
    answer: Bilingual
    """What the comparison says about the primary metric, in one plain sentence."""
    sentence: Bilingual
    """The tests of the primary metric."""
    power: Bilingual
    orders_n: int
    method: Literal["percentile", "studentised", "crossed", "equal"]
    """How the interval of the primary metric was made."""
    unpaired_a: int
    unpaired_b: int
    rows: tuple[DifferenceRow, ...]
    mcnemar: McNemarView | None

    @property
    def name(self) -> str:
        """A name that no other comparison of the page has: a pair is compared again where something was added."""
        return f"comparison_{self.a}_minus_{self.b}{'_exploratory' if self.is_added else ''}"


class GrowthLine(FrozenModel):
    """One figure along the run, window by window."""

    condition: str
    colour: int
    order: int | None = None
    """None where `RunFacts.orders` is empty."""
    seed: int
    points: tuple[tuple[int, float], ...]
    """(last sample of the window, value); windows without a value are left out."""


class GrowthPanel(FrozenModel):
    """One figure of every condition along the run."""

    title: Bilingual
    is_rate: bool
    lines: tuple[GrowthLine, ...]


class CountBar(FrozenModel):
    """A count out of a whole."""

    label: str | Bilingual
    count: int
    total: int


class MemoryFlow(FrozenModel):
    """How far memory came in one condition, in samples."""

    condition: str
    colour: int
    steps: tuple[CountBar, ...]
    debate_gate: tuple[CountBar, ...]
    stage2_gate: tuple[CountBar, ...]
    blocked_episodes: int
    blocked_advisories: int
    demoted_advisories: int
    firewall_dropped: int

    @property
    def withheld(self) -> int:
        """Samples whose memory was kept back."""
        return self.blocked_episodes + self.blocked_advisories + self.demoted_advisories + self.firewall_dropped


class PrincipleUse(FrozenModel):
    """A principle of the catalogue and how often its advice was retrieved and shown."""

    principle_id: str
    advisory_type: str
    message: Bilingual
    """In a language in which no review retrieved it, the advice stands in the other one."""
    retrieved: tuple[int, ...]
    """Samples, per condition."""
    injected: tuple[int, ...]


class ImpactRow(FrozenModel):
    """Samples whose advice was followed beside those where it was not. Descriptive, not causal."""

    condition: str
    followed: int
    ignored: int
    follow_rate: float | None
    delta_followed: float | None
    delta_ignored: float | None
    harm_followed: float | None
    harm_ignored: float | None


class LatencyRow(FrozenModel):
    """How long the calls of one sample took together, in milliseconds, without waiting."""

    condition: str
    colour: int
    samples: int
    quantiles: tuple[float, float, float, float, float]
    """5, 25, 50, 75, 95 %."""
    calls: int
    cached_calls: int


class CheckRow(FrozenModel):
    """One check of `verify` over the cells that have it."""

    check: str
    results: tuple[Literal["pass", "fail", "not_applicable", ""], ...]
    details: tuple[str, ...]
    """Of failures, each with its cell; without review text."""


class Integrity(FrozenModel):
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


class IndexRow(FrozenModel):
    """The flags by which the explorer filters one sample of one cell."""

    failed: bool = False
    changed: bool = False
    fixed: bool = False
    broken: bool = False
    retrieved: bool = False
    injected: bool = False
    blocked: bool = False
    right: bool = False
    has_gold: bool = False
    missed: bool = False
    spurious: bool = False
    boundary: bool = False
    polarity: bool = False
    """The last four: whether a pair of the sample falls into this class of the error taxonomy."""
    answer: str = ""
    """Equal final pairs have equal strings."""


class CellSample(FrozenModel):
    """One review in one cell: its filter flags, and its details as JSON texts that equal samples share."""

    index: IndexRow
    analysis: str
    memory: str
    cost: tuple[int, int, int, float | None, float | None]
    """Calls, tokens in, tokens out, milliseconds without waiting, milliseconds of waiting."""


class ReviewEntry(FrozenModel):
    """One review in every cell."""

    uid: str
    text: str
    """Empty without text."""
    language: str
    domain: str
    case_type: str
    gold: str
    """JSON list of gold tuples, `null` without gold."""
    cells: tuple[CellSample | None, ...]
    """In the order of the explorer's cells; None where a cell lacks the review."""


class ExplorerCell(FrozenModel):
    """A cell that the explorer can show."""

    condition: str
    seed: int
    order: int = 0
    """0 in all cells where `RunFacts.orders` is empty."""


class Explorer(FrozenModel):
    """All samples, and the conditions that the explorer opens with."""

    cells: tuple[ExplorerCell, ...]
    reviews: tuple[ReviewEntry, ...]
    first: tuple[str, str]
    """The condition shown, and the condition beside it (empty: none)."""


class ReportData(FrozenModel):
    """One page."""

    scope: Literal["grid", "cell"]
    title: str
    facts: RunFacts
    mark: Bilingual | None = None
    """Why the headline is exploratory; None if its comparison was asked before the first sample."""
    headline: Bilingual
    failure: Bilingual | None = None
    """Stands before everything else if more than half of the samples of a cell failed."""
    power: Bilingual | None
    arms: ArmsView | None = None
    """None on the page of a cell, without gold, and with a single condition."""
    notes: tuple[Bilingual, ...]
    """What a reader must know before the figures: unfinished cells, failures, no gold, ignored seeds."""
    cells: tuple[CellState, ...]
    conditions: tuple[ConditionCard, ...]
    panels: tuple[QualityPanel, ...]
    views: QualityViews
    tables: tuple[MetricTable, ...]
    definitions: tuple[Definition, ...]
    comparisons: tuple[ComparisonView, ...]
    strata: tuple[StratumTable, ...] = ()
    effects: tuple[EffectTable, ...] = ()
    """The effect of each principle, where a condition withholds advice at random."""
    growth: tuple[GrowthPanel, ...]
    flows: tuple[MemoryFlow, ...]
    principles: tuple[PrincipleUse, ...]
    impact: tuple[ImpactRow, ...]
    latency: tuple[LatencyRow, ...]
    integrity: Integrity
    certificate: CertificateView | None = None
    """The leakage certificate, if `verify --certificate` made one for this directory."""
    explorer: Explorer
    with_text: bool
