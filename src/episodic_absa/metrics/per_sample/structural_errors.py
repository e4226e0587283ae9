"""What is wrong with the tuples of one sample, and where its first one stands in the text (RQ1)."""

from typing import Final, Literal, NamedTuple, get_args

from episodic_absa.final_tuples import pairs
from episodic_absa.metrics.per_sample.gold_and_predictions import Pairs, Tuples, predictions
from episodic_absa.metrics.per_sample.pair_scores import explicit
from episodic_absa.schemas.scorecard import JudgedSentiment, Scorecard

Bucket = Literal["explicit", "implicit", "explicit_failure", "unsupported"]
BUCKETS: Final[tuple[Bucket, ...]] = get_args(Bucket)


class PolarityErrors(NamedTuple):
    """Explicit predictions about terms that gold names."""

    wrong: int
    """Those whose polarity is none of the term's gold polarities."""
    about_gold: int


def has_conflict(tuples: Tuples) -> bool:
    """Whether one of the aspects holds two or more polarities; whether a backfill counts is decided before."""
    found = pairs(tuples)
    return len({term for term, _ in found}) < len(found)


def count_polarity_errors(tuples: Tuples, gold: Pairs) -> PolarityErrors:
    """Count predictions that name a gold term and turn its polarity round."""
    terms = {term for term, _ in explicit(gold)}
    about = [pair for pair in pairs(tuples) if pair[0] in terms]
    return PolarityErrors(sum(pair not in gold for pair in about), len(about))


def judged_predictions(card: Scorecard, *, count_backfilled: bool) -> tuple[JudgedSentiment, ...]:
    """Return how the predicted final tuples stand in the text, in order."""
    if count_backfilled:
        return card.sentiments_judged
    # One entry per final tuple in order: that is how an entry's backfill flag is found.
    judged = zip(card.final_tuples, card.sentiments_judged, strict=False)
    return tuple(one for of, one in judged if not of.is_backfilled)


def bucket_of(card: Scorecard, *, count_backfilled: bool) -> Bucket:
    """Put a sample into the one bucket of its first predicted tuple."""
    has_label = card.moderator is not None and card.moderator.applied_rules != ("Z",)
    judged = judged_predictions(card, count_backfilled=count_backfilled)
    if not judged:
        return "implicit" if has_label else "unsupported"
    first = judged[0]
    if not first.aspect_term:
        return "implicit"
    if not first.grounded:
        return "implicit" if card.implicit_grounding_candidate and has_label else "explicit_failure"
    return "explicit" if first.evidence_in_text else "unsupported"


def has_residual_risk(card: Scorecard, *, count_backfilled: bool) -> bool:
    """Whether the result that was used is still risky, contradicts itself or has no support."""
    return (
        bool(card.risk_after and card.risk_after.tags)
        or has_conflict(predictions(card, count_backfilled=count_backfilled))
        or bucket_of(card, count_backfilled=count_backfilled) == "unsupported"
    )


def has_hallucination(card: Scorecard, *, count_backfilled: bool) -> bool:
    """Whether a predicted term does not occur in the text."""
    return any(not one.term_in_text for one in judged_predictions(card, count_backfilled=count_backfilled))
