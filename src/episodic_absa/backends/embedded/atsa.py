"""ATSA: a first look. The opinion words of each target's clause with the negation beside them; no second look."""

from episodic_absa.backends.embedded.aspect_judgement import Judgement, distribution, judge_implicit, judge_term
from episodic_absa.backends.embedded.ate import extracted_targets
from episodic_absa.backends.embedded.reading import MAX_ITEMS, Reading
from episodic_absa.backends.embedded.text_reading import read_text
from episodic_absa.schemas.answers import AnsweredSentiment, AtsaAnswer
from episodic_absa.schemas.role_inputs import AtsaInputs


def answer_atsa(inputs: AtsaInputs) -> AtsaAnswer:
    """Judge every given aspect, or those found here if none are given, and what is said without a target."""
    reading = read_text(inputs.text, inputs.language)
    if inputs.aspects is None:
        terms = [target.term for target in extracted_targets(reading)]
    else:
        terms = list(dict.fromkeys(aspect.aspect_term for aspect in inputs.aspects if aspect.aspect_term))
        terms += _too_short_for_the_filter(reading, terms)
    found = [_sentiment(reading, term, judgement) for term in terms for judgement in judge_term(reading, term)]
    implicit = judge_implicit(reading)
    # A given aspect may be the opinion word itself; saying it twice would count it twice.
    if implicit is not None and not any(one.evidence == reading.quote(implicit.start, implicit.end) for one in found):
        found.append(_sentiment(reading, "", implicit))
    return AtsaAnswer(sentiments=tuple(found[:MAX_ITEMS]))


def _too_short_for_the_filter(reading: Reading, given: list[str]) -> list[str]:
    """Return targets of one syllable (방, 밥, 물) that the term filter drops though the text judges them."""
    short = dict.fromkeys(target.term for target in extracted_targets(reading) if len(target.term) == 1)
    # Inside a given term such a syllable would be taken for that term.
    return [term for term in short if not any(term in other for other in given)]


def _sentiment(reading: Reading, term: str, judgement: Judgement) -> AnsweredSentiment:
    return AnsweredSentiment(
        aspect_term=term,
        polarity=judgement.polarity,
        evidence=reading.quote(judgement.start, judgement.end),
        confidence=judgement.confidence,
        polarity_distribution=distribution(judgement.polarity, judgement.confidence),
    )
