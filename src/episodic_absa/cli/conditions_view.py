"""The output of `conditions`: a table of flags that reads well with and without colour."""

from typing import Any

from rich import box
from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.output import printable
from episodic_absa.conditions import FLAG_NAMES, ConditionsFile
from episodic_absa.schemas.run import Condition

_MODE_STYLE = {"on": "green", "silent": "yellow", "off": "dim"}


def conditions_json(conditions_file: ConditionsFile) -> dict[str, Any]:
    """Return a conditions file as a JSON value."""
    return {
        "path": str(conditions_file.path),
        "sha256": conditions_file.sha256,
        "version": conditions_file.version,
        "dangerous_advice": conditions_file.dangerous_advice,
        "use_lexical": conditions_file.use_lexical,
        "conditions": {
            name: {flag: getattr(condition, flag) for flag in FLAG_NAMES}
            for name, condition in conditions_file.conditions.items()
        },
        "aliases": dict(conditions_file.aliases),
    }


def conditions_view(conditions_file: ConditionsFile) -> ConsoleRenderable:
    """Lay out a conditions file: its head, a row per condition, its aliases."""
    parts: list[ConsoleRenderable] = [_head(conditions_file), Text(), _flags(conditions_file)]
    if conditions_file.aliases:
        aliases = ", ".join(f"{alias} = {target}" for alias, target in conditions_file.aliases.items())
        parts += [Text(), Text.assemble(("aliases  ", "cyan"), printable(aliases))]
    return Group(*parts)


def _head(conditions_file: ConditionsFile) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("file", Text(printable(conditions_file.path.name), style="bold"))
    table.add_row("version", Text.assemble(conditions_file.version, (f"  sha256 {conditions_file.sha256[:12]}", "dim")))
    table.add_row("dangerous_advice", conditions_file.dangerous_advice)
    table.add_row("use_lexical", "true" if conditions_file.use_lexical else "false")
    return table


def _flags(conditions_file: ConditionsFile) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold cyan")
    table.add_column("condition", vertical="bottom", no_wrap=True)
    for flag in FLAG_NAMES:
        # Names are broken at their last underscore, so that the table fits 80 columns.
        head, _, tail = flag.rpartition("_")
        table.add_column(f"{head}_\n{tail}", justify="left" if flag == "memory_mode" else "center")
    for name, condition in conditions_file.conditions.items():
        table.add_row(Text(printable(name), style="bold"), *(_cell(condition, flag) for flag in FLAG_NAMES))
    return table


def _cell(condition: Condition, flag: str) -> Text:
    value = getattr(condition, flag)
    if isinstance(value, bool):
        return Text("✓", style="bold green") if value else Text("·", style="dim")
    return Text(value, style=_MODE_STYLE[value])
