"""The certificate in the output of `verify --certificate`."""

from rich.console import ConsoleRenderable, Group
from rich.text import Text

from episodic_absa.cli.terminal_table import terminal_table
from episodic_absa.reports.data.certificate_words import certificate_words
from episodic_absa.schemas.run_files.verification.certificate import Certificate


def probes_view(certificate: Certificate) -> ConsoleRenderable:
    """Lay out a row per probe, and what they say together."""
    words = certificate_words(certificate)
    summary = Text(words.summary.en, "red" if words.has_leak else "")
    return Group(Text(""), terminal_table(words.table), summary, Text(""))
