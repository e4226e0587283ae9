"""The output of `verify --explain`."""

from collections.abc import Iterator
from typing import Final

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.output import printable
from episodic_absa.serialization.csv_text import number_text
from episodic_absa.verification.receipts import Contribution, Explanation, Receipt

SHOWN_LINES: Final = 10
"""Lines of each receipt that are shown without `--all`."""


def explanation_view(explanation: Explanation) -> ConsoleRenderable:
    """Lay out the value of each cell with the lines that it comes from."""
    head = Text.assemble((explanation.metric, "bold"), f"  {explanation.definition}")
    return Group(head, *(part for receipt in explanation.receipts for part in _receipt(receipt)))


def _receipt(receipt: Receipt) -> Iterator[ConsoleRenderable]:
    is_ratio = any(line.denominator is not None for line in receipt.lines)
    sums = "the numerators divided by the denominators, both added up" if is_ratio else "added up"
    value = number_text(receipt.value) or "no value"
    yield Text.assemble("\n", (printable(receipt.cell), "bold"), f"  {value}, from {_lines(receipt.line_n)}, {sums}")
    table = Table.grid(padding=(0, 2))
    for line in receipt.lines:
        table.add_row("", Text(printable(line.place)), Text(printable(line.uid)), _amount(line))
    yield table
    if len(receipt.lines) < receipt.line_n:
        yield Text(f"  the first {len(receipt.lines)} of {_lines(receipt.line_n)}; --all shows all", "dim")


def _lines(number: int) -> str:
    return f"{number:,} line{'' if number == 1 else 's'}"


def _amount(line: Contribution) -> str:
    if line.numerator is None:
        return "unknown"
    above = _plain(line.numerator)
    return above if line.denominator is None else f"{above} / {_plain(line.denominator)}"


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else number_text(number)
