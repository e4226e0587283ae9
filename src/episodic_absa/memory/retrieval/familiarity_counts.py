"""Counts in how many analysed reviews a term was a final target. The counts are kept, so a question costs no scan."""

from collections import Counter
from collections.abc import KeysView
from typing import NamedTuple

from episodic_absa.memory.advice.chance import drawn_places
from episodic_absa.schemas.memory_v1_2 import TallyV1_2
from episodic_absa.vocabulary import Language


class Familiarity(NamedTuple):
    """How often a target occurred."""

    seen_in: int
    """Earlier reviews of the language in which the term was a final target."""
    of: int
    """All earlier reviews of the language."""


class FamiliarityCounts:
    """The counts of all tallies of a store. Each source counts once, with its first tally.

    A term that is too long to be stored is in no tally: ask only for terms that `stored_term` leaves as they are.

    Example:
        >>> from episodic_absa.schemas.memory_v1_2 import TallyV1_2
        >>> counts = FamiliarityCounts()
        >>> counts.add(TallyV1_2(language="en", source_id="r1", terms=("breakfast", "room")))
        >>> counts.add(TallyV1_2(language="en", source_id="r2", terms=("room",)))
        >>> counts.of("en", "room"), counts.of("en", "room", exclude_source="r2")
        (Familiarity(seen_in=2, of=2), Familiarity(seen_in=1, of=1))
    """

    def __init__(self) -> None:
        self._review_n = Counter[str]()
        self._seen_in: dict[str, dict[str, int]] = {}
        """Language -> term -> reviews, in the order in which terms first occurred."""
        self._terms: dict[str, list[str]] = {}
        self._tally_of: dict[str, tuple[str, tuple[str, ...]]] = {}
        # Equal tallies share one object.
        self._distinct: dict[tuple[str, tuple[str, ...]], tuple[str, tuple[str, ...]]] = {}

    def add(self, tally: TallyV1_2) -> None:
        """Count the targets of a sample, unless its source is counted already."""
        if tally.source_id in self._tally_of:
            return
        counted: tuple[str, tuple[str, ...]] = (tally.language, tuple(dict.fromkeys(tally.terms)))
        counted = self._tally_of[tally.source_id] = self._distinct.setdefault(counted, counted)
        language, terms = counted
        self._review_n[language] += 1
        seen_in = self._seen_in.setdefault(language, {})
        for term in terms:
            if term not in seen_in:
                self._terms.setdefault(language, []).append(term)
            seen_in[term] = seen_in.get(term, 0) + 1

    def of(self, language: Language, term: str, *, exclude_source: str | None = None) -> Familiarity:
        """Return how familiar a target is.

        Args:
            language: of the current sample.
            term: the normalised term of the target, as `stored_term` gives it.
            exclude_source: the uid of the current sample, whose own tally does not count.
        """
        seen_in, review_n = self._seen_in.get(language, {}).get(term, 0), self._review_n[language]
        own = self._tally_of.get(exclude_source) if exclude_source is not None else None
        if own is not None and own[0] == language:
            return Familiarity(seen_in - (term in own[1]), review_n - 1)
        return Familiarity(seen_in, review_n)

    def random_term(self, uid: str, position: int, language: Language) -> str | None:
        """Return a stored term of a language, drawn by uid and position; None if none is stored."""
        terms = self._terms.get(language, [])
        place = next(drawn_places(f"{uid}\0{position}", len(terms)), None)
        return None if place is None else terms[place]

    @property
    def sources(self) -> KeysView[str]:
        """The sources that are counted."""
        return self._tally_of.keys()
