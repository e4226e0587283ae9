"""Checks a store row by row, and makes a sound one of what is left of a damaged one."""

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from pydantic import ValidationError

from episodic_absa.errors import MemoryStoreError
from episodic_absa.schemas.stored.memory_v1_3 import AnswerV1_3, EpisodicMemoryEntryV1_3, TombstoneV1_3, VerdictV1_3
from episodic_absa.serialization.durable_file import sync_directory
from episodic_absa.serialization.quoted_value import reasons_of
from episodic_absa.store.additions import TABLE_OF, Additions, matter_of
from episodic_absa.store.dialects.dialect import Dialect, Row
from episodic_absa.store.dialects.sqlite_dialect import SqliteDialect
from episodic_absa.store.ranking import Ranked
from episodic_absa.store.sealed_rows import FIRST_SEAL, Head, promised_heads, seal_of
from episodic_absa.store.tables import ANSWERS, EPISODES, TOMBSTONES, VERDICTS
from episodic_absa.store.term_counts import all_counts, counts_of_verdicts
from episodic_absa.store.uids import uid_hash

Content = EpisodicMemoryEntryV1_3 | VerdictV1_3 | AnswerV1_3 | TombstoneV1_3
_AT_ONCE: Final = 1000
_IN_ORDER: Final = (TOMBSTONES, EPISODES, VERDICTS, ANSWERS)
"""Tombstones first: they say which other rows may be empty."""
_MODELS: Final[Mapping[str, type[Content]]] = {
    EPISODES: EpisodicMemoryEntryV1_3,
    VERDICTS: VerdictV1_3,
    ANSWERS: AnswerV1_3,
    TOMBSTONES: TombstoneV1_3,
}
_TYPES: Final = ((int,), (int,), (int,), (int,), (bytes, memoryview), (bytes, memoryview))
KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class Finding(NamedTuple):
    """One row that is not as it was written, and why."""

    table: str
    number: int
    reason: str


class StoreReport(NamedTuple):
    """The result of a check."""

    row_n: dict[str, int]
    """Sound rows of each table; forgotten ones are not counted."""
    findings: tuple[Finding, ...]
    damage: tuple[str, ...]
    """What is wrong with the store as a whole."""

    @property
    def is_sound(self) -> bool:
        """Whether everything is as it was written."""
        return not self.findings and not self.damage

    @property
    def affected_ids(self) -> tuple[str, ...]:
        """The ids of the episodes that are damaged."""
        return tuple(f"epi_{finding.number:06d}" for finding in self.findings if finding.table == EPISODES)


class Repaired(NamedTuple):
    """The result of a repair."""

    report: StoreReport
    """What was found before."""
    damaged_path: Path | None
    """Where the damaged file is kept; None if there was nothing to repair."""


class _SoundRow(NamedTuple):
    number: int
    namespace: str
    body: bytes
    content: Content | None
    """None for a row that was forgotten."""


def check_store(dialect: Dialect) -> StoreReport:
    """Return everything that is wrong with a store. Changes nothing."""
    return _Check(dialect).report()


def repair_store(dialect: SqliteDialect) -> Repaired:
    """Put a new file of the sound rows in place, and keep the damaged one beside it. Ids stay the same.

    Raises:
        MemoryStoreError: the disk failed; the message says where what is.
    """
    check = _Check(dialect)
    report = check.report()
    if report.is_sound:
        return Repaired(report, None)
    path = dialect.path
    draft = path.with_name(f"{path.name}.repaired")
    aside = next(
        name for n in count(1) if not (name := path.with_name(f"{path.name}.damaged{n if n > 1 else ''}")).exists()
    )
    try:
        draft.unlink(missing_ok=True)
        _copy(check, draft)
        dialect.close()
        # The log goes with its file: another file must never be read with it.
        for end in ("-wal", "-shm", ""):
            if (part := path.with_name(path.name + end)).exists():
                part.rename(aside.with_name(aside.name + end))
        draft.rename(path)
        sync_directory(path.parent)
    except OSError as error:
        raise MemoryStoreError(
            f"{path} was not repaired: {error.strerror}; the damaged file is {path} or {aside}, a sound one {draft}",
            path=path,
        ) from error
    return Repaired(report, aside)


def _copy(check: "_Check", draft: Path) -> None:
    """Write the sound rows into a new file, sealed anew."""
    target = SqliteDialect(draft, busy_timeout_s=0)
    try:
        with target.writing() as writer:
            additions = Additions(writer, target.shown)
            for table in _IN_ORDER:
                for row in check.sound_rows(table):
                    additions.add_row(table, row.number, row.namespace, row.body, row.content)
                additions.skip_to(table, check.heads.get(table, Head()).number)
            additions.finish()
            for fact in check.read(lambda: _pairs(check.dialect, "name, value FROM facts")).items():
                writer.rows("INSERT INTO facts (name, value) VALUES (?, ?)", fact)
            for key, counts in counts_of_verdicts(check.standing.values()).items():
                numbered = (additions.namespace(key[0]), *key[1:], *counts)
                writer.rows(f"INSERT INTO terms VALUES ({', '.join('?' * len(numbered))})", numbered)  # noqa: S608 - constants
    finally:
        target.close()


