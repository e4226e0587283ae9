"""What advice asks of the past: the same questions, whether a file or a database keeps it."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Protocol, overload

from episodic_absa.memory.retrieval.episode_index import Query
from episodic_absa.memory.retrieval.known_samples import KnownSamples
from episodic_absa.schemas.memory_v1_2 import AnyDraft, AnyEpisode


class PastIndex(Protocol):
    """Finds episodes by query; `EpisodeIndex` states the rules. Ordinals ascend in store order."""

    @property
    def samples(self) -> KnownSamples:
        """The tallies and verdicts of the store."""
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
