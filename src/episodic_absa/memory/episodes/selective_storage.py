"""Decides which episodes are stored: failures, outcomes of overrides, and kinds of cases not seen recently."""

from typing import Final

from episodic_absa.memory.retrieval.episode_index import EpisodeIndex
from episodic_absa.schemas.memory_v1_1 import EpisodeDraftV1_1
from episodic_absa.vocabulary import StorageTag

_SEVERE: Final = 3


def storage_tags(draft: EpisodeDraftV1_1, index: EpisodeIndex) -> tuple[StorageTag, ...]:
    """Return every reason to store an episode; an empty tuple means that it is skipped."""
    evaluation = draft.evaluation
    tests: list[tuple[StorageTag, bool]] = [
        (
            "failure_asset",
            draft.risk_type in ("L3", "conflict") or evaluation.risk_before.severity_sum >= _SEVERE,
        ),
        (
            "utility",
            evaluation.override_applied
            and (
                evaluation.override_success
                or evaluation.override_harm
                or draft.outcome_delta.conflict_resolved is not None
            ),
        ),
        ("novelty", index.is_novel(draft)),
    ]
    return tuple(tag for tag, holds in tests if holds)
