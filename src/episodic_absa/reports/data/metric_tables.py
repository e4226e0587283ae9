"""The metrics of every condition as tables and panels, and what each metric means."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Final, NamedTuple

from episodic_absa.analysis.finished_run import FinishedRun
from episodic_absa.analysis.grid_tables import SeedRow, stability_of
from episodic_absa.metrics.definitions import BASELINE, MetricDefinition, definition_of
from episodic_absa.metrics.metric_value import MetricValue
from episodic_absa.metrics.per_sample.sample_values import sample_value
from episodic_absa.metrics.statistics.bootstrap import bootstrap_intervals
from episodic_absa.reports.bilingual import Bilingual
from episodic_absa.reports.data.report_words import note_words
from episodic_absa.reports.plots.figure import Figure
from episodic_absa.reports.plots.interval_plot import PlotRow, QualityPanel, interval_plot
from episodic_absa.reports.tables.table import Column, MetricCell, MetricName, Table, column, file_stem
from episodic_absa.runs.reading.finished_cells import FinishedCell

PRIMARY: Final = "tuple_f1_explicit"
TITLES: Final = {
    "quality": Bilingual("Quality metrics", "품질 지표"),
    "rq1": Bilingual("RQ1: structural errors", "RQ1: 구조 오류"),
    "rq2": Bilingual("RQ2: stability", "RQ2: 안정성"),
    "rq3": Bilingual("RQ3: process", "RQ3: 과정"),
    "memory": Bilingual("Memory metrics", "메모리 지표"),
    "impact": Bilingual("Impact metrics", "영향 지표"),
    "efficiency": Bilingual("Efficiency", "효율"),
}
_PANELS: Final = (
    PRIMARY,
    "exact_match",
    "tuple_f1_overall",
    "tuple_f1_implicit",
    "tuple_f1_lenient",
    "tuple_f1_after_rep",
)
_FAMILIES: Final = ("override_skip_", "adopt_reason_", "injection_trigger_", "stage2_injection_trigger_")
_COUNT_NAME: Final = re.compile(r"^n_|_(n|count)(_s1)?$")
_TRIAL_NOTES: Final = ("the seeds are one trial", "the orders are one trial")
Intervals = Mapping[tuple[str, str], tuple[float, float] | None]
"""By condition and metric."""
Groups = Mapping[str, Sequence[FinishedCell]]
"""The cells of every condition."""


class MetricRow(NamedTuple):
    """One metric across the conditions."""

    name: MetricName
    cells: tuple[MetricCell, ...]
    """In the order of the conditions."""
    baseline: MetricCell
    """Empty where the majority baseline has no value."""


def seed_rows(run: FinishedRun) -> tuple[SeedRow, ...]:
    """Return every metric of every condition; a page of a cell that builds a store shows that cell's metrics."""
    return run.rows if run.by_condition else tuple(_of_one_cell(run.cells[0]))


def quality_intervals(groups: Groups) -> Intervals:
    """Return the interval over reviews of every quality metric that has a value per review."""
    keys = [(condition, metric) for condition in groups for metric in _PANELS]
    samples = [[*values_by_uid(groups[condition], metric).values()] for condition, metric in keys]
    # All at once: samples of equal size share their draws.
    return dict(zip(keys, bootstrap_intervals(samples), strict=True))


def values_by_uid(cells: Sequence[FinishedCell], metric: str) -> dict[str, float]:
    """Return the metric of every review by its uid in ascending order, its orders and seeds averaged."""
    values: dict[str, list[float]] = {}
    for cell in cells:
        for card in cell.cards:
            value = sample_value(metric, card, count_backfilled=cell.count_backfilled)
            if value is not None:
                values.setdefault(card.uid, []).append(value)
    return {uid: fmean(values[uid]) for uid in sorted(values)}


def metric_rows(
    rows: Sequence[SeedRow], conditions: Sequence[str], intervals: Intervals
) -> dict[str, tuple[MetricRow, ...]]:
    """Return the metrics by question, as `TITLES` names them."""
    by_name = {(row.condition, row.metric): row for row in rows}
    groups: dict[str, list[MetricRow]] = {}
    for group, metric in dict.fromkeys((row.group, row.metric) for row in rows if row.condition != BASELINE):
        of_conditions = [by_name[condition, metric] for condition in conditions]
        groups.setdefault(group, []).append(_metric_row(of_conditions, by_name.get((BASELINE, metric)), intervals))
    # RQ1 also shows residual risk, marked process.
    residual = [row for row in groups.get("rq3", ()) if row.name.metric.endswith("residual_risk_rate")]
    groups["rq1"] = [*groups.get("rq1", ()), *residual]
    return {name: tuple(groups[name]) for name in TITLES if groups.get(name)}


