"""Where a response cache keeps answers between runs: the statements of a file and of a database alike."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeVar

from episodic_absa.backends.backend import Reply, Usage

ResultT = TypeVar("ResultT")
_FIND: Final = "SELECT text, tokens_in, tokens_out, cost_usd, model FROM answers WHERE key = ?"
_KEEP: Final = (
    "INSERT INTO answers (key, text, tokens_in, tokens_out, cost_usd, model) VALUES (?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (key) DO NOTHING"
)
_REMOVE: Final = "DELETE FROM answers WHERE key = ?"


class Cursor(Protocol):
    """What a statement gives, in sqlite3 and in psycopg."""

    @property
    def rowcount(self) -> int:
        """How many rows were written."""

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row."""


Execute = Callable[[str, tuple[Any, ...]], Cursor]
"""Runs a statement whose parameters are named by `?`."""


class KeptAnswers(ABC):
    """Answers by key, shared by any number of processes. Lookups and writes come from two threads, one each."""

    looks_up_at_once: bool
    """Whether a lookup is fast enough for an event loop; other lookups wait in a thread."""

    def find(self, key: str) -> Reply | None:
        """Return the answer that is kept under a key, None if there is none."""
        return self._read(lambda execute: _found(execute, key))

    def commit(self, batch: Mapping[str, Reply]) -> dict[str, Reply]:
        """Write all or nothing, durable when it returns; return those answers that another process wrote first."""
        return self._write(lambda execute: self._kept(execute, batch))

    def remove(self, keys: Sequence[str]) -> None:
        """Remove answers; they are gone for good when it returns."""
        self._write(lambda execute: [execute(_REMOVE, (key,)) for key in sorted(keys)])

    @abstractmethod
    def close(self) -> None:
        """Close files and connections."""

    @abstractmethod
    def _read(self, work: Callable[[Execute], ResultT]) -> ResultT:
        """Do some work on the connection that reads."""

    @abstractmethod
    def _write(self, work: Callable[[Execute], ResultT]) -> ResultT:
        """Do some work in one transaction, which is on disk when this returns."""

    def _stored_model(self, model: str) -> str | bytes:
        return model

    def _kept(self, execute: Execute, batch: Mapping[str, Reply]) -> dict[str, Reply]:
        earlier: dict[str, Reply] = {}
        # All processes take rows in the order of their keys: two that write the same ones never wait for each other.
        for key in sorted(batch):
            reply, usage = batch[key], batch[key].usage
            text = reply.text.encode("utf-8", "surrogatepass")
            row = (key, text, usage.tokens_in, usage.tokens_out, usage.cost_usd, self._stored_model(reply.model))
            # Once, unless another process removes the answer between the two statements.
            while execute(_KEEP, row).rowcount == 0:
                if (kept := _found(execute, key)) is not None:
                    earlier[key] = kept
                    break
        return earlier


def _found(execute: Execute, key: str) -> Reply | None:
    row = execute(_FIND, (key,)).fetchone()
    if row is None:
        return None
    text, tokens_in, tokens_out, cost_usd, model = row
    return Reply(_text(text), Usage(tokens_in, tokens_out, cost_usd), _text(model), cached=True)


def _text(stored: str | bytes) -> str:
    return stored if isinstance(stored, str) else stored.decode("utf-8", "surrogatepass")
