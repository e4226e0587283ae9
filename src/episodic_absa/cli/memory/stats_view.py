"""The page of `memory stats`: counts with small bars."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.output import printable
from episodic_absa.memory.store_statistics import StoreStatistics
from episodic_absa.store.episode_store import DEFAULT_KEEP_LAST_N

_TOP_PRINCIPLES: Final = 6
_BAR_WIDTH: Final = 20
_UNITS: Final = ("bytes", "KiB", "MiB", "GiB")


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
