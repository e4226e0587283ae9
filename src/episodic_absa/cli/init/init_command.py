"""`episodic-absa init`: its argument. The files are written in `new_study`, imported when the command runs."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer


def init(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder, or an empty one.")],
) -> None:
    """Begin a study: write a commented config, a few reviews with gold, and a README.

    A folder that holds files is left alone; the exit code is then 2.
    """
    from episodic_absa.cli.init.new_study import CONFIG, write_study
    from episodic_absa.cli.output import printable, shown_path

    study = write_study(folder)
    place = shown_path(folder)
    files = ", ".join(path.name for path in study.files)
    sys.stdout.write(
        f"wrote {printable(place)}: {files}\n\n"
        f"  cd {printable(shlex.quote(place))}\n"
        f"  episodic-absa check {CONFIG}\n"
        f"  episodic-absa run {CONFIG}\n"
        f"  episodic-absa compare results/{study.name} C2 C1\n\n"
        f"Then change {CONFIG}; every line says what to change.\n"
    )
