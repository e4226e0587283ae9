"""The arguments of the `episodic-absa principles` commands. A command imports the modules it needs when it runs."""

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from episodic_absa.cli.quick_help import QuickHelpGroup
from episodic_absa.cli.shared_options import AsJson, RunDir

_DEFAULT: Final = "effects"


class _EffectsByDefault(QuickHelpGroup):
    """Takes words that name no command for those of `effects`: `principles RUN_DIR`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, "-h", "--help"):
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


principles_app = typer.Typer(
    cls=_EffectsByDefault,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Show the effect of each principle in a trial (principles RUN_DIR), or retire principles.",
)


@principles_app.command(_DEFAULT)
def effects(directory: RunDir, *, as_json: AsJson = False) -> None:
    """Show which principles help, which harm, and which show no effect.

    The run needs a condition that withholds advice at random, such as C2_trial. The name of this command may be left
    out: principles RUN_DIR.
    """
    from episodic_absa.analysis import load_run
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.contrib.principles.effects_view import effects_view
    from episodic_absa.errors import RunDirectoryError

    principle_effects = load_run(directory).principle_effects
    if not principle_effects:
        raise RunDirectoryError(
            f"{directory} holds no trial: no condition withheld advice from a sample with gold; run a condition with "
            "advice.withhold, such as C2_trial",
            path=directory,
        )
    if as_json:
        print_json({"principles": [effect.model_dump(mode="json") for effect in principle_effects]})
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
    from episodic_absa.cli.output import print_json, printable, shown_path
    from episodic_absa.contrib.principles.retired_file import retire_principles

    retired = retire_principles(out, principle_ids)
    if as_json:
        print_json({"file": str(out), "retired": list(retired)})
        return
    place = printable(shown_path(out))
    typer.echo(f"{place} retires {', '.join(retired)}.")
    typer.echo(f"A condition of your own leaves them out with  advice: {{catalogue: {place}}}")
