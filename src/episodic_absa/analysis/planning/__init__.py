"""Power of a comparison before it is paid for."""

from episodic_absa.analysis.planning.pilot_variance import split_variance
from episodic_absa.analysis.planning.power_plan import (
    Design,
    Variances,
    designs_for,
    detectable_effect,
    needed_reviews,
    power_of,
)

__all__ = [
    "Design",
    "Variances",
    "designs_for",
    "detectable_effect",
    "needed_reviews",
    "power_of",
    "split_variance",
]
