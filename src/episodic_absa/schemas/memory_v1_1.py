"""Everything the memory persists or shows to a model, schema version 1.1. Nothing here can hold text or gold.

Fields of what an episode is made of stand in alphabetical order: that is the order of a canonical line, and so a
line can be written by the models' own serializer.
"""

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from episodic_absa.schemas.frozen_model import Count, Flag, FrozenModel, Score
from episodic_absa.vocabulary import (
    RISK_IDS,
    ActionTaken,
    AdvisoryType,
    EpisodeType,
    ErrorCategory,
    Language,
    LengthBucket,
    MemoryMode,
    Polarity,
    RiskId,
    RiskType,
    Split,
    Strength,
    Structure,
)

SchemaVersion = Literal["1.1"]

_STRUCTURE_LISTS: tuple[tuple[Structure, ...], ...] = (
    ("none",),
    ("negation",),
    ("contrast",),
    ("irony",),
    ("negation", "contrast"),
    ("negation", "irony"),
    ("contrast", "irony"),
    ("negation", "contrast", "irony"),
)
_KNOWN_STRUCTURE_LISTS = frozenset(_STRUCTURE_LISTS)


def _ordered_structures(value: tuple[Structure, ...]) -> tuple[Structure, ...]:
    if value not in _KNOWN_STRUCTURE_LISTS:
        raise ValueError(
            f"must be unique, in the order negation, contrast, irony, or exactly ['none']; got {list(value)}"
        )
    return value


def _sorted_unique(value: tuple[RiskId, ...]) -> tuple[RiskId, ...]:
    if len(value) > 1 and any(a >= b for a, b in pairwise(value)):
        raise ValueError(f"tags must be sorted and unique, got {list(value)}")
    return value


def _must_be(*, constant: bool) -> BeforeValidator:
    """Refuse 1 for true and 0 for false: a Literal alone would take them, the JSON Schema does not."""

    def check(value: object) -> object:
        if value is not constant:
            raise ValueError(f"must be literally {str(constant).lower()}")
        return value

    return BeforeValidator(check)


AlwaysTrue = Annotated[Literal[True], _must_be(constant=True)]
AlwaysFalse = Annotated[Literal[False], _must_be(constant=False)]
DetectedStructure = Annotated[
    tuple[Structure, ...],
    AfterValidator(_ordered_structures),
    WithJsonSchema({"enum": [list(structures) for structures in _STRUCTURE_LISTS]}),
]
RiskTags = Annotated[
    tuple[RiskId, ...],
    AfterValidator(_sorted_unique),
    WithJsonSchema({"type": "array", "items": {"enum": list(RISK_IDS)}, "uniqueItems": True}),
]
EpisodeId = Annotated[str, Field(pattern=r"^epi_[0-9]{6,18}$")]


class InputSignatureV1_1(FrozenModel):
    """The shape of a text without the text: what retrieval compares."""

    contrast_marker: str | None = None
    """Lexicon form of the first contrast marker, never a quotation."""
    detected_structure: DetectedStructure
    has_negation: Flag | None = None
    """None where the language has no lexicon."""
    language: Language
    length_bucket: LengthBucket
    num_aspects: Count
    schema_version: SchemaVersion = "1.1"


class CaseSummaryV1_1(FrozenModel):
    """The case in closed vocabulary."""

    rationale_summary: Annotated[str, Field(max_length=500)]
    symptom: Annotated[str, Field(max_length=500)]
    target_aspect_type: str


class SnapshotV1_1(FrozenModel):
    """What one stage believed: normalised terms and its own predictions, never gold."""

    aspects_norm: tuple[str, ...]
    confidence: Score
    polarities: dict[str, Polarity]


class StageSnapshotV1_1(FrozenModel):
    """Before and after."""

    final: SnapshotV1_1
    stage1: SnapshotV1_1


class CorrectionV1_1(FrozenModel):
    """The catalogue principle that fits the case."""

    anti_pattern: Annotated[str, Field(max_length=200)] | None = None
    applicable_conditions: Annotated[tuple[str, ...], Field(min_length=1)]
    corrective_principle: Annotated[str, Field(max_length=400)]
    principle_id: str


class RiskVectorV1_1(FrozenModel):
    """How risky a result looked: the summed severity weights and the kinds of risk."""

    severity_sum: Count
    tags: RiskTags


