"""Receipts: the lines of a run that a number of a table comes from, and the number computed from them again."""

from episodic_absa.verification.receipts.explain import explain, explain_run
from episodic_absa.verification.receipts.receipt import Contribution, Explanation, PairedContribution

__all__ = [
    "Contribution",
    "Explanation",
    "PairedContribution",
    "explain",
    "explain_run",
]
