"""Shows which files were derived from a run."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import ConsoleRenderable
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.output import printable


def derived_json(root: Path, written: Sequence[Path]) -> dict[str, Any]:
    """Return the written files as a JSON value."""
    return {"directory": str(root.resolve()), "written": [path.relative_to(root).as_posix() for path in written]}


def derived_view(root: Path, written: Sequence[Path]) -> ConsoleRenderable:
    """List the written files: those of the directory itself, then those that every cell has."""
    own, in_cells = _by_place(root, written)
    table = Table.grid(padding=(0, 2))
    for name in own:
        table.add_row(Text(name, "bold"), Text(printable(str(root / name)), "dim"))
    for name, cell_n in in_cells.items():
        table.add_row(Text(name, "bold"), Text("in its cell" if cell_n == 1 else f"in each of {cell_n} cells", "dim"))
    return table


def derived_line(root: Path, written: Sequence[Path]) -> str:
    """Return the names of the written files in one line."""
    own, in_cells = _by_place(root, written)
    return f"{', '.join(own)}; in each cell {', '.join(in_cells)}"


def _by_place(root: Path, written: Sequence[Path]) -> tuple[list[str], Counter[str]]:
    own = [path.name for path in written if path.parent == root]
    return own, Counter(path.name for path in written if path.parent != root)
