"""Assigns every aspect of every review to a group of near-equal terms, and counts polarities."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

from episodic_absa.analysed_review import AnalysedReview
from episodic_absa.reports.summary.shown_text import on_one_line
from episodic_absa.reports.summary.summary import Tally
from episodic_absa.reports.summary.term_groups import TermGroup, group_of, joined_keys, term_key
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


class Split(NamedTuple):
    """The mentions of the reviews that share a value or a bin."""

    reviews_n: int
    tallies: tuple[Tally, ...]
    """All groups first, then the leading groups in order."""


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
    pairs: Sequence[frozenset[Pair]], slots: Sequence[int | None], slots_n: int, leading_n: int
) -> tuple[Split, ...]:
    """Return the mentions by slot, a value or a bin; a review whose slot is None counts nowhere."""
    counts: list[Counter[Pair]] = [Counter() for _ in range(slots_n)]
    reviews_n = [0] * slots_n
    for review_pairs, slot in zip(pairs, slots, strict=True):
        if slot is not None:
            reviews_n[slot] += 1
            counts[slot].update(review_pairs)
    return tuple(
        Split(count, (tally(counted), *tallies_by_group(counted, leading_n)))
        for count, counted in zip(reviews_n, counts, strict=True)
    )


def checked_polarity(polarity: str, number: int) -> Polarity:
    """Return the polarity of a review's aspect.

    Raises:
        ValueError: it is none of positive, negative and neutral.
    """
    if polarity not in POLARITIES:
        raise ValueError(f"review {number} has an unknown polarity; use one of {', '.join(POLARITIES)}")
    return polarity
