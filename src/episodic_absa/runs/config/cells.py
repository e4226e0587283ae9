"""The cells of an experiment: one per condition, order and seed, and one per order and seed that builds a store."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from episodic_absa.errors import ConfigError
from episodic_absa.memory import load_catalogue
from episodic_absa.memory.advice.opened_advice import require_advice
from episodic_absa.runs.config.experiment_config import ExperimentConfig, store_placeholders
from episodic_absa.runs.config.experiment_paths import cell_name, filled_store_path
from episodic_absa.runs.run_directory import STORE
from episodic_absa.schemas.run import Condition
from episodic_absa.schemas.run_files.manifest import Repetition
from episodic_absa.serialization.quoted_value import listed, quoted
from episodic_absa.vocabulary import AdviceFrom, ProcessSplit

_NEEDS_NO_STORE: Final[tuple[AdviceFrom, ...]] = ("donor", "constant")
"""Advice from these does not depend on what the cell's own store holds."""


@dataclass(frozen=True)
class Cell:
    """One condition with one order and one seed, or the building of a store for them."""

    name: str
    condition: Condition
    order: int
    """The order of the samples: 0 is that of the file. With `shuffle` the seed names the order."""
    seed: int
    split: ProcessSplit
    is_build: bool
    path: Path
    store: Path | None
    """None: the condition neither reads nor writes a store."""

    @property
    def repetition(self) -> Repetition:
        """The order and the seed."""
        return Repetition(self.order, self.seed)

    @property
    def needs_store(self) -> bool:
        """Whether memory is read or written."""
        return self.store is not None


def evaluated_cells(config: ExperimentConfig) -> Iterator[Cell]:
    """Yield a cell for every condition, order and seed."""
    for condition in config.conditions:
        for repetition in config.file.experiment.repetitions:
            path = _directory(config, condition.name, repetition)
            yield Cell(
                path.name,
                condition,
                *repetition,
                config.file.data.process_split,
                is_build=False,
                path=path,
                store=_store_path(config, condition, repetition, path),
            )


def build_cells(config: ExperimentConfig) -> Iterator[Cell]:
    """Yield one cell per order and seed that builds a store, if an evaluated condition uses a store."""
    build, condition = config.file.episodic_memory.build, config.build_condition
    if build is None or condition is None or not any(map(_uses_store, config.conditions)):
        return
    for repetition in config.file.experiment.repetitions:
        path = _directory(config, "build", repetition)
        yield Cell(path.name, condition, *repetition, build.split, is_build=True, path=path, store=path / STORE)


def all_cells(config: ExperimentConfig) -> tuple[Cell, ...]:
    """Return every cell, those that build a store first."""
    return (*build_cells(config), *evaluated_cells(config))


def cell_named(config: ExperimentConfig, name: str) -> Cell:
    """Return a cell by its name.

    Raises:
        ConfigError: the experiment has no cell of that name.
    """
    cells = {cell.name: cell for cell in all_cells(config)}
    if name not in cells:
        raise ConfigError(f"{config.path} has no cell {quoted(name)}; choose one of {listed(cells)}", path=config.path)
    return cells[name]


def shown_store_path(config: ExperimentConfig, cell: Cell) -> str | None:
    """Return the cell's store as a manifest names it: within the run directory, or relative to the config file."""
    pattern = config.file.episodic_memory.store_path
    if cell.store is None:
        return None
    return (
        STORE if pattern is None or cell.is_build else filled_store_path(pattern, cell.condition.name, cell.repetition)
    )


def start_stores(config: ExperimentConfig) -> dict[str, Path | None]:
    """Return, for every evaluated cell, the store that its own store begins as a copy of."""
    builds = {cell.repetition: cell.store for cell in build_cells(config)}
    initial = config.file.episodic_memory.initial_store
    return {
        cell.name: builds[cell.repetition] if builds else config.resolve(initial) if initial else None
        for cell in evaluated_cells(config)
    }


def require_stores(config: ExperimentConfig, starts: Mapping[str, Path | None]) -> None:
    """Refuse conditions whose stores are not fit to be read.

    Raises:
        ConfigError: a condition only reads a store that is empty at the start, reads a store that another cell writes,
            or its `advice` names a store, a file or a principle that does not exist.
    """
    cells = list(evaluated_cells(config))
    _require_advice(config)
    written = {cell.store: cell for cell in cells if cell.condition.store_write}
    for cell in cells:
        writer = written.get(cell.store, cell)
        if cell.store is not None and writer is not cell:
            raise ConfigError(
                f"{cell.name} and {writer.name} would share one store that is written to: "
                f"episodic_memory.store_path must hold {store_placeholders(config)}",
                path=config.path,
                key="episodic_memory.store_path",
            )
    if config.file.episodic_memory.allow_empty_store:
        return
    is_built = config.file.episodic_memory.build is not None
    for cell in cells:
        reads_only = cell.condition.retrieval_execute and not cell.condition.store_write
        reads_only = reads_only and cell.condition.advice.source not in _NEEDS_NO_STORE
        start = starts.get(cell.name)
        has_store = is_built or any(store is not None and _is_filled(store) for store in (start, cell.store))
        if reads_only and not has_store:
            raise ConfigError(
                f"{cell.condition.name} reads a store and never writes one, and its store is empty at the start; "
                "give episodic_memory.build or initial_store, or set allow_empty_store: true",
                path=config.path,
                key="episodic_memory.allow_empty_store",
            )


def _require_advice(config: ExperimentConfig) -> None:
    cells = all_cells(config)
    stores = {cell.store.resolve() for cell in cells if cell.store is not None}
    for cell in cells:
        overlay = cell.condition.advice
        require_advice(overlay, config.root, load_catalogue())
        if overlay.store is not None and config.resolve(overlay.store).resolve() in stores:
            raise ConfigError(
                f"{cell.condition.name}: advice.store is a store of this run; name a store that no cell writes",
                path=config.path,
                key="advice.store",
            )


def _uses_store(condition: Condition) -> bool:
    return condition.retrieval_execute or condition.store_write


def _directory(config: ExperimentConfig, stem: str, repetition: Repetition) -> Path:
    shuffle = config.file.experiment.shuffle
    return config.out_dir / cell_name(stem, order=repetition.order, seed=repetition.seed, shuffle=shuffle)


def _store_path(config: ExperimentConfig, condition: Condition, repetition: Repetition, run_dir: Path) -> Path | None:
    if not _uses_store(condition):
        return None
    pattern = config.file.episodic_memory.store_path
    if pattern is None:
        return run_dir / STORE
    return config.resolve(Path(filled_store_path(pattern, condition.name, repetition)))


def _is_filled(store: Path) -> bool:
    return store.exists() and store.stat().st_size > 0
