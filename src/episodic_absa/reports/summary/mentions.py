"""Assigns aspects to groups of near-equal terms and counts polarities: of a whole table, or review by review."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

from episodic_absa.analysed_review import AnalysedReview
from episodic_absa.reports.summary.shown_text import on_one_line
from episodic_absa.reports.summary.summary import Part, Tally
from episodic_absa.reports.summary.term_groups import TermGroup, group_of, joined_keys, may_join, term_key
from episodic_absa.vocabulary import POLARITIES, Polarity

Pair = tuple[int, Polarity]
"""A group, by its place, and a polarity."""
LONGEST_NAME: Final = 60


class Mentions(NamedTuple):
    """The groups of a table, and which group each aspect of each review belongs to."""

    groups: tuple[TermGroup, ...]
    """By mentions, the commonest first."""
    places: tuple[tuple[int, ...], ...]
    """Per review and aspect, the place of the group."""
    pairs: tuple[frozenset[Pair], ...]
    """Per review, what it counts for: once per group and polarity."""


def find_mentions(reviews: Sequence[AnalysedReview]) -> Mentions:
    """Group the terms of all reviews.

    Raises:
        ValueError: a polarity is none of positive, negative and neutral.
    """
    keys = [[term_key(aspect.term, review.text) for aspect in review.aspects] for review in reviews]
    joined = joined_keys(key for row in keys for key in row)
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    pairs_of_keys: list[set[tuple[str, Polarity]]] = []
    for number, (review, row) in enumerate(zip(reviews, keys, strict=True), start=1):
        pairs: set[tuple[str, Polarity]] = set()
        for aspect, key in zip(review.aspects, row, strict=True):
            spellings[joined[key]][on_one_line(aspect.term, LONGEST_NAME) if key else ""] += 1
            pairs.add((joined[key], checked_polarity(aspect.polarity, number)))
        pairs_of_keys.append(pairs)
    counts = Counter(key for pairs in pairs_of_keys for key, _ in pairs)
    ordered = sorted(spellings, key=lambda key: (-counts[key], key))
    place_of = {key: place for place, key in enumerate(ordered)}
    return Mentions(
        tuple(group_of(spellings[key]) for key in ordered),
        tuple(tuple(place_of[joined[key]] for key in row) for row in keys),
        tuple(frozenset((place_of[key], polarity) for key, polarity in pairs) for pairs in pairs_of_keys),
    )


def tally(pairs: Counter[Pair] | Counter[Polarity]) -> Tally:
    """Return the sum of counted pairs or polarities."""
    counts: Counter[str] = Counter()
    for pair, count in pairs.items():
        counts[pair if isinstance(pair, str) else pair[1]] += count
    return Tally(**{polarity: counts[polarity] for polarity in POLARITIES})


def tallies_by_group(pairs: Counter[Pair], groups_n: int) -> tuple[Tally, ...]:
    """Return the tally of each of the first groups."""
    return tuple(Tally(**{polarity: pairs[place, polarity] for polarity in POLARITIES}) for place in range(groups_n))


def split_by(
    pairs: Sequence[frozenset[Pair]], slots: Sequence[int | None], names: Sequence[str], leading_n: int
) -> tuple[Part, ...]:
    """Return the mentions by slot, a value or a bin; a review whose slot is None counts nowhere."""
    counts: list[Counter[Pair]] = [Counter() for _ in names]
    reviews_n = [0] * len(names)
    for review_pairs, slot in zip(pairs, slots, strict=True):
        if slot is not None:
            reviews_n[slot] += 1
            counts[slot].update(review_pairs)
    return tuple(
        Part(name, count, (tally(counted), *tallies_by_group(counted, leading_n)))
        for name, count, counted in zip(names, reviews_n, counts, strict=True)
    )


def checked_polarity(polarity: str, number: int) -> Polarity:
    """Return the polarity of a review's aspect.

    Raises:
        ValueError: it is none of positive, negative and neutral.
    """
    if polarity not in POLARITIES:
        raise ValueError(f"review {number} has an unknown polarity; use one of {', '.join(POLARITIES)}")
    return polarity


class CountedGroup(NamedTuple):
    """A group of terms and its mentions."""

    group: TermGroup
    tally: Tally


class TermCounts:
    """Counts the terms of one review after another; a review counts once per group and polarity.

    Example:
        >>> from episodic_absa.analysed_review import AnalysedAspect, AnalysedReview
        >>> counts = TermCounts()
        >>> for term in ("service", "Services", "room"):
        ...     aspect = AnalysedAspect(term, "positive", 0.9, "")
        ...     counts.add(AnalysedReview(f"Good {term}.", {}, "en", "positive", (aspect,)))
        >>> [(counted.group.name, counted.tally.positive) for counted in counts.groups()]
        [('service', 2), ('room', 1)]
    """

    def __init__(self) -> None:
        self._reviews_n = 0
        self._spellings: dict[str, Counter[str]] = defaultdict(Counter)
        # Which keys are one group is known at the end, so keys of one review that may join are counted together.
        self._clusters: Counter[tuple[frozenset[str], Polarity]] = Counter()

    def add(self, review: AnalysedReview) -> None:
        """Count the aspects of a review.

        Raises:
            ValueError: a polarity is none of positive, negative and neutral.
        """
        self._reviews_n += 1
        keys: dict[Polarity, set[str]] = defaultdict(set)
        for aspect in review.aspects:
            key = term_key(aspect.term, review.text)
            self._spellings[key][on_one_line(aspect.term, LONGEST_NAME) if key else ""] += 1
            keys[checked_polarity(aspect.polarity, self._reviews_n)].add(key)
        for polarity, mentioned in keys.items():
            self._clusters.update((cluster, polarity) for cluster in _clusters(mentioned))

    def groups(self) -> list[CountedGroup]:
        """Return the groups, the commonest first. Opinions that name no aspect are a group with an empty name."""
        joined = joined_keys(self._spellings)
        spellings: dict[str, Counter[str]] = defaultdict(Counter)
        for key, counts in self._spellings.items():
            spellings[joined[key]].update(counts)
        tallies: dict[str, Counter[Polarity]] = defaultdict(Counter)
        for (cluster, polarity), count in self._clusters.items():
            for key in {joined[key] for key in cluster}:
                tallies[key][polarity] += count
        ordered = sorted(spellings, key=lambda key: (-tallies[key].total(), key))
        return [CountedGroup(group_of(spellings[key]), tally(tallies[key])) for key in ordered]


def _clusters(keys: set[str]) -> list[frozenset[str]]:
    """Return the keys in clusters; keys of different clusters are never one group."""
    clusters: list[frozenset[str]] = []
    for key in sorted(keys):
        near = [cluster for cluster in clusters if any(may_join(key, other) for other in cluster)]
        clusters = [cluster for cluster in clusters if cluster not in near]
        clusters.append(frozenset({key}).union(*near))
    return clusters
