"""Applies proposals, verdicts and the debate to copies of Stage1, one module per step. Validator2 sees the outcome."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from episodic_absa.language import norm
from episodic_absa.schemas.absa import (
    AspectItem,
    AspectVerdict,
    DebateOutput,
    DebateSummary,
    SentimentItem,
    SentimentVerdict,
    Stage1Result,
)
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.run_files.adoption import PatchLogEntry
from episodic_absa.seed.patch.first_steps import apply_ate_verdicts, apply_atsa_verdicts, apply_proposals
from episodic_absa.seed.patch.last_steps import (
    DebateRulings,
    apply_anchor_guard,
    apply_judge_drops,
    conflicts_of,
    judge_agrees_with_verdict,
    judge_polarities,
    reduce_to_one_per_aspect,
)
from episodic_absa.seed.patch.override_gate import OverrideOutcome, apply_override_gate
from episodic_absa.seed.patch.patch_draft import PatchDraft
from episodic_absa.seed.review_context import BuiltContext


class PatchResult(NamedTuple):
    """The patched aspects and sentiments, and what each step did."""

    aspects: tuple[AspectItem, ...]
    sentiments: tuple[SentimentItem, ...]
    log: tuple[PatchLogEntry, ...]
    override: OverrideOutcome
    debate_acted: bool = False
    """An override or judge drop was applied, or the judge's polarity equals that of an applied verdict."""
    renamed: Mapping[str, str] = MappingProxyType({})
    """Normalised Stage1 term -> the term at its revised span."""
    unsettled_conflict: bool = False
    """Before the reduction an aspect had a conflict that Stage1 lacked and that nothing in the debate settles."""

    def current_name(self, term: str) -> str:
        """Return the name of an aspect after the patch."""
        return self.renamed.get(norm(term), term)

    @property
    def proposal_or_verdict_applied(self) -> bool:
        """Whether any proposal or non-keep verdict was applied."""
        return any(entry.applied and entry.step in ("proposal", "ate_review", "atsa_review") for entry in self.log)


def apply_patch(
    stage1: Stage1Result,
    ate_verdicts: Sequence[AspectVerdict],
    atsa_verdicts: Sequence[SentimentVerdict],
    debate: DebateOutput | None,
    built: BuiltContext,
    text: str,
    settings: PipelineSettings,
) -> PatchResult:
    """Return Stage1 with every change that Stage2 and the debate ask for and the text allows.

    Args:
        stage1: the first analysis; it stays as it is.
        ate_verdicts: Stage2's verdicts on aspects, with change ids.
        atsa_verdicts: Stage2's verdicts on sentiments, with change ids.
        debate: None if the pipeline has no debate.
        built: the review context made from the same debate.
        text: the text of the sample.
        settings: with `enable_stage2` off the result equals Stage1.
    """
    if not settings.enable_stage2:
        return PatchResult(stage1.ate.aspects, stage1.atsa.sentiments, (), OverrideOutcome(stage1.atsa.sentiments, ()))
    draft = PatchDraft.of(stage1, text)
    apply_proposals(draft, stage1.validator.correction_proposals)
    apply_ate_verdicts(draft, ate_verdicts)
    apply_atsa_verdicts(draft, atsa_verdicts)
    override = _override(draft, stage1, debate, built, settings)
    is_judge_dropped = apply_judge_drops(draft, debate, built.terms)
    renamed = draft.apply_revised_spans()
    apply_anchor_guard(draft)
    summary = debate.summary if debate else DebateSummary()
    debate_acted = bool(override.applied or is_judge_dropped or judge_agrees_with_verdict(draft, summary, built.terms))
    applied = override.applied
    overridden = None if applied is None else (_current(applied.aspect, renamed), applied.target)
    ruled = judge_polarities(summary, built.terms).items()
    rulings = DebateRulings(overridden, {_current(aspect, renamed): polarities for aspect, polarities in ruled})
    stage1_conflicts = {_current(aspect, renamed) for aspect in conflicts_of(stage1.atsa.sentiments)}
    new_conflicts = conflicts_of(draft.sentiments) - stage1_conflicts
    if debate_acted:
        reduce_to_one_per_aspect(draft, rulings)
    return PatchResult(
        aspects=tuple(draft.aspects),
        sentiments=tuple(draft.sentiments),
        log=tuple(draft.log),
        override=override,
        debate_acted=debate_acted,
        renamed=renamed,
        unsettled_conflict=any(not rulings.settles(aspect) for aspect in new_conflicts),
    )


def _override(
    draft: PatchDraft,
    stage1: Stage1Result,
    debate: DebateOutput | None,
    built: BuiltContext,
    settings: PipelineSettings,
) -> OverrideOutcome:
    if debate is None or not settings.enable_debate_override:
        return OverrideOutcome(tuple(draft.sentiments), ())
    override = apply_override_gate(
        draft.sentiments,
        built.context,
        debate.summary,
        built.terms,
        text=draft.text,
        aspects=stage1.ate.aspects,
        stage1_risks=stage1.validator.structural_risks,
        thresholds=settings.thresholds,
    )
    draft.sentiments = list(override.sentiments)
    return override


def _current(aspect: str, renamed: Mapping[str, str]) -> str:
    return norm(renamed.get(norm(aspect), aspect))
