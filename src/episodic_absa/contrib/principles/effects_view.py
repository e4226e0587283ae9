"""The output of `principles RUN_DIR`: the effect of each principle, those with a verdict first."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from rich import box
from rich.console import ConsoleRenderable, Group
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from episodic_absa.analysis import PrincipleEffect
from episodic_absa.cli.output import PAGE_WIDTH, FirstThatFits, printable
from episodic_absa.contrib.principles.trial import SMALLEST_GROUP
from episodic_absa.metrics.statistics import NO_VARIATION, interval_text, p_text, signed

_PLACES: Final = ("helps", "harms", "not shown")
_EXPLORATORY: Final = "exploratory: this trial was not asked for before the first sample"


def effects_view(effects: Sequence[PrincipleEffect]) -> ConsoleRenderable:
    """Lay out a table per condition, and how to read it."""
    parts: list[ConsoleRenderable] = []
    for condition in dict.fromkeys(effect.condition for effect in effects):
        group = sorted(
            (effect for effect in effects if effect.condition == condition),
            key=lambda effect: (_PLACES.index(effect.verdict), effect.principle_id),
        )
        notes = [Text(printable(note), style="dim") for note in _notes(group)]
        parts += [
            Constrain(Text(printable(_sentence(group)), style="bold"), PAGE_WIDTH),
            *([Text(_EXPLORATORY, style="yellow")] if group[0].exploratory else []),
            Text(),
            FirstThatFits(*(partial(_table, group, columns) for columns in (tuple(_COLUMNS), _NARROW))),
            Text(),
            Constrain(Group(*notes), PAGE_WIDTH),
        ]
    return Group(*parts)


def _sentence(group: Sequence[PrincipleEffect]) -> str:
    helps, harms, others = ([effect.principle_id for effect in group if effect.verdict == place] for place in _PLACES)
    tested = sum(effect.p_value is not None for effect in group)
    found = f"helps {', '.join(helps) or 'none'}; harms {', '.join(harms) or 'none'}"
    others_n = f"no effect shown {len(others)} of {len(group)} principles ({tested} tested)"
    return f"{group[0].condition}, {group[0].metric}: {found}; {others_n}."


def _table(group: Sequence[PrincipleEffect], columns: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold cyan")
    table.add_column("principle", no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for effect in group:
        cells = (_COLUMNS[column](effect) for column in columns)
        style = None if effect.verdict == "not shown" else "bold"
        table.add_row(printable(effect.principle_id), *cells, style=style)
    return table


def _interval(effect: PrincipleEffect) -> str:
    if effect.ci_low is None or effect.ci_high is None:
        is_small = min(effect.n_shown, effect.n_withheld) < SMALLEST_GROUP
        return "too few" if is_small else NO_VARIATION["en"]
    return interval_text(effect.ci_low, effect.ci_high)


def _p(value: float | None) -> str:
    return "-" if value is None else p_text(value)


_COLUMNS: Final[Mapping[str, Callable[[PrincipleEffect], str]]] = {
    "shown": lambda effect: f"{effect.n_shown:,}",
    "withheld": lambda effect: f"{effect.n_withheld:,}",
    "effect": lambda effect: "-" if effect.effect is None else signed(effect.effect),
    "95 % CI": _interval,
    "p": lambda effect: _p(effect.p_value),
    "Holm p": lambda effect: _p(effect.p_holm),
    "verdict": lambda effect: effect.verdict,
}
_NARROW: Final = ("effect", "95 % CI", "verdict")


def _notes(group: Sequence[PrincipleEffect]) -> Iterator[str]:
    shadow = group[0].shadow
    beside = "" if shadow is None else f", each minus the same sample under {shadow}"
    yield (
        f"effect: mean of the reviews that saw the principle minus mean of those from which the coin withheld it"
        f"{beside}. CI: Welch's t. p: randomisation test. Holm p: corrected for the tested principles."
    )
    if any(effect.p_value is None for effect in group):
        yield f"A principle is tested if at least {SMALLEST_GROUP} reviews saw it and {SMALLEST_GROUP} did not."
    yield "not shown: the data do not tell the effect from none; it does not mean that there is none."
