"""Every change is decided by its own witnesses; all other pairs stay exactly as Stage1 had them."""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from episodic_absa.final_tuples import extract_tuples, label_of_pairs
from episodic_absa.language import norm
from episodic_absa.pipeline.asking import Asking
from episodic_absa.pipeline.debate.debate import Debated
from episodic_absa.pipeline.decided import Decided
from episodic_absa.pipeline.decision.applied_changes import apply_changes
from episodic_absa.pipeline.decision.change_decision import decide_changes
from episodic_absa.pipeline.decision.change_rules import AdoptionRules
from episodic_absa.pipeline.decision.changes import Reader
from episodic_absa.pipeline.decision.claims import claims_of_verdicts
from episodic_absa.pipeline.decision.evidence_value import reported_adoption
from episodic_absa.pipeline.decision.pair_label import moderated_label, whole_text_label
from episodic_absa.pipeline.outcomes.change_outcomes import outcomes_by_reader
from episodic_absa.pipeline.outcomes.referee import ask_referee, referee_question, with_referee
from episodic_absa.pipeline.stage1.first_analysis import FirstAnalysis
from episodic_absa.pipeline.stage1.pair_confidence import with_confidence
from episodic_absa.pipeline.stage1.risks import unchecked_risks
from episodic_absa.pipeline.stage2 import Stage2, Verdicts
from episodic_absa.schemas.absa import (
    AspectVerdict,
    Change,
    DebateSummary,
    FinalResult,
    ReviewOutcome,
    SentimentItem,
    SentimentVerdict,
    Stage2Result,
)
from episodic_absa.schemas.memory_v1_2 import ChangeOutcomeV1_2
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import MemorySlot
from episodic_absa.schemas.run_files.adoption import PatchLogEntry
from episodic_absa.schemas.run_files.change_record import ChangeRecord
from episodic_absa.schemas.run_files.sample_record import StageLabels
from episodic_absa.vocabulary import AteAction, AtsaAction, ChangeKind

_LONGEST_REASON: Final = 400


class Decision:
    """Decides change by change.

    Args:
        settings: the pipeline's.
        stage2: asked for the risks of the final pairs, only if a change was adopted.
        rules: which witnesses a change needs.
        reader: gives confidences, and is a witness if it is heard; None leaves it out.
        is_reader_heard: whether the reader is a witness of changes.
        referee: whether the referee is asked about adopted and narrowly refused changes.
    """

    def __init__(
        self,
        settings: PipelineSettings,
        stage2: Stage2,
        rules: AdoptionRules,
        reader: Reader | None,
        *,
        is_reader_heard: bool = True,
        referee: bool = False,
    ) -> None:
        self._settings = settings
        self._stage2 = stage2
        self._rules = rules
        self._reader = reader
        self._witness = reader if is_reader_heard else None
        self._referee = referee

    async def decide(
        self,
        uid: str,
        first: FirstAnalysis,
        debated: Debated,
        verdicts: Verdicts,
        slot: MemorySlot | None,
        asking: Asking,
    ) -> Decided:
        """Return Stage1 with the adopted changes, and the record of every change."""
        stage1 = first.result
        claims = (*debated.claims, *claims_of_verdicts(verdicts.ate, verdicts.atsa, first))
        changes = decide_changes(first, claims, self._witness, self._rules)
        aspects, sentiments = apply_changes(stage1, changes)
        from_stage1 = {id(item) for item in stage1.atsa.sentiments}
        sentiments = tuple(
            item if id(item) in from_stage1 else with_confidence(item, first.text, first.language, self._reader)
            for item in sentiments
        )
        is_adopted = any(change.adopted for change in changes)
        validator2 = unchecked_risks(stage1)
        # Its risks decide nothing: an effort that asks only what is at stake does not ask for them.
        if is_adopted and self._settings.enable_stage2 and self._settings.effort == "full":
            shown = tuple(_without_readers_own(sentiments, changes))
            validator2 = await self._stage2.validate(first, aspects, shown, slot, asking)
        log = tuple(_log(verdicts, changes))
        adoption = reported_adoption(
            stage1,
            sentiments,
            validator2.structural_risks,
            adopted=is_adopted,
            is_verdict_applied=any(entry.applied for entry in log),
            weights=self._settings.ev_weights,
        )
        tuples = extract_tuples(sentiments) if is_adopted else first.tuples
        summary = debated.record.summary if debated.record else DebateSummary()
        whole_text = whole_text_label(summary, validator2, stage1.validator)
        moderator = moderated_label(tuples, whole_text, adopted=is_adopted)
        otherwise = whole_text.label if whole_text else "neutral"
        outcomes = await self._outcomes(uid, first, changes, asking)
        return Decided(
            stage2=Stage2Result(
                ate_reviews=verdicts.ate,
                atsa_reviews=verdicts.atsa,
                validator=validator2,
                accepted_changes=tuple(_explained(verdicts, log, applied=True)),
                rejected_changes=tuple(_explained(verdicts, log, applied=False)),
            ),
            adoption=adoption,
            moderator=moderator,
            final_result=FinalResult(
                label=moderator.final_label,
                confidence=moderator.confidence,
                rationale=moderator.rationale,
                stage1_tuples=first.tuples,
                stage2_tuples=tuples,
                final_tuples=tuples,
            ),
            final_sentiments=sentiments,
            patched_sentiments=sentiments,
            stage_labels=StageLabels(
                stage1=label_of_pairs(first.tuples) or otherwise, stage2=label_of_pairs(tuples) or otherwise
            ),
            outcome=ReviewOutcome(
                aspects=aspects,
                sentiments=sentiments,
                structural_risks=validator2.structural_risks,
                changes=outcomes,
            ),
            patch_log=log,
            changes=tuple(
                change.model_copy(update={"outcome": turned_out.outcome, "outcome_by": turned_out.outcome_by})
                for change, turned_out in zip(changes, outcomes, strict=True)
            ),
        )

    async def _outcomes(
        self, uid: str, first: FirstAnalysis, changes: Sequence[ChangeRecord], asking: Asking
    ) -> tuple[ChangeOutcomeV1_2, ...]:
        """Return whether each change was right. No risk is looked at: a dropped pair cannot be risky."""
        outcomes = outcomes_by_reader(changes, self._witness, first.text, first.language)
        question = referee_question(first.result, changes, self._rules) if self._referee else None
        if question is None:
            return outcomes
        said = await ask_referee(question, uid, first.text, first.language, asking)
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


_KINDS: Final[dict[AteAction | AtsaAction, ChangeKind]] = {"flip_polarity": "flip", "drop": "drop", "add": "add"}


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


def _explained(verdicts: Verdicts, log: Sequence[PatchLogEntry], *, applied: bool) -> Iterator[Change]:
    """Yield the verdicts that were applied, or those that were not with the reason."""
    reasons = {verdict.change_id: verdict.reason for verdict in verdicts.ate}
    reasons |= {verdict.change_id: verdict.reason for verdict in verdicts.atsa}
    for entry in log:
        if entry.applied is applied and entry.change_id is not None:
            suffix = "" if applied else f" | not applied: {entry.reason}"
            reasoning = reasons[entry.change_id][: _LONGEST_REASON - len(suffix)] + suffix
            yield Change(change_id=entry.change_id, reasoning=reasoning)
