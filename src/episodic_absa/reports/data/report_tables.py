"""Builds the report's tables and panels from metrics and comparisons."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Final, get_args

from episodic_absa.analysis.cell_tables import cell_metrics
from episodic_absa.analysis.finished_run import FinishedRun
from episodic_absa.analysis.grid_tables import SeedRow, stability_of
from episodic_absa.metrics.definitions import BASELINE, definition_of
from episodic_absa.metrics.metric_value import MetricValue
from episodic_absa.metrics.per_sample.sample_values import MICRO_METRICS, sample_value
from episodic_absa.metrics.statistics import (
    ClaimLanguage,
    Comparison,
    McNemar,
    PairedDifference,
    claim_label,
    power_sentence,
)
from episodic_absa.metrics.statistics.bootstrap import bootstrap_intervals
from episodic_absa.reports.data.answer.verdict_words import answer_of, equivalence_words, numbers_of
from episodic_absa.reports.data.bilingual import Bilingual
from episodic_absa.reports.data.report_data import (
    ComparisonView,
    ConditionValue,
    Definition,
    DifferenceRow,
    McNemarView,
    MetricRow,
    MetricTable,
    PlotRow,
    QualityPanel,
    TableName,
)
from episodic_absa.reports.data.report_words import note_words
from episodic_absa.runs.reading.finished_cells import FinishedCell

PRIMARY: Final = "tuple_f1_explicit"
_PANELS: Final = (
    PRIMARY,
    "exact_match",
    "tuple_f1_overall",
    "tuple_f1_implicit",
    "tuple_f1_lenient",
    "tuple_f1_after_rep",
)
_FAMILIES: Final = ("override_skip_", "adopt_reason_", "injection_trigger_", "stage2_injection_trigger_")
_LANGUAGES: Final[tuple[ClaimLanguage, ...]] = ("en", "ko")
_TRIAL_NOTES: Final = ("the seeds are one trial", "the orders are one trial")
Intervals = Mapping[tuple[str, str], tuple[float, float] | None]
"""By condition and metric."""
Groups = Mapping[str, Sequence[FinishedCell]]
"""The cells of every condition."""


def seed_rows(run: FinishedRun) -> tuple[SeedRow, ...]:
    """Return every metric of every condition; a page of a cell that builds a store shows that cell's metrics."""
    return run.rows if run.by_condition else tuple(_of_one_cell(run.cells[0]))


def quality_intervals(groups: Groups) -> Intervals:
    """Return the interval over reviews of every quality metric that has a value per review."""
    keys: list[tuple[str, str]] = []
    samples: list[list[float]] = []
    for condition, cells in groups.items():
        for metric in _PANELS:
            values: dict[str, list[float]] = {}
            for cell in cells:
                for card in cell.cards:
                    value = sample_value(metric, card, count_backfilled=cell.count_backfilled)
                    if value is not None:
                        values.setdefault(card.uid, []).append(value)
            keys.append((condition, metric))
            samples.append([fmean(values[uid]) for uid in sorted(values)])
    # All at once: samples of equal size share their draws.
    return dict(zip(keys, bootstrap_intervals(samples), strict=True))


def metric_tables(rows: Sequence[SeedRow], conditions: Sequence[str], intervals: Intervals) -> tuple[MetricTable, ...]:
    """Return the metrics by question; families over a vocabulary are listed apart."""
    by_name: dict[tuple[str, str], SeedRow] = {(row.condition, row.metric): row for row in rows}
    names = dict.fromkeys((row.group, row.metric) for row in rows if row.condition != BASELINE)
    tables: dict[str, list[MetricRow]] = {}
    for group, metric in names:
        tables.setdefault(group, []).append(_metric_row(metric, conditions, by_name, intervals))
    # RQ1 also shows residual risk, marked process.
    residual = [row for row in tables.get("rq3", ()) if row.metric.endswith("residual_risk_rate")]
    tables["rq1"] = [*tables.get("rq1", ()), *residual]
    return tuple(
        MetricTable(
            name=name,
            rows=tuple(row for row in tables[name] if not row.metric.startswith(_FAMILIES)),
            counts=tuple(row for row in tables[name] if row.metric.startswith(_FAMILIES)),
            note=_trial_note(rows) if name == "rq2" else None,
        )
        for name in get_args(TableName)
        if tables.get(name)
    )


def quality_panels(tables: Sequence[MetricTable], conditions: Sequence[tuple[str, int]]) -> tuple[QualityPanel, ...]:
    """Return the panels of quality metrics that have a value per review, with the baseline."""
    rows = {row.metric: row for table in tables if table.name == "quality" for row in table.rows}
    panels = []
    for metric in _PANELS:
        row = rows.get(metric)
        if row is None or all(cell.value is None for cell in row.values):
            continue
        before = rows.get(f"{metric}_s1")
        points = [
            PlotRow(
                label=name,
                colour=colour,
                value=value.value,
                low=value.low,
                high=value.high,
                before=before.values[place].value if before else None,
            )
            for place, ((name, colour), value) in enumerate(zip(conditions, row.values, strict=True))
        ]
        base = row.baseline.value if row.baseline else None
        points.append(PlotRow(label="baseline", colour=None, value=base))
        panels.append(QualityPanel(metric=metric, rows=tuple(points), baseline=base))
    return tuple(panels)


