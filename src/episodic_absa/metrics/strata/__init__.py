"""Whether a difference is the same in every group of reviews, and what a randomised group gains."""

from episodic_absa.metrics.strata.contrast import Contrast, randomised_contrast
from episodic_absa.metrics.strata.interaction import GroupedDifference, interaction_p_value, order_interaction_p

__all__ = ["Contrast", "GroupedDifference", "interaction_p_value", "order_interaction_p", "randomised_contrast"]
