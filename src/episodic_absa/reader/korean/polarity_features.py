"""Features of the polarity model: the words around a target, its clause, and what the rules make of them."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from episodic_absa.reader.korean.aspect_judgement import Judgement
from episodic_absa.reader.korean.linear_model import Feature
from episodic_absa.reader.korean.reading import Reading, Word
from episodic_absa.reader.korean.word_marks import sign, word_colour

_WINDOW: Final = 3
_LONG: Final = 6
"""How many words make a step of length, and how many steps are told apart."""
_NEGATORS: Final = frozenset({"안", "못", "않", "못하", "없", "아니", "말"})
_CONTENT: Final = (
    "NN", "V", "MA", "XR", "XSA", "IC", "EF", "SL", "W_", "EC", "MM", "XPN",
)  # fmt: skip
_RUN_LENGTHS: Final = (2, 3, 4)
_REPEATED: Final = re.compile(r"(.)\1{2,}")
_OF_DOMAIN: Final = ("bias", "rule", "clause", "sentence", "around", "case", "total")
"""What means something else from one domain to the next; words mean the same."""


class Place(NamedTuple):
    """Where a target stands, by word positions; the end is exclusive."""

    first: int
    end: int


def place_of(reading: Reading, start: int, end: int) -> Place:
    """Return the words that a stretch of characters covers."""
    inside = [at for at, word in enumerate(reading.words) if word.start < end and start < word.end]
    return Place(inside[0], inside[-1] + 1) if inside else Place(0, 0)


def target_features(reading: Reading, place: Place, by_rule: Sequence[Judgement]) -> list[Feature]:
    """Return the features of one target."""
    words = reading.words
    home = words[place.first].clause if words else 0
    found: list[Feature] = [("bias", 1.0)]
    found += _rule_features(by_rule)
    found += _opinion_features(reading, place, home)
    found += [(f"term:{word.form}", 1.0) for word in words[place.first : place.end]]
    found += _window_features(reading, place)
    found += _bag_features(reading, place, home)
    found += _structure_features(reading, place, home)
    return found


def text_features(reading: Reading) -> list[Feature]:
    """Return the features of a whole text, for opinions that name no target."""
    total = sum(opinion.first for opinion in reading.opinions)
    found: list[Feature] = [
        ("bias", 1.0),
        (f"total:{_bucket(total)}", 1.0),
        (f"n:{min(3, len(reading.opinions))}", 1.0),
    ]
    found += [(f"last:{sign(reading.opinions[-1].first)}", 1.0)] if reading.opinions else []
    found += [(f"w:{form}", 1.0) for form in dict.fromkeys(_forms(reading, 0, len(reading.words)))]
    return found + [(f"run:{run}", 1.0) for run in dict.fromkeys(_character_runs(reading.text))]


def opinion_features(reading: Reading) -> list[Feature]:
    """Return the features by which texts that judge differ from those that tell, plan or ask."""
    forms = [word.form for word in reading.words]
    asks = any(clause.is_question for clause in reading.clauses)
    found: list[Feature] = [
        ("bias", 1.0),
        (f"n:{min(3, len(reading.opinions))}", 1.0),
        (f"total:{_bucket(sum(opinion.first for opinion in reading.opinions))}", 1.0),
        (f"asks:{asks}", 1.0),
        (f"long:{min(_LONG, len(forms) // _LONG)}", 1.0),
    ]
    found += [(f"w:{form}", 1.0) for form in dict.fromkeys(_forms(reading, 0, len(forms)))]
    found += [(f"ww:{first} {second}", 1.0) for first, second in dict.fromkeys(pairwise(forms))]
    return found + [(f"end:{' '.join(forms[-count:])}", 1.0) for count in (1, 2, 3)]


def domain_features(reading: Reading) -> list[Feature]:
    """Return the features by which a text's domain is recognised."""
    return [("bias", 1.0), *((form, 1.0) for form in dict.fromkeys(word.form for word in reading.words))]


def in_domain(features: list[Feature], domain: str | None) -> list[Feature]:
    """Add the domain's own copies of the features that differ between domains; none for an unknown domain."""
    if domain is None:
        return features
    return features + [(f"{domain}|{name}", value) for name, value in features if name.startswith(_OF_DOMAIN)]


def _rule_features(by_rule: Sequence[Judgement]) -> Iterator[Feature]:
    for judgement in by_rule:
        own = "own" if judgement.has_own_words else "near"
        yield f"rule:{own}:{judgement.polarity}", 1.0
        yield f"rule:{own}:{_bucket(judgement.score)}", 1.0
    if len(by_rule) > 1:
        yield "rule:both", 1.0


