"""Decides which episodes are stored.

Seed rules store failures, outcomes of overrides, and kinds of cases not seen recently. Rules v3 store what can teach.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from episodic_absa.schemas.stored.memory_v1_3 import EpisodeDraftV1_3
from episodic_absa.vocabulary import StorageTag

_SEVERE: Final = 3


class Teaching(NamedTuple):
    """What later samples can learn from a sample, under rules v3."""

    changes_proposed_n: int
    changes_adopted_n: int
    opens_a_gate: bool
    """Whether the sample has a reason to show memory to the debate or to Stage2."""


def teaching_tags(teaching: Teaching) -> tuple[StorageTag, ...]:
    """Return every reason of rules v3 to store an episode; an empty tuple means that the sample is plain.

    Example:
        >>> teaching_tags(Teaching(changes_proposed_n=2, changes_adopted_n=0, opens_a_gate=True))
        ('change_proposed', 'gate_signal')
    """
    tests: list[tuple[StorageTag, bool]] = [
        ("change_adopted", teaching.changes_adopted_n > 0),
        ("change_proposed", teaching.changes_proposed_n > 0),
        ("gate_signal", teaching.opens_a_gate),
    ]
    return tuple(tag for tag, holds in tests if holds)


def storage_tags(draft: EpisodeDraftV1_3, is_novel: Callable[[EpisodeDraftV1_3], bool]) -> tuple[StorageTag, ...]:
    """Return every reason of seed rules to store an episode; an empty tuple means that it is skipped."""
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
        ("novelty", is_novel(draft)),
    ]
    return tuple(tag for tag, holds in tests if holds)
