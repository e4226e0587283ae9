"""The arguments of the `episodic-absa principles` commands. A command imports the modules it needs when it runs."""

from pathlib import Path
from typing import Annotated

import typer

from episodic_absa.cli.principles.default_command import DEFAULT, DefaultCommandGroup
from episodic_absa.cli.shared_options import AsJson, RunDir

principles_app = typer.Typer(
    cls=DefaultCommandGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Show the effect of each principle in a trial (principles RUN_DIR), or retire principles.",
)


@principles_app.command(DEFAULT)
def effects(directory: RunDir, *, as_json: AsJson = False) -> None:
    """Show which principles help, which harm, and which show no effect.

    The run needs a condition that withholds advice at random, such as C2_trial. The name of this command may be left
    out: principles RUN_DIR.
    """
    from episodic_absa.analysis.finished_run import load_run
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.cli.principles.effects_view import effects_json, effects_view, require_effects

    principle_effects = load_run(directory).principle_effects
    require_effects(principle_effects, directory)
    if as_json:
        print_json(effects_json(principle_effects))
    else:
        show(effects_view(principle_effects))


@principles_app.command("retire")
def retire(
    principle_ids: Annotated[
        list[str], typer.Argument(metavar="ID...", help="The principles that are never shown again: P-NEG-01.")
    ],
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="FILE", help="The file to write, .yaml or .json. Principles it names already stay retired."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Write a file of retired principles, which a condition names under advice.catalogue."""
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.cli.principles.retired_file import retire_principles
    from episodic_absa.cli.principles.retired_view import retired_view

    retired = retire_principles(out, principle_ids)
    if as_json:
        print_json({"file": str(out), "retired": list(retired)})
    else:
        show(retired_view(out, retired))
