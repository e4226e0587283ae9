"""Loads the manifest of a cell and the scorecards that follow from its records, or of every cell of a grid."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import get_args

from episodic_absa.conditions import ConditionsVersion, load_conditions
from episodic_absa.errors import RunDirectoryError
from episodic_absa.metrics import GrowthLine, MetricValue, compute_cell_metrics, compute_growth
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.reading.manifest_file import MANIFEST, require_sealed
from episodic_absa.runs.reading.verified_files import CELL_MARK, holds_run_files
from episodic_absa.schemas.run_files.manifest import Manifest, Repetition
from episodic_absa.schemas.run_files.scorecard import Scorecard

logger = logging.getLogger("episodic_absa.runs")
Tell = Callable[[str], None]
"""A callback that gets each step of a long task, for display."""


def tell_nobody(step: str) -> None:
    """Ignore the step."""


@dataclass(frozen=True)
class FinishedCell:
    """One condition with one order and one seed, or the building of a store, as tables need it."""

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

    @cached_property
    def metrics(self) -> tuple[MetricValue, ...]:
        """The metrics of the cell."""
        return compute_cell_metrics(self.cards, majority=self.manifest.majority, count_backfilled=self.count_backfilled)

    @cached_property
    def growth(self) -> tuple[GrowthLine, ...]:
        """The growth of the memory, window by window."""
        return compute_growth(self.cards, count_backfilled=self.count_backfilled)

    @property
    def condition_aliases(self) -> Mapping[str, str]:
        """Other names of conditions; empty if the conditions file is out of reach."""
        source = self.manifest.conditions_source
        if source in get_args(ConditionsVersion):
            return load_conditions(source).aliases
        path = CellFiles(self.path).resolve(Path(source))
        return load_conditions(path).aliases if path is not None and path.is_file() else {}


def require_directory(path: Path) -> None:
    """Refuse a path that cannot be the directory of a run."""
    if not path.is_dir():
        message = f"{path} is not a directory; name a run directory or the directory of a grid"
        raise RunDirectoryError(message, path=path)


def load_cells(root: Path, tell: Tell = tell_nobody) -> tuple[FinishedCell, ...]:
    """Load the cell in `root`, or every cell below it, in the order of the experiment's conditions."""
    require_directory(root)
    paths = [root] if is_cell(root) else sorted(path for path in root.iterdir() if is_cell(path))
    if not paths:
        raise RunDirectoryError(
            f"{root} holds neither {MANIFEST} nor the directories of cells; name a directory that a run wrote",
            path=root,
        )
    cells = []
    for path in paths:
        tell(f"reading {path.name}")
        cells.append(load_cell(path))
    return in_order(cells)


def find_orphans(root: Path) -> tuple[Path, ...]:
    """Return the directories of cells without a manifest; no table counts their samples."""
    if is_cell(root):
        return ()
    orphans = [path for path in sorted(root.glob(f"*{CELL_MARK}*")) if not is_cell(path) and holds_run_files(path)]
    for path in orphans:
        logger.warning("%s holds samples but no %s and is left out; restore it", path, MANIFEST)
    return tuple(orphans)


def in_order(cells: Iterable[FinishedCell]) -> tuple[FinishedCell, ...]:
    """Sort cells as tables show them: by condition, order and seed, cells that build stores last."""
    return tuple(sorted(cells, key=_place))


def is_cell(path: Path) -> bool:
    """Return whether the directory holds a manifest."""
    return (path / MANIFEST).is_file()


def load_cell(path: Path) -> FinishedCell:
    """Load one cell; for an interrupted or damaged run, load what is there and log a warning."""
    files = CellFiles(path)
    if files.manifest is None:
        what_next = "run `episodic-absa verify` for details" if is_cell(path) else "run the experiment first"
        raise RunDirectoryError(f"{path}: {files.manifest_problem}; {what_next}", path=path)
    require_sealed(path)
    manifest = files.manifest
    cards = files.scorecards
    due = manifest.dataset.processing_count
    if not manifest.completed:
        logger.warning("%s is not finished: %d of %d samples", path.name, len(cards), due)
    return FinishedCell(path, manifest, cards)


def evaluated(cells: Iterable[FinishedCell]) -> dict[str, list[FinishedCell]]:
    """Return the cells of every condition, without those that build stores."""
    by_condition: dict[str, list[FinishedCell]] = {}
    for cell in cells:
        if not cell.manifest.is_build:
            by_condition.setdefault(cell.condition, []).append(cell)
    return by_condition


def all_cards(cells: Sequence[FinishedCell]) -> list[Scorecard]:
    """Return the scorecards of several orders and seeds."""
    return [card for cell in cells for card in cell.cards]


def _place(cell: FinishedCell) -> tuple[bool, int, str, Repetition]:
    # Builds last; conditions in the experiment's order, then those that it names by an alias, by name.
    named = cell.manifest.config.experiment.conditions or ()
    place = named.index(cell.condition) if cell.condition in named else len(named)
    return cell.manifest.is_build, place, cell.condition, cell.manifest.repetition
