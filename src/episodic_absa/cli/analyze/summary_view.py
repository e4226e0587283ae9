"""The summary of a table of reviews in the terminal: the same numbers as the page, as tables of at most 80 columns."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Final

from rich import box
from rich.console import ConsoleRenderable, Group
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.analyze.analysis_view import shown_text
from episodic_absa.language.counted_noun import counted
from episodic_absa.reports.number_format import percent
from episodic_absa.reports.summary.summary import AspectGroup, BinUnit, ColumnSplit, OverTime, Summary, Tally

_WIDTH: Final = 80
_NAME_CELLS: Final = 22
_ASPECTS: Final = 15
_BINS: Final = 24
_COLUMNS: Final = 3
_HALF_BAR: Final = 12
_MOST_SPELLINGS: Final = 3


def summary_tables(summary: Summary) -> ConsoleRenderable:
    """Lay out praise and criticism by aspect, over time and by column. No share stands without its n."""
    return Constrain(Group(*_parts(summary)), _WIDTH)


def label_words(counts: Mapping[str, int], unread_n: int) -> str:
    """Return how many analysed reviews have each label; those of an unknown language are told from silent ones."""
    told = {**counts, "none": counts.get("none", 0) - unread_n, "unread": unread_n}
    shown = {label: label for label in ("positive", "negative", "mixed", "neutral")}
    shown |= {"none": "without an opinion", "unread": "in an unknown language"}
    return ", ".join(f"{told[label]:,} {words}" for label, words in shown.items() if told.get(label))


def row_words(rows_n: int, empty_n: int, failed_n: int) -> str:
    """Return what became of the rows of a table."""
    analysed_n = rows_n - empty_n - failed_n
    return f"{counted(rows_n, 'row')}: {analysed_n:,} analysed, {empty_n:,} without text, {failed_n:,} failed"


def _parts(summary: Summary) -> Iterator[ConsoleRenderable]:
    yield _head(summary)
    if summary.empty_n or summary.failed_n:
        yield Text(row_words(summary.rows_n, summary.empty_n, summary.failed_n))
    if not summary.overall.mentions:
        yield Text("\nNo opinion about an aspect was found.", style="dim")
        return
    yield from _titled("Praise and criticism by aspect", _aspects(summary))
    yield from _aspect_notes(summary)
    if summary.over_time is not None:
        yield from _time(summary.over_time)
    for column in summary.unclear_dates:
        yield Text(f"dates in {column!r} can be day/month or month/day; write them as 2026-01-31", style="yellow")
    for split in summary.columns[:_COLUMNS]:
        yield from _titled(f"By {split.name!r}", _column(split))
    rest = [*(column.name for column in summary.columns[_COLUMNS:]), *summary.columns_left_out]
    if rest:
        yield Text(f"other columns: {shown_text(', '.join(rest))}", style="dim")


def _head(summary: Summary) -> Text:
    share = f"{percent(summary.opinion_n, summary.analysed_n)} of {summary.analysed_n:,} analysed"
    head = Text.assemble(
        (counted(summary.reviews_n, "review"), "bold"), f", {summary.opinion_n:,} with an opinion ({share})"
    )
    if summary.failed_n:
        head.append(f", {summary.failed_n:,} failed", style="red")
    if summary.over_time is not None:
        head.append(f", {summary.over_time.first} to {summary.over_time.last}")
    head.append(f"\n{label_words(dict(summary.labels), summary.unread_n)}")
    return head


def _titled(title: str, table: Table) -> Iterator[ConsoleRenderable]:
    yield Text(f"\n{shown_text(title)}", style="bold")
    yield table


def _table(first: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="cyan")
    table.add_column(first, no_wrap=True, overflow="ellipsis", max_width=_NAME_CELLS)
    for title in ("- neg", "+ pos", "○ neu", "n"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("pos/n", justify="right", no_wrap=True)
    return table


def _numbers(tally: Tally) -> tuple[Text, Text, str, str, str]:
    return (
        Text(f"{tally.negative:,}", style="red" if tally.negative else "dim"),
        Text(f"{tally.positive:,}", style="green" if tally.positive else "dim"),
        f"{tally.neutral:,}",
        f"{tally.mentions:,}",
        percent(tally.positive, tally.mentions),
    )


def _aspects(summary: Summary) -> Table:
    table = _table("aspect")
    table.add_column("", no_wrap=True)
    named = _named(summary)[:_ASPECTS]
    longest = max((max(aspect.tally.positive, aspect.tally.negative) for aspect in named), default=1) or 1
    for aspect in named:
        table.add_row(shown_text(aspect.name), *_numbers(aspect.tally), _bar(aspect.tally, longest))
    for aspect in summary.aspects:
        if not aspect.name:
            table.add_row(Text("(no aspect named)", style="italic"), *_numbers(aspect.tally), "")
    return table


def _named(summary: Summary) -> list[AspectGroup]:
    return [aspect for aspect in summary.aspects if aspect.name]


def _bar(tally: Tally, longest: int) -> Text:
    left, right = (_blocks(count, longest) for count in (tally.negative, tally.positive))
    return Text.assemble((left.rjust(_HALF_BAR), "red"), ("│", "dim"), (right, "green"))


def _blocks(count: int, longest: int) -> str:
    # A mention is never invisible beside larger counts.
    return "█" * max(bool(count), round(_HALF_BAR * count / longest))


def _aspect_notes(summary: Summary) -> Iterator[Text]:
    named = _named(summary)
    hidden = named[_ASPECTS:]
    groups_n = len(hidden) + summary.rest.groups_n
    if groups_n:
        mentions_n = sum(aspect.tally.mentions for aspect in hidden) + summary.rest.tally.mentions
        rarer, mentions = counted(groups_n, "rarer aspect"), counted(mentions_n, "mention")
        yield Text(f"not shown: {rarer} with {mentions}", style="dim")
    grouped = [aspect for aspect in named[:_ASPECTS] if aspect.spellings_n > 1]
    for aspect in grouped[:_MOST_SPELLINGS]:
        spellings = ", ".join(spelling for spelling, _ in aspect.spellings)
        line = Text(f"grouped: {shown_text(spellings)}", style="dim")
        line.truncate(_WIDTH, overflow="ellipsis")
        yield line


def _time(over_time: OverTime) -> Iterator[ConsoleRenderable]:
    table = _table(over_time.unit)
    for period in over_time.bins[-_BINS:]:
        table.add_row(_period(period.start, over_time.unit), *_numbers(period.tallies[0]))
    yield from _titled(f"Over time, by {over_time.unit} of {over_time.column!r}", table)
    earlier_n = max(0, len(over_time.bins) - _BINS)
    if earlier_n:
        yield Text(f"on the page only: {counted(earlier_n, f'earlier {over_time.unit}')}", style="dim")
    if over_time.unread_n:
        yield Text(f"{over_time.unread_n:,} without a readable date left out", style="dim")


def _period(start: date, unit: BinUnit) -> str:
    match unit:
        case "year":
            return str(start.year)
        case "quarter":
            return f"{start.year} Q{(start.month + 2) // 3}"
        case "month":
            return f"{start:%Y-%m}"
        case "week" | "day":
            return start.isoformat()


def _column(split: ColumnSplit) -> Table:
    table = _table(shown_text(split.name))
    for value in split.values:
        table.add_row(shown_text(value.value), *_numbers(value.tallies[0]))
    return table