def comparison_view(
    comparison: Comparison, exploratory: Bilingual | None = None, *, is_added: bool = False
) -> ComparisonView:
    """Return a comparison as sentences and rows, with its mark if it is exploratory."""
    primary = comparison.primary
    return ComparisonView(
        a=comparison.a,
        b=comparison.b,
        exploratory=exploratory,
        is_added=is_added,
        answer=answer_of(comparison),
        orders_n=primary.orders_n,
        method=primary.method,
        sentence=numbers_of(primary),
        power=Bilingual(en=power_sentence(primary, "en"), ko=power_sentence(primary, "ko")),
        unpaired_a=max(row.unpaired_a for row in comparison.metrics),
        unpaired_b=max(row.unpaired_b for row in comparison.metrics),
        rows=tuple(_difference_row(row, comparison.a) for row in comparison.metrics),
        mcnemar=_mcnemar_view(comparison.mcnemar),
    )


def definitions_of(metrics: Iterable[str]) -> tuple[Definition, ...]:
    """Return the definition of every metric once, in the order of its first use."""
    known = [definition_of(metric) for metric in dict.fromkeys(metrics)]
    return tuple(
        Definition(
            metric=definition.metric,
            kind=definition.kind,
            text=Bilingual(en=definition.definition, ko=definition.definition_ko),
        )
        for definition in known
    )


def _trial_note(rows: Sequence[SeedRow]) -> Bilingual | None:
    """Return one sentence that names the conditions without trials to compare, and why."""
    why: dict[str, list[str]] = {}
    for row in rows:
        if row.group == "rq2" and row.mean is None and row.note and row.condition not in why.get(row.note, ()):
            why.setdefault(row.note, []).append(row.condition)
    if not why:
        return None
    reasons = [(", ".join(conditions), note_words(note)) for note, conditions in why.items()]
    return Bilingual(
        en=f"No value for {'; '.join(f'{names}: {note.en}' for names, note in reasons)}.",
        ko=f"값이 없는 조건: {'; '.join(f'{names}: {note.ko}' for names, note in reasons)}.",
    )


def _of_one_cell(cell: FinishedCell) -> Iterator[SeedRow]:
    for value in (*cell_metrics(cell), *stability_of([cell]).metrics):
        if value.metric == BASELINE:
            continue
        is_baseline = value.group == "baseline"
        yield _single(BASELINE if is_baseline else cell.condition, value, value.metric.removeprefix(f"{BASELINE}_"))


def _single(condition: str, value: MetricValue, metric: str) -> SeedRow:
    known = (condition, metric, value.group, value.kind, value.value, None, 1, (value.value,))
    return SeedRow(*known, value.numerator, value.denominator, value.note)


def _metric_row(
    metric: str, conditions: Sequence[str], by_name: Mapping[tuple[str, str], SeedRow], intervals: Intervals
) -> MetricRow:
    definition = definition_of(metric)
    rows = [by_name[condition, metric] for condition in conditions]
    # A note about some conditions would read as true of all; notes about orders and seeds stand on the first screen.
    notes = [[part for part in row.note.split("; ") if part and not part.startswith(_TRIAL_NOTES)] for row in rows]
    shared = [part for part in notes[0] if all(part in others for others in notes)]
    baseline = by_name.get((BASELINE, metric))
    return MetricRow(
        metric=metric,
        kind=definition.kind,
        better=definition.better,
        note=_joined_notes(shared),
        values=tuple(_value(row, intervals.get((row.condition, metric))) for row in rows),
        baseline=_value(baseline, None) if baseline else None,
    )


def _joined_notes(notes: Sequence[str]) -> Bilingual | None:
    if not notes:
        return None
    words = [note_words(note) for note in notes]
    return Bilingual(en="; ".join(note.en for note in words), ko="; ".join(note.ko for note in words))


def _value(row: SeedRow, interval: tuple[float, float] | None) -> ConditionValue:
    low, high = interval or (None, None)
    return ConditionValue(
        value=row.mean,
        sd=row.sd if row.sd_orders is None else row.sd_orders,
        numerator=row.numerator,
        denominator=row.denominator,
        low=low,
        high=high,
    )


def _difference_row(row: PairedDifference, name_a: str) -> DifferenceRow:
    shared = {name: getattr(row, name) for name in DifferenceRow.model_fields if name not in ("words", "is_micro")}
    # The table shows kind and lack of variation elsewhere.
    if row.claim == "none":
        words = equivalence_words(row) or Bilingual(en="", ko="")
    else:
        en, ko = (claim_label(row, language).replace("A ", f"{name_a} ", 1) for language in _LANGUAGES)
        words = Bilingual(en=en, ko=ko)
    return DifferenceRow(**shared, is_micro=row.metric in MICRO_METRICS, words=words)


def _mcnemar_view(test: McNemar | None) -> McNemarView | None:
    if test is None:
        return None
    return McNemarView(**{name: getattr(test, name) for name in McNemarView.model_fields})
