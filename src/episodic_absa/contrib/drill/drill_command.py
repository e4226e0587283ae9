"""The arguments of `episodic-absa drill`. The command imports the modules it needs when it runs."""

from pathlib import Path
from typing import Annotated

import typer

from episodic_absa.backends.backend_facts import BACKEND_FORMS
from episodic_absa.cli.shared_options import AsJson, complete_version

EXIT_LEAKED = 1


def drill(
    *,
    backend: Annotated[
        str | None,
        typer.Option(
            metavar="BACKEND",
            help=f"Your own model: {BACKEND_FORMS}.",
            show_default="a scripted model that obeys every review",
        ),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="The server of the model, if not the provider's own.")
    ] = None,
    condition: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only this condition.", show_default="all")
    ] = None,
    conditions: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|v1_1|v1_2|v1_3|v3_0",
            help="Only the conditions of this version or file.",
            show_default="all versions",
            autocompletion=complete_version,
        ),
    ] = None,
    reviews: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Hostile reviews of your own (YAML).", show_default="the shipped ones"),
    ] = None,
    concurrency: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many requests to a model are under way at once.")
    ] = 16,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the result as drill.json and the stores of all conditions.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Attack the memory with hostile reviews, and say what reached the store, advisories or other prompts.

    Runs offline with a scripted model that obeys every review; --backend drills your own.

    Only short aspect terms may leave a review, and only into the store. The exit code is 1 if anything else did.
    """
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.contrib.drill.drill_run import drill_all, drill_cells
    from episodic_absa.contrib.drill.drill_view import drilled_view
    from episodic_absa.contrib.drill.hostile_reviews import load_reviews

    chosen = load_reviews(reviews)
    cells = drill_cells(conditions, condition)
    drilled = drill_all(chosen, cells, backend=backend, base_url=base_url, concurrency=concurrency, out=out)
    if as_json:
        print_json(drilled.to_json())
    else:
        show(drilled_view(drilled, chosen.attacks))
    if not drilled.is_sound:
        raise typer.Exit(EXIT_LEAKED)
