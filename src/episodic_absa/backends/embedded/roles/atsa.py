"""ATSA: a first look. The polarity of each target by weights and rules, and of what is said without a target."""

from collections.abc import Iterable, Mapping

from episodic_absa.backends.embedded.judgement.aspect_judgement import Judgement, distribution, find_term
from episodic_absa.backends.embedded.judgement.first_judgement import judge_first, judge_unnamed
from episodic_absa.backends.embedded.judgement.judged_targets import judged_at
from episodic_absa.backends.embedded.judgement.target_union import NAMED, support
from episodic_absa.backends.embedded.model.weighing import weigh
from episodic_absa.backends.embedded.reading import MAX_ITEMS, Reading
from episodic_absa.backends.embedded.roles.ate import extracted_targets
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.schemas.absa import AspectItem
from episodic_absa.schemas.role_inputs import AtsaInputs
from episodic_absa.schemas.seed_answers import AnsweredSentiment, AtsaAnswer


def answer_atsa(reading: WeighedReading, inputs: AtsaInputs) -> AtsaAnswer:
    """Judge every given aspect, or those found here if none are given, and what is said without a target."""
    if inputs.aspects is None:
        return AtsaAnswer(sentiments=reading.once(_first_look))
    named = _named_places(reading)
    terms = list(dict.fromkeys(aspect.aspect_term for aspect in inputs.aspects if _is_judged(reading, aspect)))
    terms += _too_short_for_the_filter(named, terms)
    return AtsaAnswer(sentiments=_judged(reading, terms, named))


def _first_look(reading: WeighedReading) -> tuple[AnsweredSentiment, ...]:
    named = _named_places(reading)
    return _judged(reading, named, named)


def _named_places(reading: WeighedReading) -> dict[str, tuple[int, int]]:
    return {target.term: (target.start, target.end) for target in extracted_targets(reading)}


def _judged(
    reading: WeighedReading, terms: Iterable[str], named: Mapping[str, tuple[int, int]]
) -> tuple[AnsweredSentiment, ...]:
    found = [
        _sentiment(reading, term, judgement)
        for term in terms
        for judgement in judge_first(reading, term, named.get(term))
    ]
    implicit = judge_unnamed(reading, names_targets=bool(found))
    # A verdict that says of the whole what is said of its parts adds nothing. A given aspect may be the opinion word
    # itself; saying it twice would count it twice.
    if implicit is not None and not any(
        sentiment.polarity == implicit.polarity or sentiment.evidence == reading.quote(implicit.start, implicit.end)
        for sentiment in found
    ):
        found.append(_sentiment(reading, "", implicit))
    return tuple(found[:MAX_ITEMS])


def _is_judged(reading: WeighedReading, aspect: AspectItem) -> bool:
    """Whether to judge an aspect: a guess of the framework's only if an opinion is said of it, or it likely is one."""
    if not aspect.aspect_term or aspect.origin != "second_aspect_guess" or reading.language == "other":
        return bool(aspect.aspect_term)
    place = find_term(reading, aspect.aspect_term)
    if place is None:
        return False
    return judged_at(reading, *place) is not None or support(reading, weigh(reading), *place) >= NAMED


def _too_short_for_the_filter(named: Iterable[str], given: list[str]) -> list[str]:
    """Return targets of one syllable (방, 밥, 물) that the term filter drops though the text judges them."""
    # Inside a given term such a syllable would be taken for that term.
    return [term for term in named if len(term) == 1 and not any(term in other for other in given)]


def _sentiment(reading: Reading, term: str, judgement: Judgement) -> AnsweredSentiment:
    return AnsweredSentiment(
        aspect_term=term,
        polarity=judgement.polarity,
        evidence=reading.quote(judgement.start, judgement.end),
        confidence=judgement.confidence,
        polarity_distribution=distribution(judgement.polarity, judgement.confidence),
    )