class EvaluationV1_1(FrozenModel):
    """Risk before and after, and how an override turned out."""

    override_applied: Flag
    override_harm: Flag
    override_success: Flag
    risk_after: RiskVectorV1_1
    risk_before: RiskVectorV1_1

    @property
    def episode_type(self) -> EpisodeType:
        """Whether risk and override make a case a success, a harm or neither. A risk that stays is no harm."""
        change = self.risk_after.severity_sum - self.risk_before.severity_sum
        if self.override_harm or change > 0:
            return "harm"
        return "success" if self.override_success or change < 0 else "neutral"


class OutcomeDeltaV1_1(FrozenModel):
    """What changed, without gold."""

    conflict_resolved: Flag | None = None
    """None where Stage1 had no conflict."""
    delta_risk: Annotated[int, Field(strict=True)]
    """Severity after minus before; negative is good."""


class ProvenanceV1_1(FrozenModel):
    """Where an episode came from. No clock value: equal runs give equal bytes."""

    created_from_split: Split
    has_gold: AlwaysFalse = False
    sample_index: Count
    seed: Annotated[int, Field(strict=True)]
    source_id: str
    used_in_eval: Flag
    version: SchemaVersion = "1.1"


class EpisodeDraftV1_1(FrozenModel):
    """An episode before the store has numbered it."""

    action_taken: ActionTaken
    case_summary: CaseSummaryV1_1
    correction: CorrectionV1_1
    episode_type: EpisodeType
    error_category: Annotated[tuple[ErrorCategory, ...], Field(min_length=1)]
    evaluation: EvaluationV1_1
    input_signature: InputSignatureV1_1
    outcome_delta: OutcomeDeltaV1_1
    provenance: ProvenanceV1_1
    risk_type: RiskType | None = None
    schema_version: SchemaVersion = "1.1"
    stage_snapshot: StageSnapshotV1_1


class EpisodicMemoryEntryV1_1(EpisodeDraftV1_1):
    """One line of the store."""

    episode_id: EpisodeId


class AnchorStatsV1_1(FrozenModel):
    """How alike the retrieved cases were."""

    historical_count: Annotated[int, Field(strict=True, ge=1)]
    consistency_score: Score
    variance: Annotated[float, Field(strict=True, ge=0.0)]


class EvidenceV1_1(FrozenModel):
    """What an advisory rests on; no label and no answer."""

    source_episode_ids: tuple[EpisodeId, ...]
    risk_tags: RiskTags
    principle_id: str
    risk_before_tags: RiskTags = ()
    risk_after_tags: RiskTags = ()
    stats: AnchorStatsV1_1 | None = None


class AdvisoryConstraintsV1_1(FrozenModel):
    """What an advisory promises. None of it can be switched off."""

    no_label_hint: AlwaysTrue = True
    no_forcing: AlwaysTrue = True
    no_confidence_boost: AlwaysTrue = True


class AdvisoryV1_1(FrozenModel):
    """One piece of advice from one past case."""

    schema_version: SchemaVersion = "1.1"
    advisory_id: Annotated[str, Field(pattern=r"^adv_[0-9]{6}$")]
    advisory_type: AdvisoryType
    message: Annotated[str, Field(min_length=1, max_length=800)]
    strength: Strength
    relevance_score: Score
    evidence: EvidenceV1_1
    constraints: AdvisoryConstraintsV1_1 = AdvisoryConstraintsV1_1()


class AdvisoryBundleMetaV1_1(FrozenModel):
    """How the bundle was made."""

    memory_mode: MemoryMode
    topk: Annotated[int, Field(strict=True, ge=0, le=3)]
    masked_injection: Flag
    retrieval_executed: Flag

    @property
    def memory_on(self) -> bool:
        """Whether the bundle may hold advice."""
        return self.memory_mode == "on" and not self.masked_injection


class AdvisoryBundleV1_1(FrozenModel):
    """What is placed in a slot: the same shape in every condition."""

    schema_version: SchemaVersion = "1.1"
    memory_on: Flag
    retrieved: Annotated[tuple[AdvisoryV1_1, ...], Field(max_length=3)] = ()
    warnings: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=5)] = ()
    meta: AdvisoryBundleMetaV1_1
