"""What is added to a store within one transaction: rows, and everything that counts them."""

import logging
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, Literal

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from episodic_absa.errors import MemoryStoreError
from episodic_absa.schemas.stored.memory_v1_3 import (
    AnswerV1_3,
    EpisodeDraftV1_3,
    EpisodicMemoryEntryV1_3,
    TombstoneV1_3,
    VerdictV1_3,
    episode_body,
    line_body,
    parse_episode,
)
from episodic_absa.serialization.quoted_value import reasons_of
from episodic_absa.serialization.seals import MAX_LINE_BYTES
from episodic_absa.store.dialects.dialect import Dialect, Writer
from episodic_absa.store.ranking import Ranked
from episodic_absa.store.sealed_rows import SealedWriter, proven_rows
from episodic_absa.store.tables import ANSWERS, EPISODES, TOMBSTONES, VERDICTS
from episodic_absa.store.term_counts import count_verdict
from episodic_absa.store.uids import stored_uid, uid_hash

Guard = Callable[[BaseModel], None]
"""Raises LeakageError for what must not be stored."""
Forgettable = Literal["episode", "verdict", "answer"]
TABLE_OF: Final[Mapping[Forgettable, str]] = {"episode": EPISODES, "verdict": VERDICTS, "answer": ANSWERS}
logger = logging.getLogger("episodic_absa.memory")
Matter = tuple[str, str | None]
"""What a later verdict on the same review replaces: the person, and the term."""


class Additions:
    """Adds to a store within one transaction; `finish` ends it.

    Args:
        writer: the transaction.
        shown: where the store is, for errors.
        namespaces: the numbers of namespaces that are known to be committed; 0 for one that is not.
    """

    def __init__(self, writer: Writer, shown: str, **namespaces: int) -> None:
        self._writer = writer
        self._shown = shown
        self._rows = SealedWriter(writer)
        self._namespaces = {name: number for name, number in namespaces.items() if number}
        self._groups: dict[tuple[int, Ranked], int] = {}

    def namespace(self, name: str) -> int:
        """Return the number of a namespace, which is made if it is new."""
        if name not in self._namespaces:
            self._namespaces[name] = _made(self._writer, "namespaces", ("name",), (name,))
        return self._namespaces[name]

    def last_number(self) -> int:
        """Return the number of the last episode."""
        return self._rows.last_number(EPISODES)

    def add_episode(
        self, draft: EpisodeDraftV1_3, ranked: Ranked, *, number: int | None = None, group: int = 0
    ) -> EpisodicMemoryEntryV1_3:
        """Add an episode, and return it with its id.

        Args:
            draft: the episode; an id of its own does not count.
            ranked: what decides its rank.
            number: by default the next one.
            group: of its rank, if it is known.

        Raises:
            MemoryStoreError: a reader would not accept it.
        """
        number = number or self.last_number() + 1
        uid = self._stored(draft.provenance.source_id)
        if uid != draft.provenance.source_id:
            provenance = draft.provenance.model_copy(update={"source_id": uid})
            draft = draft.model_copy(update={"provenance": provenance})
        entry, body = numbered(draft, number)
        namespace = self.namespace(draft.namespace)
        group = group or self._group(namespace, ranked)
        source = uid_hash(uid)
        self._rows.add(EPISODES, body, namespace=namespace, source=source, group=group, number=number)
        return entry

    def holds(self, episode: EpisodicMemoryEntryV1_3) -> bool:
        """Return whether the store holds an episode that differs at most in its id."""
        source = uid_hash(episode.provenance.source_id)
        namespace = self.namespace(episode.namespace)
        return any(
            body and numbered(episode, number)[1] == body
            for number, body in proven_rows(self._writer, self._shown, EPISODES, "source = ?", (source,), namespace)
        )

    def add_answer(self, answer: AnswerV1_3) -> None:
        """Add what was answered for a review."""
        answer = answer.model_copy(update={"source_id": self._stored(answer.source_id)})
        source = uid_hash(answer.source_id)
        self._rows.add(ANSWERS, line_body(answer), namespace=self.namespace(answer.namespace), source=source)

    def add_verdict(self, verdict: VerdictV1_3) -> bool:
        """Add what a person said, unless it stands already, and count it for its term; return whether it is new."""
        verdict = verdict.model_copy(update={"source_id": self._stored(verdict.source_id)})
        namespace = self.namespace(verdict.namespace)
        standing = standing_verdicts(self._writer, self._shown, namespace, verdict.source_id).get(matter_of(verdict))
        if standing is not None:
            if (standing.verdict, standing.polarity) == (verdict.verdict, verdict.polarity):
                return False
            count_verdict(self._writer, namespace, standing, -1)
        count_verdict(self._writer, namespace, verdict, 1)
        self._rows.add(VERDICTS, line_body(verdict), namespace=namespace, source=uid_hash(verdict.source_id))
        return True

    def forget_counts(self, namespace_name: str, source_id: str) -> None:
        """Count what people said about a review no more."""
        namespace = self.namespace(namespace_name)
        for verdict in standing_verdicts(self._writer, self._shown, namespace, source_id).values():
            count_verdict(self._writer, namespace, verdict, -1)

    def bury(self, stone: TombstoneV1_3) -> None:
        """Empty the rows that a tombstone names, if they are there, and add it."""
        table = TABLE_OF[stone.of]
        without_group = ", group_id = 0" if table == EPISODES else ""
        namespace = self.namespace(stone.namespace)
        self._writer.rows(
            f"UPDATE {table} SET body = ?, source = 0{without_group} "  # noqa: S608 - constants
            "WHERE number >= ? AND number <= ? AND namespace = ?",
            (b"", stone.first, stone.last, namespace),
        )
        # In an imported store: what was forgotten there gives its number to nothing else.
        self.skip_to(table, stone.last)
        self._rows.add(TOMBSTONES, line_body(stone), namespace=namespace, source=0)

    def skip_to(self, table: str, number: int) -> None:
        """Give no number up to this one any more."""
        self._rows.skip_to(table, number)

    def add_row(self, table: str, number: int, namespace: str, body: bytes, content: BaseModel | None) -> None:
        """Add a row of another store as it stands; nothing is counted."""
        owner, source, group = self.namespace(namespace), 0, 0
        if isinstance(content, EpisodicMemoryEntryV1_3):
            source, group = uid_hash(content.provenance.source_id), self._group(owner, Ranked.of(content))
        elif isinstance(content, VerdictV1_3 | AnswerV1_3):
            source = uid_hash(content.source_id)
        self._rows.add(table, body, namespace=owner, source=source, group=group, number=number)

    def finish(self) -> None:
        """Write everything that waits."""
        self._rows.finish()

    def promise_all(self) -> None:
        """Write the ends of all tables: from now on it shows if one of their rows is lost."""
        self._rows.promise_all()

    def _stored(self, uid: str) -> str:
        stored = stored_uid(uid)
        if stored != uid:
            _tell_of_hashes(self._shown)
        return stored

    def _group(self, namespace: int, ranked: Ranked) -> int:
        key = namespace, ranked
        if key not in self._groups:
            values = (namespace, ranked.text())
            self._groups[key] = _made(self._writer, "episode_groups", ("namespace", "ranked"), values)
        return self._groups[key]


