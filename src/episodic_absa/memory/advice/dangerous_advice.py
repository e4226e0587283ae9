"""OPFB: which episodes failed, and which (aspect, polarity) pairs are dangerous for that reason. Gold is never used.

The rule withholds or demotes advice. It decides nothing about the current sample.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

from episodic_absa.schemas.stored.memory_v1_3 import EpisodeDraftV1_3
from episodic_absa.vocabulary import Polarity

Pair = tuple[str, Polarity]
EpisodeT = TypeVar("EpisodeT", bound=EpisodeDraftV1_3)


def failed(episode: EpisodeDraftV1_3) -> bool:
    """Return whether an episode failed: harm; where no witness decided, also an override without clean success."""
    if episode.outcome.value == "harm" or episode.outcome.by in ("person", "reader", "referee"):
        return episode.outcome.value == "harm"
    evaluation = episode.evaluation
    override_failed = evaluation.override_applied and (not evaluation.override_success or evaluation.override_harm)
    return override_failed or evaluation.risk_after.severity_sum > evaluation.risk_before.severity_sum


def final_pairs(episode: EpisodeDraftV1_3) -> frozenset[Pair]:
    """Return the final (aspect, polarity) pairs of an episode."""
    return frozenset(episode.stage_snapshot.final.polarities.items() if episode.stage_snapshot else ())


def dangerous_pairs(episodes: Iterable[EpisodeT], has_failed: Callable[[EpisodeT], bool] = failed) -> frozenset[Pair]:
    """Return the final pairs of all failed episodes."""
    return frozenset(pair for episode in episodes if has_failed(episode) for pair in final_pairs(episode))
