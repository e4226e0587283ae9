"""The error taxonomy, and quality by language and by domain, as tables."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from episodic_absa.metrics.per_sample.pair_errors import PAIR_ERRORS, PairError, PairErrors, pair_errors, summed
from episodic_absa.metrics.ratios import mean_of
from episodic_absa.metrics.statistics.bootstrap import bootstrap_intervals
from episodic_absa.reports.bilingual import Bilingual
from episodic_absa.reports.data.metric_tables import PRIMARY, Groups, values_by_uid
from episodic_absa.reports.data.report_data import ConditionCard, ReviewFacts
from episodic_absa.reports.data.report_samples import CellSamples
from episodic_absa.reports.tables.table import Column, Score, Table, column
from episodic_absa.runs.reading.finished_cells import FinishedCell

_ERROR_WORDS: Final[Mapping[PairError, tuple[str, str]]] = {
    "missed": ("missed", "누락"),
    "spurious": ("spurious", "과잉"),
    "boundary": ("boundary", "경계 오류"),
    "polarity": ("polarity", "극성 오류"),
}
_GROUPS: Final[Mapping[str, tuple[str, Callable[[ReviewFacts], str]]]] = {
    "language": ("언어", lambda review: review.language),
    "domain": ("분야", lambda review: review.domain),
}


class ErrorRow(NamedTuple):
    """The error taxonomy of one condition, its orders and seeds together."""

    condition: str
    samples: int
    """Successful samples with valid gold, over all orders and seeds."""
    total: PairErrors
    first: Mapping[PairError, int]
    """In how many samples of the first order and seed a class occurs: those that the explorer lists."""
    seed: int
    """The seed that the explorer opens with."""
    order: int | None
    """The order that the explorer opens with; None where the run names no orders."""
    is_of_several_seeds: bool
    """Whether several orders or seeds are counted together."""


class ErrorCell(NamedTuple):
    """The pairs of one class of error, and the samples behind them."""

    pairs: int
    samples: int
    error: PairError
    row: ErrorRow


class GroupRow(NamedTuple):
    """The reviews of one language or domain under every condition."""

    name: str
    reviews: int
    """All reviews of the group, with or without gold."""
    scores: tuple[tuple[Score, int], ...]
    """In the order of the conditions, each with its n: successful reviews with explicit gold."""


def error_table(groups: Groups, cards: Sequence[ConditionCard]) -> Iterator[Table]:
    """Yield the error taxonomy of every condition that has gold; from a number of samples the page leads to them."""
    rows = [_error_row(card, groups[card.name]) for card in cards]
    columns = (
        column("condition", ("condition", "조건"), "name"),
        column("samples", ("samples", "샘플"), "count"),
        column("gold_pairs", ("gold pairs", "정답 쌍"), "count", "total.gold"),
        column("predicted_pairs", ("predicted pairs", "예측 쌍"), "count", "total.predicted"),
        column("right", ("right", "일치"), "count", "total.right"),
        *map(_error_column, PAIR_ERRORS),
    )
    if any(row.samples for row in rows):
        title = Bilingual("Errors by condition", "조건별 오류 유형")
        yield Table("errors", title, columns, tuple(row for row in rows if row.samples))


def group_tables(
    groups: Groups, samples: Mapping[str, Sequence[CellSamples]], cards: Sequence[ConditionCard]
) -> Iterator[Table]:
    """Yield quality by language and by domain; a table only where there are two or more of them, and gold."""
    reviews = {uid: facts for group in samples.values() for cell in group for uid, facts in cell.reviews.items()}
    for by, (korean, group_of) in _GROUPS.items():
        uids: dict[str, set[str]] = {}
        for uid, facts in reviews.items():
            uids.setdefault(group_of(facts), set()).add(uid)
        rows = _group_rows(groups, cards, uids)
        if len(rows) > 1 and any(n for row in rows for _, n in row.scores):
            words = (
                f"tuple_f1_explicit (mean per review) by {by}",
                f"{korean}별 tuple_f1_explicit(리뷰별 평균)",
            )
            columns = [column(by, (by, korean), "name", "name"), column("reviews", ("reviews", "리뷰"), "count")]
            for place, card in enumerate(cards):
                columns += _group_columns(place, card.name)
            yield Table(f"quality_by_{by}", Bilingual(*words), tuple(columns), rows)


def _error_row(card: ConditionCard, cells: Sequence[FinishedCell]) -> ErrorRow:
    by_cell = [_classified(cell) for cell in cells]
    return ErrorRow(
        card.name,
        samples=sum(map(len, by_cell)),
        total=summed(errors for classified in by_cell for errors in classified),
        first={error: sum(getattr(errors, error) > 0 for errors in by_cell[0]) for error in PAIR_ERRORS},
        seed=cells[0].manifest.seed,
        order=cells[0].manifest.order if card.orders else None,
        is_of_several_seeds=len(cells) > 1,
    )


def _classified(cell: FinishedCell) -> list[PairErrors]:
    errors = (pair_errors(card, count_backfilled=cell.count_backfilled) for card in cell.cards)
    return [known for known in errors if known is not None]


def _error_column(error: PairError) -> Column:
    def cell(row: ErrorRow) -> ErrorCell:
        return ErrorCell(getattr(row.total, error), row.first[error], error, row)

    return column(error, _ERROR_WORDS[error], "errors", cell)


def _group_columns(place: int, condition: str) -> Iterator[Column]:
    yield column(condition, condition, "score", lambda row: row.scores[place][0], only="files")
    yield column(f"{condition}_n", "n", "count", lambda row: row.scores[place][1], only="files")
    yield column(condition, condition, "scored", lambda row: row.scores[place], only="page")


def _group_rows(groups: Groups, cards: Sequence[ConditionCard], uids: Mapping[str, set[str]]) -> tuple[GroupRow, ...]:
    names = sorted(uids, key=lambda name: (-len(uids[name]), name))
    by_uid = [values_by_uid(groups[card.name], PRIMARY) for card in cards]
    known = [[value for uid, value in values.items() if uid in uids[name]] for name in names for values in by_uid]
    # All at once: lists of equal size share their draws.
    bounds = (interval or (None, None) for interval in bootstrap_intervals(known))
    scores = [(Score(mean_of(of_group), *ends), len(of_group)) for of_group, ends in zip(known, bounds, strict=True)]
    return tuple(
        GroupRow(name, len(uids[name]), tuple(scores[place * len(cards) : (place + 1) * len(cards)]))
        for place, name in enumerate(names)
    )
