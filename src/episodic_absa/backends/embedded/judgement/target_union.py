"""Names the targets of a text: those of the tagger and of the rules, joined by what the tagger knows of such texts.

Where the tagger knows domain and words, it leads, and the rules decide close cases only. Where it does not, its low
probability says little: an opinion about a listed noun or a plain subject is enough.
"""

from typing import Final, NamedTuple

from episodic_absa.backends.embedded.korean.korean_facts import tells_facts_only
from episodic_absa.backends.embedded.model.polarity_features import place_of
from episodic_absa.backends.embedded.model.weighing import Weighed, likelihood, spans_above, weigh
from episodic_absa.backends.embedded.model.word_marks import listed_nouns
from episodic_absa.backends.embedded.reading import Reading, Target
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.language import norm
from episodic_absa.vocabulary import Language

MAX_TARGETS: Final = 190
"""Two judgements each, and those without a target, must fit into one answer."""
_TRIMMED: Final = " \t\r\n.,;:!?\"'`()[]{}“”‘’-~…"
NAMED: Final = 0.3
"""How likely a stretch must be before it is named."""
KEPT: Final = 0.25
"""How likely target and polarity must be together before the debate lets a tuple stand."""
_LEAST: Final = 0.05
"""Where the tagger knows the words and gives them less than this, the rules do not insist."""
_GLIMPSED: Final = 0.08
"""In an unknown domain, a subject with an opinion is named unless the tagger gives it even less than this."""
_LISTED: Final = 0.4
"""How often a listed noun with an opinion is a target in texts the tagger was not trained on."""
_INSISTED: Final = 0.2
"""What an opinion said of a listed noun adds where the tagger knows the words; half as much for other nouns."""
_SURE_DOMAIN: Final = 0.95
"""How sure the domain must be before even its odd habits are followed."""
_RULES_LEAD: Final[dict[Language, float]] = {"ko": 0.12}
"""By language: what the tagger must give a noun that an opinion is said of, where the rules lead; else `_GLIMPSED`."""
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
_SHORT: Final = 20
"""In a text of fewer words the noun that an opinion is said of is what the text is about."""
_SHORT_GLIMPSED: Final = 0.02
"""What such a noun needs if it is no plain subject."""
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
    weighed = weigh(reading)
    found = _tagged(reading, weighed)
    found += _added_by_rules(reading, weighed, found)
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
    if not listed_nouns(reading.language).isdisjoint(words):
        if not any(weighed.knows(word) for word in words):
            return max(share, _LISTED)
        return share + _INSISTED if share >= _LEAST else share
    is_unknown = weighed.domain is None or (
        reading.language in _RULES_LEAD
        and weighed.certainty < _SURE_BOUNDS[False]
        and not any(weighed.knows(word) for word in words)
    )
    if is_unknown and share >= _glimpsed(reading, reading.targets[judged]):
        return max(share + _INSISTED / 2, NAMED)
    return share + _INSISTED / 2 if share >= _LEAST else share


def _glimpsed(reading: Reading, target: Target) -> float:
    """Return the probability from which on a judged noun is named in an unknown domain."""
    if reading.language in _RULES_LEAD:
        if len(reading.words) >= _SHORT:
            return _RULES_LEAD[reading.language]
        return 0.0 if _is_plain_subject(target) else _SHORT_GLIMPSED
    return _GLIMPSED if _is_plain_subject(target) else 1.0


def judged_at(reading: Reading, start: int, end: int) -> int | None:
    """Return the index of the target at exactly this place if the rules tie an opinion to it."""
    for index in reading.opinions_of:
        if (reading.targets[index].start, reading.targets[index].end) == (start, end):
            return index
    return None


def rule_targets(reading: Reading) -> list[int]:
    """Return the targets that the rules tie an opinion to; in a text without opinions, its plain subjects."""
    if reading.opinions:
        return sorted(reading.opinions_of)
    return [index for index, target in enumerate(reading.targets) if _is_plain_subject(target)]


def _is_plain_subject(target: Target) -> bool:
    """Whether a sentence is plainly about this."""
    return target.is_nameable and target.case in ("subject", "topic")


def _tagged(reading: Reading, weighed: Weighed) -> list[NamedTarget]:
    found = []
    for span in spans_above(reading, weighed, NAMED):
        start, end = _trimmed(reading, span.start, span.end)
        if reading.language in _RULES_LEAD:
            said = _said_at(reading, weighed, start, end)
            if said is not None:
                start, end = said.start, said.end
            elif weighed.certainty < _SURE_BOUNDS[False] and span.probability < _unsaid(reading, start, end):
                continue
        if start < end and not _is_fragment(reading, start) and _may_be_target(reading, weighed, start, end):
            target = _target_at(reading, start, end)
            found.append(NamedTarget(target, span.probability, f"{target.case} that such reviews judge"))
    return found


def _is_asked(reading: Reading, start: int) -> bool:
    """Whether a stretch stands in a plain question, which judges nothing."""
    clause = reading.clause_at(start)
    is_question = bool(reading.clauses) and reading.clauses[clause].is_question
    return is_question and not any(reading.opinions[index].first for index in reading.by_clause.get(clause, ()))


def _is_in_verdict(reading: Reading, start: int, end: int) -> bool:
    """Whether a stretch is part of words that judge the whole: 돈 of 돈 아까워요."""
    return any(opinion.is_verdict and opinion.start <= start and end <= opinion.end for opinion in reading.opinions)


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


def _unsaid(reading: Reading, start: int, end: int) -> float:
    """Return how likely a stretch must be that nothing is said of, outside the trained domains."""
    if _is_asked(reading, start) or _is_in_verdict(reading, start, end) or tells_facts_only(reading):
        return 1.0
    if len(reading.words) >= _SHORT:
        return NAMED
    clause = reading.clause_at(start)
    if not any(reading.opinions[index].targets for index in reading.by_clause.get(clause, ())):
        return _UNSAID
    # Beside an opinion that is said of something else, a place (방에서 냄새가 나요) or a part of a name is no target.
    around = (target for target in reading.targets if target.start <= start and end <= target.end)
    is_aside = any(target.case == "oblique" or (target.start, target.end) != (start, end) for target in around)
    return _UNSAID_ASIDE if is_aside else _UNSAID_BESIDE


def _may_be_target(reading: Reading, weighed: Weighed, start: int, end: int) -> bool:
    """Whether a stretch is no mere predicate, or stands where annotators surely marked predicates, as of phones."""
    if weighed.certainty >= _SURE_DOMAIN:
        return True
    tags = [reading.words[at].tag for at in range(*place_of(reading, start, end))]
    return not any(tag.startswith(_PREDICATES) for tag in tags) or any(tag.startswith("N") for tag in tags)


def _is_fragment(reading: Reading, start: int) -> bool:
    """Whether a stretch begins inside a Korean word: with a suffix, an ending or a particle."""
    tag = next((word.tag for word in reading.words if word.start == start), "")
    return reading.language == "ko" and tag.startswith(("XS", "E", "J", "VC"))


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
