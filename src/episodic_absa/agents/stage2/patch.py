"""Applies proposals, reviews and the debate to copies of Stage1, in a fixed order. Validator2 sees the outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from episodic_absa.agents.debate.review_context import BuiltContext
from episodic_absa.agents.settings import PipelineSettings
from episodic_absa.agents.stage1.atsa_processing import match_aspect
from episodic_absa.agents.stage2.override_gate import OverrideOutcome, apply_override_gate
from episodic_absa.final_tuples import conflicting_aspects, extract_tuples
from episodic_absa.language import nearest_occurrence, norm, occurs, read_polarity
from episodic_absa.schemas.absa import (
    AspectItem,
    AspectReview,
    DebateOutput,
    DebateSummary,
    Proposal,
    SentimentItem,
    SentimentReview,
    Span,
    Stage1Result,
)
from episodic_absa.schemas.patch_log import PatchLogEntry
from episodic_absa.vocabulary import Polarity

_INVERSE: Final[dict[Polarity, Polarity]] = {"positive": "negative", "negative": "positive"}
_ADDED_ASPECT_CONFIDENCE: Final = 0.8
_REVISED_CONFIDENCE: Final = 0.9
_REDUCTION: Final = 0.2
_PLACEHOLDER_CONFIDENCE: Final = 0.5


_Overridden = tuple[str, Polarity]
"""The normalised aspect an override changed, and to what."""


class PatchResult(NamedTuple):
    """The patched result and how it came about."""

    aspects: tuple[AspectItem, ...]
    sentiments: tuple[SentimentItem, ...]
    log: tuple[PatchLogEntry, ...]
    override: OverrideOutcome
    judge_dropped: frozenset[str]
    """Normalised aspects whose sentiments a seconded judge drop removed."""
    debate_acted: bool
    """An override or judge drop was applied, or the judge's polarity equals an applied review."""
    renamed: Mapping[str, str]
    """Normalised Stage1 term -> the term a revised span gave it."""
    unsettled_conflict: bool
    """Before the reduction an aspect had a conflict that Stage1 lacked and nothing in the debate settles."""

    def current_name(self, term: str) -> str:
        """Return the name an aspect has after the patch."""
        return self.renamed.get(norm(term), term)

    @property
    def applied_change_ids(self) -> frozenset[str]:
        """Reviews that took effect."""
        return frozenset(one.change_id for one in self.log if one.applied and one.change_id)

    @property
    def proposal_or_review_applied(self) -> bool:
        """Whether any proposal or non-keep review took effect."""
        return any(one.applied and one.step in ("proposal", "ate_review", "atsa_review") for one in self.log)


@dataclass
class _Draft:
    """The copies being worked on."""

    text: str
    aspects: list[AspectItem]
    sentiments: list[SentimentItem]
    log: list[PatchLogEntry] = field(default_factory=list)
    review_polarities: set[tuple[str, Polarity]] = field(default_factory=set)
    """(aspect, polarity) of reviews that set a polarity."""
    revised: dict[str, Span] = field(default_factory=dict)
    """Spans to be taken over at the end: until then everybody speaks of an aspect by its Stage1 name."""

    def first_sentiment(self, term: str) -> int | None:
        return next((at for at, item in enumerate(self.sentiments) if norm(item.aspect_term) == norm(term)), None)

    def judged_or_filled(self, term: str) -> int | None:
        """Find the first judgement of a term, or its backfill where it has none."""
        found = [at for at, item in enumerate(self.sentiments) if norm(item.aspect_term) == norm(term)]
        return min(found, key=lambda at: (self.sentiments[at].is_backfilled, at), default=None)

    def aspect(self, term: str) -> int | None:
        return next((at for at, item in enumerate(self.aspects) if norm(item.aspect_term) == norm(term)), None)

    def drop_sentiments(self, term: str) -> int:
        before = len(self.sentiments)
        self.sentiments = [item for item in self.sentiments if norm(item.aspect_term) != norm(term)]
        return before - len(self.sentiments)


