"""The default rules: short answers, speakers who do not hear each other, one decision per change."""

from episodic_absa.memory import STAGE2_SLOT, GateSignals
from episodic_absa.pipeline.asking import Asking
from episodic_absa.pipeline.debate.debate import Debate, Debated
from episodic_absa.pipeline.decided import Decided
from episodic_absa.pipeline.decision.change_rules import load_adoption_rules
from episodic_absa.pipeline.decision.changes import Reader
from episodic_absa.pipeline.decision.decision import Decision
from episodic_absa.pipeline.gate_reading import GateReading, load_gate_rules
from episodic_absa.pipeline.second_look import WHOLE_LOOK, AdaptiveLook, SecondLook
from episodic_absa.pipeline.stage1.first_analysis import FirstAnalysis
from episodic_absa.pipeline.stage1.stage1 import Stage1
from episodic_absa.pipeline.stage2 import Stage2, Verdicts
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import MemorySlot
from episodic_absa.vocabulary import Language


class DefaultStages:
    """The stages of one pipeline under the default rules.

    Args:
        settings: the switches in force.
        debate_slot_name: the key under which debate prompts show the memory.
        allowlist: short terms that count as targets beside the built-in ones.
        reader: the independent witness; None leaves it out.
        referee: whether the referee is asked how a change turned out.
    """

    def __init__(
        self,
        settings: PipelineSettings,
        debate_slot_name: str,
        allowlist: frozenset[str],
        reader: Reader | None,
        *,
        referee: bool = False,
    ) -> None:
        self._settings = settings
        rules = load_adoption_rules()
        stage2 = Stage2(settings, STAGE2_SLOT.name)
        self._stage1 = Stage1(settings, allowlist, reader)
        self._gates = GateReading(load_gate_rules(), reader)
        self._adaptive = AdaptiveLook(reader, rules.reader) if settings.effort == "adaptive" else None
        self._debates = {
            "whole": Debate(settings, debate_slot_name),
            "targets": Debate(settings, debate_slot_name, targets_only=True),
        }
        self._reviews = {"whole": stage2, "targets": Stage2(settings, STAGE2_SLOT.name, targets_only=True)}
        self._decision = Decision(settings, stage2, rules, reader, referee=referee)

    async def analyse(self, sample: Sample, language: Language, asking: Asking) -> FirstAnalysis:
        """Return pairs with their confidences, and risks."""
        return await self._stage1.run(sample.text, language, asking)

    def signals(self, first: FirstAnalysis) -> GateSignals:
        """Return the signals of Stage1, of the cues beside its targets, and of the reader."""
        return self._gates.signals(first)

    def look(self, first: FirstAnalysis, signals: GateSignals) -> SecondLook:
        """Return a whole look; an adaptive pipeline looks only where something is at stake."""
        return self._adaptive.decide(first, signals) if self._adaptive else WHOLE_LOOK

    async def debate(self, first: FirstAnalysis, look: SecondLook, slot: MemorySlot | None, asking: Asking) -> Debated:
        """Return what the speakers and the judge claim."""
        if look.look == "none" or not self._settings.enable_debate:
            return Debated()
        return await self._debates[look.look].run(first, slot, asking)

    async def review(
        self, first: FirstAnalysis, look: SecondLook, debated: Debated, slot: MemorySlot | None, asking: Asking
    ) -> Verdicts:
        """Return Stage2's verdicts; it is not asked where the debate has settled every doubt."""
        spoken = debated.claims if debated.record and debated.record.turns else None
        if look.look == "none" or not self._settings.enable_stage2 or not look.needs_verdicts(spoken):
            return Verdicts()
        return await self._reviews[look.look].give_verdicts(first, slot, asking)

    async def decide(
        self,
        sample: Sample,
        first: FirstAnalysis,
        debated: Debated,
        verdicts: Verdicts,
        slot: MemorySlot | None,
        asking: Asking,
    ) -> Decided:
        """Return Stage1 with the changes that their witnesses carry."""
        return await self._decision.decide(sample.uid, first, debated, verdicts, slot, asking)
