"""What the sections of `analyze --explain` are made of."""

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
"""A name and what stands beside it."""
_NAME_WIDTH: Final = 12
_SHORT_CELLS: Final = 24
"""A column no wider than this is not broken."""
_LEAST_CELLS: Final = 16
"""A column that is broken wants this much."""
_SEVERITY_STYLE: Final = {"low": "dim", "mid": "yellow", "high": "red"}


def risk_list(risks: Iterable[StructuralRisk], text: str) -> RenderableType:
    """List risks with the words they cover."""
    return listed(
        (
            Text(risk.id, style="dim"),
            Text(risk.type),
            Text(risk.severity, style=_SEVERITY_STYLE[risk.severity]),
            joined(span_text(risk.scope, text), plain_text(risk.description)),
        )
        for risk in risks
    )


def critic_text(validator: ValidatorOutput) -> Text:
    """Say what a critic makes of the whole."""
    consistency = validator.consistency_score
    if isinstance(validator, Validator2Output):
        consistency = validator.final_consistency_score
    label = validator.suggested_label
    suggested = Text.assemble("suggests ", polarity_text(label)) if label else Text("suggests no label")
    return Text.assemble(suggested, f", confidence {validator.confidence:.2f}; consistency {consistency:.2f}")


def span_text(span: Span | None, text: str) -> Text:
    """Quote what a span covers, and say where it stands; empty without a span."""
    if span is None:
        return Text("")
    covered = shown_text(text[span.start : span.end])
    return Text.assemble((f"“{covered}”", "cyan"), (f" {span.start}:{span.end}", "dim"))


def place_text(span: Span | None) -> Text:
    """Say where a span stands."""
    return Text(f"{span.start}:{span.end}" if span else "", style="dim")


def number_text(value: float) -> Text:
    """Render a confidence."""
    return Text(f"{value:.2f}")


def plain_text(string: str) -> Text:
    """Render what a model or a person wrote."""
    return Text(shown_text(string))


def joined(*texts: Text) -> Text:
    """Join what is not empty."""
    return Text("  ").join(text for text in texts if text)


def quotation(evidence: str, text: str) -> Text:
    """Quote evidence; what is not in the text is no evidence, and that is said."""
    if not evidence:
        return Text("no evidence", style="dim")
    quoted = Text(f"“{shown_text(evidence)}”", style="cyan")
    return quoted if evidence in text else quoted.append(" (not in the text)", style="red")


def section(title: str, rows: Iterable[Row]) -> list[RenderableType]:
    """Set rows below a rule that bears the title."""
    fields = Table.grid(padding=(0, 1, 0, 0))
    fields.add_column(style="cyan", no_wrap=True, min_width=_NAME_WIDTH)
    fields.add_column(overflow="fold", ratio=1)
    for name, value in rows:
        fields.add_row(name, value)
    rule = Rule(Text(title, style="bold"), align="left", style="dim")
    return [Text(), rule, Padding(fields, (0, 0, 0, 2))]


def listed(rows: Iterable[tuple[Text, ...]], *, nothing: str = "none") -> RenderableType:
    """Set rows one below the other, their cells in line; the last cell is the one that may be long."""
    told = list(rows)
    return _InLine(told) if told else Text(nothing, style="dim")


class _InLine:
    """Cells below each other where there is room, else each row as running text: nothing is cut off."""

    def __init__(self, rows: Sequence[tuple[Text, ...]]) -> None:
        self._rows = rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = [max(cell.cell_len for cell in column) for column in zip(*self._rows, strict=True)]
        short = [width <= _SHORT_CELLS for width in widths[:-1]]
        in_line = sum(width if is_short else _LEAST_CELLS for width, is_short in zip(widths[:-1], short, strict=True))
        if in_line + 2 * len(short) + min(widths[-1], _LEAST_CELLS) > options.max_width:
            yield from (joined(*row) for row in self._rows)
            return
        table = Table.grid(padding=(0, 2, 0, 0))
        for is_short in (*short, False):
            table.add_column(overflow="fold", no_wrap=is_short)
        for row in self._rows:
            table.add_row(*row)
        yield table
