"""The output of `verify --explain`."""

from collections.abc import Iterator
from typing import Final

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.output import printable
from episodic_absa.serialization.csv_text import number_text
from episodic_absa.verification.receipts.receipt import Contribution, Explanation, Receipt, TableNumber

SHOWN_LINES: Final = 10
"""Lines of each figure that are shown without `--all`."""


def explanation_view(explanation: Explanation) -> ConsoleRenderable:
    """Lay out each figure with its places in the tables, the rule, and its lines."""
    parts: list[ConsoleRenderable] = [Text.assemble((explanation.metric, "bold"), f"  {explanation.definition}")]
    for receipt in explanation.receipts:
        parts += [Text(""), *_receipt(receipt)]
    return Group(*parts, Text(""), _verdict(explanation))


def _receipt(receipt: Receipt) -> Iterator[ConsoleRenderable]:
    yield Text(printable(receipt.name), "bold")
    numbers = Table.grid(padding=(0, 2))
    for number in receipt.numbers:
        numbers.add_row("", number.column, Text(printable(number.place)), *_compared(number))
    yield numbers
    yield Text(f"  {receipt.rule}", "dim")
    lines = Table.grid(padding=(0, 2))
    for line in receipt.lines:
        lines.add_row("", Text(printable(", ".join(line.places))), Text(printable(line.uid)), _amount(line))
    for pair in receipt.pairs:
        places = Text(printable(f"{pair.a.places[0]}, {pair.b.places[0]}"))
        difference = "" if pair.difference is None else f"= {number_text(pair.difference)}"
        lines.add_row("", places, Text(printable(pair.uid)), f"{_amount(pair.a)} minus {_amount(pair.b)}", difference)
    yield lines
    shown_n = len(receipt.lines) + len(receipt.pairs)
    noun = "pair" if receipt.pairs else "line"
    if shown_n < receipt.line_n:
        yield Text(f"  the first {shown_n} of {receipt.line_n:,} {noun}s; --all shows all", "dim")
    else:
        yield Text(f"  {receipt.line_n:,} {noun}{'' if receipt.line_n == 1 else 's'}", "dim")


def _compared(number: TableNumber) -> tuple[Text, Text]:
    written = "not written" if number.written is None else number.written or "no value"
    value = number.recomputed
    is_count = value is not None and written == str(int(value)) and value == int(value)
    recomputed = f"from the lines: {written if is_count else number.recomputed_text}"
    if number.agrees is None:
        return Text(written, "yellow"), Text(recomputed)
    if number.agrees:
        return Text(written), Text(f"{recomputed}, equal", "green")
    return Text(printable(written), "bold red"), Text(f"{recomputed}, NOT EQUAL", "bold red")


def _amount(line: Contribution) -> str:
    if line.numerator is None:
        return "unknown"
    above = _plain(line.numerator)
    return above if line.denominator is None else f"{above} / {_plain(line.denominator)}"


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else number_text(number)


def _verdict(explanation: Explanation) -> Text:
    numbers = [number for receipt in explanation.receipts for number in receipt.numbers]
    differing_n = sum(number.agrees is False for number in numbers)
    missing_n = sum(number.agrees is None for number in numbers)
    if differing_n:
        return Text(f"{differing_n} of {len(numbers)} numbers are not what their lines give", "red")
    if missing_n:
        message = f"{missing_n} of {len(numbers)} numbers stand in no table; `episodic-absa report` writes the tables"
        return Text(message, "yellow")
    return Text(f"all {len(numbers)} numbers equal those of the tables", "green")
