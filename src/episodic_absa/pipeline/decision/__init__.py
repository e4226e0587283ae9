"""The decision: candidates, their witnesses, one probability, one threshold; and the label."""

from episodic_absa.pipeline.decision.applied_changes import apply_changes
from episodic_absa.pipeline.decision.candidates import Candidate, ReaderVoice, gather
from episodic_absa.pipeline.decision.changes import PairChange, changes_of
from episodic_absa.pipeline.decision.claims import Claim, claims_of_cj, claims_of_epm, claims_of_tan, ruling_of
from episodic_absa.pipeline.decision.pair_label import moderated_label
from episodic_absa.pipeline.decision.quotes import words_in_text
from episodic_absa.pipeline.decision.weighing import choose, probability, weigh
from episodic_absa.pipeline.decision.weights import SHIPPED_WEIGHTS, DecisionWeights, WeightSet, load_decision_weights

__all__ = [
    "SHIPPED_WEIGHTS",
    "Candidate",
    "Claim",
    "DecisionWeights",
    "PairChange",
    "ReaderVoice",
    "WeightSet",
    "apply_changes",
    "changes_of",
    "choose",
    "claims_of_cj",
    "claims_of_epm",
    "claims_of_tan",
    "gather",
    "load_decision_weights",
    "moderated_label",
    "probability",
    "ruling_of",
    "weigh",
    "words_in_text",
]
