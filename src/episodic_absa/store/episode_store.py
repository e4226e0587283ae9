"""The one store of episodes: what is appended is durable, in one order, by any number of writers."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Final, Self

from pydantic import ValidationError

from episodic_absa.errors import ConfigError, MemoryStoreError
from episodic_absa.schemas.stored.memory_v1_3 import (
    DEFAULT_NAMESPACE,
    MAX_EPISODE_NUMBER,
    AnswerV1_3,
    EpisodeDraftV1_3,
    EpisodicMemoryEntryV1_3,
    TombstoneV1_3,
    VerdictV1_3,
    parse_episode,
)
from episodic_absa.serialization.quoted_value import reasons_of
from episodic_absa.store.additions import TABLE_OF, Additions, Guard, matter_of, standing_verdicts
from episodic_absa.store.dialects.dialect import Dialect
from episodic_absa.store.exported_lines import ExportForm, Line, TakenIn, exported_lines, take_in
from episodic_absa.store.live_index import LiveIndex
from episodic_absa.store.ranking import Query, Ranked
from episodic_absa.store.sealed_rows import ProvenRow, all_proven_rows, damaged, proven_rows
from episodic_absa.store.tables import ANSWERS, EPISODES, VERDICTS
from episodic_absa.store.term_counts import TermCounts, counts_of_terms
from episodic_absa.store.uids import stored_uid, uid_hash

DEFAULT_KEEP_LAST_N: Final = 5000
DEFAULT_BUSY_TIMEOUT_S: Final = 30.0
_KEPT_PARSED: Final = 4096
_AT_ONCE: Final = 500
_MOST_DIGITS: Final = 19


class EpisodeStore:
    """Episodes, verdicts and answers of one namespace of a store.

    Threads may share a store for single calls.

    Args:
        dialect: the database.
        guard: looks at everything before it is stored.
        namespace: whose rows are read and written; those of others cannot be reached.
        keep_last_n: how many of the newest episodes a search looks at.

    Raises:
        ConfigError: `keep_last_n` is below 1.
    """

    def __init__(
        self,
        dialect: Dialect,
        *,
        guard: Guard,
        namespace: str = DEFAULT_NAMESPACE,
        keep_last_n: int = DEFAULT_KEEP_LAST_N,
    ) -> None:
        if keep_last_n < 1:
            raise ConfigError(f"keep_last_n must be at least 1, got {keep_last_n}", key="episodic_memory.keep_last_n")
        self.dialect = dialect
        self.namespace = namespace
        self.keep_last_n = keep_last_n
        self._guard = guard
        self._threads = threading.RLock()
        self._has_added = False
        self._begin()

    def _begin(self) -> None:
        self._index = LiveIndex(self.dialect, self.namespace, self.keep_last_n)
        self._parsed: OrderedDict[int, EpisodicMemoryEntryV1_3] = OrderedDict()
        self._parsed_at = 0

    @property
    def shown(self) -> str:
        """Where the store is, for messages; without credentials."""
        return self.dialect.shown

    @property
    def name(self) -> str:
        """The name of the store, without its folder or server."""
        return self.dialect.name

    def exists(self) -> bool:
        """Return whether the store was created."""
        return self.dialect.exists()

    def close(self) -> None:
        """Give up files and connections. A later call opens them again."""
        with self._threads:
            try:
                if self._has_added:
                    with suppress(MemoryStoreError), self._adding() as additions:
                        additions.promise_all()
            finally:
                self._has_added = False
                self.dialect.close()
                self._begin()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Writing

    def append(self, draft: EpisodeDraftV1_3, *, answer: AnswerV1_3 | None = None) -> EpisodicMemoryEntryV1_3:
        """Write an episode, and the answer of its review, in one transaction; return it with its id once it is on disk.

        Ids ascend without gaps in the order of the appends. A refused append uses up none.

        Raises:
            LeakageError: the guard refuses it. The store is unchanged.
            MemoryStoreError: it belongs to another namespace, another writer holds the store, or the database refuses.
                The store is unchanged.
        """
        self._admit(draft, *([answer] if answer else []))
        ranked = Ranked.of(draft)
        with self._threads:
            with self._adding() as additions:
                entry = additions.add_episode(draft, ranked, group=self._index.group_of(ranked))
                if answer is not None:
                    additions.add_answer(answer)
            self._keep_parsed(int(entry.episode_id[4:]), entry)
            self._index.fall_behind()
            return entry

    def append_answers(self, answers: Sequence[AnswerV1_3]) -> None:
        """Write what was answered for reviews; return once it is on disk. The last answer of a review counts."""
        self._admit(*answers)
        with self._adding() as additions:
            for answer in answers:
                additions.add_answer(answer)

    def append_verdict(self, verdict: VerdictV1_3) -> bool:
        """Write what a person said, unless it stands already, and count it for its term; return whether it is new.

        The last verdict of a person on a matter counts. Whether the store knows the review is not checked.
        """
        self._admit(verdict)
        with self._adding() as additions:
            return additions.add_verdict(verdict)

    def forget(self, source_id: str) -> int:
        """Take everything about a review or case out of the store and its files; return how many rows that were.

        Each leaves a tombstone. Seals stay, so that the other rows are still proven.
        """
        with self._threads:
            stones = [
                TombstoneV1_3(namespace=self.namespace, first=number, last=number, of=of)
                for of, table in TABLE_OF.items()
                for number, _ in self._found(table, source_id)
            ]
            if stones:
                with self._adding() as additions:
                    additions.forget_counts(self.namespace, source_id)
                    for stone in stones:
                        additions.bury(stone)
                self._begin()
                self.dialect.erase_traces()
            return len(stones)

    def forget_all_but(self, newest_n: int) -> int:
        """Take all but the newest episodes out of the store and its files; return how many were taken.

        Verdicts, and what they say of terms, stay.
        """
        with self._threads:
            numbers = self.numbers()
            gone = numbers[: max(0, len(numbers) - newest_n)]
            if gone:
                with self._adding() as additions:
                    additions.bury(TombstoneV1_3(namespace=self.namespace, first=gone[0], last=gone[-1], of="episode"))
                self._begin()
                self.dialect.erase_traces()
            return len(gone)

    # Reading

    def search(self, query: Query) -> list[EpisodicMemoryEntryV1_3]:
        """Return the most similar of the newest `keep_last_n` episodes, best first. A full scan gives the same."""
        with self._threads:
            return self.episodes(self._index.search(query))

    def __len__(self) -> int:
        """Return how many episodes a search looks at."""
        with self._threads:
            return self._index.live_n()

    def live_numbers(self, language: str | None = None) -> list[int]:
        """Return the numbers of the episodes that a search looks at, oldest first; of one language, if it is named."""
        with self._threads:
            return self._index.live_numbers(language)

    def numbers(self) -> list[int]:
        """Return the numbers of all episodes, oldest first."""
        found = self.dialect.rows(
            "SELECT number FROM episodes JOIN episode_groups ON id = group_id "
            "WHERE episode_groups.namespace = ? ORDER BY number",
            (self._namespace_id(),),
        )
        return [number for (number,) in found]

    def get(self, episode_id: str) -> EpisodicMemoryEntryV1_3 | None:
        """Return the episode with that id, those beyond `keep_last_n` included; None if there is none."""
        digits = episode_id.removeprefix("epi_")
        if not (digits.isascii() and digits.isdigit() and len(digits) < _MOST_DIGITS):
            return None
        found = self.episodes([int(digits)])
        return found[0] if found else None

    def episodes(self, numbers: Sequence[int]) -> list[EpisodicMemoryEntryV1_3]:
        """Return the episodes with these numbers that the namespace has, in this order; each is held to its seal."""
        with self._threads:
            self._index.follow()
            if self._index.stones_to != self._parsed_at:
                self._parsed.clear()
                self._parsed_at = self._index.stones_to
            read: dict[int, EpisodicMemoryEntryV1_3] = {}
            missing = [number for number in numbers if number not in self._parsed]
            for start in range(0, len(missing), _AT_ONCE):
                part = tuple(missing[start : start + _AT_ONCE])
                where = f"number IN ({', '.join('?' * len(part))})"
                rows = proven_rows(self.dialect, self.shown, EPISODES, where, part, self._namespace_id())
                for number, body in rows:
                    if body:
                        read[number] = self._parse(number, body)
            found = [self._parsed.get(number) or read.get(number) for number in numbers]
            for number, episode in read.items():
                self._keep_parsed(number, episode)
            return [episode for episode in found if episode is not None]

    def newest_episodes(self) -> Iterator[EpisodicMemoryEntryV1_3]:
        """Yield all episodes, newest first; read as they are consumed."""
        below = MAX_EPISODE_NUMBER + 1
        where = "number < ? ORDER BY number DESC LIMIT 200"
        while rows := proven_rows(self.dialect, self.shown, EPISODES, where, (below,), self._namespace_id()):
            below = rows[-1].number
            for number, body in rows:
                if body:
                    yield self._parse(number, body)

    def episodes_of(self, source_id: str) -> tuple[EpisodicMemoryEntryV1_3, ...]:
        """Return the episodes of a review or case, in their order."""
        found = [self._parse(number, body) for number, body in self._found(EPISODES, source_id) if body]
        return tuple(episode for episode in found if episode.provenance.source_id == stored_uid(source_id))

    def answers_of(self, source_id: str) -> tuple[AnswerV1_3, ...]:
        """Return what was answered for a review, in the order in which it was."""
        found = [AnswerV1_3.model_validate_json(body) for _, body in self._found(ANSWERS, source_id) if body]
        return tuple(answer for answer in found if answer.source_id == stored_uid(source_id))

    def verdicts_on(self, source_id: str) -> tuple[VerdictV1_3, ...]:
        """Return the last verdict of each person on each matter of a review, in the order in which they were given."""
        return tuple(standing_verdicts(self.dialect, self.shown, self._namespace_id(), source_id).values())

    def has_verdicts(self) -> bool:
        """Return whether anybody said anything."""
        return self.dialect.rows("SELECT max(number) FROM verdicts") not in ([], [(None,)])

    def verdicts(self) -> Iterator[VerdictV1_3]:
        """Yield all verdicts in the order in which they were given."""
        for _, body in all_proven_rows(self.dialect, self.shown, VERDICTS, self._namespace_id()):
            if body:
                yield VerdictV1_3.model_validate_json(body)

    def standing_verdicts(self) -> list[VerdictV1_3]:
        """Return the last verdict of each person on each matter."""
        return list({(verdict.source_id, matter_of(verdict)): verdict for verdict in self.verdicts()}.values())

    def answered_n(self) -> int:
        """Return of how many reviews the answer is known."""
        found = self.dialect.rows(
            "SELECT count(DISTINCT source) FROM answers WHERE namespace = ? AND source <> 0", (self._namespace_id(),)
        )
        return found[0][0] if found else 0

    def terms(self, language: str) -> Mapping[str, TermCounts]:
        """Return what people said of each term of a language."""
        return counts_of_terms(self.dialect, self._namespace_id(), language)

    def take_in(self, lines: Iterable[Line]) -> TakenIn:
        """Add the values of lines, all namespaces, in one transaction; what is there already is not added again.

        An empty store takes the ids over.

        Raises:
            LeakageError: the guard refuses a line. The store is unchanged.
            MemoryStoreError: the lines or the database are bad. The store is unchanged.
        """
        with self._threads, self.dialect.writing() as writer:
            taken = take_in(writer, lines, self._guard, self.shown)
        self._begin()
        return taken

    def exported_lines(self, form: ExportForm = "1.3") -> Iterator[bytes]:
        """Yield the lines of the exported store, all namespaces, with their line ends."""
        return exported_lines(self.dialect, form)

    # Rows

    def _admit(self, *values: EpisodeDraftV1_3 | VerdictV1_3 | AnswerV1_3) -> None:
        for value in values:
            if value.namespace != self.namespace:
                raise MemoryStoreError(
                    f"{self.shown} is open for the namespace {self.namespace} alone; nothing is stored"
                )
            self._guard(value)

    def _namespace_id(self) -> int:
        """Return the number of the namespace; 0 if nothing was written in it."""
        return self._index.namespace_id()

    @contextmanager
    def _adding(self) -> Iterator[Additions]:
        """Hold the writer's place; what was added is on disk when the block ends."""
        with self._threads:
            namespace = self._namespace_id()
            with self.dialect.writing() as writer:
                additions = Additions(writer, self.shown, **{self.namespace: namespace})
                yield additions
                additions.finish()
            self._has_added = True

    def _found(self, table: str, source_id: str) -> list[ProvenRow]:
        where = "source = ? ORDER BY number"
        return proven_rows(self.dialect, self.shown, table, where, (uid_hash(source_id),), self._namespace_id())

    def _parse(self, number: int, body: bytes) -> EpisodicMemoryEntryV1_3:
        try:
            return parse_episode(body)
        except ValidationError as error:
            raise damaged(self.shown, f"row {number} of {EPISODES}: {reasons_of(error)}") from error

    def _keep_parsed(self, number: int, episode: EpisodicMemoryEntryV1_3) -> None:
        self._parsed[number] = episode
        if len(self._parsed) > _KEPT_PARSED:
            self._parsed.popitem(last=False)
