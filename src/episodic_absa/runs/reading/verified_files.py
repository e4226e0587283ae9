"""The files that `verify` checks, and their hashes, by which a later change shows."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from episodic_absa.runs.derived.derived_samples import SAMPLE_FILES
from episodic_absa.runs.question import QUESTION
from episodic_absa.runs.reading.manifest_file import MANIFEST
from episodic_absa.runs.run_directory import RUN_META, STORE
from episodic_absa.runs.samples_file import SAMPLES

INTEGRITY: Final = "integrity.json"
CERTIFICATE: Final = "certificate.json"
CELL_MARK: Final = "__seed"
"""Stands in the name of every cell's directory."""
ORDER_MARK: Final = "__order"
"""Stands before that in the name of a cell whose order `experiment.orders` names."""
_OF_A_CELL: Final = (
    MANIFEST,
    SAMPLES,
    *SAMPLE_FILES,
    STORE,
    RUN_META,
    "structural_metrics.csv",
    "triptych.csv",
    "memory_growth.jsonl",
    CERTIFICATE,
)
_OF_A_GRID: Final = (QUESTION, "grid_metrics.csv", "comparisons.csv", "strata.csv", "principles.csv", CERTIFICATE)


def cell_hashes(cell: Path) -> dict[str, str]:
    """Return the sha256 of every file that the checks of a cell read, if it exists."""
    return _hashes(cell, _OF_A_CELL)


def grid_hashes(grid: Path) -> dict[str, str]:
    """Return the sha256 of every file that the checks of a grid read; an added or removed cell changes them."""
    cells = sorted(path.name for path in grid.iterdir() if path.is_dir())
    return _hashes(grid, [*_OF_A_GRID, *(f"{cell}/{name}" for cell in cells for name in _OF_A_CELL)])


def certificate_hash(directory: Path) -> dict[str, str]:
    """Return the sha256 of the certificate of a cell or grid; nothing if it has none."""
    return _hashes(directory, (CERTIFICATE,))


def holds_run_files(path: Path) -> bool:
    """Return whether a run wrote here, with or without a manifest."""
    return (path / SAMPLES).is_file()


def forget_verification(cell: Path) -> None:
    """Remove integrity.json and certificate.json of a cell and of its grid, before the cell changes."""
    for directory in (cell, cell.parent):
        for name in (INTEGRITY, CERTIFICATE):
            (directory / name).unlink(missing_ok=True)


def is_unchanged(seen: Mapping[str, str] | None, now: Mapping[str, str]) -> bool:
    """Return whether the files are those that were checked; False without hashes."""
    return seen is not None and seen == now


def _hashes(root: Path, names: Iterable[str]) -> dict[str, str]:
    hashes = {}
    for name in names:
        try:
            with open(root / name, "rb") as file:
                hashes[name] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            continue  # missing or unreadable: it was not checked
    return hashes
