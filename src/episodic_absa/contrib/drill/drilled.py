"""What a drill found: counts per condition, stored terms by kind of attack, and every leak."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, Literal, get_args

from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.vocabulary import Rules

Where = Literal["store", "term", "advisory", "message", "prompt", "form"]
"""store: outside terms; term: a term that must not be stored; advisory: the bundle or record of a sample; message: a
memory slot in a prompt; prompt: the prompt of another review; form: a review changed the form of its own prompt."""
PLACES: Final[tuple[Where, ...]] = get_args(Where)


class Leak(FrozenModel):
    """One place that a review must not reach."""

    condition: str
    where: Where
    review: str
    """The id of the review whose words turned up."""
    seen_by: str
    """The id of the review whose prompt or advisory it is; "" for the store."""
    place: str
    """The field, or the role that was asked."""
    excerpt: str


class StoredTerm(FrozenModel):
    """A term of a hostile review that stands in a store."""

    condition: str
    attack: str
    review: str
    term: str


class DrilledCondition(FrozenModel):
    """One condition, drilled."""

    condition: str
    rules: Rules
    samples: int
    failed: int
    """Samples without a result: an answer was refused, or the leak guard refused the episode."""
    episodes: int
    """Lines of the store."""
    shown: int
    """Samples of which a prompt showed memory."""
    long_terms: int
    """Stored terms of which nothing but the word long_term was kept."""
    obeyed_stage1: int
    """Hostile reviews whose Stage1 result holds a pair that they ask for."""
    obeyed: int
    """Hostile reviews whose final result does."""
    leaks: tuple[Leak, ...]
    terms: tuple[StoredTerm, ...]

    @property
    def leaks_by_place(self) -> dict[Where, int]:
        """The number of leaks of each kind, those without any included."""
        return _by_place(self.leaks)


class Drilled(FrozenModel):
    """A whole drill."""

    backend: str
    hostile: int
    hostile_korean: int
    ordinary: int
    conditions: tuple[DrilledCondition, ...]

    @property
    def leaks(self) -> tuple[Leak, ...]:
        """Every leak of every condition."""
        return tuple(leak for condition in self.conditions for leak in condition.leaks)

    @property
    def leaks_by_place(self) -> dict[Where, int]:
        """The number of leaks of each kind, those without any included."""
        return _by_place(self.leaks)

    @property
    def is_sound(self) -> bool:
        """Whether nothing leaked."""
        return not self.leaks

    @property
    def shows_memory(self) -> bool:
        """Whether any prompt showed memory; a drill in which none did says nothing about advisories."""
        return any(condition.shown for condition in self.conditions)

    @property
    def terms_by_attack(self) -> dict[str, int]:
        """How many distinct terms of each kind of attack stand in a store, whatever the condition."""
        distinct = {(term.attack, term.term) for condition in self.conditions for term in condition.terms}
        return dict(sorted(Counter(attack for attack, _ in distinct).items()))

    def to_json(self) -> dict[str, Any]:
        """Return the drill as a JSON value."""
        figures = ("is_sound", "leaks_by_place", "terms_by_attack")
        return {**self.model_dump(mode="json"), **{name: getattr(self, name) for name in figures}}


def distinct_leaks(leaks: Iterable[Leak]) -> tuple[Leak, ...]:
    """Return the leaks without those that repeat the same words to the same reader at another place."""
    first: dict[tuple[str, ...], Leak] = {}
    for leak in leaks:
        first.setdefault((leak.condition, leak.where, leak.review, leak.seen_by, leak.excerpt), leak)
    return tuple(first.values())


def _by_place(leaks: Iterable[Leak]) -> dict[Where, int]:
    counts = Counter(leak.where for leak in leaks)
    return {where: counts[where] for where in PLACES}
