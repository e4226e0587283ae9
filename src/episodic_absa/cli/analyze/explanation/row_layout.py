"""Rows, lists and quotations: the pieces that every section of `analyze --explain` is laid out with."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.analyze.analysis_view import polarity_text, shown_text
from episodic_absa.schemas.absa import Span, StructuralRisk, Validator2Output, ValidatorOutput

Row = tuple[str, RenderableType]
"""A name and its value, as one row of a section."""
_NAME_WIDTH: Final = 12
_SHORT_CELLS: Final = 24
"""A column up to this width is not wrapped."""
_LEAST_CELLS: Final = 16
"""A wrapped column gets at least this width."""
_SEVERITY_STYLE: Final = {"low": "dim", "mid": "yellow", "high": "red"}


def risk_list(risks: Iterable[StructuralRisk], text: str) -> RenderableType:
    """Return a list of risks with the words they cover."""
    return row_list(
        (
            Text(risk.id, style="dim"),
            Text(risk.type),
            Text(risk.severity, style=_SEVERITY_STYLE[risk.severity]),
            joined(span_text(risk.scope, text), plain_text(risk.description)),
        )
        for risk in risks
    )


def validator_text(validator: ValidatorOutput) -> Text:
    """Return the label that a validator suggests, its confidence, and the consistency it sees."""
    consistency = validator.consistency_score
    if isinstance(validator, Validator2Output):
        consistency = validator.final_consistency_score
    label = validator.suggested_label
    suggested = Text.assemble("suggests ", polarity_text(label)) if label else Text("suggests no label")
    return Text.assemble(suggested, f", confidence {validator.confidence:.2f}; consistency {consistency:.2f}")


def span_text(span: Span | None, text: str) -> Text:
    """Return the quoted words of a span and its offsets; empty without a span."""
    if span is None:
        return Text("")
    covered = shown_text(text[span.start : span.end])
    return Text.assemble((f"“{covered}”", "cyan"), (f" {span.start}:{span.end}", "dim"))


def place_text(span: Span | None) -> Text:
    """Return the offsets of a span; empty without a span."""
    return Text(f"{span.start}:{span.end}" if span else "", style="dim")


def number_text(value: float) -> Text:
    """Return a confidence with two decimals."""
    return Text(f"{value:.2f}")


def plain_text(string: str) -> Text:
    """Return words of a model or a person, safe for a terminal."""
    return Text(shown_text(string))


def joined(*texts: Text) -> Text:
    """Return the texts that are not empty, with two spaces between them."""
    return Text("  ").join(text for text in texts if text)


def quotation(evidence: str, text: str) -> Text:
    """Return the quoted evidence, marked if it is not a substring of the review."""
    if not evidence:
        return Text("no evidence", style="dim")
    quoted = Text(f"“{shown_text(evidence)}”", style="cyan")
    return quoted if evidence in text else quoted.append(" (not in the text)", style="red")


def section(title: str, rows: Iterable[Row]) -> list[RenderableType]:
    """Return a titled rule with the rows below it."""
    fields = Table.grid(padding=(0, 1, 0, 0))
    fields.add_column(style="cyan", no_wrap=True, min_width=_NAME_WIDTH)
    fields.add_column(overflow="fold", ratio=1)
    for name, value in rows:
        fields.add_row(name, value)
    rule = Rule(Text(title, style="bold"), align="left", style="dim")
    return [Text(), rule, Padding(fields, (0, 0, 0, 2))]


def row_list(rows: Iterable[tuple[Text, ...]], *, nothing: str = "none") -> RenderableType:
    """Return rows with aligned cells, or `nothing` if there are none. Only the last cell of a row may be long."""
    filled = list(rows)
    return _AlignedRows(filled) if filled else Text(nothing, style="dim")


class _AlignedRows:
    """Shows rows as a table if the terminal is wide enough, else each row as running text. Nothing is cut off."""

    def __init__(self, rows: Sequence[tuple[Text, ...]]) -> None:
        self._rows = rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = [max(cell.cell_len for cell in column) for column in zip(*self._rows, strict=True)]
        short = [width <= _SHORT_CELLS for width in widths[:-1]]
        least_width = sum(
            width if is_short else _LEAST_CELLS for width, is_short in zip(widths[:-1], short, strict=True)
        )
        if least_width + 2 * len(short) + min(widths[-1], _LEAST_CELLS) > options.max_width:
            yield from (joined(*row) for row in self._rows)
            return
        table = Table.grid(padding=(0, 2, 0, 0))
        for is_short in (*short, False):
            table.add_column(overflow="fold", no_wrap=is_short)
        for row in self._rows:
            table.add_row(*row)
        yield table
