"""Names the targets of a text: those of the tagger and of the rules, joined by what the tagger knows of such texts.

Where the tagger knows domain and words, it leads, and the rules decide close cases only. Where it does not, its low
probability says little: an opinion about a listed noun or a plain subject is enough.
"""

from typing import Final, NamedTuple

from episodic_absa.backends.embedded.model.polarity_features import place_of
from episodic_absa.backends.embedded.model.weighing import Weighed, likelihood, spans_above, weigh
from episodic_absa.backends.embedded.model.word_marks import listed_nouns
from episodic_absa.backends.embedded.reading import Reading, Target
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.language import norm

MAX_TARGETS: Final = 190
"""Two judgements each, and those without a target, must fit into one answer."""
_TRIMMED: Final = " \t\r\n.,;:!?\"'`()[]{}“”‘’-~…"
NAMED: Final = 0.3
"""How likely a stretch must be before it is named."""
KEPT: Final = {"ko": 0.25, "en": 0.3, "other": 0.25}
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
_PREDICATES: Final = ("V", "XSV", "XSA")
_HARDLY_SEEN: Final = 0.02
"""In an unknown domain, what English rules tie an opinion to is named unless the tagger gives it less than this."""
_RESEMBLES: Final = 0.45
"""A text this likely of a trained domain is read by its habits in part: annotators left many named targets unmarked."""
_MENTIONED: Final = ("object", "oblique", "bare")
"""Cases of nouns that a sentence about something else merely mentions."""
_PLANS: Final = frozenset({"going", "planning", "plan", "want", "hope", "hoping", "intend", "thinking", "wanted"})
_WRITERS: Final = frozenset({"i", "we"})
_DESCRIBES_NO_KIND: Final = frozenset(
    {"new", "old", "whole", "entire", "last", "next", "other", "same", "own", "first", "second", "current", "previous"}
)


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
    if reading.language == "en":
        found = [named for named in found if _may_be_judged(reading, weighed, named.target)]
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
    if weighed.domain is None and _is_named_by_rules(reading, weighed, reading.targets[judged], share):
        return max(share + _INSISTED / 2, NAMED)
    return share + _INSISTED / 2 if share >= _LEAST else share


def _is_named_by_rules(reading: Reading, weighed: Weighed, target: Target, share: float) -> bool:
    """Whether an opinion about it is reason enough to name a target in a text of an unknown domain."""
    if reading.language != "en" or weighed.resemblance >= _RESEMBLES:
        return _is_plain_subject(target) and share >= _GLIMPSED
    least = _GLIMPSED if target.case == "oblique" else _HARDLY_SEEN
    return target.is_nameable and share >= least


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
        if reading.language == "en" and weighed.domain is None:
            start, end = _whole_name(reading, start, end)
        if start < end and not _is_fragment(reading, start) and _may_be_target(reading, weighed, start, end):
            target = _target_at(reading, start, end)
            found.append(NamedTarget(target, span.probability, f"{target.case} that such reviews judge"))
    return found


def _may_be_judged(reading: Reading, weighed: Weighed, target: Target) -> bool:
    """Whether an English text may judge what the tagger found."""
    if judged_at(reading, target.start, target.end) is not None:
        return True
    if _is_asked_or_planned(reading, target):
        return False
    return weighed.domain is not None or (target.is_nameable and not _is_merely_mentioned(reading, target))


def _is_merely_mentioned(reading: Reading, target: Target) -> bool:
    """Whether a noun is no subject and the rules tie the opinions of its sentence to something else."""
    clause = reading.clauses[target.clause]
    judged = (reading.targets[index] for index in reading.opinions_of)
    return target.case in _MENTIONED and any(
        other.is_nameable
        and reading.clauses[other.clause].sentence == clause.sentence
        and (other.clause == target.clause or target.case != "bare")
        and not (other.start < target.end and target.start < other.end)
        for other in judged
    )


def _is_asked_or_planned(reading: Reading, target: Target) -> bool:
    """Whether a clause without an opinion asks or tells a plan: nothing is judged there."""
    if reading.by_clause.get(target.clause):
        return False
    if reading.clauses[target.clause].is_question:
        return True
    forms = [word.form for word in reading.words if word.clause == target.clause and word.start < target.start]
    return "to" in forms and not _PLANS.isdisjoint(forms) and not _WRITERS.isdisjoint(forms)


def _whole_name(reading: Reading, start: int, end: int) -> tuple[int, int]:
    """Leave out words before an English name that say nothing of its kind; complete a compound that was cut short."""
    words = [reading.words[at] for at in range(*place_of(reading, start, end))]
    while len(words) > 1 and (words[0].tag in ("D", "P") or words[0].form in _DESCRIBES_NO_KIND):
        words = words[1:]
    if words:
        start = words[0].start
    for target in reading.targets:
        if target.start <= start and end <= target.end and target.is_nameable:
            return target.start, target.end
    return start, end


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
