"""Builds the first picture of a grid's report: every condition against the baseline in the primary metric."""

from collections.abc import Sequence
from typing import Final

from episodic_absa.analysis.asked_cells import headlines
from episodic_absa.analysis.finished_run import FinishedRun
from episodic_absa.metrics.statistics import Comparison, PairedDifference, compare
from episodic_absa.reports.data.arm_views import ArmRow, ArmsView
from episodic_absa.reports.data.bilingual import Bilingual
from episodic_absa.reports.data.report_data import ConditionCard
from episodic_absa.reports.data.report_tables import PRIMARY
from episodic_absa.runs.reading.finished_cells import all_cards

_SMALLEST_EFFECT: Final = 0.01


def arms_view(run: FinishedRun, cards: Sequence[ConditionCard]) -> ArmsView | None:
    """Return every arm minus the baseline in the primary metric; None if no pair of conditions has a value."""
    baseline = _baseline(run, cards)
    if baseline is None:
        return None
    known = {(compared.comparison.a, compared.comparison.b): compared for compared in headlines(run.grid_comparisons)}
    first = next(iter(known), None)
    metric, smallest_effect = _asked_metric(run)
    rows = []
    for card in cards:
        pair = (card.name, baseline)
        if card.name != baseline:
            compared = known.get(pair)
            comparison = compared.comparison if compared else _compared(run, pair)
            rows.append(
                _arm(
                    card,
                    comparison.of(metric),
                    is_asked=pair == first,
                    exploratory=not compared or bool(compared.parts),
                )
            )
    if all(row.difference is None for row in rows):
        return None
    rows.sort(key=lambda row: not row.is_asked)
    return ArmsView(baseline=baseline, metric=metric, smallest_effect=smallest_effect, rows=tuple(rows))


def _asked_metric(run: FinishedRun) -> tuple[str, float]:
    """Return the primary metric and the smallest effect of interest; the defaults if no question was fixed."""
    asked = run.question.asked if run.question else None
    return (asked.primary_metric, asked.smallest_effect) if asked else (PRIMARY, _SMALLEST_EFFECT)


def _baseline(run: FinishedRun, cards: Sequence[ConditionCard]) -> str | None:
    """Return the second condition of the first pair; without a pair the first condition that never shows memory."""
    if not run.is_grid or len(cards) < 2:
        return None
    if run.comparisons:
        return run.comparisons[0].b
    return next((card.name for card in cards if not card.shows), cards[0].name)


def _compared(run: FinishedRun, pair: tuple[str, str]) -> Comparison:
    arm, baseline = (run.asked_groups[name] for name in pair)
    return compare(pair[0], all_cards(arm), pair[1], all_cards(baseline), count_backfilled=arm[0].count_backfilled)


def _arm(card: ConditionCard, paired: PairedDifference, *, is_asked: bool, exploratory: bool) -> ArmRow:
    return ArmRow(
        condition=card.name,
        colour=card.colour,
        is_asked=is_asked,
        exploratory=exploratory,
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
