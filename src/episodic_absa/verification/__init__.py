"""Checks an experiment before it runs and its files afterwards."""

from episodic_absa.verification.checks.findings import Findings, NotApplicableError
from episodic_absa.verification.integrity_file import read_certificate
from episodic_absa.verification.preflight import check_experiment
from episodic_absa.verification.verify import Verified, verify

__all__ = [
    "Findings",
    "NotApplicableError",
    "Verified",
    "check_experiment",
    "read_certificate",
    "verify",
]
