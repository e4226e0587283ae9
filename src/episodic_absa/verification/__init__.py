"""Checks an experiment before it runs and its files afterwards."""

from episodic_absa.verification.preflight import check_experiment
from episodic_absa.verification.verify import Verified, verify

__all__ = [
    "Verified",
    "check_experiment",
    "verify",
]
