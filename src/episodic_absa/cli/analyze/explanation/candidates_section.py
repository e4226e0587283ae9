"""The section "Candidates" of rules v3: every pair that was named, its decision, and who was for and against it."""

from collections.abc import Iterable

from rich.text import Text

from episodic_absa.cli.analyze.analysis_view import aspect_text, polarity_text
from episodic_absa.cli.analyze.explanation.row_layout import Row, joined, quotation, row_list
from episodic_absa.pipeline.decision.changes import REASON_WORDS, WITNESS_WORDS
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.run_files.candidate_record import CandidateRecord, Stance, Witness


def candidate_rows(result: SampleResult) -> Iterable[Row]:
    """Yield each candidate with its witnesses; nothing under seed rules, which weigh none."""
    decision = result.decision
    if decision is None:
        return
    yield "weights", Text(f"{decision.weights}; in from p {decision.tau:.2f} on", style="dim")
    if not decision.candidates:
        yield "candidates", Text("nobody names a pair", style="dim")
    for candidate in decision.candidates:
        pair = Text.assemble(aspect_text(candidate.aspect_term), " ", polarity_text(candidate.polarity))
        yield f"p {candidate.p:.2f}", joined(pair, _decision(candidate))
        for stance in ("for", "against"):
            witnesses = list(_witnesses(candidate, stance, result.sample.text))
            if witnesses:
                yield f"  {stance}", row_list(witnesses)


def _decision(candidate: CandidateRecord) -> Text:
    words = f" ({REASON_WORDS[candidate.reason]})"
    if candidate.is_in:
        return Text.assemble(("✓ kept" if candidate.is_of_stage1 else "✓ added", "bold green"), (words, "dim"))
    return Text.assemble(("✗ dropped" if candidate.is_of_stage1 else "✗ left out", "red"), (words, "dim"))


def _witnesses(candidate: CandidateRecord, stance: Stance, text: str) -> Iterable[tuple[Text, ...]]:
    for witness in candidate.witnesses:
        if witness.stance == stance:
            yield Text(WITNESS_WORDS[witness.who]), _words(witness, text)


def _words(witness: Witness, text: str) -> Text:
    stated = Text("" if witness.p is None else f"p {witness.p:.2f}")
    return joined(stated, quotation(witness.quote, text)) if witness.quote else stated
