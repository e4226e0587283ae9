"""`episodic-absa report`: its arguments. The work is done by `write_results`, imported when the command runs."""

from pathlib import Path
from typing import Annotated

import typer

from episodic_absa.cli.shared_options import AsJson, RunDir


def report(
    directory: RunDir,
    *,
    no_text: Annotated[
        bool, typer.Option("--no-text", help="Leave review text out of report.html, e.g. to pass it on.")
    ] = False,
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="Also derive outputs, scorecards, traces and override decisions again."),
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(
            "--export", metavar="DIR", help="Also write each figure as SVG and each table as CSV and LaTeX into DIR."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write all tables and reports of a run again.

    Asks no model: everything follows from samples.jsonl, manifest.json, texts and gold.
    Comparisons that the config file names by now are added to question.json and marked exploratory.
    """
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.cli.report.derived_view import derived_json, derived_view
    from episodic_absa.cli.step_progress import show_steps
    from episodic_absa.reports.written_results import write_results
    from episodic_absa.runs.fixed_question import refresh_question

    refresh_question(directory)
    with show_steps("report") as tell:
        results = write_results(directory, with_text=not no_text, rebuild=rebuild, export=export, tell=tell)
    written = (*results.tables, *results.pages)
    if as_json:
        print_json(derived_json(directory, written, export, results.exported))
    else:
        show(derived_view(directory, written, export, results.exported))
