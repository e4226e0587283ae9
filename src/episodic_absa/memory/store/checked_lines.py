"""Checks what is about to be stored, and writes it as the JSON of a line, whichever store keeps it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from episodic_absa.errors import LeakageError, MemoryStoreError
from episodic_absa.memory.advice.principles import PrincipleCatalogue
from episodic_absa.memory.episodes.leak_guard import refuse_forbidden_keys, refuse_open_terms, refuse_open_vocabulary
from episodic_absa.memory.store.episode_line import body_of
from episodic_absa.memory.store.store_line import body_of_count
from episodic_absa.schemas.memory_v1_1 import EpisodeDraftV1_1, EpisodicMemoryEntryV1_1
from episodic_absa.schemas.memory_v1_2 import (
    AnyDraft,
    AnyEpisode,
    CountedLine,
    EpisodeDraftV1_2,
    StoreLine,
    TallyV1_2,
    VerdictV1_2,
    validated_episode,
    validated_line,
)
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.validation_reasons import reasons_of


def checked_draft(
    draft: AnyDraft | Mapping[str, Any], catalogue: PrincipleCatalogue, path: Path | None = None
) -> AnyDraft:
    """Return a draft that may be stored.

    Args:
        draft: an episode without id; an id in a mapping is left out.
        catalogue: the principles that episodes may name.
        path: the store file, for the error.

    Raises:
        LeakageError: it holds a forbidden key or free text.
        MemoryStoreError: it breaks the schema.
    """
    if not isinstance(draft, EpisodeDraftV1_1 | EpisodeDraftV1_2):
        if not isinstance(draft, Mapping):
            raise MemoryStoreError(f"not an episode but a {type(draft).__name__}", path=path)
        refuse_forbidden_keys(draft)
        model = EpisodeDraftV1_2 if draft.get("schema_version") == "1.2" else EpisodeDraftV1_1
        try:
            without_id = {key: value for key, value in draft.items() if key != "episode_id"}
            draft = model.model_validate(without_id)
        except ValidationError as error:
            raise MemoryStoreError(f"not an episode: {reasons_of(error)}", path=path) from error
    refuse_open_vocabulary(draft, catalogue)
    return draft


def numbered_episode(checked: AnyDraft, number: int, path: Path | None = None) -> tuple[AnyEpisode, bytes]:
    """Return an episode with its id, and its line without a seal.

    Raises:
        MemoryStoreError: a reader would not accept the line.
    """
    try:
        body = body_of(checked, number)
        # Parsing the line again proves that every reader accepts what is written.
        return validated_episode(body), body
    except ValidationError as error:
        raise MemoryStoreError(f"not an episode: {reasons_of(error)}", path=path) from error
    except (PydanticSerializationError, UnicodeEncodeError) as error:
        raise MemoryStoreError("not an episode: a string is not valid Unicode", path=path) from error


def count_body(value: CountedLine, path: Path | None = None) -> bytes:
    """Return the line of a tally or a verdict without a seal.

    Raises:
        MemoryStoreError: a reader would not accept the line.
    """
    try:
        body = body_of_count(value)
        validated_line(body)
    except ValidationError as error:
        raise MemoryStoreError(f"not a {value.kind}: {reasons_of(error)}", path=path) from error
    except UnicodeEncodeError as error:
        raise MemoryStoreError(f"not a {value.kind}: a string is not valid Unicode", path=path) from error
    return body


def refuse_open_count(value: CountedLine) -> None:
    """Raise LeakageError for a tally or a verdict with a term that `stored_term` does not give."""
    if isinstance(value, TallyV1_2):
        refuse_open_terms("terms", value.terms)
    else:
        refuse_open_terms("aspect", () if value.aspect is None else (value.aspect,))


def remarks_on(value: StoreLine, body: bytes, catalogue: PrincipleCatalogue) -> Iterator[str]:
    """Yield what is unusual about a readable line: its form, or words outside the closed vocabulary."""
    if canonical_json(value).encode() != body:
        yield "not in canonical form"
    try:
        if isinstance(value, TallyV1_2 | VerdictV1_2):
            refuse_open_count(value)
        else:
            refuse_open_vocabulary(value, catalogue)
    except LeakageError as error:
        yield str(error)


def upgraded_body(episode: EpisodicMemoryEntryV1_1) -> bytes:
    """Return the line of an episode of 1.1 as one of 1.2: its outcome is open, the type that a risk decided is gone."""
    fields = episode.model_dump(mode="json", exclude={"episode_id", "schema_version", "episode_type"})
    draft = EpisodeDraftV1_2.model_validate({**fields, "episode_type": "neutral"})
    return body_of(draft, int(episode.episode_id[4:]))
