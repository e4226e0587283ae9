"""Structural errors of one sample (RQ1): conflicts, wrong polarities, ungrounded and unsupported tuples."""

from typing import Final, Literal, NamedTuple, get_args

from episodic_absa.metrics.per_sample.gold_and_predictions import Pairs

Bucket = Literal["explicit", "implicit", "explicit_failure", "unsupported"]
BUCKETS: Final[tuple[Bucket, ...]] = get_args(Bucket)


class PolarityErrors(NamedTuple):
    """Counts of explicit predictions whose term is a gold term."""

    wrong: int
    """Predictions whose polarity is none of the term's gold polarities."""
    about_gold: int
    """All predictions about gold terms."""


def pairs_conflict(predicted: Pairs) -> bool:
    """Return whether a term has two or more polarities."""
    return len({term for term, _ in predicted}) < len(predicted)


def count_polarity_errors(predicted: Pairs, gold: Pairs) -> PolarityErrors:
    """Count the predictions about gold terms, and those of them with a wrong polarity."""
    terms = {term for term, _ in gold if term}
    about_gold = [pair for pair in predicted if pair[0] in terms]
    return PolarityErrors(sum(pair not in gold for pair in about_gold), len(about_gold))
