"""Builds the first picture of a grid's report: every condition against the baseline in the primary metric."""

from collections.abc import Sequence
from typing import Final

from episodic_absa.analysis.finished_run import FinishedRun
from episodic_absa.metrics.statistics import Comparison, compare
from episodic_absa.reports.data.arm_views import ArmRow, ArmsView
from episodic_absa.reports.data.bilingual import Bilingual
from episodic_absa.reports.data.report_data import ConditionCard
from episodic_absa.reports.data.report_tables import PRIMARY
from episodic_absa.runs.reading.finished_cells import all_cards

_SMALLEST: Final = 0.01


def arms_view(run: FinishedRun, cards: Sequence[ConditionCard]) -> ArmsView | None:
    """Return every arm minus the baseline; None if no pair of conditions has a value."""
    baseline = _baseline(run, cards)
    if baseline is None:
        return None
    known = {(comparison.a, comparison.b): comparison for comparison in run.comparisons}
    first = next(iter(known), ("", ""))
    others = [card for card in cards if card.name != baseline]
    others.sort(key=lambda card: (card.name, baseline) != first)
    rows = [
        _arm(card, known.get((card.name, baseline)) or _compared(run, card.name, baseline), is_asked=place == first)
        for card in others
        for place in ((card.name, baseline),)
    ]
    if all(row.difference is None for row in rows):
        return None
    return ArmsView(baseline=baseline, metric=PRIMARY, smallest_effect=_SMALLEST, rows=tuple(rows))


def _baseline(run: FinishedRun, cards: Sequence[ConditionCard]) -> str | None:
    """Return the second condition of the first pair; without a pair the first condition that never shows memory."""
    if not run.is_grid or len(cards) < 2:
        return None
    if run.comparisons:
        return run.comparisons[0].b
    return next((card.name for card in cards if not card.shows), cards[0].name)


def _compared(run: FinishedRun, arm: str, baseline: str) -> Comparison:
    cells = run.by_condition
    return compare(
        arm,
        all_cards(cells[arm]),
        baseline,
        all_cards(cells[baseline]),
        count_backfilled=cells[arm][0].count_backfilled,
    )


def _arm(card: ConditionCard, comparison: Comparison, *, is_asked: bool) -> ArmRow:
    paired = comparison.of(PRIMARY)
    return ArmRow(
        condition=card.name,
        colour=card.colour,
        is_asked=is_asked,
        exploratory=False,
        reviews=paired.n_uids,
        orders=1,
        mean=paired.mean_a,
        baseline_mean=paired.mean_b,
        difference=paired.difference,
        ci_low=paired.ci_low,
        ci_high=paired.ci_high,
        p_value=paired.p_value,
        p_holm=paired.p_holm,
        variation=paired.variation,
        words=Bilingual(en="", ko=""),
    )
