"""Stage2 ATSA: one verdict per Stage1 sentiment, by debate hints, validator proposals and its own second reading."""

from typing import Final

from episodic_absa.backends.embedded.judgement.aspect_judgement import Judgement
from episodic_absa.backends.embedded.judgement.first_judgement import judge_unnamed
from episodic_absa.backends.embedded.judgement.two_readers import is_doubtful, weights_back
from episodic_absa.backends.embedded.reading import MAX_ITEMS, Opinion, Reading
from episodic_absa.backends.embedded.roles.cj import ironic_change, settle_conflict
from episodic_absa.backends.embedded.roles.second_looks import SecondLooks, second_looks
from episodic_absa.backends.embedded.roles.stage2_ate import PROVENANCE, added_targets, shortened
from episodic_absa.backends.embedded.roles.tuple_review import conflicting, has_quotation, proposed_change, reread
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.language import norm
from episodic_absa.schemas.absa import AspectHint, SentimentItem
from episodic_absa.schemas.role_inputs import ReviewInputs
from episodic_absa.schemas.seed_answers import AnsweredSentimentReview, AtsaReviewAnswer
from episodic_absa.vocabulary import AtsaAction, Polarity

_HINT_MARGIN: Final = 0.6
"""How much more the debate must speak for the other polarity than for the present one."""
_DROP_WEIGHT: Final = -1.0
_QUOTED: Final = "; quoted: '"
_CUT: Final = "..."


def answer_stage2_atsa(reading: WeighedReading, inputs: ReviewInputs) -> AtsaReviewAnswer:
    """Return a verdict on every sentiment."""
    looks = second_looks(inputs.memory)
    conflicts = conflicting(inputs.stage1.atsa.sentiments)
    reviews = [_review(reading, sentiment, inputs, looks, conflicts) for sentiment in inputs.stage1.atsa.sentiments]
    reviews.extend(
        AnsweredSentimentReview(
            aspect_term=target.term,
            action="add",
            revised_polarity=judgement.polarity,
            reason=f"judged by its own words: '{_quoted(reading, judgement)}'",
            provenance=f"{PROVENANCE}:second_aspect",
        )
        for target, judgement in added_targets(reading, inputs, looks)
    )
    unnamed = _opinion_that_remains(reading, inputs, looks)
    return AtsaReviewAnswer(reviews=(*reviews[: MAX_ITEMS - len(unnamed)], *unnamed))


def words_quoted_in(reason: str) -> str:
    """Return the words that the reason of a flip quotes; none if it rests on the debate alone."""
    _, _, quoted = reason.partition(_QUOTED)
    return quoted.removesuffix("'").removesuffix(_CUT)


def _opinion_that_remains(
    reading: WeighedReading, inputs: ReviewInputs, looks: SecondLooks
) -> tuple[AnsweredSentimentReview, ...]:
    """Return the opinion without a target that remains where the debate drops every named one."""
    judged = [sentiment for sentiment in inputs.stage1.atsa.sentiments if not sentiment.is_backfilled]
    if (
        looks.caution
        or not judged
        or not all(sentiment.aspect_term and is_doubtful(reading, sentiment) for sentiment in judged)
    ):
        return ()
    opinion = judge_unnamed(reading, names_targets=False)
    if opinion is None:
        return ()
    quoted = _quoted(reading, opinion)
    return (
        AnsweredSentimentReview(
            aspect_term="",
            action="add",
            revised_polarity=opinion.polarity,
            reason=f"no target is named clearly enough, but the text judges: '{quoted}'",
            provenance=f"{PROVENANCE}:implicit",
        ),
    )


def _review(
    reading: WeighedReading,
    sentiment: SentimentItem,
    inputs: ReviewInputs,
    looks: SecondLooks,
    conflicts: dict[str, list[SentimentItem]],
) -> AnsweredSentimentReview:
    hints = inputs.hints(sentiment.aspect_term)
    if sentiment.polarity is None:
        return _verdict(sentiment, "keep", "no judgement to review")
    clash = conflicts.get(norm(sentiment.aspect_term))
    if _is_flip_proposed(inputs, sentiment):
        return _on_proposal(reading, sentiment, is_one_of_two=clash is not None)
    if clash and not sentiment.is_backfilled:
        settled = settle_conflict(reading, clash, looks)
        if settled is not None and settled.polarity != sentiment.polarity:
            return _flip(reading, sentiment, settled, "one target with two judgements", "conflict")
        return _verdict(sentiment, "keep", "one of two judgements; the text does not settle which is the conclusion")
    change = ironic_change(reading, sentiment, looks) or proposed_change(reading, sentiment, looks)
    if change is not None:
        return _flip(reading, sentiment, change, change.why, "second_look" if looks.looks else "reading")
    urged = _urged(hints, sentiment.polarity)
    if urged is not None and not _stands_firm(reading, sentiment, looks):
        return _verdict(
            sentiment, "flip_polarity", "the debate quotes words for it and nothing in the text opposes it", urged
        )
    return _unquoted(reading, sentiment, looks, hints) or _verdict(sentiment, "keep", "the quoted words support it")


