"""The output of `memory stats`, `check`, `repair` and `compact`."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, Final

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.output import printable
from episodic_absa.memory.store_statistics import StoreStatistics
from episodic_absa.store.episode_store import DEFAULT_KEEP_LAST_N
from episodic_absa.store.maintenance import Repaired, StoreReport

_FINDINGS_SHOWN: Final = 20
_TOP_PRINCIPLES: Final = 6
_BAR_WIDTH: Final = 20
_UNITS: Final = ("bytes", "KiB", "MiB", "GiB")


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


def stats_json(stats: StoreStatistics) -> dict[str, Any]:
    """Return the counts as a JSON value."""
    share = stats.failed_n / stats.live_n if stats.live_n else None
    return {**asdict(stats), "failed_share": share, "keep_last_n": DEFAULT_KEEP_LAST_N}


def stats_view(stats: StoreStatistics, store: str) -> ConsoleRenderable:
    """Lay out the counts, a block per property of the episodes."""
    if not stats.live_n:
        return _head(stats, store)
    names = list(stats.by_principle)
    principles = {printable(name): stats.by_principle[name] for name in names[:_TOP_PRINCIPLES]}
    if len(names) > _TOP_PRINCIPLES:
        principles[f"{len(names) - _TOP_PRINCIPLES} others"] = stats.live_n - sum(principles.values())
    blocks = {
        "language": stats.by_language,
        "outcome": stats.by_outcome,
        "action": stats.by_action,
        "risk before": stats.by_risk_before,
        "risk after": stats.by_risk_after,
        "principle": principles,
    }
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 1, 0, 0))
    for title, counts in blocks.items():
        table.add_row("")
        table.add_row(Text(title, style="bold cyan"))
        for name, count in counts.items():
            bar = Text("█" * -(-count * _BAR_WIDTH // stats.live_n), style="blue")
            share = _percent(count, stats.live_n)
            table.add_row(name, Text(f"{count:,}", justify="right"), share, bar, style=None if count else "dim")
    return Group(_head(stats, store), table)


def size_text(size: int) -> str:
    """Render a number of bytes: 1.5 MiB."""
    amount, unit = float(size), 0
    while amount >= 1024 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{amount:,.1f} {_UNITS[unit]}" if unit else f"{size:,} {_UNITS[0]}"


def _head(stats: StoreStatistics, store: str) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("store", Text(printable(store), style="bold"))
    pruned = stats.stored_n - stats.live_n
    episodes = Text.assemble((f"{stats.live_n:,}", "bold"), " live")
    episodes.append(f", {stats.stored_n:,} in the store" if pruned else " (all in the store)" if stats.live_n else "")
    table.add_row("episodes", episodes)
    if stats.first_id:
        table.add_row("ids", f"{stats.first_id} to {stats.last_id}")
    table.add_row("size", size_text(stats.bytes_on_disk))
    if stats.live_n:
        failed = Text(f"{stats.failed_n:,} of {stats.live_n:,} ({_percent(stats.failed_n, stats.live_n)})")
        failed.append("  past failures that OPFB guards against", style="dim")
        table.add_row("failed", failed)
    if stats.answered_n:
        table.add_row("reviews", f"{stats.answered_n:,} whose answers can be judged")
    if any(stats.by_verdict.values()):
        table.add_row("verdicts", _sum_of(stats.by_verdict))
    return table


def _sum_of(counts: Mapping[str, int]) -> str:
    """Return a sum with its parts: 512 (ko 12, en 500)."""
    parts = ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)
    return f"{sum(counts.values()):,} ({parts})"


def _percent(count: int, total: int) -> str:
    return f"{count / total:.0%}"
