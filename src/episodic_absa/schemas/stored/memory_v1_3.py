"""What a store holds, schema version 1.3: episodes, verdicts, answers, tombstones. No text, no gold.

One form for the pipeline and for `AgentMemory`. Fields stand in alphabetical order: that is the order of a canonical
line.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from episodic_absa.schemas.frozen_model import Flag, FrozenModel, Score
from episodic_absa.schemas.memory_v1_1 import (
    CaseSummaryV1_1,
    CorrectionV1_1,
    EpisodeId,
    EvaluationV1_1,
    InputSignatureV1_1,
    OutcomeDeltaV1_1,
    ProvenanceV1_1,
    SnapshotV1_1,
    StageSnapshotV1_1,
)
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.vocabulary import ChangeKind, EpisodeType, ErrorCategory, Language, Polarity, RiskType

SchemaVersion1_3 = Literal["1.3"]
DEFAULT_NAMESPACE: Final = "default"
LOCAL_PERSON: Final = "local"
MAX_EPISODE_NUMBER: Final = 10**18 - 1

Namespace = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
Word = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
"""A word of a closed vocabulary. Which words are in it, the caller of the store says."""
RowNumber = Annotated[int, Field(strict=True, ge=1, le=MAX_EPISODE_NUMBER)]
OutcomeBy1_3 = Literal["agent", "person", "reader", "referee", "risk"]
"""Who says how a case turned out: the agent that remembers it, a person, the reader or the referee of rules v3, or the
risks before and after. Of an imported episode of schema 1.2 the risks say it where the reader did."""
PairVerdict = Literal["right", "wrong", "wrong_target", "wrong_polarity", "unsure"]
ReviewVerdict = Literal["missed", "all_right"]


def _ascending(pairs: Mapping[str, str]) -> Mapping[str, str]:
    if any(one >= other for one, other in pairwise(pairs)):
        return dict(sorted(pairs.items()))
    return pairs


class OutcomeV1_3(FrozenModel):
    """How a case turned out, and who says so."""

    by: OutcomeBy1_3
    value: EpisodeType


class ChangeV1_3(FrozenModel):
    """One proposed change. It names neither the term nor a polarity."""

    adopted: Flag
    kind: ChangeKind


class EpisodeDraftV1_3(FrozenModel):
    """An episode before the store has numbered it."""

    action_taken: Word
    case_summary: CaseSummaryV1_1
    changes: tuple[ChangeV1_3, ...] = ()
    context: Annotated[dict[Word, Word], AfterValidator(_ascending)] = Field(default_factory=dict)
    """Keys and values of the caller's closed vocabulary."""
    correction: CorrectionV1_1
    error_category: Annotated[tuple[ErrorCategory, ...], Field(min_length=1)]
    evaluation: EvaluationV1_1
    input_signature: InputSignatureV1_1
    namespace: Namespace = DEFAULT_NAMESPACE
    """Whose episode it is: a search in one namespace finds none of another."""
    outcome: OutcomeV1_3
    outcome_delta: OutcomeDeltaV1_1
    provenance: ProvenanceV1_1
    risk_type: RiskType | None = None
    schema_version: SchemaVersion1_3 = "1.3"
    stage_snapshot: StageSnapshotV1_1 | None = None
    """None where nothing was judged, as in the situations of `AgentMemory`."""

    @property
    def episode_type(self) -> EpisodeType:
        """The value of the outcome, as schema 1.1 names it."""
        return self.outcome.value


class EpisodicMemoryEntryV1_3(EpisodeDraftV1_3):
    """An episode of a store, and one line of an exported store."""

    episode_id: EpisodeId


class VerdictV1_3(FrozenModel):
    """What a person said about one pair of a result, or about the whole result."""

    aspect: str | None = None
    """The stored term; None for the whole result."""
    kind: Literal["verdict"] = "verdict"
    language: Language | None = None
    """The language of the review; None if the store never knew it."""
    namespace: Namespace = DEFAULT_NAMESPACE
    person: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")] = LOCAL_PERSON
    """`local`, or the hash of a name."""
    polarity: Polarity | None = None
    """Of the pair that was judged, or of a missed one, if the person named it."""
    schema_version: SchemaVersion1_3 = "1.3"
    source_id: Annotated[str, Field(min_length=1)]
    verdict: PairVerdict | ReviewVerdict


class AnsweredPairV1_3(FrozenModel):
    """One pair of an answer."""

    aspect: str
    p: Score
    polarity: Polarity


class AnswerV1_3(FrozenModel):
    """What was answered for one review, so that people can judge it. It stays in the database."""

    kind: Literal["answer"] = "answer"
    language: Language
    namespace: Namespace = DEFAULT_NAMESPACE
    pairs: tuple[AnsweredPairV1_3, ...]
    schema_version: SchemaVersion1_3 = "1.3"
    source_id: Annotated[str, Field(min_length=1)]


class TombstoneV1_3(FrozenModel):
    """What stands in the place of rows that were forgotten."""

    first: RowNumber
    kind: Literal["tombstone"] = "tombstone"
    last: RowNumber
    namespace: Namespace = DEFAULT_NAMESPACE
    of: Literal["episode", "verdict", "answer"]
    schema_version: SchemaVersion1_3 = "1.3"


_validate = EpisodicMemoryEntryV1_3.__pydantic_validator__.validate_json


def parse_episode(body: bytes) -> EpisodicMemoryEntryV1_3:
    """Return the episode of its JSON.

    Raises:
        ValidationError: it is none.
    """
    episode: EpisodicMemoryEntryV1_3 = _validate(body)
    return episode


def episode_body(draft: EpisodeDraftV1_3, number: int) -> bytes:
    """Return the canonical JSON of an episode with that number: its line in an exported store."""
    if draft.stage_snapshot is not None and not all(
        map(_is_canonical, (draft.stage_snapshot.stage1, draft.stage_snapshot.final))
    ):
        fields: dict[str, Any] = draft.model_dump(mode="json")
        fields["episode_id"] = f"epi_{number:06d}"
        return canonical_json(fields).encode()
    # The models list their fields in canonical order. No string before this key can contain it unescaped.
    body = draft.__pydantic_serializer__.to_json(draft, exclude={"episode_id"})
    before, key, after = body.partition(b'"error_category":')
    return b'%b"episode_id":"epi_%06d",%b%b' % (before, number, key, after)


def line_body(value: VerdictV1_3 | AnswerV1_3 | TombstoneV1_3) -> bytes:
    """Return the canonical JSON of another row of a store."""
    return canonical_json(value).encode()


def _is_canonical(snapshot: SnapshotV1_1) -> bool:
    """Return whether the only float and the only free keys already have their canonical form."""
    confidence, terms = snapshot.confidence, list(snapshot.polarities)
    # The serializer spells smaller numbers in another way.
    return (confidence == 0.0 or confidence >= 0.0001) and round(confidence, 6) == confidence and terms == sorted(terms)
