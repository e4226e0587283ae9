"""Names the targets of a text: those of the tagger and of the rules, joined by what the tagger knows of such texts.

Where the tagger knows domain and words, it leads, and the rules decide close cases only. Where it does not, its low
probability says little: an opinion about a listed noun or a plain subject is enough.
"""

from typing import Final, NamedTuple

from episodic_absa.language import norm
from episodic_absa.reader.korean import korean_targets
from episodic_absa.reader.korean.judged_targets import is_plain_subject, judged_at
from episodic_absa.reader.korean.polarity_features import place_of
from episodic_absa.reader.korean.reading import Reading, Target
from episodic_absa.reader.korean.weighed_reading import WeighedReading
from episodic_absa.reader.korean.weighing import (
    Weighed,
    WeighedSpan,
    likelihood,
    spans_above,
    weigh,
    without_opinion,
)
from episodic_absa.reader.korean.word_marks import listed_nouns

MAX_TARGETS: Final = 190
"""Two judgements each, and those without a target, must fit into one answer."""
_TRIMMED: Final = " \t\r\n.,;:!?\"'`()[]{}“”‘’-~…"
NAMED: Final = 0.35
"""How likely a stretch must be before it is named."""
_LEAST: Final = 0.05
"""Where the tagger knows the words and gives them less than this, the rules do not insist."""
_GLIMPSED: Final = 0.2
"""In an unknown domain, what the rules tie an opinion to is named unless the tagger gives it even less than this."""
_TELLS_ONLY: Final = 0.8
"""A text that is so likely to judge nothing names nothing."""
_SURELY_JUDGES: Final = 0.3
"""Below this likelihood of judging nothing a text is taken to judge something."""
_NEARLY: Final = 0.3
"""How likely the likeliest stretch of such a text must be at least."""
_LISTED: Final = 0.4
"""How often a listed noun with an opinion is a target in texts the tagger was not trained on."""
_INSISTED: Final = 0.2
"""What an opinion said of a listed noun adds where the tagger knows the words; half as much for other nouns."""
_SURE_DOMAIN: Final = 0.95
"""How sure the domain must be before even its odd habits are followed."""
_PREDICATES: Final = ("V", "XSV", "XSA")


class NamedTarget(NamedTuple):
    """A target and its likelihood by tagger and rules together."""

    target: Target
    likelihood: float
    why: str


def named_targets(reading: WeighedReading) -> tuple[NamedTarget, ...]:
    """Return the targets of a text once each, where they are first named, from left to right."""
    return reading.once(_named)


def _named(reading: WeighedReading) -> tuple[NamedTarget, ...]:
    if without_opinion(reading) >= _TELLS_ONLY:
        return ()
    weighed = weigh(reading)
    found = _tagged(reading, weighed)
    found += _added_by_rules(reading, weighed, found)
    if not found and weighed.is_everyday and without_opinion(reading) < _SURELY_JUDGES:
        found = _next_likely(reading, weighed)
    if weighed.domain is None:
        found = _with_conjuncts(reading, weighed, found)
    unique: dict[str, NamedTarget] = {}
    for named in sorted(found, key=lambda named: (named.target.start, named.target.end)):
        unique.setdefault(norm(named.target.term), named)
    return tuple(unique.values())[:MAX_TARGETS]


def support(reading: Reading, weighed: Weighed, start: int, end: int) -> float:
    """Return how likely a stretch names a target, by the tagger's word and, if an opinion is said of it, the rules'."""
    share = likelihood(reading, weighed, start, end)
    judged = judged_at(reading, start, end)
    if judged is None:
        return share
    words = [reading.words[at].form for at in range(*place_of(reading, start, end))]
    if not listed_nouns().isdisjoint(words):
        if not any(weighed.knows(word) for word in words):
            return max(share, _LISTED)
        return share + _INSISTED if share >= _LEAST else share
    if _is_named_by_rules(weighed, words, share):
        return max(share + _INSISTED / 2, NAMED)
    return share + _INSISTED / 2 if share >= _LEAST else share


def _is_named_by_rules(weighed: Weighed, words: list[str], share: float) -> bool:
    """Whether the tagger knows too little of such texts to outvote an opinion about a target."""
    if share < _GLIMPSED:
        return False
    return not korean_targets.knows_domain(weighed, words)


def rule_targets(reading: Reading) -> list[int]:
    """Return the targets that the rules tie an opinion to; in a text without opinions, its plain subjects."""
    if reading.opinions:
        return sorted(reading.opinions_of)
    return [index for index, target in enumerate(reading.targets) if is_plain_subject(target)]


def _tagged(reading: Reading, weighed: Weighed) -> list[NamedTarget]:
    tagged = []
    for span in spans_above(reading, weighed, NAMED):
        place = _place_named(reading, weighed, span)
        if place is None:
            continue
        start, end = place
        if start < end and not _is_fragment(reading, start) and _may_be_target(reading, weighed, start, end):
            target = _target_at(reading, start, end)
            tagged.append(NamedTarget(target, span.probability, f"{target.case} that such reviews judge"))
    return tagged


