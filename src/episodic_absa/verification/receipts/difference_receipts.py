"""The receipts of comparisons: the paired lines of both conditions, and the difference computed from them."""

from collections.abc import Iterator, Sequence
from math import fsum
from statistics import fmean

from episodic_absa.analysis.asked_cells import ComparedCells, compared_cells
from episodic_absa.analysis.finished_run import FinishedRun
from episodic_absa.analysis.grid_tables import COMPARISONS
from episodic_absa.metrics.contribution import Share
from episodic_absa.metrics.per_sample.sample_values import (
    MICRO_F1,
    MICRO_METRICS,
    MICRO_PRECISION,
    ScoredSample,
    sample_value,
)
from episodic_absa.runs.reading.finished_cells import FinishedCell
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.verification.receipts.cell_lines import numbered_cards
from episodic_absa.verification.receipts.receipt import Contribution, PairedContribution, Receipt
from episodic_absa.verification.receipts.table_rows import TableRows

_MEAN = (
    "the seeds of a review are averaged within an order; each figure is a mean over reviews and orders; "
    "the largest differences first"
)
_MICRO = "the numerators of a side are added up, and divided by the sum of its denominators"
_SampleKey = tuple[str, int, int]


def difference_receipts(run: FinishedRun, metric: str, tables: TableRows) -> Iterator[Receipt]:
    """Yield the receipts of a metric in the table of comparisons, one per row, in the order of the table."""
    rows: dict[tuple[str, str], int] = {}
    for compared in compared_cells(run.cells, run.question):
        nth = rows.get(compared.pair, 0)
        rows[compared.pair] = nth + 1
        yield _receipt(run, compared, metric, tables, nth)


def _receipt(run: FinishedRun, compared: ComparedCells, metric: str, tables: TableRows, nth: int) -> Receipt:
    a, b = compared.pair
    pairs = _pairs(_side(run, compared.a, metric), _side(run, compared.b, metric))
    mean_a, mean_b = _figures(pairs, is_micro=metric in MICRO_METRICS)
    difference = mean_a - mean_b if mean_a is not None and mean_b is not None else None
    recomputed = {"difference": difference, "mean_a": mean_a, "mean_b": mean_b, "n_pairs": float(len(pairs))}
    return Receipt(
        name=f"{a} minus {b}",
        numbers=tuple(
            tables.number(COMPARISONS, column, value, nth=nth, a=a, b=b, metric=metric)
            for column, value in recomputed.items()
        ),
        rule=_MICRO if metric in MICRO_METRICS else _MEAN,
        line_n=len(pairs),
        pairs=tuple(sorted(pairs, key=lambda pair: -abs(pair.difference or 0.0))),
    )


def _side(run: FinishedRun, cells: Sequence[FinishedCell], metric: str) -> dict[_SampleKey, Contribution]:
    """Return what each sample of a condition adds, by uid, order and seed; samples without a value are left out."""
    side: dict[_SampleKey, Contribution] = {}
    for cell in cells:
        for place, card in numbered_cards(run.root, cell):
            share = _share(metric, card, count_backfilled=cell.count_backfilled)
            if share is not None:
                side[card.pair_key] = Contribution(
                    uid=card.uid, places=(place,), numerator=share.numerator, denominator=share.denominator
                )
    return side


def _share(metric: str, card: Scorecard, *, count_backfilled: bool) -> Share | None:
    if metric not in MICRO_METRICS:
        value = sample_value(metric, card, count_backfilled=count_backfilled)
        return None if value is None else Share(value, 1.0)
    counts = None
    if card.status == "ok":
        counts = ScoredSample(card, count_backfilled=count_backfilled).explicit_counts()
    if counts is None:
        return None
    if metric == MICRO_F1:
        return Share(2.0 * counts.hits, float(counts.predicted + counts.gold))
    below = counts.predicted if metric == MICRO_PRECISION else counts.gold
    return Share(float(counts.hits), float(below))


def _pairs(a: dict[_SampleKey, Contribution], b: dict[_SampleKey, Contribution]) -> tuple[PairedContribution, ...]:
    return tuple(
        PairedContribution(uid=uid, order=order, seed=seed, a=a[uid, order, seed], b=b[uid, order, seed])
        for uid, order, seed in sorted(a.keys() & b.keys())
    )


def _figures(pairs: Sequence[PairedContribution], *, is_micro: bool) -> tuple[float | None, float | None]:
    """Return the figure of each side."""
    if not pairs:
        return None, None
    sides = [[pair.a for pair in pairs], [pair.b for pair in pairs]]
    if is_micro:
        a, b = (_ratio(side) for side in sides)
        return a, b
    means = []
    for side in sides:
        by_review: dict[tuple[str, int], list[float]] = {}
        for pair, line in zip(pairs, side, strict=True):
            by_review.setdefault((pair.uid, pair.order), []).append(line.numerator or 0.0)
        means.append(fmean(map(fmean, by_review.values())))
    return means[0], means[1]


def _ratio(side: Sequence[Contribution]) -> float:
    below = fsum(line.denominator or 0.0 for line in side)
    return fsum(line.numerator or 0.0 for line in side) / below if below else 0.0