class _Check:
    """Reads a store without trusting it."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.standing: dict[tuple[object, ...], VerdictV1_3] = {}
        self._damage = dialect.own_damage()
        self._findings: dict[tuple[str, int], str] = {}
        self._forgotten: dict[str, set[tuple[int, int]]] = {table: set() for table in TABLE_OF.values()}
        self.heads = self.read(lambda: promised_heads(dialect))
        self._namespaces: dict[int, str] = self.read(lambda: _pairs(dialect, "id, name FROM namespaces"))
        self._groups: dict[int, str] = self.read(lambda: _pairs(dialect, "id, ranked FROM episode_groups"))

    def read(self, reading: Callable[[], dict[KeyT, ValueT]]) -> dict[KeyT, ValueT]:
        """Return what can be read of a small table; one that cannot be read is damage."""
        try:
            return reading()
        except MemoryStoreError as error:
            self._damage.append(str(error.__cause__ or error))
            return {}

    def report(self) -> StoreReport:
        """Return what is wrong."""
        row_n = {table: sum(row.content is not None for row in self.sound_rows(table)) for table in _IN_ORDER}
        counted = {
            (self._namespaces.get(namespace), *key): counts
            for (namespace, *key), counts in self.read(lambda: all_counts(self.dialect)).items()
        }
        if counted != counts_of_verdicts(self.standing.values()):
            self._damage.append("the counts of terms are not those of the verdicts")
        findings = (Finding(*place, reason) for place, reason in self._findings.items())
        return StoreReport(row_n, tuple(findings), tuple(dict.fromkeys(self._damage)))

    def sound_rows(self, table: str) -> Iterator[_SoundRow]:
        """Yield the sound rows of a table; the others become findings."""
        head = self.heads.get(table, Head())
        before, last, promised = {FIRST_SEAL}, Head(), Head()
        for number, row in self._rows(table, head):
            if row is None:
                self._findings[table, number] = "it cannot be read"
                before = set()
                continue
            _, namespace, source, group, body, seal = row
            body, seal = bytes(body), bytes(seal)
            seals = {seal_of(body, number, seal_before) for seal_before in before}
            reason, content = self._content(table, number, body)
            if body and before and seal not in seals and number == last.number + 1:
                reason = "its seal does not fit: it is not what was written"
            elif content is not None:
                reason = self._misfiled(content, namespace, source, group)
            if body and before and seal not in seals and number > last.number + 1:
                self._damage.append(f"rows {last.number + 1} to {number - 1} of {table} are gone")
            # If the seal alone was changed, the next row fits behind the seal that the content has.
            before, last = {seal, *(seals if body else ())}, Head(number, seal)
            promised = last if number <= head.number else promised
            if reason:
                self._findings[table, number] = reason
                continue
            if isinstance(content, VerdictV1_3):
                self.standing[content.namespace, content.source_id, *matter_of(content)] = content
            yield _SoundRow(number, self._namespaces.get(namespace, ""), body, content)
        if head.seal != promised.seal:
            self._damage.append(f"row {head.number} of {table}, or one of the last before it, is not what was written")

    def _rows(self, table: str, head: Head) -> Iterator[tuple[int, Row | None]]:
        """Yield all rows with their numbers; None for one that cannot be read."""
        group = "group_id" if table == EPISODES else "0"
        query = f"SELECT number, namespace, source, {group}, body, seal FROM {table} WHERE "  # noqa: S608 - constants
        after = 0
        while True:
            try:
                rows = self.dialect.rows(f"{query}number > ? ORDER BY number LIMIT {_AT_ONCE}", (after,))
            except MemoryStoreError:
                until = min(after + _AT_ONCE, head.number)
                for number in range(after + 1, until + 1):
                    yield from self._row(query, number)
                if until == head.number:
                    return
                after = until
                continue
            if not rows:
                return
            for row in rows:
                is_row = all(isinstance(value, kinds) for value, kinds in zip(row, _TYPES, strict=True))
                yield row[0], row if is_row else None
            after = rows[-1][0]

    def _row(self, query: str, number: int) -> Iterator[tuple[int, Row | None]]:
        try:
            yield from ((number, row) for row in self.dialect.rows(f"{query}number = ?", (number,)))
        except MemoryStoreError:
            yield number, None

    def _content(self, table: str, number: int, body: bytes) -> tuple[str, Content | None]:
        """Return what is wrong with the body of a row, and what it holds."""
        if not body:
            is_forgotten = any(first <= number <= last for first, last in self._forgotten.get(table, ()))
            return "" if is_forgotten else "it is empty, and no tombstone says that it was forgotten", None
        try:
            content: Content = _MODELS[table].model_validate_json(body)
        except ValidationError as error:
            return reasons_of(error), None
        if isinstance(content, EpisodicMemoryEntryV1_3) and content.episode_id != f"epi_{number:06d}":
            return f"it holds {content.episode_id}", None
        if isinstance(content, TombstoneV1_3):
            self._forgotten[TABLE_OF[content.of]].add((content.first, content.last))
        return "", content

    def _misfiled(self, content: Content, namespace: int, source: int, group: int) -> str:
        """Return what is wrong with the columns of a row, which its seal does not cover."""
        if self._namespaces.get(namespace) != content.namespace or source != _source(content):
            return "it is filed under another source or namespace"
        if isinstance(content, EpisodicMemoryEntryV1_3) and self._groups.get(group) != Ranked.of(content).text():
            return "it is filed under another group"
        return ""


def _source(content: Content) -> int:
    if isinstance(content, TombstoneV1_3):
        return 0
    return uid_hash(content.provenance.source_id if isinstance(content, EpisodicMemoryEntryV1_3) else content.source_id)


def _pairs(dialect: Dialect, what: str) -> dict[Any, str]:
    return dict(dialect.rows(f"SELECT {what}"))
