"""Builds the report's error taxonomy, and its quality by language and by domain."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Literal

from episodic_absa.metrics.per_sample.gold_and_predictions import predictions, valid_gold
from episodic_absa.metrics.per_sample.pair_errors import PAIR_ERRORS, PairErrors, pair_errors, summed
from episodic_absa.metrics.per_sample.sample_values import sample_value
from episodic_absa.metrics.quality import micro_counts
from episodic_absa.metrics.ratios import mean_of
from episodic_absa.metrics.statistics.bootstrap import bootstrap_intervals
from episodic_absa.reports.data.quality_views import (
    ErrorCount,
    ErrorRow,
    GroupRow,
    GroupTable,
    GroupValue,
    ScoreView,
)
from episodic_absa.reports.data.report_data import ConditionCard
from episodic_absa.reports.data.report_samples import CellSamples, ReviewFacts
from episodic_absa.reports.data.report_tables import PRIMARY, Groups
from episodic_absa.runs.reading.finished_cells import FinishedCell
from episodic_absa.schemas.run_files.scorecard import Scorecard

_GROUPED_BY: Mapping[Literal["language", "domain"], Callable[[ReviewFacts], str]] = {
    "language": lambda review: review.language,
    "domain": lambda review: review.domain,
}


def error_rows(groups: Groups, cards: Sequence[ConditionCard]) -> tuple[ErrorRow, ...]:
    """Return the error taxonomy of every condition that has gold."""
    rows = [_error_row(card, groups[card.name]) for card in cards]
    return tuple(row for row in rows if row.samples)


def group_tables(
    groups: Groups, samples: Mapping[str, Sequence[CellSamples]], cards: Sequence[ConditionCard]
) -> tuple[GroupTable, ...]:
    """Return quality by language and by domain; a table only where there are two or more of them, and gold."""
    reviews = {uid: facts for group in samples.values() for cell in group for uid, facts in cell.reviews.items()}
    tables = []
    for by, group_of in _GROUPED_BY.items():
        uids: dict[str, set[str]] = {}
        for uid, facts in reviews.items():
            uids.setdefault(group_of(facts), set()).add(uid)
        table = GroupTable(by=by, rows=_group_rows(groups, cards, uids))
        if len(table.rows) > 1 and any(value.reviews for row in table.rows for value in row.values):
            tables.append(table)
    return tuple(tables)


def _error_row(condition: ConditionCard, cells: Sequence[FinishedCell]) -> ErrorRow:
    by_cell = [_classified(cell) for cell in cells]
    total = summed(errors for classified in by_cell for errors in classified)
    return ErrorRow(
        condition=condition.name,
        colour=condition.colour,
        seed=cells[0].manifest.seed,
        order=cells[0].manifest.order if condition.orders else None,
        seeds=len(cells),
        samples=sum(map(len, by_cell)),
        gold=total.gold,
        predicted=total.predicted,
        right=total.right,
        errors=tuple(
            ErrorCount(
                error=error,
                pairs=getattr(total, error),
                samples=sum(getattr(errors, error) > 0 for errors in by_cell[0]),
            )
            for error in PAIR_ERRORS
        ),
    )


def _classified(cell: FinishedCell) -> list[PairErrors]:
    errors = (pair_errors(card, count_backfilled=cell.count_backfilled) for card in cell.cards)
    return [known for known in errors if known is not None]


def _group_rows(groups: Groups, cards: Sequence[ConditionCard], uids: Mapping[str, set[str]]) -> tuple[GroupRow, ...]:
    names = sorted(uids, key=lambda name: (-len(uids[name]), name))
    by_uid = {card.name: _values(groups[card.name], PRIMARY) for card in cards}
    scores = {
        (name, condition): [values[uid] for uid in sorted(values) if uid in uids[name]]
        for name in names
        for condition, values in by_uid.items()
    }
    # All at once: lists of equal size share their draws.
    intervals = dict(zip(scores, bootstrap_intervals(list(scores.values())), strict=True))
    exact = {card.name: _values(groups[card.name], "exact_match") for card in cards}
    rows = []
    for name in names:
        values = []
        for card in cards:
            low, high = intervals[name, card.name] or (None, None)
            known = scores[name, card.name]
            score = ScoreView(value=mean_of(known), low=low, high=high)
            values.append(
                GroupValue(
                    reviews=len(known),
                    score=score,
                    micro=_micro(groups[card.name], uids[name]),
                    exact_match=mean_of([value for uid, value in exact[card.name].items() if uid in uids[name]]),
                )
            )
        rows.append(GroupRow(name=name, reviews=len(uids[name]), values=tuple(values)))
    return tuple(rows)


def _values(cells: Sequence[FinishedCell], metric: str) -> dict[str, float]:
    """Return the metric of every review, its orders and seeds averaged."""
    values: dict[str, list[float]] = {}
    for cell in cells:
        for card in cell.cards:
            value = sample_value(metric, card, count_backfilled=cell.count_backfilled)
            if value is not None:
                values.setdefault(card.uid, []).append(value)
    return {uid: fmean(of_cells) for uid, of_cells in values.items()}


def _micro(cells: Sequence[FinishedCell], uids: set[str]) -> float | None:
    """Return the mean of the cells' micro F1 over some reviews, as the tables compute it over all."""
    of_cells = []
    for cell in cells:
        counts = [_micro_counts(card, cell) for card in cell.cards if card.uid in uids]
        hits, pair_n = (sum(known[place] for known in counts if known) for place in (0, 1))
        if pair_n:
            of_cells.append(hits / pair_n)
    return mean_of(of_cells)


def _micro_counts(card: Scorecard, cell: FinishedCell) -> tuple[int, int] | None:
    gold = valid_gold(card) if card.status == "ok" else None
    return None if gold is None else micro_counts(predictions(card, count_backfilled=cell.count_backfilled), gold)
