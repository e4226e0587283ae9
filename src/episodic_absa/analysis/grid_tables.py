"""The tables of a grid as text: every condition's metrics over orders and seeds, and the grid's comparisons."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, Final, NamedTuple

from episodic_absa.analysis.asked_cells import GridComparison, asked_groups, compared_cells, is_asked
from episodic_absa.analysis.spread import Spread, spread_of
from episodic_absa.metrics import MetricValue, Stability, compute_stability
from episodic_absa.metrics.definitions import BASELINE
from episodic_absa.metrics.statistics import Comparison, PairedDifference, compare
from episodic_absa.runs.question import ExploratoryPart, criterion_of, parts_text
from episodic_absa.runs.reading.finished_cells import FinishedCell, all_cards, evaluated
from episodic_absa.schemas.run_files.question import Pair, Question
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.serialization.csv_text import csv_text, number_text

GRID_METRICS: Final = "grid_metrics.csv"
COMPARISONS: Final = "comparisons.csv"
_COMPARED_FIELDS: Final = tuple(name for name in PairedDifference.model_fields if name not in ("metric", "kind"))
_UNKNOWN: Final = "unknown"
"""Stands in the column `exploratory` of a grid without a question."""


class SeedRow(NamedTuple):
    """One metric of one condition over its orders and seeds."""

    condition: str
    metric: str
    group: str
    kind: str
    mean: float | None
    """Mean of the cells' values: for a rate a mean of ratios. `pooled` is the ratio of sums."""
    sd: float | None
    """Sample standard deviation over seeds, pooled over orders; None for a single seed, and where the seeds are one
    trial. With `shuffle` it holds the variation of the orders, which the seeds set."""
    n_seeds: int
    """Seeds with a value."""
    seed_values: tuple[float | None, ...]
    """By order, then by seed."""
    numerator: float | None
    denominator: float | None
    note: str
    n_orders: int = 1
    """Orders with a value; 1 with `shuffle`."""
    sd_orders: float | None = None
    """Sample standard deviation over the means of orders; None for a single order, with `shuffle`, and where the
    orders are one trial."""
    pooled: float | None = None
    """Numerator over denominator, over all cells: a ratio of sums. It differs from `mean` where the denominators of the
    cells differ, as those of mean_delta_risk_followed do. None without a denominator."""
    exploratory: bool | None = None
    """Whether the condition, or one of the orders and seeds, was added to the question; None without a question."""


def grid_rows(cells: Sequence[FinishedCell], question: Question | None = None) -> Iterator[SeedRow]:
    """Yield the metrics of every condition, RQ2 included, and those of the majority baseline.

    With a question they cover the asked orders and seeds. The rows of a condition that was added later are exploratory.
    """
    groups = asked_groups(cells, question)
    for row in _group_rows(groups):
        if question is None or row.condition not in groups:
            yield row._replace(exploratory=None if question is None else False)
        else:
            is_asked_condition = row.condition in question.asked.conditions
            covers_asked = all(is_asked(cell, question) for cell in groups[row.condition])
            yield row._replace(exploratory=not (is_asked_condition and covers_asked))


def added_rows(cells: Sequence[FinishedCell], question: Question | None) -> Iterator[SeedRow]:
    """Yield the metrics of every condition over all its cells, where orders or seeds were added to the asked ones."""
    asked = asked_groups(cells, question)
    extended = {name: group for name, group in evaluated(cells).items() if len(asked[name]) < len(group)}
    return (row._replace(exploratory=True) for row in _group_rows(extended) if row.condition != BASELINE)


def _group_rows(by_condition: Mapping[str, Sequence[FinishedCell]]) -> Iterator[SeedRow]:
    for condition, group in by_condition.items():
        stability = stability_of(group)
        spread = spread_of(group, stability)
        per_metric = list(zip(*(cell.metrics for cell in group), strict=True))
        shown = [values for values in per_metric if values[0].group != "baseline"]
        first = next(place for place, values in enumerate(shown) if values[0].group == "rq2")
        yield from (_row(condition, values, spread) for values in shown[:first])
        yield from (_stability_row(condition, metric, stability, spread) for metric in stability.metrics)
        yield from (_row(condition, values, spread) for values in shown[first:])
    for group in list(by_condition.values())[:1]:
        # Stage1 never sees memory, so that the baseline of one condition is that of all.
        for values in zip(*(cell.metrics for cell in group), strict=True):
            if values[0].group == "baseline" and values[0].metric != BASELINE:
                row = _row(BASELINE, values, spread_of(group, stability_of(group)))
                yield row._replace(metric=row.metric.removeprefix(f"{BASELINE}_"))


