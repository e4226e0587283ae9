"""The page of `memory stats`: counts with small bars."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, Final

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.memory.episode_words import OUTCOME_STYLE
from episodic_absa.cli.output import FirstThatFits, printable
from episodic_absa.memory.store_statistics import StoreStatistics
from episodic_absa.store.episode_store import DEFAULT_KEEP_LAST_N

_TOP_PRINCIPLES: Final = 6
_BAR_WIDTH: Final = 7
_LEFT_NAMES: Final = len("confidence_reduce")
_RIGHT_NAMES: Final = len("MISSING_SECOND_ASPECT")
_EIGHTHS: Final = " ▏▎▍▌▋▊▉"
_UNITS: Final = ("bytes", "KiB", "MiB", "GiB")


def stats_json(stats: StoreStatistics) -> dict[str, Any]:
    """Return the counts as a JSON value."""
    share = stats.failed_n / stats.live_n if stats.live_n else None
    return {**asdict(stats), "failed_share": share, "keep_last_n": DEFAULT_KEEP_LAST_N}


def stats_view(stats: StoreStatistics, store: str) -> ConsoleRenderable:
    """Lay out the counts, in two columns if the terminal is wide enough."""
    head = _head(stats, store)
    if not stats.live_n:
        return head
    left = [
        _bars("language", stats.by_language, stats.live_n),
        _bars("outcome", stats.by_outcome, stats.live_n, styles=OUTCOME_STYLE),
        _bars("action", stats.by_action, stats.live_n),
    ]
    right = [
        _bars("risk before", stats.by_risk_before, stats.live_n, width=_RIGHT_NAMES, after=stats.by_risk_after),
        _principles(stats),
    ]
    side_by_side = Table.grid(padding=(0, 3, 0, 0))
    side_by_side.add_row(_stacked(left), _stacked(right))
    return Group(head, Text(), FirstThatFits(lambda: side_by_side, lambda: _stacked([*left, *right])))


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


def _principles(stats: StoreStatistics) -> Table:
    top = dict(list(stats.by_principle.items())[:_TOP_PRINCIPLES])
    others = len(stats.by_principle) - len(top)
    table = _bars(
        "principle", {printable(name): count for name, count in top.items()}, stats.live_n, width=_RIGHT_NAMES
    )
    if others:
        rest = stats.live_n - sum(top.values())
        table.add_row(Text(f"{others} others", style="dim"), Text(f"{rest:,}", style="dim"))
    return table


def _bars(
    title: str,
    counts: Mapping[str, int],
    total: int,
    *,
    width: int = _LEFT_NAMES,
    styles: Mapping[Any, str] | None = None,
    after: Mapping[str, int] | None = None,
) -> Table:
    """Return a block with a line per name: its count, its share (or its count after), and a bar."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold cyan")
    table.add_column(title, no_wrap=True, min_width=width)
    table.add_column("n", justify="right", min_width=3)
    table.add_column("after" if after else "", justify="right", min_width=4)
    table.add_column("", no_wrap=True, min_width=_BAR_WIDTH)
    for name, count in counts.items():
        beside = f"{after[name]:,}" if after else _percent(count, total)
        unused = not count and not (after and after[name])
        bar = _bar(count, total, (styles or {}).get(name, "blue"))
        table.add_row(name, f"{count:,}", beside, bar, style="dim" if unused else None)
    return table


def _bar(count: int, total: int, style: str) -> Text:
    # Rounded up, so that the smallest count still shows a bar.
    eighths = -(-count * _BAR_WIDTH * 8 // total)
    return Text("█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip(), style=style)


def _percent(count: int, total: int) -> str:
    return f"{count / total:.0%}"


def _stacked(blocks: Iterable[Table]) -> Table:
    """Return the blocks in one column, with a blank line between two of them."""
    column = Table.grid()
    for index, block in enumerate(blocks):
        if index:
            column.add_row("")
        column.add_row(block)
    return column
