"""What `verify` wrote into a directory: integrity.json, and certificate.json if it was asked for."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from episodic_absa.runs.reading.verified_files import CERTIFICATE, INTEGRITY
from episodic_absa.schemas.run_files.certificate import Certificate
from episodic_absa.schemas.run_files.check_result import CheckResult
from episodic_absa.serialization.canonical_json import indented_json
from episodic_absa.serialization.csv_text import replace_file

_FILES_SEEN: Final = "files_seen"
_RESULTS: Final = TypeAdapter(tuple[CheckResult, ...])


def files_seen(hashes: dict[str, str]) -> CheckResult:
    """Return the entry that names the checked files by their hashes."""
    return CheckResult(check=_FILES_SEEN, result="pass", detail=f"looked at {len(hashes)}", count=0, sha256=hashes)


def seen_hashes(results: Sequence[CheckResult]) -> dict[str, str] | None:
    """Return the hashes of the checked files; None if no entry names them."""
    return next((result.sha256 for result in results if result.check == _FILES_SEEN), None)


def write_results(directory: Path, results: Sequence[CheckResult]) -> None:
    """Replace the integrity.json of a directory.

    Raises:
        RunDirectoryError: the file cannot be written.
    """
    entries = [result.model_dump(mode="json", exclude_none=True) for result in results]
    replace_file(directory / INTEGRITY, indented_json(entries))


def read_results(directory: Path) -> tuple[CheckResult, ...]:
    """Return the entries of a directory's integrity.json; none if it is missing or `verify` did not write it."""
    try:
        return _RESULTS.validate_json((directory / INTEGRITY).read_bytes())
    except (OSError, ValidationError):
        return ()


def read_certificate(directory: Path) -> Certificate | None:
    """Return the certificate of a directory; None if it is missing or not one of ours."""
    try:
        return Certificate.model_validate_json((directory / CERTIFICATE).read_bytes())
    except (OSError, ValidationError):
        return None
