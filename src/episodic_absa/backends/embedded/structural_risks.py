"""Finds where a text may mislead whoever judges its terms: by cues of negation, contrast and irony alone."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from episodic_absa.language import clauses, find_contrasts, find_ironies, find_negations, occurrences
from episodic_absa.vocabulary import Language, Polarity, RiskId, Severity


class FoundRisk(NamedTuple):
    """A risk and where it lies."""

    type: RiskId
    start: int
    end: int
    severity: Severity
    why: str


def find_risks(text: str, language: Language, pairs: Sequence[tuple[str, Polarity]]) -> Iterator[FoundRisk]:
    """Yield the risks of judged terms; a text without a cue beside one has none."""
    homes = [
        (start, end)
        for start, end in clauses(text, language)
        if any(not term or any(start <= at < end for at in occurrences(term, text)) for term, _ in pairs)
    ]
    negated = [cue.start for cue in find_negations(text, language)]
    for start, end in homes:
        if any(start <= at < end for at in negated):
            yield FoundRisk("NEGATION_SCOPE", start, end, "mid", "a negation stands in the clause of a judged term")
    if len(pairs) > 1 and len({polarity for _, polarity in pairs}) == 1:
        for cue in find_contrasts(text, language):
            yield FoundRisk("CONTRAST_SCOPE", cue.start, cue.end, "mid", f"'{cue.form}' stands between like judgements")
    if any(polarity == "positive" for _, polarity in pairs):
        for cue in find_ironies(text, language):
            yield FoundRisk("IRONY", cue.start, cue.end, "high", f"'{cue.form}' may turn praise into its opposite")
