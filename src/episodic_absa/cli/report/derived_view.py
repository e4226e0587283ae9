"""Shows which files were derived from a run."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import ConsoleRenderable
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.output import printable


def derived_json(
    root: Path, written: Sequence[Path], export: Path | None = None, exported: Sequence[Path] = ()
) -> dict[str, Any]:
    """Return the written files as a JSON value."""
    names = [path.relative_to(root).as_posix() for path in written]
    value: dict[str, Any] = {"directory": str(root.resolve()), "written": names}
    if export is not None:
        value |= {"export_directory": str(export.resolve()), "exported": [path.name for path in exported]}
    return value


def derived_view(
    root: Path, written: Sequence[Path], export: Path | None = None, exported: Sequence[Path] = ()
) -> ConsoleRenderable:
    """List the written files: those of the directory itself, then those that every cell has, then the exported ones."""
    own, in_cells = _by_place(root, written)
    table = Table.grid(padding=(0, 2))
    for name in own:
        table.add_row(Text(name, "bold"), Text(printable(str(root / name)), "dim"))
    for name, cell_n in in_cells.items():
        table.add_row(Text(name, "bold"), Text("in its cell" if cell_n == 1 else f"in each of {cell_n} cells", "dim"))
    if export is not None:
        kinds = Counter(path.suffix.removeprefix(".") for path in exported)
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        table.add_row(Text("exported", "bold"), Text(f"{counts} to {printable(str(export))}", "dim"))
    return table


def derived_line(root: Path, written: Sequence[Path]) -> str:
    """Return the names of the written files in one line."""
    own, in_cells = _by_place(root, written)
    return f"{', '.join(own)}; in each cell {', '.join(in_cells)}"


def _by_place(root: Path, written: Sequence[Path]) -> tuple[list[str], Counter[str]]:
    own = [path.name for path in written if path.parent == root]
    return own, Counter(path.name for path in written if path.parent != root)
