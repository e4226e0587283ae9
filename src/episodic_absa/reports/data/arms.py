"""The first picture of a grid's report: every condition against the baseline in the primary metric."""

from collections.abc import Sequence
from typing import Final

from episodic_absa.analysis.asked_cells import headlines
from episodic_absa.analysis.finished_run import FinishedRun
from episodic_absa.analysis.grid_tables import compare_cells
from episodic_absa.metrics.statistics import Comparison
from episodic_absa.reports.bilingual import Bilingual
from episodic_absa.reports.data.comparisons import IN_WORDS, INTERVAL_HEAD, P_ORDERS, only_with_orders
from episodic_absa.reports.data.report_data import Arm, Arms, ConditionCard
from episodic_absa.reports.data.verdict_words import verdict_words
from episodic_absa.reports.plots.figure import Figure
from episodic_absa.reports.plots.forest_plot import WIDE, Forest, ForestRow, forest_plot, leaves_axis
from episodic_absa.reports.tables.table import Interval, Table, column
from episodic_absa.runs.question import criterion_of

EXPLORATORY: Final = Bilingual("exploratory", "탐색적")
SAME: Final = Bilingual("no variation", "변동 없음")
TOO_FEW: Final = Bilingual("too few", "너무 적음")


def arms_of(run: FinishedRun, cards: Sequence[ConditionCard]) -> Arms | None:
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
            comparison = compared.comparison if compared else _compared(run, pair)
            exploratory = asked_as is None or asked_as.is_exploratory
            is_asked = first in (pair, pair[::-1])
            rows.append(Arm(card.name, card.colour, is_asked, exploratory, comparison.primary, comparison.verdict()))
    if all(arm.paired.difference is None for arm in rows):
        return None
    rows.sort(key=lambda arm: not arm.is_asked)
    return Arms(baseline, asked.primary, asked.smallest_effect, tuple(rows))


def arms_table(arms: Arms) -> Table:
    """Return the numbers of the picture."""
    baseline, metric, paired = arms.baseline, arms.metric, [arm.paired for arm in arms.rows]
    title = Bilingual(f"Paired differences in {metric} against {baseline}", f"{baseline} 대비 {metric}의 짝지은 차이")
    columns = (
        column("arm", ("arm", "조건"), "arm", lambda arm: arm),
        column(metric, metric, "number", "paired.mean_a", only="page", defines=True),
        column("mean", ("mean", "평균"), "number", "paired.mean_a", only="files"),
        column(baseline, baseline, "number", "paired.mean_b", only="page"),
        column("baseline_mean", (f"mean of {baseline}", f"{baseline} 평균"), "number", "paired.mean_b", only="files"),
        column("difference", ("difference", "차이"), "signed", "paired.difference"),
        column("ci", INTERVAL_HEAD, "interval", lambda arm: Interval(arm.paired.ci_low, arm.paired.ci_high)),
        column("p", "p", "p", "paired.p_value"),
        column("p_orders", P_ORDERS, "p", "paired.p_orders", only=only_with_orders(paired)),
        column("reviews", ("reviews", "리뷰"), "count", "paired.n_uids"),
        column("orders", ("orders", "순서"), "count", "paired.orders_n"),
        column("question", ("question", "질문"), "name", _question, only="files"),
        column("in_words", IN_WORDS, "words", lambda arm: verdict_words(arm.verdict)),
    )
    return Table("difference_by_arm", title, columns, arms.rows)


def arms_figure(arms: Arms) -> Figure:
    """Return the picture, for a wide page and for a phone."""
    forest = arms_forest(arms)
    wide, narrow = forest_plot(forest, WIDE), forest_plot(forest)
    return Figure("difference_by_arm", wide, narrow=narrow, leaves_axis=leaves_axis(forest))


def arms_forest(arms: Arms) -> Forest:
    """Return the rows of the picture, with a band for the smallest effect."""
    baseline, size = arms.baseline, f"{arms.smallest_effect:g}"
    return Forest(
        rows=tuple(
            ForestRow(
                arm.condition,
                arm.paired.difference,
                arm.paired.ci_low,
                arm.paired.ci_high,
                without_interval=SAME if arm.paired.n_uids > 1 else TOO_FEW,
                colour=arm.colour,
                tag=EXPLORATORY if arm.exploratory else None,
                is_first=arm.is_asked,
                is_dashed=arm.exploratory,
            )
            for arm in arms.rows
        ),
        title=Bilingual(f"Paired difference of every arm against {baseline}", f"{baseline} 대비 각 조건의 짝지은 차이"),
        below=Bilingual(f"← below {baseline}", f"← {baseline}보다 낮음"),
        above=Bilingual(f"above {baseline} →", f"{baseline}보다 높음 →"),
        axis_title=Bilingual(
            f"{arms.metric}, arm minus {baseline}; band: ±{size}", f"{arms.metric}, 조건 − {baseline}; 띠: ±{size}"
        ),
        band=arms.smallest_effect,
    )


def _question(arm: Arm) -> str:
    return "exploratory" if arm.exploratory else "asked"


def _baseline(run: FinishedRun, cards: Sequence[ConditionCard]) -> str | None:
    """Return the second condition of the first pair; without a pair the first condition that never shows memory."""
    if not run.is_grid or len(cards) < 2:
        return None
    if run.comparisons:
        return run.comparisons[0].b
    return next((card.name for card in cards if not card.shows), cards[0].name)


def _compared(run: FinishedRun, pair: tuple[str, str]) -> Comparison:
    return compare_cells(pair, run.asked_groups[pair[0]], run.asked_groups[pair[1]], run.question)
