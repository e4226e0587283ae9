"""Puts Stage2 together: which changes stand in the final result, and why the others do not."""

from collections.abc import Sequence
from typing import Final

from episodic_absa.agents.stage2.patch import PatchResult
from episodic_absa.agents.stage2.stage2 import Reviews
from episodic_absa.final_tuples import extract_tuples, pairs, predicted
from episodic_absa.language import norm
from episodic_absa.memory import Injection
from episodic_absa.schemas.absa import AspectReview, Change, SentimentReview, Stage2Result, Validator2Output
from episodic_absa.schemas.adoption import Adoption
from episodic_absa.schemas.patch_log import PatchLogEntry

_LONGEST_REASON: Final = 400


def build_stage2_result(
    reviews: Reviews,
    validator2: Validator2Output,
    patched: PatchResult,
    adoption: Adoption,
    injections: Sequence[Injection],
) -> Stage2Result:
    """Accept what stands in the final result; reject the rest with its reason."""
    accepted: list[Change] = []
    rejected: list[Change] = []
    both: list[AspectReview | SentimentReview] = [*reviews.ate, *reviews.atsa]
    for review in both:
        if review.action == "keep":
            continue
        code = _not_applied(review, patched, adoption)
        if code is None:
            accepted.append(Change(change_id=review.change_id, reasoning=review.reason))
        else:
            suffix = f" | not applied: {code}"
            reasoning = review.reason[: _LONGEST_REASON - len(suffix)] + suffix
            rejected.append(Change(change_id=review.change_id, reasoning=reasoning))
    shown = next((injection.slot for injection in injections if injection.slot is not None), None)
    return Stage2Result(
        ate_reviews=reviews.ate,
        atsa_reviews=reviews.atsa,
        validator=validator2,
        accepted_changes=tuple(accepted),
        rejected_changes=tuple(rejected),
        advisories_present=bool(shown and shown["retrieved"]),
        advisories_ids=tuple(one["advisory_id"] for one in shown["retrieved"]) if shown else (),
    )


def _not_applied(review: AspectReview | SentimentReview, patched: PatchResult, adoption: Adoption) -> str | None:
    """Say why a review is not in the final result, or None if it is."""
    entry = next(one for one in patched.log if one.change_id == review.change_id)
    if not entry.applied:
        return entry.reason
    if not adoption.adopt:
        return adoption.reason
    return None if _stands(entry, review, patched) else "overruled"


def _stands(entry: PatchLogEntry, review: AspectReview | SentimentReview, patched: PatchResult) -> bool:
    """Whether what a review did is still there after the steps behind it."""
    tuples = predicted(extract_tuples(patched.sentiments))
    term = norm(patched.current_name(entry.aspect_term))
    is_judged = any(norm(one.aspect_term) == term for one in tuples)
    has_aspect = any(norm(item.aspect_term) == term for item in patched.aspects)
    if isinstance(review, SentimentReview):
        if entry.polarity is not None:
            return (term, entry.polarity) in pairs(tuples)
        return not is_judged if review.action == "drop" else is_judged
    if review.action == "drop":
        return not has_aspect and not is_judged
    if review.action == "add":
        return has_aspect
    return any(item.span == review.revised_span for item in patched.aspects)
