"""The page of `analyze`: the review, a table of its aspects, and its label."""

import re
from typing import Final

from rich import box
from rich.console import ConsoleRenderable, Group, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from episodic_absa.backends.provider_facts import why_unread
from episodic_absa.cli.output import PAGE_WIDTH
from episodic_absa.pipeline.result_views.aspects import quoted_evidence
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.serialization.terminal_text import visible_text

_SIGN: Final = {"positive": "+", "negative": "-", "neutral": "○", "mixed": "±"}
"""A sign per label, so that the table reads without colour."""
_STYLE: Final = {"positive": "green", "negative": "red", "neutral": "yellow", "mixed": "magenta"}
_EVIDENCE_CELLS: Final = 40
_LONGEST_WORDS: Final = 1000
_LONGEST_REVIEW: Final = 10_000
"""Characters that are shown of a term or a quotation, and of the review."""
_SPACE: Final = re.compile(r"\s")
BACKFILLED: Final = "(backfilled: not judged)"


def analysis_view(result: SampleResult, *, number: int | None = None) -> ConsoleRenderable:
    """Lay out one review.

    Args:
        result: the result of the review.
        number: the number of the review if there are several.
    """
    return Constrain(Group(*analysis_parts(result, number=number), Text()), PAGE_WIDTH)


def analysis_parts(result: SampleResult, *, number: int | None) -> list[RenderableType]:
    """Return the parts of the page: the text, the table, the label."""
    return [_heading(result, number), Text(), Padding(_tuples(result), (0, 0, 0, 2)), Text(), _label(result)]


def shown_text(string: str, *, longest: int = _LONGEST_WORDS) -> str:
    """Return text on one line, with hidden characters as escapes, and with its emoji intact; a longer one is cut."""
    shown = visible_text(_SPACE.sub(" ", string[:longest]), keeps_joiners=True)
    return shown if len(string) <= longest else f"{shown}… ({len(string):,} characters)"


def aspect_text(term: str) -> Text:
    """Return an aspect term, or `(implicit)` if it is empty."""
    return Text(shown_text(term), style="bold") if term else Text("(implicit)", style="italic")


def polarity_text(polarity: str | None) -> Text:
    """Return a polarity or label with its sign; a misspelt one is shown as written."""
    if polarity is None:
        return Text("? missing", style="dim")
    sign = f"{_SIGN[polarity]} " if polarity in _SIGN else ""
    return Text(f"{sign}{shown_text(polarity)}", style=_STYLE.get(polarity, ""))


def evidence_of(item: FinalTuple, result: SampleResult) -> str:
    """Return the words that support a final tuple, "" if no agent quoted any."""
    return quoted_evidence(item, result.stage1, result.debate)


def deciding_words(result: SampleResult) -> str:
    """Return the words that decide the label: those of the pairs with its polarity, else those quoted for the text."""
    label = result.label
    quoted = [
        aspect.evidence
        for aspect in result.aspects
        if aspect.evidence and (aspect.polarity == label or (label == "mixed" and aspect.polarity != "neutral"))
    ]
    if not quoted and result.debate is not None and result.debate.summary.sentence_polarity == label:
        quoted = [words for words in result.debate.summary.sentence_evidence_spans if words]
    return ", ".join(f"“{shown_text(words)}”" for words in dict.fromkeys(quoted))


def _heading(result: SampleResult, number: int | None) -> RenderableType:
    text = Text(shown_text(result.sample.text.strip(), longest=_LONGEST_REVIEW), overflow="fold")
    if number is None:
        return text
    heading = Table.grid(padding=(0, 1, 0, 0))
    heading.add_column(no_wrap=True)
    heading.add_column(overflow="fold")
    heading.add_row(Text(f"{number}.", style="bold cyan"), text)
    return heading


def _tuples(result: SampleResult) -> ConsoleRenderable:
    tuples = result.final_result.final_tuples
    if not tuples:
        why = _why_unread(result)
        if why is not None:
            return Text(f"unknown language: not read; {why}", style="yellow")
        return Text("no opinion found", style="dim")
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold cyan")
    table.add_column("aspect", overflow="fold")
    table.add_column("polarity", no_wrap=True)
    table.add_column("confidence", justify="right", no_wrap=True)
    table.add_column("evidence", overflow="fold")
    for item in tuples:
        evidence = Text(BACKFILLED) if item.is_backfilled else Text(shown_text(evidence_of(item, result)))
        evidence.truncate(_EVIDENCE_CELLS, overflow="ellipsis")
        table.add_row(
            aspect_text(item.aspect_term),
            polarity_text(item.polarity),
            f"{item.confidence:.2f}",
            evidence,
            style="dim" if item.is_backfilled else None,
        )
    return table


def _why_unread(result: SampleResult) -> str | None:
    return why_unread(result.calls[0].model, result.language) if result.calls else None


def _label(result: SampleResult) -> Text:
    final = result.final_result
    if not final.label:
        return Text.assemble(("  label  ", "cyan"), ("the text was not read", "dim"))
    label = Text.assemble(("  label  ", "cyan"), polarity_text(final.label), f"  {final.confidence:.2f}")
    if result.adoption.adopt:
        label.append(f"  (revised by stage2: {result.adoption.reason})", style="dim")
    return label
