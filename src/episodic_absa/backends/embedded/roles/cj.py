"""CJ: checks whether the tuples agree with each other and with the text: conflict, contrast, irony, conclusion."""

from typing import Final

from episodic_absa.backends.embedded.judgement.aspect_judgement import Judgement, is_ironic, judge_term, opinions_about
from episodic_absa.backends.embedded.reading import MAX_ITEMS, Reading
from episodic_absa.backends.embedded.roles.risk_checks import evidence_place, opinions_within
from episodic_absa.backends.embedded.roles.second_looks import Look, SecondLooks, second_looks
from episodic_absa.backends.embedded.roles.tuple_review import (
    conflicting,
    edit,
    judged_sentiments,
    narrowed,
    proposed_change,
    set_polarity,
)
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.language import norm
from episodic_absa.schemas.absa import ProposedEdit, SentimentItem
from episodic_absa.schemas.role_inputs import SpeakerInputs
from episodic_absa.schemas.seed_answers import TurnAnswer

_LOOKS: Final[tuple[Look, ...]] = ("negation", "contrast", "irony", "conflict", "implicit")
_CLEAR_MARGIN: Final = 0.1


def answer_cj(reading: WeighedReading, inputs: SpeakerInputs) -> TurnAnswer:
    """Check every tuple against the others and the whole sentence."""
    looks = narrowed(second_looks(inputs.memory), _LOOKS)
    sentiments = judged_sentiments(inputs.stage1)
    conflicts = conflicting(sentiments)
    edits: list[ProposedEdit] = []
    for sentiment in sentiments:
        if norm(sentiment.aspect_term) in conflicts and not sentiment.is_backfilled:
            settled = settle_conflict(reading, conflicts[norm(sentiment.aspect_term)], looks)
            if settled is not None and settled.polarity != sentiment.polarity:
                edits.append(set_polarity(reading, sentiment, settled))
            elif settled is not None:
                edits.append(
                    edit("confirm_tuple", sentiment, evidence=sentiment.evidence, confidence=sentiment.confidence)
                )
            continue
        change = ironic_change(reading, sentiment, looks) or proposed_change(reading, sentiment, looks)
        if change is not None:
            edits.append(set_polarity(reading, sentiment, change))
        elif not sentiment.is_backfilled:
            edits.append(edit("confirm_tuple", sentiment, evidence=sentiment.evidence, confidence=sentiment.confidence))
    return TurnAnswer(proposed_edits=tuple(edits[:MAX_ITEMS]))


def settle_conflict(reading: Reading, sides: list[SentimentItem], looks: SecondLooks) -> Judgement | None:
    """Choose between two polarities: by a second look if it settles them, else by clearly stronger words."""
    found = judge_term(reading, sides[0].aspect_term, looks)
    if len(found) == 1 and found[0].has_own_words:
        return found[0]
    ranked = sorted(sides, key=lambda sentiment: -sentiment.confidence)
    if ranked[0].confidence - ranked[1].confidence < _CLEAR_MARGIN + 0.1 * looks.caution:
        return None
    best = ranked[0]
    return next((judgement for judgement in found if judgement.polarity == best.polarity), None)


def ironic_change(reading: Reading, sentiment: SentimentItem, looks: SecondLooks) -> Judgement | None:
    """Turn praise round if a blamed event stands beside the cue; on the cue alone if advice is about irony."""
    if not reading.ironies or sentiment.polarity != "positive":
        return None
    place = evidence_place(reading, sentiment)
    praise = (
        opinions_about(reading, sentiment.aspect_term)
        if sentiment.aspect_term
        else opinions_within(reading, *(place or (0, 0)))
    )
    ironic = [opinion for opinion in praise if is_ironic(reading, opinion)]
    if not ironic:
        return None
    event = next((opinion for opinion in reading.opinions if opinion.first < 0 and is_ironic(reading, opinion)), None)
    if event is None and (not looks.has("irony") or looks.caution):
        return None
    words = event or ironic[0]
    return Judgement(
        "negative",
        0.8 if event else 0.7,
        -abs(words.base),
        words.start,
        words.end,
        has_own_words=True,
        why="a cue of irony",
    )
