"""`episodic-absa compare`: what it takes. What it computes is in `metrics` and `experiments`, imported when it runs."""

from pathlib import Path
from typing import Annotated

import typer

_USAGE = "name two runs (A B), or a grid and two of its conditions (GRID CONDITION CONDITION)"
_SMALLEST, _LARGEST = 1e-6, 1.0
"""Differences in F1 that can be asked about: none is larger, and none smaller is told from 0."""


def compare(
    places: Annotated[
        list[Path],
        typer.Argument(
            metavar="A B | GRID CONDITION CONDITION",
            help="Two runs, or a grid and two of its conditions. A run is the directory of one cell, or GRID/CONDITION "
            "for all seeds of a condition.",
        ),
    ],
    *,
    detect: Annotated[
        float | None,
        typer.Option(metavar="D", help="Also say how many reviews a difference in F1 of this size would need."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where changed_samples.csv goes; else GRID/comparisons/A_vs_B."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Seed of the resampling, not of the runs; else a fixed one.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Compare two runs review by review: A minus B, with intervals and tests.

    Samples are paired by uid and seed, and the seeds of a review averaged. Lists the samples that changed in a file.
    """
    from episodic_absa.cli.compare.compare_run import compare_runs

    if len(places) not in (2, 3):
        raise typer.BadParameter(_USAGE, param_hint="A B")
    if detect is not None and not _SMALLEST <= detect <= _LARGEST:
        raise typer.BadParameter(
            f"a difference in F1 lies between {_SMALLEST:f} and {_LARGEST:g}, not at {detect:g}", param_hint="--detect"
        )
    compare_runs(places, detect=detect, out=out, seed=seed, as_json=as_json)
