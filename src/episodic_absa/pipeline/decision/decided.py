"""Rules v2: every change is decided by its own witnesses; all other pairs stay exactly as Stage1 had them."""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from episodic_absa.language import norm
from episodic_absa.pipeline.asking import Asking
from episodic_absa.pipeline.decision.applied_changes import apply_changes
from episodic_absa.pipeline.decision.change_decision import decide_changes
from episodic_absa.pipeline.decision.change_rules import AdoptionRules
from episodic_absa.pipeline.decision.changes import Reader
from episodic_absa.pipeline.outcomes.change_outcomes import outcomes_by_reader
from episodic_absa.pipeline.outcomes.referee import ask_referee, referee_question, with_referee
from episodic_absa.pipeline.pair_confidence import with_confidence
from episodic_absa.pipeline.settled import Settled
from episodic_absa.pipeline.stage2 import SlimStage2, unchecked_risks
from episodic_absa.schemas.absa import (
    AspectVerdict,
    DebateOutput,
    Sample,
    SentimentItem,
    SentimentVerdict,
    Stage1Result,
)
from episodic_absa.schemas.memory_v1_2 import ChangeOutcomeV1_2
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import MemorySlot
from episodic_absa.schemas.run_files.change_record import ChangeRecord
from episodic_absa.schemas.run_files.patch_log import PatchLogEntry
from episodic_absa.seed.decision import decide_adopted
from episodic_absa.seed.patch.override_gate import OverrideOutcome
from episodic_absa.seed.patch.patch import PatchResult
from episodic_absa.seed.review_context import BuiltContext
from episodic_absa.seed.stage2 import Verdicts
from episodic_absa.vocabulary import AteAction, AtsaAction, ChangeKind, Language


class V2Rules:
    """Decides change by change.

    Args:
        settings: the pipeline's.
        stage2: asked for the risks of the final pairs, only if a change was adopted.
        rules: which witnesses a change needs.
        reader: the independent witness; None leaves it out.
        referee: whether the referee is asked about adopted and narrowly refused changes.
    """

    def __init__(
        self,
        settings: PipelineSettings,
        stage2: SlimStage2,
        rules: AdoptionRules,
        reader: Reader | None,
        *,
        referee: bool = False,
    ) -> None:
        self._settings = settings
        self._stage2 = stage2
        self._rules = rules
        self._reader = reader
        self._referee = referee

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
        """Return Stage1 with the adopted changes, and the record of every change."""
        # Without a second look the validator and the reader alone change nothing.
        was_looked_at_again = debate is not None or bool(verdicts.ate or verdicts.atsa)
        changes = (
            decide_changes(
                sample.text, language, stage1, debate, verdicts.ate, verdicts.atsa, self._reader, self._rules
            )
            if was_looked_at_again
            else ()
        )
        aspects, sentiments = apply_changes(stage1, changes)
        from_stage1 = {id(item) for item in stage1.atsa.sentiments}
        sentiments = tuple(
            item if id(item) in from_stage1 else with_confidence(item, sample.text, language, self._reader)
            for item in sentiments
        )
        is_adopted = any(change.adopted for change in changes)
        validator2 = unchecked_risks(stage1)
        # Its risks decide nothing: an effort that asks only what is at stake does not ask for them.
        if is_adopted and self._settings.enable_stage2 and self._settings.effort == "full":
            shown = (aspects, tuple(_without_readers_own(sentiments, changes)))
            validator2 = await self._stage2.validate(
                sample, language, stage1, built.context, verdicts, shown, slot, asking
            )
        patched = PatchResult(
            aspects=aspects,
            sentiments=sentiments,
            log=tuple(_log(verdicts, changes)),
            override=OverrideOutcome(sentiments, ()),
            judge_dropped=frozenset(),
            debate_acted=is_adopted,
            renamed={},
            unsettled_conflict=False,
        )
        decision = decide_adopted(stage1, patched, validator2, debate, self._settings, adopted=is_adopted)
        outcomes = await self._outcomes(sample, language, stage1, changes, asking)
        outcome = decision.outcome.model_copy(update={"changes": outcomes})
        recorded = tuple(
            change.model_copy(update={"outcome": turned_out.outcome, "outcome_by": turned_out.outcome_by})
            for change, turned_out in zip(changes, outcomes, strict=True)
        )
        return Settled(patched, validator2, decision._replace(outcome=outcome), recorded)

    async def _outcomes(
        self,
        sample: Sample,
        language: Language,
        stage1: Stage1Result,
        changes: Sequence[ChangeRecord],
        asking: Asking,
    ) -> tuple[ChangeOutcomeV1_2, ...]:
        """Return whether each change was right. No risk is looked at: a dropped pair cannot be risky."""
        outcomes = outcomes_by_reader(changes, self._reader, sample.text, language)
        question = referee_question(stage1, changes, self._rules) if self._referee else None
        if question is None:
            return outcomes
        said = await ask_referee(question, sample, language, asking)
        return with_referee(outcomes, changes, question, said)


def _without_readers_own(
    sentiments: Sequence[SentimentItem], changes: Sequence[ChangeRecord]
) -> Iterator[SentimentItem]:
    """Yield the pairs that a prompt may show: what the reader alone says stands in no prompt."""
    own = {
        (norm(change.aspect_term), change.to_polarity)
        for change in changes
        if change.adopted and change.is_polarity_of_reader
    }
    return (item for item in sentiments if (norm(item.aspect_term), item.polarity) not in own)


_KINDS: Final[dict[AteAction | AtsaAction, ChangeKind]] = {
    "revise_span": "span",
    "flip_polarity": "flip",
    "drop": "drop",
    "add": "add",
}


def _log(verdicts: Verdicts, changes: Sequence[ChangeRecord]) -> Iterator[PatchLogEntry]:
    """Yield what became of every verdict that asks for a change."""
    for aspect_verdict in verdicts.ate:
        if aspect_verdict.action != "keep":
            yield _entry("ate_review", aspect_verdict, changes)
    for sentiment_verdict in verdicts.atsa:
        if sentiment_verdict.action != "keep":
            yield _entry("atsa_review", sentiment_verdict, changes)


def _entry(
    step: Literal["ate_review", "atsa_review"],
    verdict: AspectVerdict | SentimentVerdict,
    changes: Sequence[ChangeRecord],
) -> PatchLogEntry:
    kind = _KINDS.get(verdict.action)
    polarity = verdict.revised_polarity if isinstance(verdict, SentimentVerdict) else None
    change = next(
        (
            change
            for change in changes
            if change.kind == kind
            and norm(change.aspect_term) == norm(verdict.aspect_term)
            and (polarity is None or change.to_polarity == polarity)
        ),
        None,
    )
    is_adopted = change is not None and change.adopted
    return PatchLogEntry(
        step=step,
        what=verdict.action,
        change_id=verdict.change_id,
        aspect_term=verdict.aspect_term,
        applied=is_adopted,
        reason="" if is_adopted else "no_change" if change is None else change.reason,
        polarity=polarity if is_adopted else None,
    )
