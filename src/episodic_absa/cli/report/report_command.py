"""`episodic-absa report`: what it takes. What it derives is in `experiments`, imported when it runs."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    directory: Annotated[
        Path, typer.Argument(metavar="RUN_DIR", help="The directory of one cell, or of a whole grid.")
    ],
    *,
    no_text: Annotated[
        bool, typer.Option("--no-text", help="Leave review text out of report.html, e.g. to pass it on.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Derive every table and report of a run anew.

    Asks no model and rewrites none of the run's own files: metrics come from scorecards.jsonl and manifest.json.
    """
    from episodic_absa.analysis.derived_files import derive_tables
    from episodic_absa.analysis.finished_run import load_run
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.cli.report.derived_view import derived_json, derived_view
    from episodic_absa.cli.step_progress import show_steps
    from episodic_absa.reports.run_report import write_pages

    with show_steps("report") as tell:
        run = load_run(directory, tell)
        written = [*derive_tables(run, tell), *write_pages(run, with_text=not no_text, tell=tell)]
    if as_json:
        print_json(derived_json(directory, written))
    else:
        show(derived_view(directory, written))
