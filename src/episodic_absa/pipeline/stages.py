"""The stages of a pipeline under either set of rules. The supervisor runs them; it does not know which rules hold."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from episodic_absa.memory import STAGE2_SLOT
from episodic_absa.pipeline.asking import Asking
from episodic_absa.pipeline.debate import SlimDebate
from episodic_absa.pipeline.decision.change_rules import load_adoption_rules
from episodic_absa.pipeline.decision.changes import Reader
from episodic_absa.pipeline.decision.decided import V2Rules
from episodic_absa.pipeline.gate_reading import GateReading, SeedGateReading, V2GateReading, load_gate_rules
from episodic_absa.pipeline.second_look import AdaptiveLook, LookRule, WholeLook
from episodic_absa.pipeline.settled import Settled
from episodic_absa.pipeline.stage1 import SlimStage1
from episodic_absa.pipeline.stage2 import SlimStage2
from episodic_absa.schemas.absa import DebateOutput, ReviewContext, Sample, Stage1Result
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import MemorySlot
from episodic_absa.seed.debate import Debate, DebateRun
from episodic_absa.seed.review_context import BuiltContext
from episodic_absa.seed.seed_rules import SeedRules
from episodic_absa.seed.stage1 import Stage1, Stage1Run
from episodic_absa.seed.stage2 import Stage2, Verdicts
from episodic_absa.vocabulary import Language, Look


class FirstStage(Protocol):
    """The first analysis."""

    async def run(self, sample: Sample, language: Language, asking: Asking) -> Stage1Run:
        """Return the aspects, sentiments and risks of a sample."""
        ...


class DebateStage(Protocol):
    """The speakers and the judge."""

    async def run(
        self, sample: Sample, language: Language, stage1: Stage1Result, slot: MemorySlot | None, asking: Asking
    ) -> DebateRun:
        """Return the debate about a first analysis."""
        ...


class SecondStage(Protocol):
    """The verdicts on Stage1."""

    async def give_verdicts(
        self,
        sample: Sample,
        language: Language,
        stage1: Stage1Result,
        context: ReviewContext,
        slot: MemorySlot | None,
        asking: Asking,
    ) -> Verdicts:
        """Return the verdicts on aspects and sentiments."""
        ...


class DecisionRules(Protocol):
    """From everything that was said to the final result."""

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
        """Return the decision about a sample."""
        ...


class AskedAgain(NamedTuple):
    """The debate and the Stage2 of one kind of second look."""

    debate: DebateStage
    stage2: SecondStage


class Stages(NamedTuple):
    """The stages of one pipeline."""

    stage1: FirstStage
    gate_reading: GateReading
    look_rule: LookRule
    asked_again: Mapping[Look, AskedAgain]
    """For every look but `none`."""
    rules: DecisionRules


def seed_stages(settings: PipelineSettings, debate_slot_name: str, allowlist: frozenset[str]) -> Stages:
    """Return the stages of the original requirement."""
    stage2 = Stage2(settings, STAGE2_SLOT.name)
    return Stages(
        Stage1(settings, allowlist),
        SeedGateReading(),
        WholeLook(),
        {"whole": AskedAgain(Debate(settings, debate_slot_name), stage2)},
        SeedRules(settings, stage2),
    )


def v2_stages(
    settings: PipelineSettings,
    debate_slot_name: str,
    allowlist: frozenset[str],
    reader: Reader | None,
    *,
    referee: bool = False,
) -> Stages:
    """Return the stages of the second version: slim prompts, independent speakers, one decision per change."""
    rules = load_adoption_rules()
    stage2 = SlimStage2(settings, STAGE2_SLOT.name)
    whole = AskedAgain(SlimDebate(settings, debate_slot_name), stage2)
    targets = AskedAgain(
        SlimDebate(settings, debate_slot_name, targets_only=True),
        SlimStage2(settings, STAGE2_SLOT.name, targets_only=True),
    )
    return Stages(
        SlimStage1(settings, allowlist, reader),
        V2GateReading(load_gate_rules(), reader),
        AdaptiveLook(reader, rules.reader) if settings.effort == "adaptive" else WholeLook(),
        {"whole": whole, "targets": targets},
        V2Rules(settings, stage2, rules, reader, referee=referee),
    )
