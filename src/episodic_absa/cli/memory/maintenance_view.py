"""The output of `memory check`, `repair` and `compact`."""

from collections.abc import Iterable
from typing import Any, Final

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.memory.stats_view import size_text
from episodic_absa.cli.output import printable
from episodic_absa.store.maintenance import Repaired, StoreReport

_FINDINGS_SHOWN: Final = 20


def check_json(report: StoreReport, repair_command: str | None) -> dict[str, Any]:
    """Return a report as a JSON value; the command is null if the store is sound or cannot be repaired."""
    return {
        "is_sound": report.is_sound,
        "rows": report.row_n,
        "findings": [finding._asdict() for finding in report.findings],
        "damage": list(report.damage),
        "affected_ids": list(report.affected_ids),
        "repair_command": repair_command,
    }


def check_view(report: StoreReport, store: str, repair_command: str | None) -> ConsoleRenderable:
    """Lay out a report; if the store needs a repair, what to do comes last."""
    held = ", ".join(_count(count, table[:-1]) for table, count in report.row_n.items() if count) or "no episode"
    if report.is_sound:
        return Text.assemble(("✓ sound", "bold green"), f": {held} in {printable(store)}")
    head = f": {_count(len(report.findings), 'bad row')} beside {held} in {printable(store)}"
    parts: list[ConsoleRenderable] = [Text.assemble(("✗ not sound", "bold red"), head)]
    parts += _listed(report)
    parts += [Text(f"  {printable(damage)}", style="red") for damage in report.damage]
    if repair_command is None:
        parts.append(Text("\nTo repair it, restore it from a backup."))
    else:
        parts.append(Text.assemble("\nTo keep what is sound: ", (repair_command, "bold")))
    return Group(*parts)


def repair_json(repaired: Repaired) -> dict[str, Any]:
    """Return the outcome of a repair as a JSON value; the path is null if there was nothing to repair."""
    moved = repaired.damaged_path
    return {**check_json(repaired.report, None), "damaged_path": None if moved is None else str(moved)}


def repair_view(repaired: Repaired, store: str) -> ConsoleRenderable:
    """Lay out the outcome of a repair: what was kept, what was not, and where the damaged file is."""
    kept = _count(repaired.report.row_n.get("episodes", 0), "episode")
    if repaired.damaged_path is None:
        return Text.assemble(("✓ nothing to repair", "bold green"), f": {kept} in {printable(store)}, all sound")
    return Group(
        Text.assemble(("✓ repaired", "bold green"), f" {printable(store)}: {kept} kept"),
        *_listed(repaired.report),
        *(Text(f"  {printable(damage)}", style="yellow") for damage in repaired.report.damage),
        Text(f"the damaged file is now {printable(str(repaired.damaged_path))}"),
    )


def compact_view(kept_n: int, dropped_n: int, sizes: tuple[int, int], store: str) -> ConsoleRenderable:
    """Lay out the outcome of a compaction: episodes kept and dropped, bytes before and after."""
    return Text.assemble(
        ("✓ compacted", "bold green"),
        f" {printable(store)}: {_count(kept_n, 'episode')} kept, {dropped_n:,} dropped, "
        f"{size_text(sizes[0])} → {size_text(sizes[1])}",
    )


def _listed(report: StoreReport) -> Iterable[ConsoleRenderable]:
    if not report.findings:
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="red")
    table.add_column(no_wrap=True, justify="right")
    table.add_column(overflow="fold")
    for finding in report.findings[:_FINDINGS_SHOWN]:
        name = f"epi_{finding.number:06d}" if finding.table == "episodes" else f"row {finding.number}"
        table.add_row(f"  {finding.table}", name, printable(finding.reason))
    yield table
    if len(report.findings) > _FINDINGS_SHOWN:
        yield Text(f"  and {len(report.findings) - _FINDINGS_SHOWN:,} more; --json lists all of them", style="dim")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
