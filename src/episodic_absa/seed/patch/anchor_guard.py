"""Step 5 of the patch: every sentiment names an aspect or words of the text."""

from collections.abc import Sequence
from typing import Final

from episodic_absa.language import norm, occurs
from episodic_absa.schemas.absa import AspectItem, SentimentItem
from episodic_absa.schemas.run_files.patch_log import PatchLogEntry
from episodic_absa.seed.patch.patch_draft import PatchDraft

_PLACEHOLDER_CONFIDENCE: Final = 0.5


def apply_anchor_guard(draft: PatchDraft) -> None:
    """Rename each sentiment to the aspect it means and drop those that name nothing in the text.

    Implicit sentiments stay. If earlier steps removed every sentiment, a neutral placeholder is added; if this guard
    removed the last one, none is.
    """
    kept: list[SentimentItem] = []
    is_any_dropped = False
    for sentiment in draft.sentiments:
        aspect = _anchor(sentiment.aspect_term, draft.aspects)
        if aspect is not None:
            kept.append(_renamed(sentiment, aspect))
        elif sentiment.is_implicit or occurs(sentiment.aspect_term, draft.text):
            kept.append(sentiment)
        else:
            is_any_dropped = True
            draft.log.append(_dropped(sentiment.aspect_term))
    draft.sentiments = kept
    is_changed = any(entry.applied for entry in draft.log)
    if is_changed and not kept and not is_any_dropped:
        draft.sentiments = [_placeholder()]
        draft.record("placeholder", "add", "")


def _anchor(term: str, aspects: Sequence[AspectItem]) -> AspectItem | None:
    """Return the aspect that a term equals, else the longest, then earliest, that contains it or is part of it."""
    wanted = norm(term)
    if not wanted:
        return None
    named = [(norm(aspect.aspect_term), aspect) for aspect in aspects]
    exact = [aspect for name, aspect in named if name == wanted]
    if exact:
        return exact[0]
    related = [(name, aspect) for name, aspect in named if name and (name in wanted or wanted in name)]
    return max(related, key=lambda pair: len(pair[0]))[1] if related else None


def _renamed(sentiment: SentimentItem, aspect: AspectItem) -> SentimentItem:
    if sentiment.aspect_term == aspect.aspect_term:
        return sentiment
    return sentiment.model_copy(update={"aspect_term": aspect.aspect_term, "span": aspect.span})


def _dropped(term: str) -> PatchLogEntry:
    """Return the log line of a drop: applied, with the reason for it."""
    return PatchLogEntry(step="anchor_guard", what="drop", aspect_term=term, applied=True, reason="not_in_text")


def _placeholder() -> SentimentItem:
    return SentimentItem(
        aspect_term="",
        polarity="neutral",
        confidence=_PLACEHOLDER_CONFIDENCE,
        is_backfilled=True,
        neutral_reason="stage2_placeholder_no_sentiments",
    )
