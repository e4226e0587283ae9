"""What a memory writes and how it speaks: the one value in which memories of different rules differ."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from episodic_absa.memory.advice.advisory_builder import Voice
from episodic_absa.memory.advice.outcome_advice import OUTCOME_VOICE
from episodic_absa.memory.advice.principles import PrincipleCatalogue
from episodic_absa.memory.episodes.episode_builder import EpisodeBuilder
from episodic_absa.schemas.absa import ModeratorSummary, ReviewOutcome, Stage1Result
from episodic_absa.schemas.memory_v1_1 import (
    AdvisoryBundleMetaV1_1,
    InputSignatureV1_1,
    ProvenanceV1_1,
)
from episodic_absa.schemas.memory_v1_2 import AdvisoryBundleV1_2, AnyAdvisory, AnyBundle, numbered
from episodic_absa.schemas.stored.memory_v1_3 import EpisodeDraftV1_3
from episodic_absa.vocabulary import Rules

EpisodeWriter = Callable[
    [str, InputSignatureV1_1, Stage1Result, ReviewOutcome, ModeratorSummary, ProvenanceV1_1], EpisodeDraftV1_3
]
"""Builds the episode of a sample; `EpisodeBuilder.build` documents the arguments."""


@dataclass(frozen=True)
class MemoryForm:
    """Decides the schema of episodes and bundles, and what advice says. It is chosen where a pipeline is composed."""

    rules: Rules
    """The rules of the conditions that the form is for."""
    worded: Callable[[PrincipleCatalogue], PrincipleCatalogue]
    """Returns the principles in the words of this memory."""
    episode_writer: Callable[[PrincipleCatalogue], EpisodeWriter]
    """Returns what builds the episode of a sample."""
    voice: Voice
    """How advice of episodes speaks."""
    has_one_voice: bool
    """Whether no advisory repeats another or speaks against one that is ranked better."""
    bundle: Callable[[Sequence[AnyAdvisory], tuple[str, ...], AdvisoryBundleMetaV1_1], AnyBundle]
    """Returns the bundle of a slot, made of the advisories in rank order, the warnings, the record."""


def _bundle(
    advisories: Sequence[AnyAdvisory], warnings: tuple[str, ...], meta: AdvisoryBundleMetaV1_1
) -> AdvisoryBundleV1_2:
    return AdvisoryBundleV1_2(memory_on=meta.memory_on, retrieved=numbered(advisories), warnings=warnings, meta=meta)


OUTCOME_FORM: Final = MemoryForm(
    rules="v3",
    worded=PrincipleCatalogue.in_v3_wording,
    episode_writer=lambda catalogue: EpisodeBuilder(catalogue).build_with_changes,
    voice=OUTCOME_VOICE,
    has_one_voice=True,
    bundle=_bundle,
)
"""Episodes with their changes, bundles of schema 1.2, and no advisory that speaks against another."""
