"""OPFB: which past cases failed, and which (aspect, polarity) pairs they make dangerous. Never sees gold.

The rule withholds or tags advice; it never decides anything about the sample at hand.
"""

from collections.abc import Iterable

from episodic_absa.schemas.memory_v1_1 import EpisodeDraftV1_1
from episodic_absa.vocabulary import Polarity

Pair = tuple[str, Polarity]


def failed(episode: EpisodeDraftV1_1) -> bool:
    """Whether the case ended badly: harm, an override without clean success, or risk that rose."""
    evaluation = episode.evaluation
    override_failed = evaluation.override_applied and (not evaluation.override_success or evaluation.override_harm)
    risk_rose = evaluation.risk_after.severity_sum > evaluation.risk_before.severity_sum
    return episode.episode_type == "harm" or override_failed or risk_rose


def final_pairs(episode: EpisodeDraftV1_1) -> frozenset[Pair]:
    """Return what the case ended with."""
    return frozenset(episode.stage_snapshot.final.polarities.items())


def dangerous_pairs(episodes: Iterable[EpisodeDraftV1_1]) -> frozenset[Pair]:
    """Return the final pairs of all failed cases."""
    return frozenset(pair for episode in episodes if failed(episode) for pair in final_pairs(episode))


def is_dangerous(episode: EpisodeDraftV1_1, pairs: frozenset[Pair]) -> bool:
    """Whether advice from this case leads where another one failed, or failed itself."""
    return failed(episode) or not pairs.isdisjoint(final_pairs(episode))
