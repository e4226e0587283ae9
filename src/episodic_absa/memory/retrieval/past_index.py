"""What advice asks of the past: the same questions, whether a file or a database keeps it."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol, overload

from episodic_absa.memory.retrieval.episode_index import Query
from episodic_absa.memory.retrieval.experience_counts import Experience
from episodic_absa.memory.retrieval.familiarity_counts import Familiarity
from episodic_absa.schemas.memory_v1_1 import InputSignatureV1_1
from episodic_absa.schemas.memory_v1_2 import AnyDraft, AnyEpisode
from episodic_absa.vocabulary import ChangeKind, Language, Verdict


class PastExperience(Protocol):
    """How proposed changes turned out; `ExperienceCounts` states the rules."""

    def of(
        self, signature: InputSignatureV1_1, kind: ChangeKind, *, exclude_source: str | None = None
    ) -> Experience | None:
        """Return the counts of the narrowest cell that says enough."""
        ...

    def of_random_cell(
        self, uid: str, signature: InputSignatureV1_1, kind: ChangeKind, *, exclude_source: str | None = None
    ) -> Experience | None:
        """Return the counts of another cell, drawn by uid."""
        ...

    def verdicts_on(self, source_id: str) -> Mapping[str | None, Verdict]:
        """Return the last verdict per aspect on the result of a sample."""
        ...


class PastFamiliarity(Protocol):
    """How often terms were final targets; `FamiliarityCounts` states the rules."""

    @property
    def sources(self) -> Collection[str]:
        """The sources that are counted."""
        ...

    def of(self, language: Language, term: str, *, exclude_source: str | None = None) -> Familiarity:
        """Return how familiar a target is."""
        ...

    def random_term(self, uid: str, position: int, language: Language) -> str | None:
        """Return a stored term of a language, drawn by uid and position."""
        ...


class PastIndex(Protocol):
    """Finds episodes by query; `EpisodeIndex` states the rules. Ordinals ascend in store order."""

    @property
    def experience(self) -> PastExperience:
        """How proposed changes turned out, over all episodes of the store, pruned ones included."""
        ...

    @property
    def familiarity(self) -> PastFamiliarity:
        """How often terms were final targets, over all tallies of the store."""
        ...

    def search(self, query: Query) -> list[int]:
        """Return the ordinals of the best live episodes, best first. A full scan gives the same."""
        ...

    def live_in(self, language: str) -> Sequence[int]:
        """Return the ordinals of the live episodes in a language, oldest first."""
        ...

    def is_novel(self, draft: AnyDraft) -> bool:
        """Return whether none of the last 200 episodes has the same novelty key."""
        ...


class IndexedEpisodes(ABC):
    """Episodes together with an index over them."""

    @property
    @abstractmethod
    def episode_index(self) -> PastIndex:
        """The index over the episodes."""

    @abstractmethod
    def at(self, ordinal: int) -> AnyEpisode:
        """Return the episode with that ordinal."""

    def at_all(self, ordinals: Iterable[int]) -> list[AnyEpisode]:
        """Return the episodes with these ordinals."""
        return [self.at(ordinal) for ordinal in ordinals]


class LiveEpisodes(IndexedEpisodes, Sequence[AnyEpisode]):
    """The live episodes of a store, oldest first, with the outcomes that persons give them. Each is read on access."""

    @property
    @abstractmethod
    def ordinals(self) -> range:
        """The ordinals of the live episodes."""

    def __len__(self) -> int:
        return len(self.ordinals)

    @overload
    def __getitem__(self, position: int) -> AnyEpisode: ...
    @overload
    def __getitem__(self, position: slice) -> list[AnyEpisode]: ...
    def __getitem__(self, position: int | slice) -> AnyEpisode | list[AnyEpisode]:
        if isinstance(position, slice):
            return self.at_all(self.ordinals[position])
        return self.at(self.ordinals[position])
