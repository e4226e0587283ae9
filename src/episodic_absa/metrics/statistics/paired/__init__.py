"""One paired metric by review and order: its difference, its interval, its tests. Knows no scorecard."""

from episodic_absa.metrics.statistics.paired.assessment import assess
from episodic_absa.metrics.statistics.paired.cells import PairedCells
from episodic_absa.metrics.statistics.paired.equivalence import Equivalence, equivalence_of
from episodic_absa.metrics.statistics.paired.evidence import Evidence
from episodic_absa.metrics.statistics.paired.interval import IntervalMethod, PairedInterval, paired_intervals
from episodic_absa.metrics.statistics.paired.order_test import order_test_p
from episodic_absa.metrics.statistics.paired.sides_swapped import SwapTest, swap_tests

__all__ = [
    "Equivalence",
    "Evidence",
    "IntervalMethod",
    "PairedCells",
    "PairedInterval",
    "SwapTest",
    "assess",
    "equivalence_of",
    "order_test_p",
    "paired_intervals",
    "swap_tests",
]
