"""English: which targets the rules name in texts of unknown domains, and which words of a tagged stretch name it."""

from typing import Final

from episodic_absa.backends.embedded.judgement.judged_targets import judged_at
from episodic_absa.backends.embedded.model.polarity_features import place_of
from episodic_absa.backends.embedded.model.weighing import Weighed
from episodic_absa.backends.embedded.reading import Reading, Target

_MENTIONED: Final = ("object", "oblique", "bare")
"""Cases of nouns that a sentence about something else merely mentions."""
_PLANS: Final = frozenset({"going", "planning", "plan", "want", "hope", "hoping", "intend", "thinking", "wanted"})
_WRITERS: Final = frozenset({"i", "we"})
_DESCRIBES_NO_KIND: Final = frozenset(
    {"new", "old", "whole", "entire", "last", "next", "other", "same", "own", "first", "second", "current", "previous"}
)


def may_be_judged(reading: Reading, weighed: Weighed, target: Target) -> bool:
    """Whether a text may judge what the tagger found."""
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


def whole_name(reading: Reading, start: int, end: int) -> tuple[int, int]:
    """Leave out words before a name that say nothing of its kind; complete a compound that was cut short."""
    words = [reading.words[at] for at in range(*place_of(reading, start, end))]
    while len(words) > 1 and (words[0].tag in ("D", "P") or words[0].form in _DESCRIBES_NO_KIND):
        words = words[1:]
    if words:
        start = words[0].start
    for target in reading.targets:
        if target.start <= start and end <= target.end and target.is_nameable:
            return target.start, target.end
    return start, end
