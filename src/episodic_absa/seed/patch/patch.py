"""Applies proposals, verdicts and the debate to copies of Stage1, one module per step. Validator2 sees the outcome."""

from collections.abc import Mapping, Sequence
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
from episodic_absa.schemas.run_files.patch_log import PatchLogEntry
from episodic_absa.seed.patch.anchor_guard import apply_anchor_guard
from episodic_absa.seed.patch.ate_verdicts import apply_ate_verdicts
from episodic_absa.seed.patch.atsa_verdicts import apply_atsa_verdicts
from episodic_absa.seed.patch.judge_rulings import apply_judge_drops, judge_agrees_with_verdict, judge_polarities
from episodic_absa.seed.patch.override_gate import OverrideOutcome, apply_override_gate
from episodic_absa.seed.patch.patch_draft import PatchDraft
from episodic_absa.seed.patch.reduction import DebateRulings, conflicts_of, reduce_to_one_per_aspect
from episodic_absa.seed.patch.validator_proposals import apply_proposals
from episodic_absa.seed.review_context import BuiltContext


class PatchResult(NamedTuple):
    """The patched aspects and sentiments, and what each step did."""

    aspects: tuple[AspectItem, ...]
    sentiments: tuple[SentimentItem, ...]
    log: tuple[PatchLogEntry, ...]
    override: OverrideOutcome
    judge_dropped: frozenset[str]
    """Normalised aspects whose sentiments a seconded judge drop removed."""
    debate_acted: bool
    """An override or judge drop was applied, or the judge's polarity equals that of an applied verdict."""
    renamed: Mapping[str, str]
    """Normalised Stage1 term -> the term at its revised span."""
    unsettled_conflict: bool
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
        return _unpatched(stage1)
    draft = PatchDraft.of(stage1, text)
    apply_proposals(draft, stage1.validator.correction_proposals)
    apply_ate_verdicts(draft, ate_verdicts)
    apply_atsa_verdicts(draft, atsa_verdicts)
    override = _override(draft, stage1, debate, built, settings)
    judge_dropped = apply_judge_drops(draft, debate, built.terms)
    renamed = draft.apply_revised_spans()
    apply_anchor_guard(draft)
    summary = debate.summary if debate else DebateSummary()
    debate_acted = bool(override.applied or judge_dropped or judge_agrees_with_verdict(draft, summary, built.terms))
    rulings = _rulings(override, summary, built, renamed)
    stage1_conflicts = {_current(aspect, renamed) for aspect in conflicts_of(stage1.atsa.sentiments)}
    new_conflicts = conflicts_of(draft.sentiments) - stage1_conflicts
    if debate_acted:
        reduce_to_one_per_aspect(draft, rulings)
    return PatchResult(
        aspects=tuple(draft.aspects),
        sentiments=tuple(draft.sentiments),
        log=tuple(draft.log),
        override=override,
        judge_dropped=judge_dropped,
        debate_acted=debate_acted,
        renamed=renamed,
        unsettled_conflict=any(not rulings.settles(aspect) for aspect in new_conflicts),
    )


def _unpatched(stage1: Stage1Result) -> PatchResult:
    return PatchResult(
        aspects=stage1.ate.aspects,
        sentiments=stage1.atsa.sentiments,
        log=(),
        override=OverrideOutcome(stage1.atsa.sentiments, ()),
        judge_dropped=frozenset(),
        debate_acted=False,
        renamed={},
        unsettled_conflict=False,
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


def _rulings(
    override: OverrideOutcome, summary: DebateSummary, built: BuiltContext, renamed: Mapping[str, str]
) -> DebateRulings:
    applied = override.applied
    return DebateRulings(
        overridden=(_current(applied.aspect, renamed), applied.target) if applied is not None else None,
        judge_polarities={
            _current(aspect, renamed): polarities
            for aspect, polarities in judge_polarities(summary, built.terms).items()
        },
    )


def _current(aspect: str, renamed: Mapping[str, str]) -> str:
    return norm(renamed.get(norm(aspect), aspect))
