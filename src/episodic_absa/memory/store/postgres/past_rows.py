"""Answers the questions of advice by queries that use an index: their cost does not grow with the store."""

from collections.abc import Iterator, Sequence
from typing import Final

from episodic_absa.memory.retrieval.episode_index import NOVELTY_WINDOW, Kind, Query, choose_among_equals, novelty_key
from episodic_absa.memory.retrieval.known_samples import KnownSamples
from episodic_absa.memory.store.postgres.episode_groups import EpisodeGroups, Group
from episodic_absa.memory.store.postgres.rows_by_source import tallies_by_source, verdicts_by_source
from episodic_absa.memory.store.postgres.store_tables import EPISODES, GROUPS, Fetch, StoreState, source_key
from episodic_absa.schemas.memory_v1_2 import AnyDraft

_GROUPS_AT_FIRST: Final = 16
_GROUPS_GROW: Final = 8
_NEWEST: Final = f"""
SELECT wanted.group_id, newest.number
FROM unnest(%s::bigint[]) AS wanted (group_id)
CROSS JOIN LATERAL (
    SELECT number FROM {EPISODES} AS episode
    WHERE episode.group_id = wanted.group_id AND episode.number BETWEEN %s AND %s
        AND (%s::bigint IS NULL OR episode.source <> %s)
    ORDER BY episode.number DESC LIMIT %s
) AS newest
"""  # noqa: S608 - constants
_LIVE_IN: Final = f"""
SELECT number FROM {EPISODES} AS episode JOIN {GROUPS} AS grouped USING (group_id)
WHERE episode.store_id = %s AND number BETWEEN %s AND %s AND grouped.language = %s ORDER BY number
"""  # noqa: S608 - constants
_RECENT: Final = f"SELECT DISTINCT group_id FROM {EPISODES} WHERE store_id = %s AND number BETWEEN %s AND %s"  # noqa: S608


class PostgresIndex:
    """The index over the live episodes of a store, as it was when it was loaded. The ordinals are numbers.

    Args:
        fetch: runs a query.
        state: the row of the store.
        groups: of the store, read up to that state.
        keep_last_n: how many of the newest episodes are live.
    """

    def __init__(self, fetch: Fetch, state: StoreState, groups: EpisodeGroups, keep_last_n: int) -> None:
        self._fetch = fetch
        self._state = state
        self._groups = groups
        self._first_live = state.first_live(keep_last_n)
        self.samples = KnownSamples(tallies_by_source(fetch, state.store_id), verdicts_by_source(fetch, state.store_id))

    def search(self, query: Query) -> list[int]:
        """Return the numbers of the best episodes, best first."""
        chosen: list[int] = []
        kinds_chosen: set[Kind] = set()
        for levels in _growing(self._groups.levels(query)):
            newest = self._newest([group.group_id for level in levels for group in level], query)
            for level in levels:
                candidates: dict[Kind, list[int]] = {}
                for group in level:
                    if numbers := newest.get(group.group_id):
                        candidates.setdefault(group.kind, []).extend(numbers)
                choose_among_equals(candidates, query.topk, chosen, kinds_chosen)
            if len(chosen) == query.topk:
                break
        return chosen

    def live_in(self, language: str) -> Sequence[int]:
        """Return the numbers of the live episodes in a language, oldest first."""
        wanted = (self._state.store_id, self._first_live, self._state.last_number, language)
        return [number for (number,) in self._fetch(_LIVE_IN, wanted)]

    def is_novel(self, draft: AnyDraft) -> bool:
        """Return whether none of the last 200 live episodes has the same novelty key."""
        last = self._state.last_number
        first = max(self._first_live, last - NOVELTY_WINDOW + 1)
        recent = self._fetch(_RECENT, (self._state.store_id, first, last))
        return novelty_key(draft) not in self._groups.novelty_keys(group_id for (group_id,) in recent)

    def _newest(self, group_ids: Sequence[int], query: Query) -> dict[int, list[int]]:
        excluded = None if query.exclude_source is None else source_key(query.exclude_source)
        wanted = (list(group_ids), self._first_live, self._state.last_number, excluded, excluded, query.topk)
        newest: dict[int, list[int]] = {}
        for group_id, number in self._fetch(_NEWEST, wanted):
            newest.setdefault(group_id, []).append(number)
        return newest


def _growing(levels: Sequence[Sequence[Group]]) -> Iterator[list[Sequence[Group]]]:
    """Yield all levels in portions: most searches end in the first one, and few portions serve those that do not."""
    portion: list[Sequence[Group]] = []
    group_n, most = 0, _GROUPS_AT_FIRST
    for level in levels:
        if portion and group_n + len(level) > most:
            yield portion
            portion, group_n, most = [], 0, most * _GROUPS_GROW
        portion.append(level)
        group_n += len(level)
    if portion:
        yield portion
