"""The default rules: short answers, speakers who do not hear each other, one decision over all candidates."""

from pathlib import Path

from episodic_absa.memory import STAGE2_SLOT, GateSignals
from episodic_absa.pipeline.asking import Asking
from episodic_absa.pipeline.debate.debate import Debate, Debated
from episodic_absa.pipeline.decided import Decided
from episodic_absa.pipeline.decision.decision import Decision
from episodic_absa.pipeline.decision.weights import SHIPPED_WEIGHTS
from episodic_absa.pipeline.gate_reading import GateReading, load_gate_rules
from episodic_absa.pipeline.stage1.first_analysis import FirstAnalysis
from episodic_absa.pipeline.stage1.stage1 import Stage1
from episodic_absa.pipeline.stage2 import Stage2, Verdicts
from episodic_absa.reader.text_reader import TextReader
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import MemorySlot
from episodic_absa.vocabulary import Language, Reach


class DefaultStages:
    """The stages of one pipeline under the default rules.

    Args:
        settings: the switches in force.
        debate_slot_name: the key under which debate prompts show the memory.
        allowlist: short terms that count as targets beside the built-in ones.
        reader: a witness, and what answers without a model; None leaves it out.
        shares_the_reader: whether the backend's answers are the reader's own.
        referee: whether the referee is asked how a change turned out.
        weights: the file by which candidates are weighed.
    """

    def __init__(
        self,
        settings: PipelineSettings,
        debate_slot_name: str,
        allowlist: frozenset[str],
        reader: TextReader | None,
        *,
        shares_the_reader: bool = False,
        referee: bool = False,
        weights: Path = SHIPPED_WEIGHTS,
    ) -> None:
        self._settings = settings
        self._stage1 = Stage1(settings, allowlist, reader)
        self._gates = GateReading(load_gate_rules(), reader)
        self._debate = Debate(settings, debate_slot_name)
        self._stage2 = Stage2(settings, STAGE2_SLOT.name)
        self._decision = Decision(
            settings, self._stage2, reader, shares_the_reader=shares_the_reader, referee=referee, weights=weights
        )

    async def analyse(self, sample: Sample, language: Language, asking: Asking) -> FirstAnalysis:
        """Return pairs and risks; the reader's own pairs if no model is to be asked or the reader leaves no doubt."""
        if self._settings.effort in ("reader", "adaptive"):
            read = self._stage1.read(sample.text, language)
            if self._settings.effort == "reader" or not self._decision.is_model_needed(read):
                return read
        return await self._stage1.run(sample.text, language, asking)

    def signals(self, first: FirstAnalysis) -> GateSignals:
        """Return the signals of Stage1, of the cues beside its targets, and of the reader."""
        return self._gates.signals(first)

    def reach(self, first: FirstAnalysis, asking: Asking) -> Reach:
        """Return how far to ask; an adaptive pipeline asks further only where a candidate is in doubt."""
        if first.is_readers_own:
            return "reader"
        if self._settings.effort == "adaptive" and not self._decision.is_debate_needed(first, asking):
            return "stage1"
        return "full"

    async def debate(self, first: FirstAnalysis, reach: Reach, slot: MemorySlot | None, asking: Asking) -> Debated:
        """Return what the speakers and the judge claim."""
        if reach != "full" or not self._settings.enable_debate:
            return Debated()
        return await self._debate.run(first, slot, asking)

    async def review(
        self,
        first: FirstAnalysis,
        reach: Reach,
        debated: Debated,  # noqa: ARG002
        slot: MemorySlot | None,
        asking: Asking,
    ) -> Verdicts:
        """Return Stage2's verdicts, which do not depend on the debate."""
        if reach != "full" or not self._settings.enable_stage2:
            return Verdicts()
        return await self._stage2.give_verdicts(first, slot, asking)

    async def decide(
        self,
        sample: Sample,
        first: FirstAnalysis,
        debated: Debated,
        verdicts: Verdicts,
        reach: Reach,
        slot: MemorySlot | None,
        asking: Asking,
    ) -> Decided:
        """Return the candidates that are in."""
        asked = reach if self._settings.effort == "adaptive" else None
        return await self._decision.decide(sample.uid, first, debated, verdicts, asked, slot, asking)
