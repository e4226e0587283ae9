"""Judges a term: the weights give the polarity unless the rules read plain words."""

from typing import Final

from episodic_absa.reader.korean.aspect_judgement import (
    Judgement,
    find_term,
    judge_implicit,
    judge_term,
    opinions_about,
)
from episodic_absa.reader.korean.reading import Opinion, Reading, polarity_of
from episodic_absa.reader.korean.weighed_reading import WeighedReading
from episodic_absa.reader.korean.weighing import (
    Weights3,
    weigh,
    weighed_polarity,
    weighed_text,
    without_opinion,
)
from episodic_absa.vocabulary import Polarity

_LEAST: Final = 0.4
_MOST: Final = 0.97
_UNDECIDED: Final = 0.3
"""Below this lead of one polarity, a text that the rules read both ways says both."""
_TELLS: Final = 0.5
"""From this likelihood of judging nothing on, a text holds no opinion beside those of its targets."""
_RULES_DECIDE: Final = 0.6
"""Outside the trained domains, plain words about a target decide unless the weights lead by this much."""
_PLAIN_WORDS: Final = 1.0
_SURE: Final = 0.75
_MAX_QUOTE: Final = 120
_STRENGTH: Final[dict[Polarity, float]] = {"positive": 1.0, "negative": -1.0, "neutral": 0.0}


def judge_first(reading: WeighedReading, term: str, place: tuple[int, int] | None = None) -> tuple[Judgement, ...]:
    """Judge a term: one judgement, or two if the text says both and the weights do not settle it."""
    by_rule = judge_term(reading, term)
    place = place or find_term(reading, term)
    weighed = weighed_polarity(reading, term, place)
    if weighed is None:
        return by_rule
    if len(by_rule) > 1 and weighed.margin < _UNDECIDED:
        return by_rule
    if place and reading.clauses and reading.clauses[reading.clause_at(place[0])].is_question:
        # A question judges nothing, whatever its words say elsewhere.
        return by_rule
    agreeing = next((judgement for judgement in by_rule if judgement.polarity == weighed.best), None)
    if agreeing is not None:
        return (agreeing._replace(confidence=_confidence(weighed)),)
    if weighed.margin < _RULES_DECIDE and _is_plainly_said(reading, term):
        return by_rule
    start, end = _words_for(reading, weighed.best, place)
    return (
        Judgement(
            weighed.best,
            _confidence(weighed),
            _STRENGTH[weighed.best],
            start,
            end,
            has_own_words=False,
            why="such words mostly say so",
        ),
    )


def _is_plainly_said(reading: WeighedReading, term: str) -> bool:
    """Whether a text outside the trained domains says something of a term that no distant negation may turn round."""
    own = opinions_about(reading, term)
    return weigh(reading).domain is None and bool(own) and not any(opinion.scope_note for opinion in own)


def judge_unnamed(reading: WeighedReading, *, names_targets: bool) -> Judgement | None:
    """Judge what is said without a target: verdicts beside named targets, the whole text where nothing is named."""
    by_rule = judge_implicit(reading)
    weighed = weighed_text(reading)
    if weighed is None:
        return by_rule
    if without_opinion(reading) >= _TELLS:
        return None
    if by_rule is None:
        if names_targets or (weighed.best == "neutral" and not reading.opinions):
            return None
    elif names_targets and by_rule.polarity == weighed.best:
        return by_rule
    elif abs(by_rule.score) >= _PLAIN_WORDS and max(weighed) < _SURE:
        # 안 좋아요: plain words with their negation beat weights that only lean the other way.
        return by_rule
    if by_rule is not None and by_rule.polarity == weighed.best:
        return by_rule._replace(confidence=_confidence(weighed))
    start, end = _words_for(reading, weighed.best, None)
    return Judgement(
        weighed.best,
        _confidence(weighed),
        _STRENGTH[weighed.best],
        start,
        end,
        has_own_words=False,
        why="such texts mostly mean so",
    )


def _words_for(reading: Reading, polarity: Polarity, place: tuple[int, int] | None) -> tuple[int, int]:
    """Return the nearest words of that colour in the sentence, else the clause."""
    if not reading.clauses:
        return 0, min(len(reading.text), _MAX_QUOTE)
    home = reading.clause_at(place[0]) if place else 0
    sentence = reading.clauses[home].sentence
    fitting = [
        opinion
        for opinion in reading.opinions
        if polarity != "neutral"
        and polarity_of(opinion.first) == polarity
        and (place is None or reading.clauses[opinion.clause].sentence == sentence)
    ]
    if fitting:
        nearest = min(fitting, key=lambda opinion: _distance(opinion, place))
        return nearest.start, nearest.end
    clause = reading.clauses[home]
    if place is None:
        return 0, min(len(reading.text), _MAX_QUOTE)
    return clause.start, min(clause.end, max(clause.start + _MAX_QUOTE, place[1]))


def _distance(opinion: Opinion, place: tuple[int, int] | None) -> int:
    if place is None:
        return opinion.start
    return max(opinion.start - place[1], place[0] - opinion.end, 0)


def _confidence(weighed: Weights3) -> float:
    return round(max(_LEAST, min(_MOST, max(weighed))), 4)
