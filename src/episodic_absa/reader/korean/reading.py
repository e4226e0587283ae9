"""The reading of a text: clauses, targets, opinions and the targets of each opinion. Values only."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from episodic_absa.language import Cue, norm
from episodic_absa.vocabulary import Polarity

MIN_STRENGTH: Final = 0.3
"""A score below this is neutral."""
Case = Literal["subject", "topic", "object", "bare", "oblique", "genitive", "predicate"]


def polarity_of(score: float) -> Polarity:
    """Return the polarity a score stands for."""
    if score >= MIN_STRENGTH:
        return "positive"
    return "negative" if score <= -MIN_STRENGTH else "neutral"


class Word(NamedTuple):
    """A token as the language's reader cuts it: a word of English, a morpheme of Korean."""

    form: str
    """Lower case in English; the morpheme's own form in Korean."""
    tag: str
    start: int
    end: int
    clause: int


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of text with one predicate, roughly."""

    start: int
    end: int
    sentence: int
    side: int
    """How many contrast markers stand before it."""
    is_question: bool = False
    is_conclusion: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """A noun phrase that an opinion may be about."""

    term: str
    start: int
    end: int
    clause: int
    case: Case
    is_nameable: bool
    """False for times, persons and generic nouns: they are read past, never extracted."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """Words that pass a judgement; the quotation takes in the negation."""

    start: int
    end: int
    form: str
    base: float
    """The words alone, negation left out."""
    first: float
    """With the negation that stands right beside them: the first look."""
    full: float
    """With the whole scope of every negating word: the second look."""
    clause: int
    targets: tuple[int, ...] = ()
    is_verdict: bool = False
    """Said of the whole, whether or not something is named."""
    scope_note: str = ""
    """Why the second look differs from the first."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One text, read once."""

    text: str
    clauses: tuple[Clause, ...] = ()
    targets: tuple[Target, ...] = ()
    opinions: tuple[Opinion, ...] = ()
    contrasts: tuple[Cue, ...] = ()
    opinions_of: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Target -> its opinions."""
    by_term: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Normalised term -> its targets."""
    by_clause: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Clause -> its opinions."""
    words: tuple[Word, ...] = ()

    def clause_at(self, position: int) -> int:
        """Return the clause that holds a position, else the one before it."""
        return max(0, bisect_right(self.clauses, position, key=lambda clause: clause.start) - 1)


def build_reading(
    text: str,
    clauses: Sequence[Clause],
    targets: Sequence[Target],
    opinions: Sequence[Opinion],
    contrasts: tuple[Cue, ...],
    words: Sequence[Word] = (),
) -> Reading:
    """Return a reading with its look-up tables."""
    opinions_of: dict[int, list[int]] = {}
    by_clause: dict[int, list[int]] = {}
    for index, opinion in enumerate(opinions):
        by_clause.setdefault(opinion.clause, []).append(index)
        for target in opinion.targets:
            opinions_of.setdefault(target, []).append(index)
    by_term: dict[str, list[int]] = {}
    for index, named in enumerate(targets):
        by_term.setdefault(norm(named.term), []).append(index)
    return Reading(
        text=text,
        clauses=tuple(clauses),
        targets=tuple(targets),
        opinions=tuple(opinions),
        contrasts=contrasts,
        opinions_of={key: tuple(found) for key, found in opinions_of.items()},
        by_term={key: tuple(found) for key, found in by_term.items()},
        by_clause={key: tuple(found) for key, found in by_clause.items()},
        words=tuple(words),
    )
