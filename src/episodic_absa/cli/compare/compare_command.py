"""The arguments of `episodic-absa compare`. The computation is in `analysis` and `metrics`."""

from pathlib import Path
from typing import Annotated

import typer

from episodic_absa.cli.shared_options import AsJson
from episodic_absa.vocabulary import StratumName

_USAGE = "name two runs (A B), or a grid and two of its conditions (GRID CONDITION CONDITION)"
_SMALLEST, _LARGEST = 1e-6, 1.0
"""The range of `--detect`: no difference in F1 is larger, and smaller ones are rounded to 0."""


def compare(
    places: Annotated[
        list[Path],
        typer.Argument(
            metavar="A B | GRID CONDITION CONDITION",
            help="Two runs, or a grid and two of its conditions. A run is the directory of a cell, or GRID/CONDITION "
            "for all orders and seeds of a condition.",
        ),
    ],
    *,
    by: Annotated[
        StratumName | None,
        typer.Option(help="Compare within strata of the reviews instead, and test whether the difference varies."),
    ] = None,
    detect: Annotated[
        float | None,
        typer.Option(metavar="D", help="Also show how many reviews it takes to detect this difference in F1."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder for changed_samples.csv; GRID/comparisons/A_vs_B if left out."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="The seed of the resampling, not of the runs.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two runs review by review: A minus B, with intervals and tests.

    Samples are paired by uid, order and seed; the orders and seeds of a review are averaged. changed_samples.csv lists
    every sample whose result differs. With --by, the primary metric is compared stratum by stratum and no file is
    written.
    """
    from episodic_absa.cli.compare.compare_run import compare_runs

    if len(places) not in (2, 3):
        raise typer.BadParameter(_USAGE, param_hint="A B")
    if detect is not None and not _SMALLEST <= detect <= _LARGEST:
        raise typer.BadParameter(
            f"a difference in F1 lies between {_SMALLEST:f} and {_LARGEST:g}, got {detect:g}", param_hint="--detect"
        )
    if by is not None:
        if detect is not None or out is not None:
            raise typer.BadParameter("--detect and --out do not go with --by; leave them out", param_hint="--by")
        from episodic_absa.cli.compare.strata_run import compare_strata

        compare_strata(places, by=by, seed=seed, as_json=as_json)
        return
    compare_runs(places, detect=detect, out=out, seed=seed, as_json=as_json)
