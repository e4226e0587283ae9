"""Writes every table that follows from scorecards and manifests. It asks no model and changes no file of the run."""

from collections.abc import Iterator
from pathlib import Path

from episodic_absa.analysis.cell_tables import CELL_TABLES
from episodic_absa.analysis.finished_run import FinishedRun
from episodic_absa.analysis.grid_tables import COMPARISONS, GRID_METRICS, comparisons_text, seed_rows_text
from episodic_absa.analysis.principle_effect import PRINCIPLES, principles_text, tossed_coins
from episodic_absa.analysis.strata import STRATA_TABLE, strata_of, strata_text
from episodic_absa.runs.reading.finished_cells import Tell, tell_nobody
from episodic_absa.serialization.csv_text import replace_file


def derive_tables(run: FinishedRun, tell: Tell = tell_nobody) -> tuple[Path, ...]:
    """Derive the tables of a cell, or of every cell of a grid and of the grid; return what was written.

    Raises:
        RunDirectoryError: a table cannot be written.
    """
    # Everything is computed before anything is written, so that an error leaves every table as it was.
    texts = dict(_derived_texts(run, tell))
    for path, text in texts.items():
        replace_file(path, text)
    return tuple(texts)


def _derived_texts(run: FinishedRun, tell: Tell) -> Iterator[tuple[Path, str]]:
    for cell in run.cells:
        tell(f"tables of {cell.path.name}")
        for name, text_of in CELL_TABLES.items():
            yield cell.path / name, text_of(cell)
    if run.is_grid and run.by_condition:
        tell("tables of the grid")
        yield run.root / GRID_METRICS, seed_rows_text((*run.rows, *run.added_rows))
        tell("comparisons")
        yield run.root / COMPARISONS, comparisons_text(run.grid_comparisons)
        if strata_of(run.question):
            tell("strata")
            yield run.root / STRATA_TABLE, strata_text(run.strata)
        if any(map(tossed_coins, run.by_condition.values())):
            tell("effects of principles")
            yield run.root / PRINCIPLES, principles_text(run.principle_effects)
