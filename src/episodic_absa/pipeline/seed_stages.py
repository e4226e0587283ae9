"""The original rules as the supervisor runs them: the only module that knows the package `seed`."""

from typing import NamedTuple

from episodic_absa.memory import STAGE2_SLOT, GateSignals, gate_signals
from episodic_absa.pipeline.asking import Asking
from episodic_absa.pipeline.decided import Decided
from episodic_absa.pipeline.stage1.first_analysis import FirstAnalysis
from episodic_absa.pipeline.stage2 import Verdicts
from episodic_absa.schemas.absa import DebateOutput, Sample
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import MemorySlot
from episodic_absa.schemas.run_files.sample_record import DebateScore, StageLabels
from episodic_absa.seed import rules
from episodic_absa.seed.debate import Debate, DebateRun
from episodic_absa.seed.review_context import BuiltContext, build_review_context
from episodic_absa.seed.stage1 import Stage1
from episodic_absa.seed.stage2 import Stage2
from episodic_absa.seed.stage2 import Verdicts as SeedVerdicts
from episodic_absa.vocabulary import Language, Reach


class SeedDebated(NamedTuple):
    """The debate, and what Stage2 is shown of it."""

    run: DebateRun
    built: BuiltContext

    @property
    def record(self) -> DebateOutput | None:
        """The debate as records hold it; None if there was none."""
        return self.run.output


class SeedStages:
    """The stages of one pipeline under the original rules."""

    def __init__(self, settings: PipelineSettings, debate_slot_name: str, allowlist: frozenset[str]) -> None:
        self._settings = settings
        self._stage1 = Stage1(settings, allowlist)
        self._debate = Debate(settings, debate_slot_name)
        self._stage2 = Stage2(settings, STAGE2_SLOT.name)

    async def analyse(self, sample: Sample, language: Language, asking: Asking) -> FirstAnalysis:
        """Return what ATE, ATSA and the validator say."""
        run = await self._stage1.run(sample.text, language, asking)
        return FirstAnalysis(sample.text, language, run.result, run.unmatched_sentiments, run.polarity_counts)

    def signals(self, first: FirstAnalysis) -> GateSignals:
        """Return the signals of Stage1."""
        return gate_signals(first.result.ate, first.result.atsa, first.result.validator)

    def reach(self, first: FirstAnalysis, asking: Asking) -> Reach:  # noqa: ARG002
        """Return that everybody is asked, whatever the sample."""
        return "full"

    async def debate(
        self,
        first: FirstAnalysis,
        reach: Reach,  # noqa: ARG002
        slot: MemorySlot | None,
        asking: Asking,
    ) -> SeedDebated:
        """Return the debate; with `enable_debate` off it is nobody's."""
        run = await self._debate.run(first.text, first.language, first.result, slot, asking)
        return SeedDebated(run, build_review_context(first.result, run.output, first.text))

    async def review(
        self,
        first: FirstAnalysis,
        reach: Reach,  # noqa: ARG002
        debated: SeedDebated,
        slot: MemorySlot | None,
        asking: Asking,
    ) -> Verdicts:
        """Return Stage2's verdicts; with `enable_stage2` off there are none."""
        verdicts = await self._stage2.give_verdicts(
            first.text, first.language, first.result, debated.built.context, slot, asking
        )
        return Verdicts(*verdicts)

    async def decide(
        self,
        sample: Sample,  # noqa: ARG002
        first: FirstAnalysis,
        debated: SeedDebated,
        verdicts: Verdicts,
        reach: Reach,  # noqa: ARG002
        slot: MemorySlot | None,
        asking: Asking,
    ) -> Decided:
        """Return the patched result or Stage1, as adoption decides."""
        built, stage1 = debated.built, first.result
        answers = rules.Answers(debated.record, built, SeedVerdicts(*verdicts))
        patched = rules.propose(stage1, answers, first.text, self._settings)
        validator2 = await self._stage2.validate(  # sees exactly what adoption would make final
            first.text, first.language, stage1, built.context, answers.verdicts, patched, slot, asking
        )
        outcome = rules.settle(stage1, answers, patched, validator2, self._settings)
        return Decided(
            stage2=outcome.stage2,
            adoption=outcome.adoption,
            moderator=outcome.moderator,
            final_result=outcome.final_result,
            final_sentiments=outcome.final_sentiments,
            patched_sentiments=patched.sentiments,
            stage_labels=StageLabels(stage1=outcome.label_s1, stage2=outcome.label_s2),
            outcome=outcome.outcome,
            patch_log=patched.log,
            override=outcome.override,
            override_decisions=patched.override.decisions,
            mapping=DebateScore(
                mapping_stats=built.context.mapping_stats,
                mapping_fail_reasons=built.context.mapping_fail_reasons,
                hint_valid_n=built.hint_counts.valid_n,
                hint_invalid_n=built.hint_counts.invalid_n,
            ),
            polarity_counts=debated.run.polarity_counts,
        )
