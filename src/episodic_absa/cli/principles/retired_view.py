"""The output of `principles retire`."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import ConsoleRenderable, Group
from rich.text import Text

from episodic_absa.cli.output import printable, shown_path


def retired_view(path: Path, retired: Sequence[str]) -> ConsoleRenderable:
    """Say which principles the file retires, and how a condition names it."""
    place = printable(shown_path(path))
    return Group(
        Text(f"{place} retires {', '.join(retired)}."),
        Text(f"A condition of your own leaves them out with  advice: {{catalogue: {place}}}", style="dim"),
    )
