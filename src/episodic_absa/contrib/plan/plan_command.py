"""The arguments of `episodic-absa plan`. The work is done in `planned_run`, imported when the command runs."""

from pathlib import Path
from typing import Annotated

import typer

from episodic_absa.cli.shared_options import AsJson, Config

_LARGEST_SD = 2.0
"""Differences of scores between 0 and 1 vary no further."""


def plan(
    config: Config,
    *,
    pilot: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="The grid of a pilot run: its paired differences give the variances."),
    ] = None,
    effect: Annotated[
        float | None,
        typer.Option(metavar="D", help="The difference to show; experiment.smallest_effect of CONFIG if left out."),
    ] = None,
    sd: Annotated[
        float | None,
        typer.Option("--sd", metavar="S", help="Without a pilot: the SD of paired differences between reviews."),
    ] = None,
    order_sd: Annotated[
        float | None,
        typer.Option("--order-sd", metavar="T", help="The SD between orders of samples; it replaces that of a pilot."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say how many reviews and orders show a difference, and what that costs, before anything is paid.

    The numbers hold for the first pair of experiment.comparisons, experiment.primary_metric and 80 % power. Sends
    nothing and writes nothing.
    """
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.contrib.plan.plan_view import plan_json, plan_view
    from episodic_absa.contrib.plan.planned_run import Prior, plan_run

    if (pilot is None) == (sd is None):
        what = "either a pilot run or an SD, not both" if sd is not None else "a pilot run, or an SD with --sd S"
        raise typer.BadParameter(f"give {what}", param_hint="--pilot")
    for name, value, least in (("--effect", effect, 1e-6), ("--sd", sd, 1e-6), ("--order-sd", order_sd, 0.0)):
        most = 1.0 if name == "--effect" else _LARGEST_SD
        if value is not None and not least <= value <= most:
            raise typer.BadParameter(f"give a number from {least:g} to {most:g}, got {value:g}", param_hint=name)
    planned = plan_run(config, Prior(pilot=pilot, effect=effect, sd=sd, order_sd=order_sd))
    if as_json:
        print_json(plan_json(planned))
    else:
        show(plan_view(planned))
