"""Loads what tables are made of: the manifest and the scorecards of a cell, or of every cell of a grid."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from pydantic import ValidationError

from episodic_absa.conditions import ConditionsVersion, load_conditions
from episodic_absa.errors import RunDirectoryError
from episodic_absa.experiments.run_directory import MANIFEST, SCORECARDS
from episodic_absa.experiments.run_files import CellFiles, Manifest
from episodic_absa.memory.memory_store import reasons_of
from episodic_absa.schemas.scorecard import Scorecard

logger = logging.getLogger("episodic_absa.experiments")


@dataclass(frozen=True)
class FinishedCell:
    """One condition with one seed, or the building of a store, as tables need it."""

    path: Path
    manifest: Manifest
    cards: tuple[Scorecard, ...]

    @property
    def condition(self) -> str:
        """The name that the cell's condition is reported under."""
        return self.manifest.condition.name

    @property
    def count_backfilled(self) -> bool:
        """Whether the experiment counts backfills as predictions."""
        return self.manifest.config.eval.count_backfilled

    @property
    def condition_aliases(self) -> Mapping[str, str]:
        """Other names of conditions, as far as the conditions file is within reach."""
        source = self.manifest.config.episodic_memory.conditions_path
        if source is None or source in get_args(ConditionsVersion):
            return load_conditions(source).aliases
        path = CellFiles(self.path).resolve(Path(source))
        return load_conditions(path).aliases if path is not None and path.is_file() else {}


def load_cells(root: Path) -> tuple[FinishedCell, ...]:
    """Load the cell that `root` is, or every cell that lies in it, conditions in the order they were named in."""
    if not root.is_dir():
        raise RunDirectoryError(f"{root} is no directory; name a run directory or the directory of a grid", path=root)
    paths = [root] if is_cell(root) else sorted(path for path in root.iterdir() if is_cell(path))
    if not paths:
        raise RunDirectoryError(
            f"{root} holds neither {MANIFEST} nor the directories of cells; name a directory that a run wrote",
            path=root,
        )
    return in_order(load_cell(path) for path in paths)


def in_order(cells: Iterable[FinishedCell]) -> tuple[FinishedCell, ...]:
    """Sort cells as tables show them: by condition, then by seed, the building of stores last."""
    return tuple(sorted(cells, key=_place))


def is_cell(path: Path) -> bool:
    """Whether a run wrote a cell here."""
    return (path / MANIFEST).is_file()


def load_cell(path: Path) -> FinishedCell:
    """Load one cell; what an interrupted run left is loaded as far as it goes, with a warning."""
    files = CellFiles(path)
    if files.manifest is None:
        raise RunDirectoryError(f"{path}: {files.manifest_problem}; run the experiment first", path=path)
    manifest = files.manifest
    cards = load_scorecards(path / SCORECARDS, may_be_torn=not manifest.completed)
    if not manifest.completed:
        due = manifest.dataset.processing_count
        logger.warning("%s is not finished: %d of %d samples", path.name, len(cards), due)
    return FinishedCell(path, manifest, tuple(cards))


def load_scorecards(path: Path, *, may_be_torn: bool = False) -> list[Scorecard]:
    """Read the scorecards of a cell.

    Args:
        path: the file.
        may_be_torn: leave out a last line that is not ended, as a kill in the middle of a write leaves it.
    """
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise RunDirectoryError(f"cannot read {path}: {error.strerror}; run the experiment first", path=path) from error
    if may_be_torn and lines and not lines[-1].endswith(b"\n"):
        lines.pop()
    return list(_validated(lines, path))


def _validated(lines: Iterable[bytes], path: Path) -> Iterable[Scorecard]:
    for number, line in enumerate(lines, start=1):
        try:
            yield Scorecard.model_validate_json(line)
        except ValidationError as error:
            problem = f"{path}, line {number}: {reasons_of(error)}; `episodic-absa verify` tells more"
            raise RunDirectoryError(problem, path=path) from error


def evaluated(cells: Iterable[FinishedCell]) -> dict[str, list[FinishedCell]]:
    """Return the cells of every condition, the building of stores aside."""
    by_condition: dict[str, list[FinishedCell]] = {}
    for cell in cells:
        if not cell.manifest.is_build:
            by_condition.setdefault(cell.condition, []).append(cell)
    return by_condition


def all_cards(cells: Sequence[FinishedCell]) -> list[Scorecard]:
    """Return the scorecards of several seeds."""
    return [card for cell in cells for card in cell.cards]


def _place(cell: FinishedCell) -> tuple[bool, int, str, int]:
    # Builds last; conditions as the experiment lists them, one that it names by an alias by its name after those.
    named = cell.manifest.config.experiment.conditions or ()
    order = named.index(cell.condition) if cell.condition in named else len(named)
    return cell.manifest.is_build, order, cell.condition, cell.manifest.seed