@cache
def _tell_of_hashes(shown: str) -> None:
    logger.warning(
        "%s: ids that look like text are stored as hashes; they are found by the ids as they were given", shown
    )


def numbered(draft: EpisodeDraftV1_3, number: int) -> tuple[EpisodicMemoryEntryV1_3, bytes]:
    """Return an episode with its id, and its row.

    Raises:
        MemoryStoreError: a reader would not accept it.
    """
    try:
        body = episode_body(draft, number)
        # Parsing it again proves that every reader accepts what is written.
        entry = parse_episode(body)
    except ValidationError as error:
        raise MemoryStoreError(f"not an episode: {reasons_of(error)}; nothing is stored") from error
    except (PydanticSerializationError, UnicodeEncodeError) as error:
        raise MemoryStoreError("not an episode: a string is not valid Unicode; nothing is stored") from error
    if len(body) > MAX_LINE_BYTES:
        raise MemoryStoreError(f"the episode is longer than {MAX_LINE_BYTES:,} bytes; nothing is stored")
    return entry, body


def standing_verdicts(
    reader: Dialect | Writer, shown: str, namespace: int, source_id: str
) -> dict[Matter, VerdictV1_3]:
    """Return the last verdict of each person on each matter of a review, in the order in which they were given."""
    last: dict[Matter, VerdictV1_3] = {}
    for _, body in proven_rows(
        reader, shown, VERDICTS, "source = ? ORDER BY number", (uid_hash(source_id),), namespace
    ):
        verdict = VerdictV1_3.model_validate_json(body) if body else None
        if verdict is not None and verdict.source_id == stored_uid(source_id):
            last.pop(matter_of(verdict), None)
            last[matter_of(verdict)] = verdict
    return last


def matter_of(verdict: VerdictV1_3) -> Matter:
    """Return what a later verdict on the same review replaces."""
    return verdict.person, verdict.aspect


def _made(writer: Writer, table: str, columns: tuple[str, ...], values: tuple[object, ...]) -> int:
    where = " AND ".join(f"{column} = ?" for column in columns)
    query = f"SELECT id FROM {table} WHERE {where}"  # noqa: S608 - constants
    found = writer.rows(query, values)
    if not found:
        marks = ", ".join("?" * len(columns))
        writer.rows(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", values)  # noqa: S608 - constants
        found = writer.rows(query, values)
    return int(found[0][0])
