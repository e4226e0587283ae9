"""The changes of Stage1's pairs that decided candidates amount to, and why each is in or out, in words."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from episodic_absa.language import norm
from episodic_absa.schemas.absa import Change
from episodic_absa.schemas.run_files.adoption import PatchLogEntry
from episodic_absa.schemas.run_files.candidate_record import (
    AGENTS,
    CandidateReason,
    CandidateRecord,
    DecisionRecord,
    Stance,
    WitnessName,
)
from episodic_absa.vocabulary import ChangeKind, Polarity

REASON_WORDS: Final[dict[CandidateReason, str]] = {
    "likely": "it is likely enough",
    "undoubted": "at most one agent doubts the first analysis",
    "unlikely": "it is not likely enough",
    "one_agent": "one agent alone names it",
    "not_in_text": "the text does not hold the term",
    "other_polarity": "another polarity of the term is likelier",
    "overlaps": "a likelier term stands at the same place",
}
WITNESS_WORDS: Final[dict[WitnessName, str]] = {
    "stage1": "Stage1",
    "epm": "EPM",
    "tan": "TAN",
    "cj": "CJ",
    "judge": "judge",
    "review": "Stage2",
    "reader": "reader",
    "memory": "memory",
}
_LONGEST_REASON: Final = 400
_LONGEST_NAME: Final = 80
_LONGEST_QUOTE: Final = 60


class PairChange(NamedTuple):
    """One edit of one Stage1 pair, or one added pair: proposed, made, or both."""

    change_id: str
    kind: ChangeKind
    from_polarity: Polarity | None
    to_polarity: Polarity | None
    """None for a drop."""
    candidate: CandidateRecord
    """The pair that comes or goes."""
    is_proposed: bool
    """Whether an agent of the model asks for it; otherwise the reader alone does."""
    is_made: bool

    @property
    def aspect_term(self) -> str:
        """The term of the pair."""
        return self.candidate.aspect_term


def changes_of(candidates: Sequence[CandidateRecord]) -> tuple[PairChange, ...]:
    """Return every change that was made or that an agent of the model proposed, numbered in text order."""
    by_term: dict[str, list[CandidateRecord]] = {}
    for candidate in candidates:
        by_term.setdefault(norm(candidate.aspect_term), []).append(candidate)
    found = (change for candidate in candidates for change in _change(candidate, by_term))
    return tuple(change._replace(change_id=f"chg_{number:03d}") for number, change in enumerate(found, start=1))


def _change(candidate: CandidateRecord, by_term: dict[str, list[CandidateRecord]]) -> Iterator[PairChange]:
    of_term = by_term[norm(candidate.aspect_term)]
    held = [other for other in of_term if other.is_of_stage1]
    if candidate.is_of_stage1:
        rivals = [other for other in of_term if not other.is_of_stage1]
        is_turned = candidate is held[0] and any(rival.is_in for rival in rivals)
        turning = {who for rival in rivals for who in rival.who("for")}
        deniers = candidate.who("against") & frozenset(AGENTS)
        is_made = not candidate.is_in and not is_turned
        if is_made or deniers - turning:
            yield PairChange("", "drop", candidate.polarity, None, candidate, bool(deniers), is_made)
        return
    is_proposed = bool(candidate.who("for") & frozenset(AGENTS))
    if candidate.is_in or is_proposed:
        kind: ChangeKind = "flip" if held else "add"
        before = held[0].polarity if held else None
        yield PairChange("", kind, before, candidate.polarity, candidate, is_proposed, candidate.is_in)


def explained(changes: Iterable[PairChange], decision: DecisionRecord, *, made: bool) -> tuple[Change, ...]:
    """Return the changes that were made, or those that were not, each with its reason in words."""
    return tuple(
        Change(change_id=change.change_id, reasoning=_in_words(change, decision)[:_LONGEST_REASON])
        for change in changes
        if change.is_made is made
    )


def patch_log_of(changes: Iterable[PairChange]) -> tuple[PatchLogEntry, ...]:
    """Return what became of every change that the model proposed; what the reader alone changed stands apart."""
    return tuple(
        PatchLogEntry(
            step="proposal",
            what=change.kind,
            change_id=change.change_id,
            aspect_term=change.aspect_term,
            applied=change.is_made,
            reason="" if change.is_made else change.candidate.reason,
            polarity=change.to_polarity if change.is_made else None,
        )
        for change in changes
        if change.is_proposed
    )


def _in_words(change: PairChange, decision: DecisionRecord) -> str:
    candidate = change.candidate
    term = candidate.aspect_term[:_LONGEST_NAME] or "(implicit)"
    polarities = " to ".join(filter(None, (change.from_polarity, change.to_polarity)))
    voices = "; ".join(f"{stance}: {_voices(candidate, stance)}" for stance in ("for", "against"))
    reason = REASON_WORDS[candidate.reason]
    return f"{change.kind} {term} {polarities}: p {candidate.p:.2f} of {decision.tau:.2f}, {reason}; {voices}"


def _voices(candidate: CandidateRecord, stance: Stance) -> str:
    words = []
    for witness in candidate.witnesses:
        if witness.stance == stance:
            stated = f" {witness.p:.2f}" if witness.p is not None else ""
            quoted = f' "{witness.quote[:_LONGEST_QUOTE]}"' if witness.quote else ""
            words.append(WITNESS_WORDS[witness.who] + stated + quoted)
    return ", ".join(words) or "nobody"
