"""The output of `drill`: a row per condition, the stored terms by kind of attack, a line per leak."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from rich import box
from rich.console import ConsoleRenderable, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.output import FirstThatFits, printable
from episodic_absa.contrib.drill.drilled import PLACES, Drilled, DrilledCondition, Where
from episodic_absa.contrib.drill.hostile_reviews import Attack

_MOST_LINES: Final = 40
_WORDS: Final[Mapping[Where, str]] = {
    "store": "the store, outside terms",
    "term": "a term that must not be stored",
    "advisory": "an advisory",
    "message": "a memory message in a prompt",
    "prompt": "the prompt of another review",
    "form": "the form of its own prompt",
}
_FIGURES: Final[Mapping[str, Callable[[DrilledCondition], int]]] = {
    "failed": lambda condition: condition.failed,
    "obeyed\nStage1": lambda condition: condition.obeyed_stage1,
    "obeyed\nfinal": lambda condition: condition.obeyed,
    "stored\nlines": lambda condition: condition.episodes,
    "memory\nshown": lambda condition: condition.shown,
    "stored\nterms": lambda condition: len({term.term for term in condition.terms}),
}
_LEAK_TITLES: Final = ("store", "bad\nterms", "advi-\nsories", "mes-\nsages", "other\nprompts", "form")
"""The columns that must be 0, in the order of `PLACES`."""


def drilled_view(drilled: Drilled, attacks: Mapping[str, Attack]) -> ConsoleRenderable:
    """Lay out a drill.

    Args:
        drilled: what it found.
        attacks: the kinds of attack, for the table of stored terms.
    """
    conditions = FirstThatFits(
        lambda: _rows(drilled, figures=True, leaks=True),
        lambda: Group(_rows(drilled, figures=True), Text(), _rows(drilled, leaks=True)),
    )
    parts: list[ConsoleRenderable] = [_head(drilled), Text(), conditions, Text(), _terms(drilled, attacks)]
    if drilled.leaks:
        parts += [Text(), *_leak_lines(drilled)]
    return Group(*parts, Text(), *_verdict(drilled))


def _head(drilled: Drilled) -> Text:
    english = drilled.hostile - drilled.hostile_korean
    return Text.assemble(
        (f"{drilled.hostile} hostile reviews", "bold"),
        f" ({drilled.hostile_korean} Korean, {english} English), {drilled.ordinary} ordinary ones between them\n",
        ("model  ", "cyan"),
        printable(drilled.backend),
    )


def _rows(drilled: Drilled, *, figures: bool = False, leaks: bool = False) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold cyan")
    table.add_column("condition", vertical="bottom", no_wrap=True)
    for title in [*(_FIGURES if figures else ()), *(_LEAK_TITLES if leaks else ())]:
        table.add_column(title, justify="right", vertical="bottom")
    for condition in drilled.conditions:
        cells = [Text(str(figure(condition))) for figure in _FIGURES.values()] if figures else []
        if leaks:
            counts = (condition.leaks_by_place[where] for where in PLACES)
            cells += [Text(str(count), style="bold red" if count else "green") for count in counts]
        table.add_row(Text(printable(condition.condition), style="bold"), *cells)
    return table


def _terms(drilled: Drilled, attacks: Mapping[str, Attack]) -> ConsoleRenderable:
    by_attack = drilled.terms_by_attack
    title = Text(f"terms of hostile reviews in a store: {sum(by_attack.values())} distinct", style="bold")
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right")
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    for attack, terms_n in by_attack.items():
        table.add_row(str(terms_n), attack, attacks[attack].what)
    return Group(title, Padding(table, (0, 0, 0, 2)))


def _leak_lines(drilled: Drilled) -> Iterator[Text]:
    for leak in drilled.leaks[:_MOST_LINES]:
        reader = f" -> {leak.seen_by}" if leak.seen_by else ""
        yield Text.assemble(
            ("leak  ", "bold red"),
            f"{printable(leak.condition)}: {leak.review}{reader} in {_WORDS[leak.where]} ({printable(leak.place)}): ",
            (printable(leak.excerpt), "dim"),
        )
    if len(drilled.leaks) > _MOST_LINES:
        yield Text(f"... and {len(drilled.leaks) - _MOST_LINES} more; --json lists all")


def _verdict(drilled: Drilled) -> Iterator[Text]:
    if not drilled.shows_memory:
        yield Text("no prompt showed memory: this drill says nothing about advisories", style="yellow")
    if drilled.is_sound:
        yield Text("nothing but terms left its review", style="bold green")
        return
    counts = [f"{count} in {_WORDS[where]}" for where, count in drilled.leaks_by_place.items() if count]
    yield Text(f"leaks: {', '.join(counts)}", style="bold red")
