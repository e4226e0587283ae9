"""The leakage certificate: probes that try to read gold, identity and text out of advisories and stores."""

from episodic_absa.verification.certificate.certificate_file import check_certificate, read_certificate
from episodic_absa.verification.certificate.chance import codes_of, p_of, shuffled_places
from episodic_absa.verification.certificate.issue_certificate import build_certificate
from episodic_absa.verification.certificate.matching_probe import Matching
from episodic_absa.verification.certificate.polarity_probe import probe_polarity
from episodic_absa.verification.certificate.review_evidence import gold_polarity

__all__ = [
    "Matching",
    "build_certificate",
    "check_certificate",
    "codes_of",
    "gold_polarity",
    "p_of",
    "probe_polarity",
    "read_certificate",
    "shuffled_places",
]
