"""Builds the report's picture of quality over cost, one point per condition."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Final

from episodic_absa.analysis.grid_tables import SeedRow
from episodic_absa.metrics.per_sample.gold_and_predictions import predictions, valid_gold
from episodic_absa.metrics.per_sample.sample_values import MICRO_F1
from episodic_absa.metrics.quality import micro_counts
from episodic_absa.metrics.statistics.bootstrap import ratio_intervals
from episodic_absa.reports.data.quality_views import CostOfSample, CostPoint, CostView, ScoreView
from episodic_absa.reports.data.report_data import ConditionCard
from episodic_absa.reports.data.report_samples import CellSamples, StageUsage
from episodic_absa.reports.data.report_tables import PRIMARY, Groups, Intervals
from episodic_absa.runs.reading.finished_cells import FinishedCell

_USAGE: Final = ("calls", "tokens_in", "tokens_out")


def cost_view(
    groups: Groups,
    samples: Mapping[str, Sequence[CellSamples]],
    cards: Sequence[ConditionCard],
    rows: Sequence[SeedRow],
    intervals: Intervals,
) -> CostView | None:
    """Return quality over cost; None if no condition has a score."""
    means = {(row.condition, row.metric): row.mean for row in rows}
    scored = [card for card in cards if means.get((card.name, MICRO_F1)) is not None]
    if not scored:
        return None
    counts = [_counts(groups[card.name]) for card in scored]
    micro = ratio_intervals(counts)
    points = []
    for card, known, (low, high) in zip(scored, counts, ((ends or (None, None)) for ends in micro), strict=True):
        of_card = {metric: value for (condition, metric), value in means.items() if condition == card.name}
        macro_low, macro_high = intervals.get((card.name, PRIMARY)) or (None, None)
        points.append(
            CostPoint(
                condition=card.name,
                colour=card.colour,
                reviews=len(known),
                cost=CostOfSample(
                    **{name: of_card.get(name) or 0.0 for name in _USAGE}, cost_usd=of_card.get("cost_usd")
                ),
                micro=ScoreView(value=of_card[MICRO_F1], low=low, high=high),
                macro=ScoreView(value=of_card.get(PRIMARY), low=macro_low, high=macro_high),
                stage1_cost=_stage1_cost(groups[card.name], samples[card.name]),
                stage1_micro=of_card.get(f"{MICRO_F1}_s1"),
                stage1_macro=of_card.get(f"{PRIMARY}_s1"),
            )
        )
    return CostView(axis="tokens" if any(point.cost.tokens for point in points) else "calls", points=tuple(points))


def _counts(cells: Sequence[FinishedCell]) -> list[tuple[int, int]]:
    """Return the micro F1's numerator and denominator of every review, its orders and seeds added."""
    by_uid: dict[str, tuple[int, int]] = {}
    for cell in cells:
        for card in cell.cards:
            gold = valid_gold(card) if card.status == "ok" else None
            known = gold and micro_counts(predictions(card, count_backfilled=cell.count_backfilled), gold)
            if known:
                hits, pair_n = by_uid.get(card.uid, (0, 0))
                by_uid[card.uid] = (hits + known[0], pair_n + known[1])
    return [by_uid[uid] for uid in sorted(by_uid)]


def _stage1_cost(cells: Sequence[FinishedCell], samples: Sequence[CellSamples]) -> CostOfSample | None:
    usages = list(_stage1_usages(cells, samples))
    known = [usage for usage in usages if usage is not None]
    if not known or len(known) < len(usages):
        return None
    costs = [usage.cost_usd for usage in known if usage.cost_usd is not None]
    return CostOfSample(
        calls=fmean(usage.calls for usage in known),
        tokens_in=fmean(usage.tokens_in for usage in known),
        tokens_out=fmean(usage.tokens_out for usage in known),
        cost_usd=fmean(costs) if len(costs) == len(known) else None,
    )


def _stage1_usages(cells: Sequence[FinishedCell], samples: Sequence[CellSamples]) -> Iterator[StageUsage | None]:
    """Yield what Stage1 of each successful sample took; None if the traces lack the sample."""
    for cell, of_cell in zip(cells, samples, strict=True):
        for card in cell.cards:
            if card.status == "ok":
                yield of_cell.stage1_usage.get(card.uid)
