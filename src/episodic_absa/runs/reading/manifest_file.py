"""Reads manifest.json of a cell. A directory of an older version is refused with the version that reads it."""

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from episodic_absa.errors import RunDirectoryError
from episodic_absa.schemas.run_files.manifest import MANIFEST_VERSION, Manifest
from episodic_absa.serialization.quoted_value import reasons_of
from episodic_absa.serialization.seals import seal_state

MANIFEST: Final = "manifest.json"
_JOURNAL: Final = "journal.jsonl"
"""A file of versions 0.1 and 0.2 that this version does not write."""
_FIRST_VERSION: Final = "0.1"
_LAST_OLD_VERSION: Final = "0.2"


class ReadManifest(NamedTuple):
    """The manifest, or None and what is wrong with the file."""

    manifest: Manifest | None
    problem: str = ""


def read_manifest(cell: Path) -> ReadManifest:
    """Return the manifest of a cell's directory.

    Raises:
        RunDirectoryError: the directory is one of an older version.
    """
    path = cell / MANIFEST
    try:
        content = path.read_bytes()
    except OSError as error:
        _refuse_older(cell, {})
        return ReadManifest(None, f"{MANIFEST}: {error.strerror}")
    _refuse_older(cell, _object_in(content))
    try:
        manifest = Manifest.model_validate_json(content)
        _ = manifest.config
    except ValidationError as error:
        is_other_file = any(not problem["loc"] for problem in error.errors(include_url=False, include_input=False))
        reasons = "not a JSON object with the keys of a manifest" if is_other_file else reasons_of(error)
        return ReadManifest(None, f"{MANIFEST}: {reasons}")
    return ReadManifest(manifest)


def require_sealed(cell: Path, name: str = MANIFEST) -> None:
    """Refuse a cell whose manifest, or another small file, was changed after it was written.

    Raises:
        RunDirectoryError: it says what to do.
    """
    path = cell / name
    if not path.is_file() or seal_state(path.read_bytes()) != "whole":
        raise RunDirectoryError(
            f"{path} is not as the run wrote it; restore the file, or move {cell} away and run again: its samples run "
            "again, with the answers that the cache holds",
            path=path,
        )


def _refuse_older(cell: Path, manifest: dict[str, Any]) -> None:
    number = manifest.get("manifest_version")
    if isinstance(number, int) and number < MANIFEST_VERSION:
        # A manifest without an order is of 0.1, whatever version it names.
        named = str(manifest.get("package_version") or _LAST_OLD_VERSION)
        version = _FIRST_VERSION if manifest.get("order") is None else ".".join(named.split(".")[:2])
    elif number is None and (cell / _JOURNAL).is_file():
        version = f"{_FIRST_VERSION} or {_LAST_OLD_VERSION}"
    else:
        return
    raise RunDirectoryError(
        f"{cell} was written by version {version} of episodic-absa, and this version does not read it; read it with "
        f"version {version}, or run the experiment again with another run_id",
        path=cell,
    )


def _object_in(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
