"""The seed rules: all changes become one patch, Validator2 sees it, and it is adopted or refused as a whole."""

from episodic_absa.pipeline.asking import Asking
from episodic_absa.pipeline.settled import Settled
from episodic_absa.schemas.absa import DebateOutput, Sample, Stage1Result
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import MemorySlot
from episodic_absa.seed.decision import decide
from episodic_absa.seed.patch.patch import apply_patch
from episodic_absa.seed.review_context import BuiltContext
from episodic_absa.seed.stage2 import Stage2, Verdicts
from episodic_absa.vocabulary import Language


class SeedRules:
    """Decides by the original rules: patch, override gate, adoption ladder, EV, moderator."""

    def __init__(self, settings: PipelineSettings, stage2: Stage2) -> None:
        self._settings = settings
        self._stage2 = stage2

    async def settle(
        self,
        sample: Sample,
        language: Language,
        stage1: Stage1Result,
        debate: DebateOutput | None,
        built: BuiltContext,
        verdicts: Verdicts,
        slot: MemorySlot | None,
        asking: Asking,
    ) -> Settled:
        """Return the patched result and whether it is final."""
        patched = apply_patch(stage1, verdicts.ate, verdicts.atsa, debate, built, sample.text, self._settings)
        validator2 = await self._stage2.validate(  # sees exactly what adoption would make final
            sample, language, stage1, built.context, verdicts, patched, slot, asking
        )
        return Settled(patched, validator2, decide(stage1, patched, validator2, debate, self._settings))
