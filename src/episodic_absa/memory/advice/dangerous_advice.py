"""OPFB: which episodes failed, and which (aspect, polarity) pairs are dangerous for that reason. Gold is never used.

The rule withholds or demotes advice. It decides nothing about the current sample.
"""

from collections.abc import Iterable

from episodic_absa.schemas.memory_v1_2 import AnyDraft, EpisodeDraftV1_2
from episodic_absa.vocabulary import Polarity

Pair = tuple[str, Polarity]


def failed(episode: AnyDraft) -> bool:
    """Return whether an episode failed. One of 1.2: its outcome is contradicted, whatever its risks are.

    One of 1.1: harm, an override without clean success, or a higher risk afterwards.
    """
    if isinstance(episode, EpisodeDraftV1_2):
        return episode.outcome == "contradicted"
    evaluation = episode.evaluation
    override_failed = evaluation.override_applied and (not evaluation.override_success or evaluation.override_harm)
    risk_rose = evaluation.risk_after.severity_sum > evaluation.risk_before.severity_sum
    return episode.episode_type == "harm" or override_failed or risk_rose


def final_pairs(episode: AnyDraft) -> frozenset[Pair]:
    """Return the final (aspect, polarity) pairs of an episode."""
    return frozenset(episode.stage_snapshot.final.polarities.items())


def dangerous_pairs(episodes: Iterable[AnyDraft]) -> frozenset[Pair]:
    """Return the final pairs of all failed episodes."""
    return frozenset(pair for episode in episodes if failed(episode) for pair in final_pairs(episode))


def is_dangerous(episode: AnyDraft, pairs: frozenset[Pair]) -> bool:
    """Return whether an episode failed, or shares a final pair with one that failed."""
    return failed(episode) or not pairs.isdisjoint(final_pairs(episode))
