"""Rows of sealed tables: written behind each other in one transaction, read and held to their seals."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Final, NamedTuple

from episodic_absa.errors import MemoryStoreError
from episodic_absa.store.dialects.dialect import Dialect, Writer
from episodic_absa.store.tables import EPISODES, SEALED

FIRST_SEAL: Final = b""
"""What stands before the first row."""
_SEAL_BYTES: Final = 16
_AT_ONCE: Final = 1000
_INSERT: Final = "INSERT INTO {table} (number, namespace, source, body, seal) VALUES (?, ?, ?, ?, ?)"
_INSERT_EPISODE: Final = (
    "INSERT INTO episodes (number, namespace, source, body, seal, group_id) VALUES (?, ?, ?, ?, ?, ?)"
)
_WITH_SEAL_BEFORE: Final = (
    "SELECT number, body, seal, (SELECT seal FROM {table} AS before WHERE before.number < found.number "
    "ORDER BY before.number DESC LIMIT 1) FROM {table} AS found WHERE {where}"
)
_PROMISED_EVERY: Final = 64
_LAST: Final = (
    "SELECT number, seal, 1 FROM {table} WHERE number = (SELECT max(number) FROM {table}) "
    "UNION ALL SELECT number, seal, 0 FROM heads WHERE name = ?"
)
_PROMISE: Final = (
    "INSERT INTO heads (name, number, seal) VALUES (?, ?, ?) "
    "ON CONFLICT (name) DO UPDATE SET number = excluded.number, seal = excluded.seal"
)


class Head(NamedTuple):
    """The last row of a sealed table."""

    number: int = 0
    seal: bytes = FIRST_SEAL


class ProvenRow(NamedTuple):
    """A row that is as it was written; the body of a forgotten one is empty."""

    number: int
    body: bytes


def seal_of(body: bytes, number: int, before: bytes) -> bytes:
    """Return the seal of a row behind the row with the seal `before`.

    Example:
        >>> seal_of(b"{}", 1, FIRST_SEAL).hex()
        '2abb749635de1a7f1d45ce3a27636ef3'
    """
    return sha256(b"%b%d\n%b" % (before, number, body)).digest()[:_SEAL_BYTES]


def promised_heads(reader: Dialect | Writer) -> dict[str, Head]:
    """Return rows that each sealed table must have: the last one, or one of the last before a kill."""
    rows = reader.rows("SELECT name, number, seal FROM heads")
    return {name: Head(number, bytes(seal)) for name, number, seal in rows}


class SealedWriter:
    """Appends rows to sealed tables within one transaction; `finish` ends it."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._heads: dict[str, Head] = {}
        self._promised: dict[str, int] = {}

    def last_number(self, table: str) -> int:
        """Return the last number that was given in a table."""
        return self._head(table).number

    def add(
        self, table: str, body: bytes, *, namespace: int, source: int, group: int = 0, number: int | None = None
    ) -> int:
        """Append a row and return its number.

        Args:
            table: the name of the table.
            body: what is sealed; empty for a row that was forgotten elsewhere.
            namespace: its number.
            source: the hash of the uid that it is about.
            group: of an episode.
            number: by default the next one; a higher one leaves a gap.

        Raises:
            MemoryStoreError: the number is not higher than the last one.
        """
        head = self._head(table)
        number = head.number + 1 if number is None else number
        if number <= head.number:
            raise MemoryStoreError(f"row {number} of {table} does not come after row {head.number}; nothing is stored")
        seal = seal_of(body, number, head.seal)
        if table == EPISODES:
            self._writer.rows(_INSERT_EPISODE, (number, namespace, source, body, seal, group))
        else:
            self._writer.rows(_INSERT.format(table=table), (number, namespace, source, body, seal))
        self._heads[table] = Head(number, seal)
        return number

    def skip_to(self, table: str, number: int) -> None:
        """Give no number up to this one any more."""
        head = self._head(table)
        if number > head.number:
            self._heads[table] = Head(number, head.seal)
            self._promise(table)

    def finish(self) -> None:
        """Write the ends of tables that have grown by enough."""
        for table in self._heads:
            # Writing the end of a table with every row would make an append a third slower.
            if self._heads[table].number // _PROMISED_EVERY > self._promised[table] // _PROMISED_EVERY:
                self._promise(table)

    def promise_all(self) -> None:
        """Write the ends of all tables: from now on it shows if one of their rows is lost."""
        for table in SEALED:
            if self._head(table).number > self._promised[table]:
                self._promise(table)

    def _promise(self, table: str) -> None:
        self._writer.rows(_PROMISE, (table, *self._heads[table]))
        self._promised[table] = self._heads[table].number

    def _head(self, table: str) -> Head:
        head = self._heads.get(table)
        if head is None:
            last, promised = Head(), 0
            for number, seal, is_row in self._writer.rows(_LAST.format(table=table), (table,)):
                if is_row:
                    last = Head(number, bytes(seal))
                else:
                    promised = number
            head = self._heads[table] = Head(max(last.number, promised), last.seal)
            self._promised[table] = promised
        return head


def proven_rows(
    reader: Dialect | Writer,
    shown: str,
    table: str,
    where: str,
    parameters: tuple[object, ...],
    namespace: int | None = None,
) -> list[ProvenRow]:
    """Return rows, each held to its seal.

    Args:
        reader: the database.
        shown: where the store is, for the error.
        table: the name of the table.
        where: the condition, and perhaps the order.
        parameters: for the condition.
        namespace: its number; None for all.

    Raises:
        MemoryStoreError: a row is not the one that was written behind the row before it.
    """
    if namespace is not None:
        where, parameters = f"namespace = ? AND {where}", (namespace, *parameters)
    return [
        _proven(shown, table, *row)
        for row in reader.rows(_WITH_SEAL_BEFORE.format(table=table, where=where), parameters)
    ]


def all_proven_rows(
    reader: Dialect | Writer, shown: str, table: str, namespace: int | None = None
) -> Iterator[ProvenRow]:
    """Yield all rows in their order, read as they are consumed."""
    after = 0
    where = f"number > ? ORDER BY number LIMIT {_AT_ONCE}"
    while rows := proven_rows(reader, shown, table, where, (after,), namespace):
        after = rows[-1].number
        yield from rows


def damaged(shown: str, what: str) -> MemoryStoreError:
    """Return the error for content that is not what was written."""
    return MemoryStoreError(
        f"{shown}: {what}; run `episodic-absa memory check` to see which episodes are affected, and `memory repair` to "
        "keep the others"
    )


def _proven(shown: str, table: str, number: int, body: bytes, seal: bytes, before: bytes | None) -> ProvenRow:
    body = bytes(body)
    # Of a forgotten row the content is gone and the seal still stands: the row after it is proven by it.
    if body and bytes(seal) != seal_of(body, number, bytes(before or FIRST_SEAL)):
        raise damaged(shown, f"row {number} of {table} is not what was written: its seal does not fit")
    return ProvenRow(number, body)
