"""Builds the report's error taxonomy, and its quality by language and by domain."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from episodic_absa.metrics.per_sample.gold_and_predictions import predictions, valid_gold
from episodic_absa.metrics.per_sample.pair_errors import PAIR_ERRORS, PairError, PairErrors, pair_errors, summed
from episodic_absa.metrics.quality import micro_counts
from episodic_absa.metrics.ratios import mean_of
from episodic_absa.metrics.statistics.bootstrap import bootstrap_intervals
from episodic_absa.reports.bilingual import Bilingual
from episodic_absa.reports.data.metric_tables import PRIMARY, Groups, values_by_uid
from episodic_absa.reports.data.quality_views import (
    ErrorCount,
    ErrorRow,
    GroupRow,
    GroupTable,
    GroupValue,
)
from episodic_absa.reports.data.report_data import ConditionCard, ReviewFacts
from episodic_absa.reports.data.report_samples import CellSamples
from episodic_absa.reports.tables.table import Column, Score, Table, column
from episodic_absa.runs.reading.finished_cells import FinishedCell
from episodic_absa.schemas.run_files.scorecard import Scorecard

_GROUPED_BY: Mapping[Literal["language", "domain"], Callable[[ReviewFacts], str]] = {
    "language": lambda review: review.language,
    "domain": lambda review: review.domain,
}


_ERROR_WORDS: Final[Mapping[PairError, tuple[str, str]]] = {
    "missed": ("missed", "누락"),
    "spurious": ("spurious", "과잉"),
    "boundary": ("boundary", "경계 오류"),
    "polarity": ("polarity", "극성 오류"),
}
_GROUP_WORDS: Final = {"language": ("language", "언어"), "domain": ("domain", "분야")}


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


class ErrorCell(NamedTuple):
    """The pairs of one class of error, and the samples behind them."""

    pairs: int
    samples: int
    error: PairError
    row: ErrorRow


def error_table(rows: Sequence[ErrorRow]) -> Table:
    """Return the error taxonomy as a table; from a number of samples the page leads to them."""

    def of_error(place: int, error: PairError) -> Column:
        def cell(row: ErrorRow) -> ErrorCell:
            return ErrorCell(row.errors[place].pairs, row.errors[place].samples, error, row)

        return column(error, _ERROR_WORDS[error], "errors", cell)

    columns = (
        column("condition", ("condition", "조건"), "name"),
        column("samples", ("samples", "샘플"), "count"),
        column("gold_pairs", ("gold pairs", "정답 쌍"), "count", "gold"),
        column("predicted_pairs", ("predicted pairs", "예측 쌍"), "count", "predicted"),
        column("right", ("right", "일치"), "count"),
        *(of_error(place, error) for place, error in enumerate(PAIR_ERRORS)),
    )
    return Table("errors", Bilingual("Errors by condition", "조건별 오류 유형"), columns, tuple(rows))


def group_table(table: GroupTable, conditions: Sequence[str]) -> Table:
    """Return quality by language or domain as a table."""
    en, ko = _GROUP_WORDS[table.by]
    title = Bilingual(f"tuple_f1_explicit (mean per review) by {en}", f"{ko}별 tuple_f1_explicit(리뷰별 평균)")
    columns = [
        column(table.by, _GROUP_WORDS[table.by], "name", "name"),
        column("reviews", ("reviews", "리뷰"), "count"),
    ]
    for place, condition in enumerate(conditions):
        columns += _group_columns(place, condition)
    return Table(f"quality_by_{table.by}", title, tuple(columns), table.rows)


def _group_columns(place: int, condition: str) -> Iterator[Column]:
    def score(row: GroupRow) -> Score:
        return row.values[place].score

    yield column(condition, condition, "score", score, only="files")
    yield column(f"{condition}_n", "n", "count", lambda row: row.values[place].reviews, only="files")
    yield column(condition, condition, "scored", lambda row: (score(row), row.values[place].reviews), only="page")


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
    by_uid = {card.name: values_by_uid(groups[card.name], PRIMARY) for card in cards}
    scores = {
        (name, condition): [value for uid, value in values.items() if uid in uids[name]]
        for name in names
        for condition, values in by_uid.items()
    }
    # All at once: lists of equal size share their draws.
    intervals = dict(zip(scores, bootstrap_intervals(list(scores.values())), strict=True))
    exact = {card.name: values_by_uid(groups[card.name], "exact_match") for card in cards}
    rows = []
    for name in names:
        values = []
        for card in cards:
            low, high = intervals[name, card.name] or (None, None)
            known = scores[name, card.name]
            score = Score(mean_of(known), low, high)
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
