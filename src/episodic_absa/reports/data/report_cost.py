"""Builds the report's picture of quality over cost, one point per condition."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from episodic_absa.analysis.grid_tables import SeedRow
from episodic_absa.metrics.per_sample.gold_and_predictions import predictions, valid_gold
from episodic_absa.metrics.per_sample.sample_values import MICRO_F1
from episodic_absa.metrics.quality import micro_counts
from episodic_absa.metrics.statistics.bootstrap import ratio_intervals
from episodic_absa.reports.bilingual import Bilingual
from episodic_absa.reports.data.metric_tables import PRIMARY, Groups, Intervals
from episodic_absa.reports.data.report_data import ConditionCard
from episodic_absa.reports.data.report_samples import CellSamples
from episodic_absa.reports.plots.cost_plot import CostOfSample, CostPoint
from episodic_absa.reports.tables.table import Score, Table, column
from episodic_absa.runs.reading.finished_cells import FinishedCell


def cost_points(
    groups: Groups,
    samples: Mapping[str, Sequence[CellSamples]],
    cards: Sequence[ConditionCard],
    rows: Sequence[SeedRow],
    intervals: Intervals,
) -> tuple[CostPoint, ...]:
    """Return quality over cost for every condition that has a score."""
    means = {(row.condition, row.metric): row.mean for row in rows}
    scored = [card for card in cards if means.get((card.name, MICRO_F1)) is not None]
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
                    of_card.get("calls") or 0.0,
                    of_card.get("tokens_in") or 0.0,
                    of_card.get("tokens_out") or 0.0,
                    of_card.get("cost_usd"),
                ),
                micro=Score(of_card[MICRO_F1], low, high),
                macro=Score(of_card.get(PRIMARY), macro_low, macro_high),
                stage1_cost=_stage1_cost(groups[card.name], samples[card.name]),
                stage1_micro=of_card.get(f"{MICRO_F1}_s1"),
                stage1_macro=of_card.get(f"{PRIMARY}_s1"),
            )
        )
    return tuple(points)


def cost_table(points: tuple[CostPoint, ...]) -> Table:
    """Return quality over cost as a table."""
    columns = (
        column("condition", ("condition", "조건"), "name"),
        column("reviews", ("reviews", "리뷰"), "count"),
        column("calls", ("calls", "호출"), "amount", "cost.calls", digits=1),
        column("tokens", ("tokens", "토큰"), "tokens", "cost", only="page"),
        column("tokens_in", ("tokens in", "입력 토큰"), "amount", "cost.tokens_in", only="files"),
        column("tokens_out", ("tokens out", "출력 토큰"), "amount", "cost.tokens_out", only="files"),
        column("cost_usd", ("cost, USD", "비용(USD)"), "amount", "cost.cost_usd"),
        column("micro_f1", "micro F1", "score", "micro"),
        column("macro_f1", "macro F1", "score", "macro"),
        column("stage1_calls", ("Stage1 calls", "Stage1 호출"), "amount", "stage1_cost.calls", digits=1),
        column("stage1_tokens", ("Stage1 tokens", "Stage1 토큰"), "amount", "stage1_cost.tokens", digits=0),
        column("stage1_micro_f1", "Stage1 micro", "number", "stage1_micro"),
        column("stage1_macro_f1", "Stage1 macro", "number", "stage1_macro"),
    )
    title = Bilingual("Quality and cost per sample", "샘플당 품질과 비용")
    return Table("quality_and_cost", title, columns, points)


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


def _stage1_cost(cells: Sequence[FinishedCell], samples: Sequence[CellSamples]) -> CostOfSample:
    usages = [
        of_cell.stage1_usage[card.uid]
        for cell, of_cell in zip(cells, samples, strict=True)
        for card in cell.cards
        if card.status == "ok"
    ]
    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    return CostOfSample(
        calls=fmean(usage.calls for usage in usages),
        tokens_in=fmean(usage.tokens_in for usage in usages),
        tokens_out=fmean(usage.tokens_out for usage in usages),
        cost_usd=fmean(costs) if len(costs) == len(usages) else None,
    )
