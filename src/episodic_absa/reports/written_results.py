"""Writes what follows from the files of a run: every table and every report.html. Asks no model."""

from pathlib import Path
from typing import NamedTuple

from episodic_absa.analysis.derived_files import derive_tables
from episodic_absa.analysis.finished_run import FinishedRun, load_run
from episodic_absa.errors import EpisodicAbsaError
from episodic_absa.reports.run_report import REPORT, is_without_text, write_pages
from episodic_absa.runs.reading.cell_files import rebuild_sample_files
from episodic_absa.runs.reading.finished_cells import Tell, is_cell, tell_nobody


class WrittenResults(NamedTuple):
    """What was read from a run directory, and what was written to it."""

    finished: FinishedRun
    tables: tuple[Path, ...]
    pages: tuple[Path, ...]
    has_text: bool
    """Whether the pages show review text."""
    exported: tuple[Path, ...] = ()
    """Figures and tables as files."""

    @property
    def report(self) -> Path:
        """The report of the whole directory."""
        return self.finished.root / REPORT


def write_results(
    root: Path,
    *,
    with_text: bool | None = None,
    rebuild: bool = False,
    export: Path | None = None,
    tell: Tell = tell_nobody,
) -> WrittenResults:
    """Write the tables and reports of a cell, or of a grid and all its cells.

    Args:
        root: the directory of one cell or of a grid.
        with_text: whether the reports show review text. None leaves it out if a report that lies here was made
            without it, so that a run never restores review text to a report made with `--no-text`.
        rebuild: also write outputs.jsonl, scorecards.jsonl, traces.jsonl and override_gate_debug.jsonl of every cell.
        export: a directory for the figures and tables of the report as files; None writes none.
        tell: is told what is being done.

    Raises:
        RunDirectoryError: no run wrote this directory, or a file in it cannot be read or written.
    """
    finished = load_run(root, tell)
    rebuilt = [path for cell in finished.cells for path in rebuild_sample_files(cell.path)] if rebuild else []
    tables = (*rebuilt, *derive_tables(finished, tell))
    has_text = not is_without_text(root) if with_text is None else with_text
    written = write_pages(finished, with_text=has_text, export=export, tell=tell)
    return WrittenResults(finished, tables, written.pages, has_text, written.exported)


class RefreshedPages(NamedTuple):
    """The pages that show the latest results of `verify`, or why they could not be written."""

    pages: tuple[Path, ...]
    problem: str = ""


def refresh_pages(root: Path, tell: Tell = tell_nobody) -> RefreshedPages:
    """Write the report again after `verify`, if the directory has one; with review text only if it has it now.

    A page shows the results of a cell and of its grid, so that the pages of the grid are written for a cell, too.
    """
    place = root.resolve().parent if is_cell(root) and (root.resolve().parent / REPORT).is_file() else root
    if not (place / REPORT).is_file():
        return RefreshedPages(())
    try:
        pages = write_pages(load_run(place, tell), with_text=not is_without_text(place), tell=tell).pages
    except EpisodicAbsaError as error:
        return RefreshedPages((), str(error))
    return RefreshedPages(tuple(path for path in pages if path.name == REPORT))
