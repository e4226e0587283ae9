"""Reads the rows of a store: single episodes, all lines of a sample, the live episodes as a sequence."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory.episodes.judged_episode import with_verdicts
from episodic_absa.memory.retrieval.past_index import LiveEpisodes
from episodic_absa.memory.store.episode_line import parse_episode
from episodic_absa.memory.store.postgres.episode_groups import EpisodeGroups
from episodic_absa.memory.store.postgres.past_rows import PostgresIndex
from episodic_absa.memory.store.postgres.store_tables import (
    EPISODES,
    TALLIES,
    VERDICTS,
    Fetch,
    StoreState,
    bad_row,
    fetch_nothing,
    source_key,
)
from episodic_absa.memory.store.store_line import parse_line
from episodic_absa.schemas.memory_v1_2 import AnyEpisode, StoreLine, TallyV1_2, VerdictV1_2
from episodic_absa.vocabulary import Verdict

_AT_ONCE: Final = 200
_EPISODES_KEPT: Final = 512
_AT: Final = f"SELECT number, body FROM {EPISODES} WHERE store_id = %s AND number = ANY(%s::bigint[])"  # noqa: S608
_VERDICTS_ON: Final = f"""
SELECT body FROM {VERDICTS} WHERE store_id = %s AND source = ANY(%s::bigint[]) ORDER BY line
"""  # noqa: S608 - constants
_LINES_OF: Final = f"""
SELECT line, body FROM {EPISODES} WHERE store_id = %(store_id)s AND source = %(source)s
UNION ALL SELECT line, body FROM {TALLIES} WHERE store_id = %(store_id)s AND source = %(source)s
UNION ALL SELECT line, body FROM {VERDICTS} WHERE store_id = %(store_id)s AND source = %(source)s
ORDER BY line
"""  # noqa: S608 - constants


class StoredRows:
    """The rows of one generation of a store. The last episodes read are kept in memory.

    Args:
        fetch: runs a query.
        state: the row of the store; a store that was not created has no rows.
    """

    def __init__(self, fetch: Fetch, state: StoreState) -> None:
        self.fetch: Fetch = fetch if state.store_id else fetch_nothing
        self.state = state
        self.groups = EpisodeGroups()
        self._kept: OrderedDict[int, AnyEpisode] = OrderedDict()

    def read_on(self, state: StoreState) -> None:
        """Take note of what was appended since."""
        self.groups.read_on(self.fetch, state)
        self.state = state

    def stored(self, numbers: Sequence[int]) -> dict[int, AnyEpisode]:
        """Return the episodes with these numbers, as they were stored; one that is gone is left out."""
        episodes = {number: self._kept[number] for number in numbers if number in self._kept}
        missing = [number for number in numbers if number not in episodes]
        if missing:
            for number, body in self.fetch(_AT, (self.state.store_id, missing)):
                episodes[number] = self._kept[number] = parse_episode(body, bad_row)
        for number in episodes:
            self._kept.move_to_end(number)
        while len(self._kept) > _EPISODES_KEPT:
            self._kept.popitem(last=False)
        return episodes

    def verdicts_on(self, source_ids: Iterable[str]) -> dict[str, dict[str | None, Verdict]]:
        """Return the last verdict per sample and aspect."""
        sources = sorted({source_key(source_id) for source_id in source_ids})
        verdicts: dict[str, dict[str | None, Verdict]] = {}
        for (body,) in self.fetch(_VERDICTS_ON, (self.state.store_id, sources)):
            line = parse_line(body, bad_row)
            if isinstance(line, VerdictV1_2):
                verdicts.setdefault(line.source_id, {})[line.aspect] = line.verdict
        return verdicts

    def lines_of(self, source_id: str) -> Iterator[StoreLine]:
        """Yield everything that the store knows about a sample."""
        wanted: Any = {"store_id": self.state.store_id, "source": source_key(source_id)}
        for _, body in self.fetch(_LINES_OF, wanted):
            line = parse_line(body, bad_row)
            # Two uids may share a hash.
            if source_of(line) == source_id:
                yield line


class PostgresEpisodes(LiveEpisodes):
    """The live episodes of a store in PostgreSQL, as it was when it was loaded. Ordinals are numbers."""

    def __init__(self, rows: StoredRows, state: StoreState, keep_last_n: int) -> None:
        self._rows = rows
        self._state = state
        self._first_live = state.first_live(keep_last_n)
        self._index = PostgresIndex(rows.fetch, state, rows.groups, keep_last_n)

    @property
    def episode_index(self) -> PostgresIndex:
        """The index over the episodes."""
        return self._index

    @property
    def ordinals(self) -> range:
        """The numbers of the live episodes."""
        return range(self._first_live, self._state.last_number + 1)

    def at(self, ordinal: int) -> AnyEpisode:
        """Return the episode with that number, with the outcome that persons give it."""
        return self.at_all([ordinal])[0]

    def at_all(self, ordinals: Iterable[int]) -> list[AnyEpisode]:
        """Return the episodes with these numbers, with the outcomes that persons give them.

        Raises:
            MemoryStoreError: one was removed since the store was loaded.
        """
        numbers = list(ordinals)
        judged = self._judged(numbers)
        if gone := [number for number in numbers if number not in judged]:
            raise MemoryStoreError(
                f"epi_{gone[0]:06d} is not in the store any more: it was compacted after it was loaded; load it again"
            )
        return [judged[number] for number in numbers]

    def __iter__(self) -> Iterator[AnyEpisode]:
        live = self.ordinals
        for first in range(0, len(live), _AT_ONCE):
            yield from self.at_all(live[first : first + _AT_ONCE])

    def newest_first(self) -> Iterator[AnyEpisode]:
        """Yield the episodes, the newest first."""
        live = self.ordinals[::-1]
        for first in range(0, len(live), _AT_ONCE):
            numbers = live[first : first + _AT_ONCE]
            judged = self._judged(numbers)
            # A compaction meanwhile removes the oldest.
            yield from (judged[number] for number in numbers if number in judged)

    def _judged(self, numbers: Sequence[int]) -> dict[int, AnyEpisode]:
        stored = self._rows.stored(numbers) if numbers else {}
        if not self._state.verdict_n or not stored:
            return stored
        verdicts = self._rows.verdicts_on(episode.provenance.source_id for episode in stored.values())
        return {
            number: with_verdicts(episode, verdicts.get(episode.provenance.source_id, {}))
            for number, episode in stored.items()
        }


def source_of(line: StoreLine) -> str:
    """Return the uid of the sample that a line is about."""
    return line.source_id if isinstance(line, TallyV1_2 | VerdictV1_2) else line.provenance.source_id
