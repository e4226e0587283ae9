"""The certificate in the output of `verify --certificate`."""

from typing import Final

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from episodic_absa.reports.data.certificate_view import ProbeRow, certificate_view
from episodic_absa.reports.number_format import interval, plain
from episodic_absa.schemas.run_files.verification.certificate import Certificate

_STYLES: Final = {"pass": "green", "fail": "bold red", "none": ""}


def probes_view(certificate: Certificate) -> ConsoleRenderable:
    """Lay out a row per probe, and what they say together."""
    view = certificate_view(certificate)
    table = Table.grid(padding=(0, 2))
    table.add_row("", "from", "scope", "n", "figure", "95 % CI", "chance", "verdict", style="dim")
    for row in view.rows:
        table.add_row(*_cells(row), Text(row.verdict.en, _STYLES[row.state]))
    return Group(Text(""), table, Text(view.summary.en, "red" if view.has_leak else ""), Text(""))


def _cells(row: ProbeRow) -> tuple[str, ...]:
    figures = (plain(row.figure), interval(row.low, row.high), plain(row.chance))
    return (row.target.en, row.source.en, row.scope.en, str(row.n), *figures)
