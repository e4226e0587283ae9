"""Counts terms review by review, in groups as the summary counts them. It keeps counts and no review."""

from collections import Counter, defaultdict
from typing import NamedTuple

from episodic_absa.analysed_review import AnalysedReview
from episodic_absa.reports.summary.mentions import LONGEST_NAME, checked_polarity, tally
from episodic_absa.reports.summary.shown_text import on_one_line
from episodic_absa.reports.summary.summary import Tally
from episodic_absa.reports.summary.term_groups import TermGroup, group_of, joined_keys, may_join, term_key
from episodic_absa.vocabulary import Polarity


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
