"""The seam between a store and its database: one protocol, two dialects."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

Row = tuple[Any, ...]


class Dialect(Protocol):
    """One database that holds one store. Nothing is opened before it is needed, or created before a write.

    Every method may raise MemoryStoreError: the database is busy, full, damaged, gone or of something else. Statements
    name parameters with `?`.
    """

    @property
    def shown(self) -> str:
        """Where the database is, for messages; without credentials."""
        ...

    @property
    def name(self) -> str:
        """The name of the store, without its folder or server."""
        ...

    def exists(self) -> bool:
        """Return whether the store was created; refuse what is none."""
        ...

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run a query outside of a write; a store that was not created has no rows."""
        ...

    def has_changed(self) -> bool:
        """Return whether somebody else may have written since the last call."""
        ...

    def writing(self) -> AbstractContextManager["Writer"]:
        """Hold the one writer's place for one transaction; what it wrote is on disk when the block ends.

        If the block raises, nothing was written.
        """
        ...

    def own_damage(self) -> list[str]:
        """Return what the database itself finds wrong with its files."""
        ...

    def erase_traces(self) -> None:
        """Take the content of deleted rows out of the files."""
        ...

    def size(self) -> int:
        """Return the bytes that the store takes."""
        ...

    def close(self) -> None:
        """Give up files and connections. A later call opens them again."""
        ...


class Writer(Protocol):
    """Statements of one transaction."""

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run one statement and return its rows."""
        ...
