"""Stage2: verdicts on Stage1, the risks of the patched result, and which verdicts stand in the final result."""

import asyncio
from itertools import count
from typing import Final, NamedTuple

from episodic_absa.errors import BackendError
from episodic_absa.final_tuples import extract_tuples, pairs, predicted
from episodic_absa.language import PolarityCounts, norm, read_polarity
from episodic_absa.schemas.absa import (
    AspectVerdict,
    Change,
    ReviewContext,
    SentimentVerdict,
    Stage1Result,
    Stage2Result,
    Validator2Output,
)
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import MemorySlot, ReviewInputs, Validator2Inputs
from episodic_absa.schemas.run_files.adoption import Adoption, PatchLogEntry
from episodic_absa.schemas.seed_answers import AteReviewAnswer, AtsaReviewAnswer, Validator2Answer
from episodic_absa.seed.answer_processing import valid_span
from episodic_absa.seed.patch.patch import PatchResult
from episodic_absa.seed.shown_values import (
    Asks,
    review_context,
    shown_sentiments,
    shown_terms,
    shown_verdicts,
)
from episodic_absa.seed.validator_processing import process_validator2
from episodic_absa.vocabulary import Language


class Verdicts(NamedTuple):
    """The verdicts on aspects and on sentiments, numbered by change ids."""

    ate: tuple[AspectVerdict, ...] = ()
    atsa: tuple[SentimentVerdict, ...] = ()
    polarity_counts: PolarityCounts = PolarityCounts()
    """How the polarity words of the ATSA verdicts were read."""


class Stage2:
    """Runs the three Stage2 agents."""

    def __init__(self, settings: PipelineSettings, slot_name: str) -> None:
        self._is_enabled = settings.enable_stage2
        self._validates = settings.enable_stage2 and settings.enable_validator
        self._slot_name = slot_name

    async def give_verdicts(
        self,
        text: str,
        language: Language,
        stage1: Stage1Result,
        context: ReviewContext,
        slot: MemorySlot | None,
        asking: Asks,
    ) -> Verdicts:
        """Return the verdicts on aspects and sentiments; neither agent sees the other's answer.

        `slot` is the memory to show, or None. With Stage2 disabled there are no verdicts and no calls.

        Raises:
            BackendError: an agent gave no valid answer. Both calls end first, so that the recorded cost is the same.
        """
        if not self._is_enabled:
            return Verdicts()
        inputs = ReviewInputs(text=text, language=language, stage1=stage1, review_context=context, memory=slot)
        shown = review_context(text, stage1, context, [], slot, self._slot_name)
        # Both calls end even if one fails: the cost of a failed sample must not depend on timing.
        ate, atsa = await asyncio.gather(
            asking.ask("stage2_ate", inputs, shown, AteReviewAnswer),
            asking.ask("stage2_atsa", inputs, shown, AtsaReviewAnswer),
            return_exceptions=True,
        )
        if isinstance(ate, BaseException) or isinstance(atsa, BaseException):
            raise _first_error(ate, atsa)
        return numbered_verdicts(ate, atsa, text)

    async def validate(
        self,
        text: str,
        language: Language,
        stage1: Stage1Result,
        context: ReviewContext,
        verdicts: Verdicts,
        patched: PatchResult,
        slot: MemorySlot | None,
        asking: Asks,
    ) -> Validator2Output:
        """Return the risks of the patched result, the one that adoption makes final."""
        if not self._validates:
            return Validator2Output()
        inputs = Validator2Inputs(
            text=text,
            language=language,
            stage1=stage1,
            review_context=context,
            memory=slot,
            ate_reviews=verdicts.ate,
            atsa_reviews=verdicts.atsa,
            patched_aspects=patched.aspects,
            patched_sentiments=patched.sentiments,
        )
        more = [
            ("ate_reviews", shown_verdicts(verdicts.ate)),
            ("atsa_reviews", shown_verdicts(verdicts.atsa)),
            ("patched_aspects", shown_terms(patched.aspects)),
            ("patched_sentiments", shown_sentiments(patched.sentiments)),
        ]
        shown = review_context(text, stage1, context, more, slot, self._slot_name)
        answer = await asking.ask("stage2_validator", inputs, shown, Validator2Answer)
        return process_validator2(
            answer,
            text,
            language,
            stage1_risks=stage1.validator.structural_risks,
            patched_aspect_n=len(patched.aspects),
        )


def numbered_verdicts(ate: AteReviewAnswer, atsa: AtsaReviewAnswer, text: str) -> Verdicts:
    """Return the answers as verdicts with change ids: aspects first, then sentiments."""
    change_ids = (f"chg_{number:03d}" for number in count(1))
    aspect_verdicts = tuple(
        AspectVerdict(
            **answered.model_dump(exclude={"revised_span"}),
            change_id=next(change_ids),
            revised_span=valid_span(answered.revised_span, text),
        )
        for answered in ate.reviews
    )
    sentiment_verdicts: list[SentimentVerdict] = []
    counts = PolarityCounts()
    for review in atsa.reviews:
        polarity = None
        if review.revised_polarity is not None:
            reading = read_polarity(review.revised_polarity)
            polarity, counts = reading.polarity, counts.after(reading)
        fields = review.model_dump(exclude={"revised_polarity"})
        sentiment_verdicts.append(SentimentVerdict(**fields, change_id=next(change_ids), revised_polarity=polarity))
    return Verdicts(aspect_verdicts, tuple(sentiment_verdicts), counts)


def _first_error(*outcomes: object) -> BaseException:
    """Return the error to raise: one that concerns the run before a BackendError, which fails this sample only."""
    errors = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    return min(errors, key=lambda error: isinstance(error, BackendError))


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
