"""The section "Changes" of rules v3: every proposed change, its decision, and who was for and against it."""

from collections.abc import Iterable
from typing import Final

from rich.text import Text

from episodic_absa.cli.analyze.analysis_view import aspect_text, polarity_text
from episodic_absa.cli.analyze.explanation.reason_words import CHANGE_WORDS
from episodic_absa.cli.analyze.explanation.row_layout import Row, joined, plain_text, quotation, row_list
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.run_files.change_record import ChangeRecord, Stance, Witness, WitnessName

_WITNESS_WORDS: Final[dict[WitnessName, str]] = {
    "review": "Stage2",
    "epm": "EPM",
    "tan": "TAN",
    "cj": "CJ",
    "judge": "judge",
    "validator": "validator",
    "reader": "reader",
}


def change_rows(result: SampleResult) -> Iterable[Row]:
    """Yield each change with its witnesses; nothing under seed rules, which decide about the whole patch."""
    if result.changes is None:
        return
    if not result.changes:
        yield "changes", Text("nobody asks for one", style="dim")
    for change in result.changes:
        yield change.change_id, joined(_edit(change), _outcome(change))
        for stance in ("for", "against"):
            witnesses = list(_witnesses(change, stance, result.sample.text))
            if witnesses:
                yield f"  {stance}", row_list(witnesses)


def _edit(change: ChangeRecord) -> Text:
    aspect = aspect_text(change.aspect_term)
    old, new = polarity_text(change.from_polarity), polarity_text(change.to_polarity)
    match change.kind:
        case "flip":
            return Text.assemble("flip ", aspect, " ", old, " → ", new)
        case "drop":
            return Text.assemble("drop ", aspect, " ", old)
        case "add":
            return Text.assemble("add ", aspect, " ", new)
        case "span":
            return Text.assemble("span ", aspect, " → ", plain_text(change.to_term or "no words of the text"))


def _outcome(change: ChangeRecord) -> Text:
    if change.adopted:
        return Text("✓ adopted", style="bold green")
    return Text.assemble((f"✗ {change.reason}", "red"), (f" ({CHANGE_WORDS[change.reason]})", "dim"))


def _witnesses(change: ChangeRecord, stance: Stance, text: str) -> Iterable[tuple[Text, ...]]:
    for witness in change.witnesses:
        if witness.stance == stance:
            yield Text(_WITNESS_WORDS[witness.who]), _words(witness, text)


def _words(witness: Witness, text: str) -> Text:
    if witness.who == "reader":
        return Text("" if witness.p is None else f"sure to {witness.p:.2f}")
    if not witness.quote:
        return Text("no quote", style="dim")
    quote = quotation(witness.quote, text)
    return quote.append(" (at home)", style="green") if witness.at_home else quote
