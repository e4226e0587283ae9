"""Builds the Stage2 result: which verdicts stand in the final result, and why the others do not."""

from typing import Final

from episodic_absa.final_tuples import extract_tuples, pairs, predicted
from episodic_absa.language import norm
from episodic_absa.schemas.absa import AspectVerdict, Change, SentimentVerdict, Stage2Result, Validator2Output
from episodic_absa.schemas.run_files.adoption import Adoption
from episodic_absa.schemas.run_files.patch_log import PatchLogEntry
from episodic_absa.seed.patch.patch import PatchResult
from episodic_absa.seed.stage2 import Verdicts

_LONGEST_REASON: Final = 400


def build_stage2_result(
    verdicts: Verdicts,
    validator2: Validator2Output,
    patched: PatchResult,
    adoption: Adoption,
) -> Stage2Result:
    """Return Stage2 with each non-keep verdict accepted, or rejected with the reason why it does not stand."""
    accepted: list[Change] = []
    rejected: list[Change] = []
    both: list[AspectVerdict | SentimentVerdict] = [*verdicts.ate, *verdicts.atsa]
    for verdict in both:
        if verdict.action == "keep":
            continue
        code = _not_applied(verdict, patched, adoption)
        if code is None:
            accepted.append(Change(change_id=verdict.change_id, reasoning=verdict.reason))
        else:
            suffix = f" | not applied: {code}"
            reasoning = verdict.reason[: _LONGEST_REASON - len(suffix)] + suffix
            rejected.append(Change(change_id=verdict.change_id, reasoning=reasoning))
    return Stage2Result(
        ate_reviews=verdicts.ate,
        atsa_reviews=verdicts.atsa,
        validator=validator2,
        accepted_changes=tuple(accepted),
        rejected_changes=tuple(rejected),
    )


def _not_applied(verdict: AspectVerdict | SentimentVerdict, patched: PatchResult, adoption: Adoption) -> str | None:
    """Return why a verdict does not stand in the final result, or None if it does."""
    entry = next(entry for entry in patched.log if entry.change_id == verdict.change_id)
    if not entry.applied:
        return entry.reason
    if not adoption.adopt:
        return adoption.reason
    return None if _stands(entry, verdict, patched) else "overruled"


def _stands(entry: PatchLogEntry, verdict: AspectVerdict | SentimentVerdict, patched: PatchResult) -> bool:
    """Return whether the effect of an applied verdict is still there after the later steps of the patch."""
    tuples = predicted(extract_tuples(patched.sentiments))
    term = norm(patched.current_name(entry.aspect_term))
    is_judged = any(norm(final_tuple.aspect_term) == term for final_tuple in tuples)
    has_aspect = any(norm(item.aspect_term) == term for item in patched.aspects)
    if isinstance(verdict, SentimentVerdict):
        if entry.polarity is not None:
            return (term, entry.polarity) in pairs(tuples)
        return not is_judged if verdict.action == "drop" else is_judged
    if verdict.action == "drop":
        return not has_aspect and not is_judged
    if verdict.action == "add":
        return has_aspect
    return any(item.span == verdict.revised_span for item in patched.aspects)
