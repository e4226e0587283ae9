"""Memory size and memory use along a run, in a window that slides over the samples in order."""

from collections.abc import Sequence
from typing import Final

from episodic_absa.metrics.memory_use import split_by_following
from episodic_absa.metrics.per_sample.gold_and_predictions import successful_cards
from episodic_absa.metrics.per_sample.sample_values import delta_risk, sample_value
from episodic_absa.metrics.ratios import mean_of
from episodic_absa.schemas.frozen_model import Count, FrozenModel, Score
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.vocabulary import MemoryMode

WINDOW: Final = 50


class GrowthLine(FrozenModel):
    """One line of memory_growth.jsonl: the values of one window. A value without samples to average is None."""

    window_end_sample: Count
    """sample_index of the last sample in the window."""
    window_size: Count
    memory_mode: MemoryMode
    store_size: Count
    """Episodes in the store after the last sample in the window."""
    store_new_entry_rate: Score
    advisory_presence_rate: Score
    follow_rate: Score | None
    mean_delta_risk_followed: float | None
    mean_delta_risk_ignored: float | None
    harm_rate_followed: Score | None
    harm_rate_ignored: Score | None
    retrieval_hit_k: Score
    """Share of samples with at least one retrieved episode."""
    mean_tuple_f1_explicit: Score | None


def compute_growth(cards: Sequence[Scorecard], *, count_backfilled: bool = False) -> tuple[GrowthLine, ...]:
    """Return one line per window of min(50, N) successful samples; the window moves by one sample.

    Args:
        cards: the scorecards of one cell, failed samples included.
        count_backfilled: whether a backfilled tuple counts as a prediction.
    """
    ok = successful_cards(cards)
    if not ok:
        return ()
    size = min(WINDOW, len(ok))
    scores = [sample_value("tuple_f1_explicit", card, count_backfilled=count_backfilled) for card in ok]
    return tuple(
        _line(ok[end - size : end], [score for score in scores[end - size : end] if score is not None])
        for end in range(size, len(ok) + 1)
    )


def _line(window: Sequence[Scorecard], scores: Sequence[float]) -> GrowthLine:
    size, last = len(window), window[-1]
    followed, ignored = split_by_following(window)
    followed_deltas, ignored_deltas = [list(map(delta_risk, group)) for group in (followed, ignored)]
    present_n = len(followed) + len(ignored)
    return GrowthLine(
        window_end_sample=last.sample_index,
        window_size=size,
        memory_mode=last.memory_mode,
        store_size=last.store_size_after or 0,
        store_new_entry_rate=sum(card.store_decision == "stored" for card in window) / size,
        advisory_presence_rate=present_n / size,
        follow_rate=len(followed) / present_n if present_n else None,
        mean_delta_risk_followed=mean_of(followed_deltas),
        mean_delta_risk_ignored=mean_of(ignored_deltas),
        harm_rate_followed=mean_of([float(delta > 0) for delta in followed_deltas]),
        harm_rate_ignored=mean_of([float(delta > 0) for delta in ignored_deltas]),
        retrieval_hit_k=sum(bool(card.memory and card.memory.retrieved_k) for card in window) / size,
        mean_tuple_f1_explicit=mean_of(scores),
    )
