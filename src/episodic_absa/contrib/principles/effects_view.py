"""The output of `principles RUN_DIR`: the report's table of each condition, and how to read it."""

from collections.abc import Iterator, Sequence

from rich.console import ConsoleRenderable, Group
from rich.constrain import Constrain
from rich.text import Text

from episodic_absa.analysis import PrincipleEffect
from episodic_absa.cli.output import PAGE_WIDTH, printable
from episodic_absa.cli.terminal_table import terminal_table
from episodic_absa.contrib.principles.trial import SMALLEST_GROUP
from episodic_absa.reports.data.strata import effect_parts


def effects_view(effects: Sequence[PrincipleEffect]) -> ConsoleRenderable:
    """Lay out a table per condition, and how to read it."""
    parts: list[ConsoleRenderable] = []
    for part in effect_parts(effects):
        first = part.table.rows[0]
        sentence = f"{first.condition}, {first.metric}. {(part.table.note or part.sentence).en}"
        notes = [Text(printable(note), style="dim") for note in _notes(part.table.rows)]
        parts += [Constrain(Text(printable(sentence), style="bold"), PAGE_WIDTH), Text(), terminal_table(part.table)]
        parts += [Text(), Constrain(Group(*notes), PAGE_WIDTH)]
    return Group(*parts)


def _notes(group: Sequence[PrincipleEffect]) -> Iterator[str]:
    shadow = group[0].shadow
    beside = "" if shadow is None else f", each minus the same sample under {shadow}"
    yield (
        f"effect: mean of the reviews that saw the principle minus mean of those from which the coin withheld it"
        f"{beside}. CI: Welch's t. p: randomisation test. Holm p: corrected for the tested principles."
    )
    if any(effect.p_value is None for effect in group):
        yield f"A principle is tested if at least {SMALLEST_GROUP} reviews saw it and {SMALLEST_GROUP} did not."
    yield "no effect shown: the data do not tell the effect from none; it does not mean that there is none."
