"""Writes every table that follows from scorecards and manifests. No inference, and no file of the run is touched."""

from collections.abc import Iterator
from pathlib import Path

from episodic_absa.experiments.cell_tables import CELL_TABLES
from episodic_absa.experiments.csv_text import replace_file
from episodic_absa.experiments.finished_cells import evaluated, is_cell, load_cells
from episodic_absa.experiments.grid_tables import (
    COMPARISONS,
    GRID_METRICS,
    compare_conditions,
    comparisons_text,
    grid_metrics_text,
)


def write_derived_files(root: Path) -> tuple[Path, ...]:
    """Derive the tables of a cell's directory, or of every cell of a grid and of the grid; return what was written.

    Raises:
        RunDirectoryError: no run wrote this directory, or a manifest or scorecard in it cannot be read.
    """
    # All is read before anything is written: a file that cannot be read leaves every table as it was.
    texts = dict(_derived_texts(root))
    for path, text in texts.items():
        replace_file(path, text)
    return tuple(texts)


def _derived_texts(root: Path) -> Iterator[tuple[Path, str]]:
    cells = load_cells(root)
    for cell in cells:
        for name, text_of in CELL_TABLES.items():
            yield cell.path / name, text_of(cell)
    if not is_cell(root) and evaluated(cells):
        yield root / GRID_METRICS, grid_metrics_text(cells)
        yield root / COMPARISONS, comparisons_text(compare_conditions(cells))