def apply_patch(
    stage1: Stage1Result,
    ate_reviews: Sequence[AspectReview],
    atsa_reviews: Sequence[SentimentReview],
    debate: DebateOutput | None,
    built: BuiltContext,
    text: str,
    settings: PipelineSettings,
) -> PatchResult:
    """Patch Stage1 with everything Stage2 and the debate ask for, as far as the text allows."""
    if not settings.enable_stage2:
        return _unpatched(stage1)
    draft = _Draft(text, list(stage1.ate.aspects), list(stage1.atsa.sentiments))
    for proposal in stage1.validator.correction_proposals:
        reason = _apply_proposal(draft, proposal)
        draft.log.append(_entry("proposal", proposal.proposal_type, proposal.aspect_term, reason))
    for ate_review in ate_reviews:
        if ate_review.action != "keep":
            reason = _apply_ate_review(draft, ate_review)
            draft.log.append(
                _entry("ate_review", ate_review.action, ate_review.aspect_term, reason, ate_review.change_id)
            )
    for atsa_review in atsa_reviews:
        if atsa_review.action != "keep":
            draft.log.append(_apply_atsa_review(draft, atsa_review))
    summary = debate.summary if debate else DebateSummary()
    override = OverrideOutcome(tuple(draft.sentiments), ())
    if settings.enable_debate_override and debate is not None:
        override = apply_override_gate(
            draft.sentiments,
            built.context,
            summary,
            built.terms,
            text=text,
            aspects=stage1.ate.aspects,
            stage1_risks=stage1.validator.structural_risks,
            thresholds=settings.thresholds,
        )
        draft.sentiments = list(override.sentiments)
    judge_dropped = _judge_drops(draft, debate, built)
    renamed = _take_over_spans(draft)
    _anchor_guard(draft)
    debate_acted = bool(override.applied or judge_dropped or _judge_agrees_with_review(draft, summary, built))
    stage1_conflicts = {_current(aspect, renamed) for aspect in _conflicts(stage1.atsa.sentiments)}
    new_conflicts = _conflicts(draft.sentiments) - stage1_conflicts
    judge_says = {norm(renamed.get(aspect, aspect)): says for aspect, says in _judge_polarities(summary, built).items()}
    applied = override.applied
    overridden = (_current(applied.aspect, renamed), applied.target) if applied is not None else None
    unsettled = any(not _settled(aspect, overridden, judge_says) for aspect in new_conflicts)
    if debate_acted:
        _reduce(draft, overridden, judge_says)
    return PatchResult(
        aspects=tuple(draft.aspects),
        sentiments=tuple(draft.sentiments),
        log=tuple(draft.log),
        override=override,
        judge_dropped=judge_dropped,
        debate_acted=debate_acted,
        renamed=renamed,
        unsettled_conflict=unsettled,
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


def _entry(
    step: Literal["proposal", "ate_review", "atsa_review"],
    what: str,
    term: str,
    reason: str,
    change_id: str | None = None,
) -> PatchLogEntry:
    return PatchLogEntry(step=step, what=what, change_id=change_id, aspect_term=term, applied=not reason, reason=reason)


def _apply_proposal(draft: _Draft, proposal: Proposal) -> str:
    """Apply one proposal; return why not, or ""."""
    term = proposal.aspect_term
    if proposal.proposal_type == "FLIP_POLARITY":
        at = draft.first_sentiment(term)
        if at is None:
            return "no_matching_sentiment"
        flipped = _INVERSE.get(draft.sentiments[at].polarity or "neutral")
        if flipped is None:
            return "neutral_or_missing_polarity"
        draft.sentiments[at] = _with_polarity(draft.sentiments[at], flipped)
        return ""
    if proposal.proposal_type == "DROP_ASPECT":
        return _drop_aspect(draft, term)
    if proposal.proposal_type == "REVISE_SPAN":
        return _revise_span(draft, term, proposal.revised_span)
    return _check_span(draft, term)


def _apply_ate_review(draft: _Draft, review: AspectReview) -> str:
    if review.action == "revise_span":
        return _revise_span(draft, review.aspect_term, review.revised_span)
    if review.action == "drop":
        return _drop_aspect(draft, review.aspect_term)
    place = nearest_occurrence(review.aspect_term, draft.text, review.revised_span.start if review.revised_span else 0)
    if place is None:
        return "term_not_in_text"
    if draft.aspect(review.aspect_term) is not None:
        return "already_there"
    draft.aspects.append(
        AspectItem(
            aspect_term=draft.text[place[0] : place[1]],
            span=Span(start=place[0], end=place[1]),
            confidence=_ADDED_ASPECT_CONFIDENCE,
            rationale=review.reason,
        )
    )
    return ""


def _apply_atsa_review(draft: _Draft, review: SentimentReview) -> PatchLogEntry:
    def entry(reason: str = "", term: str | None = None, polarity: Polarity | None = None) -> PatchLogEntry:
        told = _entry("atsa_review", review.action, review.aspect_term, reason, review.change_id)
        return told.model_copy(
            update={"aspect_term": review.aspect_term if term is None else term, "polarity": polarity}
        )

    if review.action == "add":
        if review.revised_polarity is None:
            return entry("missing_revised_polarity")
        return entry(term=_add_sentiment(draft, review, review.revised_polarity), polarity=review.revised_polarity)
    at = draft.judged_or_filled(review.aspect_term)
    if at is None:
        return entry("no_matching_sentiment")
    item = draft.sentiments[at]
    if review.action == "drop":
        draft.drop_sentiments(review.aspect_term)
        return entry()
    if review.action == "reduce_confidence":
        reduced = round(max(0.0, item.confidence - _REDUCTION), 6)
        draft.sentiments[at] = item.model_copy(update={"confidence": reduced})
        return entry()
    polarity = review.revised_polarity or _INVERSE.get(item.polarity or "neutral")
    if polarity is None:
        return entry("neutral_without_revised_polarity")
    draft.sentiments[at] = _with_polarity(item, polarity)
    draft.review_polarities.add((norm(item.aspect_term), polarity))
    return entry(term=item.aspect_term, polarity=polarity)


def _add_sentiment(draft: _Draft, review: SentimentReview, polarity: Polarity) -> str:
    """Add a judgement and return the term it got."""
    term, span = review.aspect_term, None
    if term:
        aspect = match_aspect(term, draft.aspects, draft.text)
        place = nearest_occurrence(term, draft.text, 0)
        if aspect is not None:
            term, span = aspect.aspect_term, aspect.span
        elif place is not None:
            term, span = draft.text[place[0] : place[1]], Span(start=place[0], end=place[1])
    # What was only a filled gap is now judged.
    draft.sentiments = [
        item for item in draft.sentiments if not (item.is_backfilled and norm(item.aspect_term) == norm(term))
    ]
    draft.sentiments.append(
        SentimentItem(aspect_term=term, span=span, polarity=polarity, confidence=_REVISED_CONFIDENCE)
    )
    draft.review_polarities.add((norm(term), polarity))
    return term


def _with_polarity(item: SentimentItem, polarity: Polarity) -> SentimentItem:
    inverse = _INVERSE.get(polarity)
    return item.model_copy(
        update={
            "polarity": polarity,
            "confidence": max(item.confidence, _REVISED_CONFIDENCE),
            "polarity_distribution": {polarity: 0.9, inverse: 0.1} if inverse else {polarity: 0.9},
            "is_backfilled": False,
            "neutral_reason": None,
        }
    )


def _drop_aspect(draft: _Draft, term: str) -> str:
    kept = [item for item in draft.aspects if norm(item.aspect_term) != norm(term)]
    dropped_n = len(draft.aspects) - len(kept) + draft.drop_sentiments(term)
    draft.aspects = kept
    return "" if dropped_n else "no_matching_aspect"


def _revise_span(draft: _Draft, term: str, span: Span | None) -> str:
    at = draft.aspect(term)
    if at is None:
        return "no_matching_aspect"
    if span is None:
        return "missing_revised_span"
    if not norm(draft.text[span.start : span.end]):
        return "empty_span"
    draft.revised[norm(term)] = span
    return ""


def _take_over_spans(draft: _Draft) -> dict[str, str]:
    """Give aspects and their sentiments the revised spans and the words that stand there."""
    renamed = {old: draft.text[span.start : span.end] for old, span in draft.revised.items()}

    def revised(item: AspectItem | SentimentItem) -> dict[str, Any] | None:
        old = norm(item.aspect_term)
        return {"aspect_term": renamed[old], "span": draft.revised[old]} if old in renamed else None

    draft.aspects = [item.model_copy(update=revised(item)) for item in draft.aspects]
    draft.sentiments = [item.model_copy(update=revised(item)) for item in draft.sentiments]
    return renamed


def _check_span(draft: _Draft, term: str) -> str:
    at = draft.aspect(term)
    if at is None:
        return "no_matching_aspect"
    item = draft.aspects[at]
    place = nearest_occurrence(item.aspect_term, draft.text, item.span.start if item.span else 0)
    if place is None:
        return "term_not_in_text"
    span = Span(start=place[0], end=place[1])
    if span == item.span:
        return "span_already_right"
    draft.aspects[at] = item.model_copy(update={"span": span})
    return ""


def _judge_drops(draft: _Draft, debate: DebateOutput | None, built: BuiltContext) -> frozenset[str]:
    """Remove what the judge drops and at least one speaker wanted dropped too."""
    if debate is None:
        return frozenset()
    seconded = {
        built.terms.of(edit.target) for turn in debate.turns for edit in turn.proposed_edits if edit.op == "drop_tuple"
    } - {None}
    dropped = set()
    for patch in debate.summary.final_patch:
        aspect = built.terms.of(patch.target)
        if patch.op != "drop_tuple" or aspect is None:
            continue
        if aspect not in seconded:
            reason = "not_seconded"
        elif draft.drop_sentiments(aspect):
            reason = ""
            dropped.add(norm(aspect))
        else:
            reason = "no_matching_sentiment"
        draft.log.append(
            PatchLogEntry(step="judge_drop", what="drop_tuple", aspect_term=aspect, applied=not reason, reason=reason)
        )
    return frozenset(dropped)


def _anchor_guard(draft: _Draft) -> None:
    """Tie every sentiment to an aspect or to the text; fill in for a result that lost them all on purpose."""
    kept: list[SentimentItem] = []
    lost = False
    for item in draft.sentiments:
        aspect = _anchor(item, draft)
        if item.is_implicit or (aspect is None and occurs(item.aspect_term, draft.text)):
            kept.append(item)
        elif aspect is not None:
            kept.append(
                item
                if item.aspect_term == aspect.aspect_term
                else item.model_copy(update={"aspect_term": aspect.aspect_term, "span": aspect.span})
            )
        else:
            lost = True
            draft.log.append(
                PatchLogEntry(
                    step="anchor_guard",
                    what="drop",
                    aspect_term=item.aspect_term,
                    applied=True,
                    reason="not_in_text",
                )
            )
    draft.sentiments = kept
    changed = any(one.applied for one in draft.log)
    if changed and not kept and not lost:
        draft.sentiments = [
            SentimentItem(
                aspect_term="",
                polarity="neutral",
                confidence=_PLACEHOLDER_CONFIDENCE,
                is_backfilled=True,
                neutral_reason="stage2_placeholder_no_sentiments",
            )
        ]
        draft.log.append(PatchLogEntry(step="placeholder", what="add", aspect_term="", applied=True))


def _anchor(item: SentimentItem, draft: _Draft) -> AspectItem | None:
    """Find the aspect a sentiment's term equals, contains or is contained in: the longest, then the earliest."""
    term = norm(item.aspect_term)
    if not term:
        return None
    related = [
        (len(key), -at, aspect)
        for at, aspect in enumerate(draft.aspects)
        if (key := norm(aspect.aspect_term)) and (key in term or term in key)
    ]
    exact = [one for one in related if norm(one[2].aspect_term) == term]
    return max(exact or related, key=lambda one: one[:2])[2] if related else None


def _judge_agrees_with_review(draft: _Draft, summary: DebateSummary, built: BuiltContext) -> bool:
    return any(
        patch.op == "set_polarity"
        and (aspect := built.terms.of(patch.target)) is not None
        and (polarity := read_polarity(patch.value).polarity) is not None
        and (norm(aspect), polarity) in draft.review_polarities
        for patch in summary.final_patch
    )


def _judge_polarities(summary: DebateSummary, built: BuiltContext) -> dict[str, set[Polarity]]:
    says: dict[str, set[Polarity]] = {}
    for one in summary.final_tuples:
        aspect = built.terms.find(one.aspect_ref) if one.aspect_ref is not None else None
        if aspect is None:
            aspect = built.terms.find(one.aspect_term)
        if aspect is not None:
            says.setdefault(norm(aspect), set()).add(one.polarity)
    return says


def _conflicts(sentiments: Sequence[SentimentItem]) -> frozenset[str]:
    return conflicting_aspects(extract_tuples(sentiments))


def _current(aspect: str, renamed: Mapping[str, str]) -> str:
    return norm(renamed.get(norm(aspect), aspect))


def _settled(aspect: str, overridden: _Overridden | None, judge_says: Mapping[str, set[Polarity]]) -> bool:
    return (overridden is not None and overridden[0] == aspect) or len(judge_says.get(aspect, ())) == 1


def _reduce(draft: _Draft, overridden: _Overridden | None, judge_says: Mapping[str, set[Polarity]]) -> None:
    """Keep one sentiment per aspect: the override's, else the judge's, else the most confident. Changes none."""
    groups: dict[str, list[SentimentItem]] = {}
    for item in draft.sentiments:
        groups.setdefault(norm(item.aspect_term), []).append(item)
    kept_ids = set()
    for aspect, group in groups.items():
        wanted: list[Polarity] = []
        if overridden is not None and overridden[0] == aspect:
            wanted.append(overridden[1])
        if len(says := judge_says.get(aspect, set())) == 1:
            wanted.extend(says)
        pick = next(
            (item for polarity in wanted for item in group if item.polarity == polarity and not item.is_backfilled),
            None,
        ) or max(group, key=lambda item: (not item.is_backfilled, item.confidence))
        kept_ids.add(id(pick))
        if len(group) > 1:
            draft.log.append(
                PatchLogEntry(step="reduction", what="keep_one", aspect_term=pick.aspect_term, applied=True)
            )
    draft.sentiments = [item for item in draft.sentiments if id(item) in kept_ids]
