"""Steps 4 to 6 of the patch: the judge's drops, the anchors of sentiments, one sentiment per aspect."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from episodic_absa.final_tuples import conflicting_aspects, extract_tuples
from episodic_absa.language import norm, occurs, read_polarity
from episodic_absa.schemas.absa import DebateOutput, DebateSummary, SentimentItem
from episodic_absa.schemas.run_files.adoption import PatchLogEntry
from episodic_absa.seed.answer_processing import match_aspect
from episodic_absa.seed.patch.patch_draft import PatchDraft
from episodic_absa.seed.review_context import TermMap
from episodic_absa.vocabulary import Polarity


def apply_judge_drops(draft: PatchDraft, debate: DebateOutput | None, terms: TermMap) -> bool:
    """Remove the sentiments of each aspect that the judge and a speaker want dropped; return whether any was."""
    if debate is None:
        return False
    seconded = {
        terms.of(edit.target) for turn in debate.turns for edit in turn.proposed_edits if edit.op == "drop_tuple"
    } - {None}
    is_any_dropped = False
    for edit in debate.summary.final_patch:
        aspect = terms.of(edit.target)
        if edit.op != "drop_tuple" or aspect is None:
            continue
        if aspect not in seconded:
            reason = "not_seconded"
        elif draft.drop_sentiments(aspect):
            reason, is_any_dropped = "", True
        else:
            reason = "no_matching_sentiment"
        draft.record("judge_drop", "drop_tuple", aspect, reason)
    return is_any_dropped


def judge_agrees_with_verdict(draft: PatchDraft, summary: DebateSummary, terms: TermMap) -> bool:
    """Return whether the judge sets a polarity that an applied verdict set, too."""
    return any(
        edit.op == "set_polarity"
        and (aspect := terms.of(edit.target)) is not None
        and (polarity := read_polarity(edit.value).polarity) is not None
        and (norm(aspect), polarity) in draft.verdict_polarities
        for edit in summary.final_patch
    )


def judge_polarities(summary: DebateSummary, terms: TermMap) -> dict[str, set[Polarity]]:
    """Return the polarities of the judge's tuples by normalised Stage1 aspect."""
    polarities: dict[str, set[Polarity]] = {}
    for judge_tuple in summary.final_tuples:
        if (aspect := terms.of(judge_tuple)) is not None:
            polarities.setdefault(norm(aspect), set()).add(judge_tuple.polarity)
    return polarities


_PLACEHOLDER_CONFIDENCE: Final = 0.5
_PLACEHOLDER: Final = SentimentItem(
    aspect_term="",
    polarity="neutral",
    confidence=_PLACEHOLDER_CONFIDENCE,
    is_backfilled=True,
    neutral_reason="stage2_placeholder_no_sentiments",
)


def apply_anchor_guard(draft: PatchDraft) -> None:
    """Rename each sentiment to the aspect it means and drop those that name nothing in the text.

    Implicit sentiments stay. If earlier steps removed every sentiment, a neutral placeholder is added; if this guard
    removed the last one, none is.
    """
    kept: list[SentimentItem] = []
    is_any_dropped = False
    for sentiment in draft.sentiments:
        aspect = match_aspect(sentiment.aspect_term, draft.aspects)
        if aspect is not None:
            is_named = sentiment.aspect_term == aspect.aspect_term
            renamed = {"aspect_term": aspect.aspect_term, "span": aspect.span}
            kept.append(sentiment if is_named else sentiment.model_copy(update=renamed))
        elif sentiment.is_implicit or occurs(sentiment.aspect_term, draft.text):
            kept.append(sentiment)
        else:
            is_any_dropped = True
            dropped = sentiment.aspect_term
            draft.log.append(
                PatchLogEntry(step="anchor_guard", what="drop", aspect_term=dropped, applied=True, reason="not_in_text")
            )
    draft.sentiments = kept
    is_changed = any(entry.applied for entry in draft.log)
    if is_changed and not kept and not is_any_dropped:
        draft.sentiments = [_PLACEHOLDER]
        draft.record("placeholder", "add", "")


class DebateRulings(NamedTuple):
    """What the debate decides about aspects, by their normalised names after the patch."""

    overridden: tuple[str, Polarity] | None
    """The aspect that an override changed, and its new polarity."""
    judge_polarities: Mapping[str, set[Polarity]]
    """The polarities of the judge's tuples."""

    def settles(self, aspect: str) -> bool:
        """Return whether an override or a single polarity of the judge decides between an aspect's polarities."""
        return bool(self.preferred(aspect))

    def preferred(self, aspect: str) -> list[Polarity]:
        """Return the polarities to keep for an aspect: the override's, then the judge's if there is just one."""
        preferred: list[Polarity] = []
        if self.overridden is not None and self.overridden[0] == aspect:
            preferred.append(self.overridden[1])
        ruled = self.judge_polarities.get(aspect, set())
        if len(ruled) == 1:
            preferred.extend(ruled)
        return preferred


def conflicts_of(sentiments: Sequence[SentimentItem]) -> frozenset[str]:
    """Return the normalised aspects with two or more polarities."""
    return conflicting_aspects(extract_tuples(sentiments))


def reduce_to_one_per_aspect(draft: PatchDraft, rulings: DebateRulings) -> None:
    """Keep, per aspect, the override's sentiment, else the judge's, else the most confident. No polarity changes."""
    groups: dict[str, list[int]] = {}
    for position, sentiment in enumerate(draft.sentiments):
        groups.setdefault(norm(sentiment.aspect_term), []).append(position)
    kept: set[int] = set()
    for aspect, positions in groups.items():
        position = _position_to_keep(draft.sentiments, positions, rulings.preferred(aspect))
        kept.add(position)
        if len(positions) > 1:
            draft.record("reduction", "keep_one", draft.sentiments[position].aspect_term)
    draft.sentiments = [sentiment for position, sentiment in enumerate(draft.sentiments) if position in kept]


def _position_to_keep(
    sentiments: Sequence[SentimentItem], positions: Sequence[int], preferred: Sequence[Polarity]
) -> int:
    for polarity in preferred:
        for position in positions:
            if sentiments[position].polarity == polarity and not sentiments[position].is_backfilled:
                return position
    return max(
        positions, key=lambda position: (not sentiments[position].is_backfilled, sentiments[position].confidence)
    )
