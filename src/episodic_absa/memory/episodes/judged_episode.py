"""An episode as people judged it: their verdicts beat what the referee and the risks say."""

from collections.abc import Iterable
from typing import Final

from episodic_absa.schemas.memory_v1_1 import SnapshotV1_1
from episodic_absa.schemas.stored.memory_v1_3 import (
    EpisodeDraftV1_3,
    EpisodicMemoryEntryV1_3,
    OutcomeV1_3,
    VerdictV1_3,
)
from episodic_absa.vocabulary import EpisodeType

_WRONG: Final = frozenset({"wrong", "wrong_target", "wrong_polarity"})
_CHANGING: Final = frozenset({"polarity_flip", "neutral_fallback"})
_RIGHT: Final = frozenset({"right", "all_right"})


def judged_snapshots(episode: EpisodeDraftV1_3) -> tuple[SnapshotV1_1, ...]:
    """Return what the episode's case believed before and after; nothing where nothing was judged."""
    snapshot = episode.stage_snapshot
    return () if snapshot is None else (snapshot.stage1, snapshot.final)


def is_changed(episode: EpisodeDraftV1_3) -> bool:
    """Return whether the first analysis was changed; where nothing was judged, the action says so."""
    if episode.stage_snapshot is None:
        return episode.action_taken in _CHANGING
    before, after = episode.stage_snapshot.stage1, episode.stage_snapshot.final
    return (before.aspects_norm, before.polarities) != (after.aspects_norm, after.polarities)


def with_verdicts(episode: EpisodicMemoryEntryV1_3, verdicts: Iterable[VerdictV1_3]) -> EpisodicMemoryEntryV1_3:
    """Return the episode with the outcome that people give it.

    Args:
        episode: as its row holds it.
        verdicts: those on its review. A verdict about a target that is not the episode's concerns it no more than a
            verdict about another review.
    """
    terms = {term for snapshot in judged_snapshots(episode) for term in snapshot.aspects_norm}
    given = {verdict.verdict for verdict in verdicts if verdict.aspect is None or verdict.aspect in terms}
    if not given:
        return episode
    value: EpisodeType = "harm" if given & _WRONG else "success" if given & _RIGHT else "neutral"
    return episode.model_copy(update={"outcome": OutcomeV1_3(by="person", value=value)})
