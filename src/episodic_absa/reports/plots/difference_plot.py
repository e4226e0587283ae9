"""A paired difference with its interval and a line at zero: one row of a forest plot."""

from collections.abc import Iterable
from typing import Final

from markupsafe import Markup

from episodic_absa.metrics.statistics import PairedDifference
from episodic_absa.reports import number_format
from episodic_absa.reports.bilingual import Bilingual
from episodic_absa.reports.plots import svg
from episodic_absa.reports.plots.axis import Axis

_WIDTH: Final = 150
_HEIGHT: Final = 22


def reach_of(rows: Iterable[PairedDifference]) -> float:
    """Return the largest distance from zero in the rows, as the half-width of a shared axis."""
    ends = [abs(end) for row in rows for end in (row.ci_low, row.ci_high, row.difference) if end is not None]
    return max(ends, default=0.0) or 1.0


def difference_plot(row: PairedDifference, reach: float) -> Markup:
    """Draw one difference: a full dot if the interval excludes zero, else a ring.

    Args:
        row: the difference and its interval.
        reach: the half-width of the axis; see `reach_of`.
    """
    axis = Axis(-reach, reach, 6, _WIDTH - 6)
    middle = _HEIGHT / 2
    parts = [svg.line(axis.at(0), 0, axis.at(0), _HEIGHT, "zero")]
    if row.difference is not None and row.variation:
        if row.ci_low is not None and row.ci_high is not None:
            parts.append(svg.line(axis.at(row.ci_low), middle, axis.at(row.ci_high), middle, "whisker"))
        excludes_zero = row.ci_low is not None and row.ci_high is not None and (row.ci_low > 0 or row.ci_high < 0)
        class_ = "dot" if excludes_zero else "ring"
        parts.append(svg.element("circle", cx=axis.at(row.difference), cy=middle, r=4, class_=class_))
    difference = number_format.signed(row.difference)
    title = Bilingual(en=f"{row.metric}: difference {difference}", ko=f"{row.metric}: 차이 {difference}")
    interval = number_format.interval(row.ci_low, row.ci_high, sign=True)
    described = Bilingual(en=f"95 % interval {interval}", ko=f"95 % 신뢰구간 {interval}")
    return svg.figure(_WIDTH, _HEIGHT, title, *parts, description=described)
