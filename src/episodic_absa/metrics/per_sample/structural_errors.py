"""Structural errors of one sample (RQ1): conflicts, wrong polarities, ungrounded and unsupported tuples."""

from typing import Final, Literal, NamedTuple, get_args

from episodic_absa.final_tuples import pairs
from episodic_absa.metrics.per_sample.gold_and_predictions import Pairs, Tuples, predictions
from episodic_absa.schemas.run_files.scorecard import JudgedSentiment, Scorecard

Bucket = Literal["explicit", "implicit", "explicit_failure", "unsupported"]
BUCKETS: Final[tuple[Bucket, ...]] = get_args(Bucket)


class PolarityErrors(NamedTuple):
    """Counts of explicit predictions whose term is a gold term."""

    wrong: int
    """Predictions whose polarity is none of the term's gold polarities."""
    about_gold: int
    """All predictions about gold terms."""


def has_conflict(tuples: Tuples) -> bool:
    """Return whether an aspect has two or more polarities. The caller decides whether `tuples` includes backfills."""
    return pairs_conflict(pairs(tuples))


def pairs_conflict(predicted: Pairs) -> bool:
    """Return whether a term has two or more polarities."""
    return len({term for term, _ in predicted}) < len(predicted)


def count_polarity_errors(predicted: Pairs, gold: Pairs) -> PolarityErrors:
    """Count the predictions about gold terms, and those of them with a wrong polarity."""
    terms = {term for term, _ in gold if term}
    about_gold = [pair for pair in predicted if pair[0] in terms]
    return PolarityErrors(sum(pair not in gold for pair in about_gold), len(about_gold))


def judged_predictions(card: Scorecard, *, count_backfilled: bool) -> tuple[JudgedSentiment, ...]:
    """Return the grounding judgement of each predicted final tuple, in order."""
    if count_backfilled:
        return card.sentiments_judged
    # sentiments_judged has one entry per final tuple, in the same order; only the tuple has the backfill flag.
    judged = zip(card.final_tuples, card.sentiments_judged, strict=False)
    return tuple(judgement for final, judgement in judged if not final.is_backfilled)


def bucket_of(card: Scorecard, *, count_backfilled: bool) -> Bucket:
    """Return the grounding bucket of a sample: that of its first predicted tuple."""
    return bucket_of_judged(card, judged_predictions(card, count_backfilled=count_backfilled))


def bucket_of_judged(card: Scorecard, judged: tuple[JudgedSentiment, ...]) -> Bucket:
    """Return the same where the judgements of the predicted tuples are known."""
    has_label = card.moderator is not None and card.moderator.applied_rules != ("Z",)
    if not judged:
        return "implicit" if has_label else "unsupported"
    first = judged[0]
    if not first.aspect_term:
        return "implicit"
    if not first.grounded:
        return "implicit" if card.implicit_grounding_candidate and has_label else "explicit_failure"
    return "explicit" if first.evidence_in_text else "unsupported"


def has_residual_risk(card: Scorecard, *, count_backfilled: bool) -> bool:
    """Return whether the final result still has a risk or a polarity conflict, or is unsupported."""
    conflicts = has_conflict(predictions(card, count_backfilled=count_backfilled))
    return leaves_risk(card, conflicts=conflicts, bucket=bucket_of(card, count_backfilled=count_backfilled))


def leaves_risk(card: Scorecard, *, conflicts: bool, bucket: Bucket) -> bool:
    """Return the same where conflict and bucket are known."""
    return bool(card.risk_after and card.risk_after.tags) or conflicts or bucket == "unsupported"


def has_hallucination(card: Scorecard, *, count_backfilled: bool) -> bool:
    """Return whether a predicted term does not occur in the text."""
    judgements = judged_predictions(card, count_backfilled=count_backfilled)
    return any(not judgement.term_in_text for judgement in judgements)
