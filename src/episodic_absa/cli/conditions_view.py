"""The output of `conditions`: the flags and settings of each condition, readable with and without colour."""

from typing import Any

from rich import box
from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.output import FirstThatFits, printable
from episodic_absa.conditions import FLAG_NAMES, ConditionsFile
from episodic_absa.schemas.run import Condition
from episodic_absa.serialization.canonical_json import canonical_json

_OF_THE_FILE = ("name", "dangerous_advice", "use_lexical")
OVERLAY_NAMES = tuple(name for name in Condition.model_fields if name not in (*FLAG_NAMES, *_OF_THE_FILE))
"""What a condition sets beside its flags, such as `rules`: every field that is neither a flag nor of the whole file."""
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
            name: {flag: getattr(condition, flag) for flag in FLAG_NAMES} | _overlays(condition)
            for name, condition in conditions_file.conditions.items()
        },
        "aliases": dict(conditions_file.aliases),
    }


def conditions_view(conditions_file: ConditionsFile) -> ConsoleRenderable:
    """Lay out a conditions file: its head, a row per condition, its aliases."""
    table = FirstThatFits(
        lambda: _flags(conditions_file, with_overlays=True),
        lambda: Group(_flags(conditions_file, with_overlays=False), Text(), _overlay_lines(conditions_file)),
    )
    parts: list[ConsoleRenderable] = [_head(conditions_file), Text(), table]
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


def _flags(conditions_file: ConditionsFile, *, with_overlays: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold cyan")
    table.add_column("condition", vertical="bottom", no_wrap=True)
    for flag in FLAG_NAMES:
        table.add_column(_two_lines(flag), justify="left" if flag == "memory_mode" else "center")
    overlays = OVERLAY_NAMES if with_overlays else ()
    for overlay in overlays:
        table.add_column(overlay, vertical="bottom", no_wrap=True)
    for name, condition in conditions_file.conditions.items():
        shown = _overlays(condition)
        table.add_row(
            Text(printable(name), style="bold"),
            *(_cell(condition, flag) for flag in FLAG_NAMES),
            *(Text(_value_text(shown[overlay])) for overlay in overlays),
        )
    return table


def _two_lines(flag: str) -> str:
    """Return a flag broken at the underscore that makes it narrowest: the table fits 80 columns only so."""
    words = flag.split("_")
    breaks = [("_".join(words[:place]) + "_", "_".join(words[place:])) for place in range(1, len(words))]
    return "\n".join(min(breaks, key=lambda lines: max(map(len, lines)), default=(flag,)))


def _overlay_lines(conditions_file: ConditionsFile) -> Table:
    """Lay out the settings of the conditions beside their flags, for terminals too narrow for more columns.

    What all conditions share stands in one line; a condition has a line if it sets anything else.
    """
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    by_name = {name: _overlays(condition) for name, condition in conditions_file.conditions.items()}
    first, *others = by_name.values()
    shared = {overlay: value for overlay, value in first.items() if all(other[overlay] == value for other in others)}
    lines = {"all conditions": shared} | {
        printable(name): {overlay: value for overlay, value in settings.items() if overlay not in shared}
        for name, settings in by_name.items()
    }
    for name, settings in lines.items():
        if words := ", ".join(f"{overlay} {_value_text(value)}" for overlay, value in settings.items() if value != {}):
            table.add_row(name, words)
    return table


def _overlays(condition: Condition) -> dict[str, Any]:
    return {name: value for name, value in condition.model_dump(mode="json").items() if name in OVERLAY_NAMES}


def _value_text(value: Any) -> str:
    """Return a value in words; the keys of a mapping stand before their values."""
    if isinstance(value, dict):
        return ", ".join(f"{printable(key)} {_value_text(inner)}" for key, inner in value.items()) or "-"
    return printable(value if isinstance(value, str) else canonical_json(value))


def _cell(condition: Condition, flag: str) -> Text:
    value = getattr(condition, flag)
    if isinstance(value, bool):
        return Text("✓", style="bold green") if value else Text("·", style="dim")
    return Text(value, style=_MODE_STYLE[value])
