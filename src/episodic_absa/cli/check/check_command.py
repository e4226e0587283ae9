"""`episodic-absa check` and `verify`: what they take. What they look at is in `experiments`, imported when they run."""

from pathlib import Path
from typing import Annotated

import typer

EXIT_FOUND_ERRORS = 1

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def check(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="The experiment, a YAML file.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Check an experiment before it runs.

    Asks no model and writes nothing. The exit code is 1 if there are errors, 2 if the file cannot be used at all.
    """
    from episodic_absa.cli.check.integrity_view import preflight_view
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.verification.preflight import check_experiment

    found = check_experiment(config)
    if as_json:
        print_json({**found.model_dump(mode="json"), "has_errors": found.has_errors})
    else:
        show(preflight_view(found))
    if found.has_errors:
        raise typer.Exit(EXIT_FOUND_ERRORS)


def verify(
    directory: Annotated[
        Path, typer.Argument(metavar="RUN_DIR", help="The directory of one cell, or of a whole grid.")
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Verify a finished run: files in step, nothing leaked, memory shown only where it may be.

    Writes integrity.json into every directory it looks at. The exit code is 1 if a check fails.
    """
    from episodic_absa.cli.check.integrity_view import verified_view
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.verification.verify import verify as verify_directory

    found = verify_directory(directory)
    if as_json:
        print_json({**found.model_dump(mode="json"), "is_sound": not found.failures})
    else:
        show(verified_view(found))
    if found.failures:
        raise typer.Exit(EXIT_FOUND_ERRORS)