def _opinion_features(reading: Reading, place: Place, home: int) -> Iterator[Feature]:
    start, end = reading.words[place.first].start, reading.words[place.end - 1].end
    sentence = reading.clauses[home].sentence
    in_clause = in_sentence = 0.0
    after = before = ""
    for opinion in reading.opinions:
        clause = reading.clauses[opinion.clause]
        if clause.sentence != sentence:
            continue
        in_sentence += opinion.first
        if opinion.clause == home:
            in_clause += opinion.first
        if opinion.start >= end and not after:
            gap = "near" if opinion.start - end < 25 else "far"
            after = f"{sign(opinion.first)}{gap}{int(opinion.clause == home)}"
        elif opinion.end <= start:
            gap = "near" if start - opinion.end < 12 else "far"
            before = f"{sign(opinion.first)}{gap}{int(opinion.clause == home)}"
        elif opinion.start < end and start < opinion.end:
            yield f"inside:{sign(opinion.first)}", 1.0
    yield f"clause:{_bucket(in_clause)}", 1.0
    yield f"sentence:{_bucket(in_sentence)}", 1.0
    yield f"after:{after}", 1.0
    yield f"before:{before}", 1.0
    yield f"around:{before}{after}", 1.0
    yield f"text:{_bucket(sum(opinion.first for opinion in reading.opinions))}", 1.0


def _window_features(reading: Reading, place: Place) -> Iterator[Feature]:
    words = reading.words
    for side, positions in (
        ("L", range(place.first - 1, max(-1, place.first - 1 - _WINDOW), -1)),
        ("R", range(place.end, min(len(words), place.end + _WINDOW))),
    ):
        for distance, at in enumerate(positions, 1):
            yield f"{side}{distance}:{words[at].form}", 1.0
            yield f"{side}:{words[at].form}", 1.0
            colour = word_colour(words[at])
            if colour is not None:
                yield f"{side}c:{sign(colour)}", 1.0


def _bag_features(reading: Reading, place: Place, home: int) -> Iterator[Feature]:
    words = reading.words
    first = place.first
    while first > 0 and words[first - 1].clause == home:
        first -= 1
    end = place.end
    while end < len(words) and words[end].clause == home:
        end += 1
    near = [*_forms(reading, first, place.first), *_forms(reading, place.end, end)]
    for form in dict.fromkeys(near):
        yield f"c:{form}", 1.0
    seen = set(near)
    far = [*_forms(reading, 0, first), *_forms(reading, end, len(words))]
    for form in dict.fromkeys(far):
        if form not in seen and "_" not in form:
            yield f"s:{form}", 1.0
    for form in dict.fromkeys([*near, *far]):
        yield f"w:{form}", 1.0


def _forms(reading: Reading, first: int, end: int) -> Iterator[str]:
    """Yield single words and pairs."""
    words = reading.words
    last = ""
    for word in words[first:end]:
        if not word.tag.startswith(_CONTENT):
            continue
        form = f"{word.form}/{word.tag[0]}"
        yield form
        if last:
            yield f"{last}_{form}"
        last = form


def _character_runs(text: str) -> Iterator[str]:
    """Yield short runs of characters: they outlive typing errors and free spacing, and hold smileys and sighs."""
    # People space as they like, and ㅋㅋㅋㅋㅋ says what ㅋㅋ says.
    joined = _REPEATED.sub(r"\1\1", "".join(text.lower().split()))
    for length in _RUN_LENGTHS:
        for start in range(len(joined) - length + 1):
            yield joined[start : start + length]


def _structure_features(reading: Reading, place: Place, home: int) -> Iterator[Feature]:
    clause = reading.clauses[home]
    sides = reading.clauses[-1].side
    yield f"side:{min(clause.side, 2)}of{min(sides, 2)}", 1.0
    if clause.is_question:
        yield "question", 1.0
    start = reading.words[place.first].start
    case = next((target.case for target in reading.targets if target.start <= start < target.end), "none")
    yield f"case:{case}", 1.0
    if any(_is_negator(word) for word in reading.words if word.clause == home):
        yield "negated", 1.0
        yield f"negated:{case}", 1.0
    yield f"length:{min(6, len(reading.words) // 8)}", 1.0
    yield f"clauses:{min(4, len(reading.clauses))}", 1.0


def _is_negator(word: Word) -> bool:
    return word.form in _NEGATORS


def _bucket(score: float) -> int:
    return max(-4, min(4, round(score)))
