"""Stage2 ATE: one verdict per Stage1 aspect, and the target across a contrast if advice asks for it."""

from typing import Final

from episodic_absa.backends.embedded.judgement.aspect_judgement import Judgement, quoted_place, value_of
from episodic_absa.backends.embedded.reading import MAX_ITEMS, Reading, Target, polarity_of
from episodic_absa.backends.embedded.roles.risk_checks import trimmed_place, unnamed_targets
from episodic_absa.backends.embedded.roles.second_looks import SecondLooks, second_looks
from episodic_absa.backends.embedded.roles.tan import names_something
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.language import norm
from episodic_absa.schemas.absa import AspectHint, AspectItem
from episodic_absa.schemas.role_inputs import ReviewInputs
from episodic_absa.schemas.seed_answers import AnsweredAspectReview, AnsweredSpan, AteReviewAnswer

PROVENANCE: Final = "embedded:rules-1"
_ADDED: Final = 0.7
_DROP_WEIGHT: Final = -1.0
"""From here on the debate speaks for dropping."""


def answer_stage2_ate(reading: WeighedReading, inputs: ReviewInputs) -> AteReviewAnswer:
    """Return a verdict on every aspect."""
    looks = second_looks(inputs.memory)
    reviews = [_review(reading, aspect, inputs, looks) for aspect in inputs.stage1.ate.aspects]
    for target, _ in added_targets(reading, inputs, looks):
        reviews.append(
            AnsweredAspectReview(
                aspect_term=target.term,
                action="add",
                revised_span=AnsweredSpan(start=target.start, end=target.end),
                reason=f"'{_short(target.term)}' is judged in a clause of its own across the contrast marker",
                provenance=f"{PROVENANCE}:second_aspect",
            )
        )
    return AteReviewAnswer(reviews=tuple(reviews[:MAX_ITEMS]))


def added_targets(reading: Reading, inputs: ReviewInputs, looks: SecondLooks) -> list[tuple[Target, Judgement]]:
    """Return further targets with opinions of their own; only where advice asks to look across a contrast."""
    if not looks.has("second_aspect") or not reading.contrasts:
        return []
    known = {norm(aspect.aspect_term) for aspect in inputs.stage1.ate.aspects}
    known |= {norm(sentiment.aspect_term) for sentiment in inputs.stage1.atsa.sentiments}
    found: list[tuple[Target, Judgement]] = []
    for target, opinion in unnamed_targets(reading, known):
        value = value_of(reading, opinion, looks)
        if polarity_of(value) != "neutral" and abs(value) >= looks.strength:
            start, end = quoted_place(reading, opinion, looks)
            judgement = Judgement(polarity_of(value), _ADDED, value, start, end, has_own_words=True, why="its clause")
            found.append((target, judgement))
    return found


def hint_total(hints: tuple[AspectHint, ...]) -> float:
    """Return how much the debate speaks for a target (above 0) or against it."""
    return sum(hint.weight for hint in hints)


def _review(
    reading: WeighedReading, aspect: AspectItem, inputs: ReviewInputs, looks: SecondLooks
) -> AnsweredAspectReview:
    term = aspect.aspect_term
    hints = inputs.hints(term)
    is_named = names_something(reading, term)
    if not is_named and (hint_total(hints) <= _DROP_WEIGHT or aspect.origin == "second_aspect_guess"):
        return _verdict(aspect, "drop", f"'{_short(term)}' names no target in this text")
    trimmed = trimmed_place(reading, aspect)
    given = (aspect.span.start, aspect.span.end) if aspect.span else None
    is_asked = looks.has("span") or _is_proposed(inputs, term)
    if trimmed is not None and trimmed != given and is_asked:
        return AnsweredAspectReview(
            aspect_term=term,
            action="revise_span",
            revised_span=AnsweredSpan(start=trimmed[0], end=trimmed[1]),
            reason=f"the bare target is '{_short(reading.quote(*trimmed))}'",
            provenance=f"{PROVENANCE}:span",
        )
    reason = "a noun phrase of the text" if is_named else "not clearly a target, but nothing speaks for dropping it"
    return _verdict(aspect, "keep", reason)


def _verdict(aspect: AspectItem, action: str, reason: str) -> AnsweredAspectReview:
    return AnsweredAspectReview(
        aspect_term=aspect.aspect_term,
        action="drop" if action == "drop" else "keep",
        reason=reason,
        provenance=f"{PROVENANCE}:target",
    )


def _is_proposed(inputs: ReviewInputs, term: str) -> bool:
    return any(
        proposal.proposal_type == "REVISE_SPAN" and proposal.aspect_term == term
        for proposal in inputs.stage1.validator.correction_proposals
    )


def _short(term: str) -> str:
    return shortened(term, 100)


def shortened(text: str, chars: int) -> str:
    """Return a text for a reason, cut to a number of characters."""
    return text if len(text) <= chars else f"{text[: chars - 3]}..."
