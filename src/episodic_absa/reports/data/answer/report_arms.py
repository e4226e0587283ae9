"""Builds the first picture of a grid's report: every condition against the baseline in the primary metric."""

from collections.abc import Sequence

from episodic_absa.analysis.asked_cells import headlines
from episodic_absa.analysis.finished_run import FinishedRun
from episodic_absa.metrics.statistics import Comparison, compare
from episodic_absa.reports.data.answer.arm_views import ArmRow, ArmsView
from episodic_absa.reports.data.answer.verdict_words import verdict_words
from episodic_absa.reports.data.report_data import ConditionCard
from episodic_absa.runs.question import Criterion, criterion_of
from episodic_absa.runs.reading.finished_cells import all_cards


def arms_view(run: FinishedRun, cards: Sequence[ConditionCard]) -> ArmsView | None:
    """Return every arm minus the baseline in the primary metric; None if no pair of conditions has a value."""
    baseline = _baseline(run, cards)
    if baseline is None:
        return None
    known = {(compared.comparison.a, compared.comparison.b): compared for compared in headlines(run.grid_comparisons)}
    first = next(iter(known), None)
    asked = criterion_of(run.question)
    rows = []
    for card in cards:
        pair = (card.name, baseline)
        if card.name != baseline:
            # A pair that was asked the other way round was asked, too.
            compared = known.get(pair)
            asked_as = compared or known.get(pair[::-1])
            comparison = compared.comparison if compared else _compared(run, pair, asked)
            exploratory = asked_as is None or asked_as.is_exploratory
            rows.append(_arm(card, comparison, is_asked=first in (pair, pair[::-1]), exploratory=exploratory))
    if all(row.difference is None for row in rows):
        return None
    rows.sort(key=lambda row: not row.is_asked)
    return ArmsView(baseline=baseline, metric=asked.primary, smallest_effect=asked.smallest_effect, rows=tuple(rows))


def _baseline(run: FinishedRun, cards: Sequence[ConditionCard]) -> str | None:
    """Return the second condition of the first pair; without a pair the first condition that never shows memory."""
    if not run.is_grid or len(cards) < 2:
        return None
    if run.comparisons:
        return run.comparisons[0].b
    return next((card.name for card in cards if not card.shows), cards[0].name)


def _compared(run: FinishedRun, pair: tuple[str, str], asked: Criterion) -> Comparison:
    arm, baseline = (run.asked_groups[name] for name in pair)
    return compare(
        pair[0],
        all_cards(arm),
        pair[1],
        all_cards(baseline),
        count_backfilled=arm[0].count_backfilled,
        primary=asked.primary,
        smallest_effect=asked.smallest_effect,
        same_by_construction=arm[0].manifest.condition.answers_like(baseline[0].manifest.condition),
    )


def _arm(card: ConditionCard, comparison: Comparison, *, is_asked: bool, exploratory: bool) -> ArmRow:
    paired, verdict = comparison.primary, comparison.verdict()
    return ArmRow(
        condition=card.name,
        colour=card.colour,
        is_asked=is_asked,
        exploratory=exploratory,
        reviews=paired.n_uids,
        orders=paired.orders_n,
        mean=paired.mean_a,
        baseline_mean=paired.mean_b,
        difference=paired.difference,
        ci_low=paired.ci_low,
        ci_high=paired.ci_high,
        p_value=paired.p_value,
        p_orders=paired.p_orders,
        variation=paired.variation,
        verdict=verdict.kind,
        words=verdict_words(verdict),
    )
