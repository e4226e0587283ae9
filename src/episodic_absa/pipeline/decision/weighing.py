"""Weighs candidates: one probability each, one threshold, and laws that no weight can lift.

The only place where a result changes.
"""

from collections.abc import Sequence
from math import exp, log
from typing import Final

from episodic_absa.language import norm
from episodic_absa.pipeline.decision.candidates import DIGITS, Candidate
from episodic_absa.pipeline.decision.weights import WeightSet
from episodic_absa.schemas.run_files.candidate_record import AGENTS, CandidateReason, CandidateRecord, Witness
from episodic_absa.vocabulary import SPEAKERS

_AGENTS: Final = frozenset(AGENTS)


def weigh(candidates: Sequence[Candidate], weights: WeightSet) -> tuple[CandidateRecord, ...]:
    """Return every candidate with its probability and its decision."""
    weighed = [
        CandidateRecord(
            **candidate._asdict(), p=probability(candidate.witnesses, weights), is_in=False, reason="unlikely"
        )
        for candidate in candidates
    ]
    return choose(weighed, weights.tau)


def probability(witnesses: Sequence[Witness], weights: WeightSet) -> float:
    """Return how likely a candidate is right. One more witness for it never lowers the probability."""
    score = sum(getattr(weights.weights, name) * value for name, value in features(witnesses, weights.sure).items())
    return round(1.0 / (1.0 + exp(-score)), DIGITS)


def features(witnesses: Sequence[Witness], sure: float) -> dict[str, float]:
    """Return the value of each weight's feature: counts of voices, and the log odds of the reader.

    Args:
        witnesses: of the candidate.
        sure: the reader's probability counts as at most this sure.
    """
    said = {(witness.who, witness.stance) for witness in witnesses}
    is_of_stage1 = ("stage1", "for") in said
    named = {who for who, stance in said if stance == "for" and who in _AGENTS}
    proposed = set() if is_of_stage1 else named
    stated = [witness.p for witness in witnesses if witness.p is not None]
    p = min(max(stated[0], 1.0 - sure), sure) if stated else 0.5
    odds = log(p / (1.0 - p))
    return {
        "start": 1.0,
        "stage1_for": float(is_of_stage1),
        "stage1_other": float(("stage1", "against") in said),
        "confirmed": float(len(named - proposed - {"judge"})),
        "speaker_for": float(len(proposed & set(SPEAKERS))),
        "speaker_against": float(sum((speaker, "against") in said for speaker in SPEAKERS)),
        "judge_for": float("judge" in named),
        "judge_against": float(("judge", "against") in said),
        "review_for": float("review" in proposed),
        "review_against": float(("review", "against") in said),
        "reader_for": max(0.0, odds),
        "reader_against": max(0.0, -odds),
    }


def choose(candidates: Sequence[CandidateRecord], tau: float) -> tuple[CandidateRecord, ...]:
    """Return the candidates with their decisions, which follow from witnesses and probabilities alone.

    What nobody doubts comes first, then the likeliest, then text order. A candidate is out if a law refuses it, if its
    probability is below the threshold, or if an earlier one has the same term or, unless both are Stage1's, the same
    place.
    """
    taken: list[CandidateRecord] = []
    reasons: dict[int, CandidateReason] = {}
    order = sorted(range(len(candidates)), key=lambda at: (not is_undoubted(candidates[at]), -candidates[at].p, at))
    for at in order:
        candidate = candidates[at]
        reason = broken_law(candidate)
        if reason is None and candidate.p < tau and not is_undoubted(candidate):
            reason = "unlikely"
        if reason is None:
            reason = next((clash for other in taken if (clash := _clash(candidate, other))), None)
        if reason is None:
            taken.append(candidate)
        reasons[at] = reason or ("likely" if candidate.p >= tau else "undoubted")
    return tuple(
        candidate.model_copy(update={"is_in": reasons[at] in ("likely", "undoubted"), "reason": reasons[at]})
        for at, candidate in enumerate(candidates)
    )


def is_undoubted(candidate: CandidateRecord) -> bool:
    """Return whether a pair of Stage1 stays whatever its probability: at most one agent of the model doubts it."""
    against = candidate.who("against")
    return candidate.is_of_stage1 and not against - _AGENTS and len(against & _AGENTS) <= 1


def broken_law(candidate: CandidateRecord) -> CandidateReason | None:
    """Return the law that keeps an addition to Stage1 out, None if none does."""
    if candidate.is_of_stage1:
        return None
    if candidate.span is None and candidate.aspect_term:
        return "not_in_text"
    supporters = candidate.who("for")
    return "one_agent" if len(supporters) < 2 and supporters <= _AGENTS else None


def _clash(candidate: CandidateRecord, taken: CandidateRecord) -> CandidateReason | None:
    if norm(candidate.aspect_term) == norm(taken.aspect_term):
        return "other_polarity"
    if candidate.is_of_stage1 and taken.is_of_stage1:
        return None
    a, b = candidate.span, taken.span
    return "overlaps" if a and b and a.start < b.end and b.start < a.end else None


def is_in_doubt(candidates: Sequence[CandidateRecord], weights: WeightSet) -> bool:
    """Return whether a probability lies so near the threshold that further witnesses may turn the decision."""
    return any(weights.unsure_from <= candidate.p <= weights.unsure_to for candidate in candidates)
