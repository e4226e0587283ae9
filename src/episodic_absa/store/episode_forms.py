"""Episodes of schemas 1.1 and 1.2 as 1.3, and episodes of 1.3 as 1.1, for files of the original rules."""

from typing import Any, Final

from episodic_absa.schemas.memory_v1_1 import EpisodicMemoryEntryV1_1, SnapshotV1_1
from episodic_absa.schemas.memory_v1_2 import EpisodicMemoryEntryV1_2
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3

_NOTHING_JUDGED: Final = SnapshotV1_1(aspects_norm=(), confidence=0.0, polarities={})


def from_1_1(episode: EpisodicMemoryEntryV1_1) -> EpisodicMemoryEntryV1_3:
    """Return an episode of 1.1 as one of 1.3. Its type becomes the outcome by risk."""
    fields = episode.model_dump(mode="json", exclude={"episode_type"})
    return _upgraded(fields, {"by": "risk", "value": episode.episode_type})


def from_1_2(episode: EpisodicMemoryEntryV1_2) -> EpisodicMemoryEntryV1_3:
    """Return an episode of 1.2 as one of 1.3.

    What the referee or a person said of it stands; what the reader said, and an open outcome, gives way to the risks.
    """
    fields = episode.model_dump(mode="json", exclude={"episode_type", "outcome", "outcome_by"})
    fields["changes"] = [{"adopted": change.adopted, "kind": change.kind} for change in episode.changes]
    if episode.outcome_by in ("referee", "person"):
        return _upgraded(fields, {"by": episode.outcome_by, "value": episode.episode_type})
    return _upgraded(fields, {"by": "risk", "value": episode.evaluation.episode_type})


def to_1_1(episode: EpisodicMemoryEntryV1_3) -> EpisodicMemoryEntryV1_1:
    """Return an episode as files of the original rules hold it: with its outcome as its type, and nothing else of 1.3.

    Raises:
        ValidationError: its action is none of the original rules.
    """
    fields = episode.model_dump(mode="json", exclude={"changes", "context", "namespace", "outcome"})
    fields |= {"schema_version": "1.1", "episode_type": episode.outcome.value}
    if episode.stage_snapshot is None:
        nothing = _NOTHING_JUDGED.model_dump(mode="json")
        fields["stage_snapshot"] = {"final": nothing, "stage1": nothing}
    return EpisodicMemoryEntryV1_1.model_validate(fields)


def _upgraded(fields: dict[str, Any], outcome: dict[str, Any]) -> EpisodicMemoryEntryV1_3:
    nothing = _NOTHING_JUDGED.model_dump(mode="json")
    if fields["stage_snapshot"] == {"final": nothing, "stage1": nothing}:
        # As `AgentMemory` wrote it, which judges nothing: an empty result would say that everything was dropped.
        fields["stage_snapshot"] = None
    return EpisodicMemoryEntryV1_3.model_validate({**fields, "schema_version": "1.3", "outcome": outcome})
