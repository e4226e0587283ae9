"""The arguments of `episodic-absa check` and `verify`. The checks themselves are in `verification`."""

from pathlib import Path
from typing import Annotated

import typer

from episodic_absa.cli.shared_options import AsJson, Config, RunDir

EXIT_FOUND_ERRORS = 1


def check(
    config: Config,
    *,
    as_json: AsJson = False,
) -> None:
    """Check an experiment before it runs.

    Calls no model and writes nothing. The exit code is 1 if there are errors, 2 if the file cannot be read.
    """
    from episodic_absa.cli.check.integrity_view import preflight_view
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.verification.preflight import check_experiment

    preflight = check_experiment(config)
    if as_json:
        print_json({**preflight.model_dump(mode="json"), "has_errors": preflight.has_errors})
    else:
        show(preflight_view(preflight))
    if preflight.has_errors:
        raise typer.Exit(EXIT_FOUND_ERRORS)


def verify(
    directory: RunDir,
    *,
    certificate: Annotated[
        bool, typer.Option("--certificate", help="Also probe for leaks of gold, identity and text: certificate.json.")
    ] = False,
    explain: Annotated[
        str | None,
        typer.Option(metavar="METRIC", help="Show the records that a metric is added up from."),
    ] = None,
    condition: Annotated[str | None, typer.Option(help="With --explain: only this condition.")] = None,
    show_all: Annotated[bool, typer.Option("--all", help="With --explain: show every line.")] = False,
    as_json: AsJson = False,
) -> None:
    """Verify a finished run: files agree, nothing leaked, memory shown only where allowed.

    Writes integrity.json into every directory it checks, and report.html again if there is one. The exit code is 1 if a
    check fails.
    """
    if explain is not None:
        if certificate:
            raise typer.BadParameter("--explain and --certificate are two commands; name one of them")
        _explain(directory, explain, condition, show_all=show_all, as_json=as_json)
        return
    if condition is not None or show_all:
        raise typer.BadParameter("--condition and --all belong to --explain METRIC; name the metric")
    from episodic_absa.cli.check.integrity_view import verified_view
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.cli.step_progress import show_steps
    from episodic_absa.reports.written_results import refresh_pages
    from episodic_absa.verification.verify import verify as verify_directory

    verified = verify_directory(directory, with_certificate=certificate)
    with show_steps("report") as tell:
        refreshed = refresh_pages(directory, tell)
    if as_json:
        reports = {"reports": [str(path) for path in refreshed.pages], "reports_problem": refreshed.problem}
        print_json({**verified.model_dump(mode="json"), "is_sound": not verified.failures, **reports})
    else:
        show(verified_view(verified, refreshed))
    if verified.failures:
        raise typer.Exit(EXIT_FOUND_ERRORS)


def _explain(directory: Path, metric: str, condition: str | None, *, show_all: bool, as_json: bool) -> None:
    from episodic_absa.cli.check.receipts_view import SHOWN_LINES, explanation_view
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.verification.receipts import explain as explain_metric

    explanation = explain_metric(directory, metric, condition)
    shown = explanation if show_all else explanation.shortened(SHOWN_LINES)
    if as_json:
        print_json(shown.model_dump(mode="json"))
    else:
        show(explanation_view(shown))
