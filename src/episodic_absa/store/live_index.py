"""The index of one namespace, fed by the database: which episodes are live, and the ranking over them."""

from typing import Final

from episodic_absa.store.dialects.dialect import Dialect
from episodic_absa.store.ranking import Newest, Query, Ranked, RankIndex
from episodic_absa.store.tables import ENDS

_FOLLOWED_AT_MOST: Final = 2000
"""An index that is further behind is built anew: a seek for each group instead of a row for each episode."""
_NEWEST: Final = "SELECT number, source FROM episodes WHERE group_id = ? AND number < ? {}ORDER BY number DESC LIMIT 1"
_NEWEST_OF_ALL: Final = _NEWEST.format("")
_NEWEST_OF_OTHERS: Final = _NEWEST.format("AND source <> ? ")
_COUNT: Final = (
    "SELECT count(*) FROM episodes WHERE group_id IN (SELECT id FROM episode_groups WHERE namespace = ?) "
    "AND number <= ?"
)
_FIRST_OF_NEWEST: Final = (
    "SELECT number FROM episodes WHERE namespace = ? AND group_id <> 0 AND number <= ? "
    "ORDER BY number DESC LIMIT 1 OFFSET ?"
)
_NEXT: Final = (
    "SELECT number FROM episodes WHERE number > ? AND namespace = ? AND group_id <> 0 ORDER BY number LIMIT 1 OFFSET ?"
)
_GROUPS: Final = (
    "SELECT id, ranked, number, source FROM episode_groups JOIN episodes "
    "ON number = (SELECT max(number) FROM episodes WHERE group_id = id) "
    "WHERE episode_groups.namespace = ? AND number >= ?"
)
_SINCE: Final = "SELECT number, group_id, source FROM episodes WHERE number > ? AND number <= ? AND namespace = ?"
_LIVE: Final = (
    "SELECT number, group_id FROM episodes WHERE number >= ? AND namespace = ? AND group_id <> 0 ORDER BY number"
)


class LiveIndex:
    """Follows what is appended, by whomever, and answers searches.

    Args:
        dialect: the database.
        namespace: the name of the namespace.
        keep_last_n: how many of its newest episodes are live.
    """

    def __init__(self, dialect: Dialect, namespace: str, keep_last_n: int) -> None:
        self._dialect = dialect
        self._name = namespace
        self._keep_last_n = keep_last_n
        self._namespace = 0
        self._clear()

    def _clear(self) -> None:
        self._ranks = RankIndex(self._newest)
        self._groups: dict[int, Ranked] = {}
        self._ids: dict[Ranked, int] = {}
        self._episodes_to = self.stones_to = 0
        self._is_behind = True
        self._first_live = 0
        self._room = self._keep_last_n

    def namespace_id(self) -> int:
        """Return the number of the namespace; 0 if nothing was written in it."""
        if not self._namespace:
            found = self._dialect.rows("SELECT id FROM namespaces WHERE name = ?", (self._name,))
            self._namespace = found[0][0] if found else 0
        return self._namespace

    def group_of(self, ranked: Ranked) -> int:
        """Return the number of a group that is known; 0 if it is not."""
        return self._ids.get(ranked, 0)

    def search(self, query: Query) -> list[int]:
        """Return the numbers of the best live episodes, best first."""
        self.follow()
        return self._ranks.search(query, self._first_live)

    def live_n(self) -> int:
        """Return how many episodes are live."""
        self.follow()
        if self._first_live:
            return self._keep_last_n
        return self._counted(self._episodes_to) if self.namespace_id() else 0

    def live_numbers(self, language: str | None) -> list[int]:
        """Return the numbers of the live episodes, oldest first; of one language, if it is named."""
        self.follow()
        rows = self._dialect.rows(_LIVE, (self._first_live, self.namespace_id()))
        return [number for number, group in rows if language in (None, self._groups[group].signature.language)]

    def fall_behind(self) -> None:
        """Note that something was written here, which the database does not report."""
        self._is_behind = True

    def follow(self) -> None:
        """Read what was written since the last call."""
        # Asked in any case, so that the next answer is about what comes after this one.
        if not (self._dialect.has_changed() or self._is_behind) or not self.namespace_id():
            return
        episodes_to, stones_to = (number or 0 for number in self._dialect.rows(ENDS)[0])
        behind = episodes_to - self._episodes_to
        if stones_to != self.stones_to or not self._episodes_to or not 0 <= behind <= _FOLLOWED_AT_MOST:
            self._build(episodes_to)
        elif behind:
            rows = self._dialect.rows(_SINCE, (self._episodes_to, episodes_to, self._namespace))
            for number, group, source in sorted(rows):
                if group not in self._groups:
                    found = self._dialect.rows("SELECT ranked FROM episode_groups WHERE id = ?", (group,))
                    self._know(group, Ranked.parse(found[0][0]))
                self._add(group, Newest(number, source))
            self._slide(len(rows), episodes_to)
        self._episodes_to, self.stones_to, self._is_behind = episodes_to, stones_to, False

    def _build(self, episodes_to: int) -> None:
        self._clear()
        self._find_first_live(episodes_to)
        for group, ranked, number, source in self._dialect.rows(_GROUPS, (self._namespace, self._first_live)):
            self._know(group, Ranked.parse(ranked))
            self._ranks.add_group(group, self._groups[group], Newest(number, source))

    def _slide(self, added_n: int, last: int) -> None:
        """Let as many of the oldest episodes go as were added, once there is no room for more."""
        if not added_n:
            return
        if self._first_live:
            rows = self._dialect.rows(_NEXT, (self._first_live, self.namespace_id(), added_n - 1))
            self._first_live = rows[0][0]
        elif added_n <= self._room:
            self._room -= added_n
        else:
            self._find_first_live(last)

    def _find_first_live(self, last: int) -> None:
        """Find the oldest live episode; 0 stands for all, as long as there is room for more."""
        self._first_live, self._room = 0, self._keep_last_n - last
        if self._room < 0:
            # Numbers may have gaps, and other namespaces have some. Counting takes the index alone.
            self._room = self._keep_last_n - self._counted(last)
        if self._room < 0:
            rows = self._dialect.rows(_FIRST_OF_NEWEST, (self.namespace_id(), last, self._keep_last_n - 1))
            self._first_live = rows[0][0]

    def _counted(self, last: int) -> int:
        return int(self._dialect.rows(_COUNT, (self.namespace_id(), last))[0][0])

    def _know(self, group: int, ranked: Ranked) -> None:
        self._groups[group] = ranked
        self._ids[ranked] = group

    def _add(self, group: int, newest: Newest) -> None:
        if group in self._ranks:
            self._ranks.add(group, newest)
        else:
            self._ranks.add_group(group, self._groups[group], newest)

    def _newest(self, group: int, below: int, excluded: int | None) -> Newest | None:
        if excluded is None:
            rows = self._dialect.rows(_NEWEST_OF_ALL, (group, below))
        else:
            rows = self._dialect.rows(_NEWEST_OF_OTHERS, (group, below, excluded))
        return Newest(*rows[0]) if rows else None
