"""Korean: which targets the rules name in texts of unknown domains, and where the noun phrase of a target ends."""

from typing import Final

from episodic_absa.reader.korean.reading import Reading, Target
from episodic_absa.reader.korean.weighing import Weighed

_UNSAID: Final = 0.4
"""How likely a stretch must be in a short text of an unknown domain if no opinion of its clause has a target;"""
_UNSAID_BESIDE: Final = 0.5
"""beside an opinion that is said of something else;"""
_UNSAID_ASIDE: Final = 0.8
"""and if it is a place or a part of a name besides."""
_SURE_BOUNDS: Final = {False: 0.9, True: 0.97}
"""How sure the domain must be before the tagger's boundaries are followed against the rules' noun phrases.

It must be surer where the tagger leaves out the head: 주차 of 주차 공간 names another thing.
"""
_ASIDE: Final = ("oblique", "genitive")
_SHORT: Final = 20
"""In a text of fewer words the noun that an opinion is said of is what the text is about."""


def knows_domain(weighed: Weighed, words: list[str]) -> bool:
    """Whether the tagger knows such texts: their domain, and surely or with the very words."""
    return weighed.domain is not None and (
        weighed.certainty >= _SURE_BOUNDS[False] or any(weighed.knows(word) for word in words)
    )


def place_named(
    reading: Reading, weighed: Weighed, start: int, end: int, probability: float, least: float
) -> tuple[int, int] | None:
    """Return where the target around a tagged stretch stands; None if the text says nothing of it.

    Args:
        probability: what the tagger gives the stretch.
        least: how likely a stretch of a longer text must be before it is named.
    """
    said = _said_at(reading, weighed, start, end)
    if said is not None:
        return said.start, said.end
    if weighed.certainty < _SURE_BOUNDS[False] and probability < _unsaid(reading, start, end, least):
        return None
    return start, end


def _said_at(reading: Reading, weighed: Weighed, start: int, end: int) -> Target | None:
    """Return the noun phrase around a stretch if an opinion is said of it: it names the whole thing (배터리 수명)."""
    if weighed.domain is None and len(reading.words) >= _SHORT:
        return None
    for index in sorted(reading.opinions_of):
        target = reading.targets[index]
        if target.start <= start and end <= target.end and weighed.certainty < _SURE_BOUNDS[target.end > end]:
            return target
    return _said_inside(reading, start, end) if weighed.certainty < _SURE_BOUNDS[True] else None


def _said_inside(reading: Reading, start: int, end: int) -> Target | None:
    """Return the judged noun phrase in a stretch that a particle cuts in two (상담원이 전화)."""
    cut = any(word.tag in ("JKS", "JKO", "JX") and start < word.start and word.end < end for word in reading.words)
    if not cut:
        return None
    inside = (reading.targets[index] for index in sorted(reading.opinions_of))
    return next((target for target in inside if start <= target.start and target.end <= end), None)


def _unsaid(reading: Reading, start: int, end: int, least: float) -> float:
    """Return how likely a stretch must be that nothing is said of, outside the trained domains."""
    if _is_asked(reading, start) or _is_in_verdict(reading, start, end):
        return 1.0
    if len(reading.words) >= _SHORT:
        return least
    clause = reading.clause_at(start)
    if not any(reading.opinions[index].targets for index in reading.by_clause.get(clause, ())):
        return _UNSAID
    # Beside an opinion that is said of something else, a place (방에서 냄새가 나요), an owner (가이드의 설명이 좋아요)
    # or a part of a name is no target.
    around = (target for target in reading.targets if target.start <= start and end <= target.end)
    is_aside = any(target.case in _ASIDE or (target.start, target.end) != (start, end) for target in around)
    return _UNSAID_ASIDE if is_aside else _UNSAID_BESIDE


def _is_asked(reading: Reading, start: int) -> bool:
    """Whether a stretch stands in a plain question, which judges nothing."""
    clause = reading.clause_at(start)
    is_question = bool(reading.clauses) and reading.clauses[clause].is_question
    return is_question and not any(reading.opinions[index].first for index in reading.by_clause.get(clause, ()))


def _is_in_verdict(reading: Reading, start: int, end: int) -> bool:
    """Whether a stretch is part of words that judge the whole: 돈 of 돈 아까워요."""
    return any(opinion.is_verdict and opinion.start <= start and end <= opinion.end for opinion in reading.opinions)
