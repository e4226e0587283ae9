"""Adds experience and familiarity to the advice of a source: counted over a store, or drawn at random as a control."""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from episodic_absa.memory.advice.counted_advice import experience_advisory, familiarity_advisory
from episodic_absa.memory.advice.label_firewall import LabelFirewall
from episodic_absa.memory.advice.sources import AdviceMoment, AdviceSource, Offer
from episodic_absa.memory.retrieval.experience_counts import Experience
from episodic_absa.memory.retrieval.familiarity_counts import Familiarity
from episodic_absa.memory.retrieval.past_index import PastIndex
from episodic_absa.schemas.advisory_v1_2 import EXPERIENCE_PRINCIPLES, FamiliarTargetV1_2
from episodic_absa.vocabulary import ChangeKind

IndexOf = Callable[[AdviceMoment], PastIndex]


class Past(Protocol):
    """What a source may count for a sample. The sample's own lines never count."""

    def experience(self, moment: AdviceMoment, kind: ChangeKind) -> Experience | None:
        """Return how changes of a kind turned out; None if too few are decided."""
        ...

    def familiarity(self, moment: AdviceMoment, position: int) -> Familiarity | None:
        """Return how often the target at a position, counted from 1, was a final target before."""
        ...


class CountedPast:
    """The true counts of a store."""

    def __init__(self, index_of: IndexOf) -> None:
        self._index_of = index_of

    def experience(self, moment: AdviceMoment, kind: ChangeKind) -> Experience | None:
        """Return the counts of the sample's own cell, or of the narrowest wider one that says enough."""
        return self._index_of(moment).experience.of(moment.signature, kind, exclude_source=moment.uid or None)

    def familiarity(self, moment: AdviceMoment, position: int) -> Familiarity | None:
        """Return the counts of the target's term; None if the term is too long to be counted."""
        counts, term = self._index_of(moment).familiarity, moment.targets[position - 1]
        if term is None:
            return None
        return counts.of(moment.signature.language, term, exclude_source=moment.uid or None)


class RandomPast:
    """True counts of something else: of another cell, and of other terms, drawn by uid."""

    def __init__(self, index_of: IndexOf) -> None:
        self._index_of = index_of

    def experience(self, moment: AdviceMoment, kind: ChangeKind) -> Experience | None:
        """Return the counts of a cell that is not the sample's."""
        counts = self._index_of(moment).experience
        return counts.of_random_cell(moment.uid, moment.signature, kind, exclude_source=moment.uid or None)

    def familiarity(self, moment: AdviceMoment, position: int) -> Familiarity | None:
        """Return the counts of a stored term that uid and position draw."""
        counts, language = self._index_of(moment).familiarity, moment.signature.language
        drawn = counts.random_term(moment.uid, position, language)
        # Where true advice says nothing, the control says nothing either.
        if drawn is None or moment.targets[position - 1] is None:
            return None
        return counts.of(language, drawn, exclude_source=moment.uid or None)


class WithCounts:
    """The advice of another source, with experience and familiarity beside it."""

    def __init__(
        self, source: AdviceSource, past: Past, firewall: LabelFirewall, retired: frozenset[str] = frozenset()
    ) -> None:
        self._source = source
        self._past = past
        self._firewall = firewall
        self._retired = retired

    def offer(self, moment: AdviceMoment) -> Offer:
        """Return the offer of the source with what the past says, retired principles left out."""
        offer, language = self._source.offer(moment), moment.signature.language
        kinds = (self._past.experience(moment, kind) for kind in EXPERIENCE_PRINCIPLES)
        experience = [experience_advisory(counted, language) for counted in kinds if counted is not None]
        familiarity = familiarity_advisory(self._targets(moment), language)
        of_changes = self._firewall.passing(experience, moment.terms)
        of_targets = self._firewall.passing([familiarity] if familiarity else [], moment.terms)
        dropped = len(experience) - len(of_changes) + bool(familiarity) - len(of_targets)
        return replace(
            offer,
            experience=of_changes,
            familiarity=of_targets[0] if of_targets else None,
            firewall_dropped_n=offer.firewall_dropped_n + dropped,
        ).without(self._retired)

    def _targets(self, moment: AdviceMoment) -> list[FamiliarTargetV1_2]:
        counted = (
            (position, self._past.familiarity(moment, position)) for position in range(1, len(moment.targets) + 1)
        )
        return [
            FamiliarTargetV1_2(position=position, seen_in=familiarity.seen_in, of=familiarity.of)
            for position, familiarity in counted
            if familiarity is not None
        ]
