"""Advisories and bundles of schema version 1.2, which has the fields of 1.1. Prompts show less of it."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field, TypeAdapter

from episodic_absa.schemas.frozen_model import Flag, FrozenModel, Score
from episodic_absa.schemas.memory_v1_1 import (
    AdvisoryBundleMetaV1_1,
    AdvisoryBundleV1_1,
    AdvisoryConstraintsV1_1,
    AdvisoryV1_1,
    EvidenceV1_1,
)
from episodic_absa.vocabulary import AdvisoryType, Strength


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
