"""The output of `drill`: a row per condition, the stored terms by kind of attack, a line per leak."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from rich import box
from rich.console import ConsoleRenderable, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.drill.drilled import Drilled, DrilledCondition, Where, leaks_by_place
from episodic_absa.cli.drill.hostile_reviews import Attack
from episodic_absa.cli.output import FirstThatFits, printable

_MOST_LINES: Final = 40
_WORDS: Final[Mapping[Where, str]] = {
    "store": "the store, outside terms",
    "term": "a term that must not be stored",
    "advisory": "an advisory",
    "message": "a memory message in a prompt",
    "prompt": "the prompt of another review",
    "form": "the form of its own prompt",
}


class _Column(NamedTuple):
    """One figure per condition."""

    title: str
    figure: Callable[[DrilledCondition], int]
    must_be_0: bool = False

    def cell(self, condition: DrilledCondition) -> Text:
        """Return the figure of a condition."""
        figure = self.figure(condition)
        style = ("bold red" if figure else "green") if self.must_be_0 else ""
        return Text(str(figure), style=style)


_FIGURES: Final = (
    _Column("failed", lambda condition: condition.failed),
    _Column("obeyed\nStage1", lambda condition: condition.obeyed_stage1),
    _Column("obeyed\nfinal", lambda condition: condition.obeyed),
    _Column("stored\nlines", lambda condition: condition.episodes),
    _Column("memory\nshown", lambda condition: condition.shown),
    _Column("stored\nterms", lambda condition: len({term.term for term in condition.terms})),
)
_LEAKED: Final = (
    _Column("store", lambda condition: condition.leaked_n("store"), must_be_0=True),
    _Column("bad\nterms", lambda condition: condition.leaked_n("term"), must_be_0=True),
    _Column("advi-\nsories", lambda condition: condition.leaked_n("advisory"), must_be_0=True),
    _Column("mes-\nsages", lambda condition: condition.leaked_n("message"), must_be_0=True),
    _Column("other\nprompts", lambda condition: condition.leaked_n("prompt"), must_be_0=True),
    _Column("form", lambda condition: condition.leaked_n("form"), must_be_0=True),
)


def drilled_json(drilled: Drilled) -> dict[str, Any]:
    """Return a drill as a JSON value."""
    return {
        **drilled.model_dump(mode="json"),
        "is_sound": drilled.is_sound,
        "leaks_by_place": leaks_by_place(drilled.leaks),
        "terms_by_attack": drilled.terms_by_attack(),
    }


def drilled_view(drilled: Drilled, attacks: Mapping[str, Attack]) -> ConsoleRenderable:
    """Lay out a drill.

    Args:
        drilled: what it found.
        attacks: the kinds of attack, for the table of stored terms.
    """
    parts: list[ConsoleRenderable] = [_head(drilled), Text(), _conditions(drilled), Text(), _terms(drilled, attacks)]
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


def _conditions(drilled: Drilled) -> ConsoleRenderable:
    return FirstThatFits(
        lambda: _rows(drilled, (*_FIGURES, *_LEAKED)),
        lambda: Group(_rows(drilled, _FIGURES), Text(), _rows(drilled, _LEAKED)),
    )


def _rows(drilled: Drilled, columns: Sequence[_Column]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold cyan")
    table.add_column("condition", vertical="bottom", no_wrap=True)
    for column in columns:
        table.add_column(column.title, justify="right", vertical="bottom")
    for condition in drilled.conditions:
        table.add_row(
            Text(printable(condition.condition), style="bold"), *(column.cell(condition) for column in columns)
        )
    return table


def _terms(drilled: Drilled, attacks: Mapping[str, Attack]) -> ConsoleRenderable:
    by_attack = drilled.terms_by_attack()
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
    counts = ", ".join(
        f"{leaked_n} in {_WORDS[where]}" for where, leaked_n in leaks_by_place(drilled.leaks).items() if leaked_n
    )
    yield Text(f"leaks: {counts}", style="bold red")
