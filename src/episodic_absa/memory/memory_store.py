"""The store of episodes, as the memory uses it: with the guard of the catalogue, and as people judged the episodes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, overload

from pydantic import BaseModel, ValidationError

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory.advice.principles import PrincipleCatalogue, load_catalogue
from episodic_absa.memory.episodes.judged_episode import with_verdicts
from episodic_absa.memory.episodes.leak_guard import refuse_forbidden_keys, store_guard
from episodic_absa.schemas.memory_v1_1 import RiskTags
from episodic_absa.schemas.stored.memory_v1_3 import (
    DEFAULT_NAMESPACE,
    AnswerV1_3,
    EpisodeDraftV1_3,
    EpisodicMemoryEntryV1_3,
)
from episodic_absa.serialization.quoted_value import reasons_of
from episodic_absa.store.additions import Guard
from episodic_absa.store.dialects.jsonl_dialect import ScratchDialect
from episodic_absa.store.episode_store import DEFAULT_BUSY_TIMEOUT_S, DEFAULT_KEEP_LAST_N, EpisodeStore
from episodic_absa.store.open_store import database_at
from episodic_absa.store.ranking import Query
from episodic_absa.vocabulary import Structure

NOVELTY_WINDOW: Final = 200

NoveltyKey = tuple[str, tuple[Structure, ...], RiskTags, str]


class Scratch(NamedTuple):
    """The location of a store that begins empty and ends when it is closed."""

    file: Path
    """What the store stands for, in messages."""


class MemoryStore(EpisodeStore):
    """The store at a location. Nothing is opened before it is needed, or created before an append.

    Args:
        location: a SQLite file; a file that ends in `.jsonl`, which is kept current by a database beside it; or
            `postgresql://host/database?store=NAME` (extra `postgres`); or a `Scratch`.
        namespace: whose episodes are read and written.
        keep_last_n: how many of the newest episodes a search looks at.
        catalogue: the principles that episodes may name; by default the shipped ones.
        busy_timeout_s: how long an append waits for another writer.
        reads_only: whether nothing will be written; then a `.jsonl` file gets no database beside it.

    Raises:
        InputError: `location` is no path.
        ConfigError: `keep_last_n` is below 1.
        MemoryStoreError: the address names no database or holds a password.

    Example:
        >>> from episodic_absa import MemoryStore, analyze
        >>> result = analyze("The room was clean, but the breakfast was cold.", condition="C2", store="memory.jsonl")
        >>> with MemoryStore("memory.jsonl") as store:
        ...     [episode.episode_id for episode in store.load()]
        ['epi_000001']
    """

    def __init__(
        self,
        location: "str | Path | Scratch",
        *,
        namespace: str = DEFAULT_NAMESPACE,
        keep_last_n: int = DEFAULT_KEEP_LAST_N,
        catalogue: PrincipleCatalogue | None = None,
        busy_timeout_s: float = DEFAULT_BUSY_TIMEOUT_S,
        reads_only: bool = False,
    ) -> None:
        guard = _guard_of(catalogue)
        if not isinstance(location, Scratch):
            database = database_at(location, guard=guard, busy_timeout_s=busy_timeout_s, reads_only=reads_only)
        else:
            database = ScratchDialect(location.file, guard=guard)
        super().__init__(database, guard=guard, namespace=namespace, keep_last_n=keep_last_n)

    def load(self) -> "StoredEpisodes":
        """Return the episodes that a search looks at, oldest first. Each is read on access.

        Raises:
            MemoryStoreError: there is something else at the location, or a file of JSON lines that others changed.
        """
        len(self)
        return StoredEpisodes(self)

    def append(
        self, draft: EpisodeDraftV1_3 | Mapping[str, Any], *, answer: AnswerV1_3 | None = None
    ) -> EpisodicMemoryEntryV1_3:
        """Write an episode, and the answer of its review, in one transaction; return it with its id once it is on disk.

        Args:
            draft: an episode of schema 1.3; an id in a mapping is ignored.
            answer: what was answered for the same review.

        Raises:
            LeakageError: it holds a forbidden key or free text. The store is unchanged.
            MemoryStoreError: it breaks the schema, another writer holds the store, or the database refuses. The store
                is unchanged.
        """
        return super().append(draft if isinstance(draft, EpisodeDraftV1_3) else _parsed(draft), answer=answer)

    def episodes(self, numbers: Sequence[int]) -> list[EpisodicMemoryEntryV1_3]:
        """Return the episodes with these numbers, in this order, as people judged them."""
        return list(self._judged(super().episodes(numbers)))

    def newest_episodes(self) -> Iterator[EpisodicMemoryEntryV1_3]:
        """Yield all episodes, newest first, as people judged them; read as they are consumed."""
        return self._judged(super().newest_episodes())

    def is_novel(self, draft: EpisodeDraftV1_3) -> bool:
        """Return whether none of the last 200 episodes is about the same kind of case."""
        key = _novelty_key(draft)
        return all(_novelty_key(episode) != key for episode in self.episodes(self.live_numbers()[-NOVELTY_WINDOW:]))

    def _judged(
        self, episodes: Sequence[EpisodicMemoryEntryV1_3] | Iterator[EpisodicMemoryEntryV1_3]
    ) -> Iterator[EpisodicMemoryEntryV1_3]:
        has_verdicts = self.has_verdicts()
        for episode in episodes:
            yield with_verdicts(episode, self.verdicts_on(episode.provenance.source_id)) if has_verdicts else episode


class StoredEpisodes(Sequence[EpisodicMemoryEntryV1_3]):
    """The episodes of a store that a search looks at, oldest first."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def search(self, query: Query) -> list[EpisodicMemoryEntryV1_3]:
        """Return the most similar episodes, best first."""
        return self._store.search(query)

    def numbers(self, language: str) -> list[int]:
        """Return the numbers of the episodes of a language, oldest first."""
        return self._store.live_numbers(language)

    def numbered(self, number: int) -> EpisodicMemoryEntryV1_3:
        """Return the episode with a number that `numbers` gave."""
        return self._store.episodes([number])[0]

    def __len__(self) -> int:
        return len(self._store)

    def __iter__(self) -> Iterator[EpisodicMemoryEntryV1_3]:
        return iter(self._store.episodes(self._store.live_numbers()))

    @overload
    def __getitem__(self, place: int) -> EpisodicMemoryEntryV1_3: ...
    @overload
    def __getitem__(self, place: slice) -> list[EpisodicMemoryEntryV1_3]: ...
    def __getitem__(self, place: int | slice) -> EpisodicMemoryEntryV1_3 | list[EpisodicMemoryEntryV1_3]:
        numbers = self._store.live_numbers()[place]
        return self._store.episodes(numbers) if isinstance(numbers, list) else self.numbered(numbers)


def _guard_of(catalogue: PrincipleCatalogue | None) -> Guard:
    """Return the guard of a catalogue, which is loaded when something is stored."""
    guard: Callable[[], Guard] = cache(lambda: store_guard(catalogue or load_catalogue()))

    def refuse(value: BaseModel) -> None:
        guard()(value)

    return refuse


def _parsed(draft: Mapping[str, Any]) -> EpisodeDraftV1_3:
    refuse_forbidden_keys(draft)
    try:
        return EpisodeDraftV1_3.model_validate({key: value for key, value in draft.items() if key != "episode_id"})
    except ValidationError as error:
        raise MemoryStoreError(f"not an episode: {reasons_of(error)}; nothing is stored") from error


def _novelty_key(draft: EpisodeDraftV1_3) -> NoveltyKey:
    signature = draft.input_signature
    return (
        signature.language,
        signature.detected_structure,
        draft.evaluation.risk_before.tags,
        draft.case_summary.symptom,
    )
