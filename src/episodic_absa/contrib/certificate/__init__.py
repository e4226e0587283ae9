"""The leakage certificate: probes that try to read gold, identity and text out of advisories and stores."""

from episodic_absa.contrib.certificate.certificate import build_certificate, check_certificate

__all__ = ["build_certificate", "check_certificate"]
