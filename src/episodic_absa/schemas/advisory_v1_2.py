"""Advisories of schema version 1.2: the advice of 1.1, experience and familiarity. Numbers and closed words only."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field, TypeAdapter

from episodic_absa.schemas.frozen_model import Count, Flag, FrozenModel, Score
from episodic_absa.schemas.memory_v1_1 import (
    AdvisoryBundleMetaV1_1,
    AdvisoryBundleV1_1,
    AdvisoryConstraintsV1_1,
    AdvisoryV1_1,
    AnchorStatsV1_1,
    EpisodeId,
    RiskTags,
)
from episodic_absa.vocabulary import AdvisoryType, ChangeKind, ExperienceLevel, Strength

EXPERIENCE_PRINCIPLES: Final[Mapping[ChangeKind, str]] = {
    "flip": "E-FLIP",
    "drop": "E-DROP",
    "add": "E-ADD",
    "span": "E-SPAN",
}
"""The principle of the experience with each kind of change, in the order in which a bundle lists them."""
FAMILIARITY_PRINCIPLE: Final = "F-TARGET"
COUNTED_PRINCIPLES: Final = frozenset({*EXPERIENCE_PRINCIPLES.values(), FAMILIARITY_PRINCIPLE})
"""The principles whose advice is counted over the store and stands in no catalogue."""


class ExperienceEvidenceV1_2(FrozenModel):
    """How earlier changes of one kind turned out in cases like this one."""

    kind: ChangeKind
    level: ExperienceLevel
    """How alike the counted cases are: `exact` is the same signature, each further level ignores more of it."""
    similar_n: Count
    """Adopted changes that were counted: confirmed, contradicted and open."""
    confirmed: Count
    contradicted: Count
    open: Count
    rate_low: Score
    """The lower end of the 90 % interval (Wilson) of the share of confirmed changes among the decided."""
    rate_high: Score


class FamiliarTargetV1_2(FrozenModel):
    """How often a target of this analysis was a final target before. The target is a position, never a term."""

    position: Annotated[int, Field(strict=True, ge=1)]
    seen_in: Count
    """Earlier reviews in which it was a final target."""
    of: Count
    """All earlier reviews of the language."""


class EvidenceV1_2(FrozenModel):
    """What an advisory rests on; no label and no answer."""

    source_episode_ids: tuple[EpisodeId, ...] = ()
    risk_tags: RiskTags = ()
    principle_id: str
    risk_before_tags: RiskTags = ()
    risk_after_tags: RiskTags = ()
    stats: AnchorStatsV1_1 | None = None
    experience: ExperienceEvidenceV1_2 | None = None
    familiarity: tuple[FamiliarTargetV1_2, ...] = ()


class AdvisoryV1_2(FrozenModel):
    """One piece of advice: from a past case, from counts over past changes, or from counts over past targets."""

    schema_version: Literal["1.2"] = "1.2"
    advisory_id: Annotated[str, Field(pattern=r"^adv_[0-9]{6}$")]
    advisory_type: AdvisoryType | Literal["experience", "familiarity"]
    message: Annotated[str, Field(min_length=1, max_length=800)]
    strength: Strength
    relevance_score: Score
    evidence: EvidenceV1_2
    constraints: AdvisoryConstraintsV1_1 = AdvisoryConstraintsV1_1()


class AdvisoryBundleV1_2(FrozenModel):
    """What a sample is offered under rules v3: the same shape in every condition. A prompt shows less of it."""

    schema_version: Literal["1.2"] = "1.2"
    memory_on: Flag
    retrieved: Annotated[tuple[AdvisoryV1_2, ...], Field(max_length=3)] = ()
    experience: Annotated[tuple[AdvisoryV1_2, ...], Field(max_length=4)] = ()
    """At most one per kind of change."""
    familiarity: AdvisoryV1_2 | None = None
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


def upgraded(advisory: AdvisoryV1_1) -> AdvisoryV1_2:
    """Return the same advisory in schema 1.2."""
    return AdvisoryV1_2(
        advisory_id=advisory.advisory_id,
        advisory_type=advisory.advisory_type,
        message=advisory.message,
        strength=advisory.strength,
        relevance_score=advisory.relevance_score,
        evidence=EvidenceV1_2(**dict(advisory.evidence)),
    )


def advisories_of(bundle: AdvisoryBundleV1_1 | AdvisoryBundleV1_2) -> tuple[AnyAdvisory, ...]:
    """Return every advisory of a bundle: retrieved, experience, familiarity."""
    if isinstance(bundle, AdvisoryBundleV1_1):
        return bundle.retrieved
    return (*bundle.retrieved, *bundle.experience, *(() if bundle.familiarity is None else (bundle.familiarity,)))


def advisories_in(slot: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return every advisory of a dumped bundle, in the order of `advisories_of`."""
    familiarity = slot.get("familiarity")
    return [*slot["retrieved"], *slot.get("experience", ()), *([familiarity] if familiarity else [])]


def numbered(advisories: Iterable[AdvisoryV1_2], first: int = 1) -> tuple[AdvisoryV1_2, ...]:
    """Return the advisories with ids in this order."""
    return tuple(
        advisory.model_copy(update={"advisory_id": f"adv_{number:06d}"})
        for number, advisory in enumerate(advisories, start=first)
    )