def stability_of(group: Sequence[FinishedCell]) -> Stability:
    """Compare the seeds of one condition, within each order."""
    by_seed: dict[int, list[Scorecard]] = {}
    for cell in group:
        by_seed.setdefault(cell.manifest.seed, []).extend(cell.cards)
    return compute_stability(
        by_seed,
        seed_supported=all(cell.manifest.backbone.seed_supported for cell in group),
        order_varies=any(cell.manifest.config.experiment.shuffle for cell in group),
        orders_apart=any(cell.manifest.names_order for cell in group),
        count_backfilled=group[0].count_backfilled,
    )


def seed_rows_text(seed_rows: Iterable[SeedRow]) -> str:
    """Render computed rows."""
    rows = (
        {
            **row._asdict(),
            "seed_values": "|".join(map(number_text, row.seed_values)),
            "exploratory": _UNKNOWN if row.exploratory is None else row.exploratory,
        }
        for row in seed_rows
    )
    return csv_text(SeedRow._fields, (tuple(row.values()) for row in rows))


def compare_conditions(cells: Sequence[FinishedCell], question: Question | None) -> tuple[GridComparison, ...]:
    """Compare the conditions of a grid in the pairs of its question; what was asked beforehand comes first."""
    return tuple(
        GridComparison(
            compare_cells(compared.pair, compared.a, compared.b, question),
            compared.parts,
            compared.orders,
            compared.seeds,
            () if question is None else question.added_together.primary_metrics,
        )
        for compared in compared_cells(cells, question)
    )


def compare_cells(
    pair: Pair, a: Sequence[FinishedCell], b: Sequence[FinishedCell], question: Question | None
) -> Comparison:
    """Compare two conditions of one grid, decided by the primary metric and the smallest effect that were asked."""
    criterion = criterion_of(question)
    return compare(
        pair[0],
        all_cards(a),
        pair[1],
        all_cards(b),
        count_backfilled=a[0].count_backfilled,
        primary=criterion.primary,
        smallest_effect=criterion.smallest_effect,
        same_by_construction=a[0].manifest.condition.answers_like(b[0].manifest.condition),
    )


def comparisons_text(comparisons: Sequence[GridComparison]) -> str:
    """Render a row per pair and metric, and one for McNemar's test; each says whether it is exploratory, and why."""
    header = ("a", "b", "metric", "kind", *_COMPARED_FIELDS, "claim", "a_only", "b_only", "ties_dropped", "odds_ratio")
    rows = (
        (*row, *_question_columns(compared, metric=row[2]))
        for compared in comparisons
        for row in _comparison_rows(compared.comparison)
    )
    return csv_text((*header, "exploratory", "exploratory_because", "orders", "seeds"), rows)


def _question_columns(compared: GridComparison, *, metric: str) -> tuple[bool | str, str, str, str]:
    is_unknown = any(part.kind == "no_question" for part in compared.parts)
    added = (ExploratoryPart("primary_metric", (metric,)),) if metric in compared.added_metrics else ()
    parts = (*compared.parts, *added)
    orders, seeds = ("|".join(map(str, ids)) for ids in (compared.orders, compared.seeds))
    return _UNKNOWN if is_unknown else bool(parts), parts_text(parts), orders, seeds


def _comparison_rows(comparison: Comparison) -> Iterator[tuple[Any, ...]]:
    a, b, test = comparison.a, comparison.b, comparison.mcnemar
    for difference in comparison.metrics:
        values = (getattr(difference, name) for name in _COMPARED_FIELDS)
        yield (a, b, difference.metric, difference.kind, *values, difference.claim, None, None, None, None)
    if test is not None:
        values = ({"p_value": test.p_value, "p_holm": test.p_holm}.get(name) for name in _COMPARED_FIELDS)
        counts = (test.a_only, test.b_only, test.ties_dropped, test.odds_ratio)
        yield (a, b, "exact_match_mcnemar", "outcome", *values, None, *counts)


def _row(condition: str, values: Sequence[MetricValue], spread: Spread) -> SeedRow:
    of_cells = [metric.value for metric in values]
    known = [value for value in of_cells if value is not None]
    notes = [values[0].note, spread.same_seeds, spread.same_orders]
    return SeedRow(
        condition=condition,
        metric=values[0].metric,
        group=values[0].group,
        kind=values[0].kind,
        mean=fmean(known) if known else None,
        sd=spread.sd_of_seeds(of_cells),
        n_seeds=spread.known_n(of_cells, "seed"),
        seed_values=tuple(of_cells),
        numerator=(numerator := _sum([metric.numerator for metric in values])),
        denominator=(denominator := _sum([metric.denominator for metric in values])),
        pooled=numerator / denominator if numerator is not None and denominator else None,
        note="; ".join(filter(None, notes)),
        n_orders=spread.known_n(of_cells, "order"),
        sd_orders=spread.sd_of_orders(of_cells),
    )


def _stability_row(condition: str, metric: MetricValue, stability: Stability, spread: Spread) -> SeedRow:
    values = (condition, metric.metric, metric.group, metric.kind, metric.value, None, stability.trials, ())
    return SeedRow(*values, metric.numerator, metric.denominator, metric.note, n_orders=spread.order_n)


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
