"""The memory of the original rules: episodes without changes, bundles of schema 1.1, advice that speaks of risks."""

from collections.abc import Sequence
from typing import Final

from episodic_absa.memory import EpisodeBuilder, MemoryForm
from episodic_absa.memory.advice.advisory_builder import RISK_VOICE
from episodic_absa.schemas.memory_v1_1 import AdvisoryBundleMetaV1_1, AdvisoryBundleV1_1, AdvisoryV1_1
from episodic_absa.schemas.memory_v1_2 import AnyAdvisory


def _bundle(
    advisories: Sequence[AnyAdvisory], warnings: tuple[str, ...], meta: AdvisoryBundleMetaV1_1
) -> AdvisoryBundleV1_1:
    retrieved = tuple(advisory for advisory in advisories if isinstance(advisory, AdvisoryV1_1))
    return AdvisoryBundleV1_1(memory_on=meta.memory_on, retrieved=retrieved, warnings=warnings, meta=meta)


SEED_FORM: Final = MemoryForm(
    rules="seed",
    worded=lambda catalogue: catalogue,
    episode_writer=lambda catalogue: EpisodeBuilder(catalogue).build,
    voice=RISK_VOICE,
    has_one_voice=False,
    bundle=_bundle,
)
