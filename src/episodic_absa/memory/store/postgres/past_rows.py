"""Answers the questions of advice by queries that use an index: their cost does not grow with the store."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from episodic_absa.memory.advice.chance import drawn_places
from episodic_absa.memory.retrieval.episode_index import NOVELTY_WINDOW, Kind, Query, choose_among_equals, novelty_key
from episodic_absa.memory.retrieval.experience_counts import (
    CountedCell,
    Experience,
    ExperienceCounts,
    ExperienceState,
)
from episodic_absa.memory.retrieval.familiarity_counts import CountedTally, Familiarity, without_own
from episodic_absa.memory.retrieval.signature_key import SignatureKey
from episodic_absa.memory.store.postgres.episode_groups import EpisodeGroups, Group, joined, separated
from episodic_absa.memory.store.postgres.rows_by_source import (
    RowsBySource,
    cases_by_source,
    tallies_by_source,
    verdicts_by_source,
)
from episodic_absa.memory.store.postgres.store_tables import (
    EPISODES,
    EXPERIENCE,
    GROUPS,
    LANGUAGES,
    TALLIES,
    TERMS,
    Fetch,
    StoreState,
    source_key,
)
from episodic_absa.schemas.memory_v1_1 import InputSignatureV1_1
from episodic_absa.schemas.memory_v1_2 import AnyDraft
from episodic_absa.vocabulary import ChangeKind, Language, Verdict

ANY_LENGTH: Final = ""
ANY_NUMBER: Final = -1
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
CELL_COLUMNS: Final = "language, structures, length_bucket, num_aspects, kind, confirmed, contradicted, still_open"
_CELLS: Final = f"""
SELECT {CELL_COLUMNS} FROM {EXPERIENCE}
WHERE store_id = %s AND language = %s AND (structures = %s OR num_aspects = {ANY_NUMBER})
"""  # noqa: S608 - constants
_CELLS_OF_LANGUAGE: Final = f"SELECT {CELL_COLUMNS} FROM {EXPERIENCE} WHERE store_id = %s AND language = %s"  # noqa: S608
_FAMILIARITY: Final = f"""
SELECT language.review_n, term.seen_in FROM {LANGUAGES} AS language
LEFT JOIN {TERMS} AS term ON term.store_id = language.store_id AND term.language = language.language AND term.term = %s
WHERE language.store_id = %s AND language.language = %s
"""  # noqa: S608 - constants
_TERM_N: Final = f"SELECT term_n FROM {LANGUAGES} WHERE store_id = %s AND language = %s"  # noqa: S608
_TERM: Final = f"SELECT term FROM {TERMS} WHERE store_id = %s AND language = %s AND place = %s"  # noqa: S608
_SOURCE_N: Final = f"SELECT count(*) FROM {TALLIES} WHERE store_id = %s AND counts"  # noqa: S608


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
        self.experience = PostgresExperience(fetch, state.store_id)
        self.familiarity = PostgresFamiliarity(fetch, state.store_id)

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


class PostgresExperience:
    """The experience of a store: rows hold the counts, `ExperienceCounts` the rules."""

    def __init__(self, fetch: Fetch, store_id: int) -> None:
        self._fetch = fetch
        self._store_id = store_id
        self._cases = cases_by_source(fetch, store_id)
        self._verdicts = verdicts_by_source(fetch, store_id)
        self._counts: dict[tuple[str, str | None], ExperienceCounts] = {}

    def of(
        self, signature: InputSignatureV1_1, kind: ChangeKind, *, exclude_source: str | None = None
    ) -> Experience | None:
        """Return the counts of the narrowest cell with at least five decided cases; None if no cell has them."""
        key = SignatureKey.of(signature)
        counts = self._counts_of(key.language, joined(key.structures))
        return counts.of(signature, kind, exclude_source=exclude_source)

    def of_random_cell(
        self, uid: str, signature: InputSignatureV1_1, kind: ChangeKind, *, exclude_source: str | None = None
    ) -> Experience | None:
        """Return the counts of another cell of the language, drawn by uid among those with cases of the kind."""
        counts = self._counts_of(signature.language, None)
        return counts.of_random_cell(uid, signature, kind, exclude_source=exclude_source)

    def verdicts_on(self, source_id: str) -> Mapping[str | None, Verdict]:
        """Return the last verdict per aspect on the result of a sample."""
        return dict(self._verdicts.of(source_id))

    def _counts_of(self, language: str, structures: str | None) -> ExperienceCounts:
        """Return the counts that a question about a signature needs; without structures, those of the language."""
        counts = self._counts.get((language, structures))
        if counts is None:
            if structures is None:
                rows = self._fetch(_CELLS_OF_LANGUAGE, (self._store_id, language))
            else:
                rows = self._fetch(_CELLS, (self._store_id, language, structures))
            counts = self._counts[language, structures] = ExperienceCounts(self._cases, self._verdicts)
            counts.restore(_state_of(rows))
        return counts


def _state_of(rows: Iterable[tuple[Any, ...]]) -> ExperienceState:
    cells: dict[CountedCell, dict[ChangeKind, tuple[int, int, int]]] = {}
    for language, structures, length, aspects, kind, confirmed, contradicted, still_open in rows:
        tags: Any = separated(structures)
        cell = CountedCell(language, tags, length or None, None if aspects == ANY_NUMBER else aspects)
        cells.setdefault(cell, {})[kind] = (confirmed, contradicted, still_open)
    signatures = tuple(
        SignatureKey(cell.language, cell.structures, cell.length_bucket, cell.num_aspects)
        for cell in cells
        if cell.length_bucket is not None and cell.num_aspects is not None
    )
    # The columns have these types; checking hundreds of rows for every sample would take longer than the query.
    return ExperienceState.model_construct(cells=tuple(cells.items()), signatures=signatures)


class PostgresFamiliarity:
    """How often terms were final targets, over all tallies of a store."""

    def __init__(self, fetch: Fetch, store_id: int) -> None:
        self._fetch = fetch
        self._store_id = store_id
        self._tallies = tallies_by_source(fetch, store_id)

    def of(self, language: Language, term: str, *, exclude_source: str | None = None) -> Familiarity:
        """Return how familiar a target is."""
        rows = self._fetch(_FAMILIARITY, (term.encode("utf-8", "surrogatepass"), self._store_id, language))
        review_n, seen_in = rows[0] if rows else (0, 0)
        own: Sequence[CountedTally] = self._tallies.of(exclude_source) if exclude_source is not None else ()
        return without_own(Familiarity(seen_in or 0, review_n), own, language, term)

    def random_term(self, uid: str, position: int, language: Language) -> str | None:
        """Return a stored term of a language, drawn by uid and position; None if none is stored."""
        rows = self._fetch(_TERM_N, (self._store_id, language))
        place = next(drawn_places(f"{uid}\0{position}", rows[0][0] if rows else 0), None)
        if place is None:
            return None
        ((term,),) = self._fetch(_TERM, (self._store_id, language, place))
        return bytes(term).decode("utf-8", "surrogatepass")

    @property
    def sources(self) -> Collection[str]:
        """The sources that are counted."""
        return _CountedSources(self._fetch, self._store_id, self._tallies)


class _CountedSources(Collection[str]):
    """The uids of all tallies, each once."""

    def __init__(self, fetch: Fetch, store_id: int, tallies: RowsBySource[CountedTally]) -> None:
        self._fetch = fetch
        self._store_id = store_id
        self._tallies = tallies

    def __contains__(self, source: object) -> bool:
        return isinstance(source, str) and bool(self._tallies.of(source))

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(self._tallies))

    def __len__(self) -> int:
        return sum(source_n for (source_n,) in self._fetch(_SOURCE_N, (self._store_id,)))