def _place_named(reading: Reading, weighed: Weighed, span: WeighedSpan) -> tuple[int, int] | None:
    """Return where the target of a tagged stretch stands; None if the rules leave it out."""
    start, end = _trimmed(reading, span.start, span.end)
    return korean_targets.place_named(reading, weighed, start, end, span.probability, NAMED)


def _may_be_target(reading: Reading, weighed: Weighed, start: int, end: int) -> bool:
    """Whether a stretch is no mere predicate, or stands where annotators surely marked predicates, as of phones."""
    if weighed.certainty >= _SURE_DOMAIN:
        return True
    tags = [reading.words[at].tag for at in range(*place_of(reading, start, end))]
    return not any(tag.startswith(_PREDICATES) for tag in tags) or any(tag.startswith("N") for tag in tags)


def _is_fragment(reading: Reading, start: int) -> bool:
    """Whether a stretch begins inside a Korean word: with a suffix, an ending or a particle."""
    tag = next((word.tag for word in reading.words if word.start == start), "")
    return tag.startswith(("XS", "E", "J", "VC"))


def _added_by_rules(reading: Reading, weighed: Weighed, known: list[NamedTarget]) -> list[NamedTarget]:
    taken = [(named.target.start, named.target.end) for named in known]
    added = []
    for index in rule_targets(reading):
        target = reading.targets[index]
        if any(target.start < end and start < target.end for start, end in taken):
            continue
        share = support(reading, weighed, target.start, target.end)
        if share >= NAMED:
            added.append(NamedTarget(target, share, f"{target.case} that an opinion is said of"))
    return added


def _next_likely(reading: Reading, weighed: Weighed) -> list[NamedTarget]:
    """Name what a Korean text most likely judges where it surely judges something and nothing is likely enough.

    Korean leaves out what is known: a text that names the thing at all mostly speaks of it.
    """
    judged = [reading.targets[index] for index in rule_targets(reading)] if reading.opinions else []
    found = [
        NamedTarget(target, NAMED, f"{target.case} that an opinion is said of")
        for target in judged
        if target.is_nameable and likelihood(reading, weighed, target.start, target.end) >= _LEAST
    ]
    spans = spans_above(reading, weighed, _NEARLY)
    if found or not spans:
        return found
    likeliest = max(spans, key=lambda span: span.probability)
    start, end = _trimmed(reading, likeliest.start, likeliest.end)
    if start >= end or _is_fragment(reading, start):
        return []
    target = _target_at(reading, start, end)
    return [NamedTarget(target, NAMED, f"{target.case} that such reviews judge")]


def _with_conjuncts(reading: Reading, weighed: Weighed, known: list[NamedTarget]) -> list[NamedTarget]:
    """Name every conjunct of a list that one opinion is said of, each apart, once any of them is named."""
    for opinion in reading.opinions:
        conjuncts = [reading.targets[index] for index in opinion.targets]
        if len(conjuncts) < 2 or not all(conjunct.is_nameable for conjunct in conjuncts):
            continue
        touched = [named for named in known if any(_overlap(named.target, conjunct) for conjunct in conjuncts)]
        if not touched:
            continue
        whole = [named for named in touched if sum(_overlap(named.target, conjunct) for conjunct in conjuncts) > 1]
        kept = [named for named in known if named not in whole]
        for conjunct in conjuncts:
            if any(_overlap(named.target, conjunct) for named in kept):
                continue
            share = max(likelihood(reading, weighed, conjunct.start, conjunct.end), NAMED)
            kept.append(NamedTarget(conjunct, share, f"{conjunct.case} named beside others"))
        known = kept
    return known


def _overlap(target: Target, other: Target) -> bool:
    return target.start < other.end and other.start < target.end


def _target_at(reading: Reading, start: int, end: int) -> Target:
    """Return the rules' own target if it is the same, else one with the case of what it overlaps."""
    beside = None
    for target in reading.targets:
        if (target.start, target.end) == (start, end):
            return target
        if target.start < end and start < target.end:
            beside = target
    case = beside.case if beside else "bare"
    return Target(reading.text[start:end], start, end, reading.clause_at(start), case, is_nameable=True)


def _trimmed(reading: Reading, start: int, end: int) -> tuple[int, int]:
    """Leave out signs at the edges and, in Korean, the particles behind the noun."""
    for word in reversed(reading.words):
        if word.end == end and word.start >= start and word.tag.startswith("J"):
            end = word.start
    while start < end and reading.text[start] in _TRIMMED:
        start += 1
    while start < end and reading.text[end - 1] in _TRIMMED:
        end -= 1
    return start, end
