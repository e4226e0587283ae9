"""Counts in how many analysed reviews a term was a final target. The counts are kept, so a question costs no scan."""

from collections import Counter
from collections.abc import Iterator, KeysView, Mapping, Sequence
from typing import Final, NamedTuple

from episodic_absa.memory.advice.chance import drawn_places
from episodic_absa.memory.columns.column_file import Column, Columns, MappedColumns
from episodic_absa.memory.columns.term_counts import TermColumns, TermCounts
from episodic_absa.memory.columns.values_by_source import HeldValues, ValuesBySource
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.schemas.memory_v1_2 import TallyV1_2
from episodic_absa.vocabulary import Language

_NO_TERMS: Final = TermCounts()


class Familiarity(NamedTuple):
    """How often a target occurred."""

    seen_in: int
    """Earlier reviews of the language in which the term was a final target."""
    of: int
    """All earlier reviews of the language."""


class CountedTally(NamedTuple):
    """What counts of a tally."""

    language: str
    terms: tuple[str, ...]
    """Each once."""

    @classmethod
    def of(cls, tally: TallyV1_2) -> "CountedTally":
        """Return what counts of a tally."""
        return cls(tally.language, tuple(dict.fromkeys(tally.terms)))


def without_own(counted: Familiarity, own: Sequence[CountedTally], language: str, term: str) -> Familiarity:
    """Return the counts of a term without the sample that asks; of its own tallies only the first is counted."""
    if own and own[0].language == language:
        return Familiarity(counted.seen_in - (term in own[0].terms), counted.of - 1)
    return counted


class FamiliarityState(FrozenModel):
    """What a snapshot keeps of the counts besides terms and the lines of single samples."""

    review_n: dict[str, int]
    term_languages: tuple[str, ...]


class FamiliarityCounts:
    """The counts of all tallies of a store. Each source counts once, with its first tally.

    A term that is too long to be stored is in no tally: ask only for terms that `stored_term` leaves as they are.

    Args:
        tallies: where the first tally of a sample is found again; by default in memory.

    Example:
        >>> from episodic_absa.schemas.memory_v1_2 import TallyV1_2
        >>> counts = FamiliarityCounts()
        >>> counts.add(TallyV1_2(language="en", source_id="r1", terms=("breakfast", "room")))
        >>> counts.add(TallyV1_2(language="en", source_id="r2", terms=("room",)))
        >>> counts.of("en", "room"), counts.of("en", "room", exclude_source="r2")
        (Familiarity(seen_in=2, of=2), Familiarity(seen_in=1, of=1))
    """

    def __init__(self, tallies: ValuesBySource[CountedTally] | None = None) -> None:
        self._tallies: ValuesBySource[CountedTally] = HeldValues() if tallies is None else tallies
        self._review_n = Counter[str]()
        self._terms: dict[str, TermCounts] = {}

    def add(self, tally: TallyV1_2) -> None:
        """Count the targets of a sample, unless its source is counted already."""
        if self._tallies.of(tally.source_id):
            return
        counted = CountedTally.of(tally)
        self._tallies.add(tally.source_id, counted)
        self._review_n[counted.language] += 1
        terms = self._terms.get(counted.language)
        if terms is None:
            terms = self._terms[counted.language] = TermCounts()
        for term in counted.terms:
            terms.add(term)

    def of(self, language: Language, term: str, *, exclude_source: str | None = None) -> Familiarity:
        """Return how familiar a target is.

        Args:
            language: of the current sample.
            term: the normalised term of the target, as `stored_term` gives it.
            exclude_source: the uid of the current sample, whose own tally does not count.
        """
        seen_in, review_n = self._terms.get(language, _NO_TERMS).of(term), self._review_n[language]
        own = self._tallies.of(exclude_source) if exclude_source is not None else ()
        return without_own(Familiarity(seen_in, review_n), own, language, term)

    def random_term(self, uid: str, position: int, language: Language) -> str | None:
        """Return a stored term of a language, drawn by uid and position; None if none is stored."""
        terms = self._terms.get(language, _NO_TERMS)
        place = next(drawn_places(f"{uid}\0{position}", len(terms)), None)
        return None if place is None else terms.term(place)

    @property
    def sources(self) -> KeysView[str]:
        """The sources that are counted."""
        return _TallyOfSource(self._tallies).keys()

    def state(self, columns: Columns) -> FamiliarityState:
        """Return what a snapshot keeps, and put the terms into its columns."""
        for language, terms in self._terms.items():
            text, starts, counts, order = terms.columns()
            columns[f"terms.{language}.text"] = Column("B", (text,))
            columns[f"terms.{language}.starts"] = Column("Q", (starts,))
            columns[f"terms.{language}.counts"] = Column("Q", (counts,))
            columns[f"terms.{language}.order"] = Column("I", (order,))
        return FamiliarityState(review_n=dict(self._review_n), term_languages=tuple(self._terms))

    def restore(self, state: FamiliarityState, columns: MappedColumns) -> None:
        """Load the counts of a snapshot; nothing was counted before."""
        self._review_n = Counter(state.review_n)
        for language in state.term_languages:
            names = (f"terms.{language}.{name}" for name in TermColumns._fields)
            self._terms[language] = TermCounts(TermColumns(*map(columns.numbers, names)))


class _TallyOfSource(Mapping[str, CountedTally]):
    """The tallies that count, by source."""

    def __init__(self, tallies: ValuesBySource[CountedTally]) -> None:
        self._tallies = tallies

    def __getitem__(self, source: str) -> CountedTally:
        tallies = self._tallies.of(source)
        if not tallies:
            raise KeyError(source)
        return tallies[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tallies)

    def __len__(self) -> int:
        return len(self._tallies)
