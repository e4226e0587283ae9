"""Adoption, the moderator and the final result."""

from episodic_absa.pipeline.decision.applied_changes import apply_changes
from episodic_absa.pipeline.decision.change_decision import decide_again, decide_changes, settle
from episodic_absa.pipeline.decision.change_rules import SHIPPED_RULES, AdoptionRules, adopt, load_adoption_rules
from episodic_absa.pipeline.decision.changes import ProposedChange, Reader, changes_of
from episodic_absa.pipeline.decision.claims import Claim, claims_of_cj, claims_of_epm, claims_of_tan, ruling_of
from episodic_absa.pipeline.decision.clauses import clauses, lies_at_home, words_in_text
from episodic_absa.pipeline.decision.pair_label import moderated_label, whole_text_label
from episodic_absa.pipeline.decision.witnesses import WITNESSES, ReaderThresholds, hear

__all__ = [
    "SHIPPED_RULES",
    "WITNESSES",
    "AdoptionRules",
    "Claim",
    "ProposedChange",
    "Reader",
    "ReaderThresholds",
    "adopt",
    "apply_changes",
    "changes_of",
    "claims_of_cj",
    "claims_of_epm",
    "claims_of_tan",
    "clauses",
    "decide_again",
    "decide_changes",
    "hear",
    "lies_at_home",
    "load_adoption_rules",
    "moderated_label",
    "ruling_of",
    "settle",
    "whole_text_label",
    "words_in_text",
]
