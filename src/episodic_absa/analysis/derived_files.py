"""The tables that follow from scorecards and manifests. Writing them asks no model and changes no file of the run."""

from collections.abc import Callable
from functools import partial
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
    texts = {}
    for path, text_of in tables_of(run).items():
        tell(path.relative_to(run.root).as_posix())
        texts[path] = text_of()
    for path, text in texts.items():
        replace_file(path, text)
    return tuple(texts)


def tables_of(run: FinishedRun) -> dict[Path, Callable[[], str]]:
    """Return every table of a cell, or of a grid and its cells, with what computes its text."""
    tables: dict[Path, Callable[[], str]] = {
        cell.path / name: partial(text_of, cell) for cell in run.cells for name, text_of in CELL_TABLES.items()
    }
    if run.is_grid and run.by_condition:
        tables[run.root / GRID_METRICS] = lambda: seed_rows_text((*run.rows, *run.added_rows))
        tables[run.root / COMPARISONS] = lambda: comparisons_text(run.grid_comparisons)
        if strata_of(run.question):
            tables[run.root / STRATA_TABLE] = lambda: strata_text(run.strata)
        if any(map(tossed_coins, run.by_condition.values())):
            tables[run.root / PRINCIPLES] = lambda: principles_text(run.principle_effects)
    return tables
