"""Power of a comparison before it is paid for."""

from episodic_absa.analysis.planning.pilot_variance import split_variance
from episodic_absa.analysis.planning.power_plan import cheapest, designs_for, orders_of_designs

__all__ = ["cheapest", "designs_for", "orders_of_designs", "split_variance"]
