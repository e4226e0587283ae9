"""The two sides of a comparison: their cells and scorecards."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from episodic_absa.errors import RunDirectoryError
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.reading.finished_cells import FinishedCell, is_cell
from episodic_absa.schemas.run_files.manifest import Manifest, Repetition
from episodic_absa.schemas.run_files.scorecard import Scorecard


@dataclass(frozen=True)
class Side:
    """One cell, or all orders and seeds of one condition of a grid."""

    name: str
    place: Path
    """The name that the caller gave."""
    cells: tuple[Path, ...]
    """The resolved directories of its cells."""
    manifests: tuple[Manifest, ...]
    cards: tuple[Scorecard, ...]

    @property
    def grid(self) -> Path:
        """The directory of the grid that holds its cells."""
        return self.cells[0].parent

    @cached_property
    def repetitions(self) -> frozenset[Repetition]:
        """The orders and seeds it was run with."""
        return frozenset(manifest.repetition for manifest in self.manifests)

    @property
    def has_orders(self) -> bool:
        """Whether it was run in orders that `experiment.orders` names."""
        return any(manifest.names_order for manifest in self.manifests)

    @property
    def count_backfilled(self) -> bool:
        """Whether the experiment counts backfills as predictions."""
        return any(manifest.config.eval.count_backfilled for manifest in self.manifests)

    @cached_property
    def keys(self) -> frozenset[tuple[str, int, int]]:
        """The uid, order and seed of every sample."""
        return frozenset(card.pair_key for card in self.cards)


def load_sides(places: Sequence[Path]) -> tuple[Side, Side]:
    """Load `A B` or `GRID CONDITION CONDITION`; the two get different names."""
    if len(places) == 3:
        grid, *conditions = places
        places = [grid / condition for condition in conditions]
    a, b = (load_side(place) for place in places)
    for rename in (_with_run_id, _with_place):
        # A run that is compared with itself keeps its name.
        if a.name == b.name and a.cells != b.cells:
            a, b = rename(a), rename(b)
    return a, b


def load_side(place: Path) -> Side:
    """Load a cell's directory, a condition in a grid (`GRID/CONDITION`), or a grid of one condition."""
    if is_cell(place):
        return _side(place.resolve().name, place, [place])
    if place.is_dir():
        by_condition = _conditions_of(place)
        if len(by_condition) != 1:
            raise RunDirectoryError(_which_condition(place, by_condition), path=place)
        [(name, cells)] = by_condition.items()
        return _side(name, place, cells)
    by_condition = _conditions_of(place.parent) if place.parent.is_dir() else {}
    if not by_condition:
        raise RunDirectoryError(f"{place} is not a directory; name that of a run, or GRID/CONDITION", path=place)
    name = place.name if place.name in by_condition else _aliases(by_condition).get(place.name, place.name)
    if name not in by_condition:
        raise RunDirectoryError(_which_condition(place.parent, by_condition, asked=place.name), path=place)
    return _side(name, place, by_condition[name])


def _side(name: str, place: Path, cells: Sequence[Path]) -> Side:
    manifests = tuple(_load_manifest(path) for path in cells)
    cards = [card for path in cells for card in CellFiles(path).scorecards]
    return Side(name, place, tuple(path.resolve() for path in cells), manifests, tuple(cards))


def _load_manifest(cell: Path) -> Manifest:
    files = CellFiles(cell)
    if files.manifest is None:
        raise RunDirectoryError(f"{cell}: {files.manifest_problem}; run `episodic-absa verify` for details", path=cell)
    return files.manifest


def _conditions_of(grid: Path) -> dict[str, list[Path]]:
    """Return the cells of every evaluated condition, by the name in their manifests."""
    by_condition: dict[str, list[Path]] = {}
    for path in sorted(folder for folder in grid.iterdir() if is_cell(folder)):
        # A cell that cannot be read is an error: leaving it out would silently drop an order or a seed.
        manifest = _load_manifest(path)
        if not manifest.is_build:
            by_condition.setdefault(manifest.condition.name, []).append(path)
    return by_condition


def _aliases(by_condition: Mapping[str, Sequence[Path]]) -> Mapping[str, str]:
    """Return other names of conditions, from the experiment's conditions file."""
    first = next(iter(by_condition.values()))[0]
    return FinishedCell(first, _load_manifest(first), ()).condition_aliases


def _which_condition(grid: Path, conditions: Iterable[str], asked: str = "") -> str:
    names = ", ".join(conditions)
    if not names:
        return f"{grid} holds no cell of a run; name a directory that a run wrote"
    if asked:
        return f"{grid} holds no condition {asked!r}; choose from {names}"
    return f"{grid} holds several conditions ({names}); name two: episodic-absa compare {grid} CONDITION CONDITION"


def _with_run_id(side: Side) -> Side:
    return replace(side, name=f"{side.manifests[0].run_id}/{side.name}")


def _with_place(side: Side) -> Side:
    return replace(side, name=str(side.place))
