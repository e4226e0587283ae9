"""Stage1: pairs with quotes and confidences, then the risks, and what later steps read out of them."""

from episodic_absa.pipeline.stage1.first_analysis import FirstAnalysis, is_pair
from episodic_absa.pipeline.stage1.joint_votes import majority
from episodic_absa.pipeline.stage1.named_pairs import pairs_of, targets_of
from episodic_absa.pipeline.stage1.named_terms import TermMap, overlapping_term
from episodic_absa.pipeline.stage1.risks import remaining_risks, risks_of

__all__ = [
    "FirstAnalysis",
    "TermMap",
    "is_pair",
    "majority",
    "overlapping_term",
    "pairs_of",
    "remaining_risks",
    "risks_of",
    "targets_of",
]
