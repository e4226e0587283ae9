"""What stores of schema version 1.2 hold, which are read and no longer written; and the outcome of a change.

An episode of 1.2 is one of 1.1 with the outcome of every change. A store file of 1.2 also holds tallies (the
final targets of a sample) and verdicts (what a person said about a result).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field, TypeAdapter

from episodic_absa.schemas.frozen_model import Flag, FrozenModel, Score
from episodic_absa.schemas.memory_v1_1 import (
    AdvisoryBundleMetaV1_1,
    AdvisoryBundleV1_1,
    AdvisoryConstraintsV1_1,
    AdvisoryV1_1,
    CaseSummaryV1_1,
    CorrectionV1_1,
    EpisodeId,
    EpisodicMemoryEntryV1_1,
    EvaluationV1_1,
    EvidenceV1_1,
    InputSignatureV1_1,
    OutcomeDeltaV1_1,
    ProvenanceV1_1,
    StageSnapshotV1_1,
)
from episodic_absa.serialization.seals import SealChain
from episodic_absa.vocabulary import (
    ActionTaken,
    AdvisoryType,
    ChangeKind,
    EpisodeType,
    ErrorCategory,
    Language,
    Outcome,
    OutcomeBy,
    RiskType,
    Strength,
    Verdict,
)

SchemaVersion1_2 = Literal["1.2"]


class ChangeOutcomeV1_2(FrozenModel):
    """What became of one proposed change, and whether it was right. It names neither the term nor a polarity."""

    adopted: Flag
    kind: ChangeKind
    outcome: Outcome
    """Whether the change was right: for a refused change, whether it would have been."""
    outcome_by: Literal["reader", "referee"] | None = None
    """Who decided; None where the outcome is open."""


class EpisodeDraftV1_2(FrozenModel):
    """An episode of 1.2 before the store has numbered it."""

    action_taken: ActionTaken
    case_summary: CaseSummaryV1_1
    changes: tuple[ChangeOutcomeV1_2, ...] = ()
    correction: CorrectionV1_1
    episode_type: EpisodeType
    """`success` if confirmed, `harm` if contradicted, else `neutral`. No risk decides it."""
    error_category: Annotated[tuple[ErrorCategory, ...], Field(min_length=1)]
    evaluation: EvaluationV1_1
    """Risks before and after: process values that decide nothing."""
    input_signature: InputSignatureV1_1
    outcome: Outcome = "open"
    outcome_by: OutcomeBy | None = None
    """Who decided; None where the outcome is open."""
    outcome_delta: OutcomeDeltaV1_1
    provenance: ProvenanceV1_1
    risk_type: RiskType | None = None
    schema_version: SchemaVersion1_2 = "1.2"
    stage_snapshot: StageSnapshotV1_1


class EpisodicMemoryEntryV1_2(EpisodeDraftV1_2):
    """One episode line of a store of 1.2."""

    episode_id: EpisodeId


class TallyV1_2(FrozenModel):
    """The final targets of one analysed sample, as stored terms: a person may judge each of them."""

    kind: Literal["tally"] = "tally"
    language: Language
    schema_version: SchemaVersion1_2 = "1.2"
    source_id: str
    terms: tuple[str, ...]


class VerdictV1_2(FrozenModel):
    """What a person said about the result of one sample. It is no label: it names no polarity."""

    aspect: str | None = None
    """The stored term of the target that the verdict is about; None for the whole result."""
    kind: Literal["verdict"] = "verdict"
    schema_version: SchemaVersion1_2 = "1.2"
    source_id: Annotated[str, Field(min_length=1)]
    verdict: Verdict


AnyEpisode = EpisodicMemoryEntryV1_1 | EpisodicMemoryEntryV1_2
StoreLine = AnyEpisode | TallyV1_2 | VerdictV1_2
"""A line of a store file of an earlier version. It is read and never written."""
STORE_HEADER: Final = b'{"format":"episodic_absa.store","schema_version":"1.2"}'
"""The first line of a store, without its seal, whatever the rules of its episodes."""

# Quotes inside a JSON string are escaped, so a match is a key with its value. No episode has such a pair.
_COUNTED_KIND = re.compile(rb'"kind":\s*"(tally|verdict)"')
# An episode of 1.1 holds this version nowhere; in one of 1.2 only the parts are of 1.1.
_VERSION_1_2 = re.compile(rb'"schema_version":\s*"1\.2"')
_EPISODE_START: Final = b'{"action_taken":'
_validate_1_1 = EpisodicMemoryEntryV1_1.__pydantic_validator__.validate_json
_validate_1_2 = EpisodicMemoryEntryV1_2.__pydantic_validator__.validate_json
_validate_tally = TallyV1_2.__pydantic_validator__.validate_json
_validate_verdict = VerdictV1_2.__pydantic_validator__.validate_json


def store_chain() -> SealChain:
    """Return what follows the lines of a store file from its first line on."""
    return SealChain(STORE_HEADER)


def validated_line(line: bytes) -> StoreLine:
    """Return the value of a line of a store, given without its seal.

    Raises:
        ValidationError: the line is none of the three kinds.
    """
    kind = None if line.startswith(_EPISODE_START) else _COUNTED_KIND.search(line)
    if kind is None:
        episode: AnyEpisode = (_validate_1_2 if _VERSION_1_2.search(line) else _validate_1_1)(line)
        return episode
    counted: TallyV1_2 | VerdictV1_2 = _validate_tally(line) if kind[1] == b"tally" else _validate_verdict(line)
    return counted


class AdvisoryV1_2(FrozenModel):
    """One piece of advice from a past case."""

    schema_version: Literal["1.2"] = "1.2"
    advisory_id: Annotated[str, Field(pattern=r"^adv_[0-9]{6}$")]
    advisory_type: AdvisoryType
    message: Annotated[str, Field(min_length=1, max_length=800)]
    strength: Strength
    relevance_score: Score
    evidence: EvidenceV1_1
    constraints: AdvisoryConstraintsV1_1 = AdvisoryConstraintsV1_1()


class AdvisoryBundleV1_2(FrozenModel):
    """What a sample is offered under rules v3: the same shape in every condition. A prompt shows less of it."""

    schema_version: Literal["1.2"] = "1.2"
    memory_on: Flag
    retrieved: Annotated[tuple[AdvisoryV1_2, ...], Field(max_length=3)] = ()
    warnings: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=5)] = ()
    meta: AdvisoryBundleMetaV1_1


AnyAdvisory = AdvisoryV1_1 | AdvisoryV1_2
AnyBundle = Annotated[AdvisoryBundleV1_1 | AdvisoryBundleV1_2, Field(discriminator="schema_version")]


_BUNDLE: Final[TypeAdapter[AdvisoryBundleV1_1 | AdvisoryBundleV1_2]] = TypeAdapter(AnyBundle)


def bundle_of(slot: Mapping[str, Any]) -> AdvisoryBundleV1_1 | AdvisoryBundleV1_2:
    """Return the bundle of its JSON values.

    Raises:
        ValidationError: they are no bundle of either schema version.
    """
    return _BUNDLE.validate_python(slot)


def numbered(advisories: Iterable[AnyAdvisory]) -> tuple[AdvisoryV1_2, ...]:
    """Return the advisories in schema 1.2, with ids in this order."""
    return tuple(
        AdvisoryV1_2(**dict(advisory) | {"schema_version": "1.2", "advisory_id": f"adv_{number:06d}"})
        for number, advisory in enumerate(advisories, start=1)
    )