def _unquoted(
    reading: WeighedReading, sentiment: SentimentItem, looks: SecondLooks, hints: tuple[AspectHint, ...]
) -> AnsweredSentimentReview | None:
    if (
        not looks.has("evidence")
        or sentiment.polarity == "neutral"
        or sentiment.is_backfilled
        or has_quotation(reading, sentiment)
    ):
        return None
    if weights_back(reading, sentiment):
        return None
    against = sum(hint.weight for hint in hints if hint.polarity == sentiment.polarity and hint.weight < 0)
    if against <= _DROP_WEIGHT and not looks.caution:
        return _verdict(sentiment, "drop", "no words of the text are said of it, and the debate asks to drop it")
    return _verdict(sentiment, "reduce_confidence", "no words of the text are said of it")


def _urged(hints: tuple[AspectHint, ...], current: Polarity) -> Polarity | None:
    """Return the polarity the debate asks for, if it asks clearly."""
    weights: dict[Polarity, float] = {}
    for hint in hints:
        weights[hint.polarity] = weights.get(hint.polarity, 0.0) + hint.weight
    others = {polarity: weight for polarity, weight in weights.items() if polarity != current and polarity != "neutral"}
    if not others:
        return None
    best = max(sorted(others), key=lambda polarity: others[polarity])
    return best if others[best] - max(0.0, weights.get(current, 0.0)) >= _HINT_MARGIN else None


def _stands_firm(reading: WeighedReading, sentiment: SentimentItem, looks: SecondLooks) -> bool:
    again = reread(reading, sentiment, looks)
    if again is not None and again.has_own_words and again.polarity == sentiment.polarity:
        return True
    return weights_back(reading, sentiment)


def _is_flip_proposed(inputs: ReviewInputs, sentiment: SentimentItem) -> bool:
    return sentiment.polarity in ("positive", "negative") and any(
        proposal.proposal_type == "FLIP_POLARITY" and norm(proposal.aspect_term) == norm(sentiment.aspect_term)
        for proposal in inputs.stage1.validator.correction_proposals
    )


def _on_proposal(reading: Reading, sentiment: SentimentItem, *, is_one_of_two: bool) -> AnsweredSentimentReview:
    """Accept a proposed flip if the whole scope of the negation, or the quoted words, bear it out."""
    full = reread(reading, sentiment, SecondLooks(frozenset({"negation"})))
    if full is not None and full.polarity != sentiment.polarity:
        return _flip(reading, sentiment, full, "the validator's proposal is accepted", "proposal")
    if is_one_of_two:
        return _verdict(sentiment, "keep", "the proposal means the other judgement of this target")
    # The patch applies every proposal; only naming the first polarity again undoes one.
    reason = "the validator's proposal is rejected: the words said of the target support the first reading"
    return _verdict(sentiment, "flip_polarity", reason, sentiment.polarity, "proposal")


def _quoted(reading: Reading, words: Judgement | Opinion) -> str:
    return shortened(reading.quote(words.start, words.end), 120)


def _flip(
    reading: Reading, sentiment: SentimentItem, change: Judgement, why: str, source: str
) -> AnsweredSentimentReview:
    quoted = _quoted(reading, change)
    return _verdict(sentiment, "flip_polarity", f"{why}{_QUOTED}{quoted}'", change.polarity, source)


def _verdict(
    sentiment: SentimentItem,
    action: AtsaAction,
    reason: str,
    polarity: Polarity | None = None,
    source: str = "evidence",
) -> AnsweredSentimentReview:
    return AnsweredSentimentReview(
        aspect_term=sentiment.aspect_term,
        action=action,
        revised_polarity=polarity,
        reason=reason[:400],
        provenance=f"{PROVENANCE}:{source}",
    )
