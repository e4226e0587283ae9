"""Paired comparison of two conditions, review by review, and the claims that the numbers support."""

from episodic_absa.metrics.statistics.bootstrap import RESAMPLES, SEED, mean_interval
from episodic_absa.metrics.statistics.claim_words import UnsupportedClaim, find_unsupported_claims
from episodic_absa.metrics.statistics.claims import (
    NO_VARIATION,
    PROCESS_LABEL,
    Claim,
    ClaimLanguage,
    claim_label,
    claim_sentence,
    claim_strength,
    excludes_zero,
    power_sentence,
)
from episodic_absa.metrics.statistics.comparison import Comparison, PairedDifference, compare
from episodic_absa.metrics.statistics.holm import holm
from episodic_absa.metrics.statistics.mcnemar import McNemar
from episodic_absa.metrics.statistics.power import detectable_difference, required_n

__all__ = [
    "NO_VARIATION",
    "PROCESS_LABEL",
    "RESAMPLES",
    "SEED",
    "Claim",
    "ClaimLanguage",
    "Comparison",
    "McNemar",
    "PairedDifference",
    "UnsupportedClaim",
    "claim_label",
    "claim_sentence",
    "claim_strength",
    "compare",
    "detectable_difference",
    "excludes_zero",
    "find_unsupported_claims",
    "holm",
    "mean_interval",
    "power_sentence",
    "required_n",
]
