"""The plots of the report: inline SVG, 340 units wide, so that they fit a phone without scaling."""

from episodic_absa.reports.plots.axis import Axis
from episodic_absa.reports.plots.cost_plot import CostOfSample, CostPoint, cost_plot
from episodic_absa.reports.plots.forest_plot import leaves_axis, zoomed
from episodic_absa.reports.plots.growth_plot import thinned

__all__ = [
    "Axis",
    "CostOfSample",
    "CostPoint",
    "cost_plot",
    "leaves_axis",
    "thinned",
    "zoomed",
]
