"""The arguments and options that several commands share, each with one help text."""

from pathlib import Path
from typing import Annotated, Final

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Config = Annotated[Path, typer.Argument(metavar="CONFIG", help="The YAML file of an experiment.")]
RunDir = Annotated[Path, typer.Argument(metavar="RUN_DIR", help="The directory of a cell or of a grid.")]

_VERSIONS: Final = ("v1_1", "v1_2", "v1_3", "v3_0")


def complete_version(incomplete: str) -> list[str]:
    """Return the shipped conditions files for a shell's completion; the shell itself completes file names."""
    return [version for version in _VERSIONS if version.startswith(incomplete)]


RayAddress = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="The Ray cluster, or auto for the one of this machine.",
        show_default="a new one on this machine",
    ),
]
ShardOf = Annotated[
    str | None,
    typer.Option("--shard", metavar="K/N", help="Do only share K of N; `episodic-absa join` makes one of the results."),
]