def metric_tables(
    by_question: Mapping[str, Sequence[MetricRow]], rows: Sequence[SeedRow], conditions: Sequence[str]
) -> Iterator[Table]:
    """Yield the tables of metrics; families over a vocabulary, such as adopt_reason_<X>_n, have tables of their own."""
    for name, of_question in by_question.items():
        title, note = TITLES[name], _trial_note(rows) if name == "rq2" else None
        columns = _columns(conditions, with_baseline=name == "quality")
        families = tuple(row for row in of_question if row.name.metric.startswith(_FAMILIES))
        others = tuple(row for row in of_question if row not in families)
        yield Table(f"metrics_{name}", title, columns, others, note=note)
        if families:
            counted = Bilingual(f"{title.en}, counts by reason", f"{title.ko}, 사유별 횟수")
            yield Table(f"counts_{name}", counted, columns, families, note=note)


def quality_figures(rows: Sequence[MetricRow], conditions: Sequence[tuple[str, int]]) -> Iterator[Figure]:
    """Yield a panel per quality metric that has a value per review, with Stage1 and the baseline.

    Args:
        rows: the metrics of quality.
        conditions: names and colours, in the order of the rows' cells.
    """
    by_metric = {row.name.metric: row for row in rows}
    for metric in _PANELS:
        row, before = by_metric.get(metric), by_metric.get(f"{metric}_s1")
        if row is None or all(cell.value is None for cell in row.cells):
            continue
        points = [
            PlotRow(name, colour, cell.value, cell.low, cell.high, before.cells[place].value if before else None)
            for place, ((name, colour), cell) in enumerate(zip(conditions, row.cells, strict=True))
        ]
        points.append(PlotRow("baseline", None, row.baseline.value))
        drawn = interval_plot(QualityPanel(metric, tuple(points), row.baseline.value))
        yield Figure(file_stem("quality", metric), drawn, section="quality", caption=Bilingual(metric, metric))


def definitions_of(metrics: Iterable[str]) -> tuple[MetricDefinition, ...]:
    """Return the definition of every metric once, in the order of its first use."""
    return tuple(map(definition_of, dict.fromkeys(metrics)))


def _columns(conditions: Sequence[str], *, with_baseline: bool) -> tuple[Column, ...]:
    def of_condition(name: str, place: int) -> Column:
        return column(name, name, "value", lambda row: row.cells[place])

    return (
        column("metric", ("metric", "지표"), "metric", "name"),
        column("kind", ("kind", "종류"), "name", "name.kind", only="files"),
        *(of_condition(name, place) for place, name in enumerate(conditions)),
        *([column(BASELINE, BASELINE, "value", "baseline")] if with_baseline else []),
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
    for value in (*cell.metrics, *stability_of([cell]).metrics):
        if value.metric == BASELINE:
            continue
        is_baseline = value.group == "baseline"
        yield _single(BASELINE if is_baseline else cell.condition, value, value.metric.removeprefix(f"{BASELINE}_"))


def _single(condition: str, value: MetricValue, metric: str) -> SeedRow:
    known = (condition, metric, value.group, value.kind, value.value, None, 1, (value.value,))
    return SeedRow(*known, value.numerator, value.denominator, value.note)


def _metric_row(rows: Sequence[SeedRow], baseline: SeedRow | None, intervals: Intervals) -> MetricRow:
    definition = definition_of(rows[0].metric)
    # A note about some conditions would read as true of all; notes about orders and seeds stand on the first screen.
    notes = [[part for part in row.note.split("; ") if part and not part.startswith(_TRIAL_NOTES)] for row in rows]
    shared = [note_words(part) for part in notes[0] if all(part in others for others in notes)]
    note = Bilingual("; ".join(part.en for part in shared), "; ".join(part.ko for part in shared)) if shared else None
    is_count = definition.kind == "efficiency" or bool(_COUNT_NAME.search(definition.metric))

    def cell(row: SeedRow, low: float | None = None, high: float | None = None) -> MetricCell:
        sd = row.sd if row.sd_orders is None else row.sd_orders
        return MetricCell(row.mean, sd, row.numerator, row.denominator, low, high, is_count)

    return MetricRow(
        MetricName(definition.metric, definition.kind, definition.better, note),
        tuple(cell(row, *(intervals.get((row.condition, row.metric)) or ())) for row in rows),
        cell(baseline) if baseline else MetricCell(None),
    )
