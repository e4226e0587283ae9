"""certificate.json: writes it, reads it, and checks it against the files of the run."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from pydantic import ValidationError

from episodic_absa.errors import RunDirectoryError
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.reading.verified_files import CERTIFICATE
from episodic_absa.schemas.run_files.verification.certificate import Certificate
from episodic_absa.serialization.canonical_json import indented_json
from episodic_absa.serialization.csv_text import replace_file
from episodic_absa.verification.certificate.issue_certificate import build_certificate
from episodic_absa.verification.checks.findings import Findings, NotApplicableError


def issue_certificate(directory: Path, cells: Sequence[CellFiles]) -> Certificate:
    """Run the probes over the cells of a directory and write certificate.json into it.

    Raises:
        RunDirectoryError: the file cannot be written, or no cell can be read.
    """
    if not cells:
        raise RunDirectoryError(
            f"{directory} has no cell with a readable manifest; run `episodic-absa verify` without --certificate first",
            path=directory,
        )
    certificate = build_certificate(cells)
    replace_file(directory / CERTIFICATE, indented_json(certificate.model_dump(mode="json", exclude_none=True)))
    return certificate


def read_certificate(directory: Path) -> Certificate | None:
    """Return the certificate of a directory; None if it is missing or not one of ours."""
    try:
        return Certificate.model_validate_json((directory / CERTIFICATE).read_bytes())
    except (OSError, ValidationError):
        return None


def check_certificate(directory: Path, cells: Sequence[CellFiles], *, is_issued: bool = False) -> Findings:
    """The certificate is what the probes give, and memory tells nothing beyond the allowed.

    Args:
        directory: where certificate.json stands.
        cells: what it is about.
        is_issued: make the certificate now instead of checking the one that is there.
    """
    certificate = issue_certificate(directory, cells) if is_issued else read_certificate(directory)
    if certificate is None:
        yield f"{CERTIFICATE} is no certificate; `episodic-absa verify --certificate` writes it anew"
        return
    if certificate.package_version != version("episodic-absa"):
        raise NotApplicableError(
            f"{CERTIFICATE} was made by version {certificate.package_version}; `episodic-absa verify --certificate` "
            "makes it anew"
        )
    is_current = is_issued or build_certificate(cells) == certificate
    yield (
        None
        if is_current
        else (f"{CERTIFICATE} is not what the probes give now; `episodic-absa verify --certificate` makes it anew")
    )
    for probe in certificate.probes:
        if probe.scope == "beyond":
            target, source = probe.target.replace("_", " "), probe.source.replace("_", " ")
            yield f"{target} can be told from {source}, beyond what memory may hold" if probe.is_leak else None
