"""The arguments and options that several commands share, each with one help text."""

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Config = Annotated[Path, typer.Argument(metavar="CONFIG", help="The YAML file of an experiment.")]
RunDir = Annotated[Path, typer.Argument(metavar="RUN_DIR", help="The directory of a cell or of a grid.")]
