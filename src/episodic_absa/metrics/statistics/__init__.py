"""Paired comparison of two conditions by review and order, and the claims that the numbers support."""

from episodic_absa.metrics.statistics.bootstrap import (
    RESAMPLES,
    SEED,
    bootstrap_intervals,
    ratio_intervals,
)
from episodic_absa.metrics.statistics.claim_words import UnsupportedClaim, find_unsupported_claims
from episodic_absa.metrics.statistics.claims import (
    NO_VARIATION,
    PROCESS_LABEL,
    ClaimLanguage,
    claim_label,
    equal_orders,
    few_reviews,
    p_values_text,
    power_sentence,
)
from episodic_absa.metrics.statistics.comparison import PRIMARY, Comparison, compare
from episodic_absa.metrics.statistics.holm import holm
from episodic_absa.metrics.statistics.mcnemar import McNemar
from episodic_absa.metrics.statistics.number_text import interval_text, p_equals, p_text, signed
from episodic_absa.metrics.statistics.paired.difference import Claim, PairedDifference
from episodic_absa.metrics.statistics.paired.equivalence import SMALLEST_EFFECT
from episodic_absa.metrics.statistics.power import (
    ALPHA,
    FEWEST_ORDERS,
    FEWEST_REVIEWS,
    POWER,
    Design,
    Variances,
    detectable_effect,
    needed_reviews,
    orders_for,
    power_of,
)
from episodic_absa.metrics.statistics.random_draws import RandomDraws
from episodic_absa.metrics.statistics.verdict import Verdict, verdict_sentence

__all__ = [
    "ALPHA",
    "FEWEST_ORDERS",
    "FEWEST_REVIEWS",
    "NO_VARIATION",
    "POWER",
    "PRIMARY",
    "PROCESS_LABEL",
    "RESAMPLES",
    "SEED",
    "SMALLEST_EFFECT",
    "Claim",
    "ClaimLanguage",
    "Comparison",
    "Design",
    "McNemar",
    "PairedDifference",
    "RandomDraws",
    "UnsupportedClaim",
    "Variances",
    "Verdict",
    "bootstrap_intervals",
    "claim_label",
    "compare",
    "detectable_effect",
    "equal_orders",
    "few_reviews",
    "find_unsupported_claims",
    "holm",
    "interval_text",
    "needed_reviews",
    "orders_for",
    "p_equals",
    "p_text",
    "p_values_text",
    "power_of",
    "power_sentence",
    "ratio_intervals",
    "signed",
    "verdict_sentence",
]
