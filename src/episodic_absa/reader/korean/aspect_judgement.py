"""Judges one term by the opinions of its reading: what the rules alone make of it."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from episodic_absa.language import norm
from episodic_absa.reader.korean.reading import MIN_STRENGTH, Opinion, Reading, polarity_of
from episodic_absa.vocabulary import Polarity

_CONFIDENCE_STEPS: Final = ((2.5, 0.95), (2.0, 0.9), (1.5, 0.85), (1.0, 0.75), (0.6, 0.62), (MIN_STRENGTH, 0.55))
_STATED_NEUTRAL: Final = 0.7
_NOTHING_SAID: Final = 0.45
_BORROWED_CAP: Final = 0.58
_MIN_CLASH: Final = 1.0
_MIN_QUOTE: Final = 2
_MAX_QUOTE: Final = 120


class Judgement(NamedTuple):
    """A polarity with the words that carry it."""

    polarity: Polarity
    confidence: float
    score: float
    start: int
    end: int
    has_own_words: bool
    """False if no opinion is said of the term itself: borrowed from nearby, or nothing said at all."""
    why: str


def judge_term(reading: Reading, term: str) -> tuple[Judgement, ...]:
    """Judge a term: one judgement, or two if the text says both and nothing settles it."""
    own = opinions_about(reading, term)
    if not own:
        return (_without_own_words(reading, term),)
    values = [(opinion, opinion.first) for opinion in own]
    sides = _by_side(reading, values)
    if len(sides) > 1 and _clash([total for total, _ in sides]):
        clashing = [_judgement(reading, voices) for total, voices in sides if abs(total) >= _MIN_CLASH]
        return _one_per_polarity(clashing)
    return (_judgement(reading, values),)


def judge_implicit(reading: Reading) -> Judgement | None:
    """Judge what the text says without naming a target; None if it says nothing of the kind."""
    values = [(opinion, opinion.first) for opinion in implicit_opinions(reading)]
    return _judgement(reading, values) if values else None


def implicit_opinions(reading: Reading) -> list[Opinion]:
    """Return opinions that name nothing: all of them in a text without targets, else verdicts in their own sentence."""
    unnamed = [opinion for opinion in reading.opinions if not opinion.targets]
    if len(unnamed) == len(reading.opinions):
        return unnamed
    named_in = {reading.clauses[opinion.clause].sentence for opinion in reading.opinions if opinion.targets}
    return [
        opinion
        for opinion in unnamed
        if opinion.is_verdict and reading.clauses[opinion.clause].sentence not in named_in
    ]


def opinions_about(reading: Reading, term: str) -> list[Opinion]:
    """Return the opinions said of a term, in text order."""
    targets = _targets_of(reading, term)
    found = sorted({index for target in targets for index in reading.opinions_of.get(target, ())})
    if not found:
        place = find_term(reading, term)
        if place is not None:
            found = [
                index
                for index, opinion in enumerate(reading.opinions)
                if opinion.start < place[1] and place[0] < opinion.end
            ]
    return [reading.opinions[index] for index in found]


def find_term(reading: Reading, term: str) -> tuple[int, int] | None:
    """Return where a term stands in the text: the first place where it is a noun phrase, else the first at all."""
    if not term:
        return None
    known = reading.by_term.get(norm(term))
    if known:
        target = reading.targets[known[0]]
        return target.start, target.end
    start = reading.text.find(term)
    if start < 0:
        start = reading.text.lower().find(term.lower())
    # Lower-casing may change lengths; then there is no place to speak of.
    if start < 0 or start + len(term) > len(reading.text):
        return None
    return start, start + len(term)


def _targets_of(reading: Reading, term: str) -> Sequence[int]:
    key = norm(term)
    exact = reading.by_term.get(key)
    if exact or not key:
        return exact or ()
    return [index for known, found in reading.by_term.items() if key in known or known in key for index in found]


def _by_side(reading: Reading, values: list[tuple[Opinion, float]]) -> list[tuple[float, list[tuple[Opinion, float]]]]:
    sides: dict[int, list[tuple[Opinion, float]]] = {}
    for opinion, value in values:
        sides.setdefault(reading.clauses[opinion.clause].side, []).append((opinion, value))
    return [(sum(value for _, value in voices), voices) for _, voices in sorted(sides.items())]


def _clash(totals: list[float]) -> bool:
    return max(totals) >= _MIN_CLASH and min(totals) <= -_MIN_CLASH


def _one_per_polarity(judgements: list[Judgement]) -> tuple[Judgement, ...]:
    kept: dict[Polarity, Judgement] = {}
    for judgement in judgements:
        known = kept.get(judgement.polarity)
        if known is None or known.confidence < judgement.confidence:
            kept[judgement.polarity] = judgement
    return tuple(kept.values())


def _judgement(reading: Reading, values: list[tuple[Opinion, float]]) -> Judgement:
    total = max(-3.0, min(3.0, sum(value for _, value in values)))
    polarity = polarity_of(total)
    agreeing = [pair for pair in values if polarity_of(pair[1]) == polarity] or values
    opinion, _ = max(agreeing, key=lambda pair: abs(pair[1]))
    start, end = quoted_place(reading, opinion)
    return Judgement(
        polarity, _confidence(total), total, start, end, has_own_words=True, why=f"the words '{opinion.form}'"
    )


def _without_own_words(reading: Reading, term: str) -> Judgement:
    place = find_term(reading, term)
    if place is None or not reading.clauses:
        return Judgement("neutral", _NOTHING_SAID, 0.0, 0, 0, has_own_words=False, why="nothing is said of it")
    home = reading.clause_at(place[0])
    nearest = _nearest_opinion(reading, home)
    if nearest is None:
        clause = reading.clauses[home]
        end = min(clause.end, max(clause.start + _MAX_QUOTE, place[1]))
        return Judgement(
            "neutral", _NOTHING_SAID, 0.0, clause.start, end, has_own_words=False, why="nothing is said of it"
        )
    value = nearest.first
    start, end = quoted_place(reading, nearest)
    confidence = min(_BORROWED_CAP, _confidence(value))
    return Judgement(polarity_of(value), confidence, value, start, end, has_own_words=False, why="words said nearby")


def _nearest_opinion(reading: Reading, home: int) -> Opinion | None:
    """Return the nearest opinion of the sentence, even from across a contrast."""
    here = reading.clauses[home]
    for clause in (home, home + 1, home - 1):
        if not 0 <= clause < len(reading.clauses) or reading.clauses[clause].sentence != here.sentence:
            continue
        for index in reading.by_clause.get(clause, ()):
            return reading.opinions[index]
    return None


def quoted_place(reading: Reading, opinion: Opinion) -> tuple[int, int]:
    """Return what to quote: the opinion words, or their clause if they are a single letter."""
    if opinion.end - opinion.start >= _MIN_QUOTE:
        return opinion.start, opinion.end
    clause = reading.clauses[opinion.clause]
    return clause.start, max(clause.end, opinion.end)


def _confidence(score: float) -> float:
    strength = abs(score)
    return next((confidence for least, confidence in _CONFIDENCE_STEPS if strength >= least), _STATED_NEUTRAL)
