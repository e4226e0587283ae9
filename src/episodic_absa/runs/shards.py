"""A share of the work for one of several machines, and how their results become one.

A shard of a grid is whole cells: cells that begin with the store of one build stay together. A shard of a file is rows.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple, Self

from episodic_absa.errors import ConfigError, RunDirectoryError
from episodic_absa.runs.config.cells import Cell, all_cells
from episodic_absa.runs.config.cfg_hash import cell_config, differing_settings, shown_differences
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.question import QUESTION
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.reading.manifest_file import MANIFEST, require_sealed
from episodic_absa.runs.samples_file import writing
from episodic_absa.serialization.canonical_json import indented_json
from episodic_absa.serialization.durable_file import make_private_directory, replace_durably
from episodic_absa.serialization.quoted_value import quoted
from episodic_absa.serialization.seals import sealed


class Shard(NamedTuple):
    """Shard `number` of `total`, counted from 1."""

    number: int
    total: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the shard that `k/n` names.

        Raises:
            ConfigError: it names none.

        Example:
            >>> Shard.parse("2/4")
            Shard(number=2, total=4)
        """
        number, slash, total = text.partition("/")
        if slash and all(part.isascii() and part.isdigit() for part in (number, total)):
            shard = cls(int(number), int(total))
            if 1 <= shard.number <= shard.total:
                return shard
        raise ConfigError(f"--shard {quoted(text)}: give K/N, for example 1/4 for the first of four", key="shard")

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"

    def places(self, row_n: int) -> range:
        """Return the places of the rows of this shard, one behind the other: shards are as equal as they can be."""
        return range((self.number - 1) * row_n // self.total, self.number * row_n // self.total)

    def cells(self, config: ExperimentConfig) -> tuple[Cell, ...]:
        """Return the cells of this shard, those that build a store first.

        Raises:
            ConfigError: there are more shards than cells that can be run apart.
        """
        cells = all_cells(config)
        is_built = any(cell.is_build for cell in cells)
        units = list(dict.fromkeys(cell.repetition if is_built else cell.name for cell in cells))
        if self.total > len(units):
            what = "orders and seeds (the cells of one share a build)" if is_built else "cells"
            raise ConfigError(f"--shard {self}: the grid has {len(units)} {what}; use as many shards", key="shard")
        mine = units[self.number - 1 :: self.total]
        return tuple(cell for cell in cells if (cell.repetition if is_built else cell.name) in mine)


WHOLE: Final = Shard(1, 1)


def join_grids(config: ExperimentConfig, sources: Sequence[Path]) -> list[str]:
    """Copy the finished cells of shards to where the whole grid is written, and return their names.

    Args:
        config: the experiment that was run in shards.
        sources: the directories of their grids.

    Raises:
        RunDirectoryError: a cell is unfinished, changed, or of another configuration, or stands there already. Nothing
            is copied then.
    """
    if config.file.episodic_memory.store_path is not None:
        raise RunDirectoryError(
            "episodic_memory.store_path puts stores outside of the cells, and join copies cells; leave it out",
            path=config.path,
        )
    grid, cells = config.out_dir, {cell.name: cell for cell in all_cells(config)}
    found: dict[str, Path] = {}
    for source in sources:
        _require_question(source, grid if (grid / QUESTION).is_file() else sources[0])
        for path in sorted(path.parent for path in source.glob(f"*/{MANIFEST}")):
            if path.name in found or (grid / path.name).exists():
                raise RunDirectoryError(f"{path} stands in {found.get(path.name, grid)} already", path=path)
            _require_finished(config, cells.get(path.name), path)
            found[path.name] = path
    with writing(grid):
        make_private_directory(grid)
        if not (grid / QUESTION).is_file():
            replace_durably(grid / QUESTION, (sources[0] / QUESTION).read_bytes())
        for name, path in found.items():
            _copy_cell(config, path, grid / name)
    return list(found)


def _require_question(source: Path, first: Path) -> None:
    question = source / QUESTION
    if not question.is_file() or question.read_bytes() != (first / QUESTION).read_bytes():
        raise RunDirectoryError(
            f"{question} is not that of {first}; join shards of one experiment, run with one config file", path=question
        )


def _require_finished(config: ExperimentConfig, cell: Cell | None, path: Path) -> None:
    files = CellFiles(path)
    if files.manifest is None or cell is None:
        what = files.manifest_problem or f"{config.path} has no such cell"
        raise RunDirectoryError(f"{path}: {what}", path=path)
    require_sealed(path)
    if not files.manifest.completed:
        raise RunDirectoryError(f"{path} is not finished; run its shard again, then join", path=path)
    if differences := differing_settings(files.manifest.cfg_canonical, cell_config(config, cell)):
        raise RunDirectoryError(f"{path} has another configuration: {shown_differences(differences)}", path=path)
    _ = files.samples  # every seal and every place is checked


def _copy_cell(config: ExperimentConfig, source: Path, target: Path) -> None:
    """Copy a cell whole or not at all; its manifest says from where its config file is found now."""
    draft = target.with_name(f".{target.name}.joining")
    shutil.rmtree(draft, ignore_errors=True)
    shutil.copytree(source, draft, ignore=shutil.ignore_patterns(".lock"))
    manifest = CellFiles(source).known_manifest
    here = {
        "config_root": Path(os.path.relpath(config.root.resolve(), target.resolve())),
        "cfg_canonical": {**manifest.cfg_canonical, "out": str(config.file.out)},
    }
    manifest = manifest.model_copy(update=here)
    replace_durably(draft / MANIFEST, sealed(indented_json(manifest)).encode())
    draft.rename(target)
