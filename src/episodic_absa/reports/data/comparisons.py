"""The paired comparisons of a page: their sentences and their tables."""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from episodic_absa.metrics.per_sample.sample_values import MICRO_METRICS
from episodic_absa.metrics.statistics import (
    NO_VARIATION,
    Comparison,
    PairedDifference,
    claim_label,
    equal_orders,
    power_sentence,
)
from episodic_absa.reports.bilingual import Bilingual
from episodic_absa.reports.data.verdict_words import answer_of, equivalence_words, numbers_of
from episodic_absa.reports.plots.difference_plot import difference_plot, reach_of
from episodic_absa.reports.tables.table import (
    Interval,
    Measure,
    MetricName,
    Missing,
    Rendering,
    Table,
    column,
    file_stem,
)

# Differences up to 1 share the axis of their plots; a larger one has its own axis.
_SHARED_SCALE: Final = 1.0
_SAME: Final = Bilingual(NO_VARIATION["en"], NO_VARIATION["ko"])
_TOO_FEW: Final = Bilingual("too few reviews", "리뷰가 너무 적음")
DIFFERENCE: Final = column("difference", ("difference", "차이"), "signed")
INTERVAL_HEAD: Final = ("95 % interval", "95 % 신뢰구간")
IN_WORDS: Final = ("in words", "판정")
P_ORDERS: Final = ("p, orders", "p(순서)")
REVIEWS: Final = column("reviews", ("reviews", "리뷰"), "count", "n_uids")


class ComparisonPart(NamedTuple):
    """Two conditions, review by review, as a page shows them."""

    comparison: Comparison
    table: Table
    answer: Bilingual
    """What the comparison says about the primary metric, in one plain sentence."""
    sentence: Bilingual
    """The tests of the primary metric, and the orders that all intervals are about where not about all."""
    orders: Bilingual
    """Why fewer orders count than were run; empty if all are different."""
    power: Bilingual
    """Empty without an interval."""
    exploratory: Bilingual | None
    """Why the comparison is exploratory; None if it was asked before the first sample."""


def comparison_part(
    comparison: Comparison, exploratory: Bilingual | None = None, *, is_added: bool = False
) -> ComparisonPart:
    """Return a comparison with its sentences and its table.

    Args:
        comparison: the compared pair.
        exploratory: why it is exploratory.
        is_added: whether its pair, an order or a seed was not asked for: the same pair may then stand on the page as
            asked, and the two tables need different names.
    """
    a, b, primary = comparison.a, comparison.b, comparison.primary
    orders = comparison.orders_run, max(row.orders_n for row in comparison.metrics)
    return ComparisonPart(
        comparison,
        _table(comparison, f"comparison_{a}_minus_{b}{'_exploratory' if is_added else ''}", exploratory),
        answer=answer_of(comparison),
        sentence=numbers_of(primary),
        orders=Bilingual(equal_orders(*orders, "en"), equal_orders(*orders, "ko")),
        power=Bilingual(power_sentence(primary, "en"), power_sentence(primary, "ko")),
        exploratory=exploratory,
    )


def words_of(row: PairedDifference, name_a: str) -> Bilingual:
    """Return the claim that the interval of a metric supports; empty for none."""
    # The table shows kind and lack of variation elsewhere.
    if row.claim == "none":
        return equivalence_words(row) or Bilingual("", "")
    return Bilingual(*(claim_label(row, language).replace("A ", f"{name_a} ", 1) for language in ("en", "ko")))


def _table(comparison: Comparison, name: str, exploratory: Bilingual | None) -> Table:
    a, b, rows = comparison.a, comparison.b, comparison.metrics

    def varying(read: Callable[[PairedDifference], Any]) -> Callable[[PairedDifference], Any]:
        return lambda row: read(row) if row.variation else Missing(_SAME if row.n_uids > 1 else _TOO_FEW)

    return Table(
        file_stem(name),
        Bilingual(f"Paired differences, {a} minus {b}", f"짝지은 차이, {a} − {b}"),
        (
            column("metric", ("metric", "지표"), "metric", _metric_name),
            column("kind", ("kind", "종류"), "name", only="files"),
            column("averaging", ("averaging", "평균 방식"), "name", _averaging, only="files"),
            column(f"value_{a}", a, "measure", lambda row: Measure(row.mean_a, row.kind == "efficiency")),
            column(f"value_{b}", b, "measure", lambda row: Measure(row.mean_b, row.kind == "efficiency")),
            DIFFERENCE,
            column("ci", INTERVAL_HEAD, "interval", varying(lambda row: Interval(row.ci_low, row.ci_high))),
            column("plot", ("plot", "그림"), "plot", varying(lambda row: _plot(rows, row)), only="page"),
            column("p", "p", "p", varying(lambda row: row.p_value)),
            column("p_orders", P_ORDERS, "p", varying(lambda row: row.p_orders), only=only_with_orders(rows)),
            column("p_holm", "Holm p", "p", varying(lambda row: row.p_holm)),
            column("dz", "dz", "signed", varying(lambda row: row.dz), digits=2),
            REVIEWS,
            column("in_words", IN_WORDS, "words", lambda row: words_of(row, a)),
        ),
        rows,
        note=exploratory,
        by_kind=True,
        style="paired",
    )


def only_with_orders(rows: Sequence[PairedDifference]) -> Rendering | None:
    """Return where the column of the test over orders appears: on a page only if some row has one."""
    return None if any(row.p_orders is not None for row in rows) else "files"


def _metric_name(row: PairedDifference) -> MetricName:
    is_ratio = row.metric in MICRO_METRICS
    return MetricName(row.metric, row.kind, is_paired=True, is_primary=row.is_primary, is_ratio=is_ratio)


def _averaging(row: PairedDifference) -> str:
    return "ratio of sums" if row.metric in MICRO_METRICS else "mean"


def _plot(rows: Sequence[PairedDifference], row: PairedDifference) -> Markup:
    own = reach_of([row])
    shared = [other for other in rows if other.kind == row.kind and reach_of([other]) <= _SHARED_SCALE]
    return difference_plot(row, own if own > _SHARED_SCALE else reach_of(shared))
