"""The line of an episode in a store file, without its seal: written and parsed."""

from collections.abc import Callable
from typing import Final

from pydantic import ValidationError

from episodic_absa.errors import MemoryStoreError
from episodic_absa.schemas.memory_v1_1 import SnapshotV1_1
from episodic_absa.schemas.memory_v1_2 import AnyDraft, AnyEpisode, validated_episode
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.sealed_lines import opened
from episodic_absa.serialization.validation_reasons import reasons_of

MAX_EPISODE_NUMBER: Final = (1 << 62) - 1


def body_of(draft: AnyDraft, number: int) -> bytes:
    """Return the canonical JSON of an episode with that number."""
    if not _is_canonical(draft.stage_snapshot.stage1) or not _is_canonical(draft.stage_snapshot.final):
        fields = draft.model_dump(mode="json")
        fields["episode_id"] = f"epi_{number:06d}"
        return canonical_json(fields).encode()
    # The models list their fields in canonical order, so the id belongs just before the type. No string in front of
    # it can contain this key unescaped.
    before, key, after = draft.__pydantic_serializer__.to_json(draft).partition(b'"episode_type":')
    return b'%b"episode_id":"epi_%06d",%b%b' % (before, number, key, after)


def parse_episode(line: bytes, error_for: Callable[[str], MemoryStoreError]) -> AnyEpisode:
    """Return the episode of a line. The seal is taken off and not checked.

    Args:
        line: with or without its seal and its line end.
        error_for: makes the error to raise from the reasons why the line is no episode; only it knows the line number.
    """
    try:
        return validated_episode(opened(line).body)
    except ValidationError as error:
        raise error_for(reasons_of(error)) from error


def _is_canonical(snapshot: SnapshotV1_1) -> bool:
    """Return whether the only float and the only free keys of an episode already have their canonical form."""
    confidence, terms = snapshot.confidence, list(snapshot.polarities)
    # The serializer spells smaller numbers in another way.
    return confidence >= 0.0001 and round(confidence, 6) == confidence and terms == sorted(terms)
